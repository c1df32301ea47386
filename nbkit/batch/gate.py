"""Gates: conditions that a comparison must satisfy for a build to pass, as a file; JUnit XML and GitHub annotations."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from nbkit.batch.params import Location, explained, lines_of, listing
from nbkit.errors import NbkitError, ParamsError, UnknownNameError
from nbkit.files import read_text
from nbkit.report.compare import Check, Comparison, apart, verdict_of
from nbkit.studies.behaviours import Measure

_NOT_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class Bounds(BaseModel):
    """What a number may be; None: as much as it likes."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    at_least: float | None = None
    at_most: float | None = None

    def broken_by(self, low: float, high: float) -> bool:
        """Whether everything from *low* to *high* is outside."""
        return (self.at_least is not None and high < self.at_least) or (self.at_most is not None and low > self.at_most)


class Gate(BaseModel):
    """One gate. Shares are from 0 to 1, differences those of B from A."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    behaviour: str = Field(description="The study.")
    measure: str = Field("", description="One of its measures; by default its headline.")
    group: str = Field("", description="One group of the measure, or * for each; by default all items.")
    direction: str = Field("", description="Such as en-de; by default each.")
    system: str = Field("", description="Label of a system of A or B; by default each.")
    worse_by: float | None = Field(None, ge=0, description="B may be worse than A by this much.")
    difference: Bounds | None = Field(None, description="What B − A may be.")
    value: Bounds | None = Field(None, description="What B may be.")
    only_if_significant: bool = Field(
        False, description="Whether a difference must also be significant, and a value's whole interval outside."
    )

    @model_validator(mode="after")
    def _says_something(self) -> Gate:
        if self.worse_by is None and self.difference is None and self.value is None:
            raise ValueError("says nothing: give worse_by, difference or value")
        return self


class _GateFile(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    gates: list[Gate] = Field(min_length=1)


def read_gates(path: Path) -> list[tuple[Gate, str]]:
    """The gates in a YAML file, each with its file and line. Raises `ParamsError` or `DataError` with file and line."""
    lines, values = lines_of(read_text(path, "gate file"), str(path))
    if not isinstance(values, dict):
        raise ParamsError(f"{path}: a mapping with the key gates is expected")
    try:
        gates = _GateFile(**{str(key): value for key, value in values.items()}).gates
    except ValidationError as error:
        raise ParamsError(listing(explained(error, lines, (), _fields))) from None
    return [(gate, lines.place(("gates", number))) for number, gate in enumerate(gates)]


def _fields(location: Location) -> list[str]:
    if len(location) == 1:
        return list(_GateFile.model_fields)
    return list(Gate.model_fields if len(location) == 3 else Bounds.model_fields)


def check(gates: Sequence[tuple[Gate, str]], comparison: Comparison) -> list[Check]:
    """Whether each gate holds for each row of *comparison* that it is about.

    Raises `NbkitError` with file and line for a gate that is about nothing there: it would never break.
    """
    checks: list[Check] = []
    for gate, place in gates:
        try:
            checks += _checked(gate, place, comparison)
        except NbkitError as error:
            raise ParamsError(f"{place}: {error}") from None
    return checks


def _checked(gate: Gate, place: str, comparison: Comparison) -> Iterator[Check]:
    rows = comparison.differences
    rows = rows[rows["study"] == _known("behaviour", gate.behaviour, rows["study"])]
    name = gate.measure or next(iter(comparison.declared[gate.behaviour].measures))
    rows = rows[rows["measure"] == _known("measure", name, rows["measure"])]
    measure = comparison.declared[gate.behaviour].measures[name]
    if gate.worse_by is not None and measure.better is None:
        raise NbkitError(f"worse_by: neither more nor less {measure.label} is better; give difference instead")
    if gate.direction:
        directions = rows["source_language"] + rows["target_language"].map(lambda to: to and f"-{to}")
        rows = rows[directions == _known("direction", gate.direction, directions)]
    if gate.system:
        of = [*rows["system_a"], *rows["system_b"]]
        rows = rows[(rows[["system_a", "system_b"]] == _known("system", gate.system, of)).any(axis=1)]
    groups = rows["group"][rows["group"] != ""]
    if gate.group == "*" and groups.empty:
        raise NbkitError(f"group: {measure.label} has no groups here")
    wanted = rows["group"] != "" if gate.group == "*" else rows["group"] == _known("group", gate.group, ["", *groups])
    by_key = {_key(row): row for row in comparison.rows()}
    for row in rows[wanted].to_dict("records"):
        said = by_key[_key(row)]
        title = ", ".join(filter(None, (measure.label, row["group"], said["pair"], said["systems"])))
        found = f"{said['a_text']} → {said['b_text']}, {said['apart']} {said['interval']}, {said['p_said']}"
        broken = list(_broken(gate, row, measure))
        yield Check(title, bool(broken), f"{found}; {'; '.join(broken)}" if broken else found, place)


def _key(row: Mapping[Any, Any]) -> tuple[str, ...]:
    names = ("study", "system_a", "system_b", "source_language", "target_language", "measure", "group")
    return tuple(row[name] for name in names)


def _known(kind: str, name: str, known: Any) -> str:
    if name not in set(known):
        raise UnknownNameError(kind, name, {each for each in known if each}, way_out=" (in this comparison)")
    return name


def _broken(gate: Gate, row: Mapping[Any, Any], measure: Measure) -> Iterator[str]:
    """What of a gate a row breaks."""
    if not row["n"]:
        yield "there is no item to measure"
        return
    verdict = verdict_of(row, measure)
    may = bool(verdict) or not gate.only_if_significant
    if gate.worse_by is not None and may:
        worse = row["difference"] * (-1 if measure.better == "higher" else 1)
        if worse > gate.worse_by:
            yield f"allowed: worse by {apart(gate.worse_by, measure).lstrip('+')}"
    if gate.difference is not None and may and gate.difference.broken_by(row["difference"], row["difference"]):
        yield f"allowed: a difference {_words(gate.difference, lambda value: apart(value, measure))}"
    ends = ("b_low", "b_high") if gate.only_if_significant else ("b", "b")
    if gate.value is not None and gate.value.broken_by(row[ends[0]], row[ends[1]]):
        yield f"allowed: a value {_words(gate.value, measure.written)}"


def _words(bounds: Bounds, written: Any) -> str:
    said = (("of at least", bounds.at_least), ("of at most", bounds.at_most))
    return " and ".join(f"{words} {written(bound)}" for words, bound in said if bound is not None)


# ----------------------------------------------------------------------------
# What a build's machines read.


def junit(checks: Sequence[Check], title: str) -> bytes:
    """The checks as JUnit XML: one test case each."""
    broken = sum(each.broken for each in checks)
    suite = ElementTree.Element("testsuite", name=_xml(title), tests=str(len(checks)), failures=str(broken))
    for each in checks:
        case = ElementTree.SubElement(suite, "testcase", classname="nbkit compare", name=_xml(each.name))
        if each.broken:
            failure = ElementTree.SubElement(case, "failure", message=_xml(each.message))
            failure.text = _xml(f"{each.place}: {each.message}")
    return ElementTree.tostring(suite, encoding="utf-8", xml_declaration=True)


def _xml(text: str) -> str:
    return _NOT_XML.sub("�", text)


def annotation(check: Check) -> str:
    """A broken gate as a command of GitHub's workflows, which shows it at the gate's line.

    >>> annotation(Check("numbers, en→de", True, "93% → 81%", "gate.yaml:4"))
    '::error file=gate.yaml,line=4,title=numbers%2C en→de::93%25 → 81%25'
    """
    file, _, line = check.place.rpartition(":")
    values = {"file": file, "line": line, "title": check.name}
    said = ",".join(f"{name}={_escaped(value, ':,')}" for name, value in values.items() if value)
    return f"::error {said}::{_escaped(check.message)}"


def _escaped(text: str, more: str = "") -> str:
    for sign in "%\r\n" + more:
        text = text.replace(sign, f"%{ord(sign):02X}")
    return text
