"""How often the sense finder is right, and how often it decides, on decisions that a reader made.

    NBKIT_DATA=… python benchmarks/senses.py [--part look|count|all] [--quick] [--wrong]

Reads ``gold/senses.tsv`` (see ``gold/README.md``): references into the data, each with the sense that a reader saw in
the translation. Texts are parsed by the pipelines in ``models/``, and linked by eflomal over all pairs of Multi30k and
Tatoeba and the first lines of the WMT files that the set points into; parses and links are remembered in the cache.

Precision is the share of the decided rows whose sense is the reader's. A row for which the reader saw no sense counts
as wrong where one is decided, but for a word that both senses share and that the reader told by its context: there
that sense is right. As such rows are often words of the lexicon in another meaning, precision among the rows with a
sense stands beside it. Coverage is the share of the rows with a sense that are decided. Bar: the precision of the rule
(linked nouns) is 0.97 at least. ``--wrong`` prints every wrong decision, for those who mend the rules: on the part
``look`` alone, as ``count`` is held out.

Then Multi30k's training set is counted: how many homographs the rule and its variants decide, and why not the others.
"""

from __future__ import annotations

import csv
import hashlib
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from reporting import Report, data_folder, need, parse, parser, skip

from nbkit.corpora.homographs import HomographLexicon, load_homographs
from nbkit.measure.aligners import load_aligner
from nbkit.measure.bleu import cut
from nbkit.measure.senses import BY_GENDER, DECIDED, NO_NOUN, OUTSIDE, REACHES, Sense, SenseFinder
from nbkit.measure.statistics import share_interval
from nbkit.store import Store
from nbkit.studies.disambiguation import STUDY, DisambiguationParams
from nbkit.studies.disambiguation.mining import fold_counts
from nbkit.text.parsers import parse_remembered
from nbkit.text.sentences import Text

BAR = 0.97
GOLD = Path(__file__).with_name("gold") / "senses.tsv"
#: Settings of the finder; the first one is the rule.
VARIANTS: dict[str, dict[str, Any]] = {
    "linked nouns (the rule)": {},
    "linked words of all kinds": {"nouns": "any"},
    "nouns by tag or capital": {"nouns": "tagged_or_capital"},
    "beginnings of compounds, too": {"matching": "parts"},
    "and nouns within ±3 words": {"reach": "window"},
    "and the whole translation": {"reach": "translation"},
}

Row = dict[str, str]


def main() -> None:
    made = parser(__doc__, repeat=1)
    made.add_argument("--part", choices=["look", "count", "all"], default="all", help="which rows")
    made.add_argument("--wrong", action="store_true", help="print the wrong decisions on the part 'look'")
    made.add_argument("--body", type=int, default=50_000, help="lines of Multi30k and of Tatoeba that links learn from")
    made.add_argument("--wmt", type=int, default=1_500, help="lines of each WMT file that links learn from")
    options = parse(made, body=5_000, wmt=300)
    folder = data_folder()
    need("spacy", "eflomal")
    rows = [row for row in read_gold() if options.part in ("all", row["part"])]
    texts = [text_of(row, folder) for row in rows]
    report = Report(__file__, "Senses told by the finder, against a reader's decisions", options)
    sources, targets, links = linked(texts, rows, folder, options.body, options.wmt)
    places = [place_of(row, source, text) for row, source, (text, _) in zip(rows, sources, texts, strict=True)]
    for name, settings in VARIANTS.items():
        reach, others = settings.get("reach", "links"), {key: settings[key] for key in settings if key != "reach"}
        finders = {each: SenseFinder(lexicon_of(each, folder), **others) for each in ("published", "own")}
        found: list[Sense | None] = []
        for row, source, target, each, place in zip(rows, sources, targets, links, places, strict=True):
            senses = finders[row["lexicon"]].senses(source, target, each, reach)
            found.append(next((s for s in senses if s.token == place and s.homograph == row["homograph"]), None))
        is_rule = not settings
        add_rates(report, name, rows, found, is_rule)
        if is_rule:
            for draw in ("plain", "rare", "verb"):
                own = [(row, sense) for row, sense in zip(rows, found, strict=True) if row["draw"] == draw]
                add_rates(report, f"{name}: {draw} draw", [row for row, _ in own], [sense for _, sense in own], False)
            reasons = Counter(sense.reason or "decided" if sense else "no homograph found" for sense in found)
            report.remark("The rule: " + ", ".join(f"{n} {reason}" for reason, n in reasons.most_common()))
            verbs = [sense for row, sense in zip(rows, found, strict=True) if row["reason"].startswith("verb")]
            aside = sum(sense is None or sense.reason == NO_NOUN for sense in verbs)
            report.remark(f"Of {len(verbs)} verbs that are tagged as nouns, {aside} are set aside as such")
        if options.wrong and name in list(VARIANTS)[:1] + list(VARIANTS)[-3:]:
            print_wrong(rows, found, texts, name)
    if not options.quick:
        add_corpus(report, folder)
    report.write()


def add_corpus(report: Report, folder: Path) -> None:
    """What the rule and its variants decide on Multi30k's training set."""
    parsers = {lang: str(folder / "models" / f"{lang}_ud_sm") for lang in ("en", "de")}
    lexicon = str(folder / "homographs" / "en-de.sense_clusters.json")
    params = DisambiguationParams(
        models=[], masked_lm=None, causal_lm=None, training_corpus="multi30k:train", training_pairs=None,
        parsers=parsers, lexicon=lexicon, aligner="eflomal", hypothesis_aligner="eflomal",
    )  # fmt: skip
    reached = fold_counts(STUDY.read(params, "senses"))(-1).reached
    for reach in REACHES:
        own = Counter({reason: n for (name, reason), n in reached.items() if name == reach})
        decided, counted = own[DECIDED] + own[BY_GENDER], own.total() - sum(own[reason] for reason in OUTSIDE)
        reasons = ", ".join(f"{n} {reason}" for reason, n in own.most_common() if reason not in (DECIDED, BY_GENDER))
        report.add(
            f"Multi30k, decided: {reach}", decided, "", note=f"of {counted}, {own[BY_GENDER]} by gender; {reasons}"
        )


def add_rates(report: Report, name: str, rows: list[Row], found: list[Sense | None], has_bar: bool) -> None:
    """Precision with its interval, and coverage."""
    decided = [(row, sense.cluster) for row, sense in zip(rows, found, strict=True) if sense and sense.cluster]
    right = sum(is_right(row, cluster) for row, cluster in decided)
    rate = share_interval([float(is_right(row, cluster)) for row, cluster in decided])
    with_sense = sum(row["verdict"] != "none" for row in rows)
    covered = sum(row["verdict"] != "none" for row, _ in decided)
    hits = [float(is_right(row, cluster)) for row, cluster in decided if row["verdict"] != "none"]
    among = share_interval(hits)
    note = f"{right} of {len(decided)} [{rate.low:.3f}, {rate.high:.3f}]"
    report.add(f"precision, {name}", rate.mean, "", bar=f"≥ {BAR}" if has_bar else "", note=note)
    note = f"{sum(hits):.0f} of {len(hits)} [{among.low:.3f}, {among.high:.3f}]"
    report.add(f"precision where there is a sense, {name}", among.mean, "", note=note)
    report.add(f"coverage, {name}", covered / max(with_sense, 1), "", note=f"{covered} of {with_sense}")


def is_right(row: Row, cluster: str | None) -> bool:
    """Whether a decision is the reader's: the verdict, or what the context shows of a word that senses share."""
    context = re.search(r", by context (\w+)", row["reason"])
    return cluster == (context[1] if context else row["verdict"])


def print_wrong(rows: list[Row], found: list[Sense | None], texts: list[tuple[str, str]], name: str) -> None:
    for row, sense, (source, target) in zip(rows, found, texts, strict=True):
        if row["part"] == "look" and sense and sense.cluster and not is_right(row, sense.cluster):
            print(
                f"WRONG {name}: {sense.cluster}",
                row["homograph"],
                row["verdict"],
                row["reason"],
                source,
                target,
                sep=" | ",
            )


def read_gold() -> list[Row]:
    with GOLD.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))


def text_of(row: Row, folder: Path) -> tuple[str, str]:
    """Source and translation of a row; skips the script where they are not those that were judged."""
    source, target = pair_of(folder / row["file"], folder / row["target_file"], int(row["line"]) - 1)
    digest = hashlib.blake2b(f"{source}\t{target}".encode(), digest_size=8).hexdigest()
    if digest != row["digest"]:
        skip(f"{row['file']}:{row['line']} is another text than the one judged")
    return source, target


def pair_of(file: Path, target_file: Path, line: int) -> tuple[str, str]:
    source = lines_of(file)[line]
    if file == target_file:
        source, target = source.split("\t")[:2]
        return source, target
    return source, lines_of(target_file)[line]


@cache
def lines_of(path: Path) -> list[str]:
    """By line feeds alone: texts from the web hold other characters that Python takes for ends of lines."""
    if not path.is_file():
        skip(f"{path} is missing")
    return [line.rstrip("\r") for line in path.read_text(encoding="utf-8").split("\n")]


@cache
def lexicon_of(name: str, folder: Path) -> HomographLexicon:
    if name == "own":
        return load_homographs("own")
    return load_homographs(str(folder / "homographs" / "en-de.sense_clusters.json"), on_conflict="drop")


def linked(
    texts: list[tuple[str, str]], rows: list[Row], folder: Path, body: int, wmt: int
) -> tuple[list[Text], list[Text], list[Any]]:
    """The rows' texts, parsed, with links that were learned on a larger body of the same corpora."""
    store = Store()
    sides = []
    for lang, side in zip(("en", "de"), zip(*texts, strict=True), strict=True):
        model = str(folder / "models" / f"{lang}_ud_sm")
        sides.append(list(parse_remembered(list(side), model, lang, store=store)))
    own = [(source.tokens, target.tokens) for source, target in zip(*sides, strict=True)]
    others = [
        (tuple(cut(source, "en")), tuple(cut(target, "de"))) for source, target in around(rows, folder, body, wmt)
    ]
    links = load_aligner("eflomal", "en", "de", store=store).align([*own, *others], progress=False)
    return sides[0], sides[1], [each for each, _ in zip(links, own, strict=False)]


def around(rows: list[Row], folder: Path, body: int, wmt: int) -> Iterator[tuple[str, str]]:
    """Pairs of the files that the rows point into."""
    for file, target_file in sorted({(row["file"], row["target_file"]) for row in rows}):
        most = wmt if file.startswith("wmt") else body
        for line in range(min(most, len(lines_of(folder / file)))):
            if lines_of(folder / file)[line].strip():
                yield pair_of(folder / file, folder / target_file, line)


def place_of(row: Row, source: Text, text: str) -> int:
    """The token of the occurrence that was judged; -1 where the parser cut the text in another way."""
    forms = "|".join(surface_forms(row["homograph"]))
    found = [match.start() for match in re.finditer(rf"(?<!\w)(?:{forms})(?!\w)", text, re.IGNORECASE)]
    wanted, end = found[int(row["occurrence"])], 0
    for place, token in enumerate(source.tokens):
        start = text.find(token, end)
        if start < 0:
            return -1
        end = start + len(token)
        if start <= wanted < end:
            return place
    return -1


def surface_forms(word: str) -> tuple[str, str]:
    """Singular and plural, which occurrences are counted of.

    >>> surface_forms("battery"), surface_forms("watch")
    (('battery', 'batteries'), ('watch', 'watches'))
    """
    if word == "calf":
        return word, "calves"
    if re.search(r"[^aeiou]y$", word):
        return word, word[:-1] + "ies"
    return word, word + ("es" if re.search(r"(s|x|z|ch|sh)$", word) else "s")


if __name__ == "__main__":
    main()
