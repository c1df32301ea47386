"""German noun phrases: four cases, three genders, adjective endings, contractions (*zum*)."""

from __future__ import annotations

import re
from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property

from nbkit.corpora.sandbox.grammars.base import Grammar, features
from nbkit.corpora.sandbox.lexicon import Lexeme, nominals, table
from nbkit.corpora.sandbox.meaning import THIRD, Clause, Phrase, Place
from nbkit.corpora.sandbox.tree import ADJECTIVE, CASE, DET, MARK, Node

NOMINATIVE, ACCUSATIVE, DATIVE, GENITIVE = range(4)
_CASES = ("Nom", "Acc", "Dat", "Gen")


@dataclass(frozen=True, slots=True)
class Noun:
    """Gender and forms: singular and plural in the four cases."""

    gender: str
    singular: tuple[str, ...]
    plural: tuple[str, ...]
    location: str = "in"
    goal: str = "in"


def decline(cell: str) -> Noun:
    """The forms of a noun from its dictionary cell.

    >>> decline("m,Student,Studenten,weak").singular
    ('Student', 'Studenten', 'Studenten', 'Studenten')
    >>> decline("n,Buch,Bücher").singular[3], decline("n,Buch,Bücher").plural[2]
    ('Buches', 'Büchern')
    """
    forms, options = features(cell)
    gender, singular = forms[0], forms[1]
    plural = forms[2] if len(forms) > 2 else singular
    if "weak" in forms:
        cases = (singular, plural, plural, plural)
    else:
        if gender == "f":
            genitive = singular
        elif "gen" in options:
            genitive = options["gen"]
        else:
            short = len(re.findall(r"[aeiouäöüy]+", singular.lower())) == 1 and singular[-1] not in "aeiouh"
            hissing = singular.endswith(("s", "ß", "z", "x", "sch", "ch"))
            genitive = singular + ("es" if short or hissing else "s")
        cases = (singular, singular, singular, genitive)
    dative = plural if plural.endswith(("n", "s")) else plural + "n"
    return Noun(
        gender,
        cases,
        (plural, plural, dative, plural),
        options.get("loc", "in"),
        options.get("goal", "in"),
    )


class GermanNouns(Grammar):
    lang = "de"

    @cached_property
    def nouns(self) -> dict[str, Noun]:
        return {lexeme.id: decline(lexeme.cells["de"]) for lexeme in nominals()}

    @cached_property
    def adjectives(self) -> dict[str, tuple[str, str, str]]:
        """Predicative form, attributive stem and comparative of each adjective."""
        entries = {}
        for lexeme in table("adjectives"):
            forms, options = features(lexeme.cells["de"])
            comparative = forms[1] if len(forms) > 1 else forms[0].removesuffix("e") + "er"
            entries[lexeme.id] = (forms[0], options.get("stem", forms[0]), comparative)
        return entries

    def pronoun(self, phrase: Phrase) -> list[str]:
        person = phrase.agreement
        female = phrase.female
        if phrase.antecedent is not None and phrase.antecedent.noun is not None:
            female = self.nouns[phrase.antecedent.noun.id].gender == "f"
        return self.words["pronouns"][f"{person}f" if person == THIRD and female else str(person)]

    def gender(self, phrase: Phrase) -> str:
        """m, f or n; p for the plural of any gender."""
        if phrase.plural:
            return "p"
        return self.nouns[phrase.noun.id].gender if phrase.noun is not None else "m"

    def phrase(self, phrase: Phrase, relation: str, case: int, preposition: str = "", negative: bool = False) -> Node:
        """A noun phrase in *case*, with its preposition; *negative* turns *ein* into *kein*."""
        key = phrase.key
        if phrase.noun is None:
            forms = self.pronoun(phrase)
            node = Node(forms[case], "PRON", relation, (key,), forms[0], f"Case={_CASES[case]}")
        else:
            noun = self.nouns[phrase.noun.id]
            form = (noun.plural if phrase.plural else noun.singular)[case]
            feats = f"Case={_CASES[case]}|Number={'Plur' if phrase.plural else 'Sing'}"
            name = "name" in phrase.noun.kinds
            node = Node(form, "PROPN" if name else "NOUN", relation, (key,), noun.singular[0], feats)
            if not name:
                self._specify(node, phrase, case, negative)
        if preposition:
            self._govern(node, preposition, key)
        if phrase.place is not None:
            node.after.append(self.place(phrase.place, "nmod"))
        if phrase.relative is not None:
            node.after.append(self._relative(phrase))
        if phrase.coordinated is not None:
            other = self.phrase(phrase.coordinated, "conj", case)
            other.before.insert(0, Node("und", "CCONJ", "cc", (phrase.coordinated.key + MARK,)))
            node.after.append(other)
        return node

    def _govern(self, node: Node, preposition: str, key: int) -> None:
        """Put a preposition before the phrase, contracted with its article where German does so."""
        if node.before and node.before[0].tag == "article":
            article = node.before[0]
            contracted = self.words["contractions"].get(f"{preposition} {article.form}")
            if contracted is not None:
                node.before[0] = Node(contracted, "ADP", "case", (key + CASE, *article.keys), preposition)
                return
        node.before.insert(0, Node(preposition, "ADP", "case", (key + CASE,)))

    def _specify(self, node: Node, phrase: Phrase, case: int, negative: bool) -> None:
        key, gender = phrase.key, self.gender(phrase)
        endings = "strong_adjective"
        article: Node | None = None
        match phrase.determiner:
            case "definite":
                article = Node(self.words["definite"][gender][case], "DET", "det", (key + DET,), "der")
                article.tag, endings = "article", "weak_adjective"
            case "indefinite":
                stem = "kein" if negative else "ein"
                article = Node(stem + self.words["ein"][gender][case], "DET", "det", (key + DET,), stem)
                endings = "mixed_adjective"
            case "this" | "that":
                stem = "dies" if phrase.determiner == "this" else "jen"
                article = Node(stem + self.words["strong"][gender][case], "DET", "det", (key + DET,), stem + "er")
                endings = "weak_adjective"
            case "count":
                article = self.numeral(phrase)
            case "many":
                article = Node(
                    "viel" + self.words["strong"][gender][case], "ADJ", "amod", (key + DET,), "viel", "Degree=Pos"
                )
            case "own":
                assert phrase.possessor is not None
                article, endings = self._owner(node, phrase.possessor, gender, case, key)
        if article is not None:
            node.before.append(article)
        if phrase.adjective is not None:
            predicative, stem, _ = self.adjectives[phrase.adjective.id]
            form = stem.removesuffix("e") + self.words[endings][gender][case]
            node.before.append(Node(form, "ADJ", "amod", (key + ADJECTIVE,), predicative, "Degree=Pos"))

    def _owner(self, node: Node, owner: Phrase, gender: str, case: int, key: int) -> tuple[Node, str]:
        if owner.noun is None:
            stem = self.pronoun(owner)[3]
            ending = self.words["ein"][gender][case]
            form = stem + ending
            return Node(form, "DET", "det:poss", (owner.key,), stem, "Poss=Yes"), "mixed_adjective"
        if "name" in owner.noun.kinds:
            name = self.nouns[owner.noun.id].singular[0]
            return Node(name + "s", "PROPN", "nmod:poss", (owner.key, owner.key + CASE), name), "strong_adjective"
        node.after.append(self.phrase(owner, "nmod", GENITIVE))
        article = Node(self.words["definite"][gender][case], "DET", "det", (key + DET,), "der")
        article.tag = "article"
        return article, "weak_adjective"

    def place(self, place: Place, relation: str) -> Node:
        """A prepositional phrase of place, in the dative."""
        ground = place.ground
        assert ground.noun is not None
        if place.relation == "at":
            preposition = self.nouns[ground.noun.id].location
        else:
            preposition = self.words["relations"][place.relation]
        return self.phrase(ground, relation, DATIVE, preposition)

    def toward(self, goal: Phrase) -> Node:
        """A prepositional phrase of direction."""
        assert goal.noun is not None
        preposition = self.nouns[goal.noun.id].goal
        return self.phrase(goal, "obl", DATIVE if preposition == "zu" else ACCUSATIVE, preposition)

    def adjective(self, adjective: Lexeme) -> str:
        """The predicative form."""
        return self.adjectives[adjective.id][0]

    def _relative(self, phrase: Phrase) -> Node:
        clause = phrase.relative
        assert clause is not None
        case = ACCUSATIVE if phrase.relative_object else NOMINATIVE
        form = self.words["definite"][self.gender(phrase)][case]
        relation = "obj" if phrase.relative_object else "nsubj"
        pronoun = Node(form, "PRON", relation, (clause.key + MARK,), "der", "PronType=Rel")
        node = self.verb_final(clause, pronoun, phrase.agreement)
        node.deprel = "acl:relcl"
        return self.with_commas(node, before=True, after=True)

    @abstractmethod
    def verb_final(self, clause: Clause, opening: Node, agreement: int = THIRD) -> Node:
        """A subordinate clause that *opening* (a conjunction, a relative pronoun) begins."""
