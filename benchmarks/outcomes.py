"""Memory that outcomes take as they are written: a stream of millions of rows, some of them of identical items.

    python benchmarks/outcomes.py [--rows 10000000] [--quick]

A made-up study streams its rows a part at a time; a process of its own writes them as Parquet. Every hundredth item
occurs twice, far apart, and has to come out as one row.
"""

from __future__ import annotations

from reporting import Report, parse, parser, peak_of

PART = 50_000

WRITE = """
import sys, tempfile, time
from pathlib import Path
import numpy as np
import pandas as pd
from nbkit.studies import outcomes, write_outcomes
from nbkit.studies.base import StudyParams
from nbkit.studies.engine import Study

PART, ROWS = int(sys.argv[1]), int(sys.argv[2])

class Long(StudyParams):
    "Parameters of a long stream."

STUDY = Study(name="long", title="", paper="", params=Long)

@STUDY.outcomes(headline="none")
def stream(params, store, texts):
    for start in range(0, ROWS, PART):
        numbers = np.arange(start, min(start + PART, ROWS))
        numbers = np.where(numbers % 100 == 0, numbers % (ROWS // 2), numbers)
        ids = [f"{number:032x}" for number in numbers.tolist()]
        yield pd.DataFrame({"item": ids, "cluster": ids, "value": numbers % 2.0, "groups": [{"part": "a"}] * len(ids),
                            "system": "S", "source_language": "en", "measure": "m", "verdict": "pass"})

with tempfile.TemporaryDirectory() as folder:
    n = write_outcomes(outcomes(Long()), Path(folder, "found.parquet"), "parquet")
    assert n == ROWS - ROWS // 200, n
"""


def main() -> None:
    made = parser(__doc__)
    made.add_argument("--rows", type=int, default=10_000_000, help="rows of the stream")
    options = parse(made, rows=200_000)
    report = Report(__file__, "Outcomes of a long run, written down", options)
    peak = peak_of(WRITE, PART, options.rows)
    report.add(f"{options.rows:,} outcomes written", peak, "MiB", bar="≤ 1024", note="all libraries included")
    report.write()


if __name__ == "__main__":
    main()
