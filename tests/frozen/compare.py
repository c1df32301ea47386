"""Frozen text beside today's: numbers may differ by a billionth of their size, everything else is to be the same."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher
from itertools import zip_longest
from pathlib import Path

VALUES = Path(__file__).with_name("values")
WAY_OUT = "Where it is meant to change: python -m tests.frozen.write, and say in the commit why."
#: Lines of the difference of one file that are shown.
MOST = 30
#: Characters of a line that are shown.
WIDTH = 240
_NUMBER = re.compile(r"(?<![\w.])-?\d+\.?\d*(?:e[-+]?\d+)?(?![\w])")


def differences(made: Mapping[str, str], folder: str) -> str:
    """What differs between *made*, texts by file, and what is frozen in *folder*; empty where nothing does."""
    frozen = {str(path.relative_to(VALUES)) for path in (VALUES / folder).rglob("*.txt")}
    lines_of_all = [f"{name}: frozen, and not made any more" for name in sorted(frozen - made.keys())]
    lines_of_all += [f"{name}: made, and not frozen" for name in sorted(made.keys() - frozen)]
    for name in sorted(made.keys() & frozen):
        if lines := difference((VALUES / name).read_text(encoding="utf-8"), made[name], name):
            lines_of_all.append(lines)
    return "\n".join([*lines_of_all, WAY_OUT]) if lines_of_all else ""


def difference(frozen: str, made: str, name: str = "values") -> str:
    """The lines that differ, with their numbers in the frozen file, each followed by what stands in its place now.

    Lines whose numbers are as good as equal are the same. Of long lines the part is shown that differs.

    >>> difference("a 0.1\\nb 2", "a 0.10000000000000002\\nb 2")
    ''
    >>> print(difference("a 0.1\\nb 2", "a 0.1\\nb 3"))
    --- values
    2
    - b 2
    + b 3
    """
    before, after = frozen.splitlines(), made.splitlines()
    known: dict[str, list[str]] = {}
    for line in before:
        known.setdefault(_NUMBER.sub("#", line), []).append(line)
    for place, line in enumerate(after):
        likely = known.get(_NUMBER.sub("#", line), [])
        after[place] = next((each for each in likely if each == line or _alike(each, line)), line)
    lines = []
    for what, start, end, new_start, new_end in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if what != "equal":
            lines.append(str(start + 1))
            pairs = zip_longest(before[start:end], after[new_start:new_end])
            lines += [f"{mark} {line}" for pair in pairs for mark, line in _apart(*pair)]
    more = [f"… and {len(lines) - MOST} lines more"] if len(lines) > MOST else []
    return "\n".join([f"--- {name}", *lines[:MOST], *more]) if lines else ""


def _apart(one: str | None, other: str | None) -> Iterator[tuple[str, str]]:
    """The two lines with their marks, long ones from a little before the first character that differs."""
    pairs = enumerate(zip(one or "", other or "", strict=False))
    first = next((place for place, (a, b) in pairs if a != b), min(len(one or ""), len(other or "")))
    start = max(0, first - WIDTH // 4)
    for mark, line in (("-", one), ("+", other)):
        if line is not None:
            part = line if len(line) <= WIDTH else line[start : start + WIDTH]
            yield mark, f"{'…' if part != line and start else ''}{part}{'' if line.endswith(part) else '…'}"


def _alike(one: str, other: str) -> bool:
    """Whether the numbers in two lines, which are otherwise the same, are as good as equal."""
    pairs = zip(_NUMBER.findall(one), _NUMBER.findall(other), strict=True)
    return all(a == b or _close(a, b) for a, b in pairs)


def _close(a: str, b: str) -> bool:
    is_whole = a.lstrip("-").isdigit() and b.lstrip("-").isdigit()
    return not is_whole and math.isclose(float(a), float(b), rel_tol=1e-9, abs_tol=1e-12)
