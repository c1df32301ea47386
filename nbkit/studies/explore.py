"""One sentence through one behaviour: the panel of ``notebooks/explore.ipynb``, which knows no study by name.

A study's `behaviour.yaml` names its `Probe`, which takes what was typed (`Asked`) and returns what is shown (`Shown`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from importlib import import_module
from typing import Any

import ipywidgets as widgets

from nbkit.corpora.nli import tokenised, tokenizer_for
from nbkit.errors import NbkitError, UnknownNameError
from nbkit.figures import theme
from nbkit.languages import NAMES
from nbkit.models import CLASSIFIERS, MODELS, classifier_label, label
from nbkit.store import Store
from nbkit.studies import STUDIES
from nbkit.studies.behaviours import behaviours, filled
from nbkit.text.sentences import Text

#: Sentences of the corpus that are offered.
N_EXAMPLES = 20
_CELL = "text-align: left; padding: 3px 14px 3px 0; vertical-align: top"
_NAMED: dict[str, Any] = {"style": {"description_width": "90px"}}
#: Of texts: sent when they are complete, since an echo of the first letters would overwrite the next ones.
_FREE: dict[str, Any] = {"ensure_option": False, "continuous_update": False, **_NAMED}


@dataclass(frozen=True)
class Choice:
    """What a behaviour asks besides the sentence.

    A number where *value* is one; a list where *choices* are given, as (label, value) by source language; else a text,
    for which a probe may suggest values (`Shown.suggested`).
    """

    name: str
    label: str
    value: str | int = ""
    choices: Callable[[str], Sequence[tuple[str, str]]] | None = None


@dataclass(frozen=True)
class Asked:
    """A sentence as it was typed, and what is to be done with it.

    params: parameters of the study, fitted to the system and the direction. known: what `Probe.examples` has of this
    sentence, None for any other. options: values of the behaviour's choices, by name.
    """

    sentence: str
    system: str
    source: str
    target: str
    params: Any
    store: Store
    known: Any = None
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def text(self) -> Text:
        """The sentence parsed; in tokens alone where no pipeline is named and the default one is not installed."""
        parsers = dict(self.params.parsers)
        return tokenised([self.sentence], tokenizer_for(self.source, parsers), self.source, self.store)[0]


@dataclass(frozen=True)
class Shown:
    """What was found, as HTML and as data. suggested: values for choices that are texts, by name."""

    html: str
    found: Any
    suggested: Mapping[str, Sequence[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Probe:
    """How one sentence is put through a behaviour.

    show: does it, and raises `NbkitError` for what cannot be done. examples: sentences to choose from, with what is
    known of each (tree, reference, gold label). asks: what is typed. params: parameters beside those of a card.
    """

    show: Callable[[Asked], Shown]
    examples: Callable[[Asked, int], Mapping[str, Any]]
    choices: tuple[Choice, ...] = ()
    asks: str = "Sentence"
    params: Mapping[str, Any] = field(default_factory=dict)


def lines(texts: Mapping[str, str]) -> str:
    """Texts under each other with their names; values are HTML, empty ones are dropped.

    >>> lines({"source": "a <mark>b</mark>", "reference": ""}).count("<tr>")
    1
    """
    rows = (
        f'<tr><th style="{_CELL}">{escape(name)}</th><td style="{_CELL}">{html}</td></tr>'
        for name, html in texts.items()
        if html
    )
    return f"<table>{''.join(rows)}</table>"


def said(text: str) -> str:
    """A remark as HTML; *text* is plain."""
    return f"<p>{escape(text)}</p>"


class Explorer:
    """The panel: a behaviour, a system, languages and a sentence, chosen or typed; *Show* puts the sentence through.

    What cannot be done is said in the panel. Widgets are attributes, so that a program may set them:
    ``explorer.behaviour.value = "numbers"``, ``explorer.options["format"].value = "words"``; `found` is the last
    result as data.

    Parameters
    ----------
    behaviour
        Name of the study to begin with.
    system, classifier
        What translates, and what labels pairs of sentences: any name that nbkit takes.
    source, target
        The languages.
    parameters
        Parameters by study, over those of a card: ``{"word_order": {"corpus": "pud"}}``.
    n
        Sentences to choose from.

    Raises
    ------
    UnknownNameError
        For a behaviour that cannot be explored.
    """

    def __init__(
        self,
        behaviour: str = "word_order",
        *,
        system: str = "sandbox",
        classifier: str = "sandbox-convnet",
        source: str = "en",
        target: str = "de",
        parameters: Mapping[str, Mapping[str, Any]] | None = None,
        n: int = N_EXAMPLES,
        store: Store | None = None,
    ):
        declared = behaviours(STUDIES)
        self._behaviours = {name: each for name, each in declared.items() if each.explore and each.fit}
        for name in (behaviour, *(parameters or {})):
            if name not in self._behaviours:
                raise UnknownNameError("behaviour", name, self._behaviours)
        self._parameters, self._n, self._store = dict(parameters or {}), n, store or Store()
        self._systems, self._reads = {"translator": system, "classifier": classifier}, ""
        self._examples: Mapping[str, Any] = {}
        self.found: Any = None
        self.options: dict[str, Any] = {}

        titles = [(each.title, name) for name, each in self._behaviours.items()]
        self.behaviour = widgets.Dropdown(options=titles, value=behaviour, description="Behaviour", **_NAMED)
        self.system = widgets.Combobox(description="System", **_FREE)
        codes = dict.fromkeys([*NAMES, source, target])
        languages = [(theme.language_label(code), code) for code in codes]
        self.source = widgets.Dropdown(options=languages, value=source, description="From", **_NAMED)
        self.target = widgets.Dropdown(options=languages, value=target, description="Into", **_NAMED)
        wide = widgets.Layout(width="98%")
        self.sentence = widgets.Combobox(placeholder="choose or type", layout=wide, **_FREE)
        self.button = widgets.Button(description="Show", button_style="primary")
        self.output = widgets.HTML()
        self.output.add_class("nbkit-explore")
        self.button.on_click(lambda _: self.show())

        flow = widgets.Layout(flex_flow="row wrap")
        self._row = widgets.HBox(layout=flow)
        chosen = widgets.HBox([self.behaviour, self.system, self.source, self.target], layout=flow)
        self.panel = widgets.VBox([chosen, self.sentence, self._row, self.output])
        self.behaviour.observe(lambda _: self._changed(), names="value")
        self.source.observe(lambda _: self._choices(), names="value")
        for widget in (self.system, self.source, self.target):
            widget.observe(lambda _: self._fill(), names="value")
        self._changed()

    def show(self) -> None:
        """Do what the panel is set to; the result, or what is in its way, is in `output`."""
        self.found = None
        self.output.value = "<p>Working … a model that is not there yet is fetched, or trained, first.</p>"
        try:
            asked = self._asked()
            if not asked.sentence:
                raise NbkitError("There is no sentence: choose one, or type one.")
            shown = self._probe.show(asked)
        except NbkitError as error:
            self.output.value = f'<p style="color: #a3241d; white-space: pre-wrap">{escape(str(error))}</p>'
            return
        self.found, self.output.value = shown.found, shown.html
        for name, values in shown.suggested.items():
            self.options[name].options = tuple(dict.fromkeys(values))

    @property
    def _probe(self) -> Probe:
        module, _, name = self._behaviours[self.behaviour.value].explore.partition(":")
        probe: Probe = getattr(import_module(module), name)
        return probe

    def _asked(self) -> Asked:
        """What the panel is set to. Raises `NbkitError` where the system or the languages do not allow it."""
        name, system = self.behaviour.value, self.system.value.strip()
        source, target = self.source.value, self.target.value
        if not system:
            raise NbkitError("There is no system: choose one, or type its name.")
        fit = self._behaviours[name].fit
        assert fit is not None
        shown = (classifier_label if fit.reads == "classifier" else label)(system)
        _, given = fit.corpora([system], (source, target))
        values = filled({**fit.params, **given, **self._probe.params}, {shown: system}, source, target)
        params = STUDIES.get(name).params.checked({**values, **self._parameters.get(name, {})}, name)
        sentence = " ".join(self.sentence.value.split())
        options = {name: widget.value for name, widget in self.options.items()}
        return Asked(sentence, system, source, target, params, self._store, self._examples.get(sentence), options)

    def _changed(self) -> None:
        """Another behaviour: its choices, its kind of systems, its examples."""
        fit, probe = self._behaviours[self.behaviour.value].fit, self._probe
        assert fit is not None
        registry: Any = CLASSIFIERS if fit.reads == "classifier" else MODELS
        self.output.value = ""
        self.sentence.description = probe.asks
        self._choices()
        # A name may stand for a model for each condition of its training data.
        self.system.options = tuple(name.replace("{condition}", "joint") for name in registry.names())
        if fit.reads != self._reads:
            self._systems[self._reads] = self.system.value
            self._reads = fit.reads
        if self.system.value == self._systems[fit.reads]:
            self._fill()
        else:
            self.system.value = self._systems[fit.reads]  # which fills

    def _choices(self) -> None:
        """The widgets of the behaviour's choices."""
        self.options = {choice.name: _widget(choice, self.source.value) for choice in self._probe.choices}
        self._row.children = (*self.options.values(), self.button)

    def _fill(self) -> None:
        """Offer the corpus's first sentences with the chosen languages."""
        before, typed = self._examples, " ".join(self.sentence.value.split())
        self._examples = {}
        try:
            self._examples = self._probe.examples(self._asked(), self._n)
        except NbkitError as error:
            self.output.value = f"<p>No sentences to choose from: {escape(str(error))}</p>"
        self.sentence.options = tuple(self._examples)
        if not typed or typed in before:
            self.sentence.value = next(iter(self._examples), "")


def _widget(choice: Choice, source: str) -> Any:
    if choice.choices is not None:
        return widgets.Dropdown(description=choice.label, options=list(choice.choices(source)), **_NAMED)
    if isinstance(choice.value, int):
        return widgets.BoundedIntText(choice.value, description=choice.label, min=0, max=10**6, **_NAMED)
    return widgets.Combobox(value=choice.value, description=choice.label, placeholder="optional", **_FREE)
