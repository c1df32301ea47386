"""From a hypothesis to a premise: what must have been said for it to follow, to be open, or to be wrong."""

from __future__ import annotations

from collections.abc import Callable

from nbkit.sandbox.draw import Draw, adjectives_of, verbs_of
from nbkit.sandbox.inference.facts import (
    add,
    copied,
    deed,
    kind_of,
    kinds_named,
    lore,
    named,
    opposites,
    other_times,
    related,
    remove,
    someone,
)
from nbkit.sandbox.meaning import Adverbial, Clause, Lexeme, Subordinate, table

__all__ = ["RULES", "Rule"]

#: Makes the premise (told in the active voice) of a hypothesis, or None where this hypothesis has none.
Rule = Callable[[Draw, Clause], Clause | None]


_ENTERED: list[Rule] = []


def rule(function: Rule) -> Rule:
    """Enter *function* in the table under its own name."""
    _ENTERED.append(function)
    return function


def more(draw: Draw, clause: Clause, most: int = 2) -> Clause | None:
    """*clause* with one or more things more said of it."""
    if not add(draw, clause):
        return None
    for _ in range(draw.pick(range(most))):
        add(draw, clause)
    return clause


def denial(clause: Clause) -> Clause:
    """That *clause* did not happen, at all."""
    clause.negative = True
    clause.manner = clause.instrument = None
    if clause.object is not None and clause.object.determiner == "count":
        clause.object.determiner, clause.object.count, clause.object.plural = "indefinite", 0, False
    return clause


# ----------------------------------------------------------------------------
# More or less said of the same event, or something else in its place; and that it did not happen.


@rule
def modifier_dropped(draw: Draw, hypothesis: Clause) -> Clause | None:
    """*The old man read a letter yesterday* ⊨ *The man read a letter yesterday*."""
    return more(draw, copied(hypothesis))


@rule
def modifier_added(draw: Draw, hypothesis: Clause) -> Clause | None:
    """*The man read a letter* ⊭ *The man read a letter yesterday*; something else may have been said instead."""
    premise = copied(hypothesis)
    if not remove(draw, premise):
        return None
    if draw.chance(0.5):
        add(draw, premise)
        if _said(hypothesis).items() <= _said(premise).items() or _excludes(premise, hypothesis):
            return None
    return premise


def _said(clause: Clause) -> dict[str, Lexeme]:
    """What a clause says besides who did what, by where it says it."""
    names = ("subject", "object", "recipient", "than")
    said = {name: p.adjective for name in names if (p := getattr(clause, name)) is not None}
    said |= {name: a.adverb for name in ("time", "manner") if (a := getattr(clause, name)) is not None}
    said["place"] = clause.place.ground.noun if clause.place is not None else None
    said["instrument"] = clause.instrument.noun if clause.instrument is not None else None
    return {name: word for name, word in said.items() if word is not None}


def _excludes(premise: Clause, hypothesis: Clause) -> bool:
    """Whether the premise says another time, place, manner or opposite quality than the hypothesis."""
    told, asked = _said(premise), _said(hypothesis)
    changed = [name for name in asked if name in told and told[name] is not asked[name]]
    qualities = {"subject", "object", "recipient", "than"}
    return any(name not in qualities or told[name] in opposites(asked[name]) for name in changed)


@rule
def other_quality(draw: Draw, hypothesis: Clause) -> Clause | None:
    """*bought an expensive bag* ⊭ *bought a red bag*."""
    premise = copied(hypothesis)
    phrase = premise.object
    assert phrase is not None and phrase.noun is not None and phrase.adjective is not None
    barred = {phrase.adjective, *opposites(phrase.adjective)}
    phrase.adjective = draw.concept([a for a in adjectives_of(phrase.noun) if a not in barred])
    return premise


@rule
def antonym(draw: Draw, hypothesis: Clause) -> Clause | None:
    """*bought a blue bag* contradicts *bought a red bag*."""
    premise = copied(hypothesis)
    phrase = premise.object
    assert phrase is not None and phrase.noun is not None and phrase.adjective is not None
    phrase.adjective = draw.concept([a for a in opposites(phrase.adjective) if a in adjectives_of(phrase.noun)])
    return premise


@rule
def other_time(draw: Draw, hypothesis: Clause) -> Clause | None:
    """*this morning* contradicts *last week*."""
    premise = copied(hypothesis)
    assert premise.time is not None
    premise.time = Adverbial(premise.time.key, draw.concept(other_times(premise.time.adverb)))
    return premise


@rule
def negated(draw: Draw, hypothesis: Clause) -> Clause | None:
    """*The man did not read a letter* contradicts *The man read a letter yesterday*."""
    premise = denial(copied(hypothesis))
    if draw.chance(0.5):
        remove(draw, premise)
    return premise


@rule
def done(draw: Draw, hypothesis: Clause) -> Clause | None:
    """*The man read the letter* contradicts *The man did not read the letter*."""
    premise = copied(hypothesis)
    premise.negative = False
    return premise


@rule
def done_and_more(draw: Draw, hypothesis: Clause) -> Clause | None:
    """*The man read the old letter yesterday* contradicts *The man did not read the letter*."""
    premise = done(draw, hypothesis)
    return more(draw, premise) if premise is not None else None


@rule
def denied_more_widely(draw: Draw, hypothesis: Clause) -> Clause | None:
    """*The man did not read the letter* ⊨ *The man did not read the letter yesterday*."""
    premise = copied(hypothesis)
    return premise if remove(draw, premise) else None


@rule
def denied_more_narrowly(draw: Draw, hypothesis: Clause) -> Clause | None:
    """*The man did not read the letter yesterday* ⊭ *The man did not read the letter*."""
    return more(draw, copied(hypothesis), 1)


# ----------------------------------------------------------------------------
# Premises of two clauses: what is known, said, intended or forgotten, and what else was done.


def _says(draw: Draw, hypothesis: Clause, verb: str) -> Clause:
    content = copied(hypothesis)
    content.time_first = False
    return Clause(draw.key(), subject=someone(draw), verb=named("verbs")[verb], tense="present", content=content)


@rule
def fact_known(draw: Draw, hypothesis: Clause) -> Clause | None:
    """*Paul knows that Anna read the letter* ⊨ *Anna read the letter*."""
    return _says(draw, hypothesis, "realize")


@rule
def only_said(draw: Draw, hypothesis: Clause) -> Clause | None:
    """*Paul thinks that Anna read the letter* ⊭ *Anna read the letter*."""
    return _says(draw, hypothesis, draw.pick(("say", "think", "believe")))


def _towards(draw: Draw, hypothesis: Clause, verbs: tuple[str, ...]) -> Clause:
    inner = copied(hypothesis)
    verb = named("verbs")[draw.pick(verbs)]
    premise = Clause(draw.key(), subject=inner.subject, verb=verb, tense="past")
    premise.time, premise.time_first = inner.time, inner.time is not None
    inner.subject, inner.time, inner.time_first, inner.tense = None, None, False, "present"
    inner.manner = inner.instrument = inner.place = None
    premise.infinitive = inner
    return premise


@rule
def only_intended(draw: Draw, hypothesis: Clause) -> Clause | None:
    """*Anna wanted to read the letter* ⊭ *Anna read the letter*."""
    return _towards(draw, hypothesis, ("want", "try", "decide", "promise"))


@rule
def forgotten(draw: Draw, hypothesis: Clause) -> Clause | None:
    """*Anna forgot to read the letter* contradicts *Anna read the letter*."""
    return _towards(draw, hypothesis, ("forgetto",))


def _beside(draw: Draw, hypothesis: Clause) -> Clause | None:
    """Something else that someone else did."""
    assert hypothesis.verb is not None
    verbs = [v for v in verbs_of(("tr", "ach")) if v.objects and v.id not in related(hypothesis.verb)]
    clause = deed(draw, draw.concept(verbs))
    return None if clause.object is not None and clause.object.is_person else clause


@rule
def conjunct_dropped(draw: Draw, hypothesis: Clause) -> Clause | None:
    """*Anna read the letter and Paul washed the car* ⊨ *Anna read the letter*."""
    premise, other = copied(hypothesis), _beside(draw, hypothesis)
    return None if other is None else _joined(draw, premise, other)


def _joined(draw: Draw, clause: Clause, other: Clause) -> Clause:
    first, second = (clause, other) if draw.chance(0.5) else (other, clause)
    second.time_first = False
    first.conjunct = second
    # "and" has no place for a negation in the first clause of a Japanese sentence
    first.conjunction = "but" if clause.negative else draw.pick(("and", "but"))
    return first


@rule
def participants_crossed(draw: Draw, hypothesis: Clause) -> Clause | None:
    """*Paul read the letter and Anna washed the car* contradicts *Anna read the letter*."""
    premise, other = copied(hypothesis), _beside(draw, hypothesis)
    if other is None:
        return None
    premise.subject, other.subject = other.subject, premise.subject
    return _joined(draw, premise, other)


@rule
def reason_dropped(draw: Draw, hypothesis: Clause) -> Clause | None:
    """*Anna read the letter because Paul broke the lamp* ⊨ both of its clauses."""
    premise, other = copied(hypothesis), _beside(draw, hypothesis)
    if other is None:
        return None
    if draw.chance(0.5):
        premise, other = other, premise
    other.time_first = False
    premise.subordinate = Subordinate(draw.key(), "because", other, first=False)
    return premise


# ----------------------------------------------------------------------------
# Who did what to whom: roles, other events, kinds and numbers of things, comparisons.


@rule
def roles_kept(draw: Draw, hypothesis: Clause) -> Clause | None:
    """*Today Anna praised the man* ⊨ *Anna praised the man today*: the same roles, perhaps in the other voice."""
    return _retold(draw, copied(hypothesis))


def _retold(draw: Draw, clause: Clause) -> Clause | None:
    """*clause* with more said of it, or with its time at another place: the same is done to roles kept and swapped."""
    if clause.time is None or draw.chance(0.5):
        return more(draw, clause)
    clause.time_first = not clause.time_first
    return clause


@rule
def roles_swapped(draw: Draw, hypothesis: Clause) -> Clause | None:
    """*Anna praised the man* contradicts *The man praised Anna*: the same words, told the other way round."""
    premise = copied(hypothesis)
    if premise.recipient is not None:
        premise.subject, premise.recipient = premise.recipient, premise.subject
    else:
        premise.subject, premise.object = premise.object, premise.subject
    return _retold(draw, premise)


@rule
def other_deed(draw: Draw, hypothesis: Clause) -> Clause | None:
    """*Anna praised the man* ⊭ *Anna invited the man*."""
    premise = copied(hypothesis)
    assert premise.verb is not None and premise.object is not None and premise.object.noun is not None
    premise.verb = _other_verb(draw, premise, [named("verbs")[name] for name in lore()["deeds"]])
    return premise if premise.verb is not None else None


def _other_verb(draw: Draw, clause: Clause, among: list[Lexeme]) -> Lexeme | None:
    verb, thing = clause.verb, clause.object
    assert verb is not None and thing is not None and thing.noun is not None
    kinds = thing.noun.kinds | ({"person"} if thing.is_person else set())
    options = [
        v
        for v in among
        if v.id not in related(verb) and kinds & set(v.objects) and ("di" in v.kinds) == (clause.recipient is not None)
    ]
    if clause.instrument is not None:
        options = [v for v in options if clause.instrument.noun is not None and _takes(v, clause.instrument.noun)]
    return draw.concept(options) if options else None


def _takes(verb: Lexeme, instrument: Lexeme) -> bool:
    return bool(instrument.kinds & set(verb.instruments))


@rule
def other_event(draw: Draw, hypothesis: Clause) -> Clause | None:
    """*Anna read the letter* ⊭ *Anna washed the car*: something else is done, to the same thing or to another."""
    premise = copied(hypothesis)
    assert premise.verb is not None
    verbs = [v for v in verbs_of(("tr", "ach")) if v.objects]
    if premise.recipient is None and draw.chance(0.6):
        premise.verb = _other_verb(draw, premise, verbs)
        premise.manner = premise.instrument = None
        return premise if premise.verb is not None else None
    other = deed(draw, draw.concept([v for v in verbs if v.id not in related(premise.verb)]), premise.subject)
    if other.object is not None and other.object.is_person:
        return None
    other.time, other.time_first, other.negative = premise.time, premise.time_first, premise.negative
    add(draw, other)
    return other


@rule
def order_swapped(draw: Draw, hypothesis: Clause) -> Clause | None:
    """*The cow is bigger than the dog* contradicts *The dog is bigger than the cow*."""
    premise = copied(hypothesis)
    premise.subject, premise.than = premise.than, premise.subject
    if draw.chance(0.5):
        add(draw, premise)
    return premise


@rule
def antonym_compared(draw: Draw, hypothesis: Clause) -> Clause | None:
    """*The cow is smaller than the dog* contradicts *The cow is bigger than the dog*."""
    premise = copied(hypothesis)
    assert premise.quality is not None
    premise.quality = draw.concept(opposites(premise.quality))
    return premise


@rule
def converse(draw: Draw, hypothesis: Clause) -> Clause | None:
    """*The cow is bigger than the dog* ⊨ *The dog is smaller than the cow*."""
    premise = antonym_compared(draw, hypothesis)
    return None if premise is None else order_swapped(draw, premise)


@rule
def other_comparison(draw: Draw, hypothesis: Clause) -> Clause | None:
    """*The book is longer than the novel* ⊭ *The book is more boring than the novel*."""
    premise = copied(hypothesis)
    assert premise.quality is not None and premise.subject is not None and premise.than is not None
    barred = {premise.quality, *opposites(premise.quality), premise.subject.adjective, premise.than.adjective}
    options = [a for a in table("adjectives") if "compare" in a.kinds and a not in barred]
    options = [a for a in options if all(a in adjectives_of(p.noun) for p in (premise.subject, premise.than) if p.noun)]
    if not options:
        return None
    premise.quality = draw.concept(options)
    return premise


@rule
def hyponym(draw: Draw, hypothesis: Clause) -> Clause | None:
    """*bought an apple* ⊨ *bought a fruit*."""
    premise = copied(hypothesis)
    thing, verb = premise.object, premise.verb
    assert thing is not None and thing.noun is not None and verb is not None
    covered = next(covered for kind, covered in kinds_named() if kind is thing.noun)
    options = [n for n in covered if n.kinds & set(verb.objects)]
    options = [n for n in options if thing.adjective is None or thing.adjective in adjectives_of(n)]
    if not options:
        return None
    thing.noun = draw.concept(options)
    return premise


@rule
def hypernym(draw: Draw, hypothesis: Clause) -> Clause | None:
    """*bought a fruit* ⊭ *bought an apple*."""
    premise = copied(hypothesis)
    thing = premise.object
    assert thing is not None and thing.noun is not None
    thing.noun = kind_of(thing.noun)
    return premise


@rule
def kind_denied(draw: Draw, hypothesis: Clause) -> Clause | None:
    """*did not buy a fruit* contradicts *bought an apple*."""
    premise = hypernym(draw, hypothesis)
    return None if premise is None else denial(premise)


@rule
def number_weakened(draw: Draw, hypothesis: Clause) -> Clause | None:
    """*bought three apples* ⊨ *bought an apple*."""
    premise = copied(hypothesis)
    assert premise.object is not None
    premise.object.determiner, premise.object.plural = "count", True
    premise.object.count = draw.pick((2, 3, 4, 5))
    return premise


@rule
def number_added(draw: Draw, hypothesis: Clause) -> Clause | None:
    """*bought an apple* ⊭ *bought three apples*."""
    premise = copied(hypothesis)
    assert premise.object is not None
    premise.object.determiner, premise.object.plural, premise.object.count = "indefinite", False, 0
    return premise


@rule
def other_number(draw: Draw, hypothesis: Clause) -> Clause | None:
    """*bought five apples* contradicts *bought three apples*."""
    premise = copied(hypothesis)
    assert premise.object is not None
    premise.object.count = draw.pick([n for n in (2, 3, 4, 5) if n != premise.object.count])
    return premise


#: All rules by name; ``data/entailment.yaml`` says which label each gives.
RULES: dict[str, Rule] = {function.__name__: function for function in _ENTERED}
