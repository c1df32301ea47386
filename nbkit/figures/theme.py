"""The one theme: the same colour, marker and name for the same thing in every figure.

Colours and names are data (``theme.yaml``). Symbols are the papers', as matplotlib mathtext.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from nbkit import languages as codes
from nbkit.measure import load_metric
from nbkit.models import label as model_label
from nbkit.seeding import address
from nbkit.yaml_text import read_own

#: Width in inches of a figure that fills the report's column.
WIDTH = 9.6
#: Width in inches of the text of a page, such as ACL's; copies of figures for a paper fit it.
PAGE = 6.3
#: Width in inches of a column of such a page.
COLUMN = 3.03


_MESSAGE = "message"


@dataclass(frozen=True)
class Look:
    """How one model, language or score appears: its name in a legend, its colour, its marker and, drawn, its line."""

    label: str
    colour: str
    marker: str
    line: str = "none"


@cache
def theme_data() -> dict[str, Any]:
    """All of ``theme.yaml``."""
    return read_own(Path(__file__).parent / "theme.yaml")


def style() -> AbstractContextManager:
    """The settings every figure is drawn under, for a ``with`` statement; nothing global changes.

    >>> with style():
    ...     mpl.rcParams["svg.hashsalt"]
    'nbkit'
    """
    import seaborn as sns  # takes more than a second, and not all that knows names and colours draws

    settings: Any = {**sns.axes_style("whitegrid"), **theme_data()["settings"]}
    return mpl.rc_context(settings)


def use_vector_output() -> None:
    """Show figures of this notebook as SVG. Called once, in a notebook's first cell."""
    from matplotlib_inline.backend_inline import set_matplotlib_formats

    set_matplotlib_formats("svg", metadata={"Date": None})


def model_looks(models: Iterable[str]) -> dict[str, Look]:
    """Name, colour and marker of each model, in the order given; a model goes by its name or its label.

    Known models always look the same, and so does the first classifier of each known architecture; another takes the
    colour that its name stands for, or the next one where that is taken, whatever the order in which they were given.
    Up to 24 others look different.

    >>> model_looks(["zebra", "opus-mt"])["opus-mt"].label
    'Helsinki-OPUS'
    >>> model_looks(["b", "a"])["a"] == model_looks(["a", "b"])["a"]
    True
    >>> model_looks(["SICK-BART"])["SICK-BART"].colour == model_looks(["BART (large)"])["BART (large)"].colour
    True
    """
    models, taken = list(dict.fromkeys(models)), set()
    known: dict[str, Any] = {name: {"label": name, **look} for name, look in theme_data()["systems"].items()}
    for name, look in theme_data()["models"].items():
        known[name] = known[model_label(name)] = {"label": model_label(name), **look}
    for name in (name for name in models if name not in known):
        words = re.split(r"[-() ]", name)  # DistilBERT is not BERT
        architecture = next((each for each in theme_data()["architectures"] if each in words), None)
        if architecture is not None and architecture not in taken:
            taken.add(architecture)
            known[name] = {"label": short_name(name), **theme_data()["architectures"][architecture]}
    return _looks(models, known, theme_data()["more_models"], theme_data()["many_models"])


def language_looks(languages: Iterable[str]) -> dict[str, Look]:
    """Name, colour and marker of each language, in the order given.

    >>> language_looks(["de"])["de"].label
    'German (de)'
    """
    known = {code: {"label": language_label(code), **look} for code, look in theme_data()["languages"].items()}
    looks = _looks(languages, known, theme_data()["more_languages"])
    return {code: Look(language_label(code), look.colour, look.marker) for code, look in looks.items()}


def _looks(
    names: Iterable[str], known: Mapping[str, Any], more: Sequence[Any], many: Sequence[Any] = ()
) -> dict[str, Look]:
    names = list(dict.fromkeys(names))
    others = sorted(name for name in names if name not in known)
    more = [*more, *many] if len(others) > len(more) else more
    rest: dict[str, dict[str, Any]] = {}
    free = list(range(len(more)))
    for name in others:
        free = free or list(range(len(more)))  # more names than colours: they begin again
        wanted = address("look", name)
        slot = next(i % len(more) for i in range(wanted, wanted + len(more)) if i % len(more) in free)
        free.remove(slot)
        rest[name] = {"label": short_name(model_label(name)), **more[slot]}
    return {name: Look(**(known[name] if name in known else rest[name])) for name in names}


def short_name(name: str, limit: int = 44) -> str:
    """*name*, cut in the middle where it is longer than *limit*.

    >>> short_name("a-very-long-name-of-a-model-indeed", limit=15)
    'a-very-…-indeed'
    """
    half = (limit - 1) // 2
    return name if len(name) <= limit else f"{name[:half]}…{name[-half:]}"


def score_look(score: str) -> Look:
    """Name, colour and marker of a score: beta, beta1, beta2 or chance."""
    return Look(**theme_data()["scores"][score])


def category_looks() -> dict[str, Look]:
    """Name and colour of each category of perturbations.

    >>> list(category_looks())
    ['tree', 'pos', 'random', 'control']
    """
    return {name: Look(marker="o", **look) for name, look in theme_data()["categories"].items()}


def language_label(code: str) -> str:
    """A language's name with its code.

    >>> language_label("ja"), language_label("pt-BR"), language_label("xx")
    ('Japanese (ja)', 'Portuguese (Brazil, pt-BR)', 'xx')
    """
    name = codes.language_name(code)
    return code if name == code else f"{name} ({code})".replace(") (", ", ")


def metric_label(metric: str) -> str:
    """A metric's name as it is written in prose.

    >>> metric_label("bleu"), metric_label("my_metric")
    ('BLEU-4', 'my_metric')
    """
    return theme_data()["metrics"].get(metric, metric)


def symbol(score: str, metric: str) -> str:
    """The paper's symbol of a score, with the metric as superscript, in mathtext. Raises `UnknownNameError`.

    >>> symbol("beta1", "bleu")
    '$\\\\beta_{1}^{B}$'
    >>> symbol("alpha", "levenshtein")
    '$\\\\alpha^{L}$'
    """
    letter, index = theme_data()["symbols"][score]
    superscript = load_metric(metric).symbol
    if len(superscript) > 1:
        superscript = rf"\mathrm{{{superscript}}}"
    return f"${letter}{f'_{{{index}}}' if index else ''}^{{{superscript}}}$"


def _folded(line: str) -> str:
    return textwrap.fill(line, width=110)


def said(figure: Figure) -> str:
    """What a figure made by `message` says; "" for any other.

    >>> said(message("No model.")), said(Figure())
    ('No model.', '')
    """
    return str(figure.get_label()) if figure.get_gid() == _MESSAGE else ""


def message(text: str) -> Figure:
    """A small figure that says, in words, why there is nothing to draw."""
    with style():
        figure = Figure(figsize=(WIDTH, 0.9), label=text)
        figure.set_gid(_MESSAGE)
        panel = figure.subplots()  # notebooks do not show a figure without any panel
        panel.set_axis_off()
        panel.text(0.5, 0.5, "\n".join(map(_folded, text.splitlines())), ha="center", va="center", color="#5A5A5A")
    return figure
