"""Ten million outcomes: written by the engine in parts, then summarised out of core and exported.

    python benchmarks/outcomes.py [--rows 10000000] [--repeat 3] [--quick]

A made-up study has two languages, 25 perturbations and two metrics; each sentence pair is a unit, so that there are
millions of clusters in groups. A process of its own fills the store; others summarise its Parquet files as a DuckDB
relation on two threads (`nbkit.studies.summarise`), and export them. Seconds: CPU time of both threads, the best of the
turns, with the libraries already imported; memory: the most of any turn, all libraries included.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from pydantic import Field
from reporting import Report, parse, parser

from nbkit.studies.answering import Cell
from nbkit.studies.base import Languages, TranslatorParams, Translators
from nbkit.studies.study import Study, Table

PERTURBATIONS, METRICS, LANGUAGES = 25, ("bleu", "kendall"), ("de", "fr")
#: Rows of a sentence pair under one language.
EACH = PERTURBATIONS * len(METRICS)


class Long(TranslatorParams):
    """Parameters of a long run."""

    source: str = "en"
    languages: Languages = Field(default=list(LANGUAGES))
    models: Translators = Field(default=[])
    pairs: int = 100


def outcomes(params: Long, cell: Cell, start: int, n: int) -> tuple[pd.DataFrame, int]:
    """What a judge would write: two scores for each perturbation and metric of a pair, one in twenty missing."""
    random = np.random.default_rng([start, len(cell.target)])
    unit = np.repeat(np.arange(start, start + n), EACH)
    quality = np.repeat(random.random(n), EACH)
    scores = {name: np.clip(quality + random.normal(0, 0.2, len(unit)), 0, 1) for name in ("beta1", "beta2")}
    scores["beta2"][random.random(len(unit)) < 0.05] = np.nan
    names = [f"perturbation_{number:02d}" for number in range(PERTURBATIONS)]
    frame = {
        "item": np.repeat(
            [f"{number:032x}" for number in range(start * PERTURBATIONS, (start + n) * PERTURBATIONS)], 2
        ),
        "unit": unit,
        "perturbation": np.tile(np.repeat(names, len(METRICS)), n),
        "metric": np.tile(METRICS, n * PERTURBATIONS),
    }
    return pd.DataFrame({**frame, **scores}), n


STUDY = Study(
    name="long", title="Long", paper="none", params=Long,
    tables=(Table(outcomes, size=lambda params, cell: params.pairs, columns=("item", "unit")),),
)  # fmt: skip

#: Of each turn: seconds, CPU seconds, and the peak of memory in MiB.
MEASURED = """
import json, re, sys, tempfile, time
import duckdb
import pandas as pd
import pyarrow.parquet
import scipy.special
from outcomes import Long, STUDY
from nbkit.studies import exports
from nbkit.studies.summarise import summarise

params = Long(pairs=int(sys.argv[1]))
duckdb.sql("SET threads = 2; SET enable_progress_bar = false")
began, cpu = time.perf_counter(), time.process_time()
{code}
used = [time.perf_counter() - began, time.process_time() - cpu]
peak = re.search(r"VmHWM:\\s*(\\d+) kB", open("/proc/self/status").read())[1]
print(json.dumps([*used, int(peak) / 1024]))
"""
FILL = "STUDY.read(params, where=lambda rows: rows.index < 0)"
GROUPED = """
table = summarise(exports.outcomes(params), "beta1 - beta2", "perturbation", within=(-1, 1))
assert len(table) == 25 and (table["high"] > table["low"]).all()
"""
AVERAGED = """
table = summarise(exports.outcomes(params), "beta1", "perturbation", average_over=["target_language", "metric"])
assert len(table) == 25 and (table["high"] > table["low"]).all()
"""
EXPORTED = """
with tempfile.TemporaryDirectory() as folder:
    exports.write_outcomes([params], __import__("pathlib").Path(folder, "found.parquet"), "parquet", texts=False)
"""


def main() -> None:
    made = parser(__doc__)
    made.add_argument("--rows", type=int, default=10_000_000, help="outcomes of the run")
    options = parse(made, rows=200_000)
    report = Report(__file__, "Outcomes of a long run, summarised out of core", options)
    pairs = options.rows // EACH // len(LANGUAGES)
    with tempfile.TemporaryDirectory() as cache:
        _measured(FILL, pairs, cache)
        full = options.rows >= 10_000_000
        for what, code in (
            ("grouped by perturbation, clusters of a pair", GROUPED),
            ("means of four cells' means, by perturbation", AVERAGED),
        ):
            turns = np.array([_measured(code, pairs, cache) for _ in range(options.repeat)])
            wall, cpu, _ = turns.min(axis=0)
            of = f"{options.rows:,} outcomes {what}"
            load = f"{wall:.1f} s by the clock, at a load of {os.getloadavg()[0]:.0f}"
            report.add(of, cpu, "s", bar="≤ 10" if full else "", note=load)
            report.add(of, float(turns[:, 2].max()), "MiB", bar="≤ 1024" if full else "", note="all libraries included")
        _, cpu, peak = _measured(EXPORTED, pairs, cache)
        report.add(f"{options.rows:,} outcomes exported as Parquet", peak, "MiB", bar="≤ 1024" if full else "",
                   note=f"{cpu:.0f} s of CPU time")  # fmt: skip
    report.remark(
        "Seconds are of the CPU time of both threads, which the clock does not exceed on two idle cores: the best of "
        "the turns. Memory is the most of the turns."
    )
    report.write()


def _measured(code: str, pairs: int, cache: str) -> list[float]:
    environment: dict[str, Any] = {**os.environ, "NBKIT_CACHE": cache}
    command = [sys.executable, "-c", MEASURED.replace("{code}", code), str(pairs)]
    done = subprocess.run(
        command, stdout=subprocess.PIPE, text=True, check=True, env=environment, cwd=Path(__file__).parent
    )
    return list(json.loads(done.stdout.splitlines()[-1]))


if __name__ == "__main__":
    main()
