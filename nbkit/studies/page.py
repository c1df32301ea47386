"""What every notebook page of a study shows: figures, tables, remarks, and where its results come from.

A page's first cell makes a `Page`; one call of `Page.show` then shows a figure or table, saves it and puts what the
paper prints beside it. Captions of tables are in ``tables.yaml`` in the folder of their study; `Sheets` shows them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any

import pandas as pd
from IPython.display import HTML, display
from matplotlib.figure import Figure
from pandas.io.formats.style import Styler

from nbkit import provenance
from nbkit.corpora import CORPORA
from nbkit.corpora.corpus import declared
from nbkit.corpora.nli import NLI_CORPORA
from nbkit.figures import panels, styles, theme
from nbkit.figures.panels import NO_MODEL
from nbkit.models import costs, resolve, resolve_classifier
from nbkit.models.catalogue import BY_RULE, weights_licence
from nbkit.models.python import remarked
from nbkit.models.services.names import LABEL_FILE
from nbkit.store import Store
from nbkit.studies.paper import Paper
from nbkit.yaml_text import read_own

#: Entries of ``tables.yaml`` that are not tables of a run.
_HEADINGS, _PRINTED = "headings", "printed"

#: What a table's output carries in its metadata: of what its cells are (`nbkit.figures.styles.cell_filters`).
_FILTERS = "sentences"

#: The domain of nbkit's templates.
_WRITTEN = "sentences written for tests"
#: How the names of parameters that hold corpora end.
_CORPORA = ("corpus", "corpora", "templates")


def begin() -> None:
    """Show figures as SVG. Called once, in a notebook's first cell of code."""
    theme.use_vector_output()


def footer(
    params: Any,
    facts: Mapping[str, str] | None = None,
    models: Iterable[str] = (),
    key: Callable[[str], Any] = lambda name: None,
    *,
    pairs: Iterable[tuple[str, str]] = (),
    language: str = "",
    licensed: Iterable[str] = (),
    shown: Mapping[str, Any] | None = None,
) -> provenance.Footer:
    """Where a page's results come from: parameters, models and what they charged, versions, device.

    facts: what else the results depend on, such as aligners and metric settings, by what it is called. models: names,
    each with its *key* in the store; shown with them is what is to be said of programs and files of translations.
    pairs: languages that they translate between; language: of classifiers. licensed: more models whose licences are
    shown. shown: the parameters as they are shown, where they read differently.
    """
    names = list(dict.fromkeys(models))
    pairs = list(pairs)
    charged = costs(names, pairs, params.decoding, store=Store()) if names and pairs else {}
    return provenance.footer(
        shown or params,
        signatures=facts or {},
        models=remarked(names, key),
        systems=systems(names, pairs, language),
        costs=charged,
        licences=licences(params, [*names, *licensed]),
        domains={each["name"]: each["domain"] for each in corpora(params) if each["domain"]},
    )


def systems(names: Iterable[str], pairs: Sequence[tuple[str, str]], language: str = "") -> list[str]:
    """The programs and files among the systems *names*, each with what is to be said of it (`RemoteModel.remark`).

    pairs: as translators; language: as classifiers, where there are no pairs.
    """
    said: dict[str, dict[str, None]] = {}
    for name in (each.removeprefix(BY_RULE) for each in names):
        asked = [(resolve(name, *pair).remote, *pair) for pair in pairs]
        if language:
            asked = [(resolve_classifier(name, language).remote, language, LABEL_FILE)]
        for remote, src, tgt in asked:
            if remote is not None and (remark := remote.remark(src, tgt)):
                said.setdefault(name, {})[remark] = None
    return [f"{name} ({'; '.join(remarks)})" for name, remarks in said.items()]


class Page:
    """A notebook page: shows figures and tables, saves them, and puts the paper's values beside them.

    tables: those of the page's study, with its paper. Figures are shown as SVG from here on.
    """

    def __init__(self, tables: Sheets):
        self._tables = tables
        begin()

    def show(
        self,
        name: str,
        shown: Figure | Styler | pd.DataFrame,
        *,
        data: pd.DataFrame | None = None,
        text: pd.DataFrame | None = None,
        fold: str = "",
        beside: Styler | None = None,
        beside_fold: str = "",
        printed: str | Sequence[str] = (),
        whole: tuple[str | Sequence[str], str] | None = None,
    ) -> None:
        """Show a figure or a table and save it under *name*; then what the paper prints, if asked for.

        Parameters
        ----------
        name
            The names of the files, without suffix: ``figures/NAME.pdf``; ``tables/NAME.csv`` and, of a styled table,
            ``tables/NAME.tex``.
        shown
            A figure is saved as PDF, a table as CSV; a figure that only says why there is nothing to draw is a remark.
        data
            The table that is saved as CSV in place of the one that is shown, or beside a figure.
        text
            The same for a table that holds sentences of a corpus, saved as ``tables/NAME.texts.csv`` only; a copy of
            the report without text omits it.
        fold
            The line behind which a long table is folded.
        beside
            The run's values beside the printed ones, shown below; folded behind the line *beside_fold*, if given.
        printed
            The paper's tables or figures that this answers; remarks on them are shown last (`Sheets.remark`).
        whole
            Rows and columns of the first of *printed*, to show the paper's whole table, folded (`Sheets.printed`).
        """
        why = theme.said(shown) if isinstance(shown, Figure) else ""
        if isinstance(shown, Figure) and not why:
            panels.save_figure(shown, name)
        if text is not None:
            panels.save_text_table(text, name)
        elif data is not None:
            panels.save_table(data, name)
        elif not isinstance(shown, Figure):
            panels.save_table(shown, name)  # type: ignore[type-var]  # one or the other
        filters = shown.data.attrs.get(_FILTERS) if isinstance(shown, Styler) else None  # type: ignore[attr-defined]
        metadata = {_FILTERS: filters} if filters else None
        if why:
            display(self._tables.note(why))
        elif isinstance(shown, Figure):
            display(shown, metadata={"alt": panels.described(shown)})
        else:
            display(styles.folded(shown, fold) if fold and isinstance(shown, Styler) else shown, metadata=metadata)
        if beside is not None:
            display(styles.folded(beside, beside_fold) if beside_fold else beside)
        names = [printed] if isinstance(printed, str) else list(printed)
        if whole is not None:
            table = self._tables.printed(names[0], *whole)
            display(styles.folded(table, f"The paper's whole {self._tables.numbers(names[0])}, by {whole[1]}"))
        if names:
            self.remark(*names)

    def save(self, name: str, table: pd.DataFrame) -> None:
        """Save a table without showing it, as ``tables/NAME.csv``."""
        panels.save_table(table, name)

    def folded(self, table: Styler, summary: str) -> None:
        """Show a table behind a line that opens it, without saving it."""
        display(styles.folded(table, summary))

    def remark(self, *artefacts: str) -> None:
        """Show what is odd about the paper's tables and figures, or that they are only drawn (`Sheets.remark`)."""
        display(self._tables.remark(*artefacts))

    def note(self, text: str) -> None:
        """Show a remark, such as that the paper prints no values."""
        display(self._tables.note(text))

    def research_code(self) -> None:
        """Show what the paper's research code does differently, if anything is known of it."""
        if (differences := research_code(self._tables.paper)) is not None:
            display(differences)


def licences(params: Any, models: Iterable[str]) -> dict[str, str]:
    """The licences of the named corpora that *params* hold and of the weights of *models*, where they are from the hub.

    >>> from nbkit.studies.word_order import WordOrderParams
    >>> licences(WordOrderParams(corpus="multi30k:val"), ["nllb-600m", "sandbox-marian"])
    {'multi30k': 'CC BY-NC-SA 4.0', 'nllb-600m': 'CC BY-NC 4.0'}
    """
    found = {each["name"]: each["licence"] for each in corpora(params)}
    found |= {name: weights_licence(name) for name in models}
    return {name: licence for name, licence in found.items() if licence}


def corpora(params: Any) -> list[dict[str, str]]:
    """The corpora that *params* hold: name, summary, domain and licence, empty for those that are not declared.

    >>> from nbkit.studies.word_order import WordOrderParams
    >>> found = corpora(WordOrderParams(corpus="multi30k:val"))[0]
    >>> found["domain"], found["licence"]
    ('image captions', 'CC BY-NC-SA 4.0')
    """
    specs = [each for name, value in params if name.endswith(_CORPORA) for each in _texts(value)]
    return list({facts["name"]: facts for facts in map(corpus_facts, specs)}.values())


def corpus_facts(spec: str) -> dict[str, str]:
    """What is declared of a corpus: name, summary, domain and licence; of others the start of *spec* as their name."""
    spec = spec.removeprefix("corpus:")
    name = declared(spec) or spec.partition(":")[0]
    known = NLI_CORPORA if name in NLI_CORPORA else CORPORA
    domain = _WRITTEN if name == "own" else known.domain(name)
    return {"name": name, "summary": known.summary(name), "domain": domain, "licence": known.licence(name)}


def _texts(value: Any) -> list[str]:
    """The texts of a parameter that is one, a list of them or a mapping to them; of any other, none."""
    if isinstance(value, str):
        return [value]
    return list(value.values() if isinstance(value, Mapping) else value) if isinstance(value, Mapping | list) else []


class Sheets:
    """The tables of a study's pages; what is said of them is data.

    file: ``tables.yaml``, with an entry a table. All of an entry is optional:

    - caption, with {fields}.
    - empty: what stands there in place of a table without rows, by default that there is no model in the run.
    - columns: those that are shown, in their order, between spaces or as a list, if the table has them; all,
      if there are none. With a question mark behind it, a column is shown where it distinguishes rows.
    - cells: columns made of numbers, each with the arguments of `nbkit.figures.styles.cells`; ``of`` is by default the
      column of the same name.
    - headings of columns that go by another name; those of the entry ``headings`` hold for all tables.
    - html: columns that hold HTML, made by *texts* or before.
    - css: rules for the cells of a column, if it is there.

    Names of columns in ``columns``, ``cells`` and ``headings`` may hold {fields}, too.

    paper: whose printed tables are shown by `printed` and `beside`. names: what reads the names in a column. texts:
    what makes HTML of a row, by the column that it fills. heads: what reads names that are headings in `printed`, where
    it is not as in a column. typeset: see `nbkit.figures.styles.styled`.
    """

    def __init__(
        self,
        file: Path,
        paper: Paper | None = None,
        *,
        names: Mapping[str, Callable[[Any], Any]] | None = None,
        texts: Mapping[str, Callable[[dict[Hashable, Any]], str]] | None = None,
        heads: Mapping[str, Callable[[Any], str]] | None = None,
        typeset: Callable[[str], str] = escape,
    ):
        self._file, self._paper = file, paper
        self._names, self._texts, self._typeset = dict(names or {}), dict(texts or {}), typeset
        self._heads = {**self._names, **(heads or {})}

    @cached_property
    def _entries(self) -> dict[str, dict[str, Any]]:
        return read_own(self._file)

    @property
    def paper(self) -> Paper:
        """The paper whose printed tables are shown."""
        if self._paper is None:
            raise ValueError(f"{self._file}: no paper is known whose tables could be shown")
        return self._paper

    def why(self, name: str) -> str:
        """What stands in place of a table without rows; figures of the same rows say it, too."""
        return self._entries[name].get("empty", NO_MODEL)

    def empty(self, why: str, caption: str = "") -> Styler:
        """A table that says, in words, why there is nothing in it."""
        return styles.empty(why, caption, typeset=self._typeset)

    def show(
        self,
        name: str,
        frame: pd.DataFrame,
        *,
        best: pd.DataFrame | None = None,
        headings: Mapping[str, str] | None = None,
        why: str = "",
        **fields: str,
    ) -> Styler:
        """*frame* by the entry *name*; its ``data`` is what a CSV copy holds.

        best: True where a cell is set in bold. headings, why: in place of the entry's. fields: what stands in its
        texts for {field}. Raises `KeyError` for an entry or a field that there is not.
        """
        entry = _filled({"html": [], "css": {}, "cells": {}, **self._entries[name]}, fields)
        if frame.empty:
            return self.empty(why or entry.get("empty", NO_MODEL))
        cells = {column: styles.cells(frame, **{"of": column, **how}) for column, how in entry["cells"].items()}
        rows: list[dict[Hashable, Any]] = frame.to_dict("records")
        texts = {column: list(map(self._texts[column], rows)) for column in entry["html"] if column in self._texts}
        shown = frame.assign(**cells, **texts)
        shown = shown[_columns(shown, frame, entry.get("columns") or list(shown))]
        shown = shown.assign(**{name: shown[name].map(read) for name, read in self._names.items() if name in shown})
        table = styles.styled(
            shown,
            caption=entry.get("caption", ""),
            best=best,
            headings={**self._entries.get(_HEADINGS, {}), **entry.get("headings", {}), **(headings or {})},
            typeset=self._typeset,
        )
        of = {} if entry["html"] else styles.cell_filters(frame, shown)
        of |= {"texts": texts} if (texts := styles.text_filters(frame, shown)) else {}
        table.data.attrs[_FILTERS] = of  # type: ignore[attr-defined]
        table.format(str, subset=[column for column in entry["html"] if column in shown])
        places = {str(column): place for place, column in enumerate(shown.columns)}
        rules = [
            {"selector": f"td.col{places[column]}", "props": rule}
            for column, rule in entry["css"].items()
            if column in places
        ]
        return table.set_table_styles(rules, overwrite=False)  # type: ignore[arg-type]

    def printed(self, artefact: str, rows: str | Sequence[str], columns: str, name: str = _PRINTED) -> Styler:
        """A whole table of the paper, *rows* × *columns*, by the entry ``printed``; it may use {title}.

        Numbers are texts, as they are printed, or, where the entry says ``numbers: true``, numbers like our own. What
        is printed in bold is bold. Raises as `Paper.load`.
        """
        numbers = self._entries[name].get("numbers", False)
        table = self.paper.load(artefact) if numbers else self.paper.texts(artefact)
        wide = styles.wide(table, rows, columns, self.paper.value_column(artefact) if numbers else "printed")
        bold = styles.wide(table, rows, columns, "bold").eq(True) if "bold" in table and numbers else None
        read = self._heads.get(columns)
        headings = {str(each): read(each) for each in dict.fromkeys(table[columns])} if read else {}
        shown = wide if numbers else wide.fillna(styles.NOTHING)
        return self.show(name, shown, best=bold, headings=headings, title=self.paper.title(artefact))

    def beside(self, ours: pd.DataFrame, artefact: str, on: Sequence[str], name: str = "") -> Styler:
        """This run's numbers beside those that the paper prints; only rows for which it prints one.

        ours: as in `Paper.beside`; a column ``coded`` holds what the paper's research code would compute, and is
        compared, too. Shown are *on*, our number, the printed one and the difference, then coded and
        coded_difference, and notes where there are any, by the entry ``beside``, or ``beside_coded``; it may
        use {title}, and {value} for the column of our number. Raises as `Paper.beside`.
        """
        title = self.paper.title(artefact)
        joined = self.paper.beside(ours, artefact, on)
        known = joined[joined["published"].notna()]
        if known.empty:
            printed = self.paper.is_printed(artefact)
            return self.empty(self.why("beside") if printed else self.paper.note(artefact), title)
        value = self.paper.value_column(artefact)
        columns = [*on, value, "printed", "difference"]
        if "coded" in ours:
            known = known.assign(coded_difference=known["coded"] - known["published"])
            columns += ["coded", "coded_difference"]
        columns += ["note"] if known["note"].ne("").any() else []
        name = name or ("beside_coded" if "coded" in ours else "beside")
        return self.show(name, known[columns], title=title, value=value)

    def remark(self, *artefacts: str) -> HTML:
        """What is odd about printed tables and figures, or that they are drawn only (`Paper.note`), as a remark."""
        return self.note(" ".join(filter(None, map(self.paper.note, artefacts))))

    def drawn_only(self, *figures: str, more: str = "") -> HTML:
        """A remark that the paper only draws *figures*. more: what else there is to say of them."""
        return self.note(
            f"Published values: not printed; the paper only draws {self.numbers(*figures)}. {more}".strip()
        )

    def drawn_from(self, figures: Sequence[str], tables: Sequence[str]) -> HTML:
        """A remark on figures whose values the paper prints, in tables."""
        drawn, printed = self.numbers(*figures), self.numbers(*tables)
        return self.note(f"Published values: those that {drawn} draw are printed in {printed}.")

    def illustrated(self, *figures: str) -> HTML:
        """A remark on drawings of the paper that show a procedure, and no values."""
        titles = "; ".join(map(self.paper.title, figures))
        return self.note(f"Illustrations of what is done here, without values: {titles}.")

    def note(self, text: str) -> HTML:
        """A remark below a table or figure."""
        return styles.note(text, self._typeset)

    def numbers(self, *names: str) -> str:
        """The numbers that figures and tables have in the paper."""
        return " and ".join(self.paper.title(name).partition(":")[0] for name in names)


def _filled(entry: Any, fields: Mapping[str, str]) -> Any:
    """All texts of an entry with {fields} filled in."""
    if isinstance(entry, str):
        return entry.format(**fields)
    if isinstance(entry, dict):
        return {_filled(name, fields): _filled(value, fields) for name, value in entry.items()}
    return [_filled(each, fields) for each in entry] if isinstance(entry, list) else entry


def _columns(shown: pd.DataFrame, frame: pd.DataFrame, wanted: str | Sequence[Hashable]) -> list[Hashable]:
    """The columns of *wanted* that are there, and with a question mark that tell rows of *frame* apart."""
    found: list[Hashable] = []
    for name in wanted.split() if isinstance(wanted, str) else wanted:
        varies = isinstance(name, str) and name.endswith("?")
        column = str(name)[:-1] if varies else name
        if column in shown and not (varies and frame[column].nunique() == 1):
            found.append(column)
    return found


# ----------------------------------------------------------------------------
# What the code behind a paper's numbers does differently: one table, on one page of each study.

_CAPTION = (
    "The printed numbers come from the research code. Where it departs from the paper, the column nbkit says which "
    "of the two is shown here, and under which name the other. A dash: the share of what changes is not measured."
)


def research_code(paper: Paper) -> HTML | None:
    """The differences between a paper and its research code, under a heading; None, which shows nothing, without any.

    paper: its `Paper.research_code` is shown, each share with what it is a share of.
    """
    table = paper.research_code()
    if table.empty:
        return None
    shares = table["changes"].map("{:.1%}".format) + " of " + table["of"]
    shown = table[["topic", "paper", "code", "ours"]].assign(changes=shares.where(table["changes"].notna()))
    if table["note"].ne("").any():
        shown = shown.assign(note=table["note"])
    styled = styles.styled(
        shown, caption=_CAPTION, headings={"paper": "the paper", "code": "its research code", "ours": "nbkit"}
    )
    # A share is followed by words.
    styled.set_table_styles([{"selector": "td, th", "props": "text-align: left; white-space: normal"}], overwrite=False)
    return HTML(f"<h2>What the research code does differently</h2>{styled.to_html()}")
