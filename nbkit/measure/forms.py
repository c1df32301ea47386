"""Human judgements: annotation forms, reading filled forms, accuracy and inter-annotator agreement.

`make_form` writes a spreadsheet with a drop-down in every row, and a key that holds the answers and the origin of
each row; `read_form` reads a filled form and rejects one that does not belong to the key;
`accuracy_table` and `agreement` make the tables (§8 and Table 6 of "Unnatural Language Inference").
`make_sense_form` and `make_naturalness_form` write the two tasks of the disambiguation paper (§3.3, A.6).

Filled forms come from untrusted sources, and openpyxl reads whatever a file declares. So the file is checked first,
incrementally, by a parser that stops at the first element that a form does not need.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial
from importlib import resources
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.parsers import expat
from zipfile import BadZipFile, ZipFile

import numpy as np

from nbkit.errors import DataError, NbkitError
from nbkit.files import atomic_write, is_stream
from nbkit.measure.statistics import mean_interval, normal_quantile, percentile_interval, share_interval
from nbkit.seeding import address, generator

if TYPE_CHECKING:
    import pandas as pd
    from openpyxl import Workbook

#: Limits: bytes of the file and of its unpacked content, number of files in it, last row and column.
MOST_BYTES, MOST_UNPACKED, MOST_PARTS, MOST_ROWS, MOST_COLUMNS = 20 * 2**20, 64 * 2**20, 1000, 100_000, 200
_MOST_DEPTH, _PIECE = 100, 2**16
_CELL = re.compile(r"\$?([A-Za-z]{1,3})\$?([0-9]{1,9})")


def read_sheet(path: Path, name: str, what: str = "spreadsheet") -> list[tuple[Any, ...]]:
    """The values in the rows of one sheet, from the first row; each row ends with its last filled cell.

    what: the name of *path* in errors. Raises `NbkitError`, with sheet and cell if possible, for a file that is not
    .xlsx, is damaged, declares XML entities or a document type, or exceeds the limits above.
    """
    from openpyxl import load_workbook

    what = f"{what} {path}"
    _check_parts(path, what)
    try:
        book = load_workbook(path, read_only=True, data_only=True)
    except Exception as error:  # openpyxl raises exceptions of any type
        raise _damaged(what, error) from error
    with closing(book):
        if name not in book.sheetnames:
            raise NbkitError(f"{what} has no sheet '{name}'; it has {', '.join(book.sheetnames)}")
        sheet: Any = book[name]
        place = f"{what}, sheet '{name}'"
        if not hasattr(sheet, "reset_dimensions"):
            raise NbkitError(f"{place}: a chart, not a table")
        with ZipFile(path) as archive:
            elements = _elements(archive, sheet._worksheet_path.removeprefix("/"), place)
            _check_cells(elements, place, sheet._shared_strings)
        sheet.reset_dimensions()  # the file's declaration may be wrong
        rows: list[tuple[Any, ...]] = []
        try:
            rows.extend(sheet.iter_rows(values_only=True))
        except Exception as error:
            raise _damaged(f"{place}, row {len(rows) + 1}", error) from error
        return rows


def _damaged(place: str, error: Exception) -> NbkitError:
    reason = " ".join(f"{type(error).__name__}: {error}".split())[:200]
    return NbkitError(f"{place} cannot be read ({reason}); open it in a spreadsheet program and save it as .xlsx again")


def _check_parts(path: Path, what: str) -> None:
    """Raises `NbkitError` if a part of the file is too large, not XML, or more than data."""
    way_out = "delete everything but the form's sheets and rows"
    if is_stream(path):
        raise NbkitError(f"{what}: not a regular file but a device or a pipe; save the form as a file")
    try:
        size = path.stat().st_size
        if size > MOST_BYTES:
            raise NbkitError(f"{what}: {size:,} bytes exceed the limit of {MOST_BYTES:,}; {way_out}")
        with ZipFile(path) as archive:
            parts = archive.infolist()
            unpacked = sum(part.file_size for part in parts)
            if len(parts) > MOST_PARTS or unpacked > MOST_UNPACKED:
                found = f"it contains {len(parts):,} files with {unpacked:,} bytes"
                most = f"the limits are {MOST_PARTS:,} files and {MOST_UNPACKED:,} bytes"
                raise NbkitError(f"{what}: {found}, {most}; {way_out}")
            for part in parts:
                if part.filename.endswith((".xml", ".rels", ".vml")):
                    for _ in _elements(archive, part.filename, f"{what}, {part.filename:.80}"):
                        pass
    except BadZipFile as error:
        raise NbkitError(f"{what} is not an .xlsx spreadsheet ({error}); save it as one") from error
    except OSError as error:
        raise NbkitError(f"{what} cannot be read: {error.strerror or error}") from None


def _elements(archive: ZipFile, part: str, place: str) -> Iterator[tuple[str, dict[str, str] | None, str]]:
    """The elements of a part: name and attributes at the start; name, None and the text at the end.

    Raises `NbkitError` for content that is not XML, declares a document type or entities, or is nested too deeply.
    """
    parser = expat.ParserCreate(namespace_separator=" ")
    events: list[tuple[str, dict[str, str] | None, str]] = []
    texts: list[list[str]] = []

    def refuse(*_: Any) -> None:
        reason = "it declares a document type or entities, which no spreadsheet program writes"
        raise NbkitError(f"{place}: {reason}; do not open it, and request the form again")

    def opened(name: str, attributes: dict[str, str]) -> None:
        if len(texts) >= _MOST_DEPTH:
            raise NbkitError(f"{place}: elements are nested more than {_MOST_DEPTH} deep")
        texts.append([])
        events.append((name.rpartition(" ")[2], attributes, ""))

    parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = refuse
    parser.StartElementHandler = opened
    parser.EndElementHandler = lambda name: events.append((name.rpartition(" ")[2], None, "".join(texts.pop())))
    parser.CharacterDataHandler = lambda text: texts[-1].append(text)
    try:
        with archive.open(part) as file:
            while piece := file.read(_PIECE):
                parser.Parse(piece, False)
                yield from events
                events.clear()
            parser.Parse(b"", True)
    except expat.ExpatError as error:
        raise NbkitError(f"{place}: not valid XML ({error}); save the form as .xlsx again") from None
    except (BadZipFile, EOFError, RuntimeError, NotImplementedError, ValueError) as error:  # cut, encrypted, and so on
        raise _damaged(place, error) from error


def _check_cells(elements: Iterable[tuple[str, dict[str, str] | None, str]], place: str, shared: Sequence[str]) -> None:
    """Raises `NbkitError`, with the cell, for values that cannot be read and cells beyond the limits.

    shared: the file's table of shared texts.
    """
    from openpyxl.utils import column_index_from_string, get_column_letter
    from openpyxl.utils.datetime import from_ISO8601

    readers: dict[str, tuple[str, Callable[[str], Any]]] = {
        "n": ("number", float),
        "b": ("truth value", int),
        "d": ("date", from_ISO8601),
        "s": ("shared text of the sheet", lambda text: range(len(shared)).index(int(text))),
    }
    row = column = 0
    kind, cell = "n", "cell A0"

    def refusal(reason: str) -> NbkitError:
        return NbkitError(f"{place}: {reason}")

    def number(text: str | None, default: int, what: str) -> int:
        if text is not None and not re.fullmatch(r"[0-9]{1,9}", text):
            raise refusal(f"{what} {text!r:.40} is not a number; save the form as .xlsx again")
        return default if text is None else int(text)

    for name, attributes, text in elements:
        if name == "row" and attributes is not None:
            row, column = number(attributes.get("r"), row + 1, "row"), 0
            if not 0 < row <= MOST_ROWS:
                raise refusal(f"row {row:,} exceeds the limit of {MOST_ROWS:,} rows; delete the empty ones")
        elif name == "c" and attributes is not None:
            kind, column = attributes.get("t", "n"), column + 1
            if "r" in attributes:
                found = _CELL.fullmatch(attributes["r"])
                if found is None or int(found[2]) != row:
                    reason = f"{attributes['r']!r:.40} is not a cell of it; save the form as .xlsx again"
                    raise refusal(f"row {row}: {reason}")
                column = column_index_from_string(found[1].upper())
            cell = f"cell {get_column_letter(column)}{row}"
            if column > MOST_COLUMNS:
                raise refusal(f"{cell}: column exceeds the limit of {MOST_COLUMNS}; delete the columns beyond it")
            number(attributes.get("s"), 0, f"{cell}: style")
        elif name == "v" and text and kind in readers:
            what, read = readers[kind]
            try:
                read(text)
            except (ValueError, OverflowError):
                raise refusal(f"{cell}: {text!r:.40} is not a {what}; type it in again") from None


# ----------------------------------------------------------------------------
# The form: a spreadsheet without answers for the annotator, a key with them for the evaluation.
#
# The form holds the texts in random order, a drop-down in every row, and nothing else: not the label, not the
# original texts, not which model accepted them. All of that is in the key, which annotators do not receive. A filled
# form is checked against the key row by row, so that no answer is counted for another item.

#: Incremented when the layout of forms changes.
VERSION = 1
SHEET = "judgements"
INSTRUCTIONS_SHEET = "instructions"
#: Columns of the form around the texts.
ITEM, ANSWER, REMARK = "item", "label", "remark"
#: The first row with a text, below the header.
FIRST_ROW = 2
_WIDTHS = {ITEM: 12, ANSWER: 16, REMARK: 30}
_TEXT_WIDTH = 60
_CHARACTERS_PER_LINE = 55


def key_path(form: str | Path) -> Path:
    """The path of the key of *form*.

    >>> str(key_path("round1.xlsx"))
    'round1.key.json'
    """
    return Path(form).with_suffix(".key.json")


def make_form(
    table: pd.DataFrame,
    path: str | Path,
    *,
    labels: Sequence[str],
    instructions: str,
    texts: Sequence[str] = ("premise", "hypothesis"),
    seed: int = 0,
    provenance: Mapping[str, Any] | None = None,
) -> tuple[Path, Path]:
    """Write the form of *table* at *path* (.xlsx) and its key beside it; returns both paths.

    table: one row per judgement: the columns *texts*, which are shown, ``label``, the answer, and any others (stratum,
    length group, original texts …), which go into the key. labels: the options of the drop-down. instructions: shown
    on a separate sheet. provenance: origin of the rows (models, corpus, seed), stored in the key.
    The order of the rows is drawn with *seed*, independently of the table's order.

    Raises `NbkitError` if a column is missing, a label is not in *labels*, a row is duplicated, the table is empty, or
    a file exists already: forms are sent to annotators, and a second one of this name would not match the stored key.
    """
    path = Path(path)
    if path.suffix != ".xlsx":
        raise NbkitError(f"annotation form '{path}': the file name must end in .xlsx")
    for target in (path, key_path(path)):
        if target.exists():
            raise NbkitError(f"{target} exists already: choose another name, as forms already sent need their key")
    items = _items(table, labels, texts, seed)
    key = {
        "kind": "nbkit annotation key",
        "version": VERSION,
        "form": path.name,
        "labels": list(labels),
        "texts": list(texts),
        "seed": seed,
        "provenance": dict(provenance or {}),
        "items": items,
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    # The key first: a form without a key is useless, a key without a form can be made again.
    with atomic_write(key_path(path)) as unfinished:
        unfinished.write_text(json.dumps(key, ensure_ascii=False, indent=1), encoding="utf-8")
    with atomic_write(path) as unfinished:
        _spreadsheet(items, labels, texts, instructions).save(unfinished)
    return path, key_path(path)


def _items(table: pd.DataFrame, labels: Sequence[str], texts: Sequence[str], seed: int) -> list[dict[str, Any]]:
    """The rows in their drawn order, each with its name: a digest of its shown texts."""
    _check_columns(table, (*texts, ANSWER))
    if table.empty:
        raise NbkitError("annotation form: the table has no rows, so there is nothing to judge")
    rows = json.loads(table.to_json(orient="records", force_ascii=False))
    seen: set[tuple[str, ...]] = set()
    for row in rows:
        shown = tuple(str(row[column]) for column in texts)
        if shown in seen:
            raise NbkitError(f"annotation form: these texts occur twice: {' / '.join(shown)}; remove one row")
        seen.add(shown)
        if row[ANSWER] not in labels:
            raise NbkitError(f"annotation form: unknown label '{row[ANSWER]}'; there are: {', '.join(labels)}")
    drawn = sorted((address(seed, "annotation", *(row[column] for column in texts)), row) for row in rows)
    return [{ITEM: f"{number:016x}"[:10], "row": FIRST_ROW + place, **row} for place, (number, row) in enumerate(drawn)]


def _spreadsheet(
    items: Sequence[Mapping[str, Any]], labels: Sequence[str], texts: Sequence[str], instructions: str
) -> Workbook:
    from openpyxl import Workbook
    from openpyxl.styles import Alignment, Font, PatternFill, Protection
    from openpyxl.utils import get_column_letter
    from openpyxl.worksheet.datavalidation import DataValidation

    book = Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.title = SHEET
    columns = [ITEM, *texts, ANSWER, REMARK]
    for number, column in enumerate(columns, start=1):
        head = sheet.cell(1, number, column)
        head.font, head.fill = Font(bold=True), PatternFill("solid", fgColor="DDDDDD")
        sheet.column_dimensions[get_column_letter(number)].width = _WIDTHS.get(column, _TEXT_WIDTH)
    sheet.freeze_panes = "A2"
    choice = DataValidation(type="list", formula1=f'"{",".join(labels)}"', allow_blank=True, showErrorMessage=True)
    choice.errorTitle, choice.error = "Unknown label", f"Choose one of {', '.join(labels)}."
    sheet.add_data_validation(choice)
    wrapped = Alignment(wrap_text=True, vertical="top")
    for item in items:
        row = int(item["row"])
        for number, column in enumerate(columns, start=1):
            cell = sheet.cell(row, number)
            cell.alignment = wrapped
            if column in (ANSWER, REMARK):
                cell.protection = Protection(locked=False)
            else:
                # A text that begins with "=" is not a formula.
                cell.value, cell.data_type = _printable(str(item[column])), "s"
            if column == ANSWER:
                choice.add(cell)
        longest = max(len(str(item[column])) for column in texts)
        sheet.row_dimensions[row].height = 15 * (1 + longest // _CHARACTERS_PER_LINE)
    sheet.protection.sheet = True  # only against accidental edits: no password
    page = book.create_sheet(INSTRUCTIONS_SHEET)
    page.column_dimensions["A"].width = 100
    for number, line in enumerate(instructions.splitlines(), start=1):
        page.cell(number, 1, line).alignment = wrapped
    return book


def _printable(text: str) -> str:
    """*text* without the control characters that a spreadsheet cannot contain."""
    from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE

    return ILLEGAL_CHARACTERS_RE.sub("\N{REPLACEMENT CHARACTER}", text)


def read_forms(forms: Mapping[str, str | Path], key: str | Path) -> pd.DataFrame:
    """The judgements of several annotators on one form: `read_form` of each, concatenated.

    forms: annotators' names to filled forms. Raises what `read_form` raises.
    """
    import pandas as pd

    return pd.concat([read_form(path, key, annotator=name) for name, path in forms.items()], ignore_index=True)


def read_form(path: str | Path, key: str | Path, *, annotator: str | None = None) -> pd.DataFrame:
    """The judgements in a filled form: one row per item, in the form's order.

    Columns: annotator (by default the file's name), item, judgement, remark, label (the key's answer), and all other
    columns of the table behind the form (pair, stratum, length group, original texts …).

    Raises `DataError` with file and row if a label is unknown or empty, or a row is missing, duplicated, changed, or
    not in the key; `NbkitError` if a file is not a form or not a key.
    """
    import pandas as pd

    path, key = Path(path), Path(key)
    answers = _key(key)
    sheet = read_sheet(path, SHEET, "annotation form")
    rows = [["" if cell is None else str(cell).strip() for cell in row] for row in sheet]
    header = rows[0] if rows else []
    for name in (wanted := (ITEM, *answers["texts"], ANSWER, REMARK)):
        if header.count(name) != 1:
            raise DataError(f"one column '{name}' expected, {header.count(name)} found", path, 1)
    labels = {label.lower(): label for label in answers["labels"]}
    expected = {item[ITEM]: item for item in answers["items"]}
    found: dict[str, dict[str, Any]] = {}
    for number, cells in enumerate(rows[1:], start=FIRST_ROW):
        filled = dict(zip(header, cells, strict=False))  # rows end with their last filled cell
        row = {name: filled.get(name, "") for name in wanted}
        if not any(row.values()):
            continue
        if problem := _row_problem(row, expected, found, answers, key):
            raise DataError(problem, path, number)
        item = expected[row[ITEM]]
        found[row[ITEM]] = {
            "annotator": annotator or path.stem,
            "item": row[ITEM],
            "judgement": labels[row[ANSWER].lower()],
            "remark": row[REMARK],
            **{name: value for name, value in item.items() if name not in (ITEM, "row")},
        }
    for name, item in expected.items():
        if name not in found:
            reason = f"item {name} is missing; it was in this row: {item[answers['texts'][0]]!r:.80}"
            raise DataError(reason, path, item["row"])
    return pd.DataFrame(list(found.values()))


def _row_problem(
    row: Mapping[str, str], expected: Mapping[str, Any], found: Mapping[str, Any], answers: Mapping[str, Any], key: Path
) -> str | None:
    """What is wrong with a row of a filled form, given the key's entry of its item and the rows *found* above it."""
    name, choose = row[ITEM], f"choose one of {', '.join(answers['labels'])}"
    if name not in expected:
        return f"item '{name}' is not in the key {key.name}; use the key of this form"
    if name in found:
        return f"item {name} occurs twice; delete one of the rows"
    for column in answers["texts"]:
        shown = _printable(str(expected[name][column]))
        if row[column] != shown.strip():
            return f"the {column} of item {name} was changed; it was {shown!r:.80}"
    if not row[ANSWER]:
        return f"no label; {choose}"
    if row[ANSWER].lower() not in map(str.lower, answers["labels"]):
        return f"unknown label '{row[ANSWER]}'; {choose}"
    return None


def _key(path: Path) -> dict[str, Any]:
    try:
        key = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        raise NbkitError(f"there is no annotation key {path}; give the one written with the form (.key.json)") from None
    except (ValueError, OSError, RecursionError) as error:
        raise NbkitError(f"annotation key {path} cannot be read: {error}") from error
    if not isinstance(key, dict) or key.get("kind") != "nbkit annotation key":
        raise NbkitError(f"{path} is not an annotation key; `nbkit annotate make` writes it with the form (.key.json)")
    if missing := sorted({"version", "labels", "texts", "items"} - set(key)):
        raise NbkitError(f"annotation key {path} lacks {', '.join(missing)}; restore the original file")
    if key["version"] != VERSION:
        raise NbkitError(f"annotation key {path} has version {key['version']}; this nbkit reads version {VERSION}")
    shapes = {"labels": str, "texts": str, "items": dict}
    for name, kind in shapes.items():
        if not isinstance(key[name], list) or not all(isinstance(each, kind) for each in key[name]):
            raise NbkitError(
                f"annotation key {path} is damaged: labels, texts and items must be lists; restore the original file"
            )
    wanted = {ITEM, "row", *key["texts"]}
    if not all(wanted <= item.keys() and isinstance(item["row"], int) for item in key["items"]):
        raise NbkitError(f"annotation key {path} is damaged: an item lacks its texts or row; restore the original file")
    return key


# ----------------------------------------------------------------------------
# Accuracy of annotators, and their agreement beyond chance: Cohen's κ, Fleiss' κ, Krippendorff's α.


def agreement(judgements: pd.DataFrame, *, labels: Sequence[str], resamples: int = 999, seed: int = 0) -> pd.DataFrame:
    """Agreement between every two annotators and among all of them, with intervals over items.

    judgements: as returned by `nbkit.measure.forms.read_forms`: columns annotator, item, judgement.

    Columns: measure ("share", "cohen", "fleiss", "krippendorff"), annotators ("X, Y" or "all"), value, low, high, n
    (items judged by all of them; for α every item with two judgements). "share" is raw agreement. Cohen's κ of two
    annotators, by scikit-learn; Fleiss' κ of all, by statsmodels; `krippendorff_alpha` of all. NaN if chance
    agreement is 1 (only one label was given). If all agree on everything, κ and α have no interval (NaN). Raises
    `NbkitError` with fewer than two annotators.

    Source: Cohen 1960; Fleiss 1971; Krippendorff 2011.
    """
    import pandas as pd
    from sklearn.metrics import cohen_kappa_score
    from statsmodels.stats.inter_rater import fleiss_kappa

    wide, names = _by_item(judgements)
    places = {label: place for place, label in enumerate(labels)}
    codes = np.array([[places.get(value, -1) for value in row] for row in wide[names].to_numpy()]).T
    size = len(labels)

    def cohen(drawn: np.ndarray) -> float:
        return cohen_kappa_score(drawn[0], drawn[1], labels=range(size))

    def fleiss(drawn: np.ndarray) -> float:
        return fleiss_kappa(np.stack([(drawn == label).sum(axis=0) for label in range(size)], axis=1))

    def row(name: str, who: str, measure: Callable[[np.ndarray], float], judged: np.ndarray) -> tuple[Any, ...]:
        def unless_constant(drawn: np.ndarray) -> float:
            return float("nan") if (drawn == drawn.flat[0]).all() else measure(drawn)

        return name, who, *_interval(unless_constant, judged, resamples, (seed, "agreement"))

    rows: list[tuple[Any, ...]] = []
    for a, b in combinations(range(len(names)), 2):
        both = codes[[a, b]][:, (codes[[a, b]] >= 0).all(axis=0)]
        pair = f"{names[a]}, {names[b]}"
        rows.append(("share", pair, *share_interval(both[0] == both[1])))
        rows.append(row("cohen", pair, cohen, both))
    rows.append(row("fleiss", "all", fleiss, codes[:, (codes >= 0).all(axis=0)]))
    alpha = partial(krippendorff_alpha, size=size)
    rows.append(row("krippendorff", "all", alpha, codes[:, (codes >= 0).sum(axis=0) > 1]))
    return pd.DataFrame(rows, columns=["measure", "annotators", "value", "low", "high", "n"])


def krippendorff_alpha(codes: np.ndarray, size: int) -> float:
    """Krippendorff's α for nominal labels: 1 − Dₒ / Dₑ from the matrix of coincidences.

    codes: annotators × items, label numbers below *size*, −1 for no judgement. An item with m judgements
    adds 1 / (m − 1) for each ordered pair of them; items with fewer than two add nothing. Dₒ is the share of
    coincidences of different labels, Dₑ the share expected for labels drawn without replacement. 1: full
    agreement, 0: chance. NaN if only one label was given.

    Source: Krippendorff 2011, *Computing Krippendorff's Alpha-Reliability*, section C.

    >>> krippendorff_alpha(np.array([[0, 1, 1, 0], [0, 1, 0, 0]]), 2)
    0.53...
    """
    counts = np.stack([(codes == label).sum(axis=0) for label in range(size)]).astype(float)  # labels × items
    judgements = counts.sum(axis=0)
    counts, judgements = counts[:, judgements > 1], judgements[judgements > 1]
    coincidences = (counts / (judgements - 1)) @ counts.T - np.diag((counts / (judgements - 1)).sum(axis=1))
    totals = coincidences.sum(axis=1)
    n = totals.sum()
    expected = n * n - (totals**2).sum()
    if expected == 0:
        return float("nan")
    return float(1 - (n - 1) * (n - np.trace(coincidences)) / expected)


def _by_item(judgements: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """The judgements, items × annotators, and the annotators' names. Raises `NbkitError` with fewer than two."""
    names = list(dict.fromkeys(judgements["annotator"]))
    if len(names) < 2:
        raise NbkitError(f"agreement needs two or more annotators; given: {', '.join(names) or 'none'}")
    return judgements.pivot(index="item", columns="annotator", values="judgement"), names


def _interval(
    measure: Callable[[np.ndarray], float], judged: np.ndarray, resamples: int, address: tuple[int, str]
) -> tuple[float, float, float, int]:
    """The measure of *judged* (annotators × items), its percentile interval over resampled items, and their number."""
    n = judged.shape[1]
    if n == 0:
        return float("nan"), float("nan"), float("nan"), 0
    random = generator(*address, n)
    draws = np.array([measure(judged[:, random.integers(n, size=n)]) for _ in range(resamples)])
    return (float(measure(judged)), *percentile_interval(draws), n)


def accuracy_table(
    judgements: pd.DataFrame, *, labels: Sequence[str], by: Sequence[str] = ("stratum",)
) -> pd.DataFrame:
    """Accuracy and macro-F1 of every annotator, over all items and in each stratum.

    judgements: as returned by `nbkit.measure.forms.read_form`. by: columns by whose values the items are grouped.

    Columns: annotator, by ("all", or a column of *by*), value, n, accuracy, low, high (Wilson's interval),
    half_width (Wald's, z·√(p(1 − p)/n), printed after ± in Table 6), macro_f1 (the mean over all *labels* of F1; a
    label that is neither in the key nor given counts 0). Raises `NbkitError` if a column is missing.

    Source: §8, Table 6; Wilson 1927 (interval), by statsmodels; F1 by scikit-learn.

    >>> import pandas as pd
    >>> table = pd.DataFrame({"annotator": "X", "judgement": ["e", "n", "n"], "label": ["e", "n", "c"]})
    >>> row = accuracy_table(table, labels=["e", "n", "c"], by=[]).iloc[0]
    >>> row["n"].item(), round(row["accuracy"].item(), 3), round(row["macro_f1"].item(), 3)
    (3, 0.667, 0.556)
    """
    import pandas as pd

    _check_columns(judgements, ("annotator", "judgement", "label", *by), "judgements")
    rows: list[tuple[Any, ...]] = []
    for annotator, group in judgements.groupby("annotator", sort=False):
        rows.append((annotator, "all", "", *_accuracy(group, labels)))
        for column in by:
            for value, part in group.groupby(column, sort=True):
                rows.append((annotator, column, value, *_accuracy(part, labels)))
    columns = ["annotator", "by", "value", "n", "accuracy", "low", "high", "half_width", "macro_f1"]
    return pd.DataFrame(rows, columns=columns)


def _accuracy(group: pd.DataFrame, labels: Sequence[str]) -> tuple[float, ...]:
    """n, accuracy, low, high, half_width and macro_f1 of a group of judgements."""
    from sklearn.metrics import f1_score
    from statsmodels.stats.proportion import proportion_confint

    n, correct = len(group), int((group["judgement"] == group["label"]).sum())
    accuracy = correct / n
    low, high = proportion_confint(correct, n, alpha=0.05, method="wilson")
    half = normal_quantile(0.95) * (accuracy * (1 - accuracy) / n) ** 0.5
    f1 = f1_score(group["label"], group["judgement"], labels=list(labels), average="macro", zero_division=0)
    return n, accuracy, float(low), float(high), float(half), float(f1)


# ----------------------------------------------------------------------------
# The two tasks of the disambiguation paper (§3.3, A.6): the sense of a homograph, and the naturalness of a
# sentence.
#
# `make_sense_form` and `make_naturalness_form` write forms from a table of sentences;
# `nbkit.measure.forms.read_forms` reads filled ones; `error_rates`, `naturalness` and `weighted_agreement` make
# the tables of §3.3.

#: Options of the drop-down of the first task.
SENSE_ANSWERS = ("SENSE 1", "SENSE 2", "BOTH", "NONE")
#: The scale of the second task, from completely unnatural to completely natural.
NATURALNESS = ("1", "2", "3", "4", "5")
#: Entry in the key's column of answers if there is no right answer.
_NO_ANSWER = NATURALNESS[2]
_SCALE = (float(NATURALNESS[0]), float(NATURALNESS[-1]))


def make_sense_form(
    table: pd.DataFrame, path: str | Path, *, seed: int = 0, provenance: Mapping[str, Any] | None = None
) -> tuple[Path, Path]:
    """Write the form of the first task at *path* (.xlsx) and its key beside it; returns both paths.

    table: one row per sentence: sentence, homograph, correct and other (the translations or glosses of either sense),
    set ("adversarial" or "regular"), and any others, which go into the key. Which of the two senses is
    shown first is drawn with *seed*. Raises what `nbkit.measure.forms.make_form` raises.
    """
    import pandas as pd

    _check_columns(table, ("sentence", "homograph", "correct", "other", "set"))
    rows = []
    for row in table.to_dict("records"):
        first = address(seed, "sense first", row["sentence"], row["homograph"]) % 2 == 0
        one, two = (row["correct"], row["other"]) if first else (row["other"], row["correct"])
        rows.append({**row, "SENSE 1": one, "SENSE 2": two, "label": SENSE_ANSWERS[0 if first else 1]})
    return make_form(
        pd.DataFrame(rows, columns=[*table.columns, "SENSE 1", "SENSE 2", "label"]),
        path,
        labels=SENSE_ANSWERS,
        instructions=_instructions("sense"),
        texts=("sentence", "homograph", "SENSE 1", "SENSE 2"),
        seed=seed,
        provenance=provenance,
    )


def make_naturalness_form(
    table: pd.DataFrame, path: str | Path, *, seed: int = 0, provenance: Mapping[str, Any] | None = None
) -> tuple[Path, Path]:
    """Write the form of the second task at *path* (.xlsx) and its key beside it; returns both paths.

    table: as for `make_sense_form`; sentence and homograph are shown. There is no right answer; the key's
    column of answers has no meaning. Raises what `nbkit.measure.forms.make_form` raises.
    """
    _check_columns(table, ("sentence", "homograph", "set"))
    return make_form(
        table.assign(label=_NO_ANSWER),
        path,
        labels=NATURALNESS,
        instructions=_instructions("naturalness"),
        texts=("sentence", "homograph"),
        seed=seed,
        provenance=provenance,
    )


def error_rates(judgements: pd.DataFrame) -> pd.DataFrame:
    """How often annotators did not choose the sentence's sense, by set and annotator, and for all annotators (§3.3).

    judgements: as returned by `nbkit.measure.forms.read_forms` for the first task.

    Columns: set, annotator ("all" for all annotators), n, error_rate, low, high (of a share; the units are sentences,
    which all annotators judge), wrong_sense, both, none (shares of the answers, which add up to the error rate).
    """
    import pandas as pd

    rows = []
    for name, annotator, own in _by_annotator(judgements):
        wrong = share_interval((own["judgement"] != own["label"]).to_numpy(), groups=own["item"].tolist())
        both, none = (float((own["judgement"] == answer).mean()) for answer in SENSE_ANSWERS[2:])
        rows.append((name, annotator, len(own), *wrong[:3], wrong.mean - both - none, both, none))
    columns = ["set", "annotator", "n", "error_rate", "low", "high", "wrong_sense", "both", "none"]
    return pd.DataFrame(rows, columns=columns)


def naturalness(judgements: pd.DataFrame) -> pd.DataFrame:
    """The mean score of each set, by annotator and for all annotators, with intervals over sentences (§3.3).

    judgements: as returned by `nbkit.measure.forms.read_forms` for the second task. Columns: set, annotator, mean, low,
    high, n (sentences).
    """
    import pandas as pd

    rows = []
    for name, annotator, own in _by_annotator(judgements):
        interval = mean_interval(own["judgement"].astype(float).to_numpy(), groups=own["item"].tolist(), within=_SCALE)
        rows.append((name, annotator, *interval))
    return pd.DataFrame(rows, columns=["set", "annotator", "mean", "low", "high", "n"])


def _by_annotator(judgements: pd.DataFrame) -> Iterator[tuple[Any, Any, pd.DataFrame]]:
    """Each set, each of its annotators and "all", and their judgements."""
    for name, group in judgements.groupby("set", sort=True):
        for annotator, own in [*group.groupby("annotator", sort=False), ("all", group)]:
            yield name, annotator, own


def weighted_agreement(judgements: pd.DataFrame, *, resamples: int = 999, seed: int = 0) -> pd.DataFrame:
    """Cohen's weighted κ of every two annotators, with linear and with quadratic weights: 1 − Σ w o / Σ w e.

    o, e: shares of pairs of answers as observed, and as expected of annotators who answer independently; w = |i − j| or
    (i − j)² for the answers i and j on the scale. 1: full agreement, 0: chance. NaN if undefined (both
    annotators gave the same score to everything). The paper does not specify the weights of its 0.17.

    judgements: as returned by `read_forms` for the second task. Columns: weights, annotators, value, low,
    high (bootstrap over sentences), n. Raises `NbkitError` with fewer than two annotators. Source: Cohen 1968.
    """
    import pandas as pd

    wide, names = _by_item(judgements)
    wide = wide.dropna().astype(int).sort_index()
    rows: list[tuple[Any, ...]] = []
    for weights in ("linear", "quadratic"):
        for one, two in combinations(names, 2):
            scores = wide[[one, two]].to_numpy().T
            kappa = partial(weighted_kappa, weights=weights)
            rows.append((weights, f"{one}, {two}", *_interval(kappa, scores, resamples, (seed, "weighted agreement"))))
    return pd.DataFrame(rows, columns=["weights", "annotators", "value", "low", "high", "n"])


def weighted_kappa(scores: np.ndarray, weights: str = "linear") -> float:
    """Cohen's weighted κ of two rows of scores; weights: "linear" or "quadratic". See `weighted_agreement`.

    >>> round(weighted_kappa(np.array([[1, 2, 3, 4], [1, 2, 3, 5]])), 3)
    0.833
    """
    (a, b), power = scores, 1 if weights == "linear" else 2
    expected = (np.abs(a[:, None] - b[None, :]) ** power).mean() if len(a) else 0.0
    return float(1 - (np.abs(a - b) ** power).mean() / expected) if expected > 0 else float("nan")


def _check_columns(table: pd.DataFrame, names: Sequence[str], what: str = "annotation form") -> None:
    missing = [name for name in names if name not in table]
    if missing:
        raise NbkitError(f"{what}: no column {', '.join(missing)}; there are: {', '.join(table.columns)}")


def _instructions(task: str) -> str:
    return resources.files(__package__).joinpath(f"{task}_instructions.txt").read_text("utf-8")
