"""κ metrics (how alike two texts are) and the statistics of what is derived from them.

>>> load_metric("bleu").scores(["Tom sleeps."], ["Tom sleeps ."], "en").tolist()
[1.0]
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from nbkit.errors import NbkitError, closest
from nbkit.measure.base import Kappa
from nbkit.registry import Registry

__all__ = ["Kappa", "METRICS", "check_metric", "load_metric"]

_VALUES = ("name", "symbol", "bounded")


_METHODS = ("signature", "identity", "scores")


#: Names to factories (usually classes) whose keyword arguments are the metric's options.
METRICS: Registry[Callable[..., Kappa]] = Registry("metric")


METRICS.register("bleu", "nbkit.measure.bleu:Bleu", summary="sentence BLEU-4, exp smoothing, effective order")


METRICS.register(
    "levenshtein", "nbkit.measure.similarity:Levenshtein", summary="1 − token edit distance / longer length"
)


METRICS.register("chrf", "nbkit.measure.similarity:Chrf", summary="character n-gram F2 up to 6 characters")


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
    parameters = inspect.signature(factory).parameters
    if not any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()):
        for option in options:
            if option not in parameters:
                guess = closest(option, parameters)
                hint = f"; did you mean '{guess}'?" if guess else "."
                raise NbkitError(
                    f"metric '{name}': unknown option '{option}'{hint} There are: {', '.join(parameters) or 'none'}"
                )
    metric = factory(**options)
    _check_kappa(name, metric)
    return metric


def _check_kappa(name: str, metric: object) -> None:
    """Raise `NbkitError` that names what *metric* lacks to be a `Kappa`."""
    lacks = [member for member in (*_VALUES, *_METHODS) if not hasattr(metric, member)]
    values = [member for member in _METHODS if member not in lacks and not callable(getattr(metric, member))]
    if lacks or values:
        told = [*([f"it lacks {', '.join(lacks)}"] if lacks else []), *(f"its {each} is no method" for each in values)]
        raise NbkitError(
            f"metric '{name}': {type(metric).__name__} is no metric: {'; '.join(told)} "
            "(nbkit.measure.Kappa says what each is; the README has a whole example)"
        )


def check_metric(name: str, *, lang: str | None = None, **options: Any) -> str | None:
    """Why the metric cannot be used here (for texts in *lang*), or None; loads no model and no torch.

    >>> check_metric("bleu")
    >>> check_metric("blue")
    "unknown metric 'blue'; did you mean 'bleu'? There are: bertscore, bleu, bleu-nltk, bleurt, chrf, levenshtein"
    """
    try:
        metric = load_metric(name, **options)
    except NbkitError as error:
        return str(error)
    problem = getattr(metric, "problem", None)
    return problem(lang) if problem else None
