"""What came back for a text from a server, the rule that makes one line of it, and what it cost."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

#: What became of an answer. as is: one line, taken as it is. trimmed: a label, quotes, a fence or reasoning around the
#: translation was taken off. cut: lines after it were left out. truncated: the model ran into its limit. empty: there
#: was nothing. refused: the server's filter kept it back.
Outcome = Literal["as is", "trimmed", "cut", "truncated", "empty", "refused"]

_QUOTES = ('""', "''", "“”", "„“", "„”", "‘’", "‚‘", "«»", "»«", "‹›", "「」", "『』", "``")
_REASONING = re.compile(r"\A\s*<(think|thinking|reasoning)>.*?(</\1>|\Z)", re.DOTALL | re.IGNORECASE)


@dataclass(frozen=True)
class Answer:
    """What a server said to one text, as it is remembered: the rule of `one_line` can change without asking again.

    finish: why the model stopped, in the server's words (``stop``, ``length``, ``content_filter``), empty where it
    does not say. prompt_tokens, completion_tokens: what was counted, None where nobody did.
    """

    raw: str
    finish: str = ""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None

    def record(self) -> dict[str, Any]:
        """As the store keeps it, beside its text."""
        return asdict(self)


@dataclass(frozen=True)
class Line:
    """A hypothesis, and what had to be done for it to be one line."""

    hypothesis: str
    outcome: Outcome


@dataclass
class Usage:
    """What answers cost and what became of them, summed up.

    prompt_tokens, completion_tokens: as far as the server counts them. characters: of the source texts, which is what
    translation services charge for.

    >>> usage = Usage()
    >>> usage.add("Tom sleeps.", Answer("Tom schläft.", "stop", 30, 5), Line("Tom schläft.", "as is"))
    >>> usage.facts()
    {'texts': 1, 'prompt_tokens': 30, 'completion_tokens': 5, 'characters': 11, 'as is': 1}
    """

    texts: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    characters: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)

    def add(self, text: str, answer: Answer, line: Line) -> None:
        """Counts one more answer."""
        self.texts += 1
        self.prompt_tokens += answer.prompt_tokens or 0
        self.completion_tokens += answer.completion_tokens or 0
        self.characters += len(text)
        self.outcomes[line.outcome] += 1

    def update(self, other: Usage) -> None:
        """Adds what *other* has counted."""
        self.texts += other.texts
        self.prompt_tokens += other.prompt_tokens
        self.completion_tokens += other.completion_tokens
        self.characters += other.characters
        self.outcomes.update(other.outcomes)

    def facts(self) -> dict[str, int]:
        """Flat and JSON-able, for provenance."""
        counts = {name: value for name, value in asdict(self).items() if name != "outcomes"}
        return counts | dict(sorted(self.outcomes.items()))


def one_line(answer: Answer, text: str, labels: Iterable[str] = ()) -> Line:
    """The one line of an answer that is taken as the translation of *text*.

    In this order: reasoning in tags (``<think>``) and code fences are left out; of the lines that are not blank the
    first is taken, the second where the first is a lead-in that ends in a colon and *text* does not; a label and its
    colon (``Translation:``) are taken off, and quotation marks around the whole, each only where *text* has none
    itself. The outcome is the gravest of what happened.

    labels: what an answer may begin with that is no part of it.

    >>> one_line(Answer("Tom schläft."), "Tom sleeps.")
    Line(hypothesis='Tom schläft.', outcome='as is')
    >>> one_line(Answer('Here you are:\\n\\n"Tom schläft."'), "Tom sleeps.")
    Line(hypothesis='Tom schläft.', outcome='trimmed')
    >>> one_line(Answer("Tom schläft.\\nOder: Tom pennt."), "Tom sleeps.")
    Line(hypothesis='Tom schläft.', outcome='cut')
    """
    thought = _REASONING.sub("", answer.raw)
    lines = [line.strip() for line in thought.splitlines()]
    kept = [line for line in lines if line and not line.startswith("```")]
    if len(kept) > 1 and kept[0].endswith((":", "：")) and not text.rstrip().endswith((":", "：")):
        del kept[0]
    first = kept[0] if kept else ""
    line = _unquoted(_unlabelled(first, text, labels), text)
    return Line(line, _outcome(answer, line, kept))


def _outcome(answer: Answer, line: str, kept: Sequence[str]) -> Outcome:
    if answer.finish == "content_filter":
        return "refused"
    if answer.finish == "length":
        return "truncated"  # of a model that reasons without an end nothing is left
    if not line:
        return "empty"
    if len(kept) > 1:
        return "cut"
    return "as is" if line == answer.raw.strip() else "trimmed"


def _unlabelled(line: str, text: str, labels: Iterable[str]) -> str:
    for label in labels:
        pattern = re.compile(rf"\s*[*_]*{re.escape(label)}[*_]*\s*[:：][*_]*\s*", re.IGNORECASE)
        found = pattern.match(line)
        if found and found.end() < len(line) and not pattern.match(text):
            return line[found.end() :]
    return line


def _unquoted(line: str, text: str) -> str:
    inner = line[1:-1].strip()
    if not inner or _is_quoted(text.strip()) or not _is_quoted(line):
        return line
    return line if set(line[0] + line[-1]) & set(inner) and line[0] != "'" else inner


def _is_quoted(text: str) -> bool:
    return len(text) > 1 and text[0] + text[-1] in _QUOTES
