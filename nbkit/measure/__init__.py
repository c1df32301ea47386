"""κ metrics (how alike two texts are) and the statistics of what is derived from them.

>>> load_metric("bleu").scores(["Tom sleeps."], ["Tom sleeps ."], "en").tolist()
[1.0]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np

from nbkit.errors import NbkitError, as_problem
from nbkit.languages import check_language
from nbkit.registry import Registry, check_options

__all__ = ["Kappa", "METRICS", "check_metric", "check_pairs", "load_metric"]


@runtime_checkable
class Kappa(Protocol):
    """A similarity κ(hypothesis, reference) of two texts of one language; larger is more similar.

    A metric that may be unusable here (a package or weights not installed) also has
    ``problem(lang=None) -> str | None``, which says why without loading anything heavy.
    """

    @property
    def name(self) -> str:
        """The registered name, ``"bleu"``."""

    @property
    def symbol(self) -> str:
        """The superscript of κ and of what is derived from it in figures: B, L, …"""

    @property
    def bounded(self) -> bool:
        """Whether every score lies in [0, 1]."""

    def signature(self, lang: str) -> str:
        """All settings that can change a score, for texts of *lang*: what figures and tables print below themselves.

        Fields are joined by ``|``, the metric's name first, as sacreBLEU does: ``BLEU|nrefs:1|case:mixed|…``.
        Source: Post 2018, "A Call for Clarity in Reporting BLEU Scores".

        >>> from nbkit.measure import load_metric
        >>> load_metric("chrf").signature("en")
        'chrF2|nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no'
        """

    def identity(self, lang: str) -> dict[str, Any]:
        """The metric's part of a cache key for texts of *lang*: JSON-able, different whenever a score may be.

        Name and signature, unless a metric says more; it costs no model load. Learned metrics add what stands for their
        weights (None if they are not available, which is an error only when scores are computed), the device and the
        versions of what runs them.

        >>> from nbkit.measure import load_metric
        >>> sorted(load_metric("chrf").identity("en"))
        ['metric', 'signature']
        """
        return {"metric": self.name, "signature": self.signature(lang)}

    def scores(self, hypotheses: Sequence[str], references: Sequence[str], lang: str) -> np.ndarray:
        """κ of each hypothesis against the reference at its place: a float64 array, one entry a pair, no unit.

        κ is in [0, 1] where `bounded`, and does not depend on what else is scored. *lang* is that of both sides.

        Raises `NbkitError` where the two are not equally long or hold anything but texts, `ModelError` for weights
        that cannot be had. Source: word-order paper, §3 (κ as the similarity behind α and β).

        >>> from nbkit.measure import load_metric
        >>> load_metric("levenshtein").scores(["he sleeps", "he sleeps"], ["he sleeps", "he slept"], "en").tolist()
        [1.0, 0.5]
        """


def check_pairs(metric: str, hypotheses: Sequence[str], references: Sequence[str], lang: str | None = None) -> None:
    """Raise `NbkitError` unless each hypothesis has its reference, both are lists of texts, and *lang* is known.

    >>> check_pairs("bleu", ["a"], [])
    Traceback (most recent call last):
    nbkit.errors.NbkitError: bleu: 1 hypotheses but 0 references; one reference a hypothesis expected
    """
    if lang is not None:
        check_language(lang)
    for role, texts in (("hypotheses", hypotheses), ("references", references)):
        if isinstance(texts, str):
            raise NbkitError(f"{metric}: {role} is one text ({texts[:40]!r}); a list of texts expected")
        for i, text in enumerate(texts):
            if not isinstance(text, str):
                raise NbkitError(f"{metric}: {role}[{i}] is {text!r}, not a text")
    if len(hypotheses) != len(references):
        raise NbkitError(
            f"{metric}: {len(hypotheses)} hypotheses but {len(references)} references; "
            "one reference a hypothesis expected"
        )


#: Names to factories (usually classes) whose keyword arguments are the metric's options.
METRICS: Registry[Callable[..., Kappa]] = Registry("metric")
METRICS.register("bleu", "nbkit.measure.bleu:Bleu", summary="sentence BLEU-4, exp smoothing, effective order")
METRICS.register("levenshtein", "nbkit.measure.bleu:Levenshtein", summary="1 − token edit distance / longer length")
METRICS.register("chrf", "nbkit.measure.bleu:Chrf", summary="character n-gram F2 up to 6 characters")
METRICS.register("bertscore", "nbkit.measure.learned:BertScore", summary="F1 of contextual embeddings; needs weights")
METRICS.register("bleurt", "nbkit.measure.learned:Bleurt", summary="learned regression; needs weights")
METRICS.register(
    "bleu-nltk",
    "nbkit.measure.bleu:BleuAsCoded",
    summary="BLEU-4 as the word-order paper's research code has it: unsmoothed, both sides exchanged",
)


def load_metric(name: str, **options: Any) -> Kappa:
    """The metric registered under *name*, made with *options*; weights are loaded when it first scores.

    Raises `UnknownNameError` for a name, `NbkitError` for an option that is not known and for what is no `Kappa`.

    >>> load_metric("bleu", max_order=2).signature("zh")
    'BLEU|nrefs:1|case:mixed|eff:yes|tok:nbkit-cut.v1-char|smooth:exp|order:2'
    >>> load_metric("bleu", max_ordr=2)
    Traceback (most recent call last):
    nbkit.errors.NbkitError: metric 'bleu': unknown option 'max_ordr'; did you mean 'max_order'? ...
    """
    factory = METRICS.get(name)
    if not callable(factory):
        raise NbkitError(f"metric '{name}': {factory!r} was registered; a class or function that makes one is expected")
    check_options(f"metric '{name}'", factory, options)
    metric = factory(**options)
    _check_kappa(name, metric)
    return metric


def _check_kappa(name: str, metric: object) -> None:
    """Raise `NbkitError` that names what *metric* lacks to be a `Kappa`."""
    members = ("name", "symbol", "bounded", "signature", "identity", "scores")
    lacks = [member for member in members if getattr(metric, member, None) is None]
    values = [member for member in members[3:] if member not in lacks and not callable(getattr(metric, member))]
    if lacks or values:
        told = [*([f"it lacks {', '.join(lacks)}"] if lacks else []), *(f"its {each} is no method" for each in values)]
        raise NbkitError(
            f"metric '{name}': {type(metric).__name__} is no metric: {'; '.join(told)} "
            "(nbkit.measure.Kappa says what each is; the README has a whole example)"
        )


@as_problem
def check_metric(name: str, *, lang: str | None = None, **options: Any) -> str | None:
    """Why the metric cannot be used here (for texts in *lang*), or None; loads no model and no torch.

    >>> check_metric("bleu")
    >>> check_metric("blue")
    "unknown metric 'blue'; did you mean 'bleu'? There are: bertscore, bleu, bleu-nltk, bleurt, chrf, levenshtein"
    """
    problem = getattr(load_metric(name, **options), "problem", None)
    return problem(lang) if problem else None
