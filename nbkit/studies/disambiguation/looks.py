"""How sets, perturbation types and measures of the disambiguation pages appear; names and colours are data."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import yaml

from nbkit.figures.theme import Look
from nbkit.perturb.word_sense import PERTURBATIONS


@cache
def _data() -> dict[str, Any]:
    return yaml.safe_load((Path(__file__).parent / "looks.yaml").read_text(encoding="utf-8"))


def set_looks() -> dict[str, Look]:
    """The looks of challenge sets and random ones, by their names in tables."""
    return {name: Look(**entry) for name, entry in _data()["sets"].items()}


def look(name: str) -> Look:
    """The look of a mark beside the sets: "all", "ceiling" or "published"."""
    return Look(**_data()[name])


def measure(name: str) -> str:
    """A measure as the paper's tables head it.

    >>> measure("freq_diff"), measure("ppmi_wrong")
    ('FREQ diff', 'PPMI✗')
    """
    return _data()["measures"][name]["label"]


def kind(name: str) -> str:
    """A perturbation type with what it does.

    >>> kind("IH")
    'IH: insertion before the homograph'
    """
    return f"{name}: {PERTURBATIONS[name]}"


def sense_colours(n: int) -> list[str]:
    """Colours for the senses of one homograph; they begin again where there are more senses than colours."""
    colours = _data()["senses"]
    return [colours[i % len(colours)] for i in range(n)]
