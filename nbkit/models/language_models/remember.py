"""Texts that were scored once are never scored again; the language model is loaded only for what is missing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from nbkit.errors import ModelError
from nbkit.models.kept import Kept, key_of
from nbkit.models.language_models.catalogue import language_model_label, resolve_language_model
from nbkit.models.language_models.language_model import Likelihood
from nbkit.models.language_models.local import ensure_language_model, language_model_identity
from nbkit.models.python import PythonLanguageModel
from nbkit.models.translators.identity import check_unchanged, offered, resolve_device, with_revision
from nbkit.store import Store

if TYPE_CHECKING:
    import numpy as np

    from nbkit.models.language_models.language_model import MaskedLanguageModel, NextTokenModel

#: Language models that stay loaded in a process: one of each kind.
KEPT = 2


#: Texts that are scored and written together, by device: what an interruption costs at most.
SHARDS = {"cpu": 4096, "cuda": 65536}


_loaded: Kept[Any] = Kept(KEPT)


def perplexities_remembered(
    name: str,
    texts: Sequence[str],
    *,
    lang: str | None = None,
    store: Store,
    device: str = "auto",
    dtype: str = "auto",
    progress: bool = True,
) -> np.ndarray:
    """The perplexity of every text, as `language_models.language_model` defines it; NaN where no token is scored.

    Taken from *store* where it is known, else computed now and kept, shard by shard; where nothing is missing, no model
    is loaded and torch is not imported.

    Raises what `load_language_model` raises, but only where something is missing.
    """
    import numpy as np

    rows = iter_perplexities(name, texts, lang=lang, store=store, device=device, dtype=dtype, progress=progress)
    return np.fromiter(rows, np.float64, len(texts))


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
    """`perplexities_remembered` for a stream of texts without end, in memory that does not grow."""
    config = _downloaded("perplexity", name, lang, device, dtype)

    def compute(missing: list[tuple[str, ...]]) -> Iterator[dict[str, float]]:
        from nbkit.progress import progress_bar

        model = kept_language_model(name, lang, config["model"], device=device, dtype=dtype)
        if isinstance(model, PythonLanguageModel):  # says no more than that
            for perplexity in model.perplexities([text for (text,) in missing], progress=progress):
                yield {"perplexity": perplexity}
            return
        with progress_bar(language_model_label(name), len(missing), progress) as bar:
            for found in model.likelihoods((text for (text,) in missing), done=bar.update):
                yield {"log_probability": found.log_probability, "tokens": found.tokens}

    for record in store.iter_records(config, ((text,) for text in texts), compute, shard=_shard(device)):
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
    """`MaskedLanguageModel.masked_log_probabilities`, from *store* where it is known: an array a text.

    Raises what `load_language_model` and that method raise, but only where something is missing.
    """
    import numpy as np

    if not len(texts) == len(spans) == len(candidates):
        raise ModelError(f"{len(texts)} texts, {len(spans)} places and {len(candidates)} lists of candidates given")
    config = _downloaded("masked-candidate", name, lang, device, dtype)

    def compute(missing: list[tuple[str, ...]]) -> Iterator[dict[str, float]]:
        from nbkit.progress import progress_bar

        model = _masked(name, lang, config["model"], device, dtype)
        asked = ((text, _span(place), candidate) for text, place, candidate in missing)
        with progress_bar(language_model_label(name), len(missing), progress) as bar:
            for log_p in model.fits(asked, done=bar.update):
                yield {"log_probability": log_p}

    inputs = [
        (text, f"{start}:{stop}", candidate)
        for text, (start, stop), several in zip(texts, spans, candidates, strict=True)
        for candidate in several
    ]
    records = store.iter_records(config, inputs, compute, shard=_shard(device))
    values = (record["log_probability"] for record in records)
    return [np.fromiter(islice(values, len(several)), np.float64, len(several)) for several in candidates]


def kept_language_model(
    name: str, lang: str | None, identity: Mapping[str, Any], *, device: str = "auto", dtype: str = "auto"
) -> NextTokenModel | MaskedLanguageModel | PythonLanguageModel:
    """`load_language_model`, with the last `KEPT` of them kept in this process.

    identity: of the model that is meant, as the store's address holds it: a folder may hold another one by now.
    """
    reference = resolve_language_model(name, lang)
    if reference.entry.python is not None:
        return PythonLanguageModel(reference.entry.python, offered(device, dtype, lang=reference.lang))
    from nbkit.models.language_models.language_model import load_language_model

    def load() -> NextTokenModel | MaskedLanguageModel | PythonLanguageModel:
        model = load_language_model(name, lang=lang, device=device, dtype=dtype)
        check_unchanged(name, identity, lambda: language_model_identity(name, lang, device=device, dtype=dtype))
        return model

    return _loaded.get(key_of(identity, name, lang, device, dtype), load)


def _masked(
    name: str, lang: str | None, identity: Mapping[str, Any], device: str, dtype: str
) -> MaskedLanguageModel | PythonLanguageModel:
    model: Any = kept_language_model(name, lang, identity, device=device, dtype=dtype)
    if model.kind != "masked":
        raise ModelError(f"language model '{name}' is causal; a masked one is needed to judge words in a place")
    return model


def _config(kind: str, name: str, lang: str | None, device: str, dtype: str) -> dict[str, Any]:
    identity = language_model_identity(name, lang, device=device, dtype=dtype)
    return {"kind": kind, "version": 1, "model": identity}


def _downloaded(kind: str, name: str, lang: str | None, device: str, dtype: str) -> Mapping[str, Any]:
    return with_revision(lambda: _config(kind, name, lang, device, dtype), lambda: ensure_language_model(name, lang))


def _shard(device: str) -> int:
    return SHARDS.get(resolve_device(device).partition(":")[0], SHARDS["cpu"])


def _span(place: str) -> tuple[int, int]:
    start, _, stop = place.partition(":")
    return int(start), int(stop)
