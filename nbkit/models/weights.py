"""Where a model's files are: a folder, the Hugging Face cache, or nowhere, and then why. Loads nothing."""

from __future__ import annotations

import json
import os
from functools import cache
from pathlib import Path
from typing import Any

from nbkit.errors import ModelError
from nbkit.models.backends import BACKENDS
from nbkit.models.translators.catalogue import Family, Origin, Reference, families

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


def family(reference: Reference, folder: Path) -> Family:
    """The architecture of the model in *folder*: the catalogue's word, or what its files say.

    Raises `ModelError` for an architecture that is not in ``families.yaml``.
    """
    if reference.entry.family is not None:
        if reference.entry.family not in families():
            known = ", ".join(families())
            raise ModelError(f"model '{reference.name}': unknown family '{reference.entry.family}'; there are: {known}")
        return families()[reference.entry.family]
    model_type = read_json(folder / _CONFIG).get("model_type")
    tokenizer = tokenizer_config(folder).get("tokenizer_class", "").removesuffix("Fast")
    alike = [family for family in families().values() if family.model_type == model_type]
    for candidate in alike:
        if candidate.tokenizer == tokenizer or (not tokenizer and len(alike) == 1):
            return candidate
    known = ", ".join(f"{family.model_type} with {family.tokenizer}" for family in families().values())
    raise ModelError(
        f"model '{reference.name}': {folder} holds a '{model_type}' model with the tokenizer "
        f"'{tokenizer or 'not named'}'; nbkit translates with {known}"
    )


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
