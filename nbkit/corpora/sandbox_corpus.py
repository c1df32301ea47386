"""The sandbox as a registered corpus; the sandbox itself knows nothing of corpora."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from nbkit.corpora import sandbox
from nbkit.corpora.corpus import Request
from nbkit.corpora.pair import Pair
from nbkit.errors import NbkitError

DEFAULT_SPLIT = "test"


@dataclass(frozen=True)
class SandboxCorpus:
    """Drawn sentences of a mixture, with gold trees and alignments: no file, no parser, no malformed line.

    finite: splits that have a last pair.
    """

    name: str = "sandbox"
    mixture: str = "general"
    languages: tuple[str, ...] = sandbox.LANGUAGES
    endless: ClassVar[bool] = True
    splits: tuple[str, ...] = (DEFAULT_SPLIT, *(split for split in sandbox.SPLITS if split != DEFAULT_SPLIT))
    finite: tuple[str, ...] = ()

    def pairs(self, request: Request) -> Iterator[Pair]:
        """The pairs ``request.start`` to ``request.stop`` of the split; where it has no end, there must be an *n*."""
        self.identity(request)  # a split or a language that is not there is told first
        split = request.split or DEFAULT_SPLIT
        if request.n is None and split not in self.finite:
            raise NbkitError(f"corpus {self.name} has no last pair: say how many are wanted (n)")
        return sandbox.pairs(
            request.src, request.tgt, n=request.n, split=split, mixture=self.mixture, start=request.start
        )

    def identity(self, request: Request) -> dict[str, Any]:
        """The versions of the sandbox and of its mixture, and the split."""
        split = request.split or DEFAULT_SPLIT
        return dict(sandbox.identity(request.src, request.tgt, split=split, mixture=self.mixture))

    def problems(self, request: Request) -> list[str]:
        """A language or a split that the sandbox has not got."""
        try:
            self.identity(request)
        except NbkitError as error:
            return [str(error)]
        return []


SANDBOX = SandboxCorpus()
SANDBOX_NUMBERS = SandboxCorpus("sandbox-numbers", "numbers")
SANDBOX_HOMOGRAPHS = SandboxCorpus("sandbox-homographs", "homographs")
SANDBOX_IDIOMS = SandboxCorpus(
    "sandbox-idioms",
    "idioms",
    splits=(DEFAULT_SPLIT, "regular", "dev", *sandbox.IDIOM_SPLITS),
    finite=sandbox.IDIOM_SPLITS,
)
