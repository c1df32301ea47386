"""Files that appear whole or not at all, whatever ends the process that writes them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """Where to write what is to be at *path*: it is put there when the block ends, and removed where that fails.

    >>> import tempfile
    >>> place = Path(tempfile.mkdtemp(), "words.txt")
    >>> with atomic_write(place) as unfinished:
    ...     _ = unfinished.write_text("seau")
    ...     place.exists()
    False
    >>> place.read_text(), len(list(place.parent.iterdir()))
    ('seau', 1)
    """
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        yield unfinished
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
