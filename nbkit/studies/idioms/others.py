"""Idioms without references: literal translations that few of the other systems have.

LitTER's four steps with two changes. The reference of step 3 is what at least a third of the *other* systems write for
the sentence, with the words that a good translation of the idiom shares (`nbkit.corpora.idioms.shared_translations`).
And only content words of the idiom are looked up: a dictionary's *auf* and *geben* are in every sentence.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from nbkit.corpora.idioms import IdiomPair, shared_translations
from nbkit.measure.literal import Litter, Matching, WordDictionary, WordMatcher, known_matchings
from nbkit.store import Store
from nbkit.studies.engine import TRANSLATOR, Use, as_table
from nbkit.studies.idioms.params import IdiomsParams, System
from nbkit.studies.idioms.steps import (
    STUDY,
    align_references,
    data_key,
    dictionary_key,
    load_data,
    parser_key,
    run_dictionaries,
    source_texts,
    tokens,
    translate,
)
from nbkit.text.phrases import read_phrase, stop_words
from nbkit.text.sentences import Text

#: The share of the other systems that makes a word right.
SHARE = 1 / 3
_CONTENT = frozenset({"NOUN", "PROPN", "ADJ"})


def content_words(pair: IdiomPair, text: Text) -> list[str]:
    """The nouns and adjectives of an idiom in a sentence, in lower case; of a text without tags all but function words.

    Words that stand in a gap of the idiom are not its own: *twist John's arm* has *arm*.

    >>> from nbkit.text.sentences import Sentence
    >>> text = Text((Sentence(("Max", "twisted", "John", "'s", "arm"), "en", (True, True, False, True, False)),))
    >>> content_words(IdiomPair("1", text.text, "", "twist someone's arm", ((4, 22),)), text)
    ['twisted', 'arm']
    """
    own, found, end = read_phrase(pair.idiom).bases, [], 0
    for sentence in text.sentences:
        for token, tag in zip(sentence.tokens, sentence.upos or ("NOUN",) * len(sentence), strict=True):
            start = text.text.index(token, end)
            end = start + len(token)
            inside = any(first <= start and end <= last for first, last in pair.spans)
            if inside and tag in _CONTENT and token.lower() in own and token.lower() not in stop_words(text.lang):
                found.append(token.lower())
    return list(dict.fromkeys(found))


def _uses(params: IdiomsParams, language: str, system: System) -> list[Use]:
    names = dict.fromkeys([system.name, *(params.voters or ())])
    return [Use(TRANSLATOR, name, (params.source, language)) for name in names]


@STUDY.step(
    per=("language", "system"),
    key=lambda params, language, system: {
        **data_key(params, language),
        **params.model_key(system, language),
        "dictionary": dictionary_key(params, language),
        "parser": parser_key(params),
        "voters": [params.translator_key(name, params.source, language) for name in params.voters or ()],
    },
    uses=_uses,
)
@as_table("id", "idiom", "source", "spans", "words", "hypothesis", "triggers", "open")
def compared(params: IdiomsParams, language: str, system: System, store: Store) -> Iterator[Any]:
    """What one system makes of each idiom, beside the other systems.

    Columns: id, idiom, source, spans (JSON), words (its content words that are in the dictionary, JSON), hypothesis,
    triggers (literal translations that fewer than `SHARE` of the others have, each with its tokens in the hypothesis
    and the number of others that have it, JSON), open (whether a trigger was possible).
    """
    pairs = load_data(params, language, store).test
    sources = [pair.source for pair in pairs]
    others = [name for name in params.voters or () if name != system.name]
    theirs = zip(*(params.translate(name, sources, params.source, language, store) for name in others), strict=True)
    mine = params.translate(system.name, sources, params.source, language, store)
    matching: Matching = "inflected" if "inflected" in known_matchings(language) else "exact"
    dictionary, _ = run_dictionaries(params, language, store)
    litter = Litter(_translating(dictionary), params.source, language, matching=matching)
    key, shared = WordMatcher(language, matching).key, shared_translations(params.source, language)
    for pair, text, hypothesis, beside in zip(pairs, source_texts(params, sources), mine, theirs, strict=True):
        words = content_words(pair, text)
        votes, known = _votes(beside, language, key)
        right = [word for word in known if votes[key(word)] >= SHARE * len(others)]
        right += tokens(shared.get(pair.idiom, ""), language)
        found = litter.judge(words, right, tokens(hypothesis, language))
        triggers = [[each.translation, each.tokens, votes[key(each.translation)]] for each in found.triggers]
        looked_up = json.dumps([each.word for each in found.candidates], ensure_ascii=False)
        given = (pair.id, pair.idiom, pair.source, json.dumps(pair.spans), looked_up, hypothesis)
        yield *given, json.dumps(triggers, ensure_ascii=False), bool(found.blocklists and hypothesis.strip())


def _translating(dictionary: WordDictionary) -> WordDictionary:
    """The dictionary without words that are their own translations: names, loans, what was left as it is."""
    entries = {
        word: kept
        for word, found in dictionary.entries.items()
        if (kept := tuple(each for each in found if each.lower() != word))
    }
    return WordDictionary(dictionary.name, dictionary.kind, entries)


def _votes(texts: Sequence[str], language: str, key: Callable[[str], str]) -> tuple[Counter[str], set[str]]:
    """In how many of *texts* each word is, by its key; and the words."""
    votes: Counter[str] = Counter()
    known: set[str] = set()
    for text in texts:
        words = set(tokens(text, language))
        known |= words
        votes.update(set(map(key, words)))
    return votes, known


@STUDY.work(
    "compare {system} with the others {source}→{language}",
    per=("language", "system"),
    after=(align_references, translate),
    uses=_uses,
    points=lambda params: STUDY.points(params, ("language", "system")) if params.voters else (),
)
def compare(params: IdiomsParams, language: str, system: System, store: Store) -> None:
    """The literal translations of one system that few others have."""
    compared(params, language, system, store=store)


@as_table("language", "id", "idiom", "source", "spans", "system", "hypothesis", "triggers", "flagged")
def side_by_side(params: IdiomsParams, store: Store | None = None) -> Iterator[Any]:
    """Every idiom with the outputs of all systems, those that most systems are flagged for first; empty without voters.

    Columns: language, id, idiom, source, spans, system, hypothesis, triggers (as in `compared`), flagged (how many
    systems have a literal translation that few others have).
    """
    for language in params.languages if params.voters else ():
        tables = {system.label: compared(params, language, system, store=store or Store()) for system in params.systems}
        rows = list(zip(*(table.to_dict("records") for table in tables.values()), strict=True))
        flags = [sum(row["triggers"] != "[]" for row in own) for own in rows]
        for n, own in sorted(zip(flags, rows, strict=True), key=lambda each: (-each[0], each[1][0]["idiom"])):
            for system, row in zip(tables, own, strict=True):
                given = (row[name] for name in ("id", "idiom", "source", "spans"))
                yield language, *given, system, row["hypothesis"], row["triggers"], n
