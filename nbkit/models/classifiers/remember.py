"""Pairs that were classified once are never classified again; the model is loaded only for what is missing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from nbkit.corpora.nli import LABELS
from nbkit.models.classifiers.catalogue import resolve_classifier
from nbkit.models.classifiers.local import classifier_identity, ensure_classifier
from nbkit.models.kept import Kept, key_of
from nbkit.models.python import PythonClassifier
from nbkit.models.translators.identity import check_unchanged, offered, resolve_device, with_revision
from nbkit.store import Store

if TYPE_CHECKING:
    import numpy as np

    from nbkit.models.classifiers.classifier import Classifier

#: Classifiers that stay loaded in a process.
KEPT = 2


#: Pairs that are classified and written together, by device: what an interruption costs at most.
SHARDS = {"cpu": 4096, "cuda": 32768}


_loaded: Kept[Classifier] = Kept(KEPT)


def classification_config(name: str, lang: str = "en", *, device: str = "auto", dtype: str = "auto") -> dict[str, Any]:
    """The store's address of a classifier's probabilities, for `Store.missing` in estimates."""
    identity = classifier_identity(name, lang, device=device, dtype=dtype)
    return {"kind": "classification", "version": 1, "model": identity, "lang": lang}


def classify_remembered(
    name: str,
    pairs: Sequence[tuple[str, str]],
    *,
    lang: str = "en",
    store: Store,
    device: str = "auto",
    dtype: str = "auto",
    progress: bool = True,
) -> np.ndarray:
    """p(label | premise, hypothesis) of every pair, (pairs × 3) in the order of `LABELS`.

    Taken from *store* where it is known, else computed now and kept, shard by shard; where nothing is missing, no model
    is loaded and torch is not imported. The largest p is the label, −Σ p ln p the entropy.

    Raises what `load_classifier` raises, but only where something is missing.
    """
    import numpy as np

    table = np.empty((len(pairs), len(LABELS)))
    rows = iter_classified(name, pairs, lang=lang, store=store, device=device, dtype=dtype, progress=progress)
    for i, row in enumerate(rows):
        table[i] = row
    return table


def iter_classified(
    name: str,
    pairs: Iterable[tuple[str, str]],
    *,
    lang: str = "en",
    store: Store,
    device: str = "auto",
    dtype: str = "auto",
    progress: bool = True,
) -> Iterator[tuple[float, ...]]:
    """`classify_remembered` for a stream of pairs without end, row by row, in memory that does not grow."""
    config = with_revision(
        lambda: classification_config(name, lang, device=device, dtype=dtype), lambda: ensure_classifier(name, lang)
    )

    def compute(missing: list[tuple[str, ...]]) -> Iterator[dict[str, float]]:
        classifier = kept_classifier(name, lang, config["model"], device=device, dtype=dtype)
        for row in classifier.probabilities([(pair[0], pair[1]) for pair in missing], progress=progress):
            yield dict(zip(LABELS, map(float, row), strict=True))

    shard = SHARDS.get(resolve_device(device).partition(":")[0], SHARDS["cpu"])
    for record in store.iter_records(config, pairs, compute, shard=shard):
        yield tuple(record[label] for label in LABELS)


def kept_classifier(
    name: str, lang: str, identity: Mapping[str, Any], *, device: str = "auto", dtype: str = "auto"
) -> Classifier:
    """`load_classifier`, with the last `KEPT` classifiers kept in this process.

    identity: of the classifier that is meant, as in `classification_config`: a folder may hold another one by now.
    """
    python = resolve_classifier(name, lang).entry.python
    if python is not None:
        return PythonClassifier(python, offered(device, dtype, lang=lang))
    from nbkit.models.classifiers.classifier import load_classifier

    def load() -> Classifier:
        classifier = load_classifier(name, lang=lang, device=device, dtype=dtype)
        check_unchanged(name, identity, lambda: classifier_identity(name, lang, device=device, dtype=dtype))
        return classifier

    return _loaded.get(key_of(identity, name, lang, device, dtype), load)
