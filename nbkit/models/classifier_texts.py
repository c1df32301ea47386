"""Labelled pairs as running text, for training: raw, some of them joined from tokens, with permuted copies."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

from nbkit.corpora.nli import find_nli, load_nli, raw_nli
from nbkit.models.classifier_recipe import ClassifierRecipe
from nbkit.perturb.derangements import derange_pair
from nbkit.seeding import address

Pair = tuple[str, str]
Split = Literal["dev", "test"]


class LabelledPair(NamedTuple):
    """Premise and hypothesis, their label, and permuted copies of both."""

    pair: Pair
    label: str
    copies: tuple[Pair, ...] = ()


def training_pairs(recipe: ClassifierRecipe) -> Iterator[LabelledPair]:
    """The pairs to train on; a drawn share of them joined from tokens, as permuted text is.

    Otherwise spacing, and not word order, would be what a model learns to tell the two apart by. Raises as
    `nbkit.corpora.nli.load_nli` does.
    """
    return _labelled(recipe, recipe.train, recipe.joined, recipe.pairs, 0)


def dev_pairs(recipe: ClassifierRecipe) -> Iterator[LabelledPair]:
    """The pairs that decide when to stop, as they are in their corpus."""
    return _labelled(recipe, recipe.dev, 0.0, recipe.held_out, recipe.dev_start)


def _labelled(
    recipe: ClassifierRecipe, corpus: str, joined: float, n: int | None, start: int
) -> Iterator[LabelledPair]:
    """Pairs ``start … start + n - 1`` with their permuted copies; one too short for these comes without any."""
    if not joined and not recipe.max_entropy:  # words are cut only where something is made of them
        for premise, hypothesis, label in raw_nli(corpus, recipe.lang, n=n, start=start):
            yield LabelledPair((premise, hypothesis), label)
        return
    seed = address(recipe.seed, "max-entropy")
    for pair in load_nli(corpus, recipe.lang, n=n, start=start, parsers={recipe.lang: recipe.tokens}):
        is_joined = address(recipe.seed, "joined", pair.id) % 1000 < 1000 * joined
        texts = (
            (pair.premise.joined, pair.hypothesis.joined) if is_joined else (pair.premise.text, pair.hypothesis.text)
        )
        found = None
        if recipe.max_entropy:
            found = derange_pair(pair.premise, pair.hypothesis, recipe.copies, seed=seed)
        yield LabelledPair((texts[0], texts[1]), pair.label, tuple(found.texts()) if found else ())


def held_out_pairs(recipe: ClassifierRecipe, split: Split) -> tuple[list[Pair], list[str]]:
    """The pairs of dev or test that accuracy is measured on, and their labels."""
    corpus, start = (recipe.dev, recipe.dev_start) if split == "dev" else (recipe.test, 0)
    rows = list(raw_nli(corpus, recipe.lang, n=recipe.held_out, start=start))
    return [(premise, hypothesis) for premise, hypothesis, _ in rows], [label for *_, label in rows]


def is_endless(corpus: str) -> bool:
    """Whether *corpus* draws as many pairs as one asks for.

    >>> is_endless("sandbox:train"), is_endless("sick:train")
    (True, False)
    """
    return find_nli(corpus)[0].endless
