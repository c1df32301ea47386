"""Files that appear whole or not at all, whatever ends the process that writes them."""

from __future__ import annotations

import errno
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from nbkit.errors import NbkitError

#: What a disk says that takes no more: nothing of the block's own doing.
REFUSALS = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO})


@contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """Where to write what is to be at *path*: it is put there when the block ends, and removed where that fails.

    Raises `NbkitError`, which names *path*, where the disk is full or takes no more for another reason.

    >>> import tempfile
    >>> place = Path(tempfile.mkdtemp(), "words.txt")
    >>> with atomic_write(place) as unfinished:
    ...     _ = unfinished.write_text("seau")
    ...     place.exists()
    False
    >>> place.read_text(), len(list(place.parent.iterdir()))
    ('seau', 1)
    """
    # Processes of several machines may write the same file, and bear the same number.
    unfinished = path.with_name(f".{path.name}.{os.getpid()}-{uuid.uuid4().hex[:8]}")
    try:
        with writable(path):
            yield unfinished
            unfinished.replace(path)
    finally:
        with suppress(OSError):
            unfinished.unlink(missing_ok=True)


@contextmanager
def writable(place: Path) -> Iterator[None]:
    """Raises `NbkitError` in place of what a disk says that takes no more, which names no file.

    >>> with writable(Path("outputs/demo")):
    ...     raise OSError(errno.ENOSPC, "No space left on device")
    Traceback (most recent call last):
    nbkit.errors.NbkitError: cannot write to outputs/demo: No space left on device; make room there and run it again
    """
    try:
        yield
    except OSError as error:
        if error.errno not in REFUSALS:
            raise
        raise NbkitError(f"cannot write to {place}: {error.strerror}; make room there and run it again") from error
