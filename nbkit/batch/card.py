"""The runs behind a card: of each study the one that fits some systems and a direction, planned and computed.

Nothing here knows a study by name: how a run of it is fitted to a system is declared in its `behaviour.yaml`
(`nbkit.studies.behaviours`). The package nbcards makes a page of the outcomes.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import Any, Literal

import yaml

from nbkit.errors import NbkitError, ParamsError, UnknownNameError, closest
from nbkit.models import label, load
from nbkit.models.caps import capped
from nbkit.models.model import Model
from nbkit.models.names import BY_RULE
from nbkit.studies import STUDIES
from nbkit.studies.base import StudyParams, told_apart, without_repeats
from nbkit.studies.behaviours import DATA, Behaviour, Fit, behaviours, filled, is_people
from nbkit.studies.named import corpora, corpus_facts
from nbkit.studies.results import Outcomes, computed
from nbkit.studies.study import Study

#: Texts that each system is asked at most for each behaviour, and requests that a card sends at most.
MAX_TEXTS, MAX_REQUESTS = 500, 300
_HALF = 0.98  # of a share's interval with one item, at its widest: 1.96 · √(¼)


@dataclass(frozen=True)
class Planned:
    """One behaviour of a card: the run that fits the systems, or why there is none.

    texts: those that each system is asked, of which stored ones are not asked again. corpora: "sandbox" or "data".
    services: how many of the systems are asked by requests. prepared: whether corpora are searched or aligned first.
    """

    study: Study
    behaviour: Behaviour
    systems: Mapping[str, str]
    params: StudyParams | None = None
    reason: str = ""
    texts: int = 0
    corpora: str = ""
    services: int = 0
    prepared: bool = False

    @property
    def sureness(self) -> str:
        """What is said before it starts."""
        if self.params is None:
            return f"not measurable: {self.reason}"
        parts = ["how many texts there are shows when they are found"]
        if self.texts:
            half = _HALF / self.texts**0.5
            parts = [f"at most {self.texts:,} texts for each system; shares to ±{half:.0%} at best"]
        if self.prepared:
            parts.append("corpora are searched and aligned first, which takes minutes and is stored")
        return "; ".join(parts)


@dataclass(frozen=True)
class CardPlan:
    """The runs behind a card."""

    pair: tuple[str, str]
    systems: Mapping[str, str]
    classifiers: Mapping[str, str]
    behaviours: tuple[Planned, ...]
    max_texts: int
    max_requests: int
    command: str = field(default="", compare=False)

    @property
    def measurable(self) -> bool:
        """Whether there is anything to run."""
        return any(each.params is not None for each in self.behaviours)


def plan_card(
    systems: Sequence[str],
    pair: tuple[str, str],
    *,
    classifiers: Sequence[str] = (),
    max_texts: int = MAX_TEXTS,
    max_requests: int = MAX_REQUESTS,
    overrides: Mapping[str, Mapping[str, Any]] | None = None,
    command: str = "",
) -> CardPlan:
    """Which behaviours *systems* allow for a language *pair*, and how much is asked; loads no model, starts no program.

    systems: names of translators; classifiers: of classifiers. overrides: parameters by study, over those that are
    fitted. Raises `NbkitError` for systems that tables could not distinguish, and for overrides of no study.
    """
    named = _named(systems, label)
    judges = _named(classifiers, partial(label, task="classify"))
    declared = behaviours(STUDIES)
    for name in overrides or {}:
        if name not in declared:
            meant = closest(name, declared)
            hint = f"; did you mean '{meant}'?" if meant else f"; there are: {', '.join(declared)}"
            raise ParamsError(f"--params: unknown behaviour '{name}'{hint}")
    if min(max_texts, max_requests) < 1:
        raise NbkitError("--max-texts and --max-requests: at least 1 expected")
    reading = {"translator": named, "classifier": judges}
    for reads, names in reading.items():
        for name in names.values():
            _check_name(name, reads, pair)

    def plan(requests: int) -> tuple[Planned, ...]:
        return tuple(
            _planned(STUDIES.get(name), behaviour, behaviour.fit, reading[behaviour.fit.reads], pair, max_texts,
                     requests, (overrides or {}).get(name, {}))
            for name, behaviour in declared.items()
            if behaviour.fit is not None and (name in (overrides or {}) or not behaviour.fit.asked)
        )  # fmt: skip

    planned = plan(max_texts)
    services = sum(each.services for each in planned)  # each with its share of the requests
    if services:
        planned = plan(max_requests // services)
    return CardPlan(pair, named, judges, planned, max_texts, max_requests, command)


def _named(names: Sequence[str], label: Callable[[str], str]) -> dict[str, str]:
    """The *names* by what tables call them."""
    way_out = "register them under separate names (docs/systems.md)"
    try:
        return {label(name): name for name in told_apart(without_repeats(list(names)), label, way_out)}
    except ValueError as error:
        raise NbkitError(str(error)) from None


def _planned(
    study: Study, behaviour: Behaviour, fit: Fit, systems: Mapping[str, str], pair: tuple[str, str], most: int,
    requests: int, more: Mapping[str, Any],
) -> Planned:  # fmt: skip
    made = Planned(study, behaviour, systems)
    if not systems:
        how = " (classifiers; --classifier NAME)" if fit.reads != "translator" else ""
        return _without(made, f"no {fit.reads} was named{how}")
    try:
        try:
            kind, given = fit.corpora(systems.values(), pair)
        except NbkitError:
            if not more:
                raise
            kind, given = "data", {}  # somebody names the texts
        values = {**fit.params, **given, **more}
        sizes = {**fit.sizes, **{name: values[name] for name in fit.sizes if name in values}}

        def sized(scale: float, one: bool = False) -> StudyParams:
            sizes_now = {
                name: max(min(fit.least.get(name, 1), n), round(n * scale)) if isinstance(n, int) else n
                for name, n in sizes.items()
            }
            named = dict(list(systems.items())[:1]) if one else systems
            return study.params.checked(filled({**values, **sizes_now}, named, *pair), study.name)

        params = sized(1.0)
        never = (str(error) for error in study.missing(params) if error.final)
        if problem := next(chain(study.problems(params, untranslated=False), never), None):
            return _without(made, problem)
        asked = [cost for name in systems.values() if (cost := _asks(name, fit.reads, *pair)) != "nothing"]
        services = asked.count("requests")
        cap = min(most, requests) if services else most
        scale = 1.0
        for _ in range(6):  # texts grow with the sizes, if not always in proportion
            texts = _asked(study, sized(scale, one=True))
            if texts <= cap or not asked:
                break
            scale *= (0.97 * cap / texts) ** (1 / max(1, len(sizes)))
        if texts > cap and asked:
            of = "requests" if cap < most else "texts"
            why = f"even the smallest run asks {texts:,} texts, the cap is {cap:,}: raise max_{of} (--max-{of})"
            return _without(made, why)
        params = sized(scale)
        prepared = kind != "sandbox" and any(not each.runs_models for each in study.units(params, count=True))
        return Planned(study, behaviour, systems, params, "", texts, kind, services, prepared)
    except NbkitError as error:
        if more and isinstance(error, ParamsError):  # somebody wrote what is wrong
            raise
        return _without(made, str(error))


def _without(made: Planned, reason: str) -> Planned:
    return Planned(made.study, made.behaviour, made.systems, None, " ".join(reason.split()))


def _loaded(name: str, reads: str, src: str, tgt: str) -> Model:
    name = name.removeprefix(BY_RULE)
    return load(name, "classify", src) if reads == "classifier" else load(name, "translate", src, tgt)


def _check_name(name: str, reads: str, pair: tuple[str, str]) -> None:
    """Raise `UnknownNameError` for a name that is none; what a system cannot do, its behaviours say."""
    try:
        _loaded(name, reads, *pair)
    except UnknownNameError:
        raise
    except NbkitError:
        pass


def _asks(name: str, reads: str, src: str, tgt: str) -> Literal["requests", "texts", "nothing"]:
    """What a system costs: requests to a service, texts of a model or a program, nothing where files answer."""
    with suppress(NbkitError):  # of a name that the study refuses
        return _loaded(name, reads, src, tgt).cost
    return "texts"


def _asked(study: Study, params: StudyParams) -> int:
    """Texts that the one system of *params* is asked, as far as they are known before it answers."""
    return sum(unit.texts for unit in study.units(params, count=True) if unit.runs_models)


@dataclass(frozen=True)
class Computed:
    """What came of a planned run. reason: why there are no outcomes. asked: new texts by model; requests: in total."""

    outcomes: Outcomes | None = None
    reason: str = ""
    asked: Mapping[str, int] = field(default_factory=dict)
    requests: int = 0


def compute(planned: Planned, max_texts: int, max_requests: int) -> Computed:
    """The outcomes of a planned run with their texts: of its systems and of references, without a study's controls."""
    if planned.params is None:
        return Computed(reason=planned.reason)
    found, reason = None, ""
    with capped(texts=max_texts, requests=max_requests) as caps:
        try:
            found = computed(planned.params, texts=True)
        except NbkitError as error:
            reason = " ".join(str(error).split())
    if found is not None:
        there = set(found.rows["model"])
        shown = [name for name in there if name in planned.systems or is_people(name)]
        found, reason = (
            (None, "its run has no items") if there.isdisjoint(planned.systems) else (found.of_systems(shown), "")
        )
    asked = {name: caps.asked[name.removeprefix(BY_RULE)] for name in planned.systems.values()}
    return Computed(found, reason, asked, caps.requested)


def texts_of(behaviour: Behaviour, params: StudyParams) -> Iterator[dict[str, str]]:
    """The texts that the parameters name, as `Behaviour.texts` declares them."""
    known = {each["name"] for each in corpora(params)}
    for name, use in behaviour.texts.items():
        value = getattr(params, name)
        for spec in (
            value.values() if isinstance(value, Mapping) else [value] if isinstance(value, str) else value or ()
        ):
            if ":" in spec or spec in known or spec == "own":
                facts = corpus_facts(spec)
                # Files of a declared corpus go by its name.
                name = facts["name"] if facts["licence"] and "/" in spec else _spelled(portable(spec))
                yield {"name": name, "use": use, "licence": facts["licence"], "domain": facts["domain"]}


def _spelled(spec: str) -> str:
    """A corpus as pages name it.

    >>> _spelled("moses:${NBKIT_DATA}/wmt/en-de/{source|reference-A}.{lang}"), _spelled("own"), _spelled("multi30k:val")
    ('wmt/en-de/source with reference-A', 'nbkit’s own', 'multi30k:val')
    """
    if spec == "own":
        return "nbkit’s own"
    spec = re.sub(r"\{([^{}|]+)\|([^{}|]+)\}\.\{lang\}", r"\1 with \2", spec)
    return re.sub(rf"^\w+:({re.escape(DATA)}/)?(?=.*/)", "", spec)


def run_file(plan: CardPlan, name: str) -> str:
    """A run file of the card's runs: all pages of its studies."""
    runs = [
        {"study": each.study.name, "params": portable(each.params.model_dump(mode="json", exclude_defaults=True))}
        for each in plan.behaviours
        if each.params is not None
    ]
    return yaml.safe_dump({"name": name, "title": f"Behind the card {name}", "runs": runs}, sort_keys=False)


def portable(value: Any) -> Any:
    """Parameters with the folder of data by its name: files of a card can be passed on."""
    data = os.environ.get("NBKIT_DATA")
    if isinstance(value, str):
        return value.replace(data, DATA) if data else value
    if isinstance(value, list):
        return [portable(each) for each in value]
    return {name: portable(each) for name, each in value.items()} if isinstance(value, dict) else value
