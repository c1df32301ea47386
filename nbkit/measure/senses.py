"""Which sense of a homograph a translation took, by the aligned words and a lexicon of sense clusters.

The sense of an occurrence is that of the target words linked to it. Where these say nothing, or different things, the
occurrence is undecided, with a reason: it is counted and never guessed.

In the order of the file: what is known of a language's nouns; the sense that a single target word tells
(`SenseLookup`); the sense that a translation gives an occurrence (`SenseFinder`).

Source: disambiguation paper, §2.1 (extraction of pairs) and §2.2 (WSD errors).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from importlib.resources import files
from typing import Literal, NamedTuple, TypeAlias, get_args

import yaml

from nbkit.corpora.homographs import Homograph, HomographLexicon, translation_key
from nbkit.errors import NbkitError, UnknownNameError
from nbkit.measure.literal import WordMatcher, known_matchings
from nbkit.text.sentences import Sentence, Text

__all__ = ["AMBIGUOUS", "REASONS", "Reach", "Sense", "SenseFinder", "SenseMatching", "TargetNouns"]

# ----------------------------------------------------------------------------
# What is known of a language's nouns: their spelling, inflection, compounds and genders (``nouns-LANG.yaml``).
#
# The paper looks lemmas up and retries without the last letter (its code: dative plurals). Stems are too wide for
# nouns: they have *Nähe* be a *Näher*.

_VOWELS = frozenset("aeiouäöüy")
_UMLAUTS = (("au", "äu"), ("a", "ä"), ("o", "ö"), ("u", "ü"))
_UNSTRESSED = ("el", "en", "er")
# What a word must have to be found at an end of a longer one, and what has to be left of that: without them *Alarm* is
# an *Arm* and *Schwarm* too.
_SHORTEST_HEAD = 3
_SHORTEST_BEGINNING = 4
_SHORTEST_REST = 3
# No word ends in these letters of digraphs: *Bisc-hof*, *Verkä-ufer*.
_NO_LAST = frozenset("cqä")
# Words between an article and its noun that are looked at: *eine bekannte deutsche Band*.
_MOST_ADJECTIVES = 4
_ADJECTIVE_ENDINGS = ("e", "er", "en", "em", "es")


class Nouns(NamedTuple):
    """The file of one language; see there. All words are in lower case, as they are compared."""

    capitals: bool
    compounds: bool
    endings: Mapping[str, tuple[str, ...]]
    umlauts: Mapping[str, tuple[str, ...]]
    er_plurals: tuple[str, ...]
    links: tuple[str, ...]
    whole: tuple[str, ...]
    articles: Mapping[str, frozenset[str]]
    genders: Mapping[str, Mapping[str, tuple[str, ...]]]

    def inflections(self, noun: str) -> Iterator[str]:
        """Forms of a noun, some of which there may not be.

        >>> forms = set(nouns_of("de").inflections("stuhl"))
        >>> {"stuhls", "stühle", "stühlen"} <= forms, "sitzer" in set(nouns_of("de").inflections("sitz"))
        (True, False)
        >>> list(nouns_of("de").inflections("hafen")), list(nouns_of("de").inflections("arme"))
        (['hafens', 'häfen'], ['armen', 'armens'])
        """
        for bases, endings in (([noun], self.endings), (list(_umlauted(noun)), self.umlauts)):
            own = endings[max((end for end in endings if noun.endswith(end)), key=len)]
            yield from (base + ending for base in bases for ending in own)
        if noun.endswith(self.er_plurals):
            yield from (base + ending for base in (noun, *_umlauted(noun)) for ending in ("er", "ern"))

    def heads(self, word: str) -> Iterator[str]:
        """What may be the head of a compound, the longest first: behind letters that can be a word, and never within a
        word that is known to be none.

        >>> list(nouns_of("de").heads("pferderennen"))[:3], list(nouns_of("de").heads("dachterrasse"))[-1]
        (['rderennen', 'derennen', 'erennen'], 'terrasse')
        """
        shortest = max([_SHORTEST_HEAD, *(len(end) for end in self.whole if word.endswith(end))])
        for start in range(_SHORTEST_REST, len(word) - shortest + 1):
            if word[start - 1] not in _NO_LAST and not _VOWELS.isdisjoint(word[:start]):
                yield word[start:]

    def begins(self, word: str, noun: str) -> bool:
        """Whether a compound begins with a noun, which may lose an ending there.

        >>> de = nouns_of("de")
        >>> de.begins("rennwagen", "rennen"), de.begins("herbstlaub", "herbst"), de.begins("waffeleisen", "waffen")
        (True, True, False)
        """
        if len(noun) >= _SHORTEST_BEGINNING and word.startswith(noun):
            return len(word) - len(noun) >= _SHORTEST_REST
        for link in self.links:
            short = noun.removesuffix(link)
            if short != noun and len(short) >= _SHORTEST_BEGINNING and word.startswith(short):
                rest = word[len(short) :]
                # Before a vowel the rest may be an ending of another noun: *Schul-er*.
                if len(rest) > _SHORTEST_REST and rest[0] not in _VOWELS:
                    return True
        return False

    def gender_before(self, tokens: Sequence[str], place: int) -> frozenset[str]:
        """The genders that the article of the noun at *place* leaves open; none where no article is seen.

        >>> de = nouns_of("de")
        >>> sorted(de.gender_before("auf einer bekannten Band".split(), 3)), de.gender_before(["mit", "Band"], 1)
        (['Fem'], frozenset())
        """
        for before in range(place - 1, max(-1, place - 2 - _MOST_ADJECTIVES), -1):
            word = tokens[before].lower()
            if word in self.articles:
                return self.articles[word]
            if tokens[before] != word or not word.endswith(_ADJECTIVE_ENDINGS):
                break
        return frozenset()


@lru_cache(maxsize=8)
def nouns_of(lang: str) -> Nouns | None:
    """What is known of the nouns of *lang*; None for a language without a file.

    >>> nouns_of("de").capitals, nouns_of("fr")
    (True, None)
    """
    file = files(__package__) / f"nouns-{lang}.yaml"
    if not file.is_file():
        return None
    content = yaml.safe_load(file.read_text(encoding="utf-8"))
    articles: dict[str, frozenset[str]] = {}
    for form, genders in content["articles"].items():
        stems = content["stems"] if form.startswith("-") else [""]
        articles |= {stem + form.removeprefix("-"): frozenset(genders) for stem in stems}
    words = {name: tuple(word.lower() for word in content[name]) for name in ("er_plurals", "links", "whole")}
    genders = {
        noun.lower(): {gender: tuple(same) for gender, same in by_gender.items()}
        for noun, by_gender in content["genders"].items()
    }
    return Nouns(
        capitals=content["capitals"],
        compounds=content["compounds"],
        endings={end: tuple(added) for end, added in content["endings"].items()},
        umlauts={end: tuple(added) for end, added in content["umlauts"].items()},
        articles=articles,
        genders=genders,
        **words,
    )


def _umlauted(noun: str) -> Iterator[str]:
    """The noun with its last vowel as plurals have it, endings aside: *Stuhl*, *Stühl*-; *Vogel*, *Vögel*."""
    stem = noun[:-2] if noun.endswith(_UNSTRESSED) else noun[:-1]
    last = max((i for i, letter in enumerate(stem) if letter in _VOWELS), default=-1)
    for plain, umlaut in _UMLAUTS:
        start = last - len(plain) + 1
        if start >= 0 and noun[start : last + 1] == plain:
            yield noun[:start] + umlaut + noun[last + 1 :]
            return


# ----------------------------------------------------------------------------
# Which sense of a homograph a single target word tells, by a lexicon of sense clusters.
#
# Whole words are compared as the lexicon spells them, *ß* and *ss* alike; ends of compounds are not: *Hauptstraße* is
# no *Rasse*. Other inflections are those of nouns where the language's are known, else equal stems.

#: Which words of a text are a translation of the lexicon; each way includes those before it.
#: "exact": lemma or form stand in the lexicon. "inflected": so does another inflection of it, or its gender tells what
#: an ambiguous noun means (*die Band*). "compounds": a word that ends in one (*Naturquelle* is a *Quelle*).
#: "parts": a word that begins with one, too (*Frühjahrsdosis*).
SenseMatching: TypeAlias = Literal["exact", "inflected", "compounds", "parts"]
#: What a translation tells that stands for several senses.
AMBIGUOUS = "ambiguous translation"


class SenseLookup:
    """Senses of target words, each word looked up once.

    matching: one of `SenseMatching`; for languages without known inflections or compounds, the next weaker one.

    >>> from nbkit.corpora.homographs import load_homographs
    >>> lookup = SenseLookup(load_homographs("own"), "compounds")
    >>> lookup.sense("spring", "Naturquelle"), lookup.sense("race", "Hauptstraße"), lookup.sense("band", "Band")
    ('water', None, 'ambiguous translation')
    >>> lookup.sense("band", "Band", genders=frozenset({"Fem"}))
    'musicians'
    """

    def __init__(self, lexicon: HomographLexicon, matching: SenseMatching):
        if matching not in get_args(SenseMatching):
            raise UnknownNameError("matching of senses", matching, get_args(SenseMatching))
        self.lexicon, self.matching = lexicon, matching
        self.nouns = nouns_of(lexicon.tgt)
        self._found: dict[tuple[str, str, str, frozenset[str]], str | None] = {}
        self._forms: dict[str, _Forms] = {}

    def sense(
        self, word: str, lemma: str, form: str | None = None, genders: frozenset[str] = frozenset()
    ) -> str | None:
        """The sense that a noun gives the homograph *word*; None for one that is no translation, `AMBIGUOUS` for one
        that tells no sense. genders: that its article leaves open; none: not known.
        """
        key = (word, lemma, form or lemma, genders)
        if key not in self._found:
            self._found[key] = self._look_up(self.lexicon.homographs[word], lemma, form or lemma, genders)
        return self._found[key]

    def genders(self, tokens: Sequence[str], place: int) -> frozenset[str]:
        """The genders that the article of a noun leaves open; none where it is not seen, or not known to matter."""
        return self.nouns.gender_before(tokens, place) if self.nouns else frozenset()

    def possible(self, word: str, lemma: str, form: str) -> frozenset[str]:
        """The senses that an ambiguous noun may tell, as far as the lexicon says it."""
        shared = self.lexicon.homographs[word].shared
        for written in (lemma, form):
            heads = self.nouns.heads(_spelling(written)) if self.nouns and self.matching != "exact" else ()
            for end in (translation_key(written), *heads):
                if end in shared:
                    return shared[end]
        return frozenset()

    def _look_up(self, homograph: Homograph, lemma: str, form: str, genders: frozenset[str]) -> str | None:
        words = tuple(dict.fromkeys((lemma, form)))
        # A form can tell what its lemma does not: *Bands* play music, a *Band* may be a ribbon.
        for word in words:
            if translation_key(word) in homograph.by_key:
                return homograph.by_key[translation_key(word)].name
        for look in (self._whole, self._head, self._beginning):
            found = [sense for word in words if (sense := look(homograph, word)) is not None]
            if found and look == self._whole and self._is_verb(homograph, form, genders):
                return None
            if found:
                sense = next((each for each in found if each != AMBIGUOUS), AMBIGUOUS)
                return self._by_gender(homograph, form, genders) if sense == AMBIGUOUS else sense
        return None

    def _is_verb(self, homograph: Homograph, form: str, genders: frozenset[str]) -> bool:
        """Whether a plural in *-en* stands behind an article of the singular: *das Fliegen*, *beim Lachen*."""
        written = _spelling(form)
        listed = self._forms_of(homograph).nouns
        is_plural = written.endswith("en") and written not in listed and written[:-1] in listed
        return is_plural and "Neut" in genders

    def _whole(self, homograph: Homograph, word: str) -> str | None:
        """The sense of *word* itself, or of another inflection of it."""
        key = translation_key(word)
        if key in homograph.ambiguous_keys:
            return AMBIGUOUS
        if self.matching == "exact":
            return None
        return self._forms_of(homograph).whole.get(key if self.nouns else self._matcher.key(key))

    def _head(self, homograph: Homograph, word: str) -> str | None:
        """The sense of the longest translation that *word* ends in, letter by letter."""
        if self.matching in ("exact", "inflected") or self.nouns is None or not self.nouns.compounds:
            return None
        forms = self._forms_of(homograph)
        ends = (forms.nouns.get(end) or forms.inflected.get(end) for end in self.nouns.heads(_spelling(word)))
        return next((found for found in ends if found is not None), None)

    def _beginning(self, homograph: Homograph, word: str) -> str | None:
        """The sense of the longest translation that *word* begins with."""
        if self.matching != "parts" or self.nouns is None or not self.nouns.compounds:
            return None
        written, known = _spelling(word), self._forms_of(homograph).nouns
        begun = [noun for noun in known if self.nouns.begins(written, noun)]
        return known[max(begun, key=len)] if begun else None

    def _by_gender(self, homograph: Homograph, form: str, genders: frozenset[str]) -> str:
        """What the gender of an ambiguous noun tells: the one sense that has a noun of the same meaning."""
        written = _spelling(form)
        known = self.nouns.genders if self.nouns else {}
        noun = written if written in known else next((end for end in known if written.endswith(end)), None)
        if noun is None or not genders or self.matching == "exact":
            return AMBIGUOUS
        same = [translation_key(word) for gender in genders for word in known[noun].get(gender, ())]
        senses = {homograph.by_key[key].name for key in same if key in homograph.by_key}
        return senses.pop() if len(senses) == 1 else AMBIGUOUS

    @cached_property
    def _matcher(self) -> WordMatcher:
        lang = self.lexicon.tgt
        return WordMatcher(lang, "inflected" if "inflected" in known_matchings(lang) else "exact")

    def _forms_of(self, homograph: Homograph) -> _Forms:
        if homograph.word not in self._forms:
            named = [(word, each.name) for each in homograph.clusters for word in sorted(each.translations)]
            named += [(word, AMBIGUOUS) for word in sorted(homograph.ambiguous)]
            listed = {_spelling(word): name for word, name in named}
            if self.nouns is None:
                whole = _agreed((self._matcher.key(translation_key(word)), 0, name) for word, name in named)
                self._forms[homograph.word] = _Forms(listed, {}, whole)
            else:
                made = [
                    (form, len(word), name) for word, name in listed.items() for form in self.nouns.inflections(word)
                ]
                whole = _agreed((translation_key(form), length, name) for form, length, name in made)
                self._forms[homograph.word] = _Forms(listed, _agreed(made), whole)
        return self._forms[homograph.word]


class _Forms(NamedTuple):
    """Of one homograph: the sense of each noun of the lexicon and of their inflections, as spelled; and of the
    inflections (or stems) that whole words are compared with.
    """

    nouns: dict[str, str]
    inflected: dict[str, str]
    whole: dict[str, str]


def _spelling(word: str) -> str:
    """As `translation_key`, but *ß* and *ss* are told apart."""
    return unicodedata.normalize("NFC", word).strip(" \t\u00a0,;").lower()


def _agreed(forms: Iterable[tuple[str, int, str]]) -> dict[str, str]:
    """The sense of each (form, length of the noun it is of, sense): that of the longest noun, `AMBIGUOUS` where there
    are several. *Armen* is of *Arme*, which tells what *Arm* does not.
    """
    found: dict[str, tuple[int, str]] = {}
    for form, length, name in forms:
        longest, known = found.get(form, (-1, name))
        if length > longest or (length == longest and known != name):
            found[form] = length, name if length > longest else AMBIGUOUS
    return {form: name for form, (_, name) in found.items()}


# ----------------------------------------------------------------------------
# Which sense a translation gives each occurrence of a homograph.

#: Which target words can show a sense, as only a noun shows a noun's. "tagged": by their part of speech, NOUN or PROPN,
#: and in German by the capital letter too, but for first words of sentences; of texts that are not parsed, by the
#: capital letter alone. "tagged_or_capital": either is enough. "any": all words, for targets that have neither.
TargetNouns: TypeAlias = Literal["tagged", "tagged_or_capital", "any"]
#: Where translations are looked for. "links": the linked words, the paper's rule. Where these are none of the lexicon:
#: "window": also nouns up to `WINDOW` words from them (of the homograph's own place, where nothing is linked), as the
#: published code extracts pairs; "translation": also all nouns, as it judges translations.
Reach: TypeAlias = Literal["links", "window", "translation"]
REACHES: tuple[Reach, ...] = get_args(Reach)
WINDOW = 3
#: What an occurrence is counted as whose sense is told: by the lexicon, or by the gender of a noun that it calls
#: ambiguous.
DECIDED, BY_GENDER = "decided", "decided by gender"
#: Why the sense of an occurrence cannot be told.
NOT_ALIGNED = "not aligned"
NO_NOUN = "translated by a verb or an adjective"
UNKNOWN = "translation not in the lexicon"
SEVERAL = "translations of several senses"
DIFFERENT = "several senses in one pair"
REASONS = (NOT_ALIGNED, NO_NOUN, UNKNOWN, AMBIGUOUS, SEVERAL, DIFFERENT)
#: Those of occurrences that are none of a noun's (*flies* that is *fliegt*: mostly wrong tags): in no share of decided
#: ones.
OUTSIDE = (NO_NOUN,)
_NOUNS = ("NOUN", "PROPN")
_VERBS = ("VERB", "AUX", "ADJ")


class Sense(NamedTuple):
    """An occurrence of a homograph in a source text, and the sense that the target text gives it.

    homograph: the lexicon's word. token: its place among the tokens of the source text. cluster: name of the sense,
    None where it cannot be told, and then reason is one of `REASONS`. targets: the places of the linked target tokens.
    told: those of the target tokens that tell the sense. possible: where the reason is `AMBIGUOUS`, the senses that the
    words may tell, as far as the lexicon says it. by_gender: whether nothing but the gender of an ambiguous noun tells
    the sense: an addition to the lexicon.
    """

    homograph: str
    token: int
    cluster: str | None
    reason: str | None
    targets: tuple[int, ...] = ()
    told: tuple[int, ...] = ()
    possible: frozenset[str] = frozenset()
    by_gender: bool = False

    @property
    def outcome(self) -> str:
        """What it is counted as: `DECIDED`, `BY_GENDER`, or the reason why it is not."""
        return self.reason or (BY_GENDER if self.by_gender else DECIDED)


class SenseFinder:
    """Finds homographs in parsed texts, and their senses in aligned translations.

    matching: one of `SenseMatching`; for the languages that have no stemmer or no compounds, the next weaker one.
    "compounds" is how training pairs are extracted; "parts", the widest, is how translations of models are judged: the
    paper counts *Frühjahrsdosis* as *Frühjahr* and *Naturquelle* as *Quelle* (Tables 16 and 13 ff.).
    nouns: which target words count (`TargetNouns`). reach: where they are looked for (`Reach`).

    >>> from nbkit.corpora.homographs import load_homographs
    >>> def text(lang, *tokens, nouns):
    ...     upos = tuple("NOUN" if token in nouns else "X" for token in tokens)
    ...     return Text((Sentence(tokens, lang, upos=upos, lemmas=tokens),))
    >>> source = text("en", "a", "hot", "spring", nouns=["spring"])
    >>> target = text("de", "eine", "heiße", "Naturquelle", nouns=["Naturquelle"])
    >>> finder = SenseFinder(load_homographs("own"))
    >>> finder.senses(source, target, [(0, 0), (1, 1), (2, 2)])
    [Sense(homograph='spring', token=2, cluster='water', reason=None, targets=(2,), told=(2,), ...)]
    >>> SenseFinder(load_homographs("own"), "exact").senses(source, target, [(2, 2)])[0].reason
    'translation not in the lexicon'
    >>> SenseFinder(load_homographs("own"), reach="window").senses(source, target, [(2, 0)])[0].cluster
    'water'
    """

    def __init__(
        self,
        lexicon: HomographLexicon,
        matching: SenseMatching = "compounds",
        *,
        nouns: TargetNouns = "tagged",
        reach: Reach = "links",
    ):
        for what, name, known in [("kind of target words", nouns, TargetNouns), ("reach", reach, Reach)]:
            if name not in get_args(known):
                raise UnknownNameError(what, name, get_args(known))
        self.lexicon, self.matching, self.nouns, self.reach = lexicon, matching, nouns, reach
        self._lookup = SenseLookup(lexicon, matching)
        known_nouns = nouns_of(lexicon.tgt)
        self._capitals = known_nouns is not None and known_nouns.capitals
        # Sentence-initial words, and nouns of languages that write them so, may have capital lemmas.
        self._words = {
            spelling: word for word in lexicon.homographs for spelling in (word, word.capitalize(), word.upper())
        }
        self._spellings = frozenset(self._words)

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

    def senses(
        self, source: Text, target: Text, links: Iterable[tuple[int, int]], reach: Reach | None = None
    ) -> list[Sense]:
        """The sense of each occurrence by itself: what a translation did with it.

        links: (source token, target token), counted over the texts. A sense is told where the linked nouns translate
        exactly one; ambiguous words beside them do not count. reach: another one than the finder's. Raises
        `NbkitError` for a link outside the target, and for a target whose nouns cannot be told.
        """
        occurrences = self.occurrences(source)
        if not occurrences:
            return []
        words = self._target_words(target)
        targets: dict[int, list[int]] = {token: [] for _, token in occurrences}
        for here, there in links:
            if here in targets:
                if not 0 <= there < len(words.tokens):
                    raise NbkitError(
                        f"link {here}-{there} points outside {target.joined!r}, of {len(words.tokens)} tokens"
                    )
                targets[here].append(there)
        reach = reach or self.reach
        return [self._sense(word, token, sorted(set(targets[token])), words, reach) for word, token in occurrences]

    def pair_senses(
        self, source: Text, target: Text, links: Iterable[tuple[int, int]], reach: Reach | None = None
    ) -> list[Sense]:
        """As `senses`, for pairs that biases are counted on or models tested with: a homograph that is translated in
        several senses within the pair has none of them (§2.1: no error could be seen).
        """
        senses = self.senses(source, target, links, reach)
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

    def cluster_of(
        self, word: str, lemma: str, form: str | None = None, *, noun: bool | None = None,
        genders: frozenset[str] = frozenset(),
    ) -> str | None:  # fmt: skip
        """The sense that a target word gives the homograph *word*; None for a word that is no translation, `AMBIGUOUS`
        for one that tells no sense. lemma, form: of the target word; lemmas of parsers are wrong at times. noun:
        whether it is one; None: by its capital letter, in German. genders: that its article leaves open.
        """
        if noun is None:
            noun = not self._capitals or self.nouns == "any" or (form or lemma)[:1].isupper()
        return self._lookup.sense(word, lemma, form, genders) if noun else None

    def _sense(self, word: str, token: int, targets: list[int], words: _TargetWords, reach: Reach) -> Sense:
        linked = [place for place in targets if words.noun[place]]
        found = self._told(word, linked, words)
        if reach != "links" and not found and (linked or not words.has_verb(targets)):
            nouns = [place for place, is_noun in enumerate(words.noun) if is_noun]
            if reach == "window":
                near = targets or [token]
                nouns = [place for place in nouns if near[0] - WINDOW <= place <= near[-1] + WINDOW]
            found = self._told(word, nouns, words)
        clusters = set(found.values()) - {AMBIGUOUS}
        if len(clusters) == 1:
            (cluster,) = clusters
            told = tuple(place for place, sense in found.items() if sense == cluster)
            by_gender = all(self._lookup.sense(word, words.lemmas[i], words.tokens[i]) == AMBIGUOUS for i in told)
            return Sense(word, token, cluster, None, tuple(targets), told, by_gender=by_gender)
        if found and not clusters:
            possible = [self._lookup.possible(word, words.lemmas[i], words.tokens[i]) for i in found]
            return Sense(word, token, None, AMBIGUOUS, tuple(targets), possible=frozenset().union(*possible))
        if clusters:
            reason = SEVERAL
        elif not targets:
            reason = NOT_ALIGNED
        else:
            reason = NO_NOUN if not linked and words.has_verb(targets) else UNKNOWN
        return Sense(word, token, None, reason, tuple(targets))

    def _told(self, word: str, places: Iterable[int], words: _TargetWords) -> dict[int, str]:
        """What each of these words tells, by its place; words that are no translation aside."""
        found: dict[int, str] = {}
        for place in places:
            lemma, form = words.lemmas[place], words.tokens[place]
            sense = self._lookup.sense(word, lemma, form)
            if sense == AMBIGUOUS:
                sense = self._lookup.sense(word, lemma, form, self._lookup.genders(words.tokens, place))
            if sense is not None:
                found[place] = sense
        return found

    def _target_words(self, text: Text) -> _TargetWords:
        lemmas = [lemma for sentence in text.sentences for lemma in sentence.lemmas or sentence.tokens]
        verbs = [verb for sentence in text.sentences for verb in self._verbs_of(sentence)]
        nouns = [noun for sentence in text.sentences for noun in self._nouns_of(sentence)]
        return _TargetWords(text.tokens, lemmas, verbs, nouns)

    def _nouns_of(self, sentence: Sentence) -> list[bool]:
        """Whether each word can show a sense."""
        if self.nouns == "any":
            return [True] * len(sentence)
        capital = [token[:1].isupper() for token in sentence.tokens]
        if sentence.upos is None:
            if not self._capitals:
                raise NbkitError(
                    f"{sentence.joined!r} has no parts of speech, and nouns have no capitals in '{sentence.lang}': "
                    "parse it (target_words: lemmas), or let all words count (target_nouns: any)"
                )
            return capital
        tagged = [tag in _NOUNS for tag in sentence.upos]
        if not self._capitals:
            return tagged
        first = _first_word(sentence)
        if self.nouns == "tagged":
            return [is_noun and (capital[i] or i <= first) for i, is_noun in enumerate(tagged)]
        return [is_noun or (capital[i] and i > first) for i, is_noun in enumerate(tagged)]

    def _verbs_of(self, sentence: Sentence) -> list[bool]:
        """Which words are verbs or adjectives: by their tags, and in German in lower case, but for first words."""
        upos = sentence.upos or ("",) * len(sentence)
        first = _first_word(sentence)
        is_noun = [self._capitals and i > first and token[:1].isupper() for i, token in enumerate(sentence.tokens)]
        return [tag in _VERBS and not is_noun[i] for i, tag in enumerate(upos)]


class _TargetWords(NamedTuple):
    """The tokens of a target, their lemmas (forms where there are none), and which are verbs (or the like) or nouns."""

    tokens: Sequence[str]
    lemmas: Sequence[str]
    verb: Sequence[bool]
    noun: Sequence[bool]

    def has_verb(self, places: Iterable[int]) -> bool:
        return any(self.verb[place] for place in places)


def _first_word(sentence: Sentence) -> int:
    """The place of the first word, behind quotation marks and the like: it has a capital letter whatever it is."""
    return next((i for i, token in enumerate(sentence.tokens) if token[:1].isalnum()), 0)
