"""Models that are plain Python: a function, an object, or something that makes one, registered under a name.

Of all three kinds of model there are

- a *function* of a list: ``MODELS.register("mine", translate)`` with ``translate(texts)`` that gives a string a text,
  ``CLASSIFIERS.register("mine", classify)`` with ``classify(pairs)`` that gives a label or three probabilities a pair
  (in the order of `nbkit.corpora.nli.LABELS`), ``LANGUAGE_MODELS.register("mine", score)`` with ``score(texts)``
  that gives a perplexity a text. What it names of src, tgt (lang, of the other two), device and dtype, it gets.
- an *object* with the method ``translate``, ``probabilities`` or ``perplexities`` (`nbkit.models.Translator` and the
  others say what they get); ``score`` and ``masked_log_probabilities`` may be there.
- a *factory*: a class, or a function of nothing or of some of src, tgt, lang, device and dtype, that makes either.

Results are remembered under the *identity* that it gives: a string or a JSON-able mapping, as an attribute or from a
method (``translate.identity = "v2"``). A factory says it itself, or what it makes is asked for it, which is made for
that. Without one nobody can tell two versions apart, and what it answers, and what is computed from that, stays in the
memory of this process.

>>> shout = PythonModel("model", "shout", lambda texts: [text.upper() for text in texts])  # as MODELS.register makes it
>>> shout.answers(["so", "be it"], str, {})
['SO', 'BE IT']
"""

from __future__ import annotations

import inspect
import json
import math
import re
import time
import uuid
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, Any

from nbkit.corpora.nli import LABELS
from nbkit.corpora.nli import catalogue as nli_catalogue
from nbkit.errors import ModelError, NbkitError
from nbkit.models.backends import Kept
from nbkit.models.decoding import DEFAULT, Decoding
from nbkit.store import NOT_REMEMBERED

if TYPE_CHECKING:
    import numpy as np

#: What a function that makes a model may ask for.
OFFERED = frozenset({"src", "tgt", "lang", "device", "dtype"})
#: By the kind of its registry: the method that an object has, what is asked for at a time, and what a way out is.
_KINDS: Mapping[str, tuple[str, str, str]] = {
    "model": ("translate", "text", "give one string for each text, '' where there is no translation"),
    "classifier": ("probabilities", "pair", f"give a label or the probabilities of {', '.join(LABELS)} for each pair"),
    "language model": ("perplexities", "text", "give one perplexity for each text, nan where there is none"),
}
#: Seconds that are spent at most on finding the text that a function fails at.
_SEARCH = 10.0
#: Made models that stay in this process, by kind.
_made: defaultdict[str, Kept[Any]] = defaultdict(lambda: Kept(2))


@dataclass(frozen=True, eq=False)
class PythonModel:
    """What was registered under a name. kind: of its registry. token: of this registration, in no other process."""

    kind: str
    name: str
    thing: Any
    token: str = field(default_factory=lambda: uuid.uuid4().hex)
    _given: dict[Any, Any] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[^@#?:{}\s](?:[^@#?:{}]*[^@#?:{}\s])?", self.name):
            raise ModelError(f"{self}: a name that Python code is registered under holds none of @ # ? : {{ }}")
        if not callable(self.thing) and not hasattr(self.thing, self.method):
            raise ModelError(
                f"{self}: {self.thing!r:.60} cannot be registered: a function of a list, an object with "
                f"{self.method}(), a class or function that makes one, or 'package.module:name' can"
            )

    def __str__(self) -> str:
        return f"{self.kind} '{self.name}'"

    @property
    def method(self) -> str:
        """What an object of this kind answers with."""
        return _KINDS[self.kind][0]

    @property
    def is_factory(self) -> bool:
        """Whether it makes a model and is none itself: all that it has to be given is among `OFFERED`."""
        if inspect.isclass(self.thing) or hasattr(self.thing, self.method):
            return inspect.isclass(self.thing)
        try:
            parameters = list(inspect.signature(self.thing).parameters.values())
        except (TypeError, ValueError):  # some functions in C do not say
            return False
        needed = [each.name for each in parameters if each.default is each.empty or each is parameters[0]]
        return OFFERED.issuperset(needed)

    def identity(self, offers: Mapping[str, Any]) -> dict[str, Any]:
        """What stands for it in store keys. Raises `ModelError` for one that is neither text nor JSON-able."""
        given = self._identity_given(offers)
        if given is None:
            known: dict[str, Any] = {NOT_REMEMBERED: f"register an identity ({self.token})"}
        else:
            known = {"identity": given}
        taken = _named(self.thing, offers) if self.is_factory else {}
        if "device" in taken:
            known["device"] = taken["device"].partition(":")[0]
        return {"python": self.name, **known, **({"dtype": taken["dtype"]} if "dtype" in taken else {})}

    def _identity_given(self, offers: Mapping[str, Any]) -> Any:
        given = getattr(self.thing, "identity", None)
        if self.is_factory and not isinstance(given, str | Mapping) and not inspect.ismethod(given):
            key = json.dumps(_named(self.thing, offers), sort_keys=True)
            if key not in self._given:
                self._given[key] = self._plain_identity(getattr(self.made(offers), "identity", None), offers)
            return self._given[key]
        return self._plain_identity(given, offers)

    def _plain_identity(self, given: Any, offers: Mapping[str, Any]) -> Any:
        try:
            given = given(**_named(given, offers)) if callable(given) else given
            if given is not None and not (given and isinstance(given, str | Mapping)):
                raise TypeError(f"{given!r:.60} given")
            return json.loads(json.dumps(given, allow_nan=False))
        except Exception as error:  # whatever the user's own method raises
            raise ModelError(f"{self}: an identity is a text or a JSON-able mapping: {_told(error)}") from error

    def made(self, offers: Mapping[str, Any]) -> Any:
        """The object or function itself; made now where a factory was registered and what it makes is not kept."""
        if not self.is_factory:
            return self.thing
        taken = _named(self.thing, offers)
        return _made[self.kind].get((self.token, *sorted(taken.items())), lambda: self._make(taken))

    def _make(self, taken: Mapping[str, Any]) -> Any:
        try:
            made = self.thing(**taken)
        except Exception as error:
            raise ModelError(f"{self}: {_called(self.thing)} could not make it: {_told(error)}") from error
        if callable(made) or hasattr(made, self.method):
            return made
        raise ModelError(
            f"{self}: {_called(self.thing)} made {made!r:.40}, which has no {self.method}() and is no function; "
            f"a function that answers itself has {_KINDS[self.kind][1]}s for its first parameter, none called "
            f"{', '.join(sorted(OFFERED))}"
        )

    def answers(self, asked: Sequence[Any], read: Callable[[Any], Any], offers: Mapping[str, Any]) -> list[Any]:
        """What it says to each of *asked*, as *read* takes it, which raises `ValueError` for what is no answer.

        Raises `ModelError` for an error inside it, for a wrong number of answers and for one that is none.
        """
        if not asked:
            return []
        made = self.made(offers)
        method = getattr(made, self.method, None)
        function = made if method is None else method
        given = _named(function, offers, all_=method is not None)

        def ask(some: Sequence[Any]) -> Any:
            found = function(list(some), **given)
            return found if found is None or isinstance(found, str | bytes | Mapping) else list(found)

        _, each, way_out = _KINDS[self.kind]
        try:
            found = ask(asked)
        except Exception as error:
            first, last = _place(ask, asked)
            where = f"{each} {first + 1}" if last == first + 1 else f"{each}s {first + 1} to {last}"
            raise ModelError(f"{self} failed at {where} ({asked[first]!r:.60}): {_told(error)}; {way_out}") from error
        if not isinstance(found, list) or len(found) != len(asked):
            what = f"{len(found)} answers" if isinstance(found, list) else f"{found!r:.60}"
            raise ModelError(f"{self} gave {what} to {len(asked)} {each}s; {way_out}")
        answers = []
        for number, (question, answer) in enumerate(zip(asked, found, strict=True), 1):
            try:
                answers.append(read(answer))
            except (TypeError, ValueError) as error:
                raise ModelError(f"{self}, {each} {number} ({question!r:.60}): {error}; {way_out}") from None
        return answers


def forgotten(keys: Any) -> list[str]:
    """The names of models whose results are not remembered, among the identities somewhere in *keys*.

    >>> forgotten({"de": [{"model": {"python": "mine", NOT_REMEMBERED: "…"}}]})
    ['mine']
    """
    if isinstance(keys, Mapping) and NOT_REMEMBERED in keys:
        return [str(keys.get("python"))]
    inside = [*keys.values()] if isinstance(keys, Mapping) else keys if isinstance(keys, list | tuple) else ()
    return list(dict.fromkeys(name for each in inside for name in forgotten(each)))


def remarked(names: Iterable[str], key: Callable[[str], Any]) -> list[str]:
    """*names* for people, with a remark where a model's *key* says that its results are not remembered.

    >>> remarked(["opus-mt", "mine"], lambda name: {NOT_REMEMBERED: "…"} if name == "mine" else {})
    ['opus-mt', 'mine (not remembered: register an identity)']
    """
    return [f"{name} (not remembered: register an identity)" if forgotten(key(name)) else name for name in names]


class _Loaded:
    """A registered model and what it is offered."""

    def __init__(self, model: PythonModel, offers: Mapping[str, Any]):
        self.model, self.offers, self.name = model, offers, model.name

    def _optional(self, method: str) -> Callable[..., Any]:
        found = getattr(self.model.made(self.offers), method, None)
        if found is None:
            raise ModelError(f"not measurable with {self.model}: it has no {method}()")
        return found


class PythonTranslator(_Loaded):
    """A translator."""

    def translate(
        self, texts: Sequence[str], src: str, tgt: str, decoding: Decoding = DEFAULT, *, progress: bool = True
    ) -> list[str]:
        """See `nbkit.models.Translator`; distinct texts that are not blank are asked for."""
        wanted = list(dict.fromkeys(text for text in texts if text.strip()))
        offers = {**self.offers, "src": src, "tgt": tgt, "decoding": decoding, "progress": progress}
        found = dict(zip(wanted, self.model.answers(wanted, _text, offers), strict=True))
        return [found.get(text, "") for text in texts]

    def score(self, texts: Sequence[str], references: Sequence[str], src: str, tgt: str) -> list[float]:
        """See `nbkit.models.Translator`. Raises `ModelError` where the registered object has no ``score``."""
        return list(map(float, self._optional("score")(texts, references, src, tgt)))


class PythonClassifier(_Loaded):
    """A classifier of pairs."""

    def probabilities(self, pairs: Sequence[tuple[str, str]], *, progress: bool = True) -> np.ndarray:
        """p(label | premise, hypothesis), one row a pair, columns in the order of `LABELS`."""
        import numpy as np

        rows = self.model.answers(pairs, _row, {**self.offers, "progress": progress})
        return np.array(rows, dtype=np.float64).reshape(len(pairs), len(LABELS))

    def rows(self, pairs: Iterable[tuple[str, str]]) -> Iterator[tuple[float, ...]]:
        """The same, row by row."""
        return (tuple(row) for row in self.probabilities(list(pairs), progress=False).tolist())


class PythonLanguageModel(_Loaded):
    """A language model; masked where it has ``masked_log_probabilities``, causal where not."""

    @property
    def kind(self) -> str:
        return "masked" if hasattr(self.model.made(self.offers), "masked_log_probabilities") else "causal"

    def perplexities(self, texts: Sequence[str], *, progress: bool = True) -> np.ndarray:
        """The perplexity of every text, in order; NaN for a blank one."""
        import numpy as np

        wanted = [text for text in texts if text.strip()]
        found = iter(self.model.answers(wanted, _perplexity, {**self.offers, "progress": progress}))
        return np.array([next(found) if text.strip() else math.nan for text in texts], dtype=np.float64)

    def masked_log_probabilities(
        self,
        texts: Sequence[str],
        spans: Sequence[tuple[int, int]],
        candidates: Sequence[Sequence[str]],
        *,
        progress: bool = True,
    ) -> list[np.ndarray]:
        """log p of each candidate in its place: an array a text (`nbkit.models.language_models.language_model`)."""
        import numpy as np

        method = self._optional("masked_log_probabilities")
        found = [np.asarray(row, dtype=np.float64) for row in method(texts, spans, candidates, progress=progress)]
        if [row.shape for row in found] != [(len(several),) for several in candidates]:
            raise ModelError(f"{self.model}: masked_log_probabilities() is to give one number for each candidate")
        return found

    def fits(
        self, asked: Iterable[tuple[str, tuple[int, int], str]], done: Callable[[int], object] = lambda count: None
    ) -> Iterator[float]:
        """The same for (text, place, candidate), those of one place together."""
        groups = [(place, [each[2] for each in some]) for place, some in groupby(asked, key=lambda each: each[:2])]
        texts, spans = [place[0] for place, _ in groups], [place[1] for place, _ in groups]
        candidates = [several for _, several in groups]
        for row in self.masked_log_probabilities(texts, spans, candidates, progress=False):
            yield from row.tolist()
            done(len(row))


def _named(function: Any, offers: Mapping[str, Any], *, all_: bool = False) -> dict[str, Any]:
    """What *function* names of *offers*; *all_* of it where it also takes any name."""
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return {}
    if all_ and any(each.kind is each.VAR_KEYWORD for each in parameters.values()):
        return dict(offers)
    named = {name for name, each in parameters.items() if each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY)}
    return {name: value for name, value in offers.items() if name in named}


def _place(ask: Callable[[Sequence[Any]], object], asked: Sequence[Any]) -> tuple[int, int]:
    """The first and one past the last of *asked* that *ask* fails at, halved as long as a half alone makes it fail."""
    first, last, until = 0, len(asked), time.monotonic() + _SEARCH
    while last - first > 1:
        middle = (first + last) // 2
        for half in ((first, middle), (middle, last)):
            if time.monotonic() > until:
                return first, last
            try:
                ask(asked[slice(*half)])
            except Exception:  # noqa: BLE001 - whatever the user's own code raises
                first, last = half
                break
        else:
            return first, last
    return first, last


def _text(answer: Any) -> str:
    if not isinstance(answer, str):
        raise TypeError(f"{type(answer).__name__} given, a string expected")
    try:
        answer.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"a string that is no valid Unicode: {error.reason}") from None
    return str(answer)


def _row(answer: Any) -> list[float]:
    if isinstance(answer, str):
        row = [float(answer.lower() in nli_catalogue()["labels"][name]) for name in LABELS]
        if not any(row):
            raise ValueError(f"unknown label {answer!r:.60}; there are: {', '.join(LABELS)}")
        return row
    row = [float(p) for p in answer]
    if len(row) != len(LABELS) or not all(0 <= p <= 1 for p in row) or abs(sum(row) - 1) > 1e-2:
        raise ValueError(f"{row} given, {len(LABELS)} probabilities that sum to 1 expected")
    return row


def _perplexity(answer: Any) -> float:
    if isinstance(answer, str | bool) or float(answer) < 0:
        raise ValueError(f"{answer!r:.60} given, a perplexity expected")
    return float(answer)


def _called(thing: Any) -> str:
    return f"{getattr(thing, '__qualname__', type(thing).__name__)}()"


def _told(error: Exception) -> str:
    return str(error) if isinstance(error, NbkitError) else f"{type(error).__name__}: {error}"
