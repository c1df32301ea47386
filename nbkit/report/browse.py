"""`nbkit.sentences`: all items of a run, a card or a table in a notebook; and where outcomes are found."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup, escape

from nbkit.errors import NbkitError, closest
from nbkit.report.card import DATA, read_card
from nbkit.report.sentences import MOST_ITEMS, Pack, described, measured
from nbkit.report.site import read_run, sentences_page
from nbkit.studies import STUDIES
from nbkit.studies.base import StudyParams
from nbkit.studies.results import GROUP, Outcomes, by_study, computed, group, read_outcomes

if TYPE_CHECKING:
    import pandas as pd

_HIGH = 720
_FIELDS = ("study", "system", "source_language", "target_language", "measure", "verdict", "item")


def outcomes_at(place: Any) -> list[Outcomes]:
    """The outcomes at *place* by study, with their texts where they have some.

    place: the output folder of a run, the folder of a card, a file of outcomes (.parquet, .jsonl), outcomes as
    `nbkit.studies.results` has them, or a table of them with the column *study*. The outcomes of a run that did not
    write them are computed from what is stored. Raises `NbkitError` if nothing was found.
    """
    import pandas as pd

    if isinstance(place, Outcomes):
        return [place]
    if isinstance(place, pd.DataFrame):
        return list(by_study(place, STUDIES))
    path = Path(place)
    if not path.exists():
        raise NbkitError(f"{path}: no such file or folder; outcomes, a run's output folder or a card are expected")
    files = [path]
    if path.is_dir():
        files = sorted((path / "outcomes").glob("*.parquet"))
    found = [each for file in files for each in read_outcomes(file, STUDIES)]
    if not files:
        found = [computed(params, texts=True) for params in params_of(path).values()]
    if not any(len(each.rows) for each in found):
        raise NbkitError(f"{path}: there are no outcomes in it")
    return merged(found)


def merged(found: Sequence[Outcomes]) -> list[Outcomes]:
    """One `Outcomes` for each study, in the order of the registered studies."""
    import pandas as pd

    parts: dict[str, list[Outcomes]] = {}
    for each in found:
        parts.setdefault(each.study, []).append(each)
    known = STUDIES.names()
    order = sorted(parts, key=lambda name: known.index(name) if name in known else len(known))
    return [
        replace(own[-1], rows=pd.concat([each.rows for each in own], ignore_index=True)) if len(own) > 1 else own[0]
        for own in map(parts.__getitem__, order)
    ]


def params_of(folder: Path) -> dict[str, StudyParams]:
    """The parameters of each entry of a run, from its output folder. Raises `NbkitError` if it is none."""
    try:
        runs = json.loads((folder / "run.json").read_text(encoding="utf-8"))["runs"]
        found = [(each["name"], STUDIES.get(each["study"]), each["params"]) for each in runs]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise NbkitError(f"{folder} is not the output folder of a run: run.json cannot be read ({error})") from None
    return {name: study.params.checked(params, f"{folder}/run.json") for name, study, params in found}


def is_sandbox(place: Any) -> bool:
    """Whether *place* is a run or a card of the sandbox."""
    if not isinstance(place, str | Path):
        return False
    folder = Path(place)
    if (folder / DATA).is_file():
        return read_card(folder).sandbox
    return (folder / "run.json").is_file() and read_run(folder).is_sandbox


@dataclass(frozen=True)
class Sentences:
    """Items with every system's output: shows itself in a notebook as the browser of the report's ``sentences.html``.

    table: a row per item, system and measure: measured rows (`nbkit.studies.results`) with their study and measure.
    """

    table: pd.DataFrame = field(repr=False)
    title: str
    is_sandbox: bool = False
    #: Study and parameters of each run, which say where the sentences come from.
    runs: Sequence[tuple[str, Mapping[str, Any]]] = field(default=(), repr=False)

    def where(self, **filters: Any) -> Sentences:
        """The items that fit, as `Sentences`: by column (``system="m30k-en-de"``, ``verdict="fail"``) or by group.

        A value or a list of values. Raises `NbkitError` for what is neither a column nor a group here.
        """
        table = self.table
        for name, wanted in filters.items():
            values = [wanted] if isinstance(wanted, str) or not hasattr(wanted, "__iter__") else list(wanted)
            groups = [each.removeprefix(GROUP) for each in map(str, self.table) if each.startswith(GROUP)]
            if name not in (*_FIELDS, *groups):
                meant = closest(name, [*_FIELDS, *groups])
                hint = (
                    f"; did you mean '{meant}'?" if meant else f"; there are: {', '.join([*_FIELDS, *sorted(groups)])}"
                )
                raise NbkitError(f"items have no '{name}'{hint}")
            table = table[(table[name] if name in _FIELDS else group(table, name)).isin(values)]
        return Sentences(table, self.title, self.is_sandbox, self.runs)

    def page(self, home: str = "") -> str:
        """The browser as one page of HTML that loads nothing. home: the page that it leads back to, "" for none."""
        pack = Pack()
        for study, rows in self.table.groupby("study", sort=False):
            ids = sorted(set(rows["item"]))
            share = MOST_ITEMS // self.table["study"].nunique()
            pack.left_out += max(0, len(ids) - share)
            rows = rows[rows["item"].isin(ids[:share])] if len(ids) > share else rows
            name = str(study)
            known = [described(name, name, params) for of, params in self.runs if of == name]
            entry = known[0] if known else described(name, name, None)
            corpora = {each["name"]: each for one in known for each in one["corpora"]}
            pack.add({**entry, "corpora": list(corpora.values())}, [rows])
        return sentences_page(pack, self.title, home=home, is_sandbox=self.is_sandbox)

    def __len__(self) -> int:
        return int(self.table["item"].nunique())

    def __repr__(self) -> str:
        studies = ", ".join(dict.fromkeys(self.table["study"]))
        return f"Sentences of {self.title}: {len(self):,} items ({studies or 'none'})"

    def _repr_html_(self) -> str:
        frame = Markup(
            '<iframe title="{}" srcdoc="{}" sandbox="allow-scripts allow-downloads" width="100%" height="{}" '
            'style="border: 1px solid #dfe3e8"></iframe>'
        )
        return str(frame.format(repr(self), escape(self.page()), _HIGH))


def sentences(place: Any) -> Sentences:
    """All items at *place* with every system's output, to search and filter in a notebook.

    place: the output folder of a run, the folder of a card, a file of outcomes, or a table of them. Raises
    `NbkitError` if there are none.
    """
    import pandas as pd

    tables = [rows.assign(study=found.study) for found in outcomes_at(place) for rows in measured(found)]
    table = pd.concat(tables, ignore_index=True)
    if not isinstance(place, str | Path):
        return Sentences(table, "a table")
    folder = Path(place)
    runs: list[tuple[str, Mapping[str, Any]]] = []
    if (folder / DATA).is_file():
        runs = [(each.study, each.params) for each in read_card(folder).behaviours]
    elif (folder / "run.json").is_file():
        runs = [(each.study.name, each.model_dump()) for each in params_of(folder).values()]
    return Sentences(table, folder.name or str(place), is_sandbox(place), runs)
