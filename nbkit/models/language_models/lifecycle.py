"""The life cycle of a language model: checks, identity and loading, and the scores of texts in the store.

No text is scored twice; a model is loaded only if scores are missing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeAlias

import numpy as np

from nbkit.errors import ModelError, as_problem
from nbkit.models import weights
from nbkit.models.catalogue import (
    LanguageModelReference,
    kind_of,
    language_model_label,
    resolve_language_model,
)
from nbkit.models.lifecycle import ModelKind, with_revision
from nbkit.models.python import PythonLanguageModel
from nbkit.progress import progress_bar
from nbkit.store import Store

if TYPE_CHECKING:
    from nbkit.models.language_models.language_model import MaskedLanguageModel, NextTokenModel

#: A model of either kind, or Python code.
AnyLanguageModel: TypeAlias = "NextTokenModel | MaskedLanguageModel | PythonLanguageModel"

#: A place in a text: its first character, and the first one after it.
Span = tuple[int, int]


class Likelihood(NamedTuple):
    """log_probability: the sum over a text's scored tokens, in nats. tokens: number of scored tokens."""

    log_probability: float
    tokens: int

    @property
    def perplexity(self) -> float:
        """exp of the mean negative log-probability; NaN if no token is scored.

        >>> round(Likelihood(-6.0, 3).perplexity, 4), Likelihood(0.0, 0).perplexity
        (7.3891, nan)
        """
        if not self.tokens:
            return math.nan
        try:
            return math.exp(-self.log_probability / self.tokens)
        except OverflowError:
            return math.inf


class LanguageModelKind(ModelKind[LanguageModelReference, "AnyLanguageModel"]):
    """What is specific to language models: causal and masked ones, and texts of several kinds."""

    field = "language_model"
    resolve = staticmethod(resolve_language_model)
    python = PythonLanguageModel
    loaders: ClassVar = {
        "transformers": "nbkit.models.language_models.language_model:load_trained_language_model",
    }
    shards: ClassVar = {"cpu": 4096, "cuda": 65536}

    def check_folder(self, reference: LanguageModelReference, folder: Path) -> None:
        """Raises `ModelError` if *folder* holds no language model with its tokenizer."""
        weights.check_files(reference, folder)
        kind_of(reference, folder)
        self.check_tokenizer(reference, folder)

    def check_answering(self, reference: LanguageModelReference) -> None:
        """See `ModelKind.check_answering`; calls a factory."""
        super().check_answering(reference)
        self.other_than("masked", reference)

    def more_identity(self, reference: LanguageModelReference) -> dict[str, Any]:
        """The language passed to Python code; weights are the same for all languages."""
        return {} if reference.has_files else {"lang": reference.lang}

    def other_than(self, wanted: str, reference: LanguageModelReference) -> str | None:
        """The kind of a model, "causal" or "masked", if it is known and not the *wanted* one."""
        if reference.entry.python is not None:
            # Whatever else it does, it scores texts.
            found = None if wanted == "causal" else self.load(reference.name, reference.lang).kind
        elif reference.trained is not None:
            found = reference.trained.kind
        else:
            folder = weights.find(reference)
            found = None if folder is None else kind_of(reference, folder)
        return None if found == wanted else found


LANGUAGE_MODEL = LanguageModelKind()


def language_model_identity(
    name: str, lang: str | None = None, *, device: str = "auto", dtype: str = "auto"
) -> dict[str, Any]:
    """Identity of a language model: everything that can change its output, JSON-serialisable; loads no model.

    A folder is identified by the digest of its files, a hub model by its id and the cached commit, a model trained here
    by the digest of its recipe and data; together with the backend, its version and torch's, the kind of device and the
    dtype.

    Raises `UnknownNameError` and `ModelError` as `resolve_language_model` does.

    >>> language_model_identity("gpt2", device="cpu")["hub"]
    'openai-community/gpt2'
    """
    return LANGUAGE_MODEL.identity(name, lang, device=device, dtype=dtype)


@as_problem
def check_language_model(name: str, lang: str | None = None, *, kind: str | None = None) -> str | None:
    """Check whether a language model can be used for a language: the problem in one message, or None.

    Checks the name, the backend, the language and the files (on disk, in the Hugging Face cache, or available from the
    hub) or the training data, without loading the model. kind: "causal" or "masked" if only that kind is suitable.

    >>> check_language_model("gpt2", "de")
    "language model 'gpt2' does not support 'de'; it supports: en"
    >>> check_language_model("sandbox-gpt", kind="masked")
    "language model 'sandbox-gpt' is causal; a masked one is needed"
    """
    problem = LANGUAGE_MODEL.check(name, lang)
    if problem is not None or kind is None:
        return problem
    found = LANGUAGE_MODEL.other_than(kind, resolve_language_model(name, lang))
    return None if found is None else f"language model '{name}' is {found}; a {kind} one is needed"


def ensure_language_model(name: str, lang: str | None = None) -> Path | None:
    """Train, download or convert a language model's files if they are missing; returns their folder.

    Returns None for Python code, which has no files. The first stage of a grid calls this once per model, so that its
    workers find all files.

    Raises what `load_language_model` raises for a language model that is not available.
    """
    return LANGUAGE_MODEL.ensure(name, lang)


def is_language_model_here(name: str, lang: str | None = None) -> bool:
    """Whether a language model's files are on this machine, trained or downloaded.

    >>> is_language_model_here("nowhere/none")
    False
    """
    return LANGUAGE_MODEL.is_here(name, lang)


def load_language_model(
    name: str, *, lang: str | None = None, device: str = "auto", dtype: str = "auto"
) -> AnyLanguageModel:
    """Load a language model, causal or masked; download or train it first if necessary.

    Parameters
    ----------
    name : str
        A catalogue name, a hub id (``id@revision`` pins it) or a folder; the suffix ``@ct2`` or ``@ct2-int8`` selects
        CTranslate2, for GPT-2 only.
    lang : str or None
        Language of the texts; None: the first in the catalogue's entry.
    device : str
        ``auto`` (CUDA if available), ``cpu``, ``cuda``, ``cuda:1``.
    dtype : str
        ``auto`` (bfloat16 on CUDA, float32 on the CPU) or the name of a torch dtype.

    Returns
    -------
    NextTokenModel or MaskedLanguageModel or PythonLanguageModel

    Raises
    ------
    UnknownNameError
        The name is unknown.
    ModelError
        The weights or the device are not available, the language is not supported, or the checkpoint is not a language
        model that the backend supports.
    MissingExtraError
        The backend is not installed.
    """
    return LANGUAGE_MODEL.load(name, lang, device=device, dtype=dtype)


# ----------------------------------------------------------------------------
# Scores in the store.


def perplexities_remembered(name: str, texts: Sequence[str], *, store: Store, **settings: Any) -> np.ndarray:
    """The perplexity of every text, as defined in `language_models.language_model`; NaN if no token is scored.

    Reads known perplexities from *store*, and computes and stores missing ones, shard by shard; if none is missing, no
    model is loaded and torch is not imported. settings: lang, device, dtype and progress, as for `iter_perplexities`.

    Raises what `load_language_model` raises, but only if a perplexity is missing.
    """
    return np.fromiter(iter_perplexities(name, texts, store=store, **settings), np.float64, len(texts))


def iter_perplexities(
    name: str,
    texts: Iterable[str],
    *,
    lang: str | None = None,
    store: Store,
    device: str = "auto",
    dtype: str = "auto",
    progress: bool = True,
) -> Iterator[float]:
    """`perplexities_remembered` for an unbounded stream of texts, in constant memory."""
    config = _downloaded("perplexity", name, lang, device, dtype)

    def compute(missing: list[tuple[str, ...]]) -> Iterator[dict[str, float]]:
        model = LANGUAGE_MODEL.kept(config["model"], name, lang, device=device, dtype=dtype)
        if isinstance(model, PythonLanguageModel):  # gives nothing but perplexities
            for perplexity in model.perplexities([text for (text,) in missing], progress=progress):
                yield {"perplexity": perplexity}
            return
        with progress_bar(language_model_label(name), len(missing), progress) as bar:
            for found in model.likelihoods((text for (text,) in missing), done=bar.update):
                yield {"log_probability": found.log_probability, "tokens": found.tokens}

    for record in store.iter_records(config, ((text,) for text in texts), compute, shard=LANGUAGE_MODEL.shard(device)):
        given = record.get("perplexity")
        yield Likelihood(record["log_probability"], record["tokens"]).perplexity if given is None else given


def masked_remembered(
    name: str,
    texts: Sequence[str],
    spans: Sequence[tuple[int, int]],
    candidates: Sequence[Sequence[str]],
    *,
    lang: str | None = None,
    store: Store,
    device: str = "auto",
    dtype: str = "auto",
    progress: bool = True,
) -> list[np.ndarray]:
    """`MaskedLanguageModel.masked_log_probabilities`, read from *store* if known: one array per text.

    Raises what `load_language_model` and that method raise, but only if a value is missing.
    """
    asked = one_by_one(texts, spans, candidates)
    config = _downloaded("masked-candidate", name, lang, device, dtype)

    def compute(missing: list[tuple[str, ...]]) -> Iterator[dict[str, float]]:
        model: Any = LANGUAGE_MODEL.kept(config["model"], name, lang, device=device, dtype=dtype)
        if model.kind != "masked":
            raise ModelError(f"language model '{name}' is causal; a masked one is needed to score words in context")
        wanted = ((text, _span(place), candidate) for text, place, candidate in missing)
        with progress_bar(language_model_label(name), len(missing), progress) as bar:
            for log_p in model.fits(wanted, done=bar.update):
                yield {"log_probability": log_p}

    inputs = ((text, f"{start}:{stop}", candidate) for text, (start, stop), candidate in asked)
    records = store.iter_records(config, inputs, compute, shard=LANGUAGE_MODEL.shard(device))
    values = (record["log_probability"] for record in records)
    return [np.fromiter(islice(values, len(several)), np.float64, len(several)) for several in candidates]


def one_by_one(
    texts: Sequence[str], spans: Sequence[Span], candidates: Sequence[Sequence[str]]
) -> list[tuple[str, Span, str]]:
    """Each candidate with its text and span. Raises `ModelError` if the lists differ in length."""
    if not len(texts) == len(spans) == len(candidates):
        given = f"{len(texts)} texts, {len(spans)} spans and {len(candidates)} lists of candidates given"
        raise ModelError(f"{given}; one of each per text expected")
    return [
        (text, (span[0], span[1]), candidate)
        for text, span, several in zip(texts, spans, candidates, strict=True)
        for candidate in several
    ]


def _downloaded(kind: str, name: str, lang: str | None, device: str, dtype: str) -> Mapping[str, Any]:
    def address() -> dict[str, Any]:
        identity = language_model_identity(name, lang, device=device, dtype=dtype)
        return {"kind": kind, "version": 1, "model": identity}

    return with_revision(address, lambda: ensure_language_model(name, lang))


def _span(place: str) -> Span:
    start, _, stop = place.partition(":")
    return int(start), int(stop)
