"""Locating, downloading and verifying a model's files, in a folder or the Hugging Face cache.

Nothing here loads a model.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from nbkit.errors import ModelError, NbkitError
from nbkit.files import atomic_write, closest_place, first_sight, read_note
from nbkit.models.backends import BACKENDS, Origin
from nbkit.store import cache_folder

_CONFIG = "config.json"
_SAFE = ("model.safetensors", "model.safetensors.index.json")
_PICKLED = ("pytorch_model.bin", "pytorch_model.bin.index.json")
_TOKENIZER_FILES = ("tokenizer.json", "vocab.json", "vocab.txt", "*.model", "*.spm")
#: Written beside the weights by nbkit's training: the languages and the recipe.
RECORD_FILE = "nbkit.json"
#: The files that a download fetches: settings, tokenizer and safetensors weights.
FILES = ("*.json", "*.safetensors", "*.spm", "*.model", "*.txt")
#: Time limit in seconds for an answer from the hub.
PATIENCE = 3.0


def models_folder() -> Path:
    """The folder of trained models: ``models/`` in the cache, which has to be local.

    A cache on an object store holds results only; models then go to the default cache.
    """
    place = cache_folder()
    return Path("~/.cache/nbkit" if "://" in place else place).expanduser() / "models"


def hub_cache() -> Path:
    """The Hugging Face cache: ``$HF_HUB_CACHE``, ``$HF_HOME/hub`` or the library's default."""
    home = os.environ.get("HF_HOME") or Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "huggingface"
    return Path(os.environ.get("HF_HUB_CACHE") or Path(home) / "hub").expanduser()


def is_offline() -> bool:
    """Whether ``HF_HUB_OFFLINE`` or ``TRANSFORMERS_OFFLINE`` forbids requests to the hub."""
    yes = {"1", "on", "yes", "true"}
    return any(os.environ.get(name, "").lower() in yes for name in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"))


def find(reference: Origin) -> Path | None:
    """The folder that holds all files of a model, None if a hub model is not in the cache."""
    if reference.folder is not None:
        return reference.folder if reference.folder.is_dir() else None
    return next(filter(is_complete, _snapshots(reference)), None)


def fetch(reference: Origin) -> Path:
    """The folder that holds all files of a model; downloads them if they are missing.

    Raises `ModelError` that names the model, the place searched and the remedies, without a network after a few
    seconds.
    """
    folder = find(reference)
    if folder is not None:
        check_files(reference, folder)
        return folder
    problem = obstacle(reference)
    if problem is not None:
        raise ModelError(problem)
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError
    from huggingface_hub.utils import httpx

    assert reference.hub is not None
    try:
        revision = reference.revision or _safetensors_revision(reference.hub)
        files: dict[str, Any] = {"revision": revision, "allow_patterns": list(FILES), "cache_dir": hub_cache()}
        folder = Path(snapshot_download(reference.hub, **files))
    except (HfHubHTTPError, httpx.HTTPError, OSError) as error:
        raise ModelError(f"{_missing(reference)}\n  The download failed: {error}") from error
    check_files(reference, folder)
    return folder


def obstacle(reference: Origin) -> str | None:
    """Why the files are not available, in one message; None if they are here or the hub offers them."""
    folder = find(reference)
    if folder is not None:
        return None
    if reference.folder is not None:
        hint = _suffix_problem(reference.folder) or closest_place(reference.folder, folders=True)
        return f"model '{reference.name}': there is no folder {reference.folder}{hint}"
    if is_offline():
        return _missing(reference)
    answer = _ask_hub(reference.hub or "", reference.revision)
    return None if answer is None else f"{_missing(reference)}\n  The hub: {answer}"


def _suffix_problem(folder: Path) -> str:
    """A hint if the folder exists without the part after the last ``@``, which is then an unknown backend."""
    before, at, suffix = str(folder).rpartition("@")
    if not at or not Path(before).is_dir():
        return ""
    return f"; {before} exists, but '{suffix}' is not a backend; there are: {', '.join(BACKENDS)}"


def check_files(reference: Origin, folder: Path) -> None:
    """Raises `ModelError` if *folder* is not a model folder with safetensors weights."""
    if not (folder / _CONFIG).is_file():
        raise ModelError(f"model '{reference.name}': {folder} is not a model folder: it holds no {_CONFIG}")
    if not _has_any(folder, _SAFE):
        pickled = _has_any(folder, _PICKLED)
        raise ModelError(
            f"model '{reference.name}': {folder} holds no safetensors weights"
            + (
                ", only pickled ones, which can run arbitrary code and are not loaded. If you trust them, convert them "
                "once: "
                f"{reference.auto_class}.from_pretrained(folder).save_pretrained(folder)"
                if pickled
                else f" ({_SAFE[0]})"
            )
        )


def has_tokenizer(folder: Path) -> bool:
    """Whether *folder* holds the files of a tokenizer."""
    return any(path.is_file() for pattern in _TOKENIZER_FILES for path in folder.glob(pattern))


def tokenizer_config(folder: Path) -> dict[str, Any]:
    """The model's ``tokenizer_config.json``, empty if it has none."""
    return _read_if_there(folder / "tokenizer_config.json")


def read_json(path: Path) -> dict[str, Any]:
    """A JSON object from a model folder. Raises `ModelError` if it is damaged."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, OSError) as error:
        raise ModelError(f"{path} cannot be read: {error}") from None
    if not isinstance(value, dict):
        raise ModelError(f"{path}: a JSON object expected, {type(value).__name__} found")
    return value


def read_record(folder: Path) -> dict[str, Any]:
    """The record that nbkit's training left beside the weights in *folder*, empty if trained elsewhere."""
    return _read_if_there(folder / RECORD_FILE)


def _read_if_there(path: Path) -> dict[str, Any]:
    return read_json(path) if path.is_file() else {}


def check_trained_for(what: str, folder: Path, lang: str | None) -> None:
    """Raises `ModelError` if the model in *folder* (*what* in messages) was trained here for another language."""
    trained = read_record(folder).get("lang")
    if trained is not None and lang not in (None, trained):
        raise ModelError(f"{what} was trained for '{trained}', not for '{lang}'")


def revision(reference: Origin) -> str | None:
    """The commit of a hub model's files in the cache, None if there are none."""
    folder = find(reference)
    return folder.name if folder is not None and reference.hub is not None else None


def _snapshots(reference: Origin) -> list[Path]:
    """Folders of cached revisions, in order of preference: the named one, main, then others (a safetensors branch)."""
    repository = hub_cache() / f"models--{(reference.hub or '').replace('/', '--')}"
    refs, snapshots = repository / "refs", repository / "snapshots"
    if reference.revision is not None:
        ref = refs / reference.revision
        commit = ref.read_text().strip() if ref.is_file() else reference.revision
        return [snapshots / commit]
    names = sorted((p for p in refs.rglob("*") if p.is_file()), key=lambda p: (p.name != "main", p.as_posix()))
    return [snapshots / name.read_text().strip() for name in names]


def is_complete(folder: Path) -> bool:
    """Whether *folder* holds a model's settings and all of its safetensors weights."""
    if not (folder / _CONFIG).is_file():
        return False
    index = folder / _SAFE[1]
    if index.is_file():
        return all((folder / shard).is_file() for shard in set(read_json(index).get("weight_map", {}).values()))
    return (folder / _SAFE[0]).is_file()


def _has_any(folder: Path, names: tuple[str, ...]) -> bool:
    return any((folder / name).is_file() for name in names)


def _missing(reference: Origin) -> str:
    pickled = any(_has_any(snapshot, _PICKLED) for snapshot in _snapshots(reference))
    state = (
        "the cache holds only pickled weights, which can run arbitrary code and are not loaded"
        if pickled
        else "its safetensors weights are not in the cache"
    )
    offline = "; HF_HUB_OFFLINE is set" if is_offline() else ""
    download = "unset HF_HUB_OFFLINE and drop --offline" if is_offline() else "make the hub reachable"
    return (
        f"model '{reference.name}' ({reference.hub}): {state} ({hub_cache()}){offline}; "
        f"there is no folder of that name either.\n"
        f"  Do one of these: {download} to download the weights; point HF_HOME "
        "at a cache that holds them; or write the path of a folder that holds them (./FOLDER) as the model's name."
    )


@cache
def _ask_hub(hub: str, revision: str | None) -> str | None:
    """What prevents a download, None if nothing does."""
    from huggingface_hub import HfApi
    from huggingface_hub.errors import GatedRepoError, HfHubHTTPError, RepositoryNotFoundError, RevisionNotFoundError
    from huggingface_hub.utils import httpx

    if _unreachable():
        return _unreachable()
    try:
        HfApi().model_info(hub, revision=revision, timeout=PATIENCE)
    except GatedRepoError:
        return f"{hub} is gated: accept its terms on its page, then log in with `hf auth login`"
    except RevisionNotFoundError:
        return f"{hub} has no revision '{revision}'"
    except RepositoryNotFoundError:
        return f"{hub} does not exist or is private"
    except (HfHubHTTPError, httpx.HTTPError, OSError) as error:
        return f"no answer ({type(error).__name__})"
    return None


@cache
def _unreachable() -> str | None:
    """Why no connection to the hub is possible, None if one is: checked once per process."""
    import socket
    from urllib.parse import urlsplit

    endpoint = urlsplit(os.environ.get("HF_ENDPOINT") or "https://huggingface.co")
    if any(os.environ.get(name) for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy")):
        return None  # requests go to a proxy instead
    port = endpoint.port or (443 if endpoint.scheme == "https" else 80)
    try:
        socket.create_connection((endpoint.hostname or "", port), timeout=PATIENCE).close()
    except OSError as error:
        return f"{endpoint.hostname} cannot be reached ({error})"
    return None


def _safetensors_revision(hub: str) -> str | None:
    """The branch with safetensors weights: None (main), or the hub's converted copy of pickled ones."""
    from huggingface_hub import HfApi
    from transformers.safetensors_conversion import get_conversion_pr_reference

    api = HfApi()
    files = api.list_repo_files(hub)
    return None if any(name in files for name in _SAFE) else get_conversion_pr_reference(api, hub)


# ----------------------------------------------------------------------------
# Integrity of a model's files: their digests are stored from the start and checked at each load.
#
# A model with damaged weights still translates, only worse, and its results would be stored under the model's key.
# So the bytes are checked whenever a model is loaded (a gigabyte per second), and a model whose bytes do not match its
# key is not loaded: nothing is computed from it or stored.
#
# ========================  ======================================================  =================================
# files                     digests of their bytes                                  in the key of stored results
# ========================  ======================================================  =================================
# trained here              in the folder (`DIGESTS`), written when it was trained  the recipe's digest
# converted (CTranslate2)   in the folder (`DIGESTS`), written when it was          the digest of what was converted
#                           converted
# hub snapshots             the names of their blobs                                hub id and commit
# any other folder          beside the trained models, by path, size, time and      the digest of all bytes
#                           inode
# ========================  ======================================================  =================================
#
# Missing digests (a cache of an earlier version, an unknown folder) are written when the files are first read.

#: Lists the digests of the files beside it. Not ``.json``: it is not part of a folder's digest.
DIGESTS = "nbkit.digests"
_THREADS = 4
#: The names of the Hugging Face cache's blobs: SHA-256 of a large file, git's own digest of a small one.
_BLOB = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


def write_digests(folder: Path) -> None:
    """Write `DIGESTS` for the files that are in *folder* now.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "model.safetensors").write_bytes(b"weights")
    >>> write_digests(folder)
    >>> check_bytes(folder, "model 'x'")
    >>> _ = (folder / "model.safetensors").write_bytes(b"wEights")
    >>> check_bytes(folder, "model 'x'")
    Traceback (most recent call last):
    nbkit.errors.ModelError: model 'x': .../model.safetensors is damaged: it differs from what nbkit wrote...
    """
    with atomic_write(folder / DIGESTS) as unfinished:
        unfinished.write_text(json.dumps(_digests(_files(folder, "*.bin")), indent=1) + "\n", encoding="utf-8")


def check_bytes(folder: Path, what: str, way_out: str | None = None, *, weights: bool = True) -> None:
    """Raises `ModelError` if a file of the model in *folder* has changed; records the digests of a new folder.

    what: the model's name in messages. way_out: advice for a damaged folder that nbkit made. weights: False if only
    settings and tokenizer are read, as another backend has its own weights.
    """
    own = models_folder() in folder.parents
    record = folder / DIGESTS
    if record.is_file():
        way_out = way_out or (
            f"delete the folder {folder} to train the model again"
            if own
            else f"restore the folder or train it again; if the file was changed on purpose, delete {record}"
        )
        known = read_note(record)
        if not known or not all(isinstance(each, str) for each in known.values()):
            raise ModelError(f"{what}: {record} is damaged; {way_out}")
        _compare(folder, known, weights, f"{what}: {{}} from what nbkit wrote; {way_out}")
    elif own:
        with suppress(OSError, NbkitError):  # a read-only cache
            write_digests(folder)
    elif not _check_blobs(folder, what, weights):
        noted, fresh = _seen(folder)
        if not fresh:
            reason = (
                f"{what}: {{}} from what nbkit first read, though its size and time are the same; "
                "restore it, or `touch` it if it was changed on purpose, which makes it a different model"
            )
            _compare(folder, noted["files"], weights, reason)


def folder_digest(folder: Path) -> str:
    """BLAKE2b over the names and contents of the settings, tokenizer and weights in *folder*.

    Cached beside the trained models, by path, sizes, times and inodes, because hashing gigabytes takes seconds.
    """
    return _seen(folder)[0]["digest"]


def _seen(folder: Path) -> tuple[dict[str, Any], bool]:
    """The digests of a folder's files and of the whole folder, and whether they were computed now."""
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
    """Raises `ModelError` for the first of the *known* files that has changed or is missing."""
    paths = [folder / name for name in known if weights or not name.endswith(".safetensors")]
    for path in paths:
        if not path.is_file():
            raise ModelError(reason.format(f"{path} is missing: the folder differs"))
    for name, digest in _digests(paths).items():
        if digest != known[name]:
            raise ModelError(reason.format(f"{folder / name} is damaged: it differs"))


def _check_blobs(folder: Path, what: str, weights: bool) -> bool:
    """Whether *folder* is a snapshot of the Hugging Face cache; raises for a blob that does not match its name."""
    read = (path for path in _files(folder) if path.is_symlink() and (weights or path.suffix != ".safetensors"))
    blobs = {path: blob for path in read if _BLOB.fullmatch((blob := path.resolve()).name)}
    for (path, blob), name in zip(blobs.items(), _mapped(_blob_name, blobs.values(), what), strict=True):
        if name != blob.name:
            problem = f"{path} is damaged: its bytes differ from the hub's"
            raise ModelError(f"{what}: {problem}; delete {blob} to download it again")
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
        with ThreadPoolExecutor(_THREADS) as pool:  # hashing releases Python's lock
            return list(pool.map(function, files))
    except OSError as error:
        raise ModelError(f"{what}: {error.filename} cannot be read: {error.strerror or error}") from error


def _hashed(path: Path, digest: Any) -> str:
    with path.open("rb", buffering=0) as file:
        return hashlib.file_digest(file, lambda: digest).hexdigest()
