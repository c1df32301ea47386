"""Streams of premise and hypothesis in any of the sandbox's languages."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterator, Mapping
from itertools import accumulate

from nbkit.errors import NbkitError, UnknownNameError
from nbkit.sandbox.draw import Draw
from nbkit.sandbox.inference.facts import FAMILIES, can_be_passive, lore, passive
from nbkit.sandbox.inference.rules import RULES
from nbkit.sandbox.meaning import LANGUAGES, Clause
from nbkit.sandbox.stream import SPLITS, VERSION, grammar, part_of
from nbkit.seeding import address
from nbkit.text.sentences import Text

LABELS = ("entailment", "neutral", "contradiction")


#: Hypotheses have at least so many tokens, so that there are many ways to permute them.
_SHORTEST = {"en": 8, "zh": 7}


def entailment(
    lang: str, *, n: int | None, split: str = "test", start: int = 0
) -> Iterator[tuple[str, Text, Text, str, str]]:
    """Stream *n* labelled pairs (id, premise, hypothesis, label, rule), from place *start* on (None: without end).

    The pair at place i is a function of (version, *split*, i) and the language alone, and the same i has the same
    meaning and label in all languages. Three pairs in a row have the three labels, in an order of their own. The
    content words of the hypothesis decide on the split, as in `sandbox.pairs`: no hypothesis is found in two splits,
    nor is another one of the same words.

    The rule says how the premise was made of the hypothesis; its family stands before the stroke
    (``"roles/roles_swapped"``). Rules and their labels are listed in ``data/entailment.yaml``.

    Raises `UnknownNameError` for a language or split that does not exist, `NbkitError` for a negative number.

    >>> _, premise, hypothesis, label, rule = next(entailment("en", n=1))
    >>> label in LABELS, rule.count("/")
    (True, 1)
    >>> sorted(label for _, _, _, label, _ in entailment("ja", n=3))
    ['contradiction', 'entailment', 'neutral']
    """
    if lang not in LANGUAGES:
        raise UnknownNameError("sandbox language", lang, LANGUAGES)
    if split not in SPLITS:
        raise UnknownNameError("sandbox split", split, SPLITS)
    if start < 0 or (n is not None and n < 0):
        raise NbkitError(f"sandbox entailment: n={n} and start={start} must not be negative")
    return _stream(lang, n, split, start)


def _stream(lang: str, n: int | None, split: str, start: int) -> Iterator[tuple[str, Text, Text, str, str]]:
    index = start
    while n is None or index < start + n:
        premise, hypothesis, label, rule = inference(split, index)
        speaks = grammar(lang)
        texts = [Text((speaks.sentence(clause)[0],)) for clause in (premise, hypothesis)]
        yield f"entailment/{split}/{index}", texts[0], texts[1], label, rule
        index += 1


def inference(split: str, index: int) -> tuple[Clause, Clause, str, str]:
    """Premise, hypothesis, label and rule at place *index* of a split, the same for every language."""
    # label, family and rule are chosen before anything is drawn that may be thrown away: all labels are as frequent
    # as they should be, and so are the hypotheses of each
    seed = address(VERSION, "entailment", lore()["version"], split, index)
    label = _label(split, index)
    draw = Draw(seed)
    family = _pick(draw, {name: entry["weight"] for name, entry in lore()["families"].items()})
    rule = _pick(draw, lore()["families"][family][label])
    while True:
        seed += 1
        found = _attempt(Draw(seed), family, rule, split)
        if found is not None:
            return *found, label, f"{family}/{rule}"


def _label(split: str, index: int) -> str:
    """The labels of three pairs in a row are in an order that belongs to these three."""
    block, place = divmod(index, len(LABELS))
    draw = Draw(address(VERSION, "entailment", lore()["version"], split, "labels", block))
    left = list(LABELS)
    for _ in range(place):
        left.remove(draw.pick(left))
    return draw.pick(left)


def _pick(draw: Draw, weights: Mapping[str, int]) -> str:
    limits = tuple(accumulate(weights.values()))
    return tuple(weights)[bisect(limits, draw.uniform() * limits[-1])]


def _attempt(draw: Draw, family: str, rule: str, split: str) -> tuple[Clause, Clause] | None:
    """One draw of a pair; None where it came to nothing: too short, of another split, without a premise."""
    hypothesis = FAMILIES[family](draw)
    if hypothesis is None or part_of([hypothesis]) not in SPLITS[split]:
        return None
    if any(_length(hypothesis, lang) < least for lang, least in _SHORTEST.items()):
        return None
    voices = draw.chance(0.4), draw.chance(0.4)
    premise = RULES[rule](draw, hypothesis)
    if premise is None:
        return None
    told = tuple(
        passive(clause) if wanted and family == "roles" and can_be_passive(clause) else clause
        for clause, wanted in zip((premise, hypothesis), voices, strict=True)
    )
    premise, hypothesis = told
    same = grammar("en").sentence(premise)[0].tokens == grammar("en").sentence(hypothesis)[0].tokens
    return None if same else (premise, hypothesis)


def _length(clause: Clause, lang: str) -> int:
    return len(grammar(lang).sentence(clause)[0])


def entailment_identity(lang: str, *, split: str = "test") -> dict[str, str]:
    """What a stream of labelled pairs depends on besides the places of its pairs: part of cache keys."""
    return {
        "corpus": "sandbox",
        "version": VERSION,
        "mixture": f"entailment-{lore()['version']}",
        "split": split,
        "lang": lang,
    }
