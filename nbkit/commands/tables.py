"""Rows for people (aligned columns) and for programs (JSON)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any


def aligned(rows: Sequence[Sequence[str]], indent: str = "") -> str:
    """Rows of text under each other, in columns as wide as their widest entry.

    >>> print(aligned([("bleu", "sentence BLEU-4"), ("chrf", "character n-grams")]))
    bleu  sentence BLEU-4
    chrf  character n-grams
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ("  ".join(entry.ljust(width) for entry, width in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(indent + line.rstrip() for line in lines)


def as_columns(rows: Sequence[Mapping[str, Any]], keys: Sequence[str]) -> str:
    """The entries *keys* of all rows in columns, under a line with the keys.

    >>> print(as_columns([{"name": "pud", "languages": ["en", "de"]}], ["name", "languages"]))
    name  languages
    pud   en, de
    """
    return aligned([keys, *([_text(row[key]) for key in keys] for row in rows)])


def as_json(rows: Sequence[Mapping[str, Any]]) -> str:
    """All of *rows* as JSON."""
    return json.dumps(rows, indent=2, ensure_ascii=False)


def _text(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
