"""What tests ask of a model by its name, in one call each: `nbkit.models.load`, and what is asked of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from nbkit.corpora.nli import LABELS
from nbkit.models import Decoding, Entry, ask, check, label, load, model, translate
from nbkit.models.names import Reference, check_languages
from nbkit.store import Store
from nbtrain.models import fetch_or_train


def entry(*, languages: Sequence[str] | None = None, **fields: Any) -> Entry:
    """An entry of a classifier or a language model."""
    return Entry(sources=languages, **fields)


def resolve(name: str, src: str, tgt: str) -> Reference:
    return load(name, "translate", src, tgt).reference


def remote(name: str, src: str, tgt: str) -> Any:
    """What is asked by a model without weights here."""
    return load(name, "translate", src, tgt)


def resolve_classifier(name: str, lang: str) -> Reference:
    return load(name, "classify", lang).reference


def resolve_language_model(name: str, lang: str | None = None) -> Reference:
    return load(name, "likelihood", lang).reference


classifier_label, language_model_label = partial(label, task="classify"), partial(label, task="likelihood")


def check_model(name: str, src: str, tgt: str) -> str | None:
    return check(name, "translate", src, tgt)


def check_classifier(name: str, lang: str = "en") -> str | None:
    return check(name, "classify", lang)


def check_language_model(name: str, lang: str | None = None, *, kind: str | None = None) -> str | None:
    return check(name, "likelihood", lang, kind=kind)


def model_identity(name: str, src: str, tgt: str, **how: Any) -> dict[str, Any]:
    return load(name, "translate", src, tgt, **how).versioned()


def classifier_identity(name: str, lang: str = "en", **how: Any) -> dict[str, Any]:
    return load(name, "classify", lang, **how).versioned()


def language_model_identity(name: str, lang: str | None = None, **how: Any) -> dict[str, Any]:
    return load(name, "likelihood", lang, **how).versioned()


def ensure_model(name: str, src: str, tgt: str) -> Path | None:
    return fetch_or_train(load(name, "translate", src, tgt))


def ensure_classifier(name: str, lang: str = "en") -> Path | None:
    return fetch_or_train(load(name, "classify", lang))


def ensure_language_model(name: str, lang: str | None = None) -> Path | None:
    return fetch_or_train(load(name, "likelihood", lang))


def is_trained(name: str, src: str, tgt: str) -> bool:
    return load(name, "translate", src, tgt).is_here


def is_classifier_here(name: str, lang: str = "en") -> bool:
    return load(name, "classify", lang).is_here


def is_language_model_here(name: str, lang: str | None = None) -> bool:
    return load(name, "likelihood", lang).is_here


def translation_config(name: str, src: str, tgt: str, decoding: Decoding, **how: Any) -> dict[str, Any]:
    return load(name, "translate", src, tgt, decoding=decoding, **how).key()


def classification_config(name: str, lang: str = "en", **how: Any) -> dict[str, Any]:
    return load(name, "classify", lang, **how).key()


def translate_remembered(
    name: str,
    texts: Sequence[str],
    src: str,
    tgt: str,
    decoding: Decoding | None = None,
    *,
    store: Store | None,
    progress: bool = True,
    **how: Any,
) -> list[str]:
    how["decoding"] = decoding or Decoding()
    return translate(name, texts, src, tgt, store=store, progress=progress, **how)


def classify_remembered(
    name: str,
    pairs: Iterable[tuple[str, str]],
    *,
    lang: str = "en",
    store: Store | None,
    progress: bool = True,
    **how: Any,
) -> np.ndarray:
    rows = list(iter_classified(name, pairs, lang=lang, store=store, progress=progress, **how))
    return np.array(rows, dtype=np.float64).reshape(len(rows), len(LABELS))


def iter_classified(
    name: str,
    pairs: Iterable[tuple[str, str]],
    *,
    lang: str = "en",
    store: Store | None,
    progress: bool = True,
    **how: Any,
) -> Iterator[tuple[float, ...]]:
    for answer in ask(load(name, "classify", lang, **how), pairs, store, progress=progress):
        yield tuple(answer[label] for label in LABELS)


def iter_perplexities(
    name: str,
    texts: Iterable[str],
    *,
    lang: str | None = None,
    store: Store | None,
    progress: bool = True,
    **how: Any,
) -> Iterator[float]:
    model = load(name, "likelihood", lang, **how)
    for answer in ask(model, ((text,) for text in texts), store, progress=progress):
        yield answer["perplexity"]


def perplexities_remembered(name: str, texts: Iterable[str], **settings: Any) -> np.ndarray:
    return np.array(list(iter_perplexities(name, texts, **settings)), dtype=np.float64)


def likelihoods(name: str, texts: Iterable[str], lang: str | None = None, **how: Any) -> list[dict[str, Any]]:
    """Log-probability, tokens and perplexity of every text, not remembered."""
    return list(ask(load(name, "likelihood", lang, **how), [(text,) for text in texts], None, progress=False))


def masked_remembered(
    name: str,
    texts: Sequence[str],
    spans: Sequence[tuple[int, int]],
    candidates: Sequence[Sequence[str]],
    *,
    lang: str | None = None,
    store: Store | None,
    progress: bool = True,
    **how: Any,
) -> list[np.ndarray]:
    each = zip(texts, spans, candidates, strict=True)
    asked = [(text, f"{start}:{stop}", one) for text, (start, stop), several in each for one in several]
    answers = iter(ask(load(name, "fill", lang, **how), asked, store, progress=progress))
    return [np.array([next(answers)["log_probability"] for _ in several]) for several in candidates]


def loaded(name: str, task: str, *langs: str | None, **how: Any) -> Any:
    """The network of a model, loaded anew; None for one without weights here, which is checked."""
    found: Any = load(name, task, *langs, **how)
    check_languages(found.reference)
    if not hasattr(found, "network"):
        found.check()
        return None
    found.fetch()
    model._kept.clear()
    return found.network()


def answered(network: Any, reference: Reference, inputs: Sequence[Any]) -> list[dict[str, Any]]:
    """What *network* answers, each distinct input asked once; blank texts not at all."""
    wanted = [given for given in dict.fromkeys(inputs) if len(given) > 1 or given[0].strip()]
    check_languages(reference)
    found = dict(network.answers(reference, wanted)) if wanted else {}
    return [found.get(given, {"hypothesis": "", "perplexity": np.nan}) for given in inputs]


class Translator:
    """A translator that remembers nothing, with its network."""

    def __init__(self, name: str, src: str, tgt: str, **how: Any):
        self.name, self.how = name, how
        self.network = loaded(name, "translate", src, tgt, **how)

    @property
    def model(self) -> Any:
        return self.network.model

    @property
    def tokenizer(self) -> Any:
        return self.network.tokenizer

    def translate(
        self, texts: Sequence[str], src: str, tgt: str, decoding: Decoding | None = None, *, progress: bool = True
    ) -> list[str]:
        if self.network is None:
            return translate_remembered(self.name, texts, src, tgt, decoding, store=None, progress=progress, **self.how)
        reference = load(self.name, "translate", src, tgt, decoding=decoding or Decoding(), **self.how).reference
        return [each["hypothesis"] for each in answered(self.network, reference, [(text,) for text in texts])]


load_translator = Translator


class Classifier:
    """A classifier that remembers nothing."""

    def __init__(self, name: str, *, lang: str = "en", **how: Any):
        self.name, self.how = name, {"lang": lang, **how}
        self.network = loaded(name, "classify", lang, **how)

    @property
    def model(self) -> Any:
        return self.network.model

    @property
    def tokenizer(self) -> Any:
        return self.network.tokenizer

    def probabilities(self, pairs: Sequence[tuple[str, str]], *, progress: bool = True) -> np.ndarray:
        if self.network is None:
            return classify_remembered(self.name, pairs, store=None, progress=progress, **self.how)
        how = {name: value for name, value in self.how.items() if name != "lang"}
        reference = load(self.name, "classify", self.how["lang"], **how).reference
        rows = answered(self.network, reference, list(pairs))
        return np.array([[row[label] for label in LABELS] for row in rows], dtype=np.float64).reshape(-1, len(LABELS))

    def rows(self, pairs: Sequence[tuple[str, str]]) -> Iterator[tuple[float, ...]]:
        return iter(map(tuple, self.probabilities(pairs).tolist()))


load_classifier = Classifier


def usage_remembered(
    name: str, src: str, tgt: str, decoding: Decoding | None = None, *, store: Store, texts: Any = None
) -> Counter[str]:
    """What stored answers cost, and their outcomes."""
    model = load(name, "translate", src, tgt, decoding=decoding or Decoding())
    return Counter(model.usage(store, texts) or {})


class LanguageModel:
    """A language model that remembers nothing."""

    def __init__(self, name: str, *, lang: str | None = None, **how: Any):
        self.name, self.how = name, {"lang": lang, **how}
        self.network = loaded(name, "likelihood", lang, **how)

    @property
    def tokenizer(self) -> Any:
        return self.network.tokenizer

    def perplexities(self, texts: Iterable[str], *, progress: bool = True) -> np.ndarray:
        return perplexities_remembered(self.name, texts, store=None, progress=progress, **self.how)

    def likelihoods(self, texts: Iterable[str]) -> list[dict[str, Any]]:
        return likelihoods(self.name, texts, **self.how)

    def masked_log_probabilities(self, *asked: Any, progress: bool = True) -> list[np.ndarray]:
        return masked_remembered(self.name, *asked, store=None, progress=progress, **self.how)


load_language_model = LanguageModel
