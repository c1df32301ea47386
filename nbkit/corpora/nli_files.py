"""NLI pairs in files: TSV with a header, JSON lines, Parquet; here or at a pinned revision of the hub."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import yaml

from nbkit.corpora.nli_pair import LABELS, RawNli
from nbkit.corpora.places import HubPlace, LocalPlace, Place
from nbkit.corpora.readers import parquet_rows, read_lines
from nbkit.errors import DataError, NbkitError, UnknownNameError

#: Counts up when the same files are read as other pairs, so that results on the old ones are not used.
READING = 1

Row = tuple[int, Mapping[str, Any] | DataError]


class Unlabelled(DataError):
    """A row without a gold label (annotators did not agree): left out and counted, not an error."""


@cache
def catalogue() -> dict[str, Any]:
    """The contents of ``nli_catalogue.yaml``."""
    return yaml.safe_load(resources.files("nbkit.corpora").joinpath("nli_catalogue.yaml").read_text("utf-8"))


@dataclass(frozen=True)
class NliFiles:
    """An NLI set in one file a split.

    columns: our name (premise, hypothesis, label, id, note) to the file's; recognised by name where it is empty.
    classes: what integer labels stand for, in their order.
    """

    name: str
    format: str
    place: Place
    splits: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    columns: Mapping[str, str] = field(default_factory=dict)
    classes: tuple[str, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    endless = False

    def raw(self, lang: str, split: str | None) -> Iterator[RawNli | DataError]:
        """The pairs of *split* and the malformed and unlabelled rows in their places.

        Raises at once where language, split or file are not there.
        """
        path = self.place.path(self._fields(lang, split))
        return self._examples(path)

    def identity(self, lang: str, split: str | None) -> dict[str, Any]:
        """Digest or revision of the file and how it is read."""
        return {
            "reader": self.format,
            "version": READING,
            "columns": dict(self.columns),
            "classes": list(self.classes),
            "file": self.place.identity(self._fields(lang, split)),
        }

    def problems(self, lang: str, split: str | None) -> list[str]:
        """What stands in the way of `raw`; reads nothing."""
        try:
            problem = self.place.problem(self._fields(lang, split))
        except NbkitError as error:
            return [str(error)]
        return [problem] if problem else []

    def _fields(self, lang: str, split: str | None) -> dict[str, str]:
        if self.languages and lang not in self.languages:
            raise NbkitError(f"NLI corpus {self.name} has no '{lang}'; it has {', '.join(self.languages)}")
        if split is None:
            split = self.splits[0] if self.splits else ""
        elif split not in self.splits:
            raise UnknownNameError(f"split of NLI corpus {self.name}", split, self.splits)
        return {"split": split, "file": self.files.get(split, "")}

    def _examples(self, path: Path) -> Iterator[RawNli | DataError]:
        columns: Mapping[str, str] | None = None
        for number, row in _READERS[self.format](path):
            if isinstance(row, DataError):
                yield row
                continue
            if columns is None:
                columns = self._columns(row, path, number)
            yield self._example(row, columns, path, number)

    def _columns(self, row: Mapping[str, Any], path: Path, number: int) -> Mapping[str, str]:
        """The file's name of each of our columns, from what was given or from the names that the file has."""
        known = catalogue()["columns"]
        found = {
            ours: self.columns.get(ours) or next((name for name in names if name in row), None)
            for ours, names in known.items()
        }
        for ours in ("premise", "hypothesis", "label"):
            if found[ours] is None or found[ours] not in row:
                named = f" '{found[ours]}'" if found[ours] else ""
                raise DataError(
                    f"there is no {ours} column{named} among {', '.join(row)}; name the columns: "
                    f"{path.name}?premise=…&hypothesis=…&label=…",
                    path, number,
                )  # fmt: skip
        return {ours: name for ours, name in found.items() if name}

    def _example(
        self, row: Mapping[str, Any], columns: Mapping[str, str], path: Path, number: int
    ) -> RawNli | DataError:
        values = {ours: row.get(name) for ours, name in columns.items()}
        sides: dict[str, str] = {}
        for ours in ("premise", "hypothesis"):
            side = values[ours]
            if not isinstance(side, str) or not side.strip():
                return DataError(f"the {ours} is empty or no text", path, number)
            sides[ours] = side
        label = self._label(values["label"])
        if label is None:
            return Unlabelled(f"no gold label ('{values['label']}')", path, number)
        if label not in LABELS:
            return DataError(
                f"label '{values['label']}' is none of {', '.join(LABELS)}{self._hint(label)}", path, number
            )
        id_ = values.get("id")
        note = values.get("note")
        return RawNli(
            id=str(number if id_ in (None, "") else id_),
            premise=sides["premise"],
            hypothesis=sides["hypothesis"],
            label=label,
            note="" if note is None else str(note),
        )

    def _label(self, value: Any) -> str | None:
        """One of `LABELS`, None for an unlabelled row, or the value itself where it cannot be understood."""
        text = "" if value is None else str(value).strip().lower()
        if text in catalogue()["unlabelled"]:
            return None
        if text.isdecimal() and int(text) < len(self.classes):
            return self.classes[int(text)]
        return next((label for label, spellings in catalogue()["labels"].items() if text in spellings), text)

    def _hint(self, label: str) -> str:
        if not label.isdecimal():
            return ""
        return (
            f"; say what the integers stand for, in their order: {self.name}?classes=entailment,neutral,contradiction"
        )


def named_files(name: str, entry: Mapping[str, Any]) -> NliFiles:
    """The NLI set of a catalogue entry."""
    files = entry["files"]
    one_a_split = isinstance(files, dict)
    template = "{file}" if one_a_split else files
    hub = entry.get("hub")
    place: Place = LocalPlace(template, name)
    if hub:
        place = HubPlace(hub["repository"], hub["revision"], template, name, "PAIRS.tsv, PAIRS.jsonl or PAIRS.parquet")
    return NliFiles(
        name=name, format=entry["format"], place=place, splits=tuple(entry["splits"]),
        languages=tuple(entry["languages"]), columns=entry["columns"], classes=tuple(entry.get("classes", ())),
        files=files if one_a_split else {},
    )  # fmt: skip


def _tsv_rows(path: Path) -> Iterator[Row]:
    """Rows by the names of the header line; quotes are part of the text, as in SNLI, MultiNLI and SICK."""
    header: Sequence[str] | None = None
    for number, line in read_lines(path):
        if isinstance(line, DataError):
            yield number, line
        elif header is None:
            header = line.split("\t")
        elif not line.strip():
            yield number, DataError("empty line", path, number)
        elif len(cells := line.split("\t")) != len(header):
            yield number, DataError(f"{len(header)} tab-separated columns expected, {len(cells)} found", path, number)
        else:
            yield number, dict(zip(header, cells, strict=True))


def _jsonl_rows(path: Path) -> Iterator[Row]:
    for number, line in read_lines(path):
        if isinstance(line, DataError):
            yield number, line
            continue
        try:
            row = json.loads(line)
        except ValueError as error:
            yield number, DataError(f"no JSON: {error}", path, number)
            continue
        yield number, row if isinstance(row, dict) else DataError("a JSON object a line is expected", path, number)


_READERS = {"tsv": _tsv_rows, "jsonl": _jsonl_rows, "parquet": parquet_rows}
FORMATS = tuple(_READERS)
