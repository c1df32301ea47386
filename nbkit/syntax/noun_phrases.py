"""Base noun phrases from a dependency tree, for every language alike (spaCy has no chunker for ru and zh)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from importlib.resources import files
from typing import TypeAlias

import yaml

from nbkit.errors import NbkitError
from nbkit.text import ROOT, Sentence

Span: TypeAlias = tuple[int, int]


def base_noun_phrases(sentence: Sentence) -> list[tuple[int, int]]:
    """The base noun phrases of *sentence* as half-open token spans, from left to right, never overlapping.

    A base noun phrase is a noun, name or pronoun with what stands in one piece around it and depends on
    it as a determiner, adjective, number, classifier, part of a compound or of a name, or possessor
    (with the possessor's ``'s``), each with its own degree words and coordinated adjectives. Coordinated
    nouns, appositions, relative clauses and prepositional phrases are not part of it; an expletive
    (*there is*, *il y a*) is none. Which labels count is data: ``noun_phrases.yaml`` knows those of
    Universal Dependencies and of spaCy's own pipelines.

    Raises `NbkitError` where the sentence lacks tags, heads or labels.
    Source: word-order paper, §4.2 and Figure 3 ("a decent place" moves as one).

    >>> tom = Sentence(
    ...     tuple("Tom said he could n't find a decent place to live .".split()), "en",
    ...     upos=tuple("PROPN VERB PRON AUX PART VERB DET ADJ NOUN PART VERB PUNCT".split()),
    ...     heads=(1, -1, 5, 5, 5, 1, 8, 8, 5, 10, 8, 1),
    ...     deprels=tuple("nsubj root nsubj aux advmod ccomp det amod obj mark acl punct".split()))
    >>> [" ".join(tom.tokens[start:end]) for start, end in base_noun_phrases(tom)]
    ['Tom', 'he', 'a decent place']
    """
    missing = [name for name in ("upos", "heads", "deprels") if getattr(sentence, name) is None]
    if missing:
        raise NbkitError(
            f"base noun phrases need {', '.join(missing)}, which {sentence.joined!r} lacks: "
            "parse it first, or read it from a treebank"
        )
    assert sentence.upos is not None and sentence.deprels is not None
    groups, children = [_group(label) for label in sentence.deprels], sentence.children
    blocks = _blocks_as_dependents(sentence, groups)
    heads = _labels()["heads"]
    spans: list[Span] = []
    for token, tag in enumerate(sentence.upos):
        if tag not in heads or _no_head(sentence.deprels[token]):
            continue
        span = token, token + 1
        if children[token]:
            span = _punctuated(sentence, _block(children[token], token, groups, blocks, _OF_NOUN))
        # Two blocks of a tree are nested or apart: the outer one stays.
        while spans and spans[-1][0] >= span[0]:
            spans.pop()
        if not spans or spans[-1][1] <= span[0]:
            spans.append(span)
    return spans


#: The groups of labels, see ``noun_phrases.yaml``, that a word's block takes up before and after the word:
#: around the noun that heads the phrase, and around a dependent that is part of its block.
_OF_NOUN = frozenset({"of_noun", "before_noun", "bare_before_noun"}), frozenset({"of_noun"})
_OF_DEPENDENT = _OF_NOUN[0] | {"of_modifier"}, _OF_NOUN[1] | {"of_modifier"}


def _blocks_as_dependents(sentence: Sentence, groups: Sequence[str | None]) -> dict[int, Span]:
    """The span that each token with dependents brings along as part of a noun's block."""
    blocks: dict[int, Span] = {}
    children = sentence.children
    branches = [token for token, group in enumerate(groups) if group is not None and children[token]]
    for token in sorted(branches, key=lambda token: _depth(sentence, token), reverse=True):  # the lowest first
        blocks[token] = _block(children[token], token, groups, blocks, _OF_DEPENDENT)
    return blocks


def _depth(sentence: Sentence, token: int) -> int:
    heads = sentence.heads
    assert heads is not None
    depth = 0
    while token != ROOT and depth <= len(heads):  # heads that run in a circle have no depth
        token = heads[token]
        depth += 1
    return depth


def _block(
    children: Sequence[int],
    governor: int,
    groups: Sequence[str | None],
    blocks: dict[int, Span],
    taken: tuple[frozenset[str], frozenset[str]],
) -> Span:
    """The span of *governor* and its dependents' blocks, as far as they touch one another."""
    start, end = governor, governor + 1
    before, after = taken
    for child in reversed(children):
        if child < governor and groups[child] in before:
            left, right = blocks.get(child) or (child, child + 1)
            if right == start and (groups[child] != "bare_before_noun" or right - left == 1):
                start = left
    for child in children:
        if child > governor and groups[child] in after:
            left, right = blocks.get(child) or (child, child + 1)
            if left == end:
                end = right
    return start, end


def _punctuated(sentence: Sentence, span: Span) -> Span:
    """The span without punctuation at its edges, but with the partner of a bracket or quotation mark inside it."""
    tokens, upos = sentence.tokens, sentence.upos
    assert upos is not None
    start, end = span
    if "PUNCT" not in upos[start:end]:
        return span
    while upos[start] == "PUNCT":
        start += 1
    while upos[end - 1] == "PUNCT":
        end -= 1
    if sum(token in _PAIRED for token in tokens[start:end]) % 2:
        if end < len(tokens) and tokens[end] in _PAIRED:
            end += 1
        elif start and tokens[start - 1] in _PAIRED:
            start -= 1
    return start, end


_PAIRED = frozenset('()[]{}«»‹›“”„"「」『』（）《》【】')


@lru_cache(maxsize=1)
def _labels() -> dict[str, frozenset[str]]:
    source = files("nbkit.syntax") / "noun_phrases.yaml"
    return {key: frozenset(values) for key, values in yaml.safe_load(source.read_text(encoding="utf-8")).items()}


@lru_cache(maxsize=4096)
def _group(label: str) -> str | None:
    """The group of dependents that *label* is in, by itself or else as a subtype of another label."""
    for name in (label, label.partition(":")[0]):
        for group in ("of_noun", "before_noun", "bare_before_noun", "of_modifier"):
            if name in _labels()[group]:
                return group
    return None


@lru_cache(maxsize=4096)
def _no_head(label: str) -> bool:
    return not _labels()["no_head"].isdisjoint({label, label.partition(":")[0]})
