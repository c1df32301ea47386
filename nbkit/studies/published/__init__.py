"""The published values of the word-order paper, as printed, to be put beside a run's own.

One CSV a table (tidy: one row a printed number) with a ``note`` column where numbers contradict each other;
``artefacts.yaml`` says what there is. The paper's figures are drawings without numbers: "not printed".

Source: Parthasarathi et al. 2021, "Sometimes We Want Ungrammatical Translations", Tables 1 to 6.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from nbkit.errors import NbkitError, UnknownNameError
from nbkit.models import label as model_label

#: What stands where the paper has no number.
NOT_PRINTED = "not printed"

_FOLDER = Path(__file__).parent


@cache
def _artefacts() -> dict[str, dict[str, Any]]:
    return yaml.safe_load((_FOLDER / "artefacts.yaml").read_text(encoding="utf-8"))


def names() -> list[str]:
    """The names of all tables and figures of the paper, tables first.

    >>> names()[:3]
    ['table1', 'table2', 'table3']
    """
    return list(_artefacts())


def _artefact(name: str) -> dict[str, Any]:
    if name not in _artefacts():
        raise UnknownNameError("published table or figure", name, names())
    return _artefacts()[name]


def title(name: str) -> str:
    """The number and subject of a table or figure. Raises `UnknownNameError`.

    >>> title("table3")
    'Table 3: number of flips by language and model'
    """
    return _artefact(name)["title"]


def note(name: str) -> str:
    """What is odd about the printed numbers of *name*; for a figure, that they are not printed.

    >>> note("fig1")
    'Published values: not printed, the paper shows Figure 1 as a drawing only.'
    """
    artefact = _artefact(name)
    if "file" in artefact:
        return artefact["note"]
    return f"Published values: {NOT_PRINTED}, the paper shows {artefact['title'].split(':')[0]} as a drawing only."


def is_printed(name: str) -> bool:
    """Whether the paper prints numbers for *name*. Raises `UnknownNameError`.

    >>> is_printed("table2"), is_printed("fig2")
    (True, False)
    """
    return "file" in _artefact(name)


def value_column(name: str) -> str:
    """The column of `load` that holds the printed number. Raises `NbkitError` for a figure."""
    if not is_printed(name):
        raise NbkitError(f"{title(name)}: its numbers are {NOT_PRINTED}, it is a drawing only")
    return _artefact(name)["value"]


def load(name: str) -> pd.DataFrame:
    """A printed table, tidy: one row a number, with the column ``note``. Raises `NbkitError` for a figure.

    >>> load("table2").query("language == 'ja' and model == 'opus-mt'").beta.item()
    0.69
    """
    value_column(name)  # an error for a figure
    table = pd.read_csv(_FOLDER / _artefact(name)["file"], keep_default_na=False)
    if "bold" in table:
        table["bold"] = table["bold"] == "yes"
    return table


def _as_text(name: str) -> pd.DataFrame:
    """The printed table with its numbers as the paper writes them, "0.40 ± 7.77e-06"."""
    texts = pd.read_csv(_FOLDER / _artefact(name)["file"], dtype=str, keep_default_na=False)
    printed = texts[value_column(name)]
    return texts.assign(printed=printed + " ± " + texts["interval"] if "interval" in texts else printed)


def beside(ours: pd.DataFrame, artefact: str, on: Sequence[str]) -> pd.DataFrame:
    """Our table with the paper's number beside each of its rows, where the paper prints one.

    ours: any table that has the columns *on* and, for a printed table, its value column (`value_column`).
    Returns the rows of *ours*, in their order, with four more columns: ``published`` (number or NaN),
    ``printed`` (as the paper writes it, or "not printed"), ``difference`` (ours − published, NaN where there
    is none) and ``note``.
    Raises `NbkitError` where a column is missing or *on* does not single out one printed number.

    >>> ours = pd.DataFrame({"language": ["de", "xx"], "model": "opus-mt", "flips": [500, 7]})
    >>> beside(ours, "table3", on=["language", "model"])[["language", "flips", "printed", "difference"]]
      language  flips      printed  difference
    0       de    500          514       -14.0
    1       xx      7  not printed         NaN
    """
    on = list(on)
    if not is_printed(artefact):
        nothing = float("nan")
        return ours.assign(published=nothing, printed=NOT_PRINTED, difference=nothing, note=note(artefact))
    value = value_column(artefact)
    missing = [column for column in [*on, value] if column not in ours]
    missing += [f"{column} (published)" for column in on if column not in load(artefact)]
    if missing:
        raise NbkitError(f"{title(artefact)}: no column {', '.join(missing)} to compare by")
    theirs = _as_text(artefact)[[*on, "printed", "note"]].assign(published=load(artefact)[value].astype(float))
    if theirs.duplicated(on).any():
        raise NbkitError(f"{title(artefact)}: {', '.join(on)} do not single out one printed number")
    found = theirs.set_index(_keys(theirs, on)).reindex(_keys(ours, on))
    published = found["published"].to_numpy()
    printed = found["printed"].fillna(NOT_PRINTED).to_numpy()
    notes = found["note"].fillna("").to_numpy()
    return ours.assign(published=published, printed=printed, difference=ours[value] - published, note=notes)


def _keys(table: pd.DataFrame, on: Sequence[str]) -> pd.Index:
    """The columns *on* as an index; a model by its label, so that it may be called by its name too."""
    columns = [table[name].map(model_label) if name == "model" else table[name] for name in on]
    return pd.MultiIndex.from_arrays(columns) if len(on) > 1 else pd.Index(columns[0])
