"""The engine of every study: text → items → answers → outcomes, as tables that are computed once.

A study is a schema of parameters and tables made of text, of a model's answers and of other tables. The engine owns
the rest: the cells of the grid (languages × models), keys, parts (memory stays constant), resuming, counts for a dry
run, units of work, progress and errors. A part of a table is one Parquet file in the store, whole or not there, under
everything that can change it.
"""

from __future__ import annotations

import hashlib
import inspect
import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, as_completed
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from importlib import import_module
from itertools import islice, product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nbkit.errors import NbkitError, UnknownNameError
from nbkit.fingerprint import digest
from nbkit.models.services.outputs import MissingOutputsError
from nbkit.progress import progress_bar
from nbkit.store import Block, Store
from nbkit.studies import base
from nbkit.studies.answering import Cell, Translators, Use, of_distinct
from nbkit.studies.base import Notebook, StudyParams, Unit, cell_label, no_device
from nbkit.studies.paper import Paper

if TYPE_CHECKING:
    import pandas as pd

#: The tables of models' answers that judge them; cards, comparisons and exports read this one.
OUTCOMES = "outcomes"
#: Arguments of a table's function that need the cell's model.
_ASKING = {"answers", "ask", "model"}
#: What an argument begins with that holds a table of every model.
_EACH = "each_"
#: Rooms whose results have keys of their own, beside those of `nbkit.fingerprint.KEYED`.
_KEYED = ("nbkit/models/", "nbkit/store/", "nbkit/studies/study.py", "nbkit/studies/answering.py")


def _nothing(*_: Any) -> Any:
    return None


@dataclass(frozen=True)
class Table:
    """A table of a study, called as the function that makes it. The function's arguments say how it is computed:

    params, cell   the parameters and the point of the grid; without cell, the table is made once for the run
    items          (any table with separate units) its rows of one part, with ``unit`` and ``item``
    all_items      the same table, all of it; of a table without separate units, plainly its name
    part_of_x      of a table x without separate units that comes in parts: the rows of the same units
    each_items     the same table of every model of the run, for the same languages (and units)
    answers        what the cell's model answers to the part's rows: a DataFrame with the columns `Study.asks`
    ask            a function from texts to the model's answers, for what depends on earlier answers
    ask_model      a function from a model and texts to its answers, for what the answers of several models make
    model          the name of the cell's model, for what is asked in another way
    start, n       the table has separate units and comes in parts: of *n* units from *start* on the function yields
                   the rows of each as dictionaries, or returns the rows of all and how many units there were
    corpus         one of the table's *corpora*, each of which has units from 0 on

    inputs: the identity of what parameters name outside the code, such as a corpus. size: how many units there are at
    most, None where only reading shows. unit: units of a part. corpora: the names of the corpora that the table is made
    of; *inputs* and *size* get the name, too. asks: whether the model that the function names is asked, by the
    parameters; where it is not, all models share the table. counts: for a dry run, how many questions a table that asks
    in another way asks of a part's rows, and how many of them are not answered. columns: those of a table that has no
    rows. most: how many texts its rows hold at most, where a dry run must not compute them.
    after: tables that workers make before it, though it is not made of them: they parse or ask the same texts.
    """

    make: Callable[..., Any]
    inputs: Callable[..., Any] = _nothing
    size: Callable[..., int | None] = _nothing
    unit: int = 1000
    corpora: Callable[[Any, Cell], Iterable[str]] | None = None
    asks: Callable[[Any], bool] = lambda params: True
    counts: Callable[[Any, Cell, pd.DataFrame], tuple[int, int]] | None = None
    columns: tuple[str, ...] = ()
    most: Callable[[Any, Cell], int] | None = None
    after: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """What other tables call it."""
        return self.make.__name__

    @cached_property
    def needs(self) -> frozenset[str]:
        """The arguments of its function."""
        return frozenset(inspect.signature(self.make).parameters)

    @property
    def code(self) -> str:
        """The digest of the code behind its function's module."""
        return digest(self.make.__module__, without=_KEYED)

    @property
    def has_units(self) -> bool:
        """Whether it has separate units, which parts of other tables share."""
        return {"start", "n"} <= self.needs


@dataclass(frozen=True, eq=False)
class Study:
    """A paper's method: parameters and tables, as everything above the studies sees them.

    asks: columns of items that models are asked. check: problems of a cell beside its model's, one message each; loads
    no model. points: the cells with a model; grid: the parameters that these come from. models: how models are asked.
    of: what the two parts of a cell are called beside the model. skips: tables that a cell does not have. uses_more:
    models beside those of the cells. calls: what tables call a model of the run, by default its label; spelling: one
    spelling for models of the paper and of runs. pages: the cells of the report, each with its own pages. tags:
    what the report's filters know every cell by, beside language and model. exports: the tables that files of outcomes
    hold, exported: the cells of which. texts: their rows with the columns that browsers show
    (`nbkit.studies.exports.with_shown_texts`). verdict: what pass, fail and undecided mean, one sentence. behaviour:
    the file that declares what the study says of a system. bounds: by parameter, the table whose "units" or "rows" it
    bounds.
    """

    name: str
    title: str
    paper: str
    params: type[StudyParams]
    tables: tuple[Table, ...]
    asks: tuple[str, ...] = ("source",)
    models: Any = Translators
    calls: Callable[[Any, str], str] | None = None
    spelling: Callable[[str], str] | None = None
    of: tuple[str, str] = ("source_language", "target_language")
    grid: tuple[str, ...] = ("language", "model")
    points: Callable[[Any], Iterable[Cell]] = lambda params: (
        Cell(params.source, language, model) for model, language in product(params.models, params.languages)
    )
    check: Callable[[Any, Cell], Iterable[str | None]] = lambda params, cell: ()
    skips: Callable[[Any, Cell], Iterable[str]] = lambda params, cell: ()
    uses_more: Callable[[Any], Iterable[Use]] = lambda params: ()
    notebooks: tuple[Notebook, ...] = ()
    pages: Callable[[Any], Iterable[base.Cell]] | None = None
    tags: Callable[[Any], Mapping[str, str]] = lambda params: {}
    texts: Callable[..., pd.DataFrame] | None = None
    exports: tuple[str, ...] = (OUTCOMES,)
    exported: Callable[[Any, Cell], bool] = lambda params, cell: True
    verdict: str = ""
    behaviour: Path | None = None
    bounds: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.params.study = self

    # What notebooks ask --------------------------------------------------------------------------

    def read(
        self, params: Any, table: str = OUTCOMES, where: Callable[[pd.DataFrame], Any] | None = None,
        columns: Sequence[str] | None = None,
    ) -> Any:  # fmt: skip
        """A table of a run, after what is missing of it was computed. where, columns: what is read of each part."""
        return Run(self, params).read(table, where, columns)

    def with_texts(self, params: Any, rows: pd.DataFrame, items: str = "items") -> pd.DataFrame:
        """Rows with the columns of their *items* that they lack and, as ``answer_…``, what their models answer."""
        return Run(self, params).with_texts(rows, items)

    @property
    def published(self) -> Path:
        """The folder of what the paper prints."""
        return Path(inspect.getfile(self.params)).with_name("published")

    @cached_property
    def printed(self) -> Paper:
        """The numbers that the paper prints."""
        return Paper(self.published, self.spelling or self.models.label)

    def label(self, params: Any, model: str) -> str:
        """The name of a model in the tables of a run."""
        return self.models.label(model) if self.calls is None else self.calls(params, model)

    # What the runner asks ------------------------------------------------------------------------

    @property
    def package(self) -> str:
        """The package whose source decides, with nbkit's own, whether a finished page is out of date."""
        return self.params.__module__.partition(".")[0]

    def cells(self, params: Any) -> list[base.Cell]:
        """The cells of the report, with the parameters narrowed to each."""
        if self.pages is not None:
            return list(self.pages(params))
        found = []
        languages = getattr(params, "languages", None) or [params.language]
        for language, model in product(languages, params.models):
            tags = {"language": language, "model": self.label(params, model)}
            narrowed = params.narrowed(language, model)
            found.append(base.Cell(cell_label(*tags.values()), narrowed, {**tags, **self.tags(params)}))
        return found

    def uses(self, params: Any) -> list[Use]:
        """All models that a run asks."""
        of_grid = (Use(self.models, cell.model, self.models.langs(cell)) for cell in self.points(params) if cell.model)
        return list(dict.fromkeys([*of_grid, *self.uses_more(params)]))

    def problems(self, params: Any, *, untranslated: bool = True) -> list[str]:
        """What is wrong with a run here, one message each; loads no model.

        untranslated: also texts that systems of files (`outputs:`) have no translation of, if nothing else is wrong.
        """
        run, uses = Run(self, params), self.uses(params)
        device = params.model_dump().get("device")
        found = [no_device(device)] if uses and device is not None else []
        found += [problem for cell in run.places for problem in self.check(params, cell)]
        found += [use.problem() for use in uses]
        problems = list(dict.fromkeys(problem for problem in found if problem))
        return problems or ([str(error) for error in self.missing(params)] if untranslated else [])

    def missing(self, params: Any) -> Iterator[MissingOutputsError]:
        """What each system of files (`outputs:`) lacks of the texts that are known before anything is translated."""
        run = Run(self, params)
        for cell in (cell for cell in run.cells if cell.model):
            model = Use(self.models, cell.model, self.models.langs(cell)).model
            if model.stored:
                continue
            texts = list(dict.fromkeys(text for text in run.asked(cell) if text.strip()))
            most = sum(run.most(part) for table in self.tables for part in run.parts_of(table, cell))
            if missing := self.models.unanswered(params, cell, texts):
                yield (model.inner or model).lacking(missing, max(most, len(texts)), partly=most > 0)

    def used(self, params: Any) -> dict[str, list[int]]:
        """How many units or rows the tables of a run have, by the parameter that bounds them; none before all are."""
        run, found = Run(self, params), dict[str, list[int]]()
        for name, (table, kind) in self.bounds.items():
            firsts = (list(first.on()) for first in run.first_parts(self.table(table)))
            counts = [[part.n_units if kind == "units" else part.n_rows for part in parts] for parts in firsts]
            found[name] = sorted({sum(map(int, each)) for each in counts if None not in each})  # type: ignore[arg-type]
        return {name: counts for name, counts in found.items() if counts}

    def inputs(self, params: Any) -> dict[str, Any]:
        """What stands behind a run's tables: the key of each."""
        run = Run(self, params)
        keys = {f"{part.table.name} {part.cell} {part.corpus}".strip(): part.key
                for table in self.tables for part in run.first_parts(table)}  # fmt: skip
        return {"tables": keys}

    def units(self, params: Any, *, count: bool = False, store: Store | None = None) -> list[Unit]:
        """The work that is left, in stages: models that are not here, then tables, each after those it is made of.

        count: with the texts that each unit handles and how many of these are stored, which reads corpora.
        """
        run, dump = Run(self, params), params.model_dump(mode="json")
        found = list(self._absent(params, dump))
        if count:  # how many items there are decides all that follows
            asked = [self.base_of(table) for table in self.tables if "answers" in table.needs]
            run.fill([each.name for each in asked if each and each.most is None and not run.asks_model(each)])
        parts = [part for table in self.tables for part in run.parts(table) if not part.is_there]
        counted: dict[Cell, set[str]] = defaultdict(set)
        for part in sorted(parts, key=lambda part: (self.depth(part.table), part.cell.model)):
            asks = run.asks_model(part.table)
            texts = [text for text in (run.texts(part) if count else []) if text not in counted[part.cell]]
            counted[part.cell].update(texts)  # several tables may ask the same
            most = run.most(part) if count else 0
            n, left = len(texts) + most, len(self.models.unanswered(params, part.cell, texts)) if texts else most
            if count and part.table.counts is not None:
                n, left = part.table.counts(params, part.cell, part.of_base.rows)
            found.append(
                Unit(
                    label=part.place,
                    function=f"{__name__}:fill_part",
                    arguments=part.arguments,
                    stage=self.depth(part.table) + 1,
                    texts=n,
                    stored=n - left,
                    left=left,
                    runs_models=asks and dump.get("device") != "cpu",
                )
            )
        return found

    def _absent(self, params: Any, dump: Mapping[str, Any]) -> Iterator[Unit]:
        """A unit for each model that has to be trained or downloaded; one that serves most languages comes first."""
        serves: dict[Any, list[Use]] = {}
        for use in self.uses(params):
            if (source := use.source()) is not None:
                serves.setdefault((use.kind.task, str(source)), []).append(use)
        for first, *_ in sorted(serves.values(), key=lambda uses: -len(uses)):
            arguments = {"params": dump, "task": first.kind.task, "model": first.name, "langs": list(first.langs)}
            label = f"{first.verb()} {first.label} {'→'.join(first.langs)}"
            yield Unit(label, "nbkit.studies.answering:fetch_model", arguments, runs_models=dump.get("device") != "cpu")

    # How tables depend on each other -------------------------------------------------------------

    @cached_property
    def by_name(self) -> dict[str, Table]:
        """The tables by their names."""
        return {table.name: table for table in self.tables}

    def table(self, name: str) -> Table:
        """A table by its name. Raises `UnknownNameError`."""
        if name not in self.by_name:
            raise UnknownNameError(f"{self.name} table", name, self.by_name)
        return self.by_name[name]

    def base_of(self, table: Table) -> Table | None:
        """The table whose units a table's parts are: itself, or the one of which it gets a part; None: it has none."""
        if table.has_units:
            return table
        for each in self.tables:
            if each.has_units and each.name in table.needs:
                return each
            if f"part_of_{each.name}" in table.needs:
                return self.base_of(each)
        return None

    def made_of(self, table: Table) -> dict[str, str]:
        """The tables that a table is made of, each with the argument that holds all of it; "" for a part of it."""
        found = {}
        for each in self.tables:
            if whole := {f"all_{each.name}", f"{_EACH}{each.name}"} & table.needs:
                found[each.name] = whole.pop()
            elif f"part_of_{each.name}" in table.needs:
                found[each.name] = ""
            elif each.name in table.needs and each.name != table.name:
                found[each.name] = "" if each.has_units else each.name
        return found

    def before(self, table: Table) -> list[Table]:
        """The tables that a table is made of, and those that these are made of."""
        first = [self.by_name[name] for name in self.made_of(table)]
        return list(dict.fromkeys([*first, *(deeper for each in first for deeper in self.before(each))]))

    def depth(self, table: Table) -> int:
        """How many tables have to be made one after the other before a table is."""
        return max((self.depth(self.by_name[name]) + 1 for name in (*self.made_of(table), *table.after)), default=0)


class Run:
    """A study with parameters: its cells, and the parts of its tables."""

    def __init__(self, study: Study, params: Any):
        self.study, self.params, self.store = study, params, Store()
        self._keys: dict[tuple[str, Cell, str], dict[str, Any]] = {}

    @cached_property
    def cells(self) -> list[Cell]:
        """The cells without a model, then those with one."""
        return list(dict.fromkeys([*self.places, *self.study.points(self.params)]))

    @cached_property
    def places(self) -> list[Cell]:
        """The cells without a model: what is known before one is asked."""
        return list(dict.fromkeys(cell._replace(model="") for cell in self.study.points(self.params))) or [
            Cell(self.params.source, language) for language in getattr(self.params, "languages", ())
        ]

    # Reading -------------------------------------------------------------------------------------

    def read(
        self, table: str, where: Callable[[pd.DataFrame], Any] | None = None, columns: Sequence[str] | None = None
    ) -> pd.DataFrame:
        """All rows of a table, computed where they are missing. where, columns: what is read of each part."""
        import pandas as pd

        declared = self.study.table(table)
        self.fill(tables=[table])
        found = []
        for part in self.parts(declared):
            rows = part.rows
            for name in columns or ():
                if len(rows) and name not in rows:
                    raise UnknownNameError(f"column of the table '{table}'", name, map(str, rows))
            if len(rows := rows if where is None or not len(rows) else rows.loc[where]):
                found.append(rows if columns is None else rows[list(columns)])
        if found:
            return pd.concat(found, ignore_index=True)
        own = ("unit", "item") if declared.has_units else ()
        names = columns or dict.fromkeys([*own, *declared.columns, *self.study.of, "model"])
        return pd.DataFrame(columns=list(names))

    def files(self, table: str = OUTCOMES) -> list[str]:
        """The Parquet files of a table, for DuckDB; none where the store is not a folder of this machine."""
        self.fill(tables=[table])
        parts = list(self.parts(self.study.table(table)))
        for part in parts:
            if self.store.table_rows(part.config) is None:  # damaged, so that it was set aside
                part.rows  # noqa: B018 - computed again
        return [path for part in parts if (path := self.store.table_file(part.config))]

    def with_texts(self, rows: pd.DataFrame, items: str = "items") -> pd.DataFrame:
        """Rows with the columns of their *items* that they lack and, as ``answer_…``, what their models answer."""
        import pandas as pd

        wanted, declared = set(rows["item"]), self.study.table(items)
        tables = [there[there["item"].isin(wanted)] for part in self.parts(declared) if len(there := part.rows)]
        known = pd.concat(
            tables or [pd.DataFrame(columns=list(dict.fromkeys(["item", *declared.columns])))], ignore_index=True
        )
        known = known.drop_duplicates("item").set_index("item")
        known = known[[name for name in known if name not in rows]]
        found = rows.join(known, on="item")
        if not len(found):  # the columns are there all the same
            return found.assign(**{f"answer_{column}": None for column in self.study.asks if column in found})
        parts = [found.head(0)]
        for cell in (cell for cell in self.cells if cell.model):
            own = found[(found[[*self.study.of, "model"]] == self.names(cell)).all(axis=1)]
            if len(own):
                parts.append(own.join(self.answers(cell, own).add_prefix("answer_")))
        answered = pd.concat(parts)
        return pd.concat([answered, found.drop(answered.index)]).loc[rows.index]

    def answers(self, cell: Cell, items: pd.DataFrame) -> pd.DataFrame:
        """A model's answers to the columns that it is asked, row by row."""
        import pandas as pd

        asks = [column for column in self.study.asks if column in items]
        known = of_distinct(partial(self.study.models.ask, self.params, cell), self._texts(items))
        return pd.DataFrame({column: items[column].map(known) for column in asks}, index=items.index)

    # Filling -------------------------------------------------------------------------------------

    def fill(self, tables: Iterable[str] | None = None, executor: Executor | None = None) -> None:
        """Compute what is missing of *tables* (of all, where none is named), here or by the workers of *executor*."""
        study = self.study
        wanted = set(study.tables if tables is None else map(study.table, tables))
        wanted |= {each for table in wanted for each in study.before(table)}
        if self._is_complete(wanted):
            return
        self._refuse_problems()
        for use in study.uses(self.params) if any(map(self.asks_model, wanted)) else ():
            if use.source() is not None:
                use.model.fetch()
                self._keys.clear()
        for depth in sorted({study.depth(table) for table in wanted}):
            left = [part for table in study.tables if table in wanted and study.depth(table) == depth
                    for part in self.parts(table) if not part.is_there]  # fmt: skip
            _compute(sorted(left, key=lambda part: part.cell.model), executor)  # a model stays loaded meanwhile

    def _is_complete(self, tables: Iterable[Table]) -> bool:
        try:
            return all(part.is_there for table in tables for part in self.parts(table))
        except (NbkitError, OSError):  # something is missing that keys are made of: say all that is wrong
            self._refuse_problems()
            raise

    def _refuse_problems(self) -> None:
        if problems := self.study.problems(self.params, untranslated=False):
            raise NbkitError("\n".join(problems))

    def parts(self, table: Table) -> Iterator[Part]:
        """The parts of a table as far as they are known: all of them once the table with its units is there."""
        for first in self.first_parts(table):
            yield from first.on()

    def first_parts(self, table: Table) -> list[Part]:
        """The first part of a table in each of its cells, and of each of its corpora."""
        study = self.study
        cells = dict.fromkeys(self.cell_of(table, cell) for cell in self.cells if table.name not in study.skips(
            self.params, cell) and (cell.model or not self.asks_model(table)))  # fmt: skip
        return [part for cell in cells for part in self.parts_of(table, cell)]

    def parts_of(self, table: Table, cell: Cell) -> list[Part]:
        """The first part of a table in the cell that belongs to *cell*, of each of its corpora."""
        base, own = self.study.base_of(table) or table, self.cell_of(table, cell)
        corpora = [""] if base.corpora is None else base.corpora(self.params, self._asked(own))
        return [Part(self, table, own, corpus) for corpus in corpora]

    def cell_of(self, table: Table, cell: Cell) -> Cell:
        """The cell whose table belongs to *cell*: without a model, or the run's, where that is all it depends on."""
        if "cell" not in table.needs:
            return Cell("", "")
        return cell if self.asks_model(table) else cell._replace(model="")

    def asks_model(self, table: Table) -> bool:
        """Whether a table, or one that it is made of, needs the cell's model."""
        made_of = self.study.made_of(table).items()
        return bool(table.needs & _ASKING and table.asks(self.params)) or any(
            self.asks_model(self.study.by_name[name]) for name, whole in made_of if not whole.startswith(_EACH)
        )

    def with_models(self, cell: Cell) -> list[Cell]:
        """The cells of all models for the languages of a cell."""
        return [each for each in self.cells if each.model and each[:2] == cell[:2]]

    def _asked(self, cell: Cell) -> Cell:
        return cell if cell.source or not self.places else self.places[0]

    def names(self, cell: Cell) -> list[str]:
        """What tables call a cell."""
        return [*cell[:2], self.study.label(self.params, cell.model) if cell.model else ""]

    # What a dry run counts -----------------------------------------------------------------------

    def asked(self, cell: Cell) -> Iterator[str]:
        """The texts that a cell's model is asked, as far as no answer decides them."""
        for table in self.study.tables:
            if "answers" in table.needs and table.name not in self.study.skips(self.params, cell):
                yield from (
                    text for first in self.parts_of(table, cell) for part in first.on() for text in self.texts(part)
                )

    def texts(self, part: Part) -> list[str]:
        """The texts that the model of a part is sent; none where earlier answers decide them.

        Answers in files are there at once, so that those that are missing are found.
        """
        if "answers" not in part.table.needs or part.base is None or self._is_ahead(part):
            return []
        models = self.study.models
        use = Use(models, part.cell.model, models.langs(part.cell))
        if self.asks_model(part.base) and use.model.stored:
            return []
        try:
            return models.sent(self.params, part.cell, self._texts(part.of_base.rows))
        except MissingOutputsError as error:
            return error.texts

    def most(self, part: Part) -> int:
        """How many texts the model of a part is asked at most, if a dry run must not compute them."""
        if "answers" not in part.table.needs or part.base is None or not self._is_ahead(part):
            return 0
        return part.base.most(self.params, self._asked(part.cell)) if part.base.most else 0

    def _is_ahead(self, part: Part) -> bool:
        """Whether the items that a part's texts come from do not exist yet and may not be computed to count them."""
        return part.base is not None and part.base.most is not None and not part.of_base.is_there

    def _texts(self, items: pd.DataFrame) -> list[str]:
        columns = (items[column] for column in self.study.asks if column in items)
        return list(dict.fromkeys(text for column in columns for text in column))

    # Keys ----------------------------------------------------------------------------------------

    def key(self, table: Table, cell: Cell, corpus: str) -> dict[str, Any]:
        """Everything that can change a table: parameters, inputs, code, cell, model, and the tables it is made of."""
        if (table.name, cell, corpus) not in self._keys:
            study, named = self.study, [corpus] if corpus else []
            base = study.base_of(table)
            key: dict[str, Any] = {
                "kind": f"{study.name}.{table.name}",
                "params": self.params.key(table.name),
                "inputs": table.inputs(self.params, self._asked(cell), *named),
                "code": table.code,
                "cell": self.names(cell),
            }
            if corpus:
                key["corpus"] = corpus
            if base is not None:
                key["unit"] = base.unit
            if cell.model:
                key |= study.models.identity(self.params, cell)
            for name, whole in study.made_of(table).items():
                cells = self.with_models(cell) if whole.startswith(_EACH) else [cell]
                parts = [part for own in cells for part in self.parts_of(study.by_name[name], own)
                         if whole or part.corpus == corpus]  # fmt: skip
                key[f"of {name}"] = [_short({**part.key, "size": part.size if whole else None}) for part in parts]
            self._keys[table.name, cell, corpus] = key
        return self._keys[table.name, cell, corpus]


@dataclass(frozen=True)
class Part:
    """Some units of a table in a cell: what is computed, and stored, at a time. A table without units is one part."""

    run: Run
    table: Table
    cell: Cell
    corpus: str = ""
    start: int = 0

    @property
    def arguments(self) -> dict[str, Any]:
        """What `fill_part` finds it by, in JSON. follow: whether nobody knows yet which parts there are behind it."""
        params, schema = self.run.params, type(self.run.params)
        place = {"table": self.table.name, "cell": list(self.cell), "corpus": self.corpus, "start": self.start}
        dump = {"params": params.model_dump(mode="json"), "schema": f"{schema.__module__}:{schema.__name__}"}
        return {**dump, **place, "follow": self.next() is None}

    @property
    def place(self) -> str:
        """What progress and errors call it."""
        study, of = self.run.study, " ".join(filter(None, self.run.names(self.cell)[:2]))
        model = self.run.names(self.cell)[2]
        at = f"from {self.start}" if self.start else ""
        return " ".join(filter(None, (study.name, self.table.name, of, model, self.corpus, at)))

    @property
    def key(self) -> dict[str, Any]:
        """What can change its table (`Run.key`)."""
        return self.run.key(self.table, self.cell, self.corpus)

    @cached_property
    def config(self) -> dict[str, Any]:
        """Its address in the store."""
        return {**self.key, "units": [self.start, self._stop]} if self.base is not None else self.key

    @property
    def is_there(self) -> bool:
        """Whether it is stored; one with separate units also undamaged, as it says what is behind it."""
        return self.n_units is not None if self.table.has_units else self.run.store.has_table(self.config)

    @cached_property
    def base(self) -> Table | None:
        """The table whose units it has."""
        return self.run.study.base_of(self.table)

    @cached_property
    def of_base(self) -> Part:
        """The part of that table with the same units."""
        if self.base is None or self.base is self.table:
            return self
        return replace(self, table=self.base, cell=self.run.cell_of(self.base, self.cell))

    @cached_property
    def size(self) -> int | None:
        """How many units its table has at most; None where only reading shows."""
        if self.base is None:
            return None
        named = [self.corpus] if self.corpus else []
        return self.base.size(self.run.params, self.run._asked(self.cell), *named)

    @property
    def _stop(self) -> int | None:
        return None if self.size is None or self.base is None else min(self.size, self.start + self.base.unit)

    @property
    def n_units(self) -> int | None:
        """How many units it has; None before the table with its units is there."""
        known = self.run.store.table_attributes(self.of_base.config)
        return None if known is None else known["units"]

    @property
    def n_rows(self) -> int | None:
        """How many rows it has; None before it is stored."""
        return self.run.store.table_rows(self.config)

    def next(self) -> Part | None:
        """The part behind it; None at the end, and where only what is computed first shows it."""
        if self.base is None or (self.size is not None and self.start + self.base.unit >= self.size):
            return None
        known = self.n_units
        if known is None and self.size is None:
            return None
        is_full = known is None or known == self.base.unit
        return replace(self, start=self.start + self.base.unit) if is_full else None

    @property
    def rows(self) -> pd.DataFrame:
        """What it holds, computed where it is missing."""
        return self.run.store.table(self.config, self._made)

    def on(self) -> Iterator[Part]:
        """It, and the parts behind it as far as they are known when their turn comes."""
        part: Part | None = self
        while part is not None:
            yield part
            part = part.next()

    def compute(self, follow: bool) -> None:
        """Compute it, and those behind it if they *follow*."""
        for part in self.on() if follow else [self]:
            if not part.is_there:
                part.rows  # noqa: B018 - computed and stored

    def _made(self) -> pd.DataFrame:
        try:
            rows, units = self._computed()
        except (NbkitError, MemoryError):
            raise
        except Exception as error:  # whatever a study's own code raises
            raise NbkitError(f"{self.place} ({_source(self.table.make)}): {type(error).__name__}: {error}") from error
        names = dict(zip((*self.run.study.of, "model"), self.run.names(self.cell), strict=True))
        if not self.cell.model and "model" in rows:
            del names["model"]  # a table of several models
        table = rows.assign(**names)
        table.attrs = {"units": units}
        return table

    def _computed(self) -> tuple[pd.DataFrame, int]:
        """The rows of the part, and how many units it has."""
        import pandas as pd

        run, study, needs = self.run, self.run.study, self.table.needs
        stop, unit = self._stop, self.base.unit if self.base else 0
        guarded = run.params.guarded([self.table.name, *(each.name for each in study.before(self.table))])
        asked = run._asked(self.cell)
        given: dict[str, Any] = {
            "params": guarded, "cell": self.cell, "model": self.cell.model, "corpus": self.corpus, "start": self.start,
            "n": unit if stop is None else stop - self.start, "ask": partial(self._ask, self.cell),
            "ask_model": lambda model, texts: self._ask(asked._replace(model=model), texts),
        }  # fmt: skip
        for name, whole in study.made_of(self.table).items():
            if whole.startswith(_EACH):
                given[whole] = self._of_each(study.by_name[name])
            elif whole:
                given[whole] = self._whole(study.by_name[name])
            elif self.base is not None:
                part = self.of_base if name == self.base.name else replace(
                    self, table=study.by_name[name], cell=run.cell_of(study.by_name[name], self.cell))  # fmt: skip
                given[name] = given[f"part_of_{name}"] = part.rows
                if not len(given[name]):
                    return pd.DataFrame(columns=list(self.table.columns)), 0
        if "answers" in needs:
            given["answers"] = run.answers(self.cell, given[self.base.name])  # type: ignore[union-attr]
        made = self.table.make(**{name: given[name] for name in needs})
        if not self.table.has_units:
            return self._checked(made), 0
        if isinstance(made, tuple):
            return self._checked(made[0]), made[1]
        units = list(islice(made, given["n"]))
        rows = [{"unit": self.start + i, **row} for i, rows in enumerate(units) for row in rows]
        ids = [
            row.get("item") or item_id(*self.cell[:2], *(value for name, value in row.items() if name != "unit"))
            for row in rows
        ]
        table = pd.DataFrame(rows) if rows else pd.DataFrame(columns=list(dict.fromkeys(["unit", *self.table.columns])))
        return self._checked(table.assign(item=pd.Series(ids, dtype="str"))), len(units)

    def _ask(self, cell: Cell, texts: Sequence[str]) -> list[Any]:
        return self.run.study.models.ask(self.run.params, cell, list(texts))

    def _of_each(self, table: Table) -> pd.DataFrame:
        """Another table of every model for the same languages; of the same units where both have those of one table."""
        import pandas as pd

        cells = self.run.with_models(self.cell)
        if self.base is not None and self.base is self.run.study.base_of(table):
            tables = [replace(self, table=table, cell=cell).rows for cell in cells]
        else:
            tables = [self._whole(table, cell) for cell in cells]
        empty = pd.DataFrame(columns=[*table.columns, *self.run.study.of, "model"])
        return pd.concat([rows for rows in tables if len(rows)] or [empty], ignore_index=True)

    def _whole(self, table: Table, cell: Cell | None = None) -> pd.DataFrame:
        """All of another table of the same cell, or of *cell*; nobody may change it."""
        import pandas as pd

        parts = []
        for first in self.run.parts_of(table, cell or self.cell):
            for part in first.on():
                part.compute(follow=False)
                parts.append(part)
        key = (self.run.store.url, *(_short(part.config) for part in parts))
        if key not in _WHOLE:
            tables = [rows for part in parts if len(rows := part.rows)]
            empty = pd.DataFrame(columns=list(table.columns))
            _WHOLE[key] = pd.concat(tables, ignore_index=True) if tables else empty
            for old in list(_WHOLE)[:-_MOST_WHOLE]:
                del _WHOLE[old]
        return _WHOLE[key]

    def _checked(self, made: Any) -> pd.DataFrame:
        if not hasattr(made, "columns"):
            raise NbkitError(f"{self.place} ({_source(self.table.make)}): a DataFrame is expected, found {made!r:.60}")
        if lacking := [name for name in self.table.columns if name not in made] if len(made) else []:
            raise NbkitError(f"{self.place} ({_source(self.table.make)}): no column '{lacking[0]}', which is declared")
        return made


#: Whole tables, of which several parts are made one after the other, by where they are stored; the last few.
_WHOLE: dict[tuple[str, ...], pd.DataFrame] = {}
_MOST_WHOLE = 4


def fill_part(
    params: Mapping[str, Any], schema: str, table: str, cell: Sequence[str], corpus: str, start: int, follow: bool
) -> None:
    """Unit of work: compute one part of a table, and those behind it if they *follow*."""
    module, _, name = schema.partition(":")
    checked = getattr(import_module(module), name)(**params)
    study = checked.study
    Part(Run(study, checked), study.table(table), Cell(*cell), corpus, start).compute(follow)


def _compute(parts: Sequence[Part], executor: Executor | None) -> None:
    """Compute parts, here or by workers. One that fails does not stop the others; all failures are reported last."""
    jobs: Iterable[Callable[[], Any]] = (partial(part.compute, part.next() is None) for part in parts)
    if executor is not None:
        jobs = (each.result for each in as_completed([executor.submit(fill_part, **part.arguments) for part in parts]))
    failures: list[Exception] = []
    with progress_bar("parts", len(parts), len(parts) > 1) as bar:
        for job in jobs:
            try:
                job()
            except Exception as error:  # noqa: BLE001 - all failures are reported at the end
                failures.append(error)
            bar.update()
    if failures:
        messages = sorted({str(each) for each in failures})
        if len(parts) > 1:
            messages.insert(0, f"{len(failures)} of {len(parts)} parts failed; the same command does the rest:")
        raise NbkitError("\n".join(messages)) from failures[0]


def outdated(studies: Iterable[Study], store: Store | None = None) -> list[Block]:
    """The stored tables of *studies* that other code made: no key reaches them any more."""
    today = {f"{study.name}.{table.name}": table.code for study in studies for table in study.tables}
    names = {kind.partition(".")[0] for kind in today}
    blocks = [block for block in (store or Store()).blocks() if block.kind.partition(".")[0] in names]
    return [block for block in blocks if block.config.get("code") != today.get(block.kind, "")]


def item_id(*values: Any) -> str:
    """The id of an item: the digest of its languages and of all that is known of it before a system answers.

    >>> item_id("en", "de", "It weighs 12 kg.", 12), item_id("en", "de", "It weighs 12 kg.", 13)
    ('257dd8b45f078234', '64e46d28c83f2c4a')
    """
    content = "\0".join(map(str, values)).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(content, digest_size=8).hexdigest()


def _short(key: Mapping[str, Any]) -> str:
    return hashlib.blake2b(json.dumps(key, sort_keys=True).encode(), digest_size=10).hexdigest()


def _source(function: Callable[..., Any]) -> str:
    code = inspect.unwrap(function).__code__
    return f"{Path(code.co_filename).name}:{code.co_firstlineno}"
