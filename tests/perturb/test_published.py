"""Every example that the word-order paper prints, against the definitions (Figure 3, Tables 4 and 5)."""

from __future__ import annotations

from itertools import permutations

import pytest

from nbkit.perturb import PERTURBATIONS, View, perturb, perturb_text
from nbkit.text.sentences import Sentence, Text
from tests.perturb.annotated import Example, annotated, published

EXAMPLES = published()


def of(*verdicts: str) -> pytest.MarkDecorator:
    chosen = [example for example in EXAMPLES if example.verdict in verdicts]
    assert chosen
    names = [
        f"{e.where}, {e.name}: {e.printed}" + (f" (definition wins: {e.reason})" if e.reason else "") for e in chosen
    ]
    return pytest.mark.parametrize("example", chosen, ids=names)


def result(sentence: Sentence, name: str, **arguments) -> tuple[str, ...] | None:
    order = perturb(sentence, name, **arguments)
    return None if order is None else tuple(sentence.tokens[index] for index in order)


def support(sentence: Sentence, name: str) -> set[tuple[str, ...]]:
    """All readings that a random perturbation can have: its function, fed with every permutation there is."""

    class Asked(Exception):
        pass

    class Ask:
        def permutation(self, n: int) -> list[int]:
            raise Asked(n)

    class Feed:
        def __init__(self, permutation):
            self.unused = [list(permutation)]

        def permutation(self, n: int) -> list[int]:
            if not self.unused:
                raise Asked  # the only permutation was not taken: it is not in the support
            return self.unused.pop()

    view, function = View(sentence), PERTURBATIONS.get(name).function
    try:
        only = function(view, Ask())
        orders = [] if only is None else [only]
    except Asked as asked:
        orders = []
        for permutation in permutations(range(asked.args[0])):
            try:
                orders.append(function(view, Feed(permutation)))
            except Asked:
                continue
    end = sentence.tokens[view.length :]
    return {(*(sentence.tokens[index] for index in order), *end) for order in orders}


def fed(sentence: Sentence, name: str, printed: tuple[str, ...]) -> tuple[str, ...]:
    """What a shuffle of too many tokens to try all orders makes of the permutation that gives the printed one."""

    class Feed:
        def permutation(self, n: int) -> list[int]:
            return [sentence.tokens.index(word) for word in printed[:n]]

    order = PERTURBATIONS.get(name).function(View(sentence), Feed())
    return (*(sentence.tokens[index] for index in order), *sentence.tokens[len(order) :])


@of("exact")
def test_the_definition_gives_the_printed_order(example: Example) -> None:
    assert result(annotated(example.sentence), example.name) == example.printed_tokens


@of("reachable")
def test_the_printed_order_is_one_of_the_random_orders(example: Example) -> None:
    sentence = annotated(example.sentence)
    if example.name.lower() == "wordshuffle":
        assert fed(sentence, example.name, example.printed_tokens) == example.printed_tokens
    else:
        assert example.printed_tokens in support(sentence, example.name)


@of("unreachable")
def test_the_printed_order_is_none_of_the_random_orders(example: Example) -> None:
    orders = support(annotated(example.sentence), example.name)
    assert orders
    assert example.printed_tokens not in orders


@of("differs")
def test_where_text_and_printed_example_disagree_the_definition_wins(example: Example) -> None:
    definition = tuple(example.definition.split()) or None
    assert definition != example.printed_tokens
    assert result(annotated(example.sentence), example.name) == definition


def test_all_examples_but_one_are_here() -> None:
    """12 in Figure 3; three a model and language in Tables 4 (39) and 5 (36, with the one of two sentences below)."""
    count = {place: sum(e.where.startswith(place) for e in EXAMPLES) for place in ("Figure 3", "Table 4", "Table 5")}
    assert count == {"Figure 3": 12, "Table 4": 39, "Table 5": 35}


GO = annotated("Go/VERB/0/root away/ADV/1/advmod !/PUNCT/1/punct")
HATE = annotated("I/PRON/2/nsubj hate/VERB/0/root you/PRON/2/obj !/PUNCT/2/punct")


def test_sentences_of_one_text_are_perturbed_one_by_one_and_counted_together() -> None:
    """Table 5, M2M-418, ru: "Go away! I hate you!", the first sentence of which has three tokens only."""
    text = Text((GO, HATE))
    orders = perturb_text(text, "treeMirrorPo")
    assert orders is not None
    assert text.reorder(orders) == "away Go ! you I hate !"


def test_in_two_sentences_both_are_perturbed_where_the_table_leaves_one_alone() -> None:
    """Table 5, M2M-418, es: with a tree for each sentence, "You are not a dog" has two nouns to swap as well."""
    dog = annotated("You/PRON/2/nsubj are/AUX/0/root not/PART/2/neg a/DET/5/det dog/NOUN/2/attr ./PUNCT/2/punct")
    cat = annotated("Are/AUX/0/root you/PRON/1/nsubj a/DET/4/det cat/NOUN/1/attr ?/PUNCT/1/punct")
    orders = perturb_text(Text((dog, cat)), "nounSwaps")
    assert orders is not None
    assert Text((dog, cat)).reorder(orders) == "a dog are not You . Are a cat you ?"
