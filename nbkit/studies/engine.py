"""The waist of every study: steps that are remembered, work that fills the store, outcomes of one shape.

A study declares what it computes, once, with decorators of its `Study`:

- a **step** is a table that the store remembers. From its declaration follow its key (the digest of the code behind it
  and what its ``key`` says), and, with ``unit``, the unit of work that fills it;
- **work** is a unit of work that is not a table itself: it translates, or fills several steps;
- **outcomes** are the study's results, one row an item, system and measure (`nbkit.studies.outcomes`).

From these the runner takes units, stages, counts for a dry run, and which of them need a GPU; models that have to be
trained or downloaded come first, without a line in the study.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, wraps
from inspect import signature
from itertools import chain, product
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, ParamSpec, TypeAlias, TypeVar

from nbkit import models
from nbkit.errors import NbkitError
from nbkit.fingerprint import KEYED, digest
from nbkit.models.lifecycle import is_missing
from nbkit.models.services.names import LABEL_FILE, RemoteModel
from nbkit.models.services.outputs import MissingOutputsError, OutputsModel
from nbkit.store import Store
from nbkit.studies.base import Cell, Notebook, StudyParams, TranslatorParams, Unit, cell_label, no_device

if TYPE_CHECKING:
    import pandas as pd

P = ParamSpec("P")
T = TypeVar("T")

#: Where a step or a unit of work is: a value for each of its axes.
Point: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True)
class Axis:
    """One axis of a study's grid.

    values: what it runs over, of the parameters. label: how a value is shown. back: a value out of its JSON form.
    """

    values: Callable[[Any], Iterable[Any]]
    label: Callable[[Any], str] = str
    back: Callable[[Any], Any] = lambda value: value


@dataclass(frozen=True)
class Cuts:
    """The axis of chunks, which can be long: what is at a time of the items, such as pairs, that stand at a point.

    known: where the units of work begin, as far as that is known without reading anything; None for all of it.
    starts: where the chunks of the unit that begins there do, read or counted by now: ``starts(params, start, store,
    **point)``, in which *start* is None for all of it.
    """

    known: Callable[..., Iterable[int | None]]
    starts: Callable[..., Iterable[int]]


@dataclass(frozen=True)
class Kind:
    """What a model is to nbkit, and what can be asked of it, by its name and languages; nothing here loads one.

    remote: the model behind a service that a name means, if it does. ensure: where the function is that trains or
    downloads it, ``"module:function"``.
    """

    label: Callable[[str], str]
    check: Callable[..., str | None]
    identity: Callable[..., Mapping[str, Any]]
    is_here: Callable[..., bool]
    ensure: Callable[..., Any]
    remote: Callable[..., RemoteModel | None]
    unit: str


def ensure_translator(params: Mapping[str, Any], model: str, langs: Sequence[str]) -> None:
    """Unit of work: train a translator that comes as a recipe, or download one of a hub's, unless it is there."""
    models.ensure_model(model, *langs)


def ensure_classifier(params: Mapping[str, Any], model: str, langs: Sequence[str]) -> None:
    """Unit of work: the same for a classifier."""
    models.ensure_classifier(model, *langs)


def ensure_language_model(params: Mapping[str, Any], model: str, langs: Sequence[str]) -> None:
    """Unit of work: the same for a language model."""
    models.ensure_language_model(model, *langs)


# Functions of `models` are looked up when they are called, as importing a study imports no model.
TRANSLATOR = Kind(
    lambda name: models.label(name),
    lambda name, src, tgt: models.check_model(name, src, tgt),
    lambda name, src, tgt: models.model_identity(name, src, tgt),
    lambda name, src, tgt: models.is_trained(name, src, tgt),
    lambda name, src, tgt: models.ensure_model(name, src, tgt),
    lambda name, src, tgt: models.resolve(name, src, tgt).remote,
    f"{__name__}:ensure_translator",
)
CLASSIFIER = Kind(
    lambda name: models.classifier_label(name),
    lambda name, lang: models.check_classifier(name, lang),
    lambda name, lang: models.classifier_identity(name, lang),
    lambda name, lang: models.is_classifier_here(name, lang),
    lambda name, lang: models.ensure_classifier(name, lang),
    lambda name, lang: models.resolve_classifier(name, lang).remote,
    f"{__name__}:ensure_classifier",
)
LANGUAGE_MODEL = Kind(
    lambda name: models.language_model_label(name),
    lambda name, lang, **wanted: models.check_language_model(name, lang, **wanted),
    lambda name, lang: models.language_model_identity(name, lang),
    lambda name, lang: models.is_language_model_here(name, lang),
    lambda name, lang: models.ensure_language_model(name, lang),
    lambda name, lang: None,
    f"{__name__}:ensure_language_model",
)


@dataclass(frozen=True)
class Use:
    """A model that a study asks.

    kind: `TRANSLATOR`, `CLASSIFIER` or `LANGUAGE_MODEL`. langs: what it is asked in, such as ("en", "de"), or one
    language. wanted: "causal" or "masked", where a language model has to be of a kind.
    """

    kind: Kind
    name: str
    langs: tuple[str, ...]
    wanted: str | None = None

    @property
    def label(self) -> str:
        """What tables call it."""
        return self.kind.label(self.name)

    @property
    def remote(self) -> RemoteModel | None:
        """The model behind a service that it is, None if it is loaded here."""
        return self.kind.remote(self.name, *self.langs)

    @property
    def asked_in(self) -> tuple[str, str]:
        """The languages of its texts and of its answers; a classifier answers in labels."""
        return self.langs[0], self.langs[1] if len(self.langs) > 1 else LABEL_FILE

    def problem(self) -> str | None:
        """Why it cannot be used here, or None; loads nothing."""
        wanted = {} if self.wanted is None else {"kind": self.wanted}
        return self.kind.check(self.name, *self.langs, **wanted)

    def ensure(self) -> None:
        """Train it where it comes as a recipe, download it where it is a hub's, unless it is there."""
        self.kind.ensure(self.name, *self.langs)

    def source(self) -> Any:
        """What it is trained or downloaded from, None where it is here; loads nothing."""
        identity = self.kind.identity(self.name, *self.langs)
        if not is_missing(identity) and self.kind.is_here(self.name, *self.langs):
            return None
        return identity.get("hub") or identity["weights"]

    def verb(self) -> str:
        """What has to be done to have it."""
        return "download" if "hub" in self.kind.identity(self.name, *self.langs) else "train"


class Counts(NamedTuple):
    """How many texts a unit of work handles, how many of these are remembered, and what is known to be missing.

    missing: texts that files of translations (`outputs:`) lack; of texts that are not all known yet, some of these.
    judged: False if the translations of such files still have to be judged, which is all the work there is with them.
    """

    texts: int
    stored: int
    missing: Sequence[str] = ()
    judged: bool = True

    @property
    def left(self) -> int:
        """How many texts are still to be handled."""
        return self.texts - self.stored if self.judged else self.texts


@dataclass(frozen=True)
class Work:
    """A unit of work of a study, at every point of its axes.

    name: what it does, with the labels of its axes, and fields of the parameters that are no axis:
    ``"translate {model} {source}→{language}"``. per: its axes, the outermost first.
    function: called with parameters, store and the values of its axes. after: what has to be done before. uses: the
    models it asks, of the parameters and its axes. counts: its `Counts`, or the
    first two of them. points: where it is needed, if not at all points of its axes.
    """

    study: Study
    name: str
    per: tuple[str, ...]
    function: Callable[..., Any]
    after: tuple[Work, ...] = ()
    uses: Callable[..., Iterable[Use]] | None = None
    counts: Callable[..., tuple[Any, ...]] | None = None
    points: Callable[[Any], Iterable[Point]] | None = None
    runs_models: bool = False

    def __call__(self, params: Any, *, store: Store | None = None, **point: Any) -> Any:
        return self.function(params, store=store or Store(), **point)

    def work(self, params: Mapping[str, Any], **point: Any) -> int | None:
        """Do it: what the unit of work calls. Returns how many texts it handled, where it counts them.

        That is the sum of what the function returned, or else those that were not remembered before.
        """
        checked, store = self.study.params(**params), Store()
        at = {name: self.study.back(name, value) for name, value in point.items()}
        before = self.counted(checked, at, store)
        done = [self.function(checked, store=store, **each) for each in self.study.cut(checked, self.per, at, store)]
        if all(isinstance(n, int) for n in done):
            return sum(done)
        return None if self.counts is None else before.left

    def counted(self, params: Any, at: Point, store: Store) -> Counts:
        """What it has to do at a point, as far as that is known."""
        return Counts(0, 0) if self.counts is None else Counts(*self.counts(params, store=store, **at))

    def where(self, params: Any) -> Iterator[Point]:
        """The points at which there is a unit of it."""
        yield from self.points(params) if self.points else self.study.points(params, self.per)

    def units(self, params: Any, points: Iterable[Point], stage: int, count: bool, store: Store) -> Iterator[Unit]:
        """The units of work of one run, at the *points* that `where` says."""
        dump = params.model_dump(mode="json")
        where = f"{self.function.__module__}:{self.function.__name__}"
        for at in points:
            labels = {name: self.study.label(name, value) for name, value in at.items()}
            counts = self.counted(params, at, store) if count else Counts(0, 0)
            yield Unit(
                label=" ".join(self.name.format(**{**dump, **labels}).split()),
                function=where,
                arguments={"params": dump, **at},
                stage=stage,
                texts=counts.texts,
                stored=counts.stored,
                left=counts.left,
                runs_models=self.runs_models and dump.get("device") != "cpu",
            )


@dataclass(frozen=True)
class Step:
    """A table of a study that is remembered, a point of its axes at a time.

    Called with the parameters and the values of its axes, in the order of *per*, and a store; returns the table.
    """

    study: Study
    compute: Callable[..., pd.DataFrame]
    per: tuple[str, ...]
    key: Callable[..., Mapping[str, Any]]
    uses: Callable[..., Iterable[Use]] | None = None
    code: tuple[str, ...] = ()
    without: tuple[str, ...] = KEYED
    but: tuple[str, ...] = ()
    units: tuple[Work, ...] = field(default=(), compare=False)

    def __call__(self, params: Any, *values: Any, store: Store | None = None, **named: Any) -> pd.DataFrame:
        at, store = self._at(values, named), store or Store()

        def table() -> pd.DataFrame:
            made = self.compute(params, store=store, **at)
            if not hasattr(made, "to_parquet"):
                raise NbkitError(f"{self.place}: a table (pandas.DataFrame) is expected, found {made!r:.60}")
            return made

        return store.table(self.config(params, **at), table)

    @property
    def place(self) -> str:
        """What errors call it: the study, the step, and where its function is."""
        return f"study '{self.study.name}', step '{self.compute.__name__}' ({source_place(self.compute)})"

    def rows(self, params: Any, *values: Any, store: Store | None = None, **named: Any) -> int | None:
        """How many rows are remembered, None where the table is not; computes and downloads nothing."""
        return (store or Store()).table_rows(self._config(params, self._at(values, named)))

    def config(self, params: Any, **at: Any) -> dict[str, Any]:
        """The store's key; a hub's model is fetched first where its revision is part of it."""
        config = self._config(params, at)
        for use in self.uses(params, **at) if self.uses else ():
            if _names_missing(config):
                use.ensure()
        return self._config(params, at) if self.uses and _names_missing(config) else config

    def work(self, **arguments: Any) -> int | None:
        """Do the unit of work that the step is declared with."""
        return self.units[0].work(**arguments)

    def _config(self, params: Any, at: Point) -> dict[str, Any]:
        name, code = self.compute.__name__, self.digest()
        key = self.key(params, **at)
        try:
            json.dumps(key, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise NbkitError(f"{self.place}: its key must hold what JSON can ({error}): {key!r:.200}") from None
        return {"kind": f"{self.study.name}.{name}", "code": code, **key}

    def digest(self) -> str:
        """The digest of the code behind the table, as its key holds it."""
        root = f"{self.compute.__module__}:{self.compute.__name__}"
        return digest(root, *self.code, without=self.without, but=self.but)

    def _at(self, values: Sequence[Any], named: Point) -> Point:
        if len(values) > len(self.per):
            raise TypeError(f"{self.compute.__name__} is of {', '.join(self.per) or 'nothing'}; the rest goes by name")
        return {**dict(zip(self.per, values, strict=False)), **named}


@dataclass
class Study:
    """A paper, as everything above the studies sees it.

    params: the schema. axes: the grid, by name; *cells* says which of them a cell of the report is of. tags: what else
    the report's filters know a cell by. problems: what is wrong with the parameters in this installation, one message
    each, beside what is asked of models and devices; loads no model. inputs: what stands behind the parameters outside
    the code (digests of corpora, weights, parsers), JSON-able. uses: the models that a run asks. verdict: what pass,
    fail and undecided mean in its outcomes, one sentence. behaviour: the file that declares what the study says of a
    system (`nbkit.studies.behaviours.Behaviour`). used: how many items the parts of a run had,
    by the parameter that bounds them (a corpus may hold fewer than ``n_pairs``); reads the store alone.
    """

    name: str
    title: str
    paper: str
    params: type[StudyParams]
    notebooks: tuple[Notebook, ...] = ()
    axes: Mapping[str, Axis | Cuts] = field(default_factory=dict)
    grid: tuple[str, ...] = ()
    tags: Callable[[Any], Mapping[str, str]] = lambda params: {}
    check: Callable[[Any], Iterable[str | None]] = lambda params: ()
    inputs: Callable[[Any], Mapping[str, Any]] = lambda params: {}
    uses: Callable[[Any], Iterable[Use]] = lambda params: ()
    verdict: str = ""
    behaviour: Path | None = None
    used: Callable[[Any, Store], Mapping[str, Sequence[int]]] = lambda params, store: {}

    def __post_init__(self) -> None:
        self._works: list[Work] = []
        self.declared: dict[str, Callable[..., Any]] = {}
        self.steps: list[Step] = []
        self.results: Results | None = None
        self.params.study = self

    # What the runner asks ------------------------------------------------------------------------

    @property
    def package(self) -> str:
        """The package whose source decides, with nbkit's own, whether a finished page is out of date."""
        return self.params.__module__.partition(".")[0]

    def cells(self, params: Any) -> list[Cell]:
        """One cell per point of the grid, with the parameters narrowed to it; none where an axis is empty."""
        return [
            Cell(
                label=cell_label(*(self.label(name, value) for name, value in at.items())),
                params=params.narrowed(*at.values()),
                tags={**{name: self.label(name, value) for name, value in at.items()}, **self.tags(params)},
            )
            for at in self.points(params, self.grid)
        ]

    def units(self, params: Any, *, count: bool = False, store: Store | None = None) -> list[Unit]:
        """The work that fills the store, in stages; models that have to be trained or downloaded come first.

        With *count*, each says how many texts it handles and how many of these are remembered, which reads corpora and
        the store but no model.
        """
        store = store or Store()
        absent = list(self._absent(params))
        found: list[Unit] = []
        stages: dict[int, int] = {}  # of works that have units in this run, by their identity
        for work in self._works:  # what comes before another is declared before it
            points = list(work.where(params))  # asked once: it may count the pairs of a corpus
            before = [stages[id(each)] + 1 for each in work.after if id(each) in stages]
            stage = max([int(work.uses is not None), *before])
            if points:
                stages[id(work)] = stage
            found += work.units(params, points, stage, count, store)
        return [*absent, *sorted(found, key=lambda unit: unit.stage)]

    def problems(self, params: Any, *, untranslated: bool = True) -> list[str]:
        """Problems of this run here, one message each; loads no model.

        untranslated: also texts that systems of files (`outputs:`) have no translation of, if nothing else is wrong.
        """
        uses = list(dict.fromkeys(self.uses(params)))
        device = params.model_dump().get("device")
        found = [no_device(device)] if uses and device is not None else []
        found += [*self.check(params), *(use.problem() for use in uses)]
        problems = list(dict.fromkeys(problem for problem in found if problem))
        return problems or ([str(error) for error in self.missing(params)] if untranslated else [])

    def missing(self, params: Any) -> Iterator[MissingOutputsError]:
        """What each system of files (`outputs:`) lacks of the texts that are known before anything is translated."""
        files = [use for use in dict.fromkeys(self.uses(params)) if isinstance(use.remote, OutputsModel)]
        found: dict[Use, list[Counts]] = {}
        store = Store()
        for work in self._works if files else ():
            if work.uses is None or work.counts is None:
                continue
            for at in work.where(params):
                asked = list(work.uses(params, **at))
                for use in (each for each in files if each in asked):
                    found.setdefault(use, []).append(work.counted(params, at, store))
        for use, parts in found.items():
            texts = list(chain.from_iterable(part.missing for part in parts))
            if texts and isinstance(use.remote, OutputsModel):
                wanted, known = (sum(getattr(part, name) for part in parts) for name in ("texts", "stored"))
                yield use.remote.lacking(texts, *use.asked_in, max(wanted, len(texts)), wanted != known + len(texts))

    def _absent(self, params: Any) -> Iterator[Unit]:
        """A unit for each model that has to be trained or downloaded; what serves most languages comes first.

        A model of many languages takes longest to train: started first, the others fill the time beside it.
        """
        serves: dict[Any, list[Use]] = {}
        for use in dict.fromkeys(self.uses(params)):
            source = use.source()
            if source is not None:
                serves.setdefault((use.kind.unit, source), []).append(use)
        for first, *_ in sorted(serves.values(), key=lambda uses: -len(uses)):
            yield Unit(
                f"{first.verb()} {first.label} {'→'.join(first.langs)}",
                first.kind.unit,
                {"params": params.model_dump(mode="json"), "model": first.name, "langs": list(first.langs)},
                runs_models=params.model_dump().get("device") != "cpu",
            )

    # The grid ------------------------------------------------------------------------------------

    def points(self, params: Any, per: Sequence[str]) -> Iterator[Point]:
        """All points of the axes *per*, the last one innermost; of chunks, where units of work begin."""
        plain = {name: axis for name in per if isinstance(axis := self.axes[name], Axis)}
        cut = {name: axis for name in per if isinstance(axis := self.axes[name], Cuts)}
        for values in product(*(list(axis.values(params)) for axis in plain.values())):
            at = dict(zip(plain, values, strict=True))
            for starts in product(*(list(axis.known(params, **at)) for axis in cut.values())):
                yield {**at, **dict(zip(cut, starts, strict=True))}

    def cut(self, params: Any, per: Sequence[str], at: Point, store: Store) -> Iterator[Point]:
        """The points of the chunks that a unit of work covers; the point itself where it has no chunks."""
        cuts = {name: axis for name in per if isinstance(axis := self.axes.get(name), Cuts)}
        if not cuts:
            yield at
        for name, axis in cuts.items():
            others = {other: value for other, value in at.items() if other != name}
            yield from ({**at, name: start} for start in axis.starts(params, at[name], store, **others))

    def label(self, axis: str, value: Any) -> str:
        """How a value of an axis is shown; nothing for all of what is cut into chunks."""
        if isinstance(found := self.axes.get(axis), Axis):
            return found.label(value)
        return "" if value is None else str(value)

    def back(self, axis: str, value: Any) -> Any:
        """A value of an axis out of its JSON form."""
        return found.back(value) if isinstance(found := self.axes.get(axis), Axis) else value

    # Declarations --------------------------------------------------------------------------------

    def step(
        self,
        *,
        per: Sequence[str] = (),
        key: Callable[..., Mapping[str, Any]],
        unit: str | None = None,
        after: Sequence[Step | Work] = (),
        uses: Callable[..., Iterable[Use]] | None = None,
        counts: Callable[..., tuple[Any, ...]] | None = None,
        code: Sequence[str] = (),
        without: Sequence[str] = KEYED,
        but: Sequence[str] = (),
    ) -> Callable[[Callable[..., pd.DataFrame]], Step]:
        """Declare a function as a step: a table that is remembered, at each point of the axes *per*.

        The function is called with the parameters, ``store=`` and a keyword for each axis. key: everything that can
        change the table beside the code and the axes' values that it names itself: ``key(params, **point)``.
        unit: the unit of work that fills it, such as ``"read {corpus}"``; None where other work does. after, uses,
        counts: as of `work`. code: further definitions whose code counts, ``"module:name"``; without, but: as of
        `nbkit.fingerprint.digest`.
        """

        def declare(function: Callable[..., pd.DataFrame]) -> Step:
            step = Step(self, function, tuple(per), key, uses, tuple(code), tuple(without), tuple(but))
            if unit is None:
                self._declare(function)
            else:
                filled = self._work(_named(step, function), unit, per, after, uses, counts, None, None)
                step = replace(step, units=(filled,))
            self.steps.append(step)
            return step

        return declare

    def work(
        self,
        name: str,
        *,
        per: Sequence[str] = (),
        after: Sequence[Step | Work] = (),
        uses: Callable[..., Iterable[Use]] | None = None,
        counts: Callable[..., tuple[Any, ...]] | None = None,
        points: Callable[[Any], Iterable[Point]] | None = None,
        runs_models: bool | None = None,
    ) -> Callable[[Callable[..., Any]], Work]:
        """Declare a function as a unit of work, at each point of the axes *per*.

        name: with the labels of the axes and fields of the parameters, ``"translate {model} {source}→{language}"``.
        after: what has to be done before, which decides the stage; models come before all that uses them. uses: the
        models that it asks, of the parameters and the point. counts: its `Counts`, or the first two of them
        (see `asked`). points: where it is needed, if not everywhere. runs_models: whether it wants a GPU where there is
        one; by default where it uses models.
        """

        def declare(function: Callable[..., Any]) -> Work:
            return self._work(function, name, per, after, uses, counts, points, runs_models)

        return declare

    def _work(
        self,
        function: Callable[..., Any],
        name: str,
        per: Sequence[str],
        after: Sequence[Step | Work],
        uses: Callable[..., Iterable[Use]] | None,
        counts: Callable[..., tuple[Any, ...]] | None,
        points: Callable[[Any], Iterable[Point]] | None,
        runs_models: bool | None,
    ) -> Work:
        for axis in per if points is None else ():
            if axis not in self.axes:
                there = ", ".join(self.axes) or "none"
                raise NbkitError(f"study '{self.name}': there is no axis '{axis}'; there are: {there}")
        self._declare(function)
        before = tuple(unit for each in after for unit in (each.units if isinstance(each, Step) else (each,)))
        runs = uses is not None if runs_models is None else runs_models
        work = Work(self, name, tuple(per), function, before, uses, counts, points, runs)
        self._works.append(work)
        return work

    def _declare(self, function: Callable[..., Any]) -> None:
        """Enter the name of a step or work, which addresses its tables and units; refuse one that is taken."""
        name = function.__name__
        if name in self.declared:
            first = source_place(self.declared[name])
            raise NbkitError(
                f"study '{self.name}': two steps or works are called '{name}' ({first} and {source_place(function)}); "
                "their results would be confused: rename one"
            )
        self.declared[name] = function

    def outcomes(self, *, headline: str) -> Callable[[Callable[..., Iterator[pd.DataFrame]]], Results]:
        """Declare a function as the study's outcomes: ``function(params, store, texts)`` streams them.

        headline: the table, ``"module:function"``, that can be computed from the outcomes alone; the function that
        does it is declared with ``Results.table``.
        """

        def declare(function: Callable[..., Iterator[pd.DataFrame]]) -> Results:
            self.results = Results(self, function, headline)
            return self.results

        return declare


@dataclass
class Results:
    """The outcomes of a study as it declares them.

    stream: ``stream(params, store, texts)`` yields tables with the columns of `nbkit.studies.outcomes`, a part of the
    grid at a time; headline: the table, ``"module:function"``, that *again* computes from outcomes alone, and from the
    parameters where it has an argument of that name.
    """

    study: Study
    stream: Callable[..., Iterator[pd.DataFrame]]
    headline: str
    again: Callable[..., pd.DataFrame] | None = None

    @property
    def place(self) -> str:
        """What errors call it: the study, and where the function is."""
        return f"study '{self.study.name}', outcomes ({source_place(self.stream)})"

    def table(self, function: Callable[..., pd.DataFrame]) -> Callable[..., pd.DataFrame]:
        """Declare how the headline table follows from the outcomes."""
        self.again = function
        return function


def asked(config: Mapping[str, Any], texts: Iterable[Any], store: Store) -> tuple[int, int]:
    """How many distinct texts a model is asked, and how many of these are answered already.

    config: the store's address of its answers, such as `nbkit.models.translation_config`. texts: texts, or what a
    text is asked with as a tuple.
    """
    distinct = list(dict.fromkeys(text if isinstance(text, tuple) else (text,) for text in texts))
    return len(distinct), len(distinct) - len(store.missing(config, distinct))


def asked_translations(
    params: TranslatorParams, name: str, src: str, tgt: str, texts: Iterable[str], store: Store, rows: int | None = 0
) -> Counts:
    """The same of a translator with the settings of a run; of files of translations, with the texts they lack.

    rows: of the table of verdicts on the translations, None if it is not remembered.
    """
    remote = models.resolve(name, src, tgt).remote
    if isinstance(remote, OutputsModel):
        distinct = [text for text in dict.fromkeys(texts) if text.strip()]
        missing = remote.missing(distinct, src, tgt)
        return Counts(len(distinct), len(distinct) - len(missing), missing, judged=rows is not None)
    return Counts(*asked(models.translation_config(name, src, tgt, params.decoding, **params.running), texts, store))


def as_table(*columns: str) -> Callable[[Callable[P, Iterable[Any]]], Callable[P, pd.DataFrame]]:
    """Declare a function that yields rows, or parts of a table, as one that returns the table with these *columns*.

    >>> @as_table("word", "length")
    ... def lengths(words):
    ...     yield from ((word, len(word)) for word in words)
    >>> lengths(["a", "bc"])["length"].tolist(), list(lengths([]).columns)
    ([1, 2], ['word', 'length'])
    """

    def declare(function: Callable[P, Iterable[Any]]) -> Callable[P, pd.DataFrame]:
        @wraps(function)
        def made(*args: P.args, **kwargs: P.kwargs) -> pd.DataFrame:
            import pandas as pd

            found = list(function(*args, **kwargs))
            if found and isinstance(found[0], pd.DataFrame):
                return pd.concat(found, ignore_index=True)[list(columns)]
            return pd.DataFrame(found, columns=list(columns))

        made.__signature__ = signature(function).replace(return_annotation="pd.DataFrame")  # type: ignore[attr-defined]
        return made

    return declare


@dataclass(frozen=True)
class _Wanted:
    key: str
    make: Callable[[], Any] = field(compare=False)


class Held:
    """The last *size* things that were made in this process, each distinguished by its key: all that can change it.

    >>> held, made = Held(size=1), []
    >>> [held({"n": n}, lambda: made.append(n) or n) for n in (1, 1, 2)], made
    ([1, 1, 2], [1, 2])
    """

    def __init__(self, size: int):
        self._made = lru_cache(maxsize=size)(lambda wanted: wanted.make())

    def __call__(self, key: Any, make: Callable[[], T]) -> T:
        return self._made(_Wanted(json.dumps(key, sort_keys=True), make))


def source_place(function: Callable[..., Any]) -> str:
    """File and line of a function."""
    code = inspect.unwrap(function).__code__
    return f"{Path(code.co_filename).name}:{code.co_firstlineno}"


def study_of(params: StudyParams) -> Study:
    """The study that parameters are of. Raises `NbkitError` where no study has declared them."""
    study = getattr(type(params), "study", None)
    if study is None:
        raise NbkitError(f"{type(params).__name__} belongs to no study: import the study that declares it")
    return study


def _names_missing(config: Any) -> bool:
    """Whether an address holds the identity of a model of a hub that is not on this machine."""
    if isinstance(config, Mapping):
        return ("hub" in config and is_missing(config)) or any(_names_missing(value) for value in config.values())
    return isinstance(config, list | tuple) and any(_names_missing(value) for value in config)


def _named(step: Step, function: Callable[..., Any]) -> Callable[..., Any]:
    """What the unit of work of a step calls: the step, so that its table is remembered, under the function's name."""

    def fill(params: Any, **at: Any) -> None:
        step(params, **at)

    return wraps(function)(fill)
