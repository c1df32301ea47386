"""Where the files of a corpus are: on this machine, or in a pinned revision of a repository of the hub."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from nbkit.errors import NbkitError
from nbkit.syntax.files import expand_path, file_digest

_FIELD = re.compile(r"(?<!\$)\{(\w*)\}")


class Place(Protocol):
    """Finds files by a template whose ``{fields}`` are filled in."""

    def path(self, fields: Mapping[str, str]) -> Path:
        """The file on this machine, fetched if need be. Raises `NbkitError` with the way out."""

    def identity(self, fields: Mapping[str, str]) -> dict[str, Any]:
        """What stands for the file's content in cache keys; fetches nothing."""

    def problem(self, fields: Mapping[str, str]) -> str | None:
        """Why the file cannot be had, or None. Fetches nothing."""


def fill(template: str, fields: Mapping[str, str], thing: str) -> str:
    """*template* with its ``{fields}`` filled in; ``${VARIABLES}`` are left for `expand_path`.

    >>> fill("${DATA}/{split}.{lang}", {"split": "test", "lang": "de"}, "corpus")
    '${DATA}/test.de'
    >>> fill("{language}.txt", {"lang": "de", "src": "en"}, "corpus")
    Traceback (most recent call last):
    ...
    nbkit.errors.NbkitError: corpus '{language}.txt': {language} cannot be filled in; there are {lang}, {src}
    """

    def value(match: re.Match[str]) -> str:
        if match[1] not in fields:
            known = ", ".join(f"{{{name}}}" for name in fields)
            raise NbkitError(f"{thing} '{template}': {match[0]} cannot be filled in; there are {known}")
        return fields[match[1]]

    return _FIELD.sub(value, template)


@dataclass(frozen=True)
class LocalPlace:
    """Files of this machine. template: a path, with environment variables and ``{fields}``."""

    template: str
    corpus: str

    def path(self, fields: Mapping[str, str]) -> Path:
        thing = f"corpus {self.corpus}: the path"
        path = Path(expand_path(fill(self.template, fields, thing), thing))
        if not path.is_file():
            raise NbkitError(f"corpus {self.corpus}: there is no file {path} (meant by '{self.template}')")
        return path

    def identity(self, fields: Mapping[str, str]) -> dict[str, Any]:
        path = self.path(fields)
        return {"file": path.name, "digest": file_digest(path)}

    def problem(self, fields: Mapping[str, str]) -> str | None:
        try:
            self.path(fields)
        except NbkitError as error:
            return str(error)
        return None


@dataclass(frozen=True)
class HubPlace:
    """One file of a data set repository at a pinned revision, kept in the hub's own cache (``HF_HOME``).

    Single files are fetched, never a repository's loading script. local: what can be given in its place.
    """

    repository: str
    revision: str
    template: str
    corpus: str
    local: str = "pairs.tsv, moses:PREFIX, conllu:PATH"

    def path(self, fields: Mapping[str, str]) -> Path:
        from huggingface_hub import hf_hub_download
        from huggingface_hub.utils import httpx

        # Asked first because it fails at once where there is no network; a download tries again for half a minute.
        if problem := self.problem(fields):
            raise NbkitError(problem)
        name = self._name(fields)
        try:
            return Path(hf_hub_download(self.repository, name, repo_type="dataset", revision=self.revision))
        except (httpx.HTTPError, OSError) as error:
            raise NbkitError(self._unreachable(name, error)) from error

    def identity(self, fields: Mapping[str, str]) -> dict[str, Any]:
        return {"repository": self.repository, "revision": self.revision, "file": self._name(fields)}

    def problem(self, fields: Mapping[str, str]) -> str | None:
        from huggingface_hub import get_hf_file_metadata, hf_hub_url, try_to_load_from_cache
        from huggingface_hub.utils import httpx

        name = self._name(fields)
        cached = try_to_load_from_cache(self.repository, name, repo_type="dataset", revision=self.revision)
        if isinstance(cached, str):
            return None
        url = hf_hub_url(self.repository, name, repo_type="dataset", revision=self.revision)
        try:
            get_hf_file_metadata(url, timeout=10)
        except (httpx.HTTPError, OSError) as error:
            return self._unreachable(name, error)
        return None

    def _name(self, fields: Mapping[str, str]) -> str:
        return fill(self.template, fields, f"corpus {self.corpus}")

    def _unreachable(self, name: str, error: Exception) -> str:
        from huggingface_hub.constants import HF_HUB_CACHE

        reason = str(error).strip().partition("\n")[0] or type(error).__name__
        return (
            f"corpus {self.corpus}: {name} of the data set {self.repository} (revision {self.revision[:12]}) is "
            f"neither in the cache {HF_HUB_CACHE} nor can it be fetched ({type(error).__name__}: {reason}). Set "
            f"HF_HOME to a folder that has it, or give local files as the corpus ({self.local})"
        )
