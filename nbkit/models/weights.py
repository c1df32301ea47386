"""Where a model's files are (a folder, the Hugging Face cache, or nowhere, and then why), and whether they are whole.

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
from nbkit.files import atomic_write, first_sight, read_note
from nbkit.models.backends import BACKENDS, Origin
from nbkit.store import cache_folder

_CONFIG = "config.json"
_SAFE = ("model.safetensors", "model.safetensors.index.json")
_PICKLED = ("pytorch_model.bin", "pytorch_model.bin.index.json")
_TOKENIZER_FILES = ("tokenizer.json", "vocab.json", "vocab.txt", "*.model", "*.spm")
#: What training here leaves beside the weights: the languages and the recipe.
RECORD_FILE = "nbkit.json"
#: What a download fetches: settings, tokenizer and safetensors weights.
FILES = ("*.json", "*.safetensors", "*.spm", "*.model", "*.txt")
#: Seconds that the hub has to answer; with no network nothing waits longer.
PATIENCE = 3.0


def models_folder() -> Path:
    """Where trained models are kept: ``models/`` in the cache, which has to be local for them.

    A cache on an object store holds results only; models then go to the default place.
    """
    place = cache_folder()
    return Path("~/.cache/nbkit" if "://" in place else place).expanduser() / "models"


def hub_cache() -> Path:
    """The Hugging Face cache that is looked in: ``$HF_HUB_CACHE``, ``$HF_HOME/hub`` or the library's default."""
    home = os.environ.get("HF_HOME") or Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "huggingface"
    return Path(os.environ.get("HF_HUB_CACHE") or Path(home) / "hub").expanduser()


def is_offline() -> bool:
    """Whether ``HF_HUB_OFFLINE`` or ``TRANSFORMERS_OFFLINE`` forbids to ask the hub."""
    yes = {"1", "on", "yes", "true"}
    return any(os.environ.get(name, "").lower() in yes for name in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"))


def find(reference: Origin) -> Path | None:
    """The folder that holds all files of a model, None where a hub model is not in the cache."""
    if reference.folder is not None:
        return reference.folder if reference.folder.is_dir() else None
    return next(filter(is_complete, _snapshots(reference)), None)


def fetch(reference: Origin) -> Path:
    """The folder that holds all files of a model, downloaded first where it must be.

    Raises `ModelError` that names the model, the place looked in and the ways out. Without a network this is
    known after a few seconds.
    """
    folder = find(reference)
    if folder is not None:
        check_files(reference, folder)
        return folder
    problem = obstacle(reference)
    if problem is not None:
        raise ModelError(problem)
    from huggingface_hub.errors import HfHubHTTPError
    from huggingface_hub.utils import httpx

    assert reference.hub is not None
    try:
        revision = reference.revision or _safetensors_revision(reference.hub)
        folder = _download(reference.hub, revision)
    except (HfHubHTTPError, httpx.HTTPError, OSError) as error:
        raise ModelError(f"{_missing(reference)}\n  The download failed: {error}") from error
    check_files(reference, folder)
    return folder


def obstacle(reference: Origin) -> str | None:
    """Why the files cannot be had, in one message; None where they are there or the hub offers them."""
    folder = find(reference)
    if folder is not None:
        return None
    if reference.folder is not None:
        return f"model '{reference.name}': there is no folder {reference.folder}{_suffix_problem(reference.folder)}"
    if is_offline():
        return _missing(reference)
    answer = _ask_hub(reference.hub or "", reference.revision)
    return None if answer is None else f"{_missing(reference)}\n  The hub: {answer}"


def _suffix_problem(folder: Path) -> str:
    """What is wrong with a folder's name that would be one without what stands behind its last ``@``."""
    before, at, suffix = str(folder).rpartition("@")
    if not at or not Path(before).is_dir():
        return ""
    return f"; {before} is one, and '{suffix}' is no backend; there are: {', '.join(BACKENDS)}"


def check_files(reference: Origin, folder: Path) -> None:
    """Raises `ModelError` where *folder* is no model folder with safetensors weights."""
    if not (folder / _CONFIG).is_file():
        raise ModelError(f"model '{reference.name}': {folder} is no model folder: it holds no {_CONFIG}")
    if not _has_any(folder, _SAFE):
        pickled = _has_any(folder, _PICKLED)
        raise ModelError(
            f"model '{reference.name}': {folder} holds no safetensors weights"
            + (
                "; pickled ones can run any code and are not loaded. Convert them once where you trust them: "
                f"{reference.auto_class}.from_pretrained(folder).save_pretrained(folder)"
                if pickled
                else f" ({_SAFE[0]})"
            )
        )


def has_tokenizer(folder: Path) -> bool:
    """Whether *folder* holds what a tokenizer is made of."""
    return any(path.is_file() for pattern in _TOKENIZER_FILES for path in folder.glob(pattern))


def tokenizer_config(folder: Path) -> dict[str, Any]:
    """The model's ``tokenizer_config.json``, empty where it has none."""
    path = folder / "tokenizer_config.json"
    return read_json(path) if path.is_file() else {}


def read_json(path: Path) -> dict[str, Any]:
    """A JSON object from a model folder; `ModelError` where it is damaged."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, OSError) as error:
        raise ModelError(f"{path} cannot be read: {error}") from None
    if not isinstance(value, dict):
        raise ModelError(f"{path}: a JSON object expected, {type(value).__name__} found")
    return value


def read_record(folder: Path) -> dict[str, Any]:
    """What training here left beside the weights in *folder*, empty where it was trained elsewhere."""
    path = folder / RECORD_FILE
    return read_json(path) if path.is_file() else {}


def check_trained_for(what: str, folder: Path, lang: str | None) -> None:
    """Raises `ModelError` where the model in *folder*, which messages call *what*, was trained here for another one."""
    trained = read_record(folder).get("lang")
    if trained is not None and lang not in (None, trained):
        raise ModelError(f"{what} was trained for '{trained}', not for '{lang}'")


def revision(reference: Origin) -> str | None:
    """The commit of a hub model's files in the cache, None where there are none."""
    folder = find(reference)
    return folder.name if folder is not None and reference.hub is not None else None


def _snapshots(reference: Origin) -> list[Path]:
    """Folders of cached revisions, the one asked for first: named, main, then others (a safetensors branch)."""
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


def _download(hub: str, revision: str | None) -> Path:
    from huggingface_hub import snapshot_download

    return Path(snapshot_download(hub, revision=revision, allow_patterns=list(FILES), cache_dir=hub_cache()))


def _has_any(folder: Path, names: tuple[str, ...]) -> bool:
    return any((folder / name).is_file() for name in names)


def _missing(reference: Origin) -> str:
    pickled = any(_has_any(snapshot, _PICKLED) for snapshot in _snapshots(reference))
    state = "only as pickled weights, which can run any code and are not loaded," if pickled else "not"
    offline = " and HF_HUB_OFFLINE is set" if is_offline() else ""
    return (
        f"model '{reference.name}' ({reference.hub}): its safetensors weights are {state} in the cache "
        f"{hub_cache()}{offline}, and there is no folder of that name.\n"
        "  Ways out: with a network, unset HF_HUB_OFFLINE and drop --offline, and they are downloaded; point HF_HOME "
        "at a cache that holds them; or name a local folder in place of the model."
    )


@cache
def _ask_hub(hub: str, revision: str | None) -> str | None:
    """What stands against a download, None where nothing does."""
    from huggingface_hub import HfApi
    from huggingface_hub.errors import GatedRepoError, HfHubHTTPError, RepositoryNotFoundError, RevisionNotFoundError
    from huggingface_hub.utils import httpx

    if _unreachable():
        return _unreachable()
    try:
        HfApi().model_info(hub, revision=revision, timeout=PATIENCE)
    except GatedRepoError:
        return f"{hub} asks for consent: accept its terms on its page, then log in with `hf auth login`"
    except RevisionNotFoundError:
        return f"{hub} has no revision '{revision}'"
    except RepositoryNotFoundError:
        return f"{hub} does not exist there, or is private"
    except (HfHubHTTPError, httpx.HTTPError, OSError) as error:
        return f"no answer ({type(error).__name__})"
    return None


@cache
def _unreachable() -> str | None:
    """Whether no connection to the hub can be made at all: asked once a process."""
    import socket
    from urllib.parse import urlsplit

    endpoint = urlsplit(os.environ.get("HF_ENDPOINT") or "https://huggingface.co")
    if any(os.environ.get(name) for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy")):
        return None  # a proxy is asked instead, with its own answer
    port = endpoint.port or (443 if endpoint.scheme == "https" else 80)
    try:
        socket.create_connection((endpoint.hostname or "", port), timeout=PATIENCE).close()
    except OSError as error:
        return f"{endpoint.hostname} cannot be reached ({error})"
    return None


def _safetensors_revision(hub: str) -> str | None:
    """The branch with safetensors weights: None (main), or the hub's own converted copy of pickled ones."""
    from huggingface_hub import HfApi
    from transformers.safetensors_conversion import get_conversion_pr_reference

    api = HfApi()
    files = api.list_repo_files(hub)
    return None if any(name in files for name in _SAFE) else get_conversion_pr_reference(api, hub)


# ----------------------------------------------------------------------------
# Whether a model's files are still the bytes they were: digests are kept from the start, and checked at each load.
#
# Damaged weights translate all the same, only worse, and what they give would be remembered under the model's key.
# So the bytes are looked at whenever a model is loaded, a gigabyte a second, and a model whose bytes are not those
# that its key stands for is not loaded; nothing is computed from it, and so nothing remembered.
#
# ========================  ======================================================  =================================
# files                     the digests of their bytes                              in the key of what is remembered
# ========================  ======================================================  =================================
# trained here              in the folder (`DIGESTS`), written when it was trained  the recipe's digest
# converted (CTranslate2)   in the folder (`DIGESTS`), written when it was          the digest of what was converted
#                           converted
# hub snapshots             the names of their blobs                                hub id and commit
# any other folder          beside the trained models, by path, size, time and      the digest of all bytes
#                           inode
# ========================  ======================================================  =================================
#
# Where there is no digest yet (a cache of an earlier version, a folder never seen) it is written at the first sight.

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
