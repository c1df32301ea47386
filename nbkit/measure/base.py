"""What every κ is: texts in, one similarity a pair out, with a signature that says exactly how."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np

from nbkit.errors import NbkitError
from nbkit.languages import check_language


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

        It costs no model load. Learned metrics add what stands for their weights (None where they cannot be had,
        which is an error only when scores are asked for), the device and the versions of what runs them.

        >>> from nbkit.measure import load_metric
        >>> sorted(load_metric("chrf").identity("en"))
        ['metric', 'signature']
        """

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


def indices_of(items: Sequence[Any]) -> dict[Any, list[int]]:
    """Each distinct item with the places where it stands, in order of first appearance.

    >>> indices_of(["a", "b", "a"])
    {'a': [0, 2], 'b': [1]}
    """
    places: dict[Any, list[int]] = {}
    for i, item in enumerate(items):
        places.setdefault(item, []).append(i)
    return places
