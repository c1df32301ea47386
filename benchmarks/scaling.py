"""How far a word-order grid scales on a cluster: its real units of work on 1 to 64 simulated workers.

    python benchmarks/scaling.py [--pairs 10000] [--rates opus-mt=1000,mbart50=300,…] [--load 20] [--measure 1000]

The units are those that `nbkit run` would send out, in their stages. A free worker takes the next one, as Dask has it,
and loads the model unless it is one of the last that it used; a stage begins when the one before has ended. Notebooks
come last, in eight processes of one machine. Costs are options. Models' rates are assumed unless --rates gives others;
--measure takes the costs of every table from that many sandbox pairs.
"""

from __future__ import annotations

import argparse
import heapq
import os
import shutil
import tempfile
import time
from collections import Counter, OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import groupby
from typing import NamedTuple

from reporting import Report, parse, parser

from nbkit.languages import TARGETS
from nbkit.models.model import KEPT
from nbkit.studies.word_order import STUDY, WordOrderParams
from tests.models.by_name import resolve

#: Texts a second on one GPU of today, for each model: stated, not measured.
RATES = {"opus-mt": 1000.0, "m2m100-418m": 400.0, "mbart50": 300.0, "m2m100-1.2b": 150.0}
LOCAL = 8  # processes that execute notebooks
WORKERS = (1, 2, 4, 8, 16, 32, 64)


@dataclass(frozen=True)
class Costs:
    """Seconds a thousand pairs for each table of the study, without what the model of outcomes takes.

    items, left_out, difficulty, similarity: once a language. outcomes, as_coded: once a language and model. texts:
    distinct texts a pair. rates: texts a second, by model. load: seconds for a model. notebook: for a page. start: for
    workers.
    """

    rates: Mapping[str, float]
    texts: float = 14.8
    items: float = 26.0
    left_out: float = 1.5
    difficulty: float = 2.2
    similarity: float = 8.0
    outcomes: float = 4.0
    as_coded: float = 1.0
    load: float = 20.0
    notebook: float = 10.0
    start: float = 30.0


class Job(NamedTuple):
    """A unit of work: seconds on a worker that has *model* loaded, where it runs one."""

    stage: int
    seconds: float
    model: str | None = None


def jobs(params: WordOrderParams, costs: Costs) -> Iterator[Job]:
    """The study's units. Models are there: nodes of a cluster often have no network to fetch them from."""
    for unit in (each for each in STUDY.units(params) if "table" in each.arguments):
        table, (_, language, model) = unit.arguments["table"], unit.arguments["cell"]
        left = params.n_pairs - unit.arguments["start"]
        pairs = left if table == "left_out" else min(left, STUDY.table("items").unit)
        seconds = getattr(costs, table) * pairs / 1000
        if table == "outcomes":
            yield Job(unit.stage, seconds + pairs * costs.texts / costs.rates[model], _loaded(params, language, model))
        else:
            yield Job(unit.stage, seconds)


def _loaded(params: WordOrderParams, language: str, model: str) -> str:
    """What is loaded for a model and language: of a model of many languages the same."""
    return str(resolve(model, params.source, language).hub)


def simulate(work: Sequence[Job], costs: Costs, workers: int) -> Counter[str]:
    """Seconds in all, and by worker on average: at work, loading models, waiting for a stage to end."""
    kept: list[OrderedDict[str, None]] = [OrderedDict() for _ in range(workers)]
    now, spent = costs.start, Counter({"start": costs.start})
    for _, members in groupby(work, key=lambda job: job.stage):
        free = [(now, worker) for worker in range(workers)]
        for job in members:
            at, worker = heapq.heappop(free)
            took = job.seconds
            spent["at work"] += job.seconds / workers
            if job.model is not None:
                if job.model not in kept[worker]:
                    took += costs.load
                    spent["loading"] += costs.load / workers
                    while len(kept[worker]) >= KEPT:
                        kept[worker].popitem(last=False)
                kept[worker][job.model] = None
                kept[worker].move_to_end(job.model)
            heapq.heappush(free, (at + took, worker))
        now = max(at for at, _ in free)
        spent["waiting"] += sum(now - at for at, _ in free) / workers
    spent["units"] = now
    return spent


def notebooks(params: WordOrderParams, costs: Costs) -> float:
    """Seconds for the pages, a wave of eight at a time."""
    pages = Counter(notebook.scope for notebook in STUDY.notebooks)
    blocks = len(params.languages) * len(params.models)
    return -(-(pages["cell"] * blocks + pages["grid"]) // LOCAL) * costs.notebook


class Row(NamedTuple):
    """A number of workers. units, everything: seconds of the units, and with the notebooks after them.

    faster, all_faster: than one worker. shares: of a worker's time.
    """

    workers: int
    units: float
    faster: float
    shares: Mapping[str, float]
    everything: float
    all_faster: float


def rows(params: WordOrderParams, costs: Costs) -> Iterator[Row]:
    """What is simulated, for each of `WORKERS`."""
    work = sorted(jobs(params, costs), key=lambda job: job.stage)
    alone, pages = simulate(work, costs, 1)["units"], notebooks(params, costs)
    for workers in WORKERS:
        spent = simulate(work, costs, workers)
        units = spent["units"]
        shares = {name: spent[name] / units for name in ("at work", "loading", "waiting")}
        yield Row(workers, units, alone / units, shares, units + pages, (alone + pages) / (units + pages))


def table(found: Iterable[Row]) -> Iterator[str]:
    """The lines of Markdown that docs/cluster.md has."""
    yield "| workers | units, min | speed-up | working | loading | waiting | total, min | speed-up |"
    yield "|---" * 8 + "|"
    for row in found:
        shares = " | ".join(f"{share:.0%}" for share in row.shares.values())
        yield (
            f"| {row.workers} | {row.units / 60:.1f} | {row.faster:.1f}× | {shares} | {row.everything / 60:.1f} "
            f"| {row.all_faster:.1f}× |"
        )


def measured(pairs: int) -> dict[str, float]:
    """CPU seconds that each step without a model takes a thousand sandbox pairs, and distinct texts a pair."""
    from nbkit.models import MODELS

    class Copies:
        identity = "v1"

        def translate(self, texts: Sequence[str], *_: object, **__: object) -> Sequence[str]:
            return texts

    MODELS.register("copies", Copies(), replace=True)
    params = WordOrderParams(corpus="sandbox", models=["copies"], n_pairs=pairs)
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        os.environ["NBKIT_CACHE"] = folder
        items = STUDY.read(params, "items").head(0)
        shutil.rmtree(folder)  # what is loaded once does not count
        for name in ("items", "left_out", "difficulty", "similarity", "outcomes", "as_coded"):
            began = time.process_time()
            items = STUDY.read(params, name) if name == "items" else items
            STUDY.read(params, name)
            found[name] = (time.process_time() - began) * 1000 / pairs
        found["texts"] = len({*items["source"], *items["changed"]}) / pairs
    return found


def _rates(stated: str) -> dict[str, float]:
    rates = dict(RATES)
    for item in filter(None, stated.split(",")):
        model, _, rate = item.partition("=")
        rates[model] = float(rate)
    return rates


def main() -> None:
    made = parser(__doc__, repeat=1)
    made.add_argument("--pairs", type=int, default=10_000, help="a language")
    made.add_argument("--rates", default="", help="MODEL=TEXTS_PER_SECOND,…")
    made.add_argument(
        "--measure", type=int, default=0, metavar="PAIRS", help="of the sandbox, for costs without models"
    )
    costs = Costs(RATES)
    named = [each.name for each in fields(Costs) if each.name != "rates"]
    for name in named:
        made.add_argument(f"--{name.replace('_', '-')}", type=float, help=f"by default {getattr(costs, name)}")
    options = parse(made, pairs=1000)
    costs = replace(costs, rates=_rates(options.rates), **(measured(options.measure) if options.measure else {}))
    costs = replace(costs, **{name: getattr(options, name) for name in named if getattr(options, name) is not None})
    settings = {**vars(options), **vars(costs), "rates": [f"{name}={rate:g}" for name, rate in costs.rates.items()]}
    report = Report(
        __file__, "Scaling: a word-order grid on more and more workers", argparse.Namespace(**settings),
        seconds="simulated workers, from costs that the settings state",
    )  # fmt: skip
    params = WordOrderParams(corpus="sandbox", languages=list(TARGETS), models=list(costs.rates), n_pairs=options.pairs)
    found = list(rows(params, costs))
    for row in found[1:]:
        shares = ", ".join(f"{share:.0%} {name}" for name, share in row.shares.items())
        note = f"{row.units / 60:.1f} min of {found[0].units / 60:.1f}; {shares}"
        report.add(f"units on {row.workers} workers", row.faster, against="one worker", note=note)
        note = f"{row.everything / 60:.1f} min of {found[0].everything / 60:.1f}"
        report.add(f"with notebooks, on {row.workers} workers", row.all_faster, against="one worker", note=note)
    report.write()
    print("\n".join(table(found)))


if __name__ == "__main__":
    main()
