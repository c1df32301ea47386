"""`make_card`: one or several systems through every behaviour that they and the direction allow, on one page.

Nothing here knows a study by name: how a run of it is fitted to a system, and what its numbers mean, is declared in its
`behaviour.yaml` (`nbkit.studies.behaviours`).
"""

from __future__ import annotations

import os
import re
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

import yaml

import nbkit
from nbkit.batch.health import by_system, health_of
from nbkit.errors import NbkitError, ParamsError, UnknownNameError, closest
from nbkit.files import atomic_write, check_folder
from nbkit.languages import split_pair
from nbkit.measure.health import Finding, check_outputs, unjudged
from nbkit.models import classifier_label, label, resolve, resolve_classifier
from nbkit.models.caps import Caps, capped
from nbkit.models.catalogue import BY_RULE, ClassifierReference, Reference
from nbkit.models.services.outputs import OutputsModel, fixed_files, read_lines, reference_of
from nbkit.report.browse import sentences
from nbkit.report.card import (
    OUTCOMES,
    PAGE,
    RUN,
    SENTENCES,
    BehaviourOf,
    Card,
    HealthOf,
    Healthy,
    Item,
    MeasureOf,
    SystemOf,
    TextsOf,
    Value,
    check_owner,
    write_card,
)
from nbkit.store import Store
from nbkit.studies import STUDIES, write_outcomes
from nbkit.studies.answering import Translators, Use
from nbkit.studies.base import StudyParams, told_apart, without_repeats
from nbkit.studies.behaviours import DATA, SOME, Behaviour, Fit, Measure, Published, behaviours, filled, is_people
from nbkit.studies.estimates import (
    FEW,
    MUCH,
    answer,
    estimates,
    method_of,
    revealing,
    scored,
    unranked,
    whole_and_groups,
    worst_group,
)
from nbkit.studies.named import corpora, corpus_facts, licences
from nbkit.studies.results import Outcomes, computed, group, spans_of
from nbkit.studies.study import Study

if TYPE_CHECKING:
    import pandas as pd

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
        said = ["how many texts there are shows when they are found"]
        if self.texts:
            half = _HALF / self.texts**0.5
            said = [f"at most {self.texts:,} texts for each system; shares to ±{half:.0%} at best"]
        if self.prepared:
            said.append("corpora are searched and aligned first, which takes minutes and is stored")
        return "; ".join(said)


@dataclass(frozen=True)
class CardPlan:
    """What `make_card` will do."""

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
    judges = _named(classifiers, classifier_label)
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
        return _without(
            made, f"no {fit.reads} was named" + (" (--classifier NAME)" if fit.reads != "translator" else "")
        )
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
            option = "--max-requests" if cap < most else "--max-texts"
            return _without(made, f"even the smallest run asks {texts:,} texts, the cap is {cap:,}: raise {option}")
        params = sized(scale)
        prepared = kind != "sandbox" and any(not each.runs_models for each in study.units(params, count=True))
        return Planned(study, behaviour, systems, params, "", texts, kind, services, prepared)
    except NbkitError as error:
        if more and isinstance(error, ParamsError):  # somebody wrote what is wrong
            raise
        return _without(made, str(error))


def _without(made: Planned, reason: str) -> Planned:
    return Planned(made.study, made.behaviour, made.systems, None, " ".join(reason.split()))


def _resolved(name: str, reads: str, src: str, tgt: str) -> Reference | ClassifierReference:
    name = name.removeprefix(BY_RULE)
    return resolve_classifier(name, src) if reads == "classifier" else resolve(name, src, tgt)


def _check_name(name: str, reads: str, pair: tuple[str, str]) -> None:
    """Raise `UnknownNameError` for a name that is none; what a system cannot do, its behaviours say."""
    try:
        _resolved(name, reads, *pair)
    except UnknownNameError:
        raise
    except NbkitError:
        pass


def _asks(name: str, reads: str, src: str, tgt: str) -> Literal["requests", "texts", "nothing"]:
    """What a system costs: requests to a service, texts of a model or a program, nothing where files answer."""
    with suppress(NbkitError):  # of a name that the study refuses
        if (remote := _resolved(name, reads, src, tgt).remote) is not None:
            return "requests" if remote.requested else "texts" if remote.stored else "nothing"
    return "texts"


def _asked(study: Study, params: StudyParams) -> int:
    """Texts that the one system of *params* is asked, as far as they are known before it answers."""
    return sum(unit.texts for unit in study.units(params, count=True) if unit.runs_models)


# ----------------------------------------------------------------------------
# Making it.


def make_card(plan: CardPlan, folder: Path, said: Callable[[str], None] = lambda line: None) -> Card:
    """Compute the card of *plan* and write it into *folder*: page, data, Markdown, outcomes, and a run file.

    said: gets a line before and after each behaviour; the page is there after the first. A behaviour that fails is "not
    measurable because …". Raises `NbkitError`, before anything is asked, where no behaviour can be measured.
    """
    if not plan.measurable:
        reasons = dict.fromkeys(each.reason for each in plan.behaviours if each.systems)
        raise NbkitError(f"no behaviour can be measured: {'; '.join(reasons)}")
    check_folder(folder, PAGE)
    check_owner(folder, plan.pair, list(plan.systems.values()))
    began = time.time()
    parts: dict[str, BehaviourOf] = {}
    tables: dict[str, Outcomes] = {}
    asked: dict[str, int] = {}
    left = plan.max_requests
    # Classifiers are small: their page can be read while a translator is trained or downloaded.
    order = sorted(plan.behaviours, key=lambda each: each.systems is plan.systems)
    for each in order:
        started = time.time()
        said(f"{each.behaviour.title}: {each.sureness}")
        found: Outcomes | None = None
        reason = each.reason
        if each.params is not None:
            with capped(texts=plan.max_texts, requests=left) as caps:
                found, reason = _found(each.params, each.systems)
            left -= caps.requested
            _count(asked, caps)
            if found is not None:
                tables[each.study.name] = found.of_systems(each.systems)
            said(f"{each.behaviour.title}: {time.time() - started:.0f} s" + (f", failed: {reason}" if reason else ""))
        parts[each.study.name] = _behaviour(each, found, reason, plan.pair)
        waiting = [other.behaviour.title for other in plan.behaviours if other.study.name not in parts]
        if waiting and found is not None:
            write_card(_card(plan, parts, asked, began), folder, waiting)
    said("Health of the outputs")
    measured = [tables[each.study.name] for each in plan.behaviours if each.study.name in tables]
    card = _card(plan, parts, asked, began, tuple(_health(plan, measured)))
    write_card(card, folder)
    (folder / OUTCOMES).mkdir(exist_ok=True)
    for path in (folder / OUTCOMES).glob("*.parquet"):
        path.unlink()
    for each in plan.behaviours:
        if each.study.name in tables:
            path = folder / OUTCOMES / f"{each.study.name}.parquet"
            write_outcomes([each.params], path, "parquet", models=each.systems)
    with atomic_write(folder / RUN) as temporary:
        temporary.write_text(run_file(plan, folder.name), encoding="utf-8")
    if measured:
        with atomic_write(folder / SENTENCES) as temporary:
            temporary.write_text(sentences(folder).page(home=PAGE), encoding="utf-8")
    return card


def _card(
    plan: CardPlan,
    parts: Mapping[str, BehaviourOf],
    asked: Mapping[str, int],
    began: float,
    health: tuple[HealthOf, ...] = (),
) -> Card:
    """The card of what was measured so far."""
    return Card(
        nbkit=nbkit.__version__,
        made=datetime.now(UTC).isoformat(timespec="seconds"),
        seconds=round(time.time() - began, 1),
        command=plan.command,
        source_language=plan.pair[0],
        target_language=plan.pair[1],
        sandbox=any(each.corpora == "sandbox" for each in plan.behaviours),
        systems=tuple(
            SystemOf(
                label=shown,
                name=name,
                kind="translator" if named is plan.systems else "classifier",
                asked=asked.get(name.removeprefix(BY_RULE), 0),
            )
            for named in (plan.systems, plan.classifiers)
            for shown, name in named.items()
        ),
        health=health,
        behaviours=tuple(parts[each.study.name] for each in plan.behaviours if each.study.name in parts),
    )


def _found(params: StudyParams, systems: Collection[str]) -> tuple[Outcomes | None, str]:
    """The outcomes of *systems* with their texts, without a study's own controls, or why there are none."""
    try:
        every = computed(params, texts=True)
    except NbkitError as error:
        return None, " ".join(str(error).split())
    # Of other systems only references: a study's own controls would look like systems of the card.
    there = set(every.rows["model"])
    if there.isdisjoint(systems):
        return None, "its run has no items"
    return every.of_systems([name for name in there if name in systems or is_people(name)]), ""


def _health(plan: CardPlan, tables: Sequence[Outcomes]) -> Iterator[HealthOf]:
    """The health of files of translations with the reference beside them, and of what other systems translated."""
    src, tgt = plan.pair
    names = {shown: name.removeprefix(BY_RULE) for shown, name in plan.systems.items()}
    files = {shown: name for shown, name in names.items() if name.startswith(OutputsModel.prefix)}
    read = fixed_files(files.values(), src, tgt)
    voters = []
    for source in dict.fromkeys(source for source, _ in read):
        reference = reference_of(source, [lines for _, lines in read], tgt)
        if reference and len(read_lines(reference)) == len(read_lines(source)):
            voters.append(f"{OutputsModel.prefix}{reference}?source={source}")
    for each in health_of((Use(Translators, name, plan.pair) for name in (*files.values(), *voters)), Store()):
        yield HealthOf(
            texts=f"{each['file']}, {each['lines']:,} texts, one a line",
            lines=each["lines"],
            systems=tuple(Healthy(**one) for one in each["systems"]),
            unjudged=unjudged(len(each["systems"])),
        )
    yield from _health_of_texts([shown for shown in names if shown not in files], tables, src, tgt)


def _health_of_texts(systems: Sequence[str], tables: Sequence[Outcomes], src: str, tgt: str) -> Iterator[HealthOf]:
    """The health of what all *systems* answered to sources to which nothing was done."""
    import pandas as pd

    answers: dict[str, dict[str, str]] = {name: {} for name in systems}
    every = (found.measured(name) for found in tables if found.has_texts for name in found.names)
    for rows in every:
        for system, source, changed, output in rows[["system", "source", "changed", "output"]].values:
            if system in answers and isinstance(source, str) and isinstance(output, str) and changed is None:
                answers[system].setdefault(source, output)
    sources = [each for each in next(iter(answers.values()), {}) if all(each in own for own in answers.values())]
    if not sources:
        return
    outputs = {name: [own[each] for each in sources] for name, own in answers.items()}
    table = pd.DataFrame(check_outputs(sources, outputs, src, tgt), columns=list(Finding._fields))
    yield HealthOf(
        texts=f"{len(sources):,} texts that were translated as they are",
        lines=len(sources),
        systems=tuple(Healthy(**one) for one in by_system(table, systems)),
        unjudged=unjudged(len(systems)),
    )


def _count(asked: dict[str, int], caps: Caps) -> None:
    for name, n in caps.asked.items():
        asked[name] = asked.get(name, 0) + n


def _behaviour(planned: Planned, found: Outcomes | None, reason: str, pair: tuple[str, str]) -> BehaviourOf:
    behaviour, params = planned.behaviour, planned.params
    measures: list[MeasureOf] = []
    people: Any = None
    answers: dict[str, list[str]] = {}
    items: list[Item] = []
    warnings: list[str] = []
    small: dict[tuple[str, tuple[tuple[str, int], ...]], list[str]] = {}
    if found is not None:
        people = found.of_systems({*found.rows["model"]} - {*planned.systems})
        found = found.of_systems(planned.systems)
        there = found.names
        headline = behaviour.headline_of(there)
        measured = {name: each for name, each in behaviour.measures.items() if each.measure in there}
        for name, measure in measured.items():
            whole, groups = whole_and_groups(found, measure)
            # What the paper's systems did elsewhere says nothing beside sentences of the sandbox.
            marks = measure.published if planned.corpora != "sandbox" else ()
            marks = tuple(mark for mark in marks if mark.pair in ("", "-".join(pair)))
            shown = _measure(name, measure, whole, groups, marks, estimates(people, measure), pair)
            measures.append(shown)
            for row in cast(list[dict[str, Any]], whole.to_dict("records")):
                if row["n"] and (measure is headline or row["clusters"] >= SOME):
                    parts = groups[groups["system"] == row["system"]]
                    said = answer(row, parts, measure)
                    if measure is headline:
                        said = _with_health(said, found, measure, row["system"], pair)
                    answers.setdefault(row["system"], []).append(_with_people(said, shown))
                    of = (measure.label if measure is not headline else "", tuple(unranked(parts).items()))
                    small.setdefault(of, []).append(row["system"])
        # Items of the kind that an answer names, where the headline has no kinds but another measure has.
        divided = headline if headline.by else next((each for each in measured.values() if each.by), headline)
        divided = divided if divided.share == headline.share and divided.better == headline.better else headline
        parts = whole_and_groups(found, divided)[1]
        worst = {str(name): worst_group(own, divided) for name, own in parts.groupby("system")}
        items = list(_items(scored(found, divided), divided, worst))
        rows = found.measured(measures[0].measure)
        warnings = [*_warnings(list(measured.values()), measures, rows), *_left_out(small, len(planned.systems))]
    undecided = sum(value.undecided for measure in measures[:1] for value in measure.values)
    missing = [name for name in planned.systems if name not in answers] or ([] if answers else ["this card"])
    return BehaviourOf(
        study=planned.study.name,
        title=behaviour.title,
        question=behaviour.question,
        changed=behaviour.changed,
        reads=behaviour.fit.reads if behaviour.fit else "translator",
        answers={name: tuple(said) for name, said in answers.items()},
        not_measurable=dict.fromkeys(missing, reason or f"none of {undecided:,} items could be decided"),
        warnings=tuple(warnings),
        measures=tuple(measures),
        items=tuple(items),
        texts=tuple(_texts(behaviour, params)) if params is not None else (),
        tested=0 if found is None else found.measured(behaviour.headline_of(found.names).measure)["source"].nunique(),
        corpora=licences(params, planned.systems.values()) if params is not None else {},
        params=_portable(params.model_dump(mode="json")) if params is not None else {},
    )


def _with_people(said: str, measure: MeasureOf) -> str:
    """A sentence with what references get by the same judge."""
    people = (f"; {each.system} (by people): {measure.with_interval(each)}" for each in measure.people)
    return said.removesuffix(".") + "".join(people) + "."


#: What makes an output broken whatever it was asked for; other findings need other systems, or are what is measured.
_BROKEN = ("empty", "copy", "language", "chatter", "codes", "loop", "truncation")


def _with_health(said: str, found: Outcomes, measure: Measure, system: str, pair: tuple[str, str]) -> str:
    """A sentence with how many of the outputs that it judges are broken, which the number itself may not show."""
    rows = scored(found, measure)
    rows = rows[rows["score"].notna() & rows["output"].notna()]
    rows = rows.assign(given=rows["changed"].where(rows["changed"].notna(), rows["source"]))
    own = rows[rows["system"] == system]
    first = rows.drop_duplicates(["system", "given"]).pivot(index="given", columns="system", values="output")
    others = first.dropna()  # the same texts for all, so that short ones show
    counts: Counter[str] = Counter()
    broken: set[int] = set()
    given, outputs = own["given"].tolist(), own["output"].tolist()
    beside = {str(name): others[name].reindex(given).tolist() for name in others if name != system}
    whole = {name: lines for name, lines in beside.items() if all(isinstance(line, str) for line in lines)}
    if own["reference"].notna().all() and own["changed"].isna().all():
        whole["reference"] = own["reference"].tolist()
    for finding in check_outputs(given, {**whole, system: outputs}, *pair):
        if finding.system == system and finding.kind in _BROKEN:
            counts[finding.kind] += 1
            broken.add(finding.line)
    if not broken:
        return said
    kinds = ", ".join(f"{kind} {counts[kind]:,}" for kind in _BROKEN if counts[kind])
    are = "is" if len(broken) == 1 else "are"
    too = " (of changed texts, too)" if own["changed"].notna().any() else ""
    of = f"of the {len(own):,} outputs judged{too}"
    return f"{said.removesuffix('.')}; but {of}, {len(broken):,} {are} broken ({kinds})."


#: So many groups that are left out are named.
_NAMED = 8


def _left_out(small: Mapping[tuple[str, tuple[tuple[str, int], ...]], Sequence[str]], systems: int) -> Iterator[str]:
    """Which groups an answer does not judge one by one.

    small: the systems by measure ("" for the headline) and by their groups with numbers of items.
    """
    for (measure, groups), of in small.items():
        if not groups or (measure and ("", groups) in small):
            continue
        named = [f"{group} ({n:,})" for group, n in groups[:_NAMED]]
        more = [f"{len(groups) - _NAMED:,} more"] if len(groups) > _NAMED else []
        where = f" in “{measure}”" if measure else ""
        whose = f" for {', '.join(dict.fromkeys(of))}" if len(set(of)) < systems else ""
        yield (
            f"Not judged one by one{where}{whose}, as they have fewer than {SOME} items: {'; '.join([*named, *more])}."
        )


def _texts(behaviour: Behaviour, params: StudyParams) -> Iterator[TextsOf]:
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
                name = facts["name"] if facts["licence"] and "/" in spec else _spelled(_portable(spec))
                yield TextsOf(name=name, use=use, licence=facts["licence"], domain=facts["domain"])


def _spelled(spec: str) -> str:
    """A corpus as pages name it.

    >>> _spelled("moses:${NBKIT_DATA}/wmt/en-de/{source|reference-A}.{lang}"), _spelled("own"), _spelled("multi30k:val")
    ('wmt/en-de/source with reference-A', 'nbkit’s own', 'multi30k:val')
    """
    if spec == "own":
        return "nbkit’s own"
    spec = re.sub(r"\{([^{}|]+)\|([^{}|]+)\}\.\{lang\}", r"\1 with \2", spec)
    return re.sub(rf"^\w+:({re.escape(DATA)}/)?(?=.*/)", "", spec)


#: So many reasons for undecided items are named.
_REASONS = 6
#: The share of failures below which a test hardly distinguishes systems.
_CEILING = 0.05


def _undecided(rows: pd.DataFrame, system: str) -> pd.DataFrame:
    return rows[(rows["system"] == system) & (rows["verdict"] == "undecided")]


def _why(measure: Measure, rows: pd.DataFrame, n: int) -> str:
    """The most frequent reasons of *n* undecided items; "" without any."""
    reasons = rows["reason"].value_counts()
    shown = reasons[reasons.index != ""].head(_REASONS)
    more = n - int(shown.sum())
    named = [f"{count:,}: {measure.reasons.get(str(reason), reason)}" for reason, count in shown.items()]
    return "; ".join([*named, f"{more:,}: other reasons"] if more and named else named)


def _warnings(measured: Sequence[Measure], measures: Sequence[MeasureOf], rows: pd.DataFrame) -> Iterator[str]:
    """Why values are to be read with care: few units, many items that could not be judged, what the study declares.

    rows: those of the first measure.
    """
    fewest = min((value.clusters for value in measures[0].values), default=FEW)
    if 0 < fewest < FEW:
        items = min(value.n for value in measures[0].values if value.clusters == fewest)
        behind = f" behind the {items:,} items" * (items > fewest)
        yield f"Only {fewest} different texts, numbers or idioms{behind}: a few of them can change the result."
    for value in measures[0].values:
        every, of = value.n + value.undecided, f"{value.system}: " * (len(measures[0].values) > 1)
        if value.n and value.undecided > MUCH * every:
            why = _why(measured[0], _undecided(rows, value.system), value.undecided)
            yield (
                f"{of}{value.undecided:,} of {every:,} items could not be judged{why and f' ({why})'}; the value is "
                "that of the others."
            )
        unseen = _undecided(rows, value.system).dropna(subset="value")
        if len(unseen) > MUCH * value.n:
            why = _why(measured[0], unseen, len(unseen))
            yield (
                f"{of}{len(unseen):,} of {value.n:,} items could not have shown an error{why and f' ({why})'}; by the "
                "measure’s definition they count as right."
            )
        share = value.value if value.value is not None and measures[0].share else 0.5
        wrong = 1 - share if measures[0].better == "higher" else share
        if measures[0].better and wrong < _CEILING:
            yield (
                f"{of}{round(wrong * value.n):,} of {value.n:,} items went wrong: so near to the best possible value, "
                "this test can hardly separate good systems from better ones."
            )
    if len({(value.n, value.undecided) for value in measures[0].values}) > 1:
        judged = ", ".join(f"{value.system} {value.n:,}" for value in measures[0].values)
        yield (
            f"The systems were not judged on the same items ({judged}): nbkit compare takes those that both "
            "systems have."
        )
    for measure, declared in zip(measures, measured, strict=True):
        values = [each.value for each in measure.values if each.value is not None]
        if declared.doubt and values and min(values) < declared.doubt.value:
            yield declared.doubt.label


def _measure(
    name: str, measure: Measure, whole: pd.DataFrame, groups: pd.DataFrame, published: tuple[Published, ...],
    people: pd.DataFrame, pair: tuple[str, str],
) -> MeasureOf:  # fmt: skip
    read = measure.precision(*pair)
    marks = [measure.floor, measure.ceiling, measure.zero]
    return MeasureOf(
        name=name,
        label=measure.label,
        measure=measure.measure,
        by="" if measure.names else measure.by,
        reading=measure.reading,
        better=measure.better,
        called=measure.called,
        share=measure.share,
        range=measure.range,
        marks=tuple(dict.fromkeys(mark for mark in marks if mark is not None)),
        published=published,
        read=read.said if read else "",
        method=method_of(measure),
        people=tuple(_value(row) for row in people.to_dict("records") if row["n"]),
        values=tuple(_value(row) for row in whole.to_dict("records")),
        groups=tuple(_value(row) for row in groups.to_dict("records")),
    )


def _value(row: Mapping[Any, Any]) -> Value:
    numbers: dict[str, Any] = {name: _number(row[name]) for name in ("value", "low", "high")}
    numbers |= {name: int(row[name]) for name in ("n", "clusters", "undecided")}
    return Value(system=row["system"], group=str(row.get("group", "")), **numbers)


def _number(value: float) -> float | None:
    return None if value != value else float(value)


def _items(rows: pd.DataFrame, measure: Measure, worst: Mapping[str, str]) -> Iterator[Item]:
    """Telling items of each system; worst: the groups from which a failing one is taken."""
    own_group = group(rows, measure.item)
    for system, own in rows.groupby("system", sort=False):
        for role, place in revealing(own, measure, worst.get(str(system), "")).items():
            row = own.loc[place]
            texts = {name: _text(row[name]) for name in ("source", "changed", "reference", "output")}
            verdict = _text(row["verdict"])
            called = {"pass": "passes", "fail": "fails", **measure.called}.get(verdict or "", verdict or role)
            yield Item(
                system=str(system),
                role=called if measure.share else role,
                group=own_group[place] or row["group"],
                item=row["item"],
                **texts,
                spans=tuple(spans_of(row["spans"])),
                score=_number(row["score"]),
                verdict=verdict,
                reason=row["reason"],
            )


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def run_file(plan: CardPlan, name: str) -> str:
    """A run file of the card's runs: all pages of its studies."""
    runs = [
        {"study": each.study.name, "params": _portable(each.params.model_dump(mode="json", exclude_defaults=True))}
        for each in plan.behaviours
        if each.params is not None
    ]
    return yaml.safe_dump({"name": name, "title": f"Behind the card {name}", "runs": runs}, sort_keys=False)


def _portable(value: Any) -> Any:
    """Parameters with the folder of data by its name: files of a card can be passed on."""
    data = os.environ.get("NBKIT_DATA")
    if isinstance(value, str):
        return value.replace(data, DATA) if data else value
    if isinstance(value, list):
        return [_portable(each) for each in value]
    return {name: _portable(each) for name, each in value.items()} if isinstance(value, dict) else value


def card(
    systems: str | Sequence[str],
    pair: str | tuple[str, str],
    *,
    classifiers: Sequence[str] = (),
    folder: str | Path | None = None,
    max_texts: int = MAX_TEXTS,
    max_requests: int = MAX_REQUESTS,
    **overrides: Mapping[str, Any],
) -> Card:
    """The card of one or several systems; in a notebook it shows itself, and `Card.table` has the numbers.

    Parameters
    ----------
    systems
        Names of translators, as everywhere in nbkit.
    pair
        The direction, ``"en-de"`` or ``("en", "de")``.
    classifiers
        Names of classifiers, for the behaviours of classifiers.
    folder
        Where page, data, Markdown, outcomes and run file are written; by default ``outputs/card-SYSTEM-SRC-TGT``.
    max_texts, max_requests
        Hard caps: texts that each system is asked for each behaviour, and requests to services in total.
    **overrides
        Parameters by study, such as ``numbers={"templates": "own"}``.

    Raises
    ------
    NbkitError
        For systems, languages or parameters that do not exist. What a system cannot give is "not measurable" on
        the card.
    """
    names = [systems] if isinstance(systems, str) else list(systems)
    both = split_pair(pair) if isinstance(pair, str) else pair
    plan = plan_card(
        names, both, classifiers=classifiers, max_texts=max_texts, max_requests=max_requests, overrides=overrides,
        command=f"nbkit.card({names!r}, {'-'.join(both)!r})",
    )  # fmt: skip
    return make_card(plan, Path(folder) if folder is not None else default_folder(plan))


def default_folder(plan: CardPlan) -> Path:
    """Where a card is written if nothing else is said: ``outputs/card-SYSTEM-SRC-TGT``."""
    names = "-".join(re.sub(r"\W+", "-", shown).strip("-") for shown in (*plan.systems, *plan.classifiers))
    return Path("outputs") / f"card-{names[:80]}-{'-'.join(plan.pair)}"
