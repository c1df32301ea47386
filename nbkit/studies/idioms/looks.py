"""How models, contexts, controls and measures of the idioms pages appear; names and colours are data."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import matplotlib as mpl
import yaml

from nbkit.corpora.idioms import training_copies
from nbkit.figures import theme
from nbkit.figures.theme import Look
from nbkit.studies.idioms.params import AS_IT_IS
from nbkit.studies.idioms.tables import condition_name, is_control, paper_name


@cache
def _data() -> dict[str, Any]:
    return yaml.safe_load((Path(__file__).parent / "looks.yaml").read_text(encoding="utf-8"))


def model_looks(models: Iterable[str]) -> dict[str, Look]:
    """Name, colour and marker of each model, in the order given; controls are left out.

    >>> looks = model_looks(["random", "pretrained", "references"])
    >>> looks["pretrained"].label, looks["pretrained"].colour == model_looks(["mBART"])["mBART"].colour, len(looks)
    ('pretrained', True, 2)
    """
    names = [name for name in dict.fromkeys(models) if not is_control(name)]
    known = _data()["models"]
    others = theme.model_looks(name for name in names if paper_name(name) not in known)
    found = {}
    for name in names:
        own = known.get(paper_name(name))
        found[name] = Look(name, **own) if own else replace(others[name], label=theme.short_name(name))
    return found


def control_looks() -> dict[str, Look]:
    """Name and colour of each control."""
    return {name: Look(**look) for name, look in _data()["controls"].items()}


def shade(colour: str, context: str) -> tuple[float, float, float]:
    """*colour* as it stands for a context: the less context, the lighter.

    >>> shade("#000000", "full"), shade("#000000", "word")[0]
    ((0.0, 0.0, 0.0), 0.75)
    """
    strength = _data()["contexts"][context]["strength"]
    red, green, blue = (strength * part + 1 - strength for part in mpl.colors.to_rgb(colour))
    return red, green, blue


def context_label(context: str) -> str:
    """A context as legends call it."""
    return _data()["contexts"][context]["label"]


def measure_label(measure: str) -> str:
    """A measure as axes and tables call it.

    >>> measure_label("litter")
    'LitTER ↓'
    """
    return _data()["measures"][measure]


def variant_label(variant: str) -> str:
    """A way of counting literal errors as tables call it."""
    return _data()["variants"][variant]


def system_label(model: str, condition: str) -> str:
    """Model and condition in one.

    >>> system_label("random", "upsample-20"), system_label("references", "")
    ('random, upsample 20x', 'references')
    """
    return f"{model}, {condition_name(condition)}" if condition not in ("", AS_IT_IS) else model


def condition_tick(condition: str) -> str:
    """A training condition below an axis: a long name on two lines.

    >>> condition_tick("upsample-20"), condition_tick(AS_IT_IS)
    ('upsample\\n20x', 'as it is')
    """
    return textwrap.fill(condition_name(condition), 8)


def in_order(conditions: Iterable[str]) -> list[str]:
    """Conditions without repeats, from least to most of idiom-train, then "as it is"; controls' empty one is left out.

    >>> in_order(["as it is", "upsample-100", "joint", "", "zero", "upsample-20", "joint"])
    ['zero', 'joint', 'upsample-20', 'upsample-100', 'as it is']
    """
    names = [name for name in dict.fromkeys(conditions) if name]
    return sorted(names, key=lambda name: (name == AS_IT_IS, name != AS_IT_IS and training_copies(name)))
