"""Where files are and what is in them: environment variables in paths, digests of files and folders."""

from __future__ import annotations

import hashlib
import os
from functools import lru_cache
from pathlib import Path
from string import Template

from nbkit.errors import NbkitError


def expand_path(path: str, thing: str) -> str:
    """*path* with ``$NAME`` and ``${NAME}`` replaced from the environment, and a leading ``~``.

    thing: what the path stands for, for the error where a variable is not set.

    >>> expand_path("${HOME}/pud", "corpus").endswith("/pud")
    True
    >>> expand_path("${NBKIT_NO_SUCH_VARIABLE}/pud", "corpus")
    Traceback (most recent call last):
    ...
    nbkit.errors.NbkitError: corpus '${NBKIT_NO_SUCH_VARIABLE}/pud': the environment variable
    NBKIT_NO_SUCH_VARIABLE is not set; set it to the folder that is meant (export NBKIT_NO_SUCH_VARIABLE=…)
    or write the path itself
    """
    if "$" not in path:
        return str(Path(path).expanduser()) if path.startswith("~") else path
    try:
        expanded = Template(path).substitute(os.environ)
    except KeyError as error:
        variable = error.args[0]
        raise NbkitError(
            f"{thing} '{path}': the environment variable {variable} is not set; set it to the folder that is "
            f"meant (export {variable}=…) or write the path itself"
        ) from None
    except ValueError:
        raise NbkitError(f"{thing} '{path}': a '$' that begins no variable; write '$$' for a plain one") from None
    return str(Path(expanded).expanduser()) if expanded.startswith("~") else expanded


def file_digest(path: str | Path) -> str:
    """32 hexadecimal digits of the file's content (BLAKE2b); read once a process while the file is unchanged."""
    status = Path(path).stat()
    return _file_digest(str(path), status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=4096)
def _file_digest(path: str, modified: int, size: int) -> str:
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()


def folder_digest(folder: str | Path) -> str:
    """32 hexadecimal digits of all files below *folder*: their relative paths and contents."""
    digest = hashlib.blake2b(digest_size=16)
    root = Path(folder)
    for path in sorted(path for path in root.rglob("*") if path.is_file()):
        digest.update(f"{path.relative_to(root).as_posix()}\0{file_digest(path)}\n".encode())
    return digest.hexdigest()
