"""How models, groups of pairs and measures of the NLI pages appear; names and colours are data (``looks.yaml``)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

import yaml

from nbkit.figures import theme
from nbkit.figures.theme import Look

# A symbol as it is written in plain text: a base, ^ or _, and what is raised or lowered.
_SYMBOL = re.compile(r"(?<!\w)(?P<base>[𝒫ΩDM])(?P<mark>[\^_])(?P<index>max|rand|cor|[cfx])(?!\w)")


_RAISED = {"^": "sup", "_": "sub"}


_BASES = {"𝒫": r"\mathcal{P}", "Ω": r"\Omega"}


@cache
def _data() -> dict[str, Any]:
    return yaml.safe_load((Path(__file__).parent / "looks.yaml").read_text(encoding="utf-8"))


def model_looks(labels: Iterable[str]) -> dict[str, Look]:
    """Name, colour and marker of each classifier, in the order given.

    A model looks like its architecture, whatever it was trained on; the second of one architecture in the
    same figure, and a model of none of them, look as any other model does (`theme.model_looks`).

    >>> model_looks(["SICK-BART"])["SICK-BART"].colour == model_looks(["BART (large)"])["BART (large)"].colour
    True
    """
    labels = list(dict.fromkeys(labels))
    taken: dict[str, str] = {}
    for label in labels:
        architecture = next((name for name in _data()["architectures"] if name in _words(label)), None)
        if architecture is not None:
            taken.setdefault(architecture, label)
    of_architecture = {label: architecture for architecture, label in taken.items()}
    others = theme.model_looks([label for label in labels if label not in of_architecture])
    return {
        label: Look(theme.short_name(label), **_data()["architectures"][of_architecture[label]])
        if label in of_architecture
        else others[label]
        for label in labels
    }


def _words(label: str) -> list[str]:
    """The parts of a model's name: "SICK-RoBERTa" is SICK and RoBERTa, and DistilBERT is not BERT."""
    return label.replace("-", " ").replace("(", " ").split()


def looks(kind: str) -> dict[str, Look]:
    """The looks of one kind: "groups", "schemes", "training", "where" or "floors"."""
    return {name: Look(**entry) for name, entry in _data()[kind].items()}


def measure(name: str, form: str = "label") -> str:
    """A measure's symbol as text ("label") or "mathtext", or in "words".

    >>> measure("omega_max"), measure("omega_max", "words")
    ('Ω_max', 'pairs with an accepted permutation')
    """
    return _data()["measures"][name][form]


def as_html(text: str) -> str:
    """Plain *text* as HTML: escaped, the symbols of the study typeset.

    >>> as_html("𝒫^c > Ω_max in a_max")
    '𝒫<sup>c</sup> &gt; Ω<sub>max</sub> in a_max'
    """
    return _SYMBOL.sub(_in_html, escape(text))


def as_latex(text: str) -> str:
    """A plain heading as LaTeX: the symbols of the study typeset, a per cent sign escaped.

    >>> print(as_latex("𝒫^c, 95% from"))
    $\\mathcal{P}^{\\mathrm{c}}$, 95\\% from
    """
    return _SYMBOL.sub(_in_latex, text.replace("%", r"\%"))


def _in_html(found: re.Match[str]) -> str:
    tag = _RAISED[found["mark"]]
    return f"{found['base']}<{tag}>{found['index']}</{tag}>"


def _in_latex(found: re.Match[str]) -> str:
    base = _BASES.get(found["base"], found["base"])
    return rf"${base}{found['mark']}{{\mathrm{{{found['index']}}}}}$"


def corpus_label(corpus: str) -> str:
    """A set as figures call it: the name of a file without its folders.

    >>> corpus_label("snli:dev"), corpus_label("data/mine.tsv?label=gold")
    ('snli:dev', 'mine.tsv')
    """
    return corpus if "/" not in corpus and "?" not in corpus else Path(corpus.partition("?")[0]).name
