"""The store on a disk that is really full: what does not fit is told, and nothing that was stored is lost."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from nbkit.errors import NbkitError
from nbkit.files import atomic_write
from tests.small_disk import run_on_small_disk

PROGRAM = """
import random
import warnings
import pandas as pd
from nbkit.errors import NbkitError
from nbkit.store import Store, StoreError

CONFIG = {"kind": "test", "version": 1}
seen = []

def compute(inputs):
    seen.extend(inputs)
    return [{"noise": random.Random(text).randbytes(600).hex()} for (text,) in inputs]

def left():
    return len(Store(DISK / "store").missing(CONFIG, inputs))

inputs = [(f"text {number}",) for number in range(400)]
table = pd.DataFrame({"noise": [random.Random(n).randbytes(600).hex() for n in range(300)]})
fill(32)
try:
    Store(DISK / "store").records(CONFIG, inputs, compute, shard=20)
    raise SystemExit("it fitted")
except StoreError as error:
    print(error)
assert 0 < left() < 400 and len(seen) == 400 - left() + 20, (left(), len(seen))
assert not list(DISK.rglob(".tmp-*"))
for _ in range(2):
    try:
        Store(DISK / "store").table({"kind": "table"}, table.copy)
        raise SystemExit("it fitted")
    except StoreError as error:
        print(error)

BALLAST.unlink()  # room for all, but not for merging
seen.clear()
missing = left()
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    rows = Store(DISK / "store").records(CONFIG, inputs, compute, shard=20)
assert len(seen) == missing and rows == compute(inputs)
print(*(warning.message for warning in caught))
assert left() == 0 and not list(DISK.rglob("*.damaged")) and not list(DISK.rglob(".tmp-*"))
print("whole")
"""


def test_a_disk_that_is_really_full_loses_nothing_that_was_stored(tmp_path):
    disk = tmp_path / "disk"
    done = run_on_small_disk(PROGRAM, disk, 480, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    records, *tables, merged, whole = done.stdout.splitlines()
    for error in (records, *tables):
        assert error.startswith(f"the store cannot write {disk}/store/t")
        assert error.endswith(
            "No space left on device; make room or grant access there, or set NBKIT_CACHE to another folder"
        )
    assert len(tables) == 2 and merged.startswith("shards were not merged: ") and "No space left" in merged
    assert whole == "whole"


FILES = """
from nbkit.errors import NbkitError
from nbkit.files import atomic_write

place = DISK / "report.html"
with atomic_write(place) as unfinished:
    unfinished.write_text("before")
fill(3)
try:
    with atomic_write(place) as unfinished:
        unfinished.write_text("x" * 100_000)
except NbkitError as error:
    print(error)
assert place.read_text() == "before" and sorted(path.name for path in DISK.iterdir()) == ["ballast", "report.html"]
"""


def test_a_file_that_does_not_fit_leaves_the_one_before(tmp_path):
    disk = tmp_path / "disk"
    done = run_on_small_disk(FILES, disk, 64, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    message = f"cannot write to {disk}/report.html: No space left on device; make room there and run it again\n"
    assert done.stdout == message


def test_an_error_of_the_writers_own_is_left_as_it_is(tmp_path):
    with pytest.raises(FileNotFoundError), atomic_write(tmp_path / "a"):
        Path(tmp_path / "nowhere").read_text()
    with pytest.raises(NbkitError, match="no text"), atomic_write(tmp_path / "a"):
        raise NbkitError("no text")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_the_command_line_passes_on_the_error_of_the_disk():
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "nbkit", "list", "metrics"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode != 0 and "Traceback" not in done.stderr
    assert done.stderr.startswith("nbkit: the output is incomplete: No space left on device\n")
