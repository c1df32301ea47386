"""The browser of sentences with many items in headless Chromium: opening, filtering, searching, size and memory.

    python benchmarks/sentences.py [--items 100000] [--systems 2] [--quick]

A made-up run: sentences of 15 words, drawn by Zipf's law from 20,000, and for each the outputs of every system, with
two measures. Seconds are of CPU time of the page's process, all threads; a filter's end with the items it shows, and
the first search prepares the others. Memory is the peak of that process.
"""

from __future__ import annotations

import json
import re
import shutil
import statistics
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from reporting import Report, need, parse, parser, skip

from nbkit.report import site
from nbkit.studies import item_id
from nbkit.studies.exports import SCHEMA_VERSION, write_parts

PART = 10_000
FLAGS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--window-size=1300,1600")
#: What is chosen: the control and its value.
FILTERS = {
    "one study": ("study", "word_order"),
    "one system": ("system", "system-1"),
    "failures": ("verdict", "fail"),
    "one measure": ("measure", "strict"),
    "scores from 0.5": ("from", "0.5"),
    "first search, a common word": ("text", "the"),
    "a search, a common word": ("text", "the"),
    "a search, no such word": ("text", "zyxwv"),
    "lowest score first": ("sort", "lowest"),
    "systems disagree most": ("sort", "disagreement"),
}


def main() -> None:
    made = parser(__doc__, repeat=5)
    made.add_argument("--items", type=int, default=100_000)
    made.add_argument("--systems", type=int, default=2)
    options = parse(made, items=5_000)
    need("selenium")
    if not (shutil.which("chromium") and shutil.which("chromedriver")):
        skip("needs Debian's chromium and chromium-driver")
    report = Report(__file__, "The browser of sentences", options, seconds="CPU time of the page's process")
    with tempfile.TemporaryDirectory() as folder:
        page = run_folder(Path(folder), options.items, options.systems)
        found = [measured(page) for _ in range(options.repeat)]
        size = page.stat().st_size / 2**20
    report.add("the page", size, "MiB", bar="≤ 40", note=f"{options.items:,} items, {options.systems} systems")
    wall = statistics.median(each["wall"] for each in found)
    report.add(
        "opened", statistics.median(each["open"] for each in found), "s", bar="≤ 2", note=f"{wall:.1f} s by the clock"
    )
    for name in FILTERS:
        report.add(name, 1000 * statistics.median(each[name] for each in found), "ms", bar="≤ 200")
    report.add("memory of the page's process", max(each["memory"] for each in found), "MiB", bar="≤ 500", note="peak")
    report.write()


#: What the made-up study measures, and how its columns are read.
DECLARED = {
    "title": "Made up",
    "question": "How large is a page?",
    "measures": {"strict": {"label": "right", "measure": "strict", "reading": "", "answer": {"above": "{value}"}}},
    "outcomes": {
        "measures": {
            "strict": {"value": "strict", "verdict": "value", "reason": "reason"},
            "score": {"value": "score"},
        },
        "groups": ["set", "length"],
    },
}


def run_folder(folder: Path, items: int, systems: int) -> Path:
    """The page of a made-up run in *folder*."""
    for room in ("cells", "outcomes"):
        (folder / room).mkdir()
    rows = pd.concat(outcomes(items, systems), ignore_index=True)
    about = {"schema_version": SCHEMA_VERSION, "study": "word_order", "behaviour": DECLARED, "findings": []}
    write_parts(lambda: iter([rows]), folder / "outcomes" / "word_order.parquet", "parquet", about)
    record = {"title": "A large run", "status": "done", "runs": [{"name": "word_order", "study": "word_order"}]}
    (folder / "run.json").write_text(json.dumps(record))
    return site.build(folder).with_name("sentences.html")


def outcomes(items: int, systems: int) -> Iterator[pd.DataFrame]:
    """The rows of a made-up study."""
    rng = np.random.default_rng(0)
    letters = np.array(list("abcdefghiklmnoprstuüw"))
    words = ["the", *("".join(rng.choice(letters, rng.integers(2, 11))) for _ in range(20_000))]
    weights = 1 / np.arange(1, len(words) + 1)

    def sentences(n: int) -> list[str]:
        drawn = rng.choice(len(words), (n, 15), p=weights / weights.sum())
        return [f"“{' '.join(words[i] for i in row)}”." for row in drawn]

    for start in range(0, items, PART):
        n = min(PART, items - start)
        source, reference = sentences(n), sentences(n)
        shared = {
            "source_language": "en", "target_language": "de", "reason": "", "unit": "", "source": source,
            "reference": reference, "item": [item_id(text, start + i) for i, text in enumerate(source)],
            "set": [str(i % 7) for i in range(n)], "length": [str(i % 40) for i in range(n)],
            "spans": [json.dumps([{"text": "source", "start": i % 9, "end": 12, "label": "moved"}]) for i in range(n)],
        }  # fmt: skip
        for system in range(systems):
            strict = (rng.random(n) < 0.8).astype(float)
            of = {"model": f"system-{system}", "strict": strict, "score": rng.random(n), "output": sentences(n)}
            yield pd.DataFrame({**shared, **of})


def measured(page: Path) -> dict[str, float]:
    """Seconds and MiB, in a browser that is started for it."""
    import psutil
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    with tempfile.TemporaryDirectory() as profile:
        for flag in (*FLAGS, f"--user-data-dir={profile}"):
            options.add_argument(flag)
        service = webdriver.ChromeService(executable_path=shutil.which("chromedriver"))
        driver = webdriver.Chrome(options=options, service=service)
        try:
            driver.set_script_timeout(300)
            driver.get("about:blank")
            driver.get(page.as_uri())
            wall = driver.execute_async_script(_READY) / 1000
            family = psutil.Process(service.process.pid).children(recursive=True)
            own = max((each for each in family if "--type=renderer" in each.cmdline()), key=_seconds)
            found = {"open": _seconds(own), "wall": wall}
            for name, (control, value) in FILTERS.items():
                driver.execute_async_script(_CLEAR)
                before = _seconds(own)
                driver.execute_async_script(_CHOOSE, control, value)
                found[name] = _seconds(own) - before
            peak = re.search(r"VmHWM:\s*(\d+)", Path(f"/proc/{own.pid}/status").read_text())
            return found | {"memory": int(peak[1]) / 1024 if peak else float("nan")}
        finally:
            driver.quit()


def _seconds(process: Any) -> float:
    used = process.cpu_times()
    return used.user + used.system


#: When everything could be used, in milliseconds since the page was asked for.
_READY = """
const done = arguments[0];
const shown = () => requestAnimationFrame(() => done(performance.now()));
const look = () => document.getElementById("waiting") ? setTimeout(look, 5) : shown();
look();
"""
#: From a choice to the frame in which its items stand; everything is shown before.
_CHOOSE = """
const [name, value, done] = arguments;
const control = document.getElementById(name);
control.value = value;
control.dispatchEvent(new Event(control.tagName === "INPUT" ? "input" : "change"));
requestAnimationFrame(() => requestAnimationFrame(done));
"""
_CLEAR = "location.hash = ''; setTimeout(arguments[0], 500);"


if __name__ == "__main__":
    main()
