"""Translations that were made once are never made again; the model is loaded only for what is missing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from nbkit.models.decoding import DEFAULT, Decoding
from nbkit.models.kept import Kept, key_of
from nbkit.models.services.asking import Answer, Usage, one_line
from nbkit.models.translators.catalogue import BY_RULE, resolve
from nbkit.models.translators.identity import check_unchanged, model_identity, with_revision
from nbkit.models.translators.local import ensure_model, place
from nbkit.store import Store

if TYPE_CHECKING:
    from nbkit.models.translators.placeholder import Carried
    from nbkit.models.translators.translator import Translator

#: Answers of a service that are asked for before any is waited for to the end: few, as each of them costs.
SERVICE_SHARD = 64


#: Loaded translators kept in this process, the last used ones: enough to go back and forth between two.
KEPT = 2


_loaded: Kept[Translator] = Kept(KEPT)


def translation_config(
    name: str, src: str, tgt: str, decoding: Decoding, *, device: str = "auto", dtype: str = "auto"
) -> dict[str, Any]:
    """The store's address of a model's translations, for `Store.missing` in estimates."""
    remote = resolve(name, src, tgt).remote
    return {
        "kind": "translation" if remote is None else "answer",
        "version": 1,
        "model": model_identity(name, src, tgt, device=device, dtype=dtype),
        "src": src,
        "tgt": tgt,
        "decoding": decoding.identity() if remote is None else remote.decoding(decoding),
    }


def translate_remembered(
    name: str,
    texts: Sequence[str],
    src: str,
    tgt: str,
    decoding: Decoding = DEFAULT,
    *,
    store: Store,
    device: str = "auto",
    dtype: str = "auto",
    progress: bool = True,
) -> list[str]:
    """The hypothesis of every text, in order: from *store* where it is known, else translated now and kept.

    Every distinct text is translated once per model and settings, whatever the number of perturbations or
    runs; where nothing is missing, no model is loaded and torch is not imported.

    Of ``placeholder:NAME`` the translations that NAME makes with stand-ins are remembered; numbers are put in anew.
    Of a model behind a service its whole answers are (`answers_remembered`).

    Raises what `load_translator` raises, but only where something is missing.
    """
    if name.startswith(BY_RULE):
        carried = carry_remembered(
            name, texts, src, tgt, decoding, store=store, device=device, dtype=dtype, progress=progress
        )
        return [each.hypothesis for each in carried]
    remote = resolve(name, src, tgt).remote
    if remote is not None:
        answers = answers_remembered(name, texts, src, tgt, decoding, store=store, progress=progress)
        labels = remote.labels(src, tgt)
        return [one_line(answer, text, labels).hypothesis for answer, text in zip(answers, texts, strict=True)]
    config = with_revision(
        lambda: translation_config(name, src, tgt, decoding, device=device, dtype=dtype),
        lambda: ensure_model(name, src, tgt),
    )

    def compute(missing: list[tuple[str, ...]]) -> Iterator[dict[str, str]]:
        translator = kept_translator(name, src, tgt, config["model"], device=device, dtype=dtype)
        batch = [text for (text,) in missing]
        for hypothesis in translator.translate(batch, src, tgt, decoding, progress=progress):
            yield {"hypothesis": hypothesis}

    records = store.records(config, [(text,) for text in texts], compute)
    return [record["hypothesis"] for record in records]


def answers_remembered(
    name: str,
    texts: Sequence[str],
    src: str,
    tgt: str,
    decoding: Decoding = DEFAULT,
    *,
    store: Store,
    progress: bool = True,
) -> list[Answer]:
    """What a model behind a service said to every text, in order, with what it cost: from *store*, or asked for now.

    Every answer that came is kept, even where another one fails or the user interrupts: the next run asks for the rest.
    A blank text has an empty answer, which nobody was asked for.

    Raises what `load_translator` and `nbkit.models.services.asking.RemoteTranslator.answers` raise.
    """
    config = translation_config(name, src, tgt, decoding)
    said: dict[str, dict[str, Any]] = {}

    def compute(missing: list[tuple[str, ...]]) -> list[dict[str, Any]]:
        from nbkit.models.services.asking import RemoteTranslator

        translator = kept_translator(name, src, tgt, config["model"])
        assert isinstance(translator, RemoteTranslator)
        batch = [text for (text,) in missing]
        for text, answer in translator.answers(batch, src, tgt, decoding, progress=progress):
            said[text] = {"text": text, **answer.record()}
        return [said[text] for text in batch]

    wanted = [text for text in dict.fromkeys(texts) if text.strip()]
    try:
        found = store.records(config, [(text,) for text in wanted], compute, shard=SERVICE_SHARD)
    finally:
        # What came before a failure: nothing of it is missing where there was none.
        store.records(config, [(text,) for text in said], lambda inputs: [said[text] for (text,) in inputs])
    answers = {record.pop("text"): Answer(**record) for record in found}
    return [answers.get(text, Answer("")) for text in texts]


def usage_remembered(
    name: str,
    src: str,
    tgt: str,
    decoding: Decoding = DEFAULT,
    *,
    store: Store,
    texts: Iterable[str] | None = None,
) -> Usage:
    """What all answers of a model behind a service that *store* holds cost when they were asked for; asks nobody.

    texts: those whose answers count, None: all. Zero for a model that runs here. Of ``placeholder:NAME`` what NAME was
    asked counts.
    """
    remote = resolve(name, src, tgt).remote
    usage = Usage()
    if remote is None:
        return usage
    labels = remote.labels(src, tgt)
    wanted = None if texts is None else set(texts)
    for record in store.kept(translation_config(name.removeprefix(BY_RULE), src, tgt, decoding)):
        text = record.pop("text")
        if wanted is not None and text not in wanted:
            continue
        answer = Answer(**record)
        usage.add(text, answer, one_line(answer, text, labels))
    return usage


def costs(
    names: Sequence[str], pairs: Sequence[tuple[str, str]], decoding: Decoding = DEFAULT, *, store: Store
) -> dict[str, dict[str, int]]:
    """`usage_remembered` of the models behind services among *names*, over language pairs, for provenance."""
    found = {}
    for name in dict.fromkeys(name.removeprefix(BY_RULE) for name in names):
        if resolve(name, *pairs[0]).remote is not None:
            total = Usage()
            for src, tgt in pairs:
                total.update(usage_remembered(name, src, tgt, decoding, store=store))
            found[name] = total.facts()
    return found


def carry_remembered(
    name: str,
    texts: Sequence[str],
    src: str,
    tgt: str,
    decoding: Decoding = DEFAULT,
    *,
    store: Store,
    device: str = "auto",
    dtype: str = "auto",
    progress: bool = True,
) -> list[Carried]:
    """`translate_remembered` of a ``placeholder:NAME``, with what became of each text's numbers."""
    from nbkit.models.translators.placeholder import carry

    inner = name.removeprefix(BY_RULE)

    def translate(masked: list[str]) -> list[str]:
        return translate_remembered(
            inner, masked, src, tgt, decoding, store=store, device=device, dtype=dtype, progress=progress
        )

    return carry(texts, src, tgt, translate)


def kept_translator(
    name: str, src: str, tgt: str, identity: Mapping[str, Any], *, device: str = "auto", dtype: str = "auto"
) -> Translator:
    """`load_translator`, with the last `KEPT` translators kept in this process, one for all languages of a model.

    identity: of the model that is meant, as in `translation_config`: a folder may hold another one by now.
    """
    from nbkit.models.translators.translator import load_translator

    # What a source begins with is no part of the loaded model, which knows it for every language.
    loaded = {field: value for field, value in identity.items() if field != "prefix"}
    reference = resolve(name, src, tgt)
    if reference.entry.python is not None:  # keeps what it made itself
        return load_translator(name, src, tgt, device=device, dtype=dtype)
    key = key_of(loaded, name, *place(reference), device, dtype)

    def load() -> Translator:
        translator = load_translator(name, src, tgt, device=device, dtype=dtype)
        check_unchanged(name, identity, lambda: model_identity(name, src, tgt, device=device, dtype=dtype))
        return translator

    return _loaded.get(key, load)
