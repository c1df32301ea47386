"""One sentence's idioms: found by the phrase matcher, translated, and judged by LitTER step by step."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import pandas as pd

from nbkit.corpora.idioms import IdiomPair, annotate
from nbkit.errors import NbkitError
from nbkit.figures import styles
from nbkit.measure.literal import LiteralJudgement, Litter
from nbkit.studies.explore import Asked, Choice, Probe, Shown, lines, said
from nbkit.studies.idioms.items import pair_of, phrases, source_texts
from nbkit.studies.idioms.links import dictionaries, token_spans
from nbkit.text.phrases import PhraseMatcher
from nbkit.text.sentences import Pair, Sentence, Text

_LITERAL = 'mark style="background-color: #f9c9c4"'


@dataclass(frozen=True)
class Judged:
    """A sentence, its translation, and its idioms, each with LitTER's judgement: None without a dictionary, and why."""

    source: str
    translation: str
    reference: str
    idioms: tuple[tuple[IdiomPair, LiteralJudgement | None], ...]
    problem: str = ""


def probe(asked: Asked) -> Judged:
    """The sentence's idioms and what the system makes of them. A reference frees the words that it has itself."""
    params, known = asked.params, asked.known
    reference = asked.options["reference"].strip() or (known[0].target if known else "")
    found = known or _found(asked, reference)
    [translation] = params.translate(
        asked.system, [asked.sentence], asked.source, asked.target, asked.store, progress=False
    )
    if not found:
        return Judged(asked.sentence, translation, reference, ())
    try:
        dictionary, _ = dictionaries(params.study.read(params, "dictionary"))
    except NbkitError as error:
        return Judged(asked.sentence, translation, reference, tuple((each, None) for each in found), str(error))
    litter = Litter(dictionary, asked.source, asked.target)
    judged = ((each, litter.judge_spans(each.words, reference, translation)) for each in found)
    return Judged(asked.sentence, translation, reference, tuple(judged))


def _found(asked: Asked, reference: str) -> tuple[IdiomPair, ...]:
    """The idioms of a typed sentence: those of the phrase list, and of the run's data, whose list may be another."""
    [text] = source_texts(asked.params, [asked.sentence])
    names = dict.fromkeys([*phrases(asked.params), *(pair.idiom for pair in _pairs(asked))])
    target = Text((Sentence((reference or "–",), asked.target),))
    return annotate(Pair("typed", text, target), _matcher(tuple(names)))


_matcher = lru_cache(maxsize=2)(PhraseMatcher)


def _pairs(asked: Asked) -> tuple[IdiomPair, ...]:
    items = asked.params.study.read(asked.params, "items")
    return tuple(map(pair_of, items[items["target_language"] == asked.target].to_dict("records")))


def as_html(result: Judged, target: str) -> str:
    """The idioms and their literal translations marked, blocklists and verdict of each."""
    triggers: list[tuple[int, int]] = []
    tables = []
    for idiom, judgement in result.idioms:
        verdict = "no verdict" if judgement is None else _verdict(judgement)
        tables.append(f"<p><b>{styles.breakable(idiom.idiom)}</b>: {styles.breakable(verdict)}</p>")
        if judgement is not None and judgement.covered:
            places = token_spans(result.translation, target)
            triggers += [places[token] for trigger in judgement.triggers for token in trigger.tokens]
            tables.append(_blocklists(judgement))
    html = lines(
        {
            "source": styles.marked(result.source, [span for idiom, _ in result.idioms for span in idiom.spans]),
            "reference": styles.marked(result.reference, []),
            "translation": styles.marked(result.translation, triggers, _LITERAL),
        }
    )
    if not result.idioms:
        tables.append(said("No idiom of the phrase list was found in the sentence."))
    if result.problem:
        tables.append(said(f"Literal translations cannot be recognised: {result.problem}"))
    return html + "".join(tables)


def _verdict(judgement: LiteralJudgement) -> str:
    if not judgement.covered:
        return "undecided: none of its words is in the dictionary"
    if not judgement.error:
        return "no literal translation"
    return f"translated literally ({', '.join(trigger.translation for trigger in judgement.triggers)})"


def _blocklists(judgement: LiteralJudgement) -> str:
    rows = [
        (each.word, ", ".join(each.translations), "yes" if each in judgement.blocklists else "no: in the reference")
        for each in judgement.candidates
    ]
    columns = ["word of the idiom", "literal translations", "blocked"]
    return styles.styled(pd.DataFrame(rows, columns=columns), caption="Blocklists").to_html()


def _shown(asked: Asked) -> Shown:
    result = probe(asked)
    return Shown(as_html(result, asked.target), result)


def _examples(asked: Asked, n: int) -> dict[str, tuple[IdiomPair, ...]]:
    """Sentences with different idioms first; of one with several, all."""
    by_source: dict[str, list[IdiomPair]] = {}
    for pair in _pairs(asked):
        by_source.setdefault(pair.source, []).append(pair)
    firsts = {pairs[0].idiom: source for source, pairs in reversed(by_source.items())}
    ordered = dict.fromkeys([*reversed(firsts.values()), *by_source])
    return {source: tuple(by_source[source]) for source in list(ordered)[:n]}


PROBE = Probe(_shown, _examples, (Choice("reference", "Reference"),))
