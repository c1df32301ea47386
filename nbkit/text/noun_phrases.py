"""Base noun phrases from a dependency tree, for every language alike (spaCy has no chunker for ru and zh)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import TypeAlias

import yaml

from nbkit.errors import NbkitError
from nbkit.text.sentences import Branch, Sentence

Span: TypeAlias = tuple[int, int]


def base_noun_phrases(sentence: Sentence) -> list[tuple[int, int]]:
    """The base noun phrases of *sentence* as half-open token spans, from left to right, never overlapping.

    A base noun phrase is a noun, name or pronoun with what stands in one piece around it and depends on
    it as a determiner, adjective, number, classifier, part of a compound or of a name, or possessor
    (with the possessor's ``'s``), each with its own degree words and coordinated adjectives. Coordinated
    nouns, appositions, relative clauses and prepositional phrases are not part of it; an expletive
    (*there is*, *il y a*) is none. Which labels count is data: ``noun_phrases.yaml`` knows those of
    Universal Dependencies and of spaCy's own pipelines.

    Raises `NbkitError` if the sentence lacks tags, heads or labels, or its heads form a cycle.
    Source: word-order paper, §4.2 and Figure 3 ("a decent place" moves as one).

    >>> tom = Sentence(
    ...     tuple("Tom said he could n't find a decent place to live .".split()), "en",
    ...     upos=tuple("PROPN VERB PRON AUX PART VERB DET ADJ NOUN PART VERB PUNCT".split()),
    ...     heads=(1, -1, 5, 5, 5, 1, 8, 8, 5, 10, 8, 1),
    ...     deprels=tuple("nsubj root nsubj aux advmod ccomp det amod obj mark acl punct".split()))
    >>> [" ".join(tom.tokens[start:end]) for start, end in base_noun_phrases(tom)]
    ['Tom', 'he', 'a decent place']
    """
    upos, heads, deprels = sentence.upos, sentence.heads, sentence.deprels
    if upos is None or heads is None or deprels is None:
        missing = [name for name in ("upos", "heads", "deprels") if getattr(sentence, name) is None]
        raise NbkitError(
            f"base noun phrases need {', '.join(missing)}, which {sentence.joined!r} lacks: "
            "parse it first, or read it from a treebank"
        )
    head_tags, groups = _labels()["heads"], list(map(_group, deprels))
    length = len(upos)
    starts, ends = list(range(length)), list(range(1, length + 1))  # of what each token brings along
    phrases: dict[int, Span] = {}
    for branch in sentence.branches:
        token = branch[0]
        if upos[token] in head_tags:
            phrases[token] = _block(branch, groups, starts, ends, _OF_NOUN)
        if groups[token] in _OF_DEPENDENT[token > heads[token]]:
            starts[token], ends[token] = _block(branch, groups, starts, ends, _OF_DEPENDENT)

    spans: list[Span] = []
    done = 0  # where the last one ends
    for token, tag in enumerate(upos):
        if tag not in head_tags or _no_head(deprels[token]):
            continue
        span = phrases.get(token)
        if span is None:
            span = token, token + 1
        elif "PUNCT" in upos[span[0] : span[1]]:
            span = _punctuated(sentence, span)
        if span[0] < done:
            # Two blocks of a tree are nested or apart: the outer one stays.
            while spans and spans[-1][0] >= span[0]:
                spans.pop()
            if spans and spans[-1][1] > span[0]:
                continue
        spans.append(span)
        done = span[1]
    return spans


#: The groups of labels, see ``noun_phrases.yaml``, that a word's block takes up before and after the word:
#: around the noun that heads the phrase, and around a dependent that is part of its block.
_OF_NOUN = frozenset({"of_noun", "before_noun", "bare_before_noun"}), frozenset({"of_noun"})


_OF_DEPENDENT = _OF_NOUN[0] | {"of_modifier"}, _OF_NOUN[1] | {"of_modifier"}


def _block(
    branch: Branch,
    groups: Sequence[str | None],
    starts: list[int],
    ends: list[int],
    taken: tuple[frozenset[str], frozenset[str]],
) -> Span:
    """The span of a word and its dependents' blocks, as far as they touch one another."""
    token, left, right = branch
    before, after = taken
    start, end = token, token + 1
    for child in reversed(left):
        # What lies behind one that stays out cannot touch.
        if ends[child] != start or groups[child] not in before:
            break
        if groups[child] == "bare_before_noun" and start - starts[child] > 1:
            break
        start = starts[child]
    for child in right:
        if starts[child] != end or groups[child] not in after:
            break
        end = ends[child]
    return start, end


def _punctuated(sentence: Sentence, span: Span) -> Span:
    """The span without punctuation at its edges, but with the partner of a bracket or quotation mark inside it."""
    tokens, upos = sentence.tokens, sentence.upos
    assert upos is not None
    start, end = span
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


@cache
def _labels() -> dict[str, frozenset[str]]:
    source = files("nbkit.text") / "noun_phrases.yaml"
    return {key: frozenset(values) for key, values in yaml.safe_load(source.read_text(encoding="utf-8")).items()}


@cache
def _group(label: str) -> str | None:
    """The group of dependents that a label is in, by itself or else as a subtype of another label."""
    groups = ("of_noun", "before_noun", "bare_before_noun", "of_modifier")
    names = (label, label.partition(":")[0])
    return next((group for name in names for group in groups if name in _labels()[group]), None)


@cache
def _no_head(label: str) -> bool:
    return not _labels()["no_head"].isdisjoint({label, label.partition(":")[0]})
