"""Which sense of a homograph a translation took, by the aligned words and a lexicon of sense clusters.

The sense of an occurrence is that of the target words linked to it. Where these say nothing, or different things, the
occurrence is undecided, with a reason: it is counted and never guessed.

Source: disambiguation paper, §2.1 (extraction of pairs) and §2.2 (WSD errors).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple, TypeAlias, get_args

from nbkit.corpora.homographs import Homograph, HomographLexicon, translation_key
from nbkit.errors import NbkitError, UnknownNameError
from nbkit.metrics.word_matching import WordMatcher, known_matchings
from nbkit.text import Text, computed_once

#: Which words of a text are a translation of the lexicon; each way includes those before it.
#: "exact": lemma or form stand in the lexicon. "inflected": so does another inflection of it, by its stem. "compounds":
#: a word that ends in one (*Naturquelle* is a *Quelle*). "parts": a word that begins with one, too (*Frühjahrsdosis*).
SenseMatching: TypeAlias = Literal["exact", "inflected", "compounds", "parts"]

#: Why the sense of an occurrence cannot be told.
NOT_ALIGNED = "not aligned"
UNKNOWN = "translation not in the lexicon"
AMBIGUOUS = "ambiguous translation"
SEVERAL = "translations of several senses"
DIFFERENT = "several senses in one pair"
REASONS = (NOT_ALIGNED, UNKNOWN, AMBIGUOUS, SEVERAL, DIFFERENT)

#: Languages that write compounds as one word.
_COMPOUNDING = frozenset({"de"})
# What a translation must have to be found at an end of a longer word, and what has to be left of that: without them
# *Alarm* is an *Arm* and *Schwarm* too.
_SHORTEST_HEAD = 3
_SHORTEST_BEGINNING = 4
_SHORTEST_REST = 3
_VOWELS = frozenset("aeiouäöüy")


class Sense(NamedTuple):
    """An occurrence of a homograph in a source text, and the sense that the target text gives it.

    homograph: the lexicon's word. token: its place among the tokens of the source text. cluster: name of the sense,
    None where it cannot be told, and then reason is one of `REASONS`. targets: the places of the linked target tokens.
    """

    homograph: str
    token: int
    cluster: str | None
    reason: str | None
    targets: tuple[int, ...] = ()


class SenseFinder:
    """Finds homographs in parsed texts, and their senses in aligned translations.

    matching: one of `SenseMatching`; for the languages that have no stemmer or no compounds, the next weaker one.
    "compounds" is how training pairs are extracted; "parts", the widest, is how translations of models are judged: the
    paper counts *Frühjahrsdosis* as *Frühjahr* and *Naturquelle* as *Quelle* (Tables 16 and 13 ff.).

    >>> from nbkit.corpora.homographs import load_homographs
    >>> from nbkit.text import Sentence
    >>> def text(lang, *tokens, nouns):
    ...     upos = tuple("NOUN" if token in nouns else "X" for token in tokens)
    ...     return Text((Sentence(tokens, lang, upos=upos, lemmas=tokens),))
    >>> source = text("en", "a", "hot", "spring", nouns=["spring"])
    >>> target = text("de", "eine", "heiße", "Naturquelle", nouns=["Naturquelle"])
    >>> finder = SenseFinder(load_homographs("own"))
    >>> finder.senses(source, target, [(0, 0), (1, 1), (2, 2)])
    [Sense(homograph='spring', token=2, cluster='water', reason=None, targets=(2,))]
    >>> SenseFinder(load_homographs("own"), "exact").senses(source, target, [(2, 2)])[0].reason
    'translation not in the lexicon'
    """

    def __init__(self, lexicon: HomographLexicon, matching: SenseMatching = "compounds"):
        if matching not in get_args(SenseMatching):
            raise UnknownNameError("matching of senses", matching, get_args(SenseMatching))
        self.lexicon, self.matching = lexicon, matching
        # Sentence-initial words, and nouns of languages that write them so, may have capital lemmas.
        self._words = {
            spelling: word for word in lexicon.homographs for spelling in (word, word.capitalize(), word.upper())
        }
        self._spellings = frozenset(self._words)
        self._found: dict[tuple[str, str, str], str | None] = {}
        self._stems: dict[str, dict[str, str | None]] = {}

    def occurrences(self, text: Text) -> list[tuple[str, int]]:
        """Each homograph of *text* with its token: nouns whose lemma is one.

        Raises `NbkitError` for a text without lemmas or parts of speech.
        """
        found: list[tuple[str, int]] = []
        start = 0
        for sentence in text.sentences:
            lemmas = sentence.lemmas
            if lemmas is None or sentence.upos is None:
                raise NbkitError(
                    f"{sentence.joined!r} has no lemmas or no parts of speech: parse it to find homographs"
                )
            if not self._spellings.isdisjoint(lemmas):
                found += [
                    (self._words[lemma], start + place)
                    for place, lemma in enumerate(lemmas)
                    if lemma in self._spellings and sentence.upos[place] == "NOUN"
                ]
            start += len(lemmas)
        return found

    def senses(self, source: Text, target: Text, links: Iterable[tuple[int, int]]) -> list[Sense]:
        """The sense of each occurrence by itself: what a translation did with it.

        links: (source token, target token), counted over the texts. A sense is told where the linked words translate
        exactly one; ambiguous words beside them do not count. Raises `NbkitError` for a link outside the target.
        """
        occurrences = self.occurrences(source)
        if not occurrences:
            return []
        lemmas, tokens = _target_words(target)
        targets: dict[int, list[int]] = {token: [] for _, token in occurrences}
        for here, there in links:
            if here in targets:
                if not 0 <= there < len(tokens):
                    raise NbkitError(f"link {here}-{there} points outside {target.joined!r}, of {len(tokens)} tokens")
                targets[here].append(there)
        return [self._sense(word, token, sorted(set(targets[token])), lemmas, tokens) for word, token in occurrences]

    def pair_senses(self, source: Text, target: Text, links: Iterable[tuple[int, int]]) -> list[Sense]:
        """As `senses`, for pairs that biases are counted on or models tested with: a homograph that is translated in
        several senses within the pair has none of them (§2.1: no error could be seen).
        """
        senses = self.senses(source, target, links)
        if len(senses) < 2:
            return senses
        told: dict[str, set[str]] = {}
        for sense in senses:
            if sense.cluster is not None:
                told.setdefault(sense.homograph, set()).add(sense.cluster)
        return [
            sense._replace(cluster=None, reason=DIFFERENT)
            if sense.cluster is not None and len(told[sense.homograph]) > 1
            else sense
            for sense in senses
        ]

    def cluster_of(self, word: str, lemma: str, form: str | None = None) -> str | None:
        """The sense that a target word gives the homograph *word*; None for a word that is no translation, `AMBIGUOUS`
        for one that tells no sense. lemma, form: of the target word; lemmas of parsers are wrong at times.
        """
        key = (word, lemma, form or lemma)
        if key not in self._found:
            self._found[key] = self._look_up(
                self.lexicon.homographs[word], dict.fromkeys(map(translation_key, key[1:]))
            )
        return self._found[key]

    def _sense(self, word: str, token: int, targets: list[int], lemmas: list[str], tokens: tuple[str, ...]) -> Sense:
        found = {self.cluster_of(word, lemmas[place], tokens[place]) for place in targets}
        clusters = found - {None, AMBIGUOUS}
        if len(clusters) == 1:
            return Sense(word, token, clusters.pop(), None, tuple(targets))
        reason = SEVERAL if clusters else AMBIGUOUS if AMBIGUOUS in found else UNKNOWN if targets else NOT_ALIGNED
        return Sense(word, token, None, reason, tuple(targets))

    def _look_up(self, homograph: Homograph, words: Iterable[str]) -> str | None:
        words = list(words)
        for word in words:
            # A form can tell what its lemma does not: *Bands* play music, a *Band* may be a ribbon.
            if word in homograph.by_key:
                return homograph.by_key[word].name
        for look in (self._whole, self._head, self._beginning):
            for word in words:
                found = look(homograph, word)
                if found is not None:
                    return found
        return None

    def _whole(self, homograph: Homograph, word: str) -> str | None:
        """The sense of *word* itself, or of another inflection of it."""
        cluster = homograph.by_key.get(word)
        if cluster is not None:
            return cluster.name
        if word in homograph.ambiguous_keys:
            return AMBIGUOUS
        return None if self.matching == "exact" else self._stems_of(homograph).get(self._stem(word))

    def _head(self, homograph: Homograph, word: str) -> str | None:
        """The sense of the longest translation that *word* ends in."""
        if self.matching in ("exact", "inflected") or self.lexicon.tgt not in _COMPOUNDING:
            return None
        ends = (word[start:] for start in _cuts(word) if len(word) - start >= _SHORTEST_HEAD)
        return next((found for end in ends if (found := self._whole(homograph, end)) is not None), None)

    def _beginning(self, homograph: Homograph, word: str) -> str | None:
        """The sense of the longest translation that *word* begins with."""
        if self.matching != "parts" or self.lexicon.tgt not in _COMPOUNDING:
            return None
        parts = (word[:end] for end in range(len(word) - _SHORTEST_REST, _SHORTEST_BEGINNING - 1, -1))
        for part in parts:
            cluster = homograph.by_key.get(part)
            if cluster is not None:
                return cluster.name
        return None

    @computed_once
    def _matcher(self) -> WordMatcher:
        lang = self.lexicon.tgt
        return WordMatcher(lang, "inflected" if "inflected" in known_matchings(lang) else "exact")

    def _stem(self, word: str) -> str:
        return self._matcher.key(word)

    def _stems_of(self, homograph: Homograph) -> dict[str, str | None]:
        """The sense of each stem: `AMBIGUOUS` where it is that of translations of several senses."""
        if homograph.word not in self._stems:
            stems: dict[str, str | None] = {}
            named = [(key, cluster.name) for key, cluster in homograph.by_key.items()]
            for key, name in [*named, *((key, AMBIGUOUS) for key in homograph.ambiguous_keys)]:
                stem = self._stem(key)
                stems[stem] = name if stems.get(stem, name) == name else AMBIGUOUS
            self._stems[homograph.word] = stems
        return self._stems[homograph.word]


def _target_words(text: Text) -> tuple[list[str], tuple[str, ...]]:
    """Lemmas (forms where there are none) and forms of all tokens."""
    lemmas = [lemma for sentence in text.sentences for lemma in sentence.lemmas or sentence.tokens]
    return lemmas, text.tokens


def _cuts(word: str) -> Iterator[int]:
    """Where the head of a compound may begin, the longest first: after letters that can be a word."""
    for start in range(_SHORTEST_REST, len(word)):
        if not _VOWELS.isdisjoint(word[:start]):
            yield start
