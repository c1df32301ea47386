"""The sandbox as a registered corpus; the sandbox itself knows nothing of corpora."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from nbkit.corpora import sandbox
from nbkit.corpora.corpus import Request
from nbkit.corpora.pair import Pair
from nbkit.errors import NbkitError, UnknownNameError
from nbkit.languages import TARGETS

MIXTURE = "general"


@dataclass(frozen=True)
class SandboxCorpus:
    """Drawn sentences with gold trees and alignments: no file, no parser, no malformed line."""

    languages: tuple[str, ...] = ("en", *TARGETS)
    splits: tuple[str, ...] = ("test", "dev", "train")

    def pairs(self, request: Request) -> Iterator[Pair]:
        """The pairs ``request.start`` to ``request.stop`` of the split, which has no end: there must be an *n*."""
        split = self._checked(request)
        if request.stop is None:
            raise NbkitError("corpus sandbox has no last pair: say how many are wanted (n)")
        pairs = sandbox.pairs(request.src, request.tgt, n=request.stop, split=split, mixture=MIXTURE)
        return islice(pairs, request.start, None)

    def identity(self, request: Request) -> dict[str, Any]:
        """The sandbox's version, mixture and split."""
        split = self._checked(request)
        return {"corpus": "sandbox", "version": sandbox.VERSION, "mixture": MIXTURE, "split": split}

    def problems(self, request: Request) -> list[str]:
        """A language or a split that the sandbox has not got."""
        try:
            self._checked(request)
        except NbkitError as error:
            return [str(error)]
        return []

    def _checked(self, request: Request) -> str:
        for lang in (request.src, request.tgt):
            if lang not in self.languages:
                raise NbkitError(f"corpus sandbox has no '{lang}'; it has {', '.join(self.languages)}")
        if request.split is not None and request.split not in self.splits:
            raise UnknownNameError("split of corpus sandbox", request.split, self.splits)
        return request.split or self.splits[0]


SANDBOX = SandboxCorpus()
