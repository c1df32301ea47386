"""How long a run will take: from what earlier runs with the same store took, or from assumptions that are named.

Units of work, pages and outcomes are measured by kind. What remains of a run's time (processes that start, the index)
is measured as one figure.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from nbkit.models import CLASSIFIERS, LANGUAGE_MODELS, MODELS
from nbkit.models.catalogue import resolve_classifier, split_variant
from nbkit.models.classifiers.lifecycle import CLASSIFIER
from nbkit.registry import Registry
from nbkit.store import cache_folder
from nbkit.store.shards import Folder
from nbkit.studies.base import Unit


class Speed(NamedTuple):
    """Seconds before the first text and per text, and of work whose texts are not counted."""

    start: float
    per_text: float
    uncounted: float

    def seconds(self, texts: int) -> float:
        """How long *texts* texts take; 0: they are not counted."""
        return self.start + texts * self.per_text if texts else self.uncounted

    def rate(self, texts: int) -> str:
        """What `seconds` rests on, in words."""
        return f"{1 / self.per_text:,.0f} texts/s" if texts and self.per_text else f"{self.uncounted:.0f} s"


#: Assumed: a full-size model on two CPU cores; a tiny one, which is trained here first; a tiny classifier, which reads
#: each pair once and writes nothing; work without a model; a page; outcomes; the rest of a run.
FULL_SIZE, TINY, SMALL_CLASSIFIER = Speed(10, 1 / 10, 30), Speed(5, 1 / 80, 90), Speed(5, 1 / 1000, 90)
WITHOUT_MODEL, PAGE, OUTCOMES, REST = Speed(3, 1 / 500, 5), Speed(0, 0, 5), Speed(0, 0, 3), Speed(0, 0, 15)
_SMALL_WIDTH = 256
_RECENT = 8  # measurements of a kind that are remembered
_LOADING = 3.0  # seconds before the first text, at most, while texts were counted only once


@dataclass(frozen=True)
class Work:
    """A piece of the work of a run.

    kind: what it shares with others that take as long. phase: works of one phase are done at the same time, by as many
    as there are workers. assumed: how long it takes if its kind was never measured. once: a name; of the works that
    have it, the first does all. left: those of its texts that are still to be done.
    """

    label: str
    kind: Mapping[str, str | None]
    phase: str
    assumed: Speed
    texts: int = 0
    left: int = 0
    once: str = ""

    @classmethod
    def unit(cls, unit: Unit) -> Work:
        """The work of a unit."""
        model = unit.arguments.get("model") or unit.arguments.get("translator") or unit.arguments.get("classifier")
        kind = {"function": unit.function, "model": _FILE if _is_file(model) else model}  # all files take as long
        # Entries share models and corpora: the first trains or reads them.
        once = "" if unit.texts else unit.label
        phase, assumed = f"stage {unit.stage}", _assumed(unit, model)
        return cls(unit.label, kind, phase, assumed, unit.texts, unit.left, once)

    @classmethod
    def page(cls, notebook: str) -> Work:
        """The work of a page, in any cell of any run."""
        return cls("a page", {"page": notebook}, "pages", recall({"page": None}) or PAGE)

    @classmethod
    def outcomes(cls, study: str) -> Work:
        """The work of writing the outcomes of an entry."""
        return cls("outcomes", {"outcomes": study}, "outcomes", OUTCOMES)


def _assumed(unit: Unit, model: str | None) -> Speed:
    """An assumption by the kind of the unit's model: models that are trained here are small."""
    base = split_variant(model)[0] if model else ""
    if not unit.runs_models or _is_file(model):
        return WITHOUT_MODEL
    registries: tuple[Registry[Any], ...] = (MODELS, CLASSIFIERS, LANGUAGE_MODELS)
    entry = next((known.get(base) for known in registries if base in known), None)
    if entry is None or entry.recipe is None:
        return FULL_SIZE
    if base not in CLASSIFIERS:
        return TINY
    width = CLASSIFIER.recipe(resolve_classifier(base, (entry.languages or ("en",))[0])).width
    return SMALL_CLASSIFIER if width <= _SMALL_WIDTH else TINY


_FILE = "outputs:"


def _is_file(model: str | None) -> bool:
    """Whether *model* only looks translations up."""
    return (model or "").startswith(_FILE)


# ----------------------------------------------------------------------------
# Expected.

_REST = Work("start and report", {"rest": "of a run"}, "", REST)


class Estimate(NamedTuple):
    """seconds: expected wall time. assumed: what has not been timed yet, each with the assumption."""

    seconds: float
    assumed: tuple[str, ...]


def estimate(works: Iterable[Work], workers: int) -> Estimate:
    """How long *works* will take with everything around them; 0 if there are none."""
    expected: list[tuple[Work, float]] = []
    assumed: dict[Any, str] = {}  # once for each kind
    done: set[str] = set()
    for work in works:
        if work.once in done or (work.texts and not work.left):
            continue
        done |= {work.once} - {""}
        measured = recall(work.kind)
        if measured is None:
            kind = "pages" if "page" in work.kind else tuple(work.kind.values())
            assumed.setdefault(kind, f"{work.label} {work.assumed.rate(work.left)}")
        expected.append((work, (measured or work.assumed).seconds(work.left)))
    if not expected:
        return Estimate(0.0, ())
    rest = recall(_REST.kind)
    if rest is None:
        assumed["rest"] = f"{_REST.label} {REST.rate(0)}"
    return Estimate((rest or REST).uncounted + in_parallel(expected, workers), tuple(assumed.values()))


def in_parallel(took: Iterable[tuple[Work, float]], workers: int) -> float:
    """Seconds that works take, each of which *took* some, on so many workers, phase by phase."""
    phases: dict[str, list[float]] = defaultdict(list)
    for work, seconds in took:
        phases[work.phase].append(seconds)
    return sum(max(sum(each) / workers, max(each)) for each in phases.values())


# ----------------------------------------------------------------------------
# Measured.


class Stopwatch:
    """Remembers how long the works of one run take, as they end."""

    def __init__(self) -> None:
        self._took: list[tuple[Work, float]] = []

    def add(self, work: Work, seconds: float, texts: int | None = None) -> None:
        """A work took that long. texts: how many it computed, None if it does not count them."""
        repeated = work.once and work.once in {each.once for each, _ in self._took}
        self._took.append((work, seconds))
        if texts != 0 and not repeated:  # otherwise everything was stored already
            remember(work.kind, seconds, texts or 0)
            if "page" in work.kind:
                remember({"page": None}, seconds)

    def stop(self, seconds: float, workers: int) -> None:
        """The whole run took that long: what its works do not explain is the rest."""
        if self._took:
            remember(_REST.kind, max(0.0, seconds - in_parallel(self._took, workers)))


def remember(kind: Mapping[str, str | None], seconds: float, texts: int = 0) -> None:
    """Record that work of this *kind* took *seconds* for *texts* texts (0: not counted)."""
    folder, name = _note(kind)
    measured = [*_measured(kind), (texts, seconds)][-_RECENT:]
    folder.write(name, json.dumps({"kind": dict(kind), "measured": measured}, indent=2).encode())


def recall(kind: Mapping[str, str | None]) -> Speed | None:
    """What was measured for work of this *kind*; None if nothing was."""
    measured = _measured(kind)
    if not measured:
        return None
    uncounted = [seconds for texts, seconds in measured if not texts] or [seconds for _, seconds in measured]
    return Speed(*_line([(texts, seconds) for texts, seconds in measured if texts]), sum(uncounted) / len(uncounted))


def _line(measured: Sequence[tuple[int, float]]) -> tuple[float, float]:
    """Seconds before the first text and per text; neither is negative."""
    if not measured:
        return 0.0, 0.0
    texts, seconds = np.array(measured, dtype=float).T
    if len(set(texts)) == 1:
        start = min(_LOADING, seconds.mean() / 2)
        return float(start), float((seconds.mean() - start) / texts[0])
    per_text, start = np.polyfit(texts, seconds, 1, w=1 / np.maximum(seconds, 0.01))  # errors count in proportion
    if per_text <= 0:
        return float(seconds.mean()), 0.0
    return (float(start), float(per_text)) if start >= 0 else (0.0, float((seconds / texts).mean()))


def _measured(kind: Mapping[str, str | None]) -> list[tuple[int, float]]:
    folder, name = _note(kind)
    try:
        return [(int(texts), float(seconds)) for texts, seconds in json.loads(folder.read(name))["measured"]]
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return []


def _note(kind: Mapping[str, str | None]) -> tuple[Folder, str]:
    """The folder and file of what was measured for a kind."""
    name = hashlib.blake2b(json.dumps(dict(kind)).encode(), digest_size=8).hexdigest()
    return Folder.at(f"{cache_folder().rstrip('/')}/throughput"), f"{name}.json"
