"""Whether a model's files are still the bytes they were: digests are kept from the start, and checked at each load.

Damaged weights translate all the same, only worse, and what they give would be remembered under the model's key. So
the bytes are looked at whenever a model is loaded, a gigabyte a second, and a model whose bytes are not those that its
key stands for is not loaded; nothing is computed from it, and so nothing remembered.

========================  ======================================================  =================================
files                     the digests of their bytes                              in the key of what is remembered
========================  ======================================================  =================================
trained here              in the folder (`DIGESTS`), written when it was trained  the recipe's digest
converted (CTranslate2)   in the folder (`DIGESTS`), written when it was          the digest of what was converted
                          converted
hub snapshots             the names of their blobs                                hub id and commit
any other folder          beside the trained models, by path, size, time and      the digest of all bytes
                          inode
========================  ======================================================  =================================

Where there is no digest yet (a cache of an earlier version, a folder never seen) it is written at the first sight.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

from nbkit.errors import ModelError, NbkitError
from nbkit.files import atomic_write, first_sight, read_note
from nbkit.models.translators.local import models_folder
from nbkit.models.weights import FILES

#: Lists the digests of the files beside it. No ``.json``: it is no part of what a folder is known by.
DIGESTS = "nbkit.digests"
_BLOCK = 2**18
_THREADS = 4
#: The names of the Hugging Face cache's blobs: SHA-256 of a large file, git's own digest of a small one.
_BLOB = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


def write_digests(folder: Path) -> None:
    """Writes `DIGESTS` for the files that are in *folder* now.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "model.safetensors").write_bytes(b"weights")
    >>> write_digests(folder)
    >>> check_bytes(folder, "model 'x'")
    >>> _ = (folder / "model.safetensors").write_bytes(b"wEights")
    >>> check_bytes(folder, "model 'x'")
    Traceback (most recent call last):
    nbkit.errors.ModelError: model 'x': .../model.safetensors is damaged: it is not what was written there...
    """
    with atomic_write(folder / DIGESTS) as unfinished:
        unfinished.write_text(json.dumps(_digests(_files(folder, "*.bin")), indent=1) + "\n", encoding="utf-8")


def check_bytes(folder: Path, what: str, way_out: str | None = None, *, weights: bool = True) -> None:
    """Raises `ModelError` where a file of the model in *folder* is not what it was; what is new there is written down.

    what: the model, as messages name it. way_out: what to do about a damaged folder of nbkit's own making. weights:
    False where another backend's are used, and only settings and tokenizer are read.
    """
    own = models_folder() in folder.parents
    record = folder / DIGESTS
    if record.is_file():
        way_out = way_out or (
            f"delete the folder {folder}, and the model is trained again"
            if own
            else f"restore the folder or train it again; if the file was changed on purpose, delete {record}"
        )
        _compare(folder, _read(record, what, way_out), weights, f"{what}: {{}} not what was written there; {way_out}")
    elif own:
        with suppress(OSError, NbkitError):  # a cache that can only be read
            write_digests(folder)
    elif not _check_blobs(folder, what, weights):
        known, fresh = _seen(folder)
        if not fresh:
            reason = (
                f"{what}: {{}} not what it was when nbkit first read it, though its size and time are the same; "
                "restore it, or `touch` it if it was changed on purpose, and it is another model from then on"
            )
            _compare(folder, known["files"], weights, reason)


def folder_digest(folder: Path) -> str:
    """BLAKE2b over the settings, tokenizer and weights in *folder*: names and contents, nothing else.

    Kept beside the trained models, by path, sizes, times and inodes, because hashing gigabytes takes seconds.
    """
    return _seen(folder)[0]["digest"]


def _seen(folder: Path) -> tuple[dict[str, Any], bool]:
    """The digests of a folder's files, and of all of them, and whether they were made now."""
    files = _files(folder)

    def digests() -> dict[str, Any]:
        each, whole = _digests(files), hashlib.blake2b(digest_size=16)
        for name, content in each.items():
            whole.update(len(name).to_bytes(4, "little") + name.encode() + bytes.fromhex(content))
        return {"digest": whole.hexdigest(), "files": each}

    return first_sight(folder, files, models_folder() / "digests", digests)


def _files(folder: Path, *more: str) -> list[Path]:
    return sorted({path for pattern in (*FILES, *more) for path in folder.glob(pattern) if path.is_file()})


def _compare(folder: Path, known: Mapping[str, str], weights: bool, reason: str) -> None:
    """Raises `ModelError` for the first of the *known* files whose bytes are others, or that is gone."""
    paths = [folder / name for name in known if weights or not name.endswith(".safetensors")]
    for path in paths:
        if not path.is_file():
            raise ModelError(reason.format(f"{path} is missing: the folder is"))
    for name, digest in _digests(paths).items():
        if digest != known[name]:
            raise ModelError(reason.format(f"{folder / name} is damaged: it is"))


def _check_blobs(folder: Path, what: str, weights: bool) -> bool:
    """Whether *folder* is a snapshot of the Hugging Face cache; raises for a blob that is not what its name says."""
    read = (path for path in _files(folder) if path.is_symlink() and (weights or path.suffix != ".safetensors"))
    blobs = {path: blob for path in read if _BLOB.fullmatch((blob := path.resolve()).name)}
    for (path, blob), name in zip(blobs.items(), _mapped(_blob_name, blobs.values(), what), strict=True):
        if name != blob.name:
            raise ModelError(
                f"{what}: {path} is damaged: its bytes are not those that the hub has; delete {blob}, and it is "
                "downloaded again"
            )
    return bool(blobs)


def _blob_name(blob: Path) -> str:
    if len(blob.name) == 64:
        return _hashed(blob, hashlib.sha256())
    return _hashed(blob, hashlib.sha1(b"blob %d\0" % blob.stat().st_size, usedforsecurity=False))


def _digests(files: Iterable[Path]) -> dict[str, str]:
    found = list(files)
    hashes = _mapped(lambda path: _hashed(path, hashlib.blake2b(digest_size=16)), found, "digest")
    return {path.name: digest for path, digest in zip(found, hashes, strict=True)}


def _mapped(function: Callable[[Path], str], files: Iterable[Path], what: str) -> list[str]:
    try:
        with ThreadPoolExecutor(_THREADS) as pool:  # hashing is done without Python's lock
            return list(pool.map(function, files))
    except OSError as error:
        raise ModelError(f"{what}: {error.filename} cannot be read: {error.strerror or error}") from error


def _hashed(path: Path, digest: Any) -> str:
    block = memoryview(bytearray(_BLOCK))
    with path.open("rb", buffering=0) as file:
        while size := file.readinto(block):
            digest.update(block[:size])
    return digest.hexdigest()


def _read(record: Path, what: str, way_out: str) -> dict[str, str]:
    known = read_note(record)
    if not known or not all(isinstance(each, str) for each in known.values()):
        raise ModelError(f"{what}: {record} is damaged; {way_out}")
    return known
