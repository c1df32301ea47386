"""Outcomes: what every study finds out, in one shape; one row an item, system and measure.

The paper's tables are views of them, and so is everything that looks across studies or compares systems.

==================  ===================================================================================
column              what it holds
==================  ===================================================================================
schema_version      `SCHEMA_VERSION`: tables of another version are refused
study               the study's name
item                what was tested: `item_id` of its texts and of what was done to them
count               how many items of the run are this very one, in the same groups
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

import ast
import hashlib
import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from inspect import getsource, signature, unwrap
from pathlib import Path
from traceback import walk_tb
from typing import TYPE_CHECKING, Any, Final

import numpy as np

import nbkit
from nbkit.errors import DataError, NbkitError, closest
from nbkit.files import as_csv, atomic_write
from nbkit.fingerprint import check_definition
from nbkit.registry import Registry
from nbkit.store import Block, Store
from nbkit.studies import exports
from nbkit.studies.base import StudyParams
from nbkit.studies.behaviours import Behaviour, behaviours
from nbkit.studies.engine import Results, Study, study_of
from nbkit.studies.exports import COLUMNS, TEXTS
from nbkit.studies.study import Study as NewStudy

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

#: Goes up when a column changes its name or its meaning.
SCHEMA_VERSION: Final = 1
#: Goes up when the same item gets another id.
ITEM_VERSION: Final = 1
#: The columns that a study has to fill.
REQUIRED: Final = ("item", "system", "source_language", "measure", "value", "cluster", "groups")
VERDICTS: Final = ("pass", "fail", "undecided")
FORMATS: Final = ("parquet", "jsonl", "csv")
#: What makes two rows the same measurement of the same item.
_KEY: Final = ["system", "source_language", "target_language", "item", "measure"]
#: Rows that are written at a time.
_ROWS = 20_000
_METADATA = b"nbkit"


def item_id(texts: Sequence[str | None], treatment: Mapping[str, Any], draw: Sequence[int | str] = ()) -> str:
    """The id of an item: the digest of its texts, of what was done to them, and of the draw; the same in every run.

    texts: what is given before any system answers, such as source and reference, with their languages. treatment: what
    was done, by name; settings that change nothing of the texts are not part of it. draw: seed and number of a random
    treatment; a treatment with one outcome has none.

    >>> item_id(["en", "de", "It weighs 12 kg."], {"number": "12"})
    'fa24e477af8494f53c0c56cced397306'
    >>> one, other = (item_id(["en", "A b."], {"perturbation": "shuffled"}, [0, n]) for n in (1, 2))
    >>> one == other
    False
    """
    parts = [ITEM_VERSION, list(texts), sorted((name, str(value)) for name, value in treatment.items()), list(draw)]
    content = json.dumps(parts, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def outcomes(params: StudyParams, *, texts: bool = False, store: Store | None = None) -> Iterator[pd.DataFrame]:
    """The outcomes of a run of one study, a part at a time; identical items are one row with their number.

    params: the run, as for the study's tables; what is not remembered is computed, as by these. texts: whether items
    come with their texts. Columns: see `nbkit.studies.results`. Only a part, and what occurs more than once, is in
    memory. Raises `NbkitError` for a study that declares none.
    """
    import pandas as pd

    study, store = study_of(params), store or Store()
    if isinstance(study, NewStudy):
        yield from _long_outcomes(params, texts)
        return
    if study.results is None:
        raise NbkitError(f"the study '{study.name}' declares no outcomes")
    keys = [_hashes(table) for table in _streamed(study, study.results, params, store, False)]
    once, counts = np.unique(np.concatenate(keys), return_counts=True) if keys else (np.empty(0, np.uint64), [])
    repeated = once[np.asarray(counts) > 1]
    held: dict[tuple[Any, ...], list[Any]] = {}
    for table in _streamed(study, study.results, params, store, texts):
        again = np.isin(_hashes(table), repeated)
        for row in table[again].itertuples(index=False, name=None):
            names = [*_KEY, "groups"]  # an item that stands in two sets is two rows, with one id
            known = held.setdefault(tuple(str(row[table.columns.get_loc(name)]) for name in names), [0, row])
            known[0] += row[table.columns.get_loc("count")]
        if not again.all():
            yield table[~again].reset_index(drop=True)
    if held:
        columns = [*COLUMNS, *(TEXTS if texts else ())]
        table = pd.DataFrame([row for _, row in held.values()], columns=columns)
        yield table.assign(count=[count for count, _ in held.values()])


def _long_outcomes(params: StudyParams, texts: bool) -> Iterator[pd.DataFrame]:
    about = exports.declaration(params)
    for part in exports.parts(params, texts):
        yield exports.long_form(part, about["study"], about["behaviour"].get("outcomes"))


def _streamed(study: Study, results: Results, params: StudyParams, store: Store, texts: bool) -> Iterator[pd.DataFrame]:
    """The parts that a study's function yields, with all columns; what it raises names study, step, file and line."""
    try:
        for table in results.stream(params, store, texts):
            if not hasattr(table, "columns"):
                raise NbkitError(f"{results.place}: tables (pandas.DataFrame) are expected, found {table!r:.60}")
            if len(table):
                yield _completed(table, results, texts)
    except (NbkitError, MemoryError):
        raise
    except Exception as error:  # whatever a study's own code raises
        where = _where(study, results, error)
        raise NbkitError(f"{where}: {type(error).__name__}: {error}") from error


def _where(study: Study, results: Results, error: Exception) -> str:
    """The study, the step and the line in its file that an error comes from."""
    names = {unwrap(function).__code__: f"step '{name}'" for name, function in study.declared.items()}
    names[results.stream.__code__] = "outcomes"
    frames = list(walk_tb(error.__traceback__))
    code = next((frame.f_code for frame, _ in reversed(frames) if frame.f_code in names), results.stream.__code__)
    file = code.co_filename
    line = next((line for frame, line in reversed(frames) if frame.f_code.co_filename == file), code.co_firstlineno)
    return f"study '{study.name}', {names[code]} ({Path(file).name}:{line})"


def outdated(studies: Iterable[Study], store: Store | None = None) -> list[Block]:
    """The remembered tables of *studies* that were made by other code than today's: no key reaches them any more."""
    studies = [study for study in studies if not isinstance(study, NewStudy)]
    today = {f"{study.name}.{step.compute.__name__}": step for study in studies for step in study.steps}
    blocks = [block for block in (store or Store()).blocks() if block.kind in today]
    codes = {kind: today[kind].digest() for kind in {block.kind for block in blocks}}
    return [block for block in blocks if block.config.get("code") != codes[block.kind]]


def headline(params: StudyParams, found: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """The headline table of a study's run, computed from its outcomes alone.

    params: the run, of which a table may need what decides how outcomes are added up, such as a least number.
    """
    import pandas as pd

    results = study_of(params).results
    if results is None or results.again is None:
        raise NbkitError(f"the study '{study_of(params).name}' does not say how its headline follows from outcomes")
    whole = pd.concat(list(found), ignore_index=True)
    each = whole.loc[whole.index.repeat(whole["count"])].reset_index(drop=True)
    return results.again(each, params) if "params" in signature(results.again).parameters else results.again(each)


def write_outcomes(tables: Iterable[pd.DataFrame], path: Path, form: str, *, key: str = "") -> int:
    """Write outcomes to a file, whole or not at all; the number of rows.

    form: one of `FORMATS`. key: what the outcomes depend on, which a Parquet file carries (`written_key`).
    """
    if form not in FORMATS:
        raise NbkitError(f"there is no format '{form}' for outcomes; there are: {', '.join(FORMATS)}")
    n = 0

    def parts() -> Iterator[pd.DataFrame]:
        nonlocal n
        for table in tables:
            n += len(table)
            yield from (table.iloc[start : start + _ROWS] for start in range(0, len(table), _ROWS))

    with atomic_write(path) as temporary:
        _WRITERS[form](parts(), Path(temporary), key)
    return n


def written_key(path: Path) -> str | None:
    """The key that a Parquet file of outcomes was written with; None where there is no such file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        found = (pq.read_schema(path).metadata or {}).get(_METADATA, b"").decode()
    except (OSError, pa.ArrowException):
        return None
    return json.loads(found)["key"] if found.startswith("{") else found


def read_outcomes(path: Path, studies: Registry[Study] | None = None) -> Iterator[pd.DataFrame]:
    """The outcomes in a Parquet or JSON-lines file, a part at a time. Raises `DataError` for another version.

    studies: whose outcomes JSON lines may hold, which do not say what their columns are.
    """
    import pandas as pd

    if path.suffix == ".parquet":
        import pyarrow.parquet as pq

        file = pq.ParquetFile(path)
        if (file.schema_arrow.metadata or {}).get(_METADATA, b"").startswith(b"{"):
            about = exports.read_declaration(path)
            for batch in file.iter_batches(_ROWS):
                yield exports.long_form(batch.to_pandas(), about["study"], about["behaviour"].get("outcomes"))
            return
        parts: Iterable[Any] = (batch.to_pandas(maps_as_pydicts="strict") for batch in file.iter_batches(_ROWS))
    elif path.suffix == ".jsonl":
        parts = pd.read_json(path, lines=True, chunksize=_ROWS, dtype=False)
    else:
        raise NbkitError(f"{path}: outcomes are read from .parquet and .jsonl files")
    for part in parts:
        versions = set(part["schema_version"]) if "schema_version" in part else {None}
        if versions == {exports.SCHEMA_VERSION} and studies is not None:
            yield from _long_forms(part, behaviours(studies))
            continue
        if versions != {SCHEMA_VERSION}:
            other = next(iter(versions - {SCHEMA_VERSION}))
            raise DataError(
                f"outcomes of version {other}, this nbkit reads {SCHEMA_VERSION}: write them again, with "
                "`nbkit outcomes RUN`",
                path,
            )
        yield part


def _long_forms(rows: pd.DataFrame, declared: Mapping[str, Behaviour]) -> Iterator[pd.DataFrame]:
    for name, own in rows.groupby("study", sort=False):
        about = declared[str(name)].model_dump(mode="json") if name in declared else {}
        yield exports.long_form(own, str(name), about.get("outcomes") or {})


def _completed(table: pd.DataFrame, results: Results, texts: bool) -> pd.DataFrame:
    """*table* with all columns, in their order; what a study omits is the usual value.

    Raises `NbkitError` for a column that is missing, is none of the schema's, or holds values of another kind.
    """
    from pandas.api.types import is_numeric_dtype

    usual: dict[str, Any] = {"schema_version": SCHEMA_VERSION, "study": results.study.name, "count": 1}
    usual |= {"target_language": "", "sums": None, "verdict": None, "reason": "", **dict.fromkeys(TEXTS)}
    for name in table:
        if name not in (*COLUMNS, *TEXTS):
            raise NbkitError(_wrong_column(results, name, [each for each in (*COLUMNS, *TEXTS) if each not in table]))
    for name in COLUMNS:
        if name not in table and name not in usual:
            raise NbkitError(f"{results.place}: column '{name}' is missing; {_ADD}")
    wanted = [*COLUMNS, *(TEXTS if texts else ())]
    table = table.assign(**{name: usual[name] for name in wanted if name not in table})[wanted]
    table = table.assign(verdict=table["verdict"].astype(object).where(table["verdict"].notna(), None))
    odd: Mapping[str, tuple[str, Iterable[Any]]] = {
        "value": ("numbers or NaN", () if is_numeric_dtype(table["value"]) else table["value"]),
        "groups": ("dictionaries", (value for value in table["groups"] if not isinstance(value, Mapping))),
        "verdict": (f"{', '.join(VERDICTS)} or None", set(table["verdict"]) - {*VERDICTS, None}),
    }
    for name, (expected, values) in odd.items():
        for value in values:
            raise NbkitError(f"{results.place}: column '{name}': {expected} expected, found {value!r:.60}")
    return table


#: What to do about a column that is missing.
_ADD: Final = "add it to each table that the function yields (docs/adding-a-study.md lists the columns)"


def _wrong_column(results: Results, name: Any, absent: Sequence[str]) -> str:
    guess = closest(str(name), absent)
    way_out = f"did you mean '{guess}'?" if guess else "drop it, or put its values into 'groups'"
    return f"{results.place}: '{name}' is not a column of outcomes; {way_out}"


def misdeclared(study: Study) -> Iterator[str]:
    """What is wrong with a study's outcomes as far as its code shows it, one message each; computes none."""
    if isinstance(study, NewStudy) or (results := study.results) is None:
        return
    try:
        signature(results.stream).bind("params", "store", "texts")
    except TypeError as error:
        yield f"{results.place}: called with params, store and texts: {error}"
    try:
        check_definition(results.headline)
    except NbkitError as error:
        yield f"{results.place}: headline: {error}"
    if results.again is None:
        yield f"{results.place}: nothing says how the headline follows from outcomes: declare it with @outcomes.table"
    if study.package != nbkit.__name__:
        named = _named_in(results.stream.__module__.partition(".")[0])
        for name in REQUIRED if named and "COLUMNS" not in named else ():
            if name not in named:
                yield f"{results.place}: the study's code never names the column '{name}'; {_ADD}"


def _named_in(package: str) -> set[str]:
    """The words in texts and the names of keywords in the code of a package: its tables have no other columns.

    Empty for code that is in no file.
    """
    modules = [module for name, module in list(sys.modules.items()) if name.partition(".")[0] == package]
    try:
        trees = [ast.parse(getsource(module)) for module in modules]
    except (OSError, TypeError):
        return set()
    nodes = [node for tree in trees for node in ast.walk(tree)]
    docstrings = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    texts = [node.value for node in nodes if isinstance(node, ast.Constant) and id(node) not in docstrings]
    words = {word for text in texts if isinstance(text, str) for word in re.findall(r"\w+", text)}
    keywords = {node.arg for node in nodes if isinstance(node, ast.keyword) and node.arg}
    return words | keywords | {node.id for node in nodes if isinstance(node, ast.Name) and node.id == "COLUMNS"}


def _hashes(table: pd.DataFrame) -> np.ndarray:
    """64 bits of each row's key: enough to tell rows that certainly occur once."""
    import pandas as pd

    return pd.util.hash_pandas_object(table[_KEY], index=False).to_numpy()


def _write_parquet(parts: Iterator[pd.DataFrame], path: Path, key: str) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = None
    writer: Any = None
    for part in parts:
        if writer is None:
            schema = _schema([name for name in TEXTS if name in part], key)
            writer = pq.ParquetWriter(path, schema, compression="zstd")
        rows = part.assign(groups=objects(list(groups.items()) for groups in part["groups"]))
        if "spans" in part:
            rows = rows.assign(spans=objects(map(_text, part["spans"])))
        writer.write_table(pa.Table.from_pandas(rows, schema, preserve_index=False))
    if writer is None:
        pq.write_table(_schema([], key).empty_table(), path)
    else:
        writer.close()


def _schema(texts: Sequence[str], key: str) -> pa.Schema:
    import pyarrow as pa

    kinds = {"schema_version": pa.int32(), "count": pa.int64(), "value": pa.float64(), "sums": pa.list_(pa.float64()),
             "groups": pa.map_(pa.string(), pa.string())}  # fmt: skip
    return pa.schema([(name, kinds.get(name, pa.string())) for name in (*COLUMNS, *texts)], {_METADATA: key.encode()})


def _write_jsonl(parts: Iterator[pd.DataFrame], path: Path, key: str) -> None:
    with path.open("w", encoding="utf-8") as file:
        for part in parts:
            for row in part.to_dict("records"):
                if row["value"] != row["value"]:
                    row["value"] = None  # JSON has no NaN
                file.write(json.dumps(row, ensure_ascii=False) + "\n")


def _write_csv(parts: Iterator[pd.DataFrame], path: Path, key: str) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        for number, part in enumerate(parts):
            nested = [name for name in ("sums", "groups", "spans") if name in part]
            shown = part.assign(**{name: objects(map(_text, part[name])) for name in nested})
            rows = as_csv(shown)
            file.write(rows if number == 0 else rows.partition("\n")[2])


def objects(values: Iterable[Any]) -> np.ndarray:
    """*values* as they are, in an array: pandas would look into lists."""
    return np.fromiter(values, dtype=object)


def _text(value: Any) -> str | None:
    return None if value is None else json.dumps(value, ensure_ascii=False)


_WRITERS = {"parquet": _write_parquet, "jsonl": _write_jsonl, "csv": _write_csv}
