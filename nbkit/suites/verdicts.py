"""From expectations to the verdict on a translation; what is wrong with a suite itself; its quarantine."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from re import _constants, _parser  # type: ignore[attr-defined]  # what a regular expression is made of
from typing import Any, NamedTuple

from nbkit.suites.expectations import (
    EXPECTATIONS,
    Case,
    Judged,
    Span,
    Verdict,
    articles,
    compiled,
    is_regex,
    spaced,
)
from nbkit.suites.suite import Suite, Test

#: Expectations about wording: what one of them finds and another refuses is a contradiction.
_WORDING = ("must", "right", "must_not", "wrong")
#: How many systems have to answer before their answers can speak against a test, what share of decided tests a strong
#: one passes at least, and what share of the strong ones fails by the fault of the suite rather than by theirs.
LEAST_SYSTEMS, STRONG, NEARLY_ALL = 4, 0.5, 0.8
#: How many systems, one of the strong ones among them, find a translation that a list of wrong ones has by mistake.
ALIKE = 3


@dataclass(frozen=True)
class Decision:
    """The verdict on one translation. by: the expectations that decided. parts: what each of them says."""

    verdict: Verdict
    reason: str = ""
    by: tuple[str, ...] = ()
    spans: tuple[tuple[str, Span], ...] = ()
    parts: Mapping[str, Judged] = None  # type: ignore[assignment]


def decide(
    test: Test,
    output: str,
    suite: Suite,
    others: Mapping[str, str] | None = None,
    lemma: Mapping[str, str] | None = None,
) -> Decision:
    """The verdict on *output*, a translation of a test's source.

    fail if an expectation fails; undecided, for people to judge, if one cannot say, none says anything, or two
    contradict each other about the wording; pass else. others: translations of the test's further sources. lemma: of
    words of the output.

    >>> suite = Suite("demo", "en", "de", ())
    >>> test = Test("1", "a bat", {"must": ("Schläger",), "must_not": ("Fledermaus",)})
    >>> [decide(test, said, suite).verdict for said in ("Schlägern", "Fledermäuse", "Fledermaus-Schläger")]
    ['pass', 'fail', 'undecided']
    """
    if not output.strip():
        return Decision("fail", "nothing was translated", ("output",), (), {})
    wanted = dict(test.wanted)

    def case(text: str) -> Case:
        return Case(test.source, text, suite.src, suite.tgt, test.filled, others or {}, lemma or {}, suite.data,
                    verdict)  # fmt: skip

    alone = {name: each for name, each in wanted.items() if not EXPECTATIONS.get(name).sources(each)}

    def verdict(text: str) -> str:
        return decide(replace(test, wanted=alone), text, suite, lemma=lemma).verdict if alone else ""

    given = case(output)
    said = {name: EXPECTATIONS.get(name).judged(each, given) for name, each in wanted.items()}
    parts = {name: each for name, each in said.items() if each is not None}
    by: dict[str, list[str]] = {"pass": [], "fail": [], "undecided": []}
    for name, judged in parts.items():
        by[judged.verdict].append(name)
    found = [name for name in by["pass"] if name in _WORDING and parts[name].spans]
    against = [name for name in by["fail"] if name in _WORDING]
    if found and against:
        names = (*found, *against)
        return Decision("undecided", f"{' and '.join(names)} contradict each other", names, _spans(parts, names), parts)
    for kind in ("fail", "undecided", "pass"):
        if names := tuple(by[kind]):
            reason = "; ".join(f"{name}: {parts[name].reason}" for name in names) if kind != "pass" else ""
            return Decision(kind, reason, names, _spans(parts, names), parts)
    return Decision("undecided", "no expectation decides", (), (), parts)


def _spans(parts: Mapping[str, Judged], names: Iterable[str]) -> tuple[tuple[str, Span], ...]:
    """What to mark, from left to right; of marks that overlap the first."""
    found: list[tuple[str, Span]] = []
    every = [(name, span) for name in names for span in parts[name].spans]
    for name, span in sorted(every, key=lambda each: each[1]):
        if span[0] < span[1] and (not found or span[0] >= found[-1][1][1]):
            found.append((name, span))
    return tuple(found)


# ----------------------------------------------------------------------------
# What is wrong with a suite itself.


class Fault(NamedTuple):
    """Something wrong with a test. kind: what, as `lint` explains. entry: the test, or its template, in the file."""

    test: str
    line: int
    kind: str
    text: str
    entry: str


#: The kind of fault of known translations that the other expectations judge the other way round.
OTHERWISE = "a known translation is judged otherwise"
#: Texts with which nothing has in common what it would be a test of.
_ANY_TEXT = ("", "x", "7 ßa", "犬。")


def lint(suite: Suite, found: Iterable[Test] | None = None) -> Iterator[Fault]:
    """The faults of a suite, test by test; nothing is translated.

    no expectation: nothing is expected. never matches, always matches: a regular expression that no line of text, or
    every one, matches. cannot be judged: what an expectation's ``check`` says. wanted and refused: the same text. a
    known translation is judged otherwise: `right` or `wrong` ones that the other expectations, or regular expressions,
    judge the other way round.

    >>> test = Test("1", "a bat", {"must": ("Schläger",), "right": ("Er hat einen Schlager.",)}, line=7)
    >>> [(fault.line, fault.kind) for fault in lint(Suite("demo", "en", "de", ()), [test])]
    [(7, 'a known translation is judged otherwise')]
    """
    for test in suite.tests() if found is None else found:
        for kind, text in (*_faults(test, suite), *((OTHERWISE, text) for text in _judged_otherwise(test, suite))):
            yield Fault(test.id, test.line, kind, text, test.entry)


def _faults(test: Test, suite: Suite) -> Iterator[tuple[str, str]]:
    if not test.wanted:
        yield "no expectation", "nothing is expected: write must, quantities, …"
    case = Case(test.source, "", suite.src, suite.tgt, test.filled, data=suite.data)
    for name, wanted in test.wanted.items():
        if why := EXPECTATIONS.get(name).check(wanted, case):
            yield "cannot be judged", f"{name}: {why}"
        for pattern in wanted if name in _WORDING else ():
            if is_regex(pattern) and all(compiled(pattern).search(text) for text in _ANY_TEXT):
                yield "always matches", f"{name}: {pattern} matches any text"
            elif is_regex(pattern) and never_matches(pattern):
                yield "never matches", f"{name}: {pattern} matches no line of text"
    for text in set(test.wanted.get("must", ())) & set(test.wanted.get("must_not", ())):
        yield "wanted and refused", f"both must and must_not: {text}"


def _judged_otherwise(test: Test, suite: Suite) -> Iterator[str]:
    known = {name: [each for each in test.wanted.get(name, ()) if not is_regex(each)] for name in ("right", "wrong")}
    rules = {name: tuple(each for each in test.wanted.get(name, ()) if is_regex(each)) for name in known}
    asking = [name for name, wanted in test.wanted.items() if EXPECTATIONS.get(name).sources(wanted)]
    rest = {name: wanted for name, wanted in test.wanted.items() if name not in (*known, *asking)}
    others = replace(test, wanted={**rest, **{name: each for name, each in rules.items() if each}})
    for text in set(known["right"]) & set(known["wrong"]):
        yield f"both right and wrong: {text}"
    for name, refused in (("right", "fail"), ("wrong", "pass")):
        for text in known[name] if name == "right" or not asking else ():  # another translation may show that it is
            decision = decide(others, text, suite)
            if decision.verdict == refused:
                yield f"known as {name}, judged {refused} ({decision.reason or 'by ' + ', '.join(decision.by)}): {text}"


def never_matches(pattern: str) -> bool:
    """Whether a regular expression matches nothing that is judged: one line, single blanks, none at its ends.

    >>> [never_matches(each) for each in ("/a$b/", "/Hund $/", "/der  Hund/", "/^Hund|Katz(e|er)$/", r"/a.*\bes\b/")]
    [True, True, True, False, False]
    """
    body = pattern[1 : pattern.rindex("/")]
    try:
        tree = _parser.parse(body)
    except (re.error, RecursionError):  # what only the other engine reads
        return False
    rule = compiled(pattern)
    around = ("{}", "x{}x", "x {} x")
    return not any(rule.search(spaced(each.format(text))) for text in _samples(tree, 64) for each in around)


def _samples(tree: Any, most: int) -> list[str]:
    """Texts that fit a parsed regular expression, anchors aside: every alternative, at most *most* together."""
    texts = [""]
    for operation, value in tree:
        texts = [text + more for text in texts for more in _pieces(operation, value, most)][:most]
    return texts


def _pieces(operation: Any, value: Any, most: int) -> list[str]:
    of = _constants
    if operation is of.LITERAL:
        return [chr(value)]
    if operation in (of.ANY, of.NOT_LITERAL):
        return [each for each in " xy" if ord(each) != value]
    if operation is of.CATEGORY:
        return [" ", "1", "x"]
    if operation is of.IN:
        if value[0][0] is of.NEGATE:
            return ["x", "1", " ", "ß"]
        return [piece for kind, each in value[:8] for piece in (
            [chr(each[0])] if kind is of.RANGE else _pieces(kind, each, most))]  # fmt: skip
    if operation is of.BRANCH:
        return [text for branch in value[1] for text in _samples(branch, most)]
    if operation is of.SUBPATTERN:
        return _samples(value[-1], most)
    if operation in (of.MAX_REPEAT, of.MIN_REPEAT):
        least, _, body = value
        inside = _samples(body, most)
        once = [text * max(1, min(least, 50)) for text in inside]
        return [*([""] if least == 0 else []), *once]
    return [""]  # anchors


# ----------------------------------------------------------------------------
# Quarantine: tests whose verdicts say more of the suite than of a system.


def suspects(suite: Suite) -> dict[str, str]:
    """The tests that are in quarantine before any system answers, with the reason: linted, or named in the file."""
    found = {}
    for test in suite.tests():
        said = suite.quarantine.get(test.entry) or next(
            (f"{fault.kind}: {fault.text}" for fault in lint(suite, [test])), ""
        )
        if said and test.entry not in suite.release:
            found[test.id] = said
    return found


_SIGNS = re.compile(r"[,;]")


def _folded(text: str, lang: str) -> str:
    """*text* without what rules should not turn on: commas, capitals, definite articles."""
    words = _SIGNS.sub("", text).casefold().split()
    return " ".join(word for word in words if word not in articles(lang))


def quarantined(
    tests: Sequence[Test], answers: Mapping[str, Mapping[str, tuple[str, str]]], suite: Suite
) -> Iterator[tuple[str, str]]:
    """The tests that the systems' answers speak against, with the reason.

    answers: by test and system, translation and verdict. Only tests of nothing but wording are asked about: what
    nbkit reads by itself (quantities, another translation, …) is not a rule that was written too narrowly. By the file
    alone, if a test has nothing but known translations: a failing translation differs from a known right one by a
    comma, a capital or an article, or is right for another test that has a known right one in common with it. With at
    least `LEAST_SYSTEMS` systems also: it differs so from one that passes; `ALIKE` of them fail with the same
    translation. And for all tests of wording: nearly all of the strong half fail; no rule fits any translation.
    """
    passed: Counter[str] = Counter()
    decided: Counter[str] = Counter()
    for of in answers.values():
        for system, (_, verdict) in of.items():
            passed[system] += verdict == "pass"
            decided[system] += verdict != "undecided"
    ranked = sorted(decided, key=lambda system: (-passed[system] / max(1, decided[system]), system))
    half = ranked[: (len(ranked) + 1) // 2]
    strong = [system for system in half if passed[system] >= STRONG * decided[system]]
    sharing: dict[str, list[set[str]]] = defaultdict(list)  # by a known right translation
    for right in map(_known_right, tests):
        for text in right:
            sharing[text].append(right)
    for test in tests:
        of = answers.get(test.id, {})
        if of and test.entry not in suite.release and {*_WORDING} >= test.wanted.keys():
            twins = {each for text in _known_right(test) for right in sharing[text] for each in right}
            if reason := _against(test, of, strong, twins, suite.tgt):
                yield test.id, reason


def _known_right(test: Test) -> set[str]:
    return {spaced(each) for each in test.wanted.get("right", ()) if not is_regex(each)}


def _against(test: Test, of: Mapping[str, tuple[str, str]], strong: Sequence[str], twins: set[str], lang: str) -> str:
    fails = Counter(spaced(output) for output, verdict in of.values() if verdict == "fail" and output)
    many = len(of) >= LEAST_SYSTEMS
    if {"right", "wrong"}.issuperset(test.wanted):
        if both := sorted(twins & fails.keys()):
            return f"fails what is right for a test with a right translation in common: {both[0]}"
        good = _known_right(test) | {output for output, verdict in of.values() if verdict == "pass" and many}
        if {_folded(each, lang) for each in good} & {_folded(each, lang) for each in fails}:
            return "its verdict turns on a comma, a capital or an article"
        by_strong = {spaced(of[system][0]) for system in strong if system in of}
        alike = [(-times, each) for each, times in fails.items() if times >= ALIKE and each in by_strong]
        if many and alike:
            times, output = min(alike)
            return f"{-times} of {len(of)} systems fail alike: {output}"
    if not many:
        return ""
    if all(verdict == "undecided" for _, verdict in of.values()):
        return f"its rules fit the translation of none of {len(of)} systems"
    said = [of[system][1] for system in strong if system in of]
    if len(said) > 1 and said.count("fail") >= NEARLY_ALL * len(said):
        return f"{said.count('fail')} of the {len(said)} strongest systems fail it"
    return ""
