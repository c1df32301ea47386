"""One sentence at a time: its tree, its perturbed form, both translations and all scores.

`probe` does the work and can be called from any cell; `Explorer` is the panel of ``notebooks/explore.ipynb``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import islice
from typing import Any

import ipywidgets as widgets
import pandas as pd

from nbkit.corpora import Pair, load_pairs
from nbkit.errors import NbkitError
from nbkit.figures import styles, theme
from nbkit.languages import TARGETS
from nbkit.measure import load_metric
from nbkit.models import MODELS, Decoding, translate_remembered
from nbkit.perturb import NAMES, PERTURBATIONS, label, perturb_text
from nbkit.store import Store
from nbkit.studies.word_order.steps import Span, moved_spans
from nbkit.text.parsers import load_parser, parser_for
from nbkit.text.sentences import Sentence, Text

METRICS = ("bleu", "levenshtein", "chrf")


@dataclass(frozen=True)
class Probe:
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
) -> Probe:
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
    return Probe(**texts, scores=scores, moved=moved, moved_in_reference=moved_in_reference)


def _reordered(text: Text | None, perturbation: str, seed: int, draw: int) -> tuple[str | None, tuple[Span, ...]]:
    """*text* perturbed, and where the words stand that moved; None where the perturbation does not apply."""
    orders = None if text is None else perturb_text(text, perturbation, seed=seed, draw=draw, min_tokens=1)
    if text is None or orders is None:
        return None, ()
    perturbed = text.reorder(orders)
    return perturbed, moved_spans(text, orders, perturbed)


#: What is compared with what in a row of `Probe.scores`.
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


def as_html(text: Text, result: Probe, perturbation: str) -> str:
    """Tree, texts and scores as HTML; every text is escaped."""
    trees = "".join(tree(sentence) if sentence.heads is not None else "" for sentence in text.sentences)
    parts = [f'<div style="overflow-x: auto">{trees}</div>'] if trees else []
    if result.perturbed is None:
        parts.append(f"<p>{escape(label(perturbation))} does not apply to this sentence.</p>")
    texts = {
        "source": (result.source, ()),
        "perturbed": (result.perturbed, result.moved),
        "reference": (result.reference, ()),
        "perturbed reference": (result.perturbed_reference, result.moved_in_reference),
        "translation": (result.hypothesis, ()),
        "translation of the perturbed": (result.perturbed_hypothesis, ()),
    }
    cell = "text-align: left; padding: 3px 14px 3px 0; vertical-align: top"
    rows = (
        f'<tr><th style="{cell}">{name}</th><td style="{cell}">{styles.marked(shown, moved)}</td></tr>'
        for name, (shown, moved) in texts.items()
        if shown
    )
    parts.append(f"<table>{''.join(rows)}</table>")
    parts.append(styles.styled(result.scores, caption="Scores; 1 is the same text").to_html())
    return "".join(parts)


class Explorer:
    """The panel: choose or type a sentence, a language, a perturbation and a model; press *Show*.

    Sentences of *corpus* come with their trees and references. Any other is parsed by the pipeline that
    *parsers* names for its language (default: spaCy's), and has no reference. What cannot be done is said in the
    panel. Widgets are attributes, so that a program may set them: ``explorer.perturbation.value = "reversed"``.
    """

    def __init__(
        self,
        corpus: str = "sandbox",
        source: str = "en",
        language: str = "de",
        model: str = "sandbox-marian",
        *,
        n: int = 20,
        parsers: Mapping[str, str] | None = None,
        metrics: Sequence[str] = METRICS,
        seed: int = 0,
        store: Store | None = None,
    ):
        self._corpus, self._source, self._n = corpus, source, n
        self._parsers, self._metrics, self._seed, self._store = dict(parsers or {}), list(metrics), seed, store
        self._pairs: dict[str, Pair] = {}
        wide = widgets.Layout(width="98%")
        named = {"style": {"description_width": "90px"}}
        self.sentence = widgets.Combobox(
            description="Sentence", placeholder="choose or type", ensure_option=False, layout=wide, **named
        )
        languages = [(theme.language_label(code), code) for code in dict.fromkeys([*TARGETS, language])]
        self.language = widgets.Dropdown(options=languages, value=language, description="Into", **named)
        known = [*NAMES, *(name for name in PERTURBATIONS.names() if name not in NAMES)]
        options = [(label(name), name) for name in known]
        self.perturbation = widgets.Dropdown(options=options, description="Perturbation", **named)
        # A name may stand for a model a condition of its training data.
        models = [name.replace("{condition}", "joint") for name in MODELS.names()]
        self.model = widgets.Combobox(options=models, value=model, description="Model", ensure_option=False, **named)
        self.draw = widgets.BoundedIntText(value=0, min=0, max=10**6, description="Draw", **named)
        self.button = widgets.Button(description="Show", button_style="primary")
        self.output = widgets.HTML()
        self.button.on_click(lambda _: self.show())
        self.language.observe(lambda _: self._fill(), names="value")
        choices = widgets.HBox([self.language, self.perturbation, self.model, self.draw, self.button])
        choices.layout.flex_flow = "row wrap"
        self.panel = widgets.VBox([self.sentence, choices, self.output])
        self._fill()

    def show(self) -> None:
        """Do what the panel is set to and put the result, or what is in its way, into `output`."""
        self.output.value = "<p>Working … a model that is not there yet is fetched, or trained, first.</p>"
        try:
            text, reference = self._chosen()
            result = probe(
                text, self.perturbation.value, self.model.value, self.language.value, reference=reference,
                metrics=self._metrics, seed=self._seed, draw=self.draw.value, store=self._store,
            )  # fmt: skip
            self.output.value = as_html(text, result, self.perturbation.value)
        except NbkitError as error:
            self.output.value = f'<p style="color: #a3241d; white-space: pre-wrap">{escape(str(error))}</p>'

    def _fill(self) -> None:
        """Offer the corpus's first sentences with the chosen language."""
        try:
            asked: dict[str, Any] = {"n": self._n, "parsers": self._parsers, "store": self._store}
            pairs = load_pairs(self._corpus, self._source, self.language.value, **asked)
            self._pairs = {pair.source.text: pair for pair in islice(pairs, self._n)}
        except NbkitError as error:
            self._pairs = {}
            self.output.value = f"<p>No sentences to choose from: {escape(str(error))}</p>"
        self.sentence.options = tuple(self._pairs)
        if self._pairs and not self.sentence.value:
            self.sentence.value = next(iter(self._pairs))

    def _chosen(self) -> tuple[Text, Text | None]:
        """The sentence in the panel, parsed, with its reference where it is one of the corpus."""
        typed = " ".join(self.sentence.value.split())
        if typed in self._pairs:
            return self._pairs[typed].source, self._pairs[typed].target
        if not typed:
            raise NbkitError("There is no sentence: choose one, or type one.")
        parser = load_parser(parser_for(self._source, self._parsers), self._source)
        return next(iter(parser.parse([typed]))), None
