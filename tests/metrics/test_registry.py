"""The registry of metrics: options, what cannot be used here, one's own metrics, and cheap imports."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence

import numpy as np
import pytest

from nbkit.errors import NbkitError, UnknownNameError
from nbkit.measure import METRICS, Kappa, check_metric, load_metric

PURE = ["bleu", "levenshtein", "chrf"]
SIX = ["bleu", "levenshtein", "chrf", "bertscore", "bleurt", "bleu-nltk"]


def test_the_papers_metrics_in_order_and_what_its_code_computes() -> None:
    assert METRICS.names()[:6] == SIX
    assert all(METRICS.summary(name) for name in SIX)


@pytest.mark.parametrize("name", PURE)
def test_a_pure_metric_is_a_kappa_that_can_always_be_used(name: str) -> None:
    metric = load_metric(name)
    assert isinstance(metric, Kappa)
    assert metric.name == name
    assert metric.bounded
    assert check_metric(name) is None
    scores = metric.scores(["a b c", "x"], ["a c b", "x"], "en")
    assert scores.dtype == np.float64
    assert scores[1] == 1 > scores[0]


@pytest.mark.parametrize("name", ["bleu", "levenshtein"])
def test_identity_tells_apart_what_scores_differently(name: str) -> None:
    metric = load_metric(name)
    assert metric.identity("zh") != metric.identity("de") == metric.identity("fr")
    assert metric.signature("zh") in metric.identity("zh").values()


def test_identity_tells_orders_apart() -> None:
    assert load_metric("bleu", max_order=2).identity("de") != load_metric("bleu").identity("de")


def test_unknown_names_and_options() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'levenshtein'"):
        load_metric("levenstein")
    with pytest.raises(NbkitError, match=r"metric 'levenshtein': unknown option 'norm'\. There are: none"):
        load_metric("levenshtein", norm="max")
    assert "did you mean 'layer'" in (check_metric("bertscore", layers=9) or "")


def test_ones_own_metric(monkeypatch: pytest.MonkeyPatch) -> None:
    class Length:
        name, symbol, bounded = "length", "len", True

        def __init__(self, power: float = 1.0):
            self.power = power

        def signature(self, lang: str) -> str:
            return f"length|power:{self.power}"

        def identity(self, lang: str) -> dict[str, object]:
            return {"metric": self.name, "signature": self.signature(lang)}

        def scores(self, hypotheses: Sequence[str], references: Sequence[str], lang: str) -> np.ndarray:
            pairs = zip(hypotheses, references, strict=True)
            return np.array([min(len(h), len(r)) / max(len(h), len(r), 1) for h, r in pairs]) ** self.power

    METRICS.register("length", Length)
    metric = load_metric("length", power=2.0)
    assert isinstance(metric, Kappa)
    assert check_metric("length") is None
    assert metric.scores(["ab"], ["abcd"], "en").tolist() == [0.25]


@pytest.mark.parametrize("name", PURE)
def test_an_unknown_language_is_an_error(name: str) -> None:
    with pytest.raises(UnknownNameError, match="unknown language 'xx'"):
        load_metric(name).scores(["a"], ["a"], "xx")


def test_what_is_no_metric_is_reported_with_all_it_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    class Scores:
        name, identity = "mine", {"metric": "mine"}

        def scores(self, hypotheses: Sequence[str], references: Sequence[str], lang: str) -> np.ndarray:
            return np.ones(len(hypotheses))

    METRICS.register("mine", Scores)  # type: ignore[arg-type]
    message = (
        "metric 'mine': Scores does not implement the Kappa protocol: missing symbol, bounded, signature; "
        "identity is not a method"
    )
    with pytest.raises(NbkitError, match=message):
        load_metric("mine")
    assert (check_metric("mine") or "").startswith(message)
    METRICS.register("made", Scores())  # type: ignore[arg-type]
    with pytest.raises(NbkitError, match=r"metric 'made': .* was registered; register a class or function"):
        load_metric("made")


def test_nothing_heavy_is_imported_before_it_is_used() -> None:
    code = (
        "import sys, nbkit.measure as m; m.load_metric('bleu').scores(['a'], ['b'], 'en'); m.load_metric('bleurt');"
        "m.check_metric('bertscore', model='/nowhere', layer=1); import nbkit.measure.statistics;"
        "heavy = ['torch', 'transformers', 'pandas', 'sacrebleu', 'pingouin', 'bert_score'];"
        "print([name for name in heavy if name in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"
