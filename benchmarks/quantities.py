"""How well `compare_quantities` judges what people and systems wrote, on lines that its rules were not made from.

    NBKIT_DATA=… python benchmarks/quantities.py [--blocks count] [--seed N] [--flags FILE] [--groups …] [--quick]

Each file is cut into blocks of 50 lines. A hash of seed, source text and block (`counted`) draws half of them, the same
ones for all translations of a source: these are only counted, the others may be read to improve the rules.
``--flags FILE`` writes every flagged pair as file, line, digest and verdict; ``--texts FILE`` adds the two texts, which
belong outside the project. A flag is a false alarm unless a reader found the quantity lost: ``gold/quantities.tsv``
holds file, line, digest, verdict and reason of those that were read.
"""

from __future__ import annotations

import csv
import gc
import itertools
import json
import os
import random
import re
import subprocess
import sys
from argparse import Namespace
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from babel import Locale, dates, numbers, units
from num2words import num2words
from reporting import Report, cpu_seconds, data_folder, parse, parser

try:
    from unicode_rbnf import RbnfEngine
except ImportError:  # its kind is left out
    RbnfEngine = None

from nbkit.numbers import Verdict, compare_quantities, find_quantities, forms, write_number

BLOCK = 50
#: The first two rounds of rules were made from, and measured on, the even and the odd blocks; the third one draws.
SEED = 2126
GOLD = Path(__file__).with_name("gold") / "quantities.tsv"
#: GPT-4 and the commercial engines, which the organisers call online systems.
STRONG = re.compile(r"(?i)gpt4|online-")
#: The largest share of pairs flagged wrongly, in percent.
BARS = {"references": 0.5, "strong systems": 0.4, "PUD": 0.5, "Tatoeba": 0.1, "Multi30k": 0.2}


class Aligned(NamedTuple):
    """One pair of texts: its place, and what it is part of."""

    group: str
    file: str
    line: int
    src: str
    tgt: str
    source: str
    target: str

    @property
    def digest(self) -> str:
        return blake2b(f"{self.source}\t{self.target}".encode(), digest_size=6).hexdigest()


def main() -> None:
    made = parser(__doc__)
    made.add_argument("--blocks", choices=["look", "count"], default="count", help="which half of the blocks")
    made.add_argument("--seed", type=int, default=SEED, help="draws the half that is only counted")
    made.add_argument("--flags", type=Path, help="file that every flag goes to")
    made.add_argument("--texts", type=Path, help="file that every flag goes to with its texts, outside the project")
    made.add_argument("--groups", nargs="*", default=[*BARS, "NLLB"], help="what is compared")
    made.add_argument("--every", type=int, default=1, help="only each so-manieth line of systems")
    made.add_argument("--offset", type=int, default=0, help="which of these lines: others have been read before")
    made.add_argument("--missed", type=Path, help="file that planted corruptions that were missed go to, with texts")
    made.add_argument("--differences", type=Path, help="file that what is read otherwise than written is added to")
    made.add_argument("--written", type=int, default=1000, help="how many values per kind and language are written")
    made.add_argument(
        "--trips", type=int, default=100_000, help="how many quantities per language are written and read"
    )
    made.add_argument("--before", type=Path, help="checkout of the reader of plain numbers (9720087), read in turns")
    made.add_argument("--corrupted", type=int, default=1000, help="how many pairs are corrupted per kind")
    options = parse(made, every=10, corrupted=50, written=50, trips=1000)
    folder = data_folder()
    report = Report(__file__, f"quantities, blocks of {BLOCK} lines: {options.blocks}", options)
    flags, correct, counts = [], [], Counter()
    seconds = 0.0
    for pair in pairs(folder, options):
        counts[pair.group] += 1
        began = cpu_seconds()
        found = compare_quantities(pair.source, pair.target, pair.src, pair.tgt)
        seconds += cpu_seconds() - began
        wrong = [verdict for verdict in found if verdict.grade == "wrong"]
        if wrong:
            flags.append((pair, wrong))
        elif found and pair.group in ("references", "PUD", "MuCoW"):
            correct.append((pair, [verdict for verdict in found if verdict.source and verdict.target]))
    write_flags(flags, options.flags, options.texts)
    read_before = gold()
    for group, n in counts.items():
        flagged = [pair for pair, _ in flags if pair.group == group]
        read = [verdict for pair in flagged if (verdict := read_before.get((pair.file, pair.line, pair.digest)))]
        wrongly = read.count("false alarm")
        report.add(f"{group}: flagged, % of pairs", 100 * len(flagged) / n, "", note=f"{len(flagged)} of {n}")
        share = 100 * (wrongly + len(flagged) - len(read)) / n
        note = f"{wrongly} of {len(read)} read were false alarms; unread ones count as such"
        report.add(
            f"{group}: flagged wrongly, % of pairs",
            share,
            "",
            bar=f"≤ {BARS[group]}" if group in BARS else "",
            note=note,
        )
    exchanged_flags = [pair for pair, wrong in flags if any(verdict.wrong == "exchanged" for verdict in wrong)]
    real = [p for p in exchanged_flags if read_before.get((p.file, p.line, p.digest)) == "real"]
    share = 100 * (len(exchanged_flags) - len(real)) / sum(counts.values())
    note = f"{len(exchanged_flags)} flags, {len(real)} of them read as real"
    report.add("exchange rule alone: wrong flags, % of pairs", share, "", bar="≤ 0.1", note=note)
    for name, (planted, found) in plant(correct, options.corrupted, options.missed).items():
        bar = f"≥ {PLANTINGS[name][1]:g}"
        report.add(
            f"{name}: detected, %",
            100 * found / planted if planted else float("nan"),
            "",
            bar=bar,
            note=f"{found} of {planted}",
        )
    planted, found, alarms = plant_fractions()
    note = f"{found} of {planted} in eight languages, {alarms} false alarms"
    report.add("bare fraction changed: detected, %", 100 * found / planted, "", bar="≥ 95", note=note)
    for languages, of in ((LANGUAGES, ""), (ADDED, " (nine added languages)")):
        for kind, by_language in agreement(options.written, languages, options.differences).items():
            right = sum(n for (_, reason), n in by_language.items() if not reason)
            mistakes = {row["reason"] for row in WORDS["explained"] if row["mistake"]}
            mistaken = sum(n for (_, reason), n in by_language.items() if reason in mistakes)
            differing = "; ".join(f"{lang} {n}: {why}" for (lang, why), n in sorted(by_language.items()) if why)
            note = f"{right} of {by_language.total()}; differing: {differing or 'none'}"
            share = 100 * right / (by_language.total() - mistaken)
            report.add(f"{kind}{of}: agreement, %", share, "", bar="≥ 99.5", note=note)
    for lang in (*LANGUAGES, *ADDED):
        failed = round_trips(lang, options.trips)
        note = f"of {options.trips:,}" + "".join(f"; {text} as {found}" for text, found in failed[:3])
        report.add(f"written and read again ({lang}): failures", len(failed), "", bar="≤ 0", note=note)
    for lang, attacks in WORDS["attacks"].items():
        slowest = max((growth(lang, attack) for attack in attacks), key=lambda row: row[0])
        note = f"{slowest[1]!r} repeated; {slowest[2]:.2f} s for {LONGEST:,} characters"
        report.add(f"time of ten times the text ({lang})", slowest[0], "", bar="≤ 15", note=note)
    report.add("pairs a second", sum(counts.values()) / seconds, "")
    for lang in ("en", "de", "fr", "es", "zh", "ja"):
        rate, before = sentences_a_second(folder, lang, options.before)
        report.add(f"PUD sentences a second ({lang})", rate, "", bar="≥ 2500")
        if before:
            note = f"{before:,.0f} sentences a second, in turns"
            report.add(
                f"of the rate of the reader of plain numbers ({lang})", rate / before, "", bar="≥ 0.5", note=note
            )
    report.write()


def gold() -> dict[tuple[str, int, str], str]:
    """What a reader found of flagged pairs, by file, line and digest."""
    if not GOLD.exists():
        return {}
    with GOLD.open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file, delimiter="\t")
        return {(row["file"], int(row["line"]), row["digest"]): row["verdict"] for row in rows}


# ----------------------------------------------------------------------------
# Planted corruptions: one quantity of a target that carries all of its source's is changed, by its kind.

Planting = Callable[[str, Verdict, Aligned, random.Random], str | None]
WORDS: dict[str, Any] = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
PERCENT = re.compile(r"\s?(?:[%％]|Prozent|per ?cent|percent|pour cent|por ciento|процент\w*|パーセント)")


def replaced(text: str, span: tuple[int, int], new: str) -> str:
    return text[: span[0]] + new + text[span[1] :]


def digits_of(target: str, verdict: Verdict) -> re.Match[str] | None:
    found = verdict.target
    return re.compile(r"[0-9][0-9.,]*").search(target, *found.span) if found is not None else None


def digit_changed(target: str, verdict: Verdict, pair: Aligned, rng: random.Random) -> str | None:
    run = digits_of(target, verdict)
    if run is None or verdict.target.kind == "identifier":
        return None
    place = run.start() + rng.choice([i for i, c in enumerate(run[0]) if c.isdigit()])
    return replaced(target, (place, place + 1), rng.choice([d for d in "123456789" if d != target[place]]))


def digits_transposed(target: str, verdict: Verdict, pair: Aligned, rng: random.Random) -> str | None:
    run = digits_of(target, verdict)
    places = (
        [i for i in range(run.start(), run.end() - 1) if target[i : i + 2].isdigit() and target[i] != target[i + 1]]
        if run
        else []
    )
    if not places or verdict.target.kind == "identifier":
        return None
    i = rng.choice(places)
    return target[:i] + target[i + 1] + target[i] + target[i + 2 :]


def separators_swapped(target: str, verdict: Verdict, pair: Aligned, rng: random.Random) -> str | None:
    run = digits_of(target, verdict)
    if (
        run is None
        or not re.fullmatch(r"[1-9]\d{0,2}[.,]\d{3}", run[0])
        or (verdict.target.kind != "cardinal" and not verdict.target.unit)
    ):
        return None
    return replaced(target, run.span(), run[0].translate(str.maketrans(".,", ",.")))


def words_swapped(table: list[tuple[str, str]], kinds: tuple[str, ...], before: int, after: int) -> Planting:
    def planted(target: str, verdict: Verdict, pair: Aligned, rng: random.Random) -> str | None:
        found = verdict.target
        if found is None or (kinds and found.kind not in kinds):
            return None
        start, end = max(0, found.span[0] - before), found.span[1] + after
        for old, new in sorted(table, key=lambda row: -len(row[0])):
            match = re.compile(rf"(?<![^\W\d])(?<!-){re.escape(old)}" if old[0].isascii() else re.escape(old)).search(
                target, start, end
            )
            if match and not _inside_a_word(old, target, match):
                return replaced(target, match.span(), new)
        return None

    return planted


def _inside_a_word(old: str, target: str, match: re.Match[str]) -> bool:
    """Whether changing *match* would leave no word (месяцевний, 毫英尺), which is no plausible corruption."""
    before, after = target[match.start() - 1 : match.start()], target[match.end() : match.end() + 1]
    if not old[-1].isalpha():
        return False
    return before in "毫厘分千平立" and before != "" if old[-1] >= "\u3040" else after.isalpha() and after < "\u3040"


def unit_changed(target: str, verdict: Verdict, pair: Aligned, rng: random.Random) -> str | None:
    """Another unit in place of one that both sides name."""
    if verdict.source is None or verdict.target is None or verdict.source.unit != verdict.target.unit:
        return None
    return words_swapped(WORDS["units"], ("measure", "money"), 4, 12)(target, verdict, pair, rng)


def percent_to(sign: str) -> Planting:
    def planted(target: str, verdict: Verdict, pair: Aligned, rng: random.Random) -> str | None:
        found = verdict.target
        if found is None or found.kind != "percent" or found.value == 100:
            return None
        if target[found.span[0] - 4 : found.span[0]] == "百分之":
            return replaced(target, (found.span[0] - 3, found.span[0]), "千分之" if sign else "")
        match = PERCENT.match(target, found.span[1])
        return replaced(target, match.span(), sign) if match else None

    return planted


def ordinal_changed(target: str, verdict: Verdict, pair: Aligned, rng: random.Random) -> str | None:
    found = verdict.target
    if found is None or found.kind != "ordinal":
        return None
    run = re.compile(r"\d+").search(target, *found.span)
    if run:
        return replaced(target, run.span(), str(int(run[0]) + rng.randint(1, 3)))
    words = WORDS["ordinals"].get(pair.tgt, "").split()
    if found.surface.strip("第") and pair.tgt in ("zh", "ja"):
        return replaced(
            target, found.span, found.surface.translate(str.maketrans("一二三四五六七八九", "四五六七八九一二三"))
        )
    for i, word in enumerate(words):
        if re.fullmatch(f"{word}[nrsm]?" if pair.tgt == "de" else word, found.surface.lower()):
            new = words[(i + rng.randint(1, 5)) % 10] + found.surface[len(word) :]
            return replaced(target, found.span, new)
    return None


def minus_added(target: str, verdict: Verdict, pair: Aligned, rng: random.Random) -> str | None:
    found = verdict.target
    if (
        found is None
        or found.kind not in ("cardinal", "percent", "measure", "money")
        or not found.surface[0].isdigit()
        or not found.value
    ):
        return None
    before = target[: found.span[0]].rstrip()[-1:]
    if before.isascii() or pair.tgt not in ("zh", "ja"):
        return None
    return replaced(target, (found.span[0], found.span[0]), "-")


def clock_shifted(target: str, verdict: Verdict, pair: Aligned, rng: random.Random) -> str | None:
    found = verdict.target
    if found is None or found.kind != "clock" or (verdict.source.unit, found.unit) != ("24", "24"):
        return None
    around = (found.span[0], found.span[1])
    text = target[slice(*around)]
    for old, new in WORDS["halves_of_the_day"]:
        if old in text:
            return replaced(target, around, text.replace(old, new))
    hour = re.match(r"\d{1,2}", text)
    if hour is None:
        return None
    return replaced(target, around, str((int(hour[0]) + 12) % 24) + text[hour.end() :])


def month_changed(target: str, verdict: Verdict, pair: Aligned, rng: random.Random) -> str | None:
    found = verdict.target
    if found is None or (found.kind, found.unit) != ("date", "month"):
        return None
    new = (int(found.value) + rng.randint(0, 10)) % 12 + 1
    if new == found.value:
        return None
    if any(c.isdigit() for c in found.surface):
        return replaced(target, found.span, re.sub(r"\d+", str(new), found.surface))
    if pair.tgt in ("zh", "ja"):
        return replaced(target, found.span, f"{new}月")
    return replaced(target, found.span, Locale.parse(pair.tgt).months["format"]["wide"][new])


def exchanged(target: str, verdict: Verdict, pair: Aligned, rng: random.Random) -> str | None:
    """Exchange with a second quantity beside another unit or of another kind."""
    first, quantities = verdict.target, find_quantities(target, pair.tgt)
    if (
        first is None
        or first.certainty < 1
        or first.kind not in ("cardinal", "percent", "measure", "money")
        or not first.surface.isdecimal()
    ):
        return None
    for second in quantities:
        apart = (second.kind, second.unit) != (first.kind, first.unit)
        if (
            apart
            and not second.soft
            and not first.soft
            and second.kind in ("percent", "measure", "money")
            and first.kind in ("percent", "measure", "money")
            and second.surface.isdecimal()
            and second.value != first.value
        ):
            a, b = sorted((first, second), key=lambda quantity: quantity.span)
            return replaced(replaced(target, b.span, a.surface), a.span, b.surface)
    return None


def fraction_changed(target: str, verdict: Verdict, pair: Aligned, rng: random.Random) -> str | None:
    """Another fraction in place of one that is a fraction on both sides."""
    if verdict.source is None or verdict.source.kind != "fraction":
        return None
    return words_swapped(WORDS["fraction_words"], ("fraction",), 0, 0)(target, verdict, pair, rng)


PLANTINGS: dict[str, tuple[Planting, float]] = {
    "digit changed": (digit_changed, 99),
    "order of digits": (digits_transposed, 99),
    "separators swapped": (separators_swapped, 99),
    "scale changed": (words_swapped(WORDS["scales"], ("cardinal", "money", "measure"), 0, 0), 99),
    "percent sign dropped": (percent_to(""), 95),
    "percent made ‰": (percent_to(" ‰"), 95),
    "ordinal changed": (ordinal_changed, 95),
    "fraction changed": (fraction_changed, 95),
    "minus added (zh, ja)": (minus_added, 95),
    "unit changed": (unit_changed, 95),
    "clock shifted by 12 h": (clock_shifted, 95),
    "month changed": (month_changed, 95),
    "two exchanged": (exchanged, 80),
}


# ----------------------------------------------------------------------------
# Agreement with independent writers: num2words, unicode-rbnf, and Babel with the formats of CLDR. Every difference
# has its reason in quantities.yaml; what a writer gets wrong counts neither for nor against.

SPOKEN = ("en", "de", "fr", "es", "it", "ru", "ja")
LANGUAGES = (*SPOKEN, "zh", "ta", "ne")
#: Languages that are data files alone.
ADDED = ("ar", "cs", "hi", "ko", "nl", "pl", "pt", "tr", "uk")


def written(n: int, languages: Iterable[str]) -> Iterator[tuple[str, str, str, list[tuple[Fraction, str]]]]:
    """Kind, language, text, and the values with units that it has to be read as."""
    rng = random.Random(0)
    for lang in languages:
        engine = RbnfEngine.for_language(lang) if RbnfEngine is not None else None
        for _ in range(n):
            whole = int(10 ** rng.uniform(0, 9))
            cents = Fraction(rng.randint(1, 10**6), 100)
            decimal = Decimal(cents.numerator) / Decimal(cents.denominator)
            compact = rng.randint(11, 999) * 10 ** rng.choice([5, 8])
            if lang in SPOKEN:
                yield "cardinal in words", lang, num2words(whole, lang=lang), [(Fraction(whole), "")]
                rank = rng.randint(2, 100)
                yield "ordinal in words", lang, num2words(rank, lang=lang, to="ordinal"), [(Fraction(rank), "")]
            if engine is not None:
                spelled = engine.format_number(whole).text_by_ruleset
                name = rng.choice([name for name in sorted(spelled) if re.match(WORDS["rulesets"], name)])
                yield "cardinal in words (CLDR)", lang, spelled[name], [(Fraction(whole), "")]
            yield "decimal", lang, numbers.format_decimal(decimal, locale=lang), [(cents, "")]
            yield (
                "percent",
                lang,
                numbers.format_percent(decimal / 100, "#,##0.## %", locale=lang),
                [(cents, "percent")],
            )
            style = "long" if "long" in Locale.parse(lang).compact_decimal_formats else "short"
            text = numbers.format_compact_decimal(compact, format_type=style, locale=lang, fraction_digits=2)
            yield "scale word", lang, text, [(Fraction(compact), "")]
            yield "money", lang, numbers.format_currency(decimal, "EUR", locale=lang), [(cents, "EUR")]
            unit, name = rng.choice(list(WORDS["cldr_units"].items()))
            count = rng.randint(2, 500)
            text = units.format_unit(count, unit, locale=lang)
            if unit not in text:  # which Babel writes where it knows no name
                yield "measure", lang, text, [(Fraction(count), name)]
            moment = datetime(
                rng.randint(1900, 2099), rng.randint(1, 12), rng.randint(1, 28), rng.randint(0, 23), rng.randint(1, 59)
            )
            date = [(Fraction(moment.day), ""), (Fraction(moment.month), "month"), (Fraction(moment.year), "")]
            yield "date", lang, dates.format_date(moment, "long", locale=lang), date
            minutes = Fraction(moment.hour * 60 + moment.minute)
            yield "clock time", lang, dates.format_time(moment, "short", locale=lang), [(minutes, "clock")]


def agrees(lang: str, text: str, expected: list[tuple[Fraction, str]]) -> bool:
    """Whether *text* is read as exactly these values, with the units that are named."""
    found = find_quantities(text, lang)
    wanted = list(expected)
    for quantity in found:
        fitting = [e for e in wanted if e[0] == quantity.value and e[1] in ("", quantity.unit, quantity.kind)]
        match = max(fitting, key=lambda e: e[1], default=None)
        if match is None:
            return False
        wanted.remove(match)
    return not wanted


def agreement(n: int, languages: Iterable[str], differences: Path | None) -> dict[str, Counter]:
    """By kind, how many texts of each language are read as they were meant, and how many differ, by the reason."""
    counts: dict[str, Counter] = defaultdict(Counter)
    rows = []
    for kind, lang, text, expected in written(n, languages):
        right = agrees(lang, text, expected)
        counts[kind][lang, "" if right else explained(kind, lang, text) or "unexplained"] += 1
        if not right:
            rows.append([kind, lang, text, *(f"{value} {unit}" for value, unit in expected)])
    if differences is not None:
        with differences.open("a", encoding="utf-8", newline="") as file:
            csv.writer(file, delimiter="\t", lineterminator="\n").writerows(rows)
    return counts


def explained(kind: str, lang: str, text: str) -> str:
    """Why a text is read otherwise than its writer meant it, where a reader of the differences found the reason."""
    return next(
        (
            row["reason"]
            for row in WORDS["explained"]
            if row["kind"] == kind and lang in row["lang"] and re.search(row["text"], text)
        ),
        "",
    )


# ----------------------------------------------------------------------------
# Round trips: what is written with a random value, form and sign is read as exactly that.

#: What stands after a number, and what it makes of it.
SIGNS = {"": ("cardinal", ""), " km": ("measure", "kilometer"), " kg": ("measure", "kilogram"), " %": ("percent", ""),
         " €": ("money", "EUR"), " °C": ("measure", "degree_Celsius")}  # fmt: skip


def round_trips(lang: str, n: int) -> list[tuple[str, str]]:
    """Of *n* quantities written in *lang*, those that are not read as written: text and what was read."""
    rng = random.Random(f"round trips {lang}")
    failed = []
    for _ in range(n):
        form, sign = rng.choice(forms(lang)), rng.choice(list(SIGNS))
        value = Decimal(int(10 ** rng.uniform(0, 9)))
        if form == "financial":
            value += 11  # 陆 alone is a name, 拾 alone a verb
        elif rng.random() < 0.5:
            value = (value / 10 ** rng.randint(1, 3)).normalize()
        text = write_number(value, lang, form) + sign
        found = [(q.value, q.kind, q.unit) for q in find_quantities(text, lang)]
        if found != [(Fraction(value), *SIGNS[sign])]:
            failed.append((text, str(found)))
    return failed


def plant_fractions() -> tuple[int, int, int]:
    """Of bare fractions: how many were exchanged for another value, how many of these were found, false alarms."""
    planted = found = alarms = 0
    for tgt, written in WORDS["fractions"].items():
        for i, source in enumerate(WORDS["fractions"]["en"].split("|")):
            for j, target in enumerate(written.split("|")):
                value = (
                    [q.value for q in find_quantities(source, "en")],
                    [q.value for q in find_quantities(WORDS["fractions"]["en"].split("|")[j], "en")],
                )
                wrong = any(v.grade == "wrong" for v in compare_quantities(source, target, "en", tgt))
                if value[0] == value[1]:
                    alarms += wrong
                else:
                    planted, found = planted + 1, found + wrong
                if i == j and wrong:
                    print(f"false alarm: {source} → {target} ({tgt})")
                if value[0] != value[1] and not wrong:
                    print(f"missed: {source} → {target} ({tgt})")
    return planted, found, alarms


def plant(correct: list[tuple[Aligned, list[Verdict]]], most: int, samples: Path | None) -> dict[str, tuple[int, int]]:
    """How many of each kind were planted, and how many of these were found."""
    counts: dict[str, tuple[int, int]] = {}
    missed = []
    for name, (planting, _) in PLANTINGS.items():
        rng = random.Random(name)
        order = list(correct)
        rng.shuffle(order)
        planted = found = 0
        for pair, verdicts in order:
            if planted >= most:
                break
            for verdict in rng.sample(verdicts, len(verdicts)):
                if verdict.source.certainty < 1 and verdict.source.kind != "ordinal":
                    continue
                changed = planting(pair.target, verdict, pair, rng)
                if changed is None or changed == pair.target:
                    continue
                planted += 1
                caught = any(v.grade == "wrong" for v in compare_quantities(pair.source, changed, pair.src, pair.tgt))
                found += caught
                if not caught:
                    missed.append((name, str(verdict), pair.source, changed))
                break
        counts[name] = (planted, found)
    if samples is not None:
        with samples.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, delimiter="\t", lineterminator="\n").writerows(missed)
    return counts


# ----------------------------------------------------------------------------
# Length: ten times the text takes about ten times as long, whatever it repeats.

LONGEST = 10**6


def growth(lang: str, attack: str) -> tuple[float, str, float]:
    """How many times as long ten times the text takes at worst, the text, and the seconds of the longest one."""
    gc.collect()
    gc.freeze()  # what was compared before is none of the reader's memory
    seconds = []
    for length in (10**3, 10**4, 10**5, LONGEST):
        text = (attack * (length // len(attack) + 1))[:length]
        turns = []
        for _ in range(2 if length == LONGEST else 3):
            began = cpu_seconds()
            for _ in range(max(1, 10**5 // length)):
                find_quantities(text, lang)
            turns.append((cpu_seconds() - began) / max(1, 10**5 // length))
        seconds.append(min(turns))
    return max(long / short for short, long in itertools.pairwise(seconds)), attack, seconds[-1]


#: Reads the texts on standard input once for each line after them, and prints the seconds of CPU time.
TURN = """
import json, sys, time
from nbkit.numbers import find_numbers
lang, texts = json.loads(sys.stdin.readline())
for _ in sys.stdin:
    began = time.process_time()
    for text in texts:
        find_numbers(text, lang)
    print(time.process_time() - began, flush=True)
"""


def sentences_a_second(folder: Path, lang: str, before: Path | None) -> tuple[float, float]:
    """How many sentences of ordinary text are read a second, in the fastest of five turns; by the old reader, too."""
    texts, turns, old_turns = read_conllu(folder / "pud" / f"{lang}.conllu"), [], []
    old = None
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(cores)})  # both readers on one core: two of a shared machine are not equally fast
    if before is not None:
        environment = {**os.environ, "PYTHONPATH": str(before.resolve())}
        old = subprocess.Popen(
            [sys.executable, "-c", TURN],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
            cwd=before,
        )
        print(json.dumps([lang, texts]), file=old.stdin, flush=True)
    gc.collect()
    gc.freeze()
    for _ in range(5):
        began = cpu_seconds()
        for text in texts:
            find_quantities(text, lang)
        turns.append(cpu_seconds() - began)
        if old is not None:
            print("again", file=old.stdin, flush=True)
            old_turns.append(float(old.stdout.readline()))
    if old is not None:
        old.communicate()
    os.sched_setaffinity(0, cores)
    return len(texts) / min(turns), len(texts) / min(old_turns) if old_turns else 0.0


def write_flags(flags, plain: Path | None, texts: Path | None) -> None:
    for path, full in ((plain, False), (texts, True)):
        if path is None:
            continue
        with path.open("w", encoding="utf-8", newline="") as file:
            rows = csv.writer(file, delimiter="\t", lineterminator="\n")
            for pair, wrong in flags:
                reasons = "; ".join(map(str, wrong))
                rest = [reasons, pair.source, pair.target] if full else [", ".join(verdict.wrong for verdict in wrong)]
                rows.writerow([pair.file, pair.line, pair.digest, *rest])


def pairs(folder: Path, options: Namespace) -> Iterator[Aligned]:
    """The pairs of the half of the blocks that was asked for."""
    for pair in all_pairs(folder, options.groups, options.every, options.offset):
        if counted(pair, options.seed) == (options.blocks == "count"):
            yield pair


def counted(pair: Aligned, seed: int) -> bool:
    """Whether the block is only counted. Translations of one source are drawn together (*wmt22*, *en*, block 7)."""
    corpus = "/".join(part for part in Path(pair.file).parts[:2] if "-" not in part and "." not in part)
    place = f"{seed} {corpus} {pair.src} {(pair.line - 1) // BLOCK}"
    return blake2b(place.encode(), digest_size=1).digest()[0] % 2 == 1


def all_pairs(folder: Path, groups: list[str], every: int, offset: int) -> Iterator[Aligned]:
    for direction in sorted((folder / "wmt").glob("wmt2[23]*/*-*")):
        src, tgt = direction.name.split("-")
        source = read(direction / f"source.{src}")
        files = [*sorted(direction.glob(f"reference-*.{tgt}")), *sorted(direction.glob(f"systems/*.{tgt}"))]
        for file in files:
            suites = "suites, " if "suites" in direction.parent.name else ""
            group, step = suites + group_of(file), 1 if "reference" in file.name else every
            if group in groups:
                name = str(file.relative_to(folder))
                for line, texts in enumerate(zip(source, read(file), strict=True), start=1):
                    if line % step == offset % step:
                        yield Aligned(group, name, line, src, tgt, *texts)
    if "PUD" in groups:
        source = read_conllu(folder / "pud" / "en.conllu")
        for tgt in ("de", "fr", "es", "zh", "ja"):
            target = read_conllu(folder / "pud" / f"{tgt}.conllu")
            for line, texts in enumerate(zip(source, target, strict=True), start=1):
                yield Aligned("PUD", f"pud/{tgt}.conllu", line, "en", tgt, *texts)
    if "MuCoW" in groups:
        for text in sorted((folder / "suites" / "mucow").glob("*.text.txt")):
            src, tgt = text.name[:5].split("-")
            name = f"suites/mucow/{src}-{tgt}.ref.txt"
            for line, texts in enumerate(zip(read(text), read(folder / name), strict=True), start=1):
                yield Aligned("MuCoW", name, line, src, tgt, *texts)
    if "Tatoeba" in groups:
        for line, row in enumerate(read(folder / "tatoeba" / "en-de.tsv")[1:], start=1):
            yield Aligned("Tatoeba", "tatoeba/en-de.tsv", line, "en", "de", *row.split("\t")[:2])
    if "Multi30k" in groups:
        for tgt in ("de", "fr"):
            source, target = (read(folder / "multi30k" / f"train.{lang}") for lang in ("en", tgt))
            for line, texts in enumerate(zip(source, target, strict=True), start=1):
                yield Aligned("Multi30k", f"multi30k/train.{tgt}", line, "en", tgt, *texts)


def group_of(file: Path) -> str:
    if file.name.startswith("reference"):
        return "references"
    if "NLLB" in file.name:
        return "NLLB"
    return "strong systems" if STRONG.search(file.name) else "other systems"


def read(path: Path) -> list[str]:
    return (
        path.read_text(encoding="utf-8").splitlines()
        if path.suffix == ".tsv"
        else path.read_text(encoding="utf-8").split("\n")[:-1]
    )


def read_conllu(path: Path) -> list[str]:
    """The texts of a treebank, by sentence id."""
    text = path.read_text(encoding="utf-8")
    return [match[1] for match in re.finditer(r"^# text = (.*)$", text, re.MULTILINE)]


if __name__ == "__main__":
    main()
