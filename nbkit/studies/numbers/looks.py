"""How models, capabilities and types of errors of the numbers pages appear; names and colours are data."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from nbkit.figures import theme
from nbkit.figures.theme import Look
from nbkit.models import label
from nbkit.models.catalogue import BY_RULE

#: What the label of a model behind the placeholder step ends with.
_BY_RULE = label(f"{BY_RULE}model").removeprefix("model")


@cache
def _data() -> dict[str, Any]:
    return yaml.safe_load((Path(__file__).parent / "looks.yaml").read_text(encoding="utf-8"))


def is_by_rule(model: str) -> bool:
    """Whether a model's label says that its numbers are carried over by rule.

    >>> is_by_rule("Helsinki-OPUS + placeholder"), is_by_rule("Helsinki-OPUS")
    (True, False)
    """
    return model.endswith(_BY_RULE)


def model_looks(labels: Iterable[str]) -> dict[str, Look]:
    """Name, colour and marker of each model, in the order given; one behind the placeholder step has its own colour.

    >>> looks = model_looks(["Helsinki-OPUS", "Helsinki-OPUS + placeholder"])
    >>> len({look.colour for look in looks.values()}), len({look.marker for look in looks.values()})
    (1, 2)
    """
    labels = list(dict.fromkeys(labels))
    alone = theme.model_looks([each.removesuffix(_BY_RULE) for each in labels])
    looks = {each: alone[each.removesuffix(_BY_RULE)] for each in labels}
    marker = _data()["by_rule_marker"]
    return {
        each: replace(look, label=look.label + _BY_RULE, marker=marker) if is_by_rule(each) else look
        for each, look in looks.items()
    }


def capability(name: str) -> str:
    """A capability as the paper writes it.

    >>> capability("integers")
    'Integers'
    """
    return _data()["capabilities"][name]


def copied() -> Look:
    """What copying the source's number would get."""
    return Look(**_data()["copy"])


def looks(kind: str) -> dict[str, Look]:
    """The looks of one kind: "rates" or "steps"."""
    return {name: Look(**entry) for name, entry in _data()[kind].items()}


def error_looks() -> dict[str, Look]:
    """Name and colour of each type of error, in the order in which they are decided."""
    return {name: Look(name, entry["colour"], "s") for name, entry in _data()["errors"].items()}
