"""What a test of a suite expects of a translation: a registry of pure functions, each with its table of hard cases.

An expectation takes what the file writes behind its name and a `Case`, and says pass, fail, "undecided" with a reason,
or nothing: None, if it has nothing to say of this translation. Hard cases: ``tests/suites/*.tsv``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

import regex

from nbcheck.health import other_language, own_words, word_languages
from nbkit.corpora.homographs import HomographLexicon, load_homographs
from nbkit.errors import NbkitError, closest
from nbkit.languages import base_language, check_language, is_unspaced, language_name
from nbkit.measure.literal import (
    LiteralJudgement,
    Litter,
    WordDictionary,
    WordMatcher,
    known_matchings,
    read_dictionary,
)
from nbkit.measure.senses import AMBIGUOUS, SenseLookup
from nbkit.numbers import Verdict as Carried
from nbkit.numbers import compare_quantities, find_quantities, with_ends
from nbkit.registry import Registry
from nbkit.text.form import one_form
from nbkit.yaml_text import load

Verdict: TypeAlias = Literal["pass", "fail", "undecided"]
Span: TypeAlias = tuple[int, int]


class Judged(NamedTuple):
    """The verdict of one expectation. reason: "" for a pass. spans: the words of the translation that show it."""

    verdict: Verdict
    reason: str = ""
    spans: tuple[Span, ...] = ()


@dataclass(frozen=True)
class Case:
    """A translation with all that an expectation may ask for.

    filled: what stands in the slots of a template, each with its other known forms. others: the system's translations
    of the sources that `Expectation.sources` names. lemma: the lemma of a word, where a parser has read the
    translation. data: files that the suite names, ``dictionary`` and ``homographs``. verdict: what the test's other
    expectations say of another translation.
    """

    source: str
    output: str
    src: str
    tgt: str
    filled: Mapping[str, Sequence[str]] = field(default_factory=dict)
    others: Mapping[str, str] = field(default_factory=dict)
    lemma: Mapping[str, str] = field(default_factory=dict)
    data: Mapping[str, str] = field(default_factory=dict)
    verdict: Callable[[str], str] | None = None


@dataclass(frozen=True)
class Expectation:
    """One kind of expectation.

    judge: ``judge(wanted, case)`` returns a `Judged`, a truth value, or None. takes: makes *wanted* of what the file
    says, and raises ValueError with what was expected. sources: further texts that are to be translated. check: what
    is wrong with *wanted* whatever the translation is, for `lint`; "" if nothing is.
    """

    name: str
    judge: Callable[[Any, Case], Judged | bool | None]
    takes: Callable[[Any], Any] = lambda value: value
    sources: Callable[[Any], Sequence[str]] = lambda wanted: ()
    check: Callable[[Any, Case], str] = lambda wanted, case: ""

    def judged(self, wanted: Any, case: Case) -> Judged | None:
        """The verdict on *case*; a truth value is pass or fail."""
        found = self.judge(wanted, case)
        if isinstance(found, bool):
            return Judged("pass") if found else Judged("fail", f"not as {self.name} says")
        return found


def _as_expectation(name: str, thing: Any) -> Expectation:
    return thing if isinstance(thing, Expectation) else Expectation(name, thing)


#: Expectations by the name that a suite writes; a plain function ``(wanted, case) -> bool`` may be registered, too.
EXPECTATIONS: Registry[Expectation] = Registry("expectation", made=_as_expectation)


@cache
def _data() -> dict[str, Any]:
    place = Path(__file__).with_name("expectations.yaml")
    return load(place.read_text(encoding="utf-8"), place)[1]


# ----------------------------------------------------------------------------
# What a file may write behind a name.


def _texts(value: Any) -> tuple[str, ...]:
    """A text or a list of them; each regular expression is compiled now, to refuse what cannot be."""
    texts = (value,) if isinstance(value, str) else tuple(value) if isinstance(value, list | tuple) else ()
    if not texts or not all(isinstance(each, str) and each.strip() for each in texts):
        raise ValueError("a text or a list of texts is expected, in quotes if YAML reads them as something else")
    for each in texts:
        if is_regex(each):
            compiled(each)
    return texts


def _one_of(*words: str) -> Callable[[Any], str]:
    def takes(value: Any) -> str:
        if value not in words:
            raise ValueError(f"{' or '.join(words)} is expected, found {value!r:.40}")
        return value

    return takes


def _forms(value: Any) -> tuple[tuple[str, ...], ...]:
    """Texts, each with its other forms: ``Anna``, ``{Moscow: [Moskau]}``."""
    values = [value] if isinstance(value, str | Mapping) else value if isinstance(value, list | tuple) else [None]
    pairs = [pair for each in values for pair in (each.items() if isinstance(each, Mapping) else [(each, [])])]
    return tuple((*_texts(text), *(_texts(forms) if forms else ())) for text, forms in pairs)


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"a text is expected, found {value!r:.40}")
    return value


def _ratios(value: Any) -> tuple[float, float]:
    try:
        low, high = map(float, value)
    except (TypeError, ValueError):
        low, high = 1.0, 0.0
    if not 0 <= low <= high:
        raise ValueError(f"the lowest and highest ratio are expected, such as [0.5, 2.0], found {value!r:.40}")
    return low, high


def _language(value: Any) -> str:
    try:
        return check_language(_text(value))
    except NbkitError as error:
        raise ValueError(str(error)) from None


class Other(NamedTuple):
    """Another source, and what may differ between the two translations: pairs of texts."""

    source: str
    change: tuple[tuple[str, str], ...] = ()


def _sources(wanted: Other) -> tuple[str, ...]:
    return (wanted.source,)


def _other(value: Any) -> Other:
    if isinstance(value, Mapping) and value.keys() <= {"source", "change"} and "source" in value:
        change = value.get("change", {})
        if isinstance(change, Mapping) and all(isinstance(each, str) for pair in change.items() for each in pair):
            return Other(_text(value["source"]), tuple(change.items()))
    if isinstance(value, str) and value.strip():
        return Other(value)
    raise ValueError('a source is expected, or {source: "…", change: {what: is changed}}')


# ----------------------------------------------------------------------------
# Words and regular expressions in a text.

_REGEX = re.compile(r"/(.+)/(i?)", re.DOTALL)
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*(?:\+\+|#)?")  # C++ and C# are other words than C
_BLANKS = re.compile(r"[\s-]+")


def is_regex(text: str) -> bool:
    """Whether a text of a suite is written as a regular expression.

    >>> is_regex("/Schlag(stock|holz)/"), is_regex("/x/i"), is_regex("km/h")
    (True, True, False)
    """
    return _REGEX.fullmatch(text) is not None


@lru_cache(maxsize=1 << 16)
def compiled(text: str) -> Any:
    """The pattern of ``/…/`` or ``/…/i``, of an engine whose time is linear. Raises ValueError for what it refuses.

    >>> compiled("/Schlag(stock|holz)/").search("ein Schlagholz").span()
    (4, 14)
    >>> compiled("/(?=x)y/")
    Traceback (most recent call last):
    ValueError: the regular expression /(?=x)y/ is refused: invalid perl operator: (?= (look-around and back-references
    take exponential time)
    """
    import re2

    found = _REGEX.fullmatch(text)
    assert found is not None
    options = re2.Options()
    options.log_errors, options.case_sensitive = False, not found[2]
    try:
        return re2.compile(found[1], options)
    except re2.error as error:
        reason = error.args[0].decode("utf-8", "replace") if isinstance(error.args[0], bytes) else str(error)
        perl = "perl operator" in reason or "escape sequence" in reason
        why = " (look-around and back-references take exponential time)" if perl else ""
        raise ValueError(f"the regular expression {text:.80} is refused: {reason:.80}{why}") from None


@cache
def _matcher(lang: str) -> WordMatcher:
    lang = base_language(lang)
    return WordMatcher(lang, "inflected" if "inflected" in known_matchings(lang) else "exact")


@lru_cache(maxsize=1 << 18)
def _key(word: str, lang: str) -> str:
    return _matcher(lang).key(word)


@lru_cache(maxsize=1 << 12)
def _words(text: str) -> tuple[tuple[str, Span], ...]:
    return tuple((found[0], found.span()) for found in _WORD.finditer(text))


@lru_cache(maxsize=1 << 12)
def _signs(text: str) -> tuple[str, ...]:
    """What stands before, between and after the words of a text, without blanks and hyphens."""
    return tuple(_BLANKS.sub("", each) for each in _WORD.split(text))


_UMLAUTS = re.compile("[äöü]")
#: A plural of German that the stemmer leaves: *Autos*, *Handys*; of words that are not too short to be another (*Eis*).
_S_PLURAL = re.compile(r"\w{3,}[aiouy]")


def _same(wanted: str, word: str, lang: str, lemma: Mapping[str, str]) -> bool:
    """Whether *word* is *wanted* or one of its inflections: by its lemma, its stem, or the endings of German verbs.

    A lemma may be wrong, so it never refuses what the stem allows.
    """
    verb = wanted[:1].islower() and wanted.endswith("n")
    wanted, found = wanted.casefold(), word.casefold()
    if wanted == found or lemma.get(word, "").casefold() == wanted:
        return True
    if base_language(lang) != "de":
        return _key(wanted, lang) == _key(found, lang)
    if _key(wanted, lang) == _key(found, lang):
        # German inflection adds umlauts and never takes one away: "Schlag" is no form of "Schläger".
        return len(_UMLAUTS.findall(wanted)) <= len(_UMLAUTS.findall(found))
    short, long = sorted((wanted, found), key=len)
    if long == f"{short}s" and _S_PLURAL.fullmatch(short):
        return True
    forms = _verb_forms(wanted) if verb else None
    return forms is not None and forms.fullmatch(found) is not None


@lru_cache(maxsize=1 << 12)
def _verb_forms(infinitive: str) -> re.Pattern[str] | None:
    """The regular forms of a German verb: *löscht*, *gelöscht*, *meldet*, *anzumelden*, *angemeldet*."""
    prefix, root = _separable(infinitive) or ("", infinitive)
    if not re.fullmatch(r"\w{2,}(?:en|[er][lr]n)", root):
        return None
    root = re.escape(root.removesuffix("n").removesuffix("e"))
    return re.compile(f"{prefix}(?:ge|zu)?{root}e?(?:|n|s?t|te(?:st|[nrsmt])?)")


@cache
def _particles() -> re.Pattern[str]:
    longest_first = sorted(_data()["particles"]["de"].split(), key=len, reverse=True)
    return re.compile(f"({'|'.join(longest_first)})(.{{3,}}n)")


def _separable(infinitive: str) -> tuple[str, str] | None:
    """The particle and the verb of what may be a separable verb of German: *an* and *melden*."""
    found = _particles().fullmatch(infinitive)
    return (found[1], found[2]) if found else None


#: What follows the particle of a separated verb: the end of its clause.
_CLAUSE_END = re.compile(r"\W*$|\s*[^\w\s]|\s+(?:und|oder|aber|denn|sondern|sowie|als|wie)\b")


def _separated(wanted: str, case: Case) -> Iterator[Span]:
    """The parts of separable verbs that stand apart: *Melden Sie sich … an.*"""
    parts, text = _separable(wanted), case.output
    for n, (word, span) in enumerate(there := _words(text)) if parts else ():
        if parts and _same(parts[1], word, case.tgt, case.lemma):
            for particle, (start, end) in there[n + 1 :]:
                if re.search("[.!?;:]", text[span[1] : start]):
                    break
                if particle == parts[0] and _CLAUSE_END.match(text, end):
                    yield from (span, (start, end))
                    break


@lru_cache(maxsize=1 << 12)
def _copy(form: str, lang: str) -> regex.Pattern[str]:
    """*form* as it is, not within a word or number; endings may follow: German *s*, any where no stemmer knows them."""
    letters, ends = r"[\p{Lu}\p{Ll}]", _matcher(lang).matching == "inflected" or is_unspaced(lang)
    genitive = "s?" if base_language(lang) == "de" else ""
    before = r"(?<!\d)(?<!\d[.,])" if form[0].isdecimal() else f"(?<!{letters})" if form[0].isalpha() else ""
    after = (
        r"(?![.,]?\d)" if form[-1].isdecimal() else f"{genitive}(?!{letters})" if form[-1].isalpha() and ends else ""
    )
    return regex.compile(f"{before}{re.escape(form)}{after}", regex.IGNORECASE)


def places(wanted: str, case: Case) -> Iterator[Span]:
    """Where *wanted* stands in the translation: a regular expression, or words in any inflection, without their case.

    Signs beside and between its words have to be there, too (*z. B.*, *100 %*). Scripts without spaces, and what holds
    no letter or digit, are found as they are.
    """
    text, lang, wanted = case.output, case.tgt, one_form(wanted)
    if is_regex(wanted):
        for match in compiled(wanted).finditer(text):
            yield match.span()
        return
    parts = [word for word, _ in _words(wanted)]
    if not parts or is_unspaced(lang):
        yield from (found.span() for found in _copy(wanted, lang).finditer(text))
        return
    there, n = _words(text), len(parts)
    before, *between, after = _signs(wanted)
    signs = _signs(text)
    for start in range(len(there) - n + 1):
        piece = there[start : start + n]
        if (
            all(_same(part, word, lang, case.lemma) for part, (word, _) in zip(parts, piece, strict=True))
            and signs[start].endswith(before)
            and list(signs[start + 1 : start + n]) == between
            and signs[start + n].startswith(after)
        ):
            (begin, _), (_, end) = piece[0][1], piece[-1][1]
            left = re.search(r"\s*".join(map(re.escape, before)) + r"\s*$", text[:begin]) if before else None
            right = re.match(r"\s*" + r"\s*".join(map(re.escape, after)), text[end:]) if after else None
            yield left.start() if left else begin, end + (right.end() if right else 0)
    if n == 1 and base_language(lang) == "de":
        yield from _separated(wanted, case)


def _found(wanted: Iterable[str], case: Case) -> tuple[Span, ...]:
    return tuple(sorted({span for each in wanted for span in places(each, case)}))


def matches_words(wanted: Iterable[str]) -> bool:
    """Whether one of the expectations of these names matches words, so that lemmas of the translation serve it.

    >>> matches_words(["length", "must"]), matches_words(["length"])
    (True, False)
    """
    return not {"must", "must_not", "keeps", "sense"}.isdisjoint(wanted)


def spaced(text: str) -> str:
    """*text* in one form, with single blanks between words: sentences that differ in nothing else are the same."""
    return " ".join(one_form(text).split())


# ----------------------------------------------------------------------------
# The expectations, in the order in which lists show them.


def must(wanted: tuple[str, ...], case: Case) -> Judged:
    """One of these words or /regular expressions/ is in the translation; words match their inflected forms."""
    spans = _found(wanted, case)
    return Judged("pass", "", spans) if spans else Judged("fail", f"none of: {', '.join(wanted)}")


def must_not(wanted: tuple[str, ...], case: Case) -> Judged:
    """None of these is in the translation."""
    spans = _found(wanted, case)
    words = ", ".join(dict.fromkeys(case.output[slice(*span)] for span in spans))
    return Judged("fail", f"there is: {words}", spans) if spans else Judged("pass")


def known(wanted: Sequence[str], case: Case) -> tuple[Span, ...]:
    """The places that show a known translation: of a regular expression, or all of it if it is one of the sentences."""
    spans = _found([each for each in wanted if is_regex(each)], case)
    output = spaced(case.output)
    whole = any(spaced(each) == output for each in wanted if not is_regex(each))
    return spans or (((0, len(case.output)),) if whole else ())


def right(wanted: tuple[str, ...], case: Case) -> Judged | None:
    """Known right translations, whole or as /regular expressions/; says nothing of any other."""
    return Judged("pass", "", spans) if (spans := known(wanted, case)) else None


def wrong(wanted: tuple[str, ...], case: Case) -> Judged | None:
    """Known wrong translations, whole or as /regular expressions/; says nothing of any other."""
    return Judged("fail", "a known wrong translation", spans) if (spans := known(wanted, case)) else None


def quantities(wanted: str, case: Case) -> Judged:
    """kept: every number, measure, date and time of the source is carried over.

    Strict: a measure in words that is lost fails (*twelve hours*); other lost number words, which a translator may say
    otherwise (*both*, *first*), are for people.
    """
    try:
        verdicts = compare_quantities(case.source, case.output, case.src, case.tgt)
    except NbkitError as error:
        return Judged("undecided", f"quantities cannot be read: {error}")
    bad = [each for each in verdicts if each.grade == "wrong"]
    carried = {(each.source.span, each.source.value) for each in verdicts if each.source is not None}
    lost = [
        each
        for each in with_ends(find_quantities(case.source, case.src))
        if not each.lexical and (each.span, each.value) not in carried
    ]
    why = [*map(_shown, bad), *(f"{each.surface} (missing)" for each in lost if each.unit)]
    spans = tuple(each.target.span for each in (bad or verdicts) if each.target is not None)
    if why:
        return Judged("fail", "; ".join(why), spans)
    if lost:
        return Judged("undecided", f"perhaps lost: {', '.join(each.surface for each in lost)}", spans)
    return Judged("pass", "", spans)


def _shown(verdict: Carried) -> str:
    """What is wrong, with the values that were read if the two look alike."""
    source, target = verdict.source, verdict.target
    if source is None or target is None or source.surface != target.surface or source.value == target.value:
        return str(verdict)
    return f"{verdict}: read as {float(source.value):,.12g} and {float(target.value):,.12g}"


def keeps(wanted: tuple[tuple[str, ...], ...], case: Case) -> Judged:
    """Slots of the template or texts that are copied, or stand there in one of their known forms."""
    spans: list[Span] = []
    for name, *more in wanted:
        forms = case.filled.get(name, (name, *more))
        there = [found.span() for form in forms for found in _copy(form, case.tgt).finditer(case.output)]
        if not there and base_language(case.tgt) != "de":  # Müllerin is no form of Müller
            there = [*_found(forms, case)]
        if not there:
            return Judged("fail", f"lost: {forms[0]}")
        spans += there[:1]
    return Judged("pass", "", tuple(spans))


def _unknown_kept(wanted: tuple[tuple[str, ...], ...], case: Case) -> str:
    for forms in wanted:
        if forms[0] not in case.filled and not any(each.casefold() in case.source.casefold() for each in forms):
            guess = closest(forms[0], case.filled)
            hint = f"; did you mean '{guess}'?" if guess else ""
            return f"'{forms[0]}' is neither a slot nor a text of the source{hint}"
    return ""


@lru_cache(maxsize=16)
def _dictionary(path: str) -> WordDictionary:
    return read_dictionary(path)


def _literal(wanted: str, case: Case) -> LiteralJudgement | str:
    """What the suite's dictionary says of the idiom, or why it says nothing."""
    if "dictionary" not in case.data:
        return "no dictionary: name one in the suite (dictionary: FILE)"
    try:
        words = _dictionary(case.data["dictionary"])
    except NbkitError as error:
        return str(error)
    litter = Litter(words, case.src, case.tgt, matching=_matcher(case.tgt).matching)
    found = litter.judge_texts(wanted, "", case.output)
    return found if found.covered else f"no word of '{wanted}' is in the dictionary"


def not_literal(wanted: str, case: Case) -> Judged:
    """This idiom of the source is not translated word by word, by the suite's dictionary."""
    judgement = _literal(wanted, case)
    if isinstance(judgement, str):
        return Judged("undecided", judgement)
    if judgement.error:
        words = list(judgement.triggers)
        return Judged("fail", f"literal: {', '.join(words)}", _found(words, case))
    return Judged("pass")


def _no_dictionary(wanted: str, case: Case) -> str:
    found = _literal(wanted, case)
    return found if isinstance(found, str) else ""


@lru_cache(maxsize=16)
def _senses(spec: str, src: str, tgt: str) -> SenseLookup:
    lexicon: HomographLexicon = load_homographs(spec, tgt, src=src, on_conflict="drop")
    return SenseLookup(lexicon, "compounds")


def _sense(value: Any) -> str:
    if _text(value).count("/") != 1 or not all(value.split("/")):
        raise ValueError(f"word/sense is expected, such as bat/animal, found {value!r:.40}")
    return value


def _unknown_sense(wanted: str, case: Case) -> str:
    word, _, name = wanted.partition("/")
    try:
        homographs = _senses(case.data.get("homographs", "own"), case.src, case.tgt).lexicon.homographs
    except NbkitError as error:
        return f"no senses: {error}"
    senses = sorted(each.name for each in homographs[word].clusters) if word in homographs else []
    return "" if name in senses else f"the lexicon has no sense '{wanted}' ({', '.join(senses) or 'no such word'})"


def sense(wanted: str, case: Case) -> Judged:
    """WORD/SENSE of a homograph lexicon: the translation holds a noun of this sense and of no other."""
    if why := _unknown_sense(wanted, case):
        return Judged("undecided", why)
    word, _, name = wanted.partition("/")
    lookup = _senses(case.data.get("homographs", "own"), case.src, case.tgt)
    found: dict[str, list[Span]] = {}
    for token, span in _words(case.output):
        if base_language(case.tgt) != "de" or token[0].isupper():
            there = lookup.sense(word, case.lemma.get(token, token), token)
            if there not in (None, AMBIGUOUS):
                found.setdefault(str(there), []).append(span)
    if not found or len(found) > 1:
        return Judged("undecided", f"senses found: {', '.join(sorted(found)) or 'none'}")
    ((there, spans),) = found.items()
    return Judged("pass", "", tuple(spans)) if there == name else Judged("fail", f"sense {there}", tuple(spans))


def _changed(text: str, change: Sequence[tuple[str, str]]) -> str:
    """*text* with all changes at once, so that words can be exchanged."""
    words = dict(change)
    pattern = "|".join(re.escape(each) for each in sorted(words, key=len, reverse=True))
    return spaced(re.sub(rf"(?<!\w)(?:{pattern})(?!\w)", lambda found: words[found[0]], text) if words else text)


def _itself(wanted: Other, case: Case) -> str:
    return "it is compared with itself" if spaced(wanted.source) == spaced(case.source) else ""


def same_as(wanted: Other, case: Case) -> Judged:
    """Another source gets the same verdicts, or the same translation up to a listed change."""
    other = case.others.get(wanted.source, "")
    own = case.verdict(case.output) if case.verdict else ""
    if _changed(case.output, wanted.change) == spaced(other) or (own and case.verdict and case.verdict(other) == own):
        return Judged("pass")
    return Judged("fail", f"differs from: {other}")


def differs_from(wanted: Other, case: Case) -> Judged:
    """Another source gets another translation, beyond a listed change."""
    other = case.others.get(wanted.source, "")
    same = _changed(case.output, wanted.change) == spaced(other)
    return Judged("fail", f"the same as for: {wanted.source}") if same else Judged("pass")


def length(wanted: tuple[float, float], case: Case) -> Judged:
    """[LOW, HIGH]: the ratio of the translation's characters to the source's is between these."""
    ratio = len(spaced(case.output)) / max(1, len(spaced(case.source)))
    low, high = wanted
    return Judged("pass") if low <= ratio <= high else Judged("fail", f"{ratio:.2f} times as long as the source")


def language(wanted: str, case: Case) -> Judged:
    """The language that the translation is in."""
    if other := other_language(case.source, case.output, case.src, wanted):
        return Judged("fail", f"not {language_name(wanted)}: {other}", _found([other.partition(": ")[2]], case))
    if not any(map(str.isalpha, case.output)):
        return Judged("undecided", "there is no word")
    counts = {code: len(set(own_words(case.output, code))) for code in word_languages()}
    own = counts.pop(base_language(wanted), 0)
    other = max(counts, key=lambda code: counts[code])
    if own > 2 * counts[other] or is_unspaced(wanted):
        return Judged("pass")
    if counts[other] > max(1, 2 * own):
        return Judged("fail", f"{language_name(other)}: {', '.join(own_words(case.output, other))}")
    if find_spec("lingua") is None:
        return Judged("undecided", "its words do not show it: pip install lingua-language-detector")
    sureness = _sureness(case.output, base_language(wanted))
    if sureness is None or 1 - _SURE < sureness < _SURE:
        return Judged("undecided", f"perhaps {language_name(wanted)}")
    return Judged("pass") if sureness >= _SURE else Judged("fail", f"not {language_name(wanted)}")


def _other_language(wanted: str, case: Case) -> str:
    other = base_language(wanted) != base_language(case.tgt)
    return f"the suite translates into {language_name(case.tgt)}" if other else ""


_SURE = 0.9


@cache
def _detector(lang: str) -> Any:
    lingua = import_module("lingua")
    every = {each.iso_code_639_1.name.lower(): each for each in lingua.Language.all()}
    known = {code for code in (*word_languages(), "zh", "ja", "ko", "ar", lang) if code in every}
    return lingua.LanguageDetectorBuilder.from_languages(*(every[code] for code in sorted(known))).build(), every.get(
        lang
    )


def _sureness(text: str, lang: str) -> float | None:
    """The probability, by lingua, that *text* is in a language; None for one that it does not know."""
    detector, known = _detector(lang)
    return None if known is None else detector.compute_language_confidence(text, known)


_ICU = re.compile(r",\s*(plural|select|selectordinal)\s*,")
_MARKUP = re.compile(
    r"</?[A-Za-z][^<>]*>|\{\{[^{}]*\}\}|[$%#]?\{\s*[\w.:-]*\s*\}"
    r"|\{\s*\w+\s*,\s*(?:plural|select|selectordinal|number|date|time|ordinal|spellout|duration)\b"
    r"|%(?:\(\w+\))?[sdif]\b|%\d\$[sd]|`[^`]+`"
    r"|https?://[^\s<>\"”“»«]+[^\s<>\"”“»«.,;:!?)]|[\w.+-]+@[\w-]+\.[\w.-]*\w|\[\[[^\]]*\]\]|&\w+;"
    "|[\U0001f1e6-\U0001f1ff]{2}|[\u2600-\u27bf\U0001f300-\U0001faff][\ufe0f\U0001f3fb-\U0001f3ff]*"
)


def _marks(text: str) -> list[re.Match[str]]:
    """The mark-up of a text; in an ICU message, what a plural or a value chooses is text and no placeholder."""
    if _ICU.search(text):
        depth, signs = 0, ""
        for sign in text:
            depth -= sign == "}"
            signs += " " if sign == "{" and depth % 2 else sign  # messages and what they choose from take turns
            depth += sign == "{"
        text = signs
    return list(_MARKUP.finditer(text))


def markup(wanted: str, case: Case) -> Judged:
    """kept: tags, placeholders, addresses, code and emoji are there as often as in the source."""
    before, after = (Counter(found[0] for found in _marks(text)) for text in (case.source, case.output))
    lost, added = before - after, after - before
    faults = [f"lost: {' '.join(lost)}"] * bool(lost) + [f"added: {' '.join(added)}"] * bool(added)
    spans = tuple(found.span() for found in _marks(case.output) if not faults or found[0] in added)
    return Judged("fail", "; ".join(faults), spans) if faults else Judged("pass", "", spans)


for _each in (
    Expectation("must", must, _texts),
    Expectation("must_not", must_not, _texts),
    Expectation("right", right, _texts),
    Expectation("wrong", wrong, _texts),
    Expectation("quantities", quantities, _one_of("kept")),
    Expectation("keeps", keeps, _forms, check=_unknown_kept),
    Expectation("not_literal", not_literal, _text, check=_no_dictionary),
    Expectation("sense", sense, _sense, check=_unknown_sense),
    Expectation("same_as", same_as, _other, _sources, _itself),
    Expectation("differs_from", differs_from, _other, _sources, _itself),
    Expectation("length", length, _ratios),
    Expectation("language", language, _language, check=_other_language),
    Expectation("markup", markup, _one_of("kept")),
):
    EXPECTATIONS.register(_each.name, _each, summary=(_each.judge.__doc__ or "").partition("\n")[0])
