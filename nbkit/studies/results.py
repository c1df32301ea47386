"""The long form of outcomes, which cards, comparisons and the browser of sentences read.

One row per item, system and measure, made of the tidy tables of `nbkit.studies.exports` by what a study declares:

==================  ===================================================================================
column              what it holds
==================  ===================================================================================
schema_version      of the form
study               the study's name
item                what was tested: an id that is the same in every run
count               how many items of the run are this very one
system              the model, by its label
source_language     what it reads; for a classifier the language of both texts
target_language     what it writes; "" for a classifier
measure             what was measured, such as "strict" or "bleu/beta1"
value               the measure's value, NaN where it is not defined
sums                what a corpus-level measure adds up (of BLEU: matches, totals, lengths); None for others
verdict             "pass", "fail" or "undecided" where the measure decides, None where it is a number only
reason              why it failed or is undecided, "" else
cluster             what to resample by: items of one cluster are not independent
groups              what the item is one of, by name: capability, perturbation, idiom, format, label, …
==================  ===================================================================================

With texts also: source, changed (the text that the system was given, where something was done to the source),
reference, output and spans: what to mark, as ``{"text": "output", "start": 4, "end": 9, "label": "number"}``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from nbkit.errors import DataError, NbkitError
from nbkit.registry import Registry
from nbkit.studies import exports
from nbkit.studies.behaviours import Behaviour, behaviours

if TYPE_CHECKING:
    import pandas as pd

VERDICTS: Final = ("pass", "fail", "undecided")
#: Rows that are read at a time.
_ROWS = 20_000


def outcomes(params: Any, *, texts: bool = False) -> Iterator[pd.DataFrame]:
    """The outcomes of a run in the long form, a part at a time; what is missing is computed first."""
    about = exports.declaration(params)
    for part in exports.parts(params, texts):
        yield exports.long_form(part, about["study"], about["behaviour"].get("outcomes"))


def written_key(path: Path) -> str | None:
    """The key that a Parquet file of outcomes was written with; None where there is no such file."""
    try:
        return str(exports.read_declaration(path)["key"])
    except DataError:
        return None


def read_outcomes(path: Path, studies: Registry[Any] | None = None) -> Iterator[pd.DataFrame]:
    """The outcomes in a Parquet or JSON-lines file, a part at a time. Raises `DataError` for another version.

    studies: whose outcomes JSON lines may hold, which do not say what their columns are.
    """
    import pandas as pd

    if path.suffix == ".parquet":
        import pyarrow.parquet as pq

        about = exports.read_declaration(path)
        for batch in pq.ParquetFile(path).iter_batches(_ROWS):
            yield exports.long_form(batch.to_pandas(), about["study"], about["behaviour"].get("outcomes"))
    elif path.suffix == ".jsonl" and studies is not None:
        declared = behaviours(studies)
        for part in pd.read_json(path, lines=True, chunksize=_ROWS, dtype=False):
            versions = set(part["schema_version"]) if "schema_version" in part else {1}
            exports.check_version(min(versions), path)
            yield from _long_forms(part, declared)
    else:
        raise NbkitError(f"{path}: outcomes are read from .parquet and .jsonl files")


def _long_forms(rows: pd.DataFrame, declared: Mapping[str, Behaviour]) -> Iterator[pd.DataFrame]:
    for name, own in rows.groupby("study", sort=False):
        about = declared[str(name)].model_dump(mode="json") if name in declared else {}
        yield exports.long_form(own, str(name), about.get("outcomes"))
