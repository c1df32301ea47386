"""Python on a disk that is really full: a tmpfs of a few pages in a mount namespace of its own, root or not."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest

_MOUNT = 'mount -t tmpfs -o size="$0"k tmpfs "$1" && cd "$2" && shift 2 && exec "$@"'

#: For the program: its first argument is the disk; `fill` leaves so many pages of 4 KiB on it.
PRELUDE = """
import sys
from pathlib import Path

DISK = Path(sys.argv[1])
BALLAST = DISK / "ballast"

def fill(pages):
    with BALLAST.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError:
            pass
        file.truncate(max(0, file.tell() // 4096 - pages) * 4096)
"""


def run_on_small_disk(
    program: str, disk: Path, kib: int, *arguments: str, folder: Path, variables: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Runs `PRELUDE` and *program* with *disk* of so many KiB, in *folder*; skips the test where there can be none."""
    if not _mounts():
        pytest.skip("no small disk can be mounted here (unshare, tmpfs)")
    disk.mkdir(exist_ok=True)
    script = folder / "on_small_disk.py"  # a file: workers that are spawned import it
    script.write_text(PRELUDE + program, encoding="utf-8")
    return _run(kib, disk, folder, sys.executable, str(script), str(disk), *arguments, variables=variables)


@cache
def _mounts() -> bool:
    try:
        return _run(64, Path("/mnt"), Path("/"), "true").returncode == 0
    except OSError:
        return False


def _run(
    kib: int, disk: Path, folder: Path, *command: str, variables: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    mounted = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", _MOUNT, str(kib), str(disk), str(folder)]
    environment = {**os.environ, **(variables or {})}
    return subprocess.run([*mounted, *command], capture_output=True, text=True, check=False, env=environment)
