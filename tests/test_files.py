"""Where output goes: devices and pipes in place, and tables that a spreadsheet does not compute."""

from __future__ import annotations

import io
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from nbkit.cli import main
from nbkit.errors import NbkitError
from nbkit.figures.panels import save_table
from nbkit.files import as_csv, atomic_write, is_stream, plain_text

TEXT = "ein Haus\n" * 3


def write(path: Path) -> None:
    with atomic_write(path) as unfinished:
        unfinished.write_text(TEXT)


def test_a_pipe_is_written_to_and_stays_one(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    (tmp_path / "link").symlink_to("pipe")
    for place in (pipe, tmp_path / "link"):
        read: list[str] = []
        reader = threading.Thread(target=lambda: read.append(pipe.read_text()), daemon=True)  # noqa: B023 - joined below
        reader.start()
        write(place)
        reader.join(10)
        assert read == [TEXT] and stat.S_ISFIFO(pipe.lstat().st_mode)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "pipe"]
    assert (tmp_path / "link").is_symlink()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_device_is_reported_as_full_and_stays_one(tmp_path):
    link, second = tmp_path / "full", tmp_path / "second"
    link.symlink_to("/dev/full")
    second.symlink_to("full")
    places = [link, second]
    if hasattr(os, "mknod"):
        try:  # as root, a device of our own
            os.mknod(tmp_path / "device", 0o666 | stat.S_IFCHR, os.makedev(1, 7))
            (tmp_path / "device").open("w").close()
            places.append(tmp_path / "device")
        except OSError:
            (tmp_path / "device").unlink(missing_ok=True)
    for place in places:
        with pytest.raises(NbkitError, match=rf"cannot write to {place}: No space left on device; make room"):
            write(place)
        assert stat.S_ISCHR(place.stat().st_mode)
    assert link.is_symlink() and second.is_symlink()
    source = tmp_path / "source.txt"
    source.write_text("\n")
    result = CliRunner().invoke(
        main, ["translate", str(source), "--system", "opus-mt", "--pair", "en-de", "--output", str(link)]
    )
    assert (result.exit_code, result.output.count("No space left on device")) == (2, 1)
    assert link.is_symlink()


def test_standard_output_is_written_in_place_whatever_it_is(tmp_path):
    """Also where it is a file: what is behind the link would be replaced, and the rest of the output lost."""
    code = (
        "import sys; from pathlib import Path; from nbkit.files import atomic_write\n"
        "with atomic_write(Path(sys.argv[1])) as place: place.open('a').write('words')"
    )
    for place in ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"):
        if not Path(place).exists():
            pytest.skip("needs /proc")
        with (tmp_path / "out").open("w") as out:
            subprocess.run([sys.executable, "-c", code, place], stdout=out, check=True)
        assert (tmp_path / "out").read_text() == "words" and os.path.islink("/dev/stdout")  # noqa: PTH114
        found = subprocess.run([sys.executable, "-c", code, place], capture_output=True, check=True)
        assert found.stdout == b"words"


def test_other_links_are_replaced_as_files_are(tmp_path):
    """A link in an output folder from elsewhere does not lead the writing out of it."""
    (tmp_path / "kept").write_text("kept")
    (tmp_path / "link").symlink_to("kept")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "nowhere").symlink_to("gone")
    assert not any(is_stream(tmp_path / name) for name in ("kept", "link", "loop", "nowhere", "gone"))
    for name in ("link", "nowhere"):
        write(tmp_path / name)
        assert (tmp_path / name).read_text() == TEXT and not (tmp_path / name).is_symlink()
    assert (tmp_path / "kept").read_text() == "kept"


#: Texts as a hostile corpus has them.
CELLS = st.one_of(st.text("=+-@'\t\r\n ＝a0.,;\"", max_size=8), st.text(max_size=8), st.floats().map(str))
HOSTILE = ["=cmd|' /C calc'!A0", "+1+1", "-1+2", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "＝1+1", "'=1", "-"]


def is_safe(cell: str) -> bool:
    try:
        float(cell.removesuffix("%").replace(",", ""))
    except ValueError:
        return not cell.startswith(("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠"))
    return True


@given(st.lists(CELLS))
def test_no_text_begins_a_formula_and_every_text_comes_back(texts):
    shown = [plain_text(text) for text in texts]
    for text, cell in zip(texts, shown, strict=True):
        assert cell == text or cell == f"'{text}"
        assert not cell.startswith(("=", "@", "\t", "\r", "\n")) and (is_safe(cell) or cell[1:].isdigit())
    assert len(set(shown)) == len(set(texts))


def test_a_carriage_return_within_a_text_ends_no_row():
    table = pd.DataFrame({"text": ["a\r=cmd()", "b"], "n": [1, 2]})
    assert pd.read_csv(io.StringIO(as_csv(table))).values.tolist() == [["a\r=cmd()", 1], ["b", 2]]


def test_tables_are_saved_without_formulas(tmp_path, monkeypatch):
    monkeypatch.setenv("NBKIT_OUTPUT", str(tmp_path))
    table = pd.DataFrame(
        {
            "=header": HOSTILE,
            "kind": pd.Categorical(HOSTILE),
            "score": [-0.5] * len(HOSTILE),
            "n": pd.array([-1, None] * (len(HOSTILE) // 2), dtype="Int64"),
            "mixed": pd.Series(["=1", -1, None, "-2", 0.5] * (len(HOSTILE) // 5), dtype=object),
        }
    )
    save_table(table, "scores")
    save_table(table, "samples", text=True)
    for name in ("scores.csv", "samples.texts.csv"):
        with (tmp_path / "tables" / name).open(encoding="utf-8", newline="") as file:
            text = file.read()
        read = pd.read_csv(io.StringIO(text, newline=""), dtype=str, keep_default_na=False, lineterminator="\n")
        assert list(read) == ["'=header", "kind", "score", "n", "mixed"]
        assert all(is_safe(cell) for cell in read.to_numpy().ravel())
        assert list(read["score"]) == ["-0.5"] * len(HOSTILE) and read["n"][0] == "-1" and read["n"][1] == ""
        assert list(read["mixed"][:5]) == ["'=1", "-1", "", "-2", "0.5"]
    assert list(table["=header"]) == HOSTILE  # what is shown on the page is as it was


def test_a_table_without_such_text_is_as_pandas_writes_it():
    table = pd.DataFrame({"text": ["a", None, "'tis"], "x": [1.0, None, -2.5], "yes": [True, False, True]})
    assert as_csv(table) == table.to_csv(index=False)


def test_a_place_that_cannot_be_written_is_called_what_the_user_called_it():
    with pytest.raises(OSError) as caught, atomic_write(Path("/proc/nbkit.txt")) as unfinished:
        unfinished.write_text("x")
    assert caught.value.filename == "/proc/nbkit.txt"
