"""What is done to text: the sentence as it is, re-joined from its tokens (the control), and in sixteen other orders."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from nbkit import corpora
from nbkit.perturb import CONTROL, PERTURBATIONS, is_drawn, perturb_all
from nbkit.studies.answering import Cell
from nbkit.studies.word_order.params import WordOrderParams, own_perturbations
from nbkit.text.sentences import Pair, Text


def inputs(params: WordOrderParams, cell: Cell) -> Any:
    """What stands behind the names of corpus, parsers, metrics and a user's own perturbations."""
    corpus = corpora.corpus_identity(params.corpus, cell.source, cell.target, parsers=params.parsers or None)
    return {"corpus": corpus, "own_perturbations": own_perturbations(params)}


def problems(params: WordOrderParams, cell: Cell) -> Iterator[str]:
    """Problems of corpus and parsers; parses nothing."""
    n, options = params.pairs_wanted(cell.target), {"on_error": params.on_error}
    if n is None and corpora.is_endless(params.corpus):
        yield f"corpus '{params.corpus}' is unbounded: set n_pairs"
    yield from corpora.check_corpus(params.corpus, cell.source, cell.target, params.parsers or None, n=n, **options)


def items(params: WordOrderParams, cell: Cell, start: int, n: int) -> Iterator[list[dict[str, Any]]]:
    """Of each pair the control, and each perturbation that applies to both sides, in every spacing.

    Source and reference are perturbed by independent draws, as in the paper (§6.1).
    """
    reading: Mapping[str, Any] = {"parsers": params.parsers or None, "on_error": params.on_error}
    for pair in corpora.load_pairs(params.corpus, cell.source, cell.target, n=n, start=start, **reading):
        yield list(_of_pair(params, pair))


def _of_pair(params: WordOrderParams, pair: Pair) -> Iterator[dict[str, Any]]:
    if min(len(pair.source), len(pair.target)) < params.min_tokens:
        return
    names = params.perturbation_names
    settings: dict[str, Any] = {"seed": params.seed, "unit": params.unit}
    sources, references = (perturb_all(text, names, **settings) for text in (pair.source, pair.target))
    both = [name for name in names if sources[name] is not None and references[name] is not None]
    second = _second(pair.target, both, references, settings)
    for spacing in params.spacings:
        for name in (CONTROL, *both):
            sides = ((pair.source, sources), (pair.target, references), (pair.target, second))
            changed, reference, again = (_written(text, orders.get(name), spacing) for text, orders in sides)
            yield {
                "perturbation": name,
                "category": CONTROL if name == CONTROL else PERTURBATIONS.get(name).category,
                "spacing": spacing,
                "length": len(pair.source),
                "source": pair.source.text,
                "reference": pair.target.text,
                "changed": changed,
                "changed_reference": reference,
                "second": again if name in second else None,
            }


def _second(text: Text, names: list[str], first: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, Any]:
    """A second draw of the perturbations that have more than one outcome for this text."""
    drawing = [name for name in names if PERTURBATIONS.get(name).random]
    drawn = perturb_all(text, drawing, draw=1, **settings)
    return {
        name: orders
        for name, orders in drawn.items()
        if orders is not None and (not _equal(orders, first[name]) or is_drawn(text, name, **settings))
    }


def _equal(one: Sequence[Any], other: Sequence[Any]) -> bool:
    return all(np.array_equal(np.asarray(a), np.asarray(b)) for a, b in zip(one, other, strict=True))


def _written(text: Text, orders: Any, spacing: Any) -> str:
    if orders is not None:
        return text.reorder(orders, spacing)
    return text.joined if spacing == "joined" else text.text
