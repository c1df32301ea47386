"""Models that answer by a rule, in the place of real ones; nothing else here reaches into a study or a loader.

Each goes by a name of the catalogues. An empty folder with a settings file of its own stands behind it, so that the
identity in the store's keys is that of a folder of weights, and no two are alike.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from zlib import crc32

import numpy as np
import pytest

from nbkit.corpora.nli import LABELS
from nbkit.models import CLASSIFIERS, LANGUAGE_MODELS, MODELS, Entry, load
from nbkit.models.answers import Weights
from nbkit.models.model import Input, Record
from nbkit.models.probes import CONTEXTS, FOUND


def drawn(*texts: str, of: int) -> int:
    """A number below *of* that depends on nothing but the texts."""
    return crc32("\0".join(texts).encode()) % of


def probe(name: str, source: str, reference: str) -> Record:
    """Less context makes the reference less likely and the translation worse."""
    words = [match.span() for match in re.finditer(r"\S+", reference)]
    starts, ends = map(list, zip(*words, strict=True))
    record: Record = {"starts": starts, "ends": ends}
    for factor, context in enumerate(CONTEXTS, start=1):
        surprises = [-(factor + drawn(name, word, of=10) / 10) for word in reference.split()]
        entropies = [1.0 + (place + factor) % 3 for place in range(len(words))]
        hypothesis = " ".join(reference.split()[factor - 1 :])
        found = zip(FOUND, (hypothesis, surprises, entropies, factor), strict=True)
        record |= {f"{context}_{part}": each for part, each in found}
    return record


@contextmanager
def registered(
    translators: Mapping[str, Callable[[str], str]],
    classifiers: Mapping[str, Callable[[str, str], Sequence[float]]],
    language_models: Sequence[str],
) -> Iterator[dict[str, str]]:
    """These models by name, their folders below the working folder; what stands for each in keys, to its name."""

    def answers(self: Weights, inputs: Sequence[Input]) -> Iterator[tuple[Input, Record]]:
        """Longer texts are less likely, and what fits a gap is drawn by the letters."""
        name, task = self.reference.name, self.task.name
        for given in inputs:
            text = given[0]
            if task == "translate":
                yield given, {"hypothesis": translators[name](text)}
            elif task == "classify":
                row = np.array(classifiers[name](*given), dtype=float).tolist()
                yield given, dict(zip(LABELS, row, strict=True))
            elif task == "likelihood":
                log_p = -0.3 * len(text) - drawn(text, of=50) / 10
                yield given, {"log_probability": log_p, "tokens": len(text.split())}
            elif task == "fill":
                yield given, {"log_probability": -drawn(text, given[2], of=1000) / 100}
            else:
                yield given, probe(name, *given[:2])

    with pytest.MonkeyPatch.context() as patch, ExitStack() as stack:
        for registry, names in (
            (MODELS, translators),
            (CLASSIFIERS, classifiers),
            (LANGUAGE_MODELS, language_models),
        ):
            stack.enter_context(registry.isolated())
            for name in names:
                registry.register(name, Entry(hub=_folder(name), label=name.capitalize()))
        patch.setattr(Weights, "answers", answers)
        patch.setattr(Weights, "check", lambda self: None)  # no weights lie in these folders
        patch.setattr(Weights, "fetch", lambda self: self.reference.folder)
        patch.setattr(Weights, "kind", None)  # nor does a kind of language model
        found: dict[str, str] = {}
        for task, names in (("translate", translators), ("classify", classifiers), ("likelihood", language_models)):
            found |= {load(name, task, "en", "de").identity()["weights"]: name for name in names}
        yield found


def _folder(name: str) -> str:
    folder = Path("models", name)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps({"name": name}), encoding="utf-8")
    return f"./{folder}"


# --- translators: word order


@cache
def _german() -> tuple[dict[str, str], dict[str, str]]:
    """Of the first pairs of the sandbox: each English word's German ones, and each sentence's German by its letters."""
    from nbkit.corpora import load_pairs

    words, sentences = {}, {}
    for pair in load_pairs("sandbox", "en", "de", n=10):
        sentences[_letters(" ".join(pair.source.tokens))] = pair.target.joined
        for i, word in enumerate(pair.source.tokens):
            words[word.lower()] = " ".join(pair.target.tokens[b] for a, b in pair.alignment or () if a == i)
    return words, sentences


def _letters(text: str) -> str:
    return "".join(sorted(text.replace(" ", "")))


def word_by_word(text: str) -> str:
    """German words in the order of the English ones."""
    words = _german()[0]
    return " ".join(filter(None, (words.get(word.lower(), word) for word in re.findall(r"\w+|[^\w\s]", text))))


def by_heart(text: str) -> str:
    """The reference whatever the order, but of every third text, which is said word by word."""
    return word_by_word(text) if drawn(text, of=3) == 0 else _german()[1].get(_letters(text), text)


# --- translators: numbers


def by_rule(text: str) -> str:
    """Says everything in English, and every number in German."""
    from nbkit.numbers import find_numbers, forms, write_number

    for number in reversed(find_numbers(text, "en")):
        start, end = number.span
        form = number.form if number.form in forms("de") else "digits"
        text = text[:start] + write_number(number.value, "de", form) + text[end:]
    return text


def forgetful(text: str) -> str:
    """Drops the last digit of every integer of more than three, and turns points into commas in half of the texts."""
    text = re.sub(r"\b(\d{3,})\d\b", r"\1", text)
    return text.replace(".", ",") if drawn(text, of=2) else text


# --- translators: idioms and homographs


def literally(text: str) -> str:
    """Word by word."""
    from tests.studies.idioms_cases import literally

    return literally(text)


def half_literally(text: str) -> str:
    """Word by word in half of the cases; in the others as the reference has it."""
    translation = literally(text)
    return (
        translation
        if drawn(text, of=2)
        else translation.replace("cognent le seau", "meurent").replace("une chaude patate", "gênant")
    )


def senses(salt: str, certain: int) -> Callable[[str], str]:
    """Chooses the sense of a homograph by all words of the sentence, but *certain* times of ten the first one."""
    from nbkit.corpora.homographs import load_homographs

    known = load_homographs("sandbox", "de", src="en").homographs

    def translate(text: str) -> str:
        words = []
        for word in (word.strip(".,?!").lower() for word in text.split()):
            homograph = next((each for each in (word, word.rstrip("s")) if each in known), None)
            if homograph is None:
                words.append(word)
                continue
            clusters = known[homograph].clusters
            first = drawn(salt, text, "first", of=10) < certain
            words.append(min(clusters[0 if first else drawn(salt, text, of=len(clusters))].translations))
        return " ".join(words)

    return translate


# --- classifiers


def sure(place: int, p: float) -> list[float]:
    return [p if each == place else (1 - p) / 2 for each in range(3)]


def bag(premise: str, hypothesis: str) -> list[float]:
    """Blind to order: the answer depends on the letters."""
    letters = ("".join(sorted(side.replace(" ", ""))) for side in (premise, hypothesis))
    place = drawn(*letters, of=3)
    return sure(place, 0.8)


def ordered(premise: str, hypothesis: str) -> list[float]:
    """The answer depends on every character, and so does how sure it is."""
    return sure(drawn(premise, hypothesis, of=3), 0.4 + drawn(premise, hypothesis, "p", of=500) / 1000)


def undecided(premise: str, hypothesis: str) -> list[float]:
    """As `ordered`, and never sure."""
    return sure(drawn(premise, hypothesis, "me", of=3), 0.34)
