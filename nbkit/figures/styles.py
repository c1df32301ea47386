"""How tables are shown: numbers aligned, the best one marked, every text escaped, headings readable.

`styled` keeps the table's own column names in the data (for CSV copies) and changes only what is read.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from html import escape, unescape
from typing import Any
from unicodedata import bidirectional
from urllib.parse import urlencode

import numpy as np
import pandas as pd
from IPython.display import HTML
from pandas.api.types import is_bool_dtype, is_integer_dtype, is_numeric_dtype
from pandas.io.formats.style import Styler

from nbkit.figures import theme
from nbkit.measure.statistics import FEW

#: What stands for a number that does not exist.
NOTHING = "–"
#: The mark of a number that few units stand behind, and what it says below a table or beside a figure.
DAGGER = "†"
FEW_NOTE = f"{DAGGER} N below {FEW}: read with care"
#: The HTML element that `marked` puts around a part of a text where nothing else is said.
MARK = 'mark style="background-color: #fdeeba"'
# The sign of a number in a cell, and the sign of one that is rounded to nothing.
_HYPHEN = re.compile(r"(?<![\w.)\]])-(?=\d)")
_SIGN_OF_ZERO = re.compile(r"(?<![\w.)\]])[-+](?=0(?:\.0+)?(?![\d.]))")
_INTERVAL = re.compile(r"\d \[[^\]]+\]")
_NAME = 60  # characters: what is longer is a sentence
_ACROSS = "across"
#: The columns that may hold a sentence, and what a phrase of one is cut at.
_SENTENCES = ("source", "premise", "sentence", "text")
_BROKEN = re.compile(r"<[^>]*>|[\"<>&\n]")
_LONG_WORD = re.compile(r"\S{40}(?=\S)")
_PROBABILITIES = frozenset({"p", "p_corrected"})
_SIGNED = frozenset({"difference", "coded_difference", "inferred_difference", "effect", "rho"})
_SHARES = frozenset({"share", "paper_share", "inferred_share"})
#: A percent sign that would comment out the rest of a line of LaTeX.
_PERCENT = re.compile(r"(?<!\\)%")
#: What LaTeX would not print in a caption, and the parts of one that are formulas.
_SPECIAL = re.compile(r"(?<!\\)[%&#_^]")
_FORMULA = re.compile(r"(\$[^$]+\$)")
#: A symbol as it is written in plain text: a base, ^ or _, and what is raised or lowered.
_SYMBOL = re.compile(r"(?<!\w)(?P<base>[𝒫ΩDM])(?P<mark>[\^_])(?P<index>max|rand|cor|[cfx])(?!\w)")
#: Columns whose cells may hold symbols.
_SYMBOLIC = ("measure", "group", "stratum", "pairs", "note")


def typeset(text: str) -> str:
    """Plain *text* as HTML: escaped, symbols with their indices raised or lowered.

    >>> typeset("𝒫^c > Ω_max in a_max")
    '𝒫<sup>c</sup> &gt; Ω<sub>max</sub> in a_max'
    """

    def as_html(found: re.Match[str]) -> str:
        tag = "sup" if found["mark"] == "^" else "sub"
        return f"{found['base']}<{tag}>{found['index']}</{tag}>"

    return _SYMBOL.sub(as_html, escape(text))


def _formula(text: str) -> str:
    """Plain text with its symbols as formulas of LaTeX; their letters are replaced with all others."""
    written = theme.theme_data()["latex"]

    def as_formula(found: re.Match[str]) -> str:
        base = written.get(found["base"], found["base"]).strip("$")
        return rf"${base}{found['mark']}{{\mathrm{{{found['index']}}}}}$"

    return _SYMBOL.sub(as_formula, text)


def styled(
    frame: pd.DataFrame,
    *,
    caption: str = "",
    best: pd.DataFrame | None = None,
    headings: Mapping[str, str] | None = None,
    typeset: Callable[[str], str] = typeset,
) -> Styler:
    """*frame* as a table to be read.

    caption: plain text above the table. best: True where a cell is set in bold, same shape as *frame*.
    headings: what a column is called instead of its name, plain too.
    typeset: makes HTML of the caption and of a heading, and has to escape what is not meant as such.
    Beside intervals, an N of few units (column n) is marked, and where any cell is, the caption says what that means.
    Text and headings are escaped: a ``<script>`` in a sentence, or in the name of a model, is shown, never run.

    >>> table = styled(pd.DataFrame({"source": ["<script>x</script>"], "beta1": [0.5]}), headings={"source": "<b>"})
    >>> html = table.to_html()
    >>> "<script>" in html, "&lt;script&gt;" in html, "&lt;b&gt;" in html, "β₁" in html
    (False, True, True, True)
    """
    frame = frame.reset_index(drop=True)
    if (_marks_n(frame) and (frame["n"] < FEW).any()) or _any_text(frame, re.compile(DAGGER)):
        caption = f"{caption}. {FEW_NOTE}" if caption else FEW_NOTE
    frame.attrs = {"headings": dict(headings or {}), "caption": caption}
    digest = hashlib.blake2b(f"{caption}{list(frame.columns)}".encode(), digest_size=4).hexdigest()
    table = Styler(frame, uuid=digest, cell_ids=False).hide(axis="index")
    _format(table, "html", typeset)
    if best is not None and not frame.empty:
        bold = best.reset_index(drop=True).reindex(columns=frame.columns, fill_value=False).astype(bool)
        table.apply(
            lambda _: pd.DataFrame(np.where(bold, "font-weight: bold", ""), bold.index, bold.columns), axis=None
        )
    left = [i for i, name in enumerate(frame.columns) if not _reads_as_number(frame[name])]
    rules: list[Any] = [
        {"selector": "td, th", "props": "text-align: right; vertical-align: top"},
        {"selector": "td", "props": "white-space: nowrap"},
        {"selector": "caption", "props": "text-align: left; min-width: min(34em, 90vw)"},
        *({"selector": f"td.col{i}, th.col{i}", "props": "text-align: left; white-space: normal"} for i in left),
    ]
    table.set_table_styles(rules)
    return table.set_caption(typeset(caption)) if caption else table


def empty(why: str, caption: str = "", typeset: Callable[[str], str] = typeset) -> Styler:
    """A table that says, in words, why there is nothing in it. caption, typeset: see `styled`."""
    frame = pd.DataFrame({"nothing to show": [why.replace("\n", " ")]})
    return styled(frame, caption=caption, typeset=typeset).hide(axis="columns")


def to_latex(table: Styler, label: str = "") -> str:
    """A ``table`` with the same caption and cells, for a paper (booktabs rules, texts escaped for LaTeX).

    label: what ``\\ref`` finds it by, after ``tab:``.

    >>> print(to_latex(styled(pd.DataFrame({"beta": [0.5]}), caption="β, 50% of κ"), label="quality"))
    \\begin{table}
    \\centering
    \\caption{$\\beta$, 50\\% of $\\kappa$}
    \\label{tab:quality}
    \\begin{tabular}{r}
    \\toprule
    $\\beta$ \\\\
    \\midrule
    0.500 \\\\
    \\bottomrule
    \\end{tabular}
    \\end{table}
    <BLANKLINE>
    """
    frame: pd.DataFrame = table.data  # type: ignore[attr-defined]
    copy = frame.style.use({**table.export(), "table_styles": None, "table_attributes": None})
    _format(copy, "latex")
    aligned = "".join("r" if _reads_as_number(frame[name]) else "l" for name in frame.columns)
    tabular = copy.to_latex(hrules=True, convert_css=True, column_format=aligned)
    caption = "".join(
        part if place % 2 else _SPECIAL.sub(r"\\\g<0>", part)
        for place, part in enumerate(_FORMULA.split(_formula(frame.attrs.get("caption", ""))))
    )
    named = [f"\\caption{{{caption}}}"] * bool(caption) + [f"\\label{{tab:{label}}}"] * bool(label)
    text = "\n".join(["\\begin{table}", "\\centering", *named, f"{tabular}\\end{{table}}\n"])
    for character, command in theme.theme_data()["latex"].items():
        text = text.replace(character, command)
    return text


def _format(table: Styler, language: str, typeset: Callable[[str], str] = str) -> None:
    frame: pd.DataFrame = table.data  # type: ignore[attr-defined]
    names = {**theme.theme_data()["headings"], **frame.attrs["headings"]}
    formats: dict[Any, Any] = {n: _cell_format(n, frame[n]) for n in frame.columns if _reads_as_number(frame[n])}
    if _marks_n(frame):
        formats["n"] = _marked_n(formats["n"])
    table.format(formats, na_rep=NOTHING, escape=language)
    # pandas escapes a name before it asks what to call it, and not what it is called.
    if language == "latex":
        written = {name: _formula(_PERCENT.sub(r"\\%", heading)) for name, heading in names.items()}
        headings = written | {name.replace("_", r"\_"): heading for name, heading in written.items()}
        table.format_index(lambda name: headings.get(str(name), _plain(str(name))), axis=1, escape=language)
    else:
        texts: dict[Any, Any] = {name: _shown for name in frame.columns if name not in formats}
        texts |= {name: lambda value: typeset(str(value)) for name in texts if name in _SYMBOLIC}
        table.format(texts, na_rep=NOTHING, subset=list(texts))
        headings = {name: typeset(heading) for name, heading in names.items()}
        table.format_index(lambda name: headings.get(unescape(str(name)), _plain(str(name))), axis=1, escape=language)


def _shown(value: Any) -> str:
    return breakable(str(value))


def _plain(name: str) -> str:
    """What a column is called that nothing else was said of."""
    return name.replace(r"\_", " ").replace("_", " ")


def _is_number(column: pd.Series) -> bool:
    return is_numeric_dtype(column) and not is_bool_dtype(column)


def _reads_as_number(column: pd.Series) -> bool:
    """Whether a column holds numbers, or texts that each begin with one ("0.41 [0.38, 0.45]", "12 (3%)")."""
    return _is_number(column) or bool(column.map(str).str.match(rf"[-+]?\d|{NOTHING}$").all())


def _cell_format(name: str, column: pd.Series) -> Callable[[Any], str]:
    """How a cell of a number, or of a text that begins with one, is written."""
    written: Callable[[Any], str] = _number_format(name, column) if _is_number(column) else str
    return lambda value: signs(written(value))


def dagger(n: float) -> str:
    """The mark of a number of *n* units, "" where they are enough.

    >>> dagger(29), dagger(30), dagger(float("nan"))
    ('†', '', '')
    """
    return DAGGER if n < FEW else ""


def _marks_n(frame: pd.DataFrame) -> bool:
    """Whether a table has a column of N beside intervals, and not of other counts."""
    return "n" in frame and _is_number(frame["n"]) and ("low" in frame or _any_text(frame, _INTERVAL))


def _any_text(frame: pd.DataFrame, pattern: re.Pattern[str]) -> bool:
    texts = (frame[name] for name in frame.columns if not is_numeric_dtype(frame[name]))
    return any(isinstance(value, str) and pattern.search(value) for column in texts for value in column)


def _marked_n(written: Callable[[Any], str]) -> Callable[[Any], str]:
    return lambda n: written(n) + dagger(n)


def signs(text: str) -> str:
    """*text* with the minus sign for the hyphen before a number, and no sign before nothing.

    >>> signs("-0.106 [-0.200, -0.000]"), signs("+0.000"), signs("Marian-12")
    ('−0.106 [−0.200, 0.000]', '0.000', 'Marian-12')
    """
    return _HYPHEN.sub("−", _SIGN_OF_ZERO.sub("", text))


def _number_format(name: str, column: pd.Series) -> Callable[[float], str]:
    if name in _SHARES:
        return "{:.1%}".format
    if name in _PROBABILITIES:
        return _probability
    known = column.dropna()
    counted = len(known) and (known == known.round()).all() and (known.abs() > 1).any()
    sign = "+" if name in _SIGNED else ""
    return (f"{{:{sign},.0f}}" if counted or is_integer_dtype(column) else f"{{:{sign}.3f}}").format


def _probability(p: float) -> str:
    return "< 0.0001" if p < 0.0001 else f"{p:.4f}"


def with_interval(mean: Any, low: Any, high: Any, decimals: int = 3, n: float | None = None) -> str:
    """A mean with its interval, as written in a cell. n: how many units it is of, where no column says so.

    >>> with_interval(0.4123, 0.38, 0.45), with_interval(float("nan"), 0, 1)
    ('0.412 [0.380, 0.450]', '–')
    >>> with_interval(0.4, 0.1, 0.7, decimals=1, n=8)
    '0.4 [0.1, 0.7]†'
    """
    return _cell(mean, low, high, f".{decimals}f", n)


def _cell(mean: Any, low: Any, high: Any, form: str, n: float | None) -> str:
    if pd.isna(mean):
        return NOTHING
    shown = f"{mean:{form}}"
    if not (pd.isna(low) or pd.isna(high)):
        shown += f" [{low:{form}}, {high:{form}}]"
    return shown if n is None else shown + dagger(n)


def cells(
    table: pd.DataFrame, of: str, ends: Sequence[str] = (), form: str = ".3f", times: float = 1, n: str | None = None
) -> list[str]:
    """One cell per row: the number in the column *of*, with its interval if *ends* names the columns of its ends.

    form: how numbers are written, as in `format`. times: what they are multiplied by, 100 for percent. n: the column
    with how many units they are of, where the table that is shown has none.

    >>> rates = pd.DataFrame({"rate": [0.5, 0.25], "low": [0.4, 0.1], "high": [0.6, 0.4], "n": [100, 8]})
    >>> cells(rates, "rate", ["low", "high"], ".1f", 100, "n"), cells(rates, "rate", form="+.2f")
    (['50.0 [40.0, 60.0]', '25.0 [10.0, 40.0]†'], ['+0.50', '+0.25'])
    """
    low, high = (times * table[end] for end in ends) if ends else [[None] * len(table)] * 2
    units = table[n] if n else [None] * len(table)
    parts = zip(times * table[of], low, high, units, strict=True)
    return [_cell(value, lowest, highest, form, each) for value, lowest, highest, each in parts]


def wide(
    table: pd.DataFrame, rows: str | Sequence[str], columns: str, value: str, names: Sequence[Any] | None = None
) -> pd.DataFrame:
    """*table* as *rows* × *columns* with the cells *value*, in the order in which they first appear.

    names: the columns, where their order or number is another.

    >>> long = pd.DataFrame({"model": ["b", "b", "a"], "language": ["fr", "de", "fr"], "n": [1, 2, 3]})
    >>> wide(long, "model", "language", "n").fillna(0).astype(str).values.tolist()
    [['b', '1.0', '2.0'], ['a', '3.0', '0.0']]
    """
    keys = [rows] if isinstance(rows, str) else list(rows)
    found = table.pivot(index=keys, columns=columns, values=value)
    found = found.reindex(columns=list(dict.fromkeys(table[columns]) if names is None else names))
    found = table[keys].drop_duplicates().merge(found.reset_index().rename_axis(columns=None), on=keys, how="left")
    found.attrs[_ACROSS] = columns
    return found


def filters(frame: pd.DataFrame) -> list[dict[str, str]]:
    """What each row of *frame* is of, by its columns of names: the filters that lead to its sentences.

    >>> filters(pd.DataFrame({"language": ["de", "fr"], "beta": [0.1, 0.2], "shown": ["0.1 [0.0, 0.2]", "–"]}))
    [{'language': 'de'}, {'language': 'fr'}]
    """
    texts = [name for name in frame if not is_numeric_dtype(frame[name]) and not _reads_as_number(frame[name])]
    rows: list[dict[Hashable, Any]] = frame[texts].to_dict("records")
    return [{str(key): value for key, value in row.items() if isinstance(value, str) and 0 < len(value) <= _NAME}
            for row in rows]  # fmt: skip


def cell_filters(frame: pd.DataFrame, columns: Iterable[Hashable]) -> dict[str, Any]:
    """What the cells of a table are of: `filters` of its rows, its *columns*, and of what these are values, if of any.

    frame: the table's rows, with columns that are not shown.
    """
    return {"rows": filters(frame), "columns": list(map(str, columns)), "across": frame.attrs.get(_ACROSS, "")}


def text_filters(frame: pd.DataFrame, columns: Iterable[Hashable]) -> dict[str, Any]:
    """What leads from a table of sentences to each of them: the *column* with it, and a phrase of it for each row.

    frame: the table's rows, with columns that are not shown. The phrase stands in the sentence as it is: without
    quotation marks and what HTML marks in it. Empty where there are no sentences, or none is shown.

    >>> frame = pd.DataFrame({"source": ['He said "it is <mark>12</mark> kilometres from here".'], "n": [1]})
    >>> text_filters(frame, ["n", "source"])
    {'column': 1, 'phrases': ['kilometres from here']}
    """
    column = next((name for name in _SENTENCES if name in frame and not is_numeric_dtype(frame[name])), None)
    shown = list(map(str, columns))
    place = next((shown.index(name) for name in (column, "texts", "text", "sentence") if name in shown), None)
    if column is None or place is None:
        return {}
    parts = ([part.strip() for part in _BROKEN.split(str(text))] for text in frame[column])
    return {"column": place, "phrases": [max(part, key=len)[:_NAME] for part in parts]}


def links(frame: pd.DataFrame) -> list[str]:
    """The addresses, seen from a page of the report, of the sentences behind each row of *frame*.

    >>> links(pd.DataFrame({"language": ["de"], "beta": [0.1]}))
    ['../sentences.html#language=de']
    """
    return [f"../sentences.html#{urlencode(each)}" for each in filters(frame)]


def common_link(frame: pd.DataFrame) -> str | None:
    """The address of the sentences behind all rows of *frame*, None where these have nothing in common.

    >>> common_link(pd.DataFrame({"language": ["de", "de"], "model": ["a", "b"]}))
    '../sentences.html#language=de'
    """
    rows = filters(frame)
    shared = (
        {key: value for key, value in rows[0].items() if all(row.get(key) == value for row in rows)} if rows else {}
    )
    return f"../sentences.html#{urlencode(sorted(shared.items()))}" if shared else None


def best(numbers: pd.DataFrame, by: str = "row") -> pd.DataFrame:
    """Which of several cells are the highest of their row, or of their column.

    >>> best(pd.DataFrame({"a": [1, 2], "b": [3, 1]})).to_numpy().tolist()
    [[False, True], [True, False]]
    """
    if by == "column":
        return best(numbers.T).T
    return numbers.eq(numbers.max(axis=1), axis=0) & (len(numbers.columns) > 1)


def varying(table: pd.DataFrame, columns: Sequence[str]) -> list[str]:
    """Those of *columns* that distinguish rows.

    >>> varying(pd.DataFrame({"language": ["fr", "fr"], "model": ["a", "b"]}), ["language", "model"])
    ['model']
    """
    return [name for name in columns if table[name].nunique() > 1]


def marked(text: str, spans: Iterable[tuple[int, int]], element: str = MARK) -> str:
    """*text* as HTML with its *spans* in an *element*; see `marked_by`."""
    return marked_by(text, [(*span, element) for span in spans])


def marked_by(text: str, spans: Iterable[tuple[int, int, str]]) -> str:
    """*text* as HTML with each half-open range of characters in its own element; all of the text is escaped.

    Of overlapping ranges the first has what both want.

    >>> marked_by("a <b> c", [(2, 5, 'span style="color: red"'), (0, 1, "mark")])
    '<mark>a</mark> <span style="color: red">&lt;b&gt;</span> c'
    """
    parts, done = [], 0
    for start, end, element in sorted(set(spans)):
        start = max(start, done)
        if start < end:
            name = element.partition(" ")[0]
            parts += [breakable(text[done:start]), f"<{element}>{breakable(text[start:end])}</{name}>"]
            done = end
    return "".join([*parts, breakable(text[done:])])


def breakable(text: str) -> str:
    """*text* escaped as HTML, with places for the end of a line in words so long that a table would outgrow its page.

    Models that are lost write such words ("l'éppppppp…"). A copied text has nothing in it that was not there.

    >>> breakable("a < b"), breakable("o" * 50).partition("<wbr>")[2]
    ('a &lt; b', 'oooooooooo')
    """
    return escape(_LONG_WORD.sub("\\g<0>\0", text)).replace("\0", "<wbr>")


def isolated(html: str) -> str:
    """*html* kept apart from what stands around it where its script runs from right to left, else as it is.

    Without that a full stop that ends an Arabic sentence would stand at its beginning.

    >>> isolated("yes."), isolated("نعم.")
    ('yes.', '<bdi>نعم.</bdi>')
    """
    return f"<bdi>{html}</bdi>" if any(bidirectional(character) in ("R", "AL") for character in html) else html


def note(text: str, typeset: Callable[[str], str] = typeset) -> HTML:
    """A remark below a table or figure; *text* is plain. typeset: see `styled`."""
    return HTML(f'<p style="color: #586374; font-size: 90%">{typeset(text)}</p>')


def folded(table: Styler, summary: str) -> HTML:
    """A long table behind a line that opens it."""
    return HTML(f"<details><summary>{escape(summary)}</summary>{table.to_html()}</details>")
