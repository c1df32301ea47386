"""The life cycle of a translator: its protocol, checks, identity and loading, and the translations in the store.

No text is translated twice; a model is loaded only if translations are missing.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Protocol

from nbkit.errors import ModelError
from nbkit.models import weights
from nbkit.models.backends import DEFAULT, Decoding
from nbkit.models.caps import take_texts
from nbkit.models.catalogue import (
    BY_RULE,
    Reference,
    check_backend,
    check_pair,
    families,
    family_of,
    resolve,
)
from nbkit.models.lifecycle import ModelKind, with_revision
from nbkit.models.python import PythonTranslator
from nbkit.models.services.asking import Answer, RemoteTranslator, Usage, line_of, stored_answers
from nbkit.models.translators.placeholder import Carried, PlaceholderTranslator, carry, rules_digest
from nbkit.store import Store


class Translator(Protocol):
    """The protocol of every translator. name: identifies it in tables and keys.

    >>> class Copy:  # a baseline that returns every text unchanged
    ...     name = "copy"
    ...     def translate(self, texts, src, tgt, decoding=DEFAULT, *, progress=True):
    ...         return [text.strip() for text in texts]
    >>> translator: Translator = Copy()
    >>> translator.translate(["Tom sleeps .", " "], "en", "de")
    ['Tom sleeps .', '']
    """

    name: str

    def translate(
        self, texts: Sequence[str], src: str, tgt: str, decoding: Decoding = DEFAULT, *, progress: bool = True
    ) -> list[str]:
        """Translate texts: the best hypothesis that beam search finds for each.

        Parameters
        ----------
        texts : sequence of str
            Source texts; a blank one gives an empty hypothesis.
        src, tgt : str
            Source and target language.
        decoding : Decoding
            Beams, limits and the length penalty λ of the search.
        progress : bool
            Whether to show a progress bar.

        Returns
        -------
        list of str
            One hypothesis per text, in order. It depends on its text alone, not on its batch.

        Raises
        ------
        ModelError
            The model does not support a language.

        Notes
        -----
        y* = argmax_y log p(y | x) / |y|^λ

        References
        ----------
        Wu et al. 2016, §7 (beam search with a length penalty), in the form that transformers implements.
        """
        ...


class TranslatorKind(ModelKind[Reference, Translator]):
    """What is specific to translators: language pairs, families of architectures, services."""

    field = "translation"
    resolve = staticmethod(resolve)
    python = PythonTranslator
    loaders: ClassVar = {
        "transformers": "nbkit.models.translators.seq2seq:Seq2SeqTranslator",
        "ctranslate2": "nbkit.models.ct2:CTranslate2Translator",
    }

    def check_known(self, reference: Reference) -> None:
        """Raises `ModelError` for a pair that the catalogue's family does not support."""
        if reference.entry.family in families():
            check_pair(reference, families()[reference.entry.family or ""])

    def check_folder(self, reference: Reference, folder: Path) -> None:
        """Raises `ModelError` if *folder* holds no translator for the pair, or none that the backend supports."""
        weights.check_files(reference, folder)
        family = family_of(reference, folder)
        check_pair(reference, family, folder)
        check_backend(reference, family)

    def fetched(self, reference: Reference) -> Path:
        """The folder of a model; its files are read only after their bytes have been checked."""
        return weights.fetch(reference)

    def check_answering(self, reference: Reference) -> None:
        """Raises `ModelError` if a service or Python model does not support the pair; sends no request."""
        self._check_spoken(reference)
        super().check_answering(reference)

    def answering_identity(self, reference: Reference, device: str, dtype: str) -> dict[str, Any]:
        """A model behind a service is identified by its name, its address and its prompt."""
        if reference.remote is not None:
            return reference.remote.identity()
        return super().answering_identity(reference, device, dtype)

    def more_identity(self, reference: Reference) -> dict[str, Any]:
        """The prefix of every source text."""
        prefix = reference.entry.prefixes.get(reference.tgt)
        return {"prefix": prefix} if prefix else {}

    def answering(self, reference: Reference, device: str, dtype: str) -> Translator:
        """A model behind a service, or in Python code."""
        service = None if reference.remote is None else reference.remote.translator()
        self._check_spoken(reference)
        return service or super().answering(reference, device, dtype)

    def _check_spoken(self, reference: Reference) -> None:
        check_pair(reference)
        problem = None if reference.remote is None else reference.remote.problem(reference.src, reference.tgt)
        if problem is not None:
            raise ModelError(problem)

    def kept_under(self, reference: Reference, identity: Mapping[str, Any]) -> Hashable:
        """One key for all languages of a model, without the prefix, which it looks up per language."""
        identity = {field: value for field, value in identity.items() if field != "prefix"}
        return (json.dumps(identity, sort_keys=True), *self.place(reference))

    def place(self, reference: Reference) -> tuple[str | None, ...]:
        """The place of the model's files; equal for two pairs that the same model translates."""
        if reference.trained is not None:
            return (str(reference.trained.folder),)
        if reference.remote is not None:
            # The address may come from the environment and the prompt from a file: both can change meanwhile.
            return (repr(reference.remote.identity()),)
        if reference.entry.python is not None:
            return (reference.entry.python.token,)
        return (str(reference.folder), reference.hub, reference.revision)


TRANSLATOR = TranslatorKind()


def model_identity(name: str, src: str, tgt: str, *, device: str = "auto", dtype: str = "auto") -> dict[str, Any]:
    """Identity of a model: everything that can change its output, as part of store keys.

    Computing it loads no model and, on CPU builds, does not import torch.

    Parameters
    ----------
    name : str
        Name of a model, as for `load_translator`.
    src, tgt : str
        Source and target language.
    device, dtype : str
        Device and floating-point type, as for `load_translator`.

    Returns
    -------
    dict
        JSON-serialisable. A folder is identified by the digest of its files (so that equal copies share results), a
        hub model by its id and the cached commit, a model trained here by the digest of its recipe, each together with
        the backend, its version and torch's, the kind of device and the dtype; a model behind a service by its name,
        address and prompt; Python code by its name and its ``identity``, or `nbkit.store.NOT_REMEMBERED` without one.
        The digest or commit of missing files is None.

    Raises
    ------
    UnknownNameError, ModelError
        The name cannot be resolved (`resolve`).

    Examples
    --------
    >>> model_identity("opus-mt", "en", "de", device="cpu")["hub"]
    'Helsinki-NLP/opus-mt-en-de'
    """
    identity = TRANSLATOR.identity(name, src, tgt, device=device, dtype=dtype)
    return identity | {"placeholder": rules_digest()} if name.startswith(BY_RULE) else identity


def check_model(name: str, src: str, tgt: str) -> str | None:
    """Check whether a model can be used for a pair, without loading it.

    Checks the name, the backend, the languages, the family and the files (on disk, in the Hugging Face cache, or
    available from the hub). Without a network this takes a few seconds at most.

    Returns
    -------
    str or None
        What prevents the model from being used, in one message; None if nothing does.

    Examples
    --------
    >>> check_model("sandbox-marian", "en", "sw")
    "model 'sandbox-marian' does not translate to 'sw'; it translates to: de, fr, es, it, ru, zh, ja"
    """
    return TRANSLATOR.check(name, src, tgt)


def ensure_model(name: str, src: str, tgt: str) -> Path | None:
    """Train, download or convert a model's files if they are missing; returns their folder.

    Returns None for a model behind a service or in Python code, which has no files. The first stage of a grid calls
    this once per model, so that its workers find all files.

    Raises what `load_translator` raises for a model that is not available.
    """
    return TRANSLATOR.ensure(name, src, tgt)


def load_translator(name: str, src: str, tgt: str, *, device: str = "auto", dtype: str = "auto") -> Translator:
    """Load a translator; download or train it first if necessary.

    Parameters
    ----------
    name : str
        A catalogue name, a hub id (``id@revision`` pins it), a folder, or a model behind a service
        (``openai:MODEL``); ``{src}`` and ``{tgt}`` are filled in. The prefix
        ``placeholder:`` carries numbers over by rule; the suffix ``@ct2`` or ``@ct2-int8`` selects CTranslate2.
    src, tgt : str
        Source and target language.
    device : str
        ``auto`` (CUDA if available), ``cpu``, ``cuda``, ``cuda:1``. Services ignore it.
    dtype : str
        ``auto`` (bfloat16 on CUDA, float32 on the CPU) or the name of a torch dtype. Services ignore it.

    Returns
    -------
    Translator

    Raises
    ------
    UnknownNameError
        The name is unknown.
    ModelError
        The weights or the device are not available, the architecture is unknown, or the model does not support a
        language.
    MissingExtraError
        The backend is not installed.
    """
    if name.startswith(BY_RULE):
        inner = load_translator(name.removeprefix(BY_RULE), src, tgt, device=device, dtype=dtype)
        return PlaceholderTranslator(inner, name)
    return TRANSLATOR.load(name, src, tgt, device=device, dtype=dtype)


def is_trained(name: str, src: str, tgt: str) -> bool:
    """Whether a model that is trained here has already been trained; True for every other model.

    >>> is_trained("opus-mt", "en", "de")
    True
    """
    return resolve(name, src, tgt).trained is None or TRANSLATOR.is_here(name, src, tgt)


def translation_config(
    name: str, src: str, tgt: str, decoding: Decoding, *, device: str = "auto", dtype: str = "auto"
) -> dict[str, Any]:
    """Store key of a model's translations, for `Store.missing` in estimates.

    Parameters
    ----------
    name, src, tgt, device, dtype
        As for `load_translator`.
    decoding : Decoding
        Settings of the search.

    Returns
    -------
    dict
        JSON-serialisable.
    """
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
    """Translate texts, reading known translations from the store and adding new ones to it.

    Parameters
    ----------
    name, src, tgt, device, dtype
        As for `load_translator`.
    texts : sequence of str
        Source texts.
    decoding : Decoding
        Settings of the search.
    store : Store
        Where translations are stored.
    progress : bool
        Whether to show a progress bar.

    Returns
    -------
    list of str
        One hypothesis per text, in order.

    Raises
    ------
    UnknownNameError, ModelError, MissingExtraError
        As `load_translator`, but only if a translation is missing.

    Notes
    -----
    Every distinct text is translated once per model and settings, whatever the number of perturbations or runs. If no
    translation is missing, no model is loaded and torch is not imported. For ``placeholder:NAME`` the store holds the
    translations with stand-ins; numbers are inserted on every call. For a model behind a service it holds the complete
    answers (`answers_remembered`).
    """
    if name.startswith(BY_RULE):
        carried = carry_remembered(
            name, texts, src, tgt, decoding, store=store, device=device, dtype=dtype, progress=progress
        )
        return [each.hypothesis for each in carried]
    remote = resolve(name, src, tgt).remote
    if remote is not None:
        answers = answers_remembered(name, texts, src, tgt, decoding, store=store, progress=progress)
        return [line_of(remote, answer, text, src, tgt).hypothesis for answer, text in zip(answers, texts, strict=True)]
    config = with_revision(
        lambda: translation_config(name, src, tgt, decoding, device=device, dtype=dtype),
        lambda: ensure_model(name, src, tgt),
    )

    def compute(missing: list[tuple[str, ...]]) -> Iterator[dict[str, str]]:
        batch = [text for (text,) in missing]
        take_texts(name, len(batch))
        translator = TRANSLATOR.kept(config["model"], name, src, tgt, device=device, dtype=dtype)
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
    """The answer of a service to every text, in order, with its cost: read from *store*, or requested now.

    Every answer received is stored, even if another request fails or the user interrupts: the next run requests only
    the rest. A blank text gets an empty answer without a request.

    Raises what `load_translator` and `nbkit.models.services.asking.RemoteTranslator.answers` raise.
    """
    remote = resolve(name, src, tgt).remote
    assert remote is not None
    config = translation_config(name, src, tgt, decoding)

    def translator() -> RemoteTranslator:
        found = TRANSLATOR.kept(config["model"], name, src, tgt)
        assert isinstance(found, RemoteTranslator)
        return found

    found = stored_answers(translator, remote, config, texts, (src, tgt, decoding), store=store, progress=progress)
    return [found.get(text, Answer("")) for text in texts]


def usage_remembered(
    name: str,
    src: str,
    tgt: str,
    decoding: Decoding = DEFAULT,
    *,
    store: Store,
    texts: Iterable[str] | None = None,
) -> Usage:
    """The total cost of the answers of a service in *store*; sends no request.

    texts: count only their answers; None: all. Zero for a model that runs here. ``placeholder:NAME`` counts the
    answers of NAME.
    """
    remote = resolve(name, src, tgt).remote
    usage = Usage()
    if remote is None:
        return usage
    wanted = None if texts is None else set(texts)
    for record in store.kept(translation_config(name.removeprefix(BY_RULE), src, tgt, decoding)):
        text = record.pop("text")
        if wanted is not None and text not in wanted:
            continue
        answer = Answer(**record)
        usage.add(text, answer, line_of(remote, answer, text, src, tgt))
    return usage


def costs(
    names: Sequence[str], pairs: Sequence[tuple[str, str]], decoding: Decoding = DEFAULT, *, store: Store
) -> dict[str, dict[str, int]]:
    """`usage_remembered` of the models behind services among *names*, summed over language pairs, for provenance.

    Translations that are read from files cost nothing.
    """
    found = {}
    for name in dict.fromkeys(name.removeprefix(BY_RULE) for name in names):
        remote = resolve(name, *pairs[0]).remote
        if remote is not None and remote.stored:
            total = Usage()
            for src, tgt in pairs:
                total.update(usage_remembered(name, src, tgt, decoding, store=store))
            found[name] = total.facts()
    return found


def carry_remembered(
    name: str, texts: Sequence[str], src: str, tgt: str, decoding: Decoding = DEFAULT, **settings: Any
) -> list[Carried]:
    """`translate_remembered` of a ``placeholder:NAME``, with the outcome for each text's numbers.

    settings: store, device, dtype and progress, as for `translate_remembered`.
    """
    inner = name.removeprefix(BY_RULE)
    return carry(texts, src, tgt, lambda some: translate_remembered(inner, some, src, tgt, decoding, **settings))
