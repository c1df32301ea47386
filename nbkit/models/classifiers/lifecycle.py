"""The life cycle of a classifier: its protocol, checks, identity and loading, and the probabilities in the store.

No pair is classified twice; a model is loaded only if probabilities are missing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar, Protocol

import numpy as np

from nbkit.corpora.nli import LABELS, catalogue
from nbkit.errors import ModelError
from nbkit.models import weights
from nbkit.models.backends import Decoding, version
from nbkit.models.caps import take_texts
from nbkit.models.catalogue import (
    ClassifierReference,
    output_order,
    resolve_classifier,
)
from nbkit.models.lifecycle import ModelKind, with_revision
from nbkit.models.python import PythonClassifier
from nbkit.models.services.asking import line_of, stored_answers
from nbkit.models.services.names import LABEL_FILE, RemoteModel
from nbkit.store import Store

#: Premise and hypothesis.
Pair = tuple[str, str]
#: Probabilities in the order of `LABELS`.
Row = tuple[float, ...]


class Classifier(Protocol):
    """The protocol of every classifier."""

    name: str

    def probabilities(self, pairs: Sequence[Pair], *, progress: bool = True) -> np.ndarray: ...

    def rows(self, pairs: Iterable[Pair]) -> Iterator[Row]: ...


class ClassifierKind(ModelKind[ClassifierReference, Classifier]):
    """What is specific to classifiers: three labels."""

    field = "classification"
    resolve = staticmethod(resolve_classifier)
    python = PythonClassifier
    loaders: ClassVar = {
        "transformers": "nbkit.models.classifiers.classifier:load_pair_classifier",
    }

    def check_folder(self, reference: ClassifierReference, folder: Path) -> None:
        """Raises `ModelError` if *folder* holds no classifier with the three labels for the language."""
        weights.check_files(reference, folder)
        config = weights.read_json(folder / "config.json")
        kinds = config.get("architectures") or []
        if not any("Classif" in kind for kind in kinds):
            found = ", ".join(kinds) or f"a '{config.get('model_type')}' model of unspecified kind"
            raise ModelError(
                f"{reference.called}: {folder} holds {found}, which is not a classifier; fine-tune it first: "
                f"nbkit train classifier OUTPUT --start {folder}"
            )
        self.check_tokenizer(reference, folder)
        weights.check_trained_for(reference.called, folder, reference.lang)
        output_order(reference, folder)

    def check_answering(self, reference: ClassifierReference) -> None:
        """Raises `ModelError` where a server or files of labels cannot be used; asks nobody."""
        if reference.remote is None:
            super().check_answering(reference)
        elif (problem := reference.remote.problem(reference.lang, LABEL_FILE)) is not None:
            raise ModelError(problem)

    def answering_identity(self, reference: ClassifierReference, device: str, dtype: str) -> dict[str, Any]:
        """A chat model is known by name, server and prompt; labels in files by their digests."""
        if reference.remote is not None:
            return reference.remote.identity()
        return super().answering_identity(reference, device, dtype)

    def answering(self, reference: ClassifierReference, device: str, dtype: str) -> Classifier:
        """A chat model, labels in files, or Python code."""
        if reference.remote is not None:
            return RemoteClassifier(reference.remote, reference.lang)
        return super().answering(reference, device, dtype)

    def more_identity(self, reference: ClassifierReference) -> dict[str, Any]:
        """torch's version, as the head always runs in torch, and labels if the name or the catalogue gives them."""
        if not reference.has_files:
            return {}
        labels = {} if reference.labels is None else {"labels": list(reference.labels)}
        return {"torch": version("torch"), **labels}


CLASSIFIER = ClassifierKind()


class RemoteClassifier:
    """A chat model that is asked for labels, or labels in files, as a classifier.

    Every label is certain (probability 1). An answer without exactly one label counts as refused: its row is NaN.
    store: where answers of a chat model are stored, each as it came; None: in memory.
    """

    #: Pairs that are asked for at a time.
    _AT_A_TIME = 1024

    def __init__(self, remote: RemoteModel, lang: str, store: Store | None = None):
        self.remote, self.lang, self.store, self.name = remote, lang, store, remote.name

    def probabilities(self, pairs: Sequence[Pair], *, progress: bool = True) -> np.ndarray:
        """p(label | premise, hypothesis), one row per pair, columns in the order of `LABELS`; NaN where refused."""
        return np.array(list(self.rows(pairs)), dtype=np.float64).reshape(len(pairs), len(LABELS))

    def rows(self, pairs: Iterable[Pair]) -> Iterator[Row]:
        """The same, row by row."""
        stream = iter(pairs)
        while some := list(islice(stream, self._AT_A_TIME)):
            texts = [self.remote.asked(*pair) for pair in some]
            said = self._said(texts)
            yield from (as_row(said[text]) for text in texts)

    def _said(self, texts: Sequence[str]) -> dict[str, str]:
        how = (self.lang, LABEL_FILE, Decoding(beams=1))
        if self.store is None:
            found = dict(self.remote.translator().answers(texts, *how, progress=False))
        else:
            config = {
                "kind": "answer", "version": 1, "model": self.remote.identity(), "src": self.lang, "tgt": LABEL_FILE,
                "decoding": self.remote.decoding(how[2]),
            }  # fmt: skip
            found = stored_answers(self.remote.translator, self.remote, config, texts, how, store=self.store)
        return {text: line_of(self.remote, found[text], text, *how[:2]).hypothesis for text in found}


def as_row(said: str) -> Row:
    """The probabilities that an answer or a line of a file stands for: one label, or three numbers that sum to 1.

    NaN, three times, for an answer that holds none of the labels or several.

    >>> as_row("Neutral."), as_row("0.2, 0.5, 0.3"), as_row("I cannot answer that.")
    ((0.0, 1.0, 0.0), (0.2, 0.5, 0.3), (nan, nan, nan))
    """
    parts = said.replace(",", " ").split()
    if len(parts) == len(LABELS):
        try:
            numbers = tuple(map(float, parts))
        except ValueError:
            numbers = ()
        if numbers and all(0 <= p <= 1 for p in numbers) and abs(sum(numbers) - 1) < 0.01:
            return numbers
    words = set(re.findall(r"[\w-]+", said.casefold()))
    words -= {word for word in words if len(word) == 1 and len(words) > 1}  # "e" is a label only by itself
    known = catalogue()["labels"]
    meant = [float(not words.isdisjoint(known[label])) for label in LABELS]
    return tuple(meant) if sum(meant) == 1 else (float("nan"),) * len(LABELS)


def classifier_identity(name: str, lang: str = "en", *, device: str = "auto", dtype: str = "auto") -> dict[str, Any]:
    """Identity of a classifier: everything that can change its output, JSON-serialisable; loads no model.

    A folder is identified by the digest of its files, a hub model by its id and the cached commit, a model trained here
    by the digest of its recipe and data; together with the labels, if the name or the catalogue gives them, the
    backend, its version and torch's, the kind of device and the dtype.

    Raises `UnknownNameError` and `ModelError` as `resolve_classifier` does.

    >>> classifier_identity("bart-large-mnli", device="cpu")["hub"]
    'facebook/bart-large-mnli'
    """
    return CLASSIFIER.identity(name, lang, device=device, dtype=dtype)


def check_classifier(name: str, lang: str = "en") -> str | None:
    """Check whether a classifier can be used for a language: the problem in one message, or None.

    Checks the name, the backend, the language, the labels and the files (on disk, in the Hugging Face cache, or
    available from the hub) or the training data, without loading the model.

    >>> check_classifier("distilbert-mnli", "zh")
    "classifier 'distilbert-mnli' does not support 'zh'; it supports: en"
    """
    return CLASSIFIER.check(name, lang)


def ensure_classifier(name: str, lang: str = "en") -> Path | None:
    """Train, download or convert a classifier's files if they are missing; returns their folder.

    Returns None for Python code, which has no files. The first stage of a grid calls this once per model, so that its
    workers find all files.

    Raises what `load_classifier` raises for a classifier that is not available.
    """
    return CLASSIFIER.ensure(name, lang)


def is_classifier_here(name: str, lang: str = "en") -> bool:
    """Whether a classifier's files are on this machine, trained or downloaded.

    >>> is_classifier_here("nowhere/none")
    False
    """
    return CLASSIFIER.is_here(name, lang)


def load_classifier(name: str, *, lang: str = "en", device: str = "auto", dtype: str = "auto") -> Classifier:
    """Load a classifier of premise–hypothesis pairs; download or train it first if necessary.

    Parameters
    ----------
    name : str
        A catalogue name, a hub id (``id@revision`` pins it) or a folder, each with an optional ``?labels=…`` (see
        `resolve_classifier`).
    lang : str
        Language of the pairs.
    device : str
        ``auto`` (CUDA if available), ``cpu``, ``cuda``, ``cuda:1``.
    dtype : str
        ``auto`` (bfloat16 on CUDA, float32 on the CPU) or the name of a torch dtype.

    Returns
    -------
    Classifier

    Raises
    ------
    UnknownNameError
        The name is unknown.
    ModelError
        The weights or the device are not available, the language or the architecture is not supported, or the
        checkpoint is not a classifier with the three labels.
    MissingExtraError
        The backend is not installed.
    """
    return CLASSIFIER.load(name, lang, device=device, dtype=dtype)


def classification_config(name: str, lang: str = "en", *, device: str = "auto", dtype: str = "auto") -> dict[str, Any]:
    """Store key of a classifier's probabilities, for `Store.missing` in estimates."""
    identity = classifier_identity(name, lang, device=device, dtype=dtype)
    return {"kind": "classification", "version": 1, "model": identity, "lang": lang}


def classify_remembered(name: str, pairs: Sequence[Pair], *, store: Store, **settings: Any) -> np.ndarray:
    """p(label | premise, hypothesis) of every pair, (pairs × 3) in the order of `LABELS`.

    Reads known probabilities from *store*, and computes and stores missing ones, shard by shard; if none is missing, no
    model is loaded and torch is not imported. The largest p gives the label, −Σ p ln p the entropy. settings: lang,
    device, dtype and progress, as for `iter_classified`.

    Raises what `load_classifier` raises, but only if a probability is missing.
    """
    table = np.empty((len(pairs), len(LABELS)))
    for i, row in enumerate(iter_classified(name, pairs, store=store, **settings)):
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
    remote = resolve_classifier(name, lang).remote
    if remote is not None:
        yield from RemoteClassifier(remote, lang, store).rows(pairs)
        return
    config = with_revision(
        lambda: classification_config(name, lang, device=device, dtype=dtype), lambda: ensure_classifier(name, lang)
    )

    def compute(missing: list[tuple[str, ...]]) -> Iterator[dict[str, float]]:
        take_texts(name, len(missing))
        classifier = CLASSIFIER.kept(config["model"], name, lang, device=device, dtype=dtype)
        for row in classifier.probabilities([(pair[0], pair[1]) for pair in missing], progress=progress):
            yield dict(zip(LABELS, map(float, row), strict=True))

    for record in store.iter_records(config, pairs, compute, shard=CLASSIFIER.shard(device)):
        yield tuple(record[label] for label in LABELS)
