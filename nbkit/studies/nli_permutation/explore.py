"""One pair of sentences with its words permuted: what a classifier says to it as written and to each permutation."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
import pandas as pd

from nbkit.corpora.nli import LABELS, NliPair, tokenised, tokenizer_for
from nbkit.errors import NbkitError
from nbkit.figures import styles
from nbkit.models import iter_classified
from nbkit.studies.explore import Asked, Choice, Probe, Shown, lines, said
from nbkit.studies.nli_permutation.items import pairs_of, permute

#: What stands between premise and hypothesis.
BETWEEN = " / "
_REFUSED = "no label"
_ROWS = 20  # permutations that are listed


@dataclass(frozen=True)
class Answers:
    """A pair, its permuted texts, and labels.

    texts: the pair as written, re-joined in its own order (the control), and permuted. labels, probabilities: one for
    each. wanted: the gold label, or without one the classifier's own label of the original.
    """

    pair: NliPair
    texts: tuple[tuple[str, str], ...]
    labels: tuple[str, ...]
    probabilities: tuple[float, ...]
    wanted: str

    @property
    def accepted(self) -> int:
        """How many permutations get the wanted label."""
        return self.labels[2:].count(self.wanted)


def probe(asked: Asked) -> Answers:
    """The pair and its permutations, classified. Raises `NbkitError` for a pair with too few permutations."""
    pair = asked.known or _typed(asked)
    n = asked.options["permutations"]
    if n < 1:
        raise NbkitError("Permutations: at least 1 expected.")
    params = asked.params.model_copy(update={"permutations": n})
    permuted = permute(params, pair)
    if permuted is None:
        raise NbkitError(
            f"One of the sentences has fewer than {n} orders in which no word keeps its place: ask for fewer "
            "permutations, or type longer sentences."
        )
    texts = [(pair.premise.text, pair.hypothesis.text), permuted.control, *permuted.texts()]
    rows = iter_classified(
        asked.system, texts, lang=asked.source, store=asked.store, progress=False, **asked.params.running
    )
    chances = np.array(list(rows))
    refused = np.isnan(chances).any(axis=1)
    labels = [_REFUSED if none else LABELS[row.argmax()] for none, row in zip(refused, chances, strict=True)]
    return Answers(pair, tuple(texts), tuple(labels), tuple(chances.max(axis=1).tolist()), pair.label or labels[0])


def _typed(asked: Asked) -> NliPair:
    sides = [side.strip() for side in asked.sentence.split(BETWEEN)]
    if len(sides) != 2 or not all(sides):
        raise NbkitError(f"Type a premise and a hypothesis with '{BETWEEN}' between them.")
    spec = tokenizer_for(asked.source, dict(asked.params.parsers))
    premise, hypothesis = tokenised(sides, spec, asked.source, asked.store)
    return NliPair("typed", premise, hypothesis, "")


def as_html(result: Answers) -> str:
    """The pair, its labels, the share of accepted permutations, and the first permutations with their labels."""
    gold = result.pair.label
    html = lines(
        {
            "premise": styles.marked(result.texts[0][0], []),
            "hypothesis": styles.marked(result.texts[0][1], []),
            "gold label": styles.breakable(gold),
            "label": styles.breakable(result.labels[0]),
            "label of the control": styles.breakable(result.labels[1]),
        }
    )
    n = len(result.labels) - 2
    counts = ", ".join(f"{label} {times}" for label, times in Counter(result.labels[2:]).most_common())
    if result.wanted == _REFUSED:
        html += said(f"The classifier gives the pair as written no label. Of {n} permutations: {counts}.")
    else:
        whose = "the gold label" if gold else "the label of the pair as written"
        share = f"{result.accepted} of {n} permutations ({result.accepted / n:.0%}) get {whose}, {result.wanted}"
        html += said(f"{share}. All: {counts}.")
    columns = ["premise", "hypothesis", "label", "probability"]
    rows = [(*texts, label, chance) for texts, label, chance in
            zip(result.texts[2:], result.labels[2:], result.probabilities[2:], strict=True)]  # fmt: skip
    shown = pd.DataFrame(rows[:_ROWS], columns=columns)
    caption = "Permutations" if n <= _ROWS else f"The first {_ROWS} of {n} permutations"
    return html + styles.styled(shown, caption=caption, headings={"hypothesis": "hypothesis"}).to_html()


def _shown(asked: Asked) -> Shown:
    result = probe(asked)
    return Shown(as_html(result), result)


def _examples(asked: Asked, n: int) -> dict[str, NliPair]:
    found = pairs_of(asked.params, asked.params.corpora[0], n)
    return {f"{pair.premise.text}{BETWEEN}{pair.hypothesis.text}": pair for pair in found}


PROBE = Probe(_shown, _examples, (Choice("permutations", "Permutations", 20),), asks="Pair")
