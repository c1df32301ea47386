"""The life of a translator: what each of them offers, how it is had and loaded, and what it said, remembered.

Translations that were made once are never made again; a model is loaded only for what is missing.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Protocol

from nbkit import sandbox
from nbkit.corpora import corpus_identity
from nbkit.errors import ModelError
from nbkit.models import weights
from nbkit.models.catalogue import (
    BY_RULE,
    Reference,
    check_backend,
    check_pair,
    families,
    family_of,
    resolve,
)
from nbkit.models.decoding import DEFAULT, Decoding
from nbkit.models.lifecycle import ModelKind, with_revision
from nbkit.models.python import PythonTranslator
from nbkit.models.recipes import TranslatorRecipe
from nbkit.models.services.asking import Answer, RemoteTranslator, Usage, line_of, stored_answers
from nbkit.models.translators.placeholder import Carried, PlaceholderTranslator, carry, rules_digest
from nbkit.store import Store


class Translator(Protocol):
    """What every backend offers. name: stands for it in tables and keys.

    >>> class Copy:  # a baseline that leaves every text as it is
    ...     name = "copy"
    ...     def translate(self, texts, src, tgt, decoding=DEFAULT, *, progress=True):
    ...         return [text.strip() for text in texts]
    ...     def score(self, texts, references, src, tgt):
    ...         return [0.0 if text == reference else float("-inf") for text, reference in zip(texts, references)]
    >>> translator: Translator = Copy()
    >>> translator.translate(["Tom sleeps .", " "], "en", "de"), translator.score(["Tom"], ["Thomas"], "en", "de")
    (['Tom sleeps .', ''], [-inf])
    """

    name: str

    def translate(
        self, texts: Sequence[str], src: str, tgt: str, decoding: Decoding = DEFAULT, *, progress: bool = True
    ) -> list[str]:
        """The best hypothesis that the search finds for every text, in order: one a text.

        y* = argmax_y log p(y | x) / |y|^λ

        decoding: beams, limits and the length penalty λ of the search. progress: whether a bar is shown.
        A blank text gives an empty hypothesis. A hypothesis depends on its own text alone, not on its batch.

        Raises `ModelError` for a language that the model does not speak.
        Source: Wu et al. 2016, §7 (beam search with a length penalty), in the form that transformers gives it.
        """
        ...

    def score(self, texts: Sequence[str], references: Sequence[str], src: str, tgt: str) -> list[float]:
        """How likely the model finds each reference, given its text: natural logarithms a token, at most 0.

        score(y | x) = 1/|y| · Σ_t log p(y_t | y_<t, x)

        Raises `ModelError` where texts and references are not of the same number, or for an unknown language.
        Source: Sennrich 2017, "How Grammatical is Character-level Neural Machine Translation?" (contrastive scoring).
        """
        ...


class TranslatorKind(ModelKind[Reference, TranslatorRecipe, Translator]):
    """What is translators' own: language pairs, families of architectures, services."""

    field = "translation"
    recipe_file, recipe_type = "recipes.yaml", TranslatorRecipe
    resolve = staticmethod(resolve)
    python = PythonTranslator
    trainer = "nbkit.models.translators.training:train_translator"
    converter = "nbkit.models.ct2:ensure_converted"
    loaders: ClassVar = {
        "transformers": "nbkit.models.translators.seq2seq:Seq2SeqTranslator",
        "ctranslate2": "nbkit.models.ct2:CTranslate2Translator",
    }

    def recipe(self, reference: Reference) -> TranslatorRecipe:
        """The recipe of a model that is trained here, for the pair asked for.

        Raises `ModelError` for a language the recipe is not for, and for a backend that does not run its architecture.
        """
        family = families()[reference.entry.family or "marian"]
        check_pair(reference, family)
        check_backend(reference, family)
        return super().recipe(reference)

    def recipe_changes(self, reference: Reference, fields: Mapping[str, Any]) -> dict[str, Any]:
        """A Marian recipe is for one pair; one of several targets is for all that the catalogue gives it.

        That way every pair finds the same model.
        """
        targets = reference.entry.targets if fields.get("architecture") == "m2m100" else (reference.tgt,)
        return {"src": reference.src, "targets": targets, **reference.variant.changes}

    def recipe_digest(self, recipe: TranslatorRecipe) -> str:
        """What a trained model is known by: its recipe, the training code's version and the sandbox's.

        Of other data than the sandbox's general sentences, which the version stands for, their identity is part of it,
        and so is that of a checkpoint to start from.
        """
        more: list[Any] = []
        decides = recipe.dev if recipe.keep == "best" else None
        for corpus in filter(None, (recipe.train, recipe.idioms, decides)):
            if corpus.partition(":")[0] != "sandbox":
                more += [corpus_identity(corpus, recipe.src, tgt) for tgt in recipe.targets]
        if recipe.start is not None:
            more.append(self.start_identity(resolve(recipe.start, recipe.src, recipe.targets[0])))
        return recipe.digest(sandbox.VERSION, *more)

    def check_known(self, reference: Reference) -> None:
        """Raises `ModelError` for a pair that the catalogue's family does not speak."""
        if reference.entry.family in families():
            check_pair(reference, families()[reference.entry.family or ""])

    def check_folder(self, reference: Reference, folder: Path) -> None:
        """Raises `ModelError` where *folder* holds no translator for the pair, or not for the backend."""
        weights.check_files(reference, folder)
        family = family_of(reference, folder)
        check_pair(reference, family, folder)
        check_backend(reference, family)

    def fetched(self, reference: Reference) -> Path:
        """The folder of a model, whose files are read once their bytes were checked."""
        return weights.fetch(reference)

    def check_answering(self, reference: Reference) -> None:
        """Raises `ModelError` where a model behind a service, or in Python, is not for the pair here; asks nobody."""
        self._check_spoken(reference)
        super().check_answering(reference)

    def answering_identity(self, reference: Reference, device: str, dtype: str) -> dict[str, Any]:
        """A model behind a service is known by what it is called, where it is and what it is asked."""
        if reference.remote is not None:
            return reference.remote.identity()
        return super().answering_identity(reference, device, dtype)

    def more_identity(self, reference: Reference) -> dict[str, Any]:
        """What every source text begins with."""
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
        """One model for all of its languages, without what a source begins with: it knows that for each of them."""
        identity = {field: value for field, value in identity.items() if field != "prefix"}
        return (json.dumps(identity, sort_keys=True), *self.place(reference))

    def place(self, reference: Reference) -> tuple[str | None, ...]:
        """Where the model's files belong; equal for two pairs that one and the same model translates."""
        if reference.recipe is not None:
            return (str(self.trained_folder(reference)),)
        if reference.remote is not None:
            # Where it is may come from the environment, and what it is asked from a file: both can change meanwhile.
            return (repr(reference.remote.identity()),)
        if reference.entry.python is not None:
            return (reference.entry.python.token,)
        return (str(reference.folder), reference.hub, reference.revision)


TRANSLATOR = TranslatorKind()


def model_identity(name: str, src: str, tgt: str, *, device: str = "auto", dtype: str = "auto") -> dict[str, Any]:
    """All about a model that can change what it answers, JSON-able; costs no model load and, on CPU builds, no torch.

    A folder stands there as the digest of its files (so that equal copies share results wherever they lie), a hub
    model as its id and the commit in the cache, a model trained here as the digest of its recipe; beside it the
    backend, its version and torch's, the kind of device and the dtype. A model behind a service stands there by what
    it is called, where it is and what it is asked. Python code stands there by its name and the identity that it gives;
    without one by `nbkit.store.NOT_REMEMBERED`.

    Raises `UnknownNameError` and `ModelError` as `resolve` does. Files that are missing are no error here: their
    digest or commit is None then.

    >>> model_identity("opus-mt", "en", "de", device="cpu")["hub"]
    'Helsinki-NLP/opus-mt-en-de'
    """
    identity = TRANSLATOR.identity(name, src, tgt, device=device, dtype=dtype)
    return identity | {"placeholder": rules_digest()} if name.startswith(BY_RULE) else identity


def check_model(name: str, src: str, tgt: str) -> str | None:
    """Why a model cannot be had for a pair, in one message; None where nothing stands against it.

    Looks at the name, the backend, the languages, the family and the files (on disk, in the Hugging Face cache, or
    offered by the hub), without loading the model. Where no network is reachable this takes seconds at most.

    >>> check_model("sandbox-marian", "en", "sw")
    "model 'sandbox-marian' does not translate to 'sw'; it translates to: de, fr, es, it, ru, zh, ja"
    """
    return TRANSLATOR.check(name, src, tgt)


def ensure_model(name: str, src: str, tgt: str) -> Path | None:
    """Makes sure that a model's files are on this machine: trains, downloads and converts them; gives their folder.

    A model behind a service, or in Python code, has no files: None.

    The first stage of a grid calls this once a model, so that the workers after it find everything there.

    Raises what `load_translator` raises for a model that cannot be had.
    """
    return TRANSLATOR.ensure(name, src, tgt)


def load_translator(name: str, src: str, tgt: str, *, device: str = "auto", dtype: str = "auto") -> Translator:
    """The translator of that name for the pair, on the device; downloaded or trained first where it must be.

    name: a catalogue name, a hub id (``id@revision`` pins it) or a folder; ``{src}`` and ``{tgt}`` are filled in. With
    ``placeholder:`` before it, its numbers are carried over by rule; with ``@ct2`` or ``@ct2-int8`` after it,
    CTranslate2 runs it.
    device: ``auto`` (CUDA where there is one), ``cpu``, ``cuda``, ``cuda:1``. dtype: ``auto`` (bfloat16 on CUDA,
    float32 on the CPU) or a torch dtype's name. Neither means anything to a model behind a service
    (``openai:MODEL``, ``deep-translator:SERVICE``), which is asked for the pair here and nothing is loaded.

    Raises `UnknownNameError` for a name that nothing is known by, and `ModelError` for weights that cannot be had, a
    device that is not there, an unknown architecture, or a language that the model does not speak, and
    `MissingExtraError` for a backend that is not installed.
    """
    if name.startswith(BY_RULE):
        inner = load_translator(name.removeprefix(BY_RULE), src, tgt, device=device, dtype=dtype)
        return PlaceholderTranslator(inner, name)
    return TRANSLATOR.load(name, src, tgt, device=device, dtype=dtype)


def is_trained(name: str, src: str, tgt: str) -> bool:
    """Whether a model that is trained here has been trained already; True for every other model.

    >>> is_trained("opus-mt", "en", "de")
    True
    """
    return resolve(name, src, tgt).recipe is None or TRANSLATOR.is_here(name, src, tgt)


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
        return [line_of(remote, answer, text, src, tgt).hypothesis for answer, text in zip(answers, texts, strict=True)]
    config = with_revision(
        lambda: translation_config(name, src, tgt, decoding, device=device, dtype=dtype),
        lambda: ensure_model(name, src, tgt),
    )

    def compute(missing: list[tuple[str, ...]]) -> Iterator[dict[str, str]]:
        translator = TRANSLATOR.kept(config["model"], name, src, tgt, device=device, dtype=dtype)
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
    """What all answers of a model behind a service that *store* holds cost when they were asked for; asks nobody.

    texts: those whose answers count, None: all. Zero for a model that runs here. Of ``placeholder:NAME`` what NAME was
    asked counts.
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
    name: str, texts: Sequence[str], src: str, tgt: str, decoding: Decoding = DEFAULT, **settings: Any
) -> list[Carried]:
    """`translate_remembered` of a ``placeholder:NAME``, with what became of each text's numbers.

    settings: store, device, dtype and progress, as `translate_remembered` takes them.
    """
    inner = name.removeprefix(BY_RULE)
    return carry(texts, src, tgt, lambda some: translate_remembered(inner, some, src, tgt, decoding, **settings))
