"""One sentence at a time: its tree, its perturbed form, both translations and all scores.

`probe` does the work and can be called from any cell; `PROBE` is what the panel of ``notebooks/explore.ipynb`` shows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import islice
from typing import Any

import pandas as pd

from nbkit.corpora import Pair, load_pairs
from nbkit.errors import NbkitError
from nbkit.figures import styles, theme
from nbkit.measure import load_metric
from nbkit.models import Decoding, translate_remembered
from nbkit.perturb import NAMES, PERTURBATIONS, Span, label, moved_spans, perturb_text
from nbkit.store import Store
from nbkit.studies.explore import Asked, Choice, Probe, Shown, lines, said
from nbkit.text.sentences import Sentence, Text

METRICS = ("bleu", "levenshtein", "chrf")


@dataclass(frozen=True)
class Probed:
    """What one perturbation does to one sentence and to its translation.

    perturbed is None where the perturbation does not apply; reference and perturbed_reference are None if
    there is none. scores: one row per score, one column per metric. moved, moved_in_reference: where in the perturbed
    forms the words stand that moved (`moved_spans`).
    """

    source: str
    perturbed: str | None
    hypothesis: str
    perturbed_hypothesis: str | None
    reference: str | None
    perturbed_reference: str | None
    scores: pd.DataFrame
    moved: tuple[Span, ...] = ()
    moved_in_reference: tuple[Span, ...] = ()


def probe(
    text: Text,
    perturbation: str,
    model: str,
    language: str,
    *,
    reference: Text | None = None,
    metrics: Sequence[str] = METRICS,
    seed: int = 0,
    draw: int = 0,
    beams: int = 4,
    store: Store | None = None,
) -> Probed:
    """Perturb *text*, translate both forms into *language* and score them with every metric.

    draw: number of the draw of a random perturbation. Scores (§3 of the paper): β, β₁ and β₂ need a reference;
    α, and the similarity of the two translations, do not.
    Raises `UnknownNameError` for a name, `ModelError` for a model that cannot be had.
    """
    perturbed, moved = _reordered(text, perturbation, seed, draw)
    wanted = [text.text] if perturbed is None else [text.text, perturbed]
    hypotheses = translate_remembered(
        model, wanted, text.lang, language, Decoding(beams=beams), store=store or Store(), progress=False
    )
    perturbed_reference, moved_in_reference = _reordered(reference, perturbation, seed, draw)
    texts: dict[str, Any] = {
        "source": text.text,
        "perturbed": perturbed,
        "hypothesis": hypotheses[0],
        "perturbed_hypothesis": None if perturbed is None else hypotheses[1],
        "reference": None if reference is None else reference.text,
        "perturbed_reference": perturbed_reference,
    }
    columns = {theme.metric_label(name): _scores(texts, name, text.lang, language) for name in metrics}
    scores = pd.DataFrame(columns).rename_axis("score").reset_index()
    return Probed(**texts, scores=scores, moved=moved, moved_in_reference=moved_in_reference)


def _reordered(text: Text | None, perturbation: str, seed: int, draw: int) -> tuple[str | None, tuple[Span, ...]]:
    """*text* perturbed, and where the words stand that moved; None where the perturbation does not apply."""
    orders = None if text is None else perturb_text(text, perturbation, seed=seed, draw=draw, min_tokens=1)
    if text is None or orders is None:
        return None, ()
    perturbed = text.reorder(orders)
    return perturbed, moved_spans(text, orders, perturbed)


#: What is compared with what in a row of `Probed.scores`.
_COMPARED = {
    "β  translation, reference": ("hypothesis", "reference"),
    "β₁  translation of the perturbed, reference": ("perturbed_hypothesis", "reference"),
    "β₂  translation of the perturbed, perturbed reference": ("perturbed_hypothesis", "perturbed_reference"),
    "α  perturbed, source": ("perturbed", "source"),
    "translation of the perturbed, translation": ("perturbed_hypothesis", "hypothesis"),
}


def _scores(texts: Mapping[str, str | None], metric: str, source: str, target: str) -> dict[str, float]:
    kappa, found = load_metric(metric), {}
    for name, (of, with_) in _COMPARED.items():
        one, other = texts[of], texts[with_]
        lang = source if with_ == "source" else target
        found[name] = float("nan") if one is None or other is None else float(kappa.scores([one], [other], lang)[0])
    return found


def tree(sentence: Sentence) -> str:
    """The dependency tree as SVG (displaCy). Raises `NbkitError` where the sentence has none.

    >>> "<svg" in tree(Sentence(("Tom", "sleeps"), "en", heads=(1, -1), deprels=("nsubj", "root")))
    True
    """
    from spacy import displacy

    if sentence.heads is None:
        raise NbkitError(f"Sentence {sentence.joined!r} has no dependency tree: parse it first")
    tags = sentence.upos or [""] * len(sentence)
    relations = sentence.deprels or [""] * len(sentence)
    words = [{"text": token, "tag": tag} for token, tag in zip(sentence.tokens, tags, strict=True)]
    arcs = [
        {
            "start": min(token, head),
            "end": max(token, head),
            "label": escape(relation),
            "dir": "left" if token < head else "right",
        }
        for token, (head, relation) in enumerate(zip(sentence.heads, relations, strict=True))
        if head >= 0
    ]
    # Arcs that begin close to their words are wide enough for labels that can be read between neighbours, too.
    options = {"distance": 110, "word_spacing": 30, "arrow_spacing": 6, "offset_x": 40, "bg": "#ffffff"}
    return displacy.render({"words": words, "arcs": arcs}, style="dep", manual=True, jupyter=False, options=options)


def as_html(text: Text, result: Probed, perturbation: str) -> str:
    """Tree, texts and scores as HTML; every text is escaped."""
    trees = "".join(tree(sentence) if sentence.heads is not None else "" for sentence in text.sentences)
    parts = [f'<div style="overflow-x: auto">{trees}</div>'] if trees else []
    if result.perturbed is None:
        parts.append(said(f"{label(perturbation)} does not apply to this sentence."))
    texts = {
        "source": (result.source, ()),
        "perturbed": (result.perturbed, result.moved),
        "reference": (result.reference, ()),
        "perturbed reference": (result.perturbed_reference, result.moved_in_reference),
        "translation": (result.hypothesis, ()),
        "translation of the perturbed": (result.perturbed_hypothesis, ()),
    }
    parts.append(lines({name: styles.marked(shown or "", moved) for name, (shown, moved) in texts.items()}))
    parts.append(styles.styled(result.scores, caption="Scores; 1 is the same text").to_html())
    return "".join(parts)


def _shown(asked: Asked) -> Shown:
    pair: Pair | None = asked.known
    text, reference = (asked.text, None) if pair is None else (pair.source, pair.target)
    perturbation, params = asked.options["perturbation"], asked.params
    if text.sentences[0].heads is None:
        try:
            _reordered(text, perturbation, 0, 0)
        except NbkitError as error:
            way_out = f"name a pipeline for '{asked.source}' (parsers), or choose a shuffle or Reversed"
            raise NbkitError(f"This sentence is not parsed; {way_out}. ({error})") from None
    result = probe(
        text, perturbation, asked.system, asked.target, reference=reference, metrics=params.metrics, seed=params.seed,
        draw=asked.options["draw"], beams=params.beams, store=asked.store,
    )  # fmt: skip
    return Shown(as_html(text, result, perturbation), result)


def _examples(asked: Asked, n: int) -> dict[str, Pair]:
    params = asked.params
    pairs = load_pairs(
        params.corpus, asked.source, asked.target, n=n, parsers=params.parsers or None, store=asked.store
    )
    return {pair.source.text: pair for pair in islice(pairs, n)}


def _perturbations(source: str) -> list[tuple[str, str]]:
    known = [*NAMES, *(name for name in PERTURBATIONS.names() if name not in NAMES)]
    return [(label(name), name) for name in known]


PROBE = Probe(
    _shown,
    _examples,
    (Choice("perturbation", "Perturbation", choices=_perturbations), Choice("draw", "Draw", 0)),
    params={"metrics": list(METRICS)},
)
