"""What a translator is trained on: pairs as text, by the condition of its idioms, then token ids."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from nbkit.models.catalogue import Family
from nbkit.models.collate import Example
from nbkit.models.recipe import TranslatorRecipe
from nbkit.models.texts import TextPair, text_pairs
from nbkit.models.vocabulary import encode_all
from nbkit.seeding import address

#: Longest side of a training pair, in tokens; longer pairs are left out.
LONGEST = 256

_CHUNK = 1024


def regular_texts(recipe: TranslatorRecipe, target: str) -> list[tuple[str, str]]:
    """Pairs as running text; the sources of a drawn share of them as joined tokens, spaced as perturbed text is."""
    return list(_texts(recipe, text_pairs(recipe.train, recipe.src, target, recipe.pairs)))


def idiom_texts(recipe: TranslatorRecipe, target: str) -> list[tuple[str, str]]:
    """The pairs of idiom-train, as often as the condition says; a pair with several idioms once a copy.

    Source: idioms paper, §3.1: *zero*, *joint*, *upsampling*.
    """
    if recipe.idioms is None or not recipe.copies:
        return []
    distinct: dict[tuple[str, str], TextPair] = {}
    for pair in text_pairs(recipe.idioms, recipe.src, target, recipe.idiom_pairs):
        distinct.setdefault((pair.source, pair.target), pair)  # before any is joined: spaced both ways it would be two
    return list(_texts(recipe, distinct.values())) * recipe.copies


def _texts(recipe: TranslatorRecipe, pairs: Iterable[TextPair]) -> Iterator[tuple[str, str]]:
    for pair in pairs:
        is_joined = address(recipe.seed, "joined", pair.id) % 1000 < 1000 * recipe.joined
        if pair.source.strip() and pair.target.strip():
            yield pair.joined if is_joined else pair.source, pair.target


def own_examples(
    tokenizer: Any, pairs: Sequence[tuple[str, str]], target: str, recipe: TranslatorRecipe
) -> Iterator[Example]:
    """Pairs in a vocabulary that was trained here."""
    end = (tokenizer.eos_token_id,)
    marks: list[tuple[int, ...]] = [(), ()]
    if recipe.architecture == "m2m100":
        marks = [(tokenizer.get_lang_id(recipe.src),), (tokenizer.get_lang_id(target),)]
    sources, targets = (encode_all(tokenizer, side) for side in zip(*pairs, strict=True)) if pairs else ((), ())
    for source, reference in zip(sources, targets, strict=True):
        if max(len(source), len(reference)) < LONGEST:
            yield Example((*marks[0], *source, *end), (*marks[1], *reference, *end))


def checkpoint_examples(
    tokenizer: Any, family: Family, pairs: Sequence[tuple[str, str]], target: str, recipe: TranslatorRecipe
) -> Iterator[Example]:
    """Pairs as a checkpoint's own tokenizer cuts and marks them."""
    if family.token is not None:
        tokenizer.src_lang, tokenizer.tgt_lang = family.code(recipe.src), family.code(target)
    mark = f">>{target}<<"
    prefix = f"{mark} " if mark in getattr(tokenizer, "supported_language_codes", ()) else ""
    longest = min(LONGEST, tokenizer.model_max_length)
    stream = iter(pairs)
    while chunk := list(islice(stream, _CHUNK)):
        sources = tokenizer([prefix + source for source, _ in chunk], verbose=False)["input_ids"]
        targets = tokenizer(text_target=[reference for _, reference in chunk], verbose=False)["input_ids"]
        for source, reference in zip(sources, targets, strict=True):
            if max(len(source), len(reference)) > longest:
                continue
            if family.token_starts:  # … </s> fr: the language begins what the decoder reads, and is no label
                yield Example(tuple(source), tuple(reference[:-1]), (reference[-1], *reference[:-2]))
            else:
                yield Example(tuple(source), tuple(reference))
