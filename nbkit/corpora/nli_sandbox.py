"""The sandbox's entailment pairs as an NLI corpus: drawn by rule, with gold tokens and parts of speech."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from nbkit.corpora import sandbox
from nbkit.corpora.nli_pair import NliPair
from nbkit.errors import NbkitError, UnknownNameError

DEFAULT_SPLIT = "test"


class NliSandbox:
    """Pairs without end: nothing to read, nothing to parse, no malformed line."""

    name = "sandbox"
    splits = (DEFAULT_SPLIT, *(split for split in sandbox.SPLITS if split != DEFAULT_SPLIT))
    languages = sandbox.LANGUAGES
    endless = True

    def pairs(self, lang: str, split: str | None, start: int, n: int | None) -> Iterator[NliPair]:
        """The pairs ``start … start + n - 1`` of the split; there must be an *n*."""
        self._check(lang, split)
        if n is None:
            raise NbkitError("NLI corpus sandbox has no last pair: say how many are wanted (n)")
        drawn = sandbox.entailment(lang, n=n, split=split or DEFAULT_SPLIT, start=start)
        return (NliPair(id_, premise, hypothesis, label, rule) for id_, premise, hypothesis, label, rule in drawn)

    def identity(self, lang: str, split: str | None) -> dict[str, Any]:
        """The version of the sandbox's entailment rules, and the split."""
        self._check(lang, split)
        return dict(sandbox.entailment_identity(lang, split=split or DEFAULT_SPLIT))

    def problems(self, lang: str, split: str | None) -> list[str]:
        """A language or a split that the sandbox has not got."""
        try:
            self._check(lang, split)
        except NbkitError as error:
            return [str(error)]
        return []

    def _check(self, lang: str, split: str | None) -> None:
        if lang not in self.languages:
            raise UnknownNameError("sandbox language", lang, self.languages)
        if split is not None and split not in self.splits:
            raise UnknownNameError("split of NLI corpus sandbox", split, self.splits)


SANDBOX = NliSandbox()
