"""The grammars of English and German."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import ClassVar

from nbsandbox.grammars import NOMINATIVE, Grammar, Noun, marker_of, split_cell
from nbsandbox.meaning import (
    AUX,
    CASE,
    DET,
    MARK,
    MODAL,
    NEGATION,
    THIRD,
    Clause,
    Lexeme,
    Node,
    Phrase,
    Place,
    table,
)

# ----------------------------------------------------------------------------
# English: articles, possessives with 's, do-support and negation, a/an.

_VOWELS = "aeiou"
_DOUBLED = frozenset({"swim", "run", "cut", "begin", "forget", "get", "hit", "drop", "win", "admit", "commit"})
#: The features of the forms of a verb; a base form without an auxiliary is a present.
_FEATURES = {
    "past": "Tense=Past|VerbForm=Fin",
    "third": "Number=Sing|Person=3|Tense=Pres|VerbForm=Fin",
    "present": "Tense=Pres|VerbForm=Fin",
    "base": "VerbForm=Inf",
    "ing": "VerbForm=Ger",
    "participle": "VerbForm=Part",
}


@dataclass(frozen=True, slots=True)
class EnglishVerb:
    """A verb's forms by name, its preposition and the recipient's, which stands after the object then."""

    forms: dict[str, str]
    preposition: str
    recipient: str
    case: int = NOMINATIVE


def verb_forms(cell: str) -> dict[str, str]:
    """The forms of an English verb by name: base, present, third, past, participle, ing.

    >>> verb_forms("carry")["past"], verb_forms("run,ran,run")["ing"], verb_forms("smile")["ing"]
    ('carried', 'running', 'smiling')
    """
    base, *irregular = cell.split(",")
    if base[-1] == "y" and base[-2] not in _VOWELS:
        third, past = base[:-1] + "ies", base[:-1] + "ied"
    else:
        third = base + ("es" if base.endswith(("s", "sh", "ch", "x", "o")) else "s")
        past = base + ("d" if base.endswith("e") else "ed")
    if base.endswith("ie"):
        ing = base[:-2] + "ying"
    elif base.endswith("e") and not base.endswith("ee"):
        ing = base[:-1] + "ing"
    else:
        ing = base + (base[-1] if base in _DOUBLED else "") + "ing"
    past, participle = irregular or (past, past)
    return {"base": base, "present": base, "third": third, "past": past, "participle": participle, "ing": ing}


class English(Grammar):
    lang = "en"
    closing = Grammar.closing | {"%"}
    cases = ("Nom", "Acc")
    usual_case = 1

    def decline(self, cell: str) -> Noun:
        """The forms of a noun, which have no case, and its preposition of place, from its dictionary cell.

        >>> English().decline("dog").plural[0]
        'dogs'
        """
        forms, options = split_cell(cell)
        plural = forms[1] if len(forms) > 1 else forms[0] + "s"
        return Noun((forms[0],) * 2, (plural,) * 2, location=options.get("loc", "in"))

    def conjugate(self, cell: str, options: dict[str, str], flags: list[str]) -> EnglishVerb:
        """Forms, preposition and recipient marker of a verb, from its dictionary cell."""
        return EnglishVerb(verb_forms(cell), marker_of(flags), options.get("iobj", ""))

    # --- phrases

    def specify(self, node: Node, phrase: Phrase, noun: Noun, case: int) -> None:
        """Put article, demonstrative, number or owner, and adjective before the noun."""
        before = node.before
        match phrase.determiner:
            case "definite" | "indefinite" | "no":
                before.append(self.determiner("the" if phrase.determiner == "definite" else "a", phrase))
            case "this" | "that":
                form = {"this": "these", "that": "those"}[phrase.determiner] if phrase.plural else phrase.determiner
                before.append(self.determiner(form, phrase, phrase.determiner))
            case "count":
                before.append(self.numeral(phrase))
            case "many":
                before.append(Node("many", "ADJ", "amod", (phrase.key + DET,), feats="Degree=Pos"))
            case "own" if phrase.possessor is not None:
                before.append(self._possessor(phrase.possessor))
        if phrase.adjective is not None:
            before.append(self.adjective_node(split_cell(phrase.adjective.cells["en"])[0][0], phrase))

    def _possessor(self, owner: Phrase) -> Node:
        """The tree of an owner: *her*, *Anna's*."""
        if owner.noun is None:
            nominative, _, possessive = self.pronoun(owner)
            return Node(possessive, "PRON", "nmod:poss", (owner.key,), nominative, "Poss=Yes")
        node = self.phrase(owner, "nmod:poss")
        node.space = False
        node.after.append(Node("'s", "PART", "case", (owner.key + CASE,)))
        return node

    def relative_pronoun(self, phrase: Phrase) -> tuple[str, str]:
        """*who* for a person as subject, else *that*."""
        word = "who" if phrase.is_person and not phrase.relative_object else "that"
        return word, word

    # --- clauses

    def has_comma_before_conjunct(self, clause: Clause) -> bool:
        """Whether the coordinated clauses have different subjects."""
        return not clause.shared_subject

    def clause(self, clause: Clause, absent: Phrase | None = None) -> Node:
        """The tree of a clause; in questions an auxiliary comes before the subject."""
        subject = clause.subject or absent
        agreement = subject.agreement if subject is not None else THIRD
        if clause.existing is not None:
            return self._existential(clause, clause.existing)
        if clause.verb is None:
            return self._copular(clause, agreement)
        verb = self.verb_of(clause)
        auxiliaries, form = self._auxiliaries(clause, agreement)
        head = Node(verb.forms[form], "VERB", "root", (clause.key,), verb.forms["base"], _FEATURES[form])
        inverted = 0
        if clause.force in ("polar", "object", "place", "time", "reason"):
            inverted = 2 if clause.negative else 1
        head.before = [
            *self.fill(clause, "opening"),
            *auxiliaries[:inverted],
            *self.fill(clause, "subject"),
            *auxiliaries[inverted:],
            *self.fill(clause, "before_verb"),
        ]
        head.after = self.fill(clause, "after_verb")
        return head

    def _auxiliaries(self, clause: Clause, agreement: int) -> tuple[list[Node], str]:
        """Auxiliaries with negation, and the name of the form that the lexical verb has after them."""
        key, be = clause.key + AUX, self.words["be"]
        past = clause.tense == "past"
        if clause.modal:
            word = "could" if clause.modal == "can" and past else clause.modal
            auxiliary, form = Node(word, "AUX", "aux", (clause.key + MODAL,), clause.modal, "VerbForm=Fin"), "base"
        elif clause.passive:
            auxiliary, form = self.auxiliary(be["past"][agreement], "be", key, "Past", "aux:pass"), "participle"
        elif clause.tense == "progressive":
            auxiliary, form = self.auxiliary(be["present"][agreement], "be", key), "ing"
        elif clause.tense == "future":
            auxiliary, form = Node("will", "AUX", "aux", (key,), feats="VerbForm=Fin"), "base"
        elif clause.negative or clause.force not in ("statement", "subject", "command"):
            do = "did" if past else "does" if agreement == THIRD else "do"
            auxiliary, form = self.auxiliary(do, "do", key, "Past" if past else "Pres"), "base"
        else:
            return [], "past" if past else "third" if agreement == THIRD else "present"
        return self._negated(clause, auxiliary), form

    def _negated(self, clause: Clause, auxiliary: Node) -> list[Node]:
        """The auxiliary, with *n't* or *not* if the clause is negative."""
        if not clause.negative:
            return [auxiliary]
        form = "not"
        if auxiliary.form != "am":
            auxiliary.form = self.words["negated"].get(auxiliary.form, auxiliary.form)
            auxiliary.space, form = False, "n't"
        return [auxiliary, Node(form, "PART", "advmod", (clause.key + NEGATION,), "not")]

    def render_recipient_first(self, clause: Clause, recipient: Phrase) -> list[Node]:
        """The recipient before the object, if it has no preposition: *gave her a book*."""
        return [] if self._recipient_marker(clause) else [self.phrase(recipient, "iobj")]

    def render_recipient_last(self, clause: Clause, recipient: Phrase) -> list[Node]:
        """The recipient after the object, if it has a preposition: *explained it to her*."""
        marker = self._recipient_marker(clause)
        return [self.phrase(recipient, "obl", marker)] if marker else []

    def _recipient_marker(self, clause: Clause) -> str:
        """The preposition that the verb requires before its recipient, "" for none."""
        return self.verb_of(clause).recipient

    def infinitive(self, clause: Clause, relation: str, marker: str = "to") -> Node:
        """The tree of an infinitive clause: *to read a book*."""
        base = self.verb_of(clause).forms["base"]
        node = Node(base, "VERB", relation, (clause.key,), feats="VerbForm=Inf")
        node.before.append(Node(marker, "PART", "mark", (clause.key + MARK,)))
        node.after = self.fill(clause, "after_verb")
        return node

    def _copular(self, clause: Clause, agreement: int) -> Node:
        """The tree of a clause with *be*: *The house is old*."""
        tense = "past" if clause.tense == "past" else "present"
        form = self.words["be"][tense][agreement]
        copula = self._negated(clause, self.auxiliary(form, "be", clause.key + AUX, tense[:4].capitalize(), "cop"))
        head = self.predicate(clause)
        if clause.than is not None and head.upos == "ADJ" and head.before:
            head.before[0].feats = "Degree=Cmp"
        subject = self.fill(clause, "subject")
        parts = [*copula, *subject] if clause.force == "polar" else [*subject, *copula]
        head.before[:0] = self.fill(clause, "opening") + parts
        head.after += self.fill(clause, "late")
        return head

    def predicative(self, clause: Clause, quality: Lexeme) -> tuple[str, ...]:
        """The adjective (as form and lemma) and its comparative if it is one word: *old*, *old*, *older*."""
        positive, *comparative = split_cell(quality.cells["en"])[0]
        return positive, positive, *comparative

    def _existential(self, clause: Clause, thing: Phrase) -> Node:
        """The tree of *there is a book on the table*."""
        form = self.words["be"]["past" if clause.tense == "past" else "present"][thing.agreement]
        head = Node(form, "VERB", "root", (clause.key,), "be", "VerbForm=Fin")
        there = Node("there", "PRON", "expl", (clause.key,))
        (head.after if clause.force == "polar" else head.before).append(there)
        head.after += [self.phrase(thing, "nsubj"), *self.fill(clause, "late")]
        return head

    def spell(self, nodes: list[Node]) -> None:
        """Turn *a* into *an* before a vowel sound."""
        for node, following in pairwise(nodes):
            if node.form == "a" and node.upos == "DET":
                vowel = following.form[0].lower() in _VOWELS and following.form not in self.words["a_before"]
                node.form = "an" if vowel or following.form in self.words["an_before"] else "a"


# ----------------------------------------------------------------------------
# German: four cases, three genders, adjective endings, contractions (*zum*), the finite verb second or last.

ACCUSATIVE, DATIVE, GENITIVE = range(1, 4)


def decline(cell: str) -> Noun:
    """The forms of a German noun, from its dictionary cell.

    >>> decline("m,Student,Studenten,weak").singular
    ('Student', 'Studenten', 'Studenten', 'Studenten')
    >>> decline("n,Buch,Bücher").singular[3], decline("n,Buch,Bücher").plural[2]
    ('Buches', 'Büchern')
    """
    forms, options = split_cell(cell)
    gender, singular = forms[0], forms[1]
    plural = forms[2] if len(forms) > 2 else singular
    if "weak" in forms:
        cases = (singular, plural, plural, plural)
    else:
        short = len(re.findall(r"[aeiouäöüy]+", singular.lower())) == 1 and singular[-1] not in "aeiouh"
        hissing = singular.endswith(("s", "ß", "z", "x", "sch", "ch"))
        genitive = singular if gender == "f" else singular + ("es" if short or hissing else "s")
        cases = (singular, singular, singular, options.get("gen", genitive))
    dative = plural if plural.endswith(("n", "s")) else plural + "n"
    return Noun(cases, (plural, plural, dative, plural), gender, options.get("loc", "in"), options.get("goal", "in"))


@dataclass(frozen=True, slots=True)
class GermanVerb:
    """A verb's forms; *prefix* is the separable one."""

    prefix: str
    stem: str
    present: tuple[str, ...]
    participle: str
    imperative: str
    perfect: str
    preposition: str
    case: int

    @property
    def infinitive(self) -> str:
        """The infinitive with the separable prefix."""
        return self.prefix + self.stem


def conjugate(cell: str, options: dict[str, str], flags: list[str]) -> GermanVerb:
    """The forms of a German verb, from its cell: infinitive, third person, participle.

    >>> conjugate("auf|machen,macht,aufgemacht", {}, []).present
    ('mache', 'machst', 'macht', 'machen', 'machen')
    >>> conjugate("lesen,liest,gelesen", {}, []).imperative
    'lies'
    """
    infinitive, third, participle = cell.split(",")
    prefix, _, stem = infinitive.rpartition("|")
    base = stem.removesuffix("n").removesuffix("e")
    first = options.get("1", base[:-2] + "le" if stem.endswith("eln") else base + "e")
    root = third.removesuffix("t")
    second = options.get("2", root + ("t" if root.endswith(("s", "ß", "z")) else "st"))
    changed = ("ie" in root or "i" in root) and not ("ie" in base or "i" in base)
    imperative = root if changed else base + ("e" if third.endswith(("et", "iert")) else "")
    case = DATIVE if "dat" in flags else ACCUSATIVE
    perfect = "sein" if "sein" in flags else "haben"
    present = (first, second, third, stem, stem)
    return GermanVerb(prefix, stem, present, participle, imperative, perfect, marker_of(flags), case)


class German(Grammar):
    lang = "de"
    cases = ("Nom", "Acc", "Dat", "Gen")
    object_case, other_object = ACCUSATIVE, "obl:arg"
    noun_features: ClassVar[tuple[str, ...]] = ("Case", "Number")
    negative = ("PART", "")
    parts_relatives = True

    decline = staticmethod(decline)
    conjugate = staticmethod(conjugate)

    @cached_property
    def adjectives(self) -> dict[str, tuple[str, str, str]]:
        """Predicative form, attributive stem and comparative of each adjective, by its id."""
        entries = {}
        for lexeme in table("adjectives"):
            forms, options = split_cell(lexeme.cells["de"])
            comparative = forms[1] if len(forms) > 1 else forms[0].removesuffix("e") + "er"
            entries[lexeme.id] = (forms[0], options.get("stem", forms[0]), comparative)
        return entries

    # --- phrases

    def is_female(self, phrase: Phrase) -> bool:
        """Whether a pronoun is *sie*, by the gender of the noun that it refers to."""
        if phrase.antecedent is not None and phrase.antecedent.noun is not None:
            return self.noun_of(phrase.antecedent).gender == "f"
        return phrase.female

    def gender(self, phrase: Phrase) -> str:
        """The gender of *phrase*: m, f or n; p for any plural."""
        if phrase.plural:
            return "p"
        return self.noun_of(phrase).gender if phrase.noun is not None else "m"

    def specify(self, node: Node, phrase: Phrase, noun: Noun, case: int) -> None:
        """Add determiner, number, owner and adjective to a noun, with endings for gender and case."""
        gender, endings, owner = self.gender(phrase), "strong_adjective", phrase.possessor

        def ending(row: str) -> str:
            return self.words[row][gender][case]

        match phrase.determiner:
            case "definite":
                node.before.append(self._article(phrase, ending("definite")))
                endings = "weak_adjective"
            case "indefinite" | "no":
                stem = "ein" if phrase.determiner == "indefinite" else "kein"
                node.before.append(self.determiner(stem + ending("ein"), phrase, stem))
                endings = "mixed_adjective"
            case "this" | "that":
                stem = "dies" if phrase.determiner == "this" else "jen"
                node.before.append(self.determiner(stem + ending("strong"), phrase, stem + "er"))
                endings = "weak_adjective"
            case "count":
                node.before.append(self.numeral(phrase))
            case "many":
                many = "viel" + ending("strong")
                node.before.append(Node(many, "ADJ", "amod", (phrase.key + DET,), "viel", "Degree=Pos"))
            case "own" if owner is not None:
                if owner.noun is None:
                    stem = self.pronoun(owner)[3]
                    form = stem + ending("ein")
                    node.before.append(Node(form, "DET", "det:poss", (owner.key,), stem, "Poss=Yes"))
                    endings = "mixed_adjective"
                elif "name" in owner.noun.kinds:
                    name = self.noun_of(owner).singular[NOMINATIVE]
                    keys = (owner.key, owner.key + CASE)
                    node.before.append(Node(name + "s", "PROPN", "nmod:poss", keys, name))
                else:
                    node.after.append(self.phrase(owner, "nmod", case=GENITIVE))
                    node.before.append(self._article(phrase, ending("definite")))
                    endings = "weak_adjective"
        if phrase.adjective is not None:
            predicative, stem, _ = self.adjectives[phrase.adjective.id]
            node.before.append(self.adjective_node(stem.removesuffix("e") + ending(endings), phrase, predicative))

    def _article(self, phrase: Phrase, form: str) -> Node:
        """A node for the definite article *form*, marked so that a preposition can merge with it."""
        article = self.determiner(form, phrase, "der")
        article.tag = "article"
        return article

    def govern(self, node: Node, marker: str, keys: tuple[int, ...]) -> None:
        """Put a preposition before a phrase, merged with its article where German does: *zum*."""
        self.merge(node, marker, lambda article: self.words["contractions"].get(f"{marker} {article}"), keys)

    def place_case(self, place: Place) -> int:
        """The dative, for a place where something is."""
        return DATIVE

    def relative_pronoun(self, phrase: Phrase) -> tuple[str, str]:
        """The form of *der* for the noun's gender and the pronoun's case."""
        case = ACCUSATIVE if phrase.relative_object else NOMINATIVE
        return self.words["definite"][self.gender(phrase)][case], "der"

    def relative_clause(self, phrase: Phrase, clause: Clause, opening: Node) -> Node:
        """The tree of a relative clause, with the verb at its end."""
        return self._verb_final(clause, opening, phrase.agreement)

    # --- clauses

    def verb_parts(self, clause: Clause, agreement: int, separate: bool) -> tuple[Node, list[Node], list[Node]]:
        """Lexical verb, finite auxiliary (none if the verb itself is finite), separated prefix.

        *separate* where the finite verb stands second, away from its prefix.
        """
        verb, key = self.verb_of(clause), clause.key + AUX
        past = clause.tense == "past"
        form, feats, auxiliary, prefix = verb.infinitive, "VerbForm=Inf", [], []
        if clause.modal:
            modal = self.words["modals"][clause.modal]
            finite = modal["past" if past else "present"][agreement]
            key = clause.modal_key or clause.key + MODAL
            auxiliary = [self.auxiliary(finite, modal["lemma"], key, "Past" if past else "Pres")]
        elif clause.passive:
            form, feats = verb.participle, "VerbForm=Part"
            auxiliary = [self.auxiliary(self.words["passive"][agreement], "werden", key, "Past", "aux:pass")]
        elif past:
            form, feats = verb.participle, "VerbForm=Part"
            finite = (self.words["be"]["present"] if verb.perfect == "sein" else self.words["have"])[agreement]
            auxiliary = [self.auxiliary(finite, verb.perfect, key)]
        elif clause.tense == "future":
            auxiliary = [self.auxiliary(self.words["will"][agreement], "werden", key)]
        else:
            form, feats = verb.present[agreement], "Tense=Pres|VerbForm=Fin"
            if clause.force == "command":
                form, feats = verb.imperative, "Mood=Imp|VerbForm=Fin"
            if verb.prefix and separate:
                prefix = [Node(verb.prefix, "ADP", "compound:prt", (clause.key,))]
            else:
                form = verb.prefix + form
        return Node(form, "VERB", "root", (clause.key,), verb.infinitive, feats), auxiliary, prefix

    def clause(self, clause: Clause, absent: Phrase | None = None) -> Node:
        """The tree of a main clause: finite verb second, or first in polar questions and commands."""
        clause = self.with_modal_want(clause)
        subject = clause.subject or absent
        agreement = subject.agreement if subject is not None else THIRD
        if clause.verb is None:
            return self._copular(clause, agreement)
        head, auxiliary, prefix = self.verb_parts(clause, agreement, separate=True)
        opening, who = self.fill(clause, "opening")[:1], self.fill(clause, "subject")
        if not opening and clause.force == "statement":
            opening, who = who, []
        opening = self.fill(clause, "please") + opening
        field, after = who + self.fill(clause, "middle"), self.fill(clause, "after")
        if auxiliary:
            head.before, head.after = [*opening, *auxiliary, *field], after
        else:
            head.before, head.after = opening, [*field, *prefix, *after]
        return head

    def conjoined(self, first: Node, clause: Clause, conjunct: Clause) -> Node:
        """The tree of a coordinated clause, without an auxiliary that both verbs have: *hat geöffnet und gelesen*."""
        other = super().conjoined(first, clause, conjunct)
        if clause.shared_subject:
            shared = [(a, b) for a in first.before for b in other.before if a.deprel == b.deprel == "aux"]
            if shared and shared[0][0].lemma == shared[0][1].lemma:
                other.before.remove(shared[0][1])
        return other

    def dependent(self, clause: Clause, relation: str, words: Sequence[str], key: int) -> Node:
        """The tree of a clause that begins with a conjunction and ends with the finite verb."""
        clause = self.with_modal_want(clause)
        opening = Node(words[0], "SCONJ", "mark", (key + MARK,))
        if clause.verb is not None:
            node = self._verb_final(clause, opening)
        else:
            assert clause.subject is not None
            node = self._copular(clause, clause.subject.agreement)
            node.after.insert(0, node.before.pop(1))
            node.before.insert(0, opening)
        node.deprel = relation
        return node

    def _verb_final(self, clause: Clause, opening: Node, agreement: int = THIRD) -> Node:
        """The tree of a clause that begins with *opening* and ends with the finite verb."""
        if clause.subject is not None:
            agreement = clause.subject.agreement
        clause = replace(clause, time_first=False)
        head, auxiliary, _ = self.verb_parts(clause, agreement, separate=False)
        head.before = [opening, *self.fill(clause, "subject"), *self.fill(clause, "middle")]
        head.after = auxiliary + self.fill(clause, "after")
        return head

    def render_object_known(self, clause: Clause, thing: Phrase) -> list[Node]:
        """The object early in the clause, if it is known to the listener (definite)."""
        return [self.direct_object(clause, thing)] if self._is_known(clause, thing) and not clause.passive else []

    def render_object_new(self, clause: Clause, thing: Phrase) -> list[Node]:
        """The object late in the clause, if it is new to the listener; with *kein* in a negation."""
        if clause.passive or self._is_known(clause, thing):
            return []
        if not self._has_kein(clause):
            return [self.direct_object(clause, thing)]
        node = self.direct_object(clause, replace(thing, determiner="no"))
        node.before[0].keys += (clause.key + NEGATION,)
        return [node]

    def _is_known(self, clause: Clause, thing: Phrase) -> bool:
        """Whether the object is definite and has no preposition, so that it comes early."""
        new = thing.determiner in ("indefinite", "count", "many")
        return not (new or self.verb_of(clause).preposition)

    def _has_kein(self, clause: Clause) -> bool:
        """Whether *kein* before the object expresses the negation."""
        thing, governed = clause.object, self.verb_of(clause).preposition
        return clause.negative and thing is not None and thing.determiner == "indefinite" and not governed

    def render_negation(self, clause: Clause, negative: bool) -> list[Node]:
        """*nicht*, unless *kein* expresses the negation."""
        return [] if clause.verb is not None and self._has_kein(clause) else [self.negation(clause)]

    def render_goal(self, clause: Clause, goal: Phrase) -> list[Node]:
        """The goal of a movement, with the preposition of its noun: *zum Arzt*, *in den Park*."""
        preposition = self.noun_of(goal).goal
        return [self.phrase(goal, "obl", preposition, DATIVE if preposition == "zu" else ACCUSATIVE)]

    def infinitive(self, clause: Clause, relation: str, marker: str = "") -> Node:
        """The tree of an infinitive clause with *zu*, which stands inside a verb with a prefix."""
        verb, mark = self.verb_of(clause), (clause.key + MARK,)
        node = Node(verb.stem, "VERB", relation, (clause.key,), verb.infinitive, "VerbForm=Inf")
        node.before, node.after = self.fill(clause, "middle"), self.fill(clause, "after")
        if verb.prefix:
            node.form, node.keys = f"{verb.prefix}zu{verb.stem}", node.keys + mark
        else:
            node.before.append(Node("zu", "PART", "mark", mark))
        if marker:
            node.before.insert(0, Node(marker, "SCONJ", "mark", mark))
        return node

    def _copular(self, clause: Clause, agreement: int) -> Node:
        """The tree of a clause with *sein*: *Das Haus ist alt*."""
        tense = "past" if clause.tense == "past" else "present"
        form = self.words["be"][tense][agreement]
        copula = self.auxiliary(form, "sein", clause.key + AUX, tense[:4].capitalize(), "cop")
        if clause.existing is not None:
            return self._existential(clause, clause.existing, copula)
        head, who = self.predicate(clause), self.fill(clause, "subject")
        opening = [copula, *who] if clause.force == "polar" else [*who, copula]
        head.before[:0] = opening + self.fill(clause, "negation")
        head.after += self.fill(clause, "after")
        return head

    def predicative(self, clause: Clause, quality: Lexeme) -> tuple[str, ...]:
        """The adjective (as form and lemma) and its comparative: *alt*, *alt*, *älter*."""
        form, _, comparative = self.adjectives[quality.id]
        return form, form, comparative

    def _existential(self, clause: Clause, thing: Phrase, verb: Node) -> Node:
        """The tree of *there is*: *Im Garten ist ein Hund*. verb: the form of *sein*."""
        verb.upos, verb.deprel, verb.keys = "VERB", "root", (clause.key,)
        verb.form = self.words["be"]["present"][thing.agreement]
        what, where = self.phrase(thing, "nsubj"), self.fill(clause, "place")
        if clause.force == "polar":
            verb.after = [what, *where]
        else:
            verb.before, verb.after = where, [what]
        return verb
