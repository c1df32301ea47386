"""Labelled pairs as running text, for training: raw, some of them joined from tokens, with permuted copies."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from nbkit.corpora.nli import find_nli, load_nli, raw_nli
from nbkit.models.classifier_recipe import ClassifierRecipe
from nbkit.perturb.derangements import derange_pair
from nbkit.seeding import address

Pair = tuple[str, str]


class LabelledPair(NamedTuple):
    """Premise and hypothesis, their label, and permuted copies of both."""

    pair: Pair
    label: str
    copies: tuple[Pair, ...] = ()


def labelled_pairs(recipe: ClassifierRecipe, corpus: str, n: int | None) -> Iterator[LabelledPair]:
    """The first *n* pairs of *corpus* (all without *n*) as the recipe has them trained on.

    A drawn share of them is joined from tokens, as permuted text is: otherwise spacing, and not word order, would be
    what a model learns to tell the two apart by. A pair too short for its copies comes without any.
    Raises as `nbkit.corpora.nli.load_nli` does.
    """
    if not recipe.joined and not recipe.max_entropy:
        for premise, hypothesis, label in raw_nli(corpus, recipe.lang, n=n):
            yield LabelledPair((premise, hypothesis), label)
        return
    seed = address(recipe.seed, "max-entropy")
    for pair in load_nli(corpus, recipe.lang, n=n, parsers={recipe.lang: recipe.tokens}):
        is_joined = address(recipe.seed, "joined", pair.id) % 1000 < 1000 * recipe.joined
        texts = (
            (pair.premise.joined, pair.hypothesis.joined) if is_joined else (pair.premise.text, pair.hypothesis.text)
        )
        found = None
        if recipe.max_entropy:
            found = derange_pair(pair.premise, pair.hypothesis, recipe.copies, seed=seed)
        yield LabelledPair((texts[0], texts[1]), pair.label, tuple(found.texts()) if found else ())


def held_out_pairs(recipe: ClassifierRecipe, corpus: str) -> tuple[list[Pair], list[str]]:
    """The first pairs of *corpus* that accuracy is measured on, unchanged, and their labels."""
    rows = list(raw_nli(corpus, recipe.lang, n=recipe.held_out))
    return [(premise, hypothesis) for premise, hypothesis, _ in rows], [label for *_, label in rows]


def is_endless(corpus: str) -> bool:
    """Whether *corpus* draws as many pairs as one asks for.

    >>> is_endless("sandbox:train"), is_endless("sick:train")
    (True, False)
    """
    return find_nli(corpus)[0].endless
