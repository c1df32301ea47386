"""The idiom sentences of the sandbox, dealt to idiom-train and idiom-test as the idioms paper deals its own (§3.1)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from nbkit.corpora.sandbox.constructions.idioms import CONTEXTS, contexts_of, idiomatic
from nbkit.corpora.sandbox.draw import Draw
from nbkit.corpora.sandbox.generate import VERSION, grammar, mixtures
from nbkit.corpora.sandbox.idioms import IDIOM_SPLITS, Idiom, clauses_of, idioms
from nbkit.corpora.sandbox.meaning import Clause
from nbkit.seeding import address


@dataclass(frozen=True)
class DealtSentence:
    """A sentence with an idiom, in which context it tells of it, and its English spelling for comparisons."""

    idiom: Idiom
    context: str
    clause: Clause
    key: str

    @property
    def idiomatic(self) -> Clause:
        """The clause that the idiom is in."""
        return next(clause for clause in clauses_of(self.clause) if clause.idiom is not None)


def has_idiom_splits(mixture: str) -> bool:
    """Whether the mixture has idiom-train and idiom-test beside the splits of all mixtures.

    >>> has_idiom_splits("idioms"), has_idiom_splits("general")
    (True, False)
    """
    return "contexts" in mixtures().get(mixture, {})


@cache
def idiom_sentences(split: str, mixture: str = "idioms") -> tuple[DealtSentence, ...]:
    """All sentences of idiom-train or idiom-test, in an order that mixes the idioms.

    Of each idiom the sentences go to the two splits in turn, idiom-test first, so that it has half of them and the odd
    one; all are different sentences. Source: idioms paper, §3.1.

    >>> len(idiom_sentences("idiom-test")) - len(idiom_sentences("idiom-train"))
    0
    """
    places = [(idiom, place) for idiom in idioms() for place in range(idiom.pairs)]
    chosen = [row for row in places if row[1] % 2 == (0 if split == IDIOM_SPLITS[1] else 1)]
    chosen.sort(key=lambda row: address(VERSION, mixture, "order", row[0].name, row[1]))
    drawn = {idiom: _drawn(idiom, mixture) for idiom in idioms()}
    return tuple(drawn[idiom][place] for idiom, place in chosen)


@cache
def _drawn(idiom: Idiom, mixture: str) -> tuple[DealtSentence, ...]:
    from nbkit.corpora.idiom_splits import sentence_key  # the matcher behind it is loaded where idioms are asked for

    settings = mixtures()[mixture]
    weights = {context: settings["contexts"][context] for context in contexts_of(idiom)}
    found: dict[str, DealtSentence] = {}
    for place in range(idiom.pairs):
        seed = address(VERSION, mixture, settings["version"], "idiom", idiom.name, place)
        while len(found) == place:
            draw = Draw(seed)
            context = draw.weighted(tuple(weights), tuple(weights.values()))
            (clause,) = CONTEXTS[context](draw, idiomatic(idiom))
            key = sentence_key(grammar("en").sentence(clause)[0].text)
            found.setdefault(key, DealtSentence(idiom, context, clause, key))
            seed += 1  # where the sentence is there already: draw the next one
    return tuple(found.values())
