"""English noun phrases: articles, possessives with 's, prepositional phrases, relative clauses."""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property

from nbkit.corpora.sandbox.grammars.base import Grammar, features, fixed
from nbkit.corpora.sandbox.lexicon import Lexeme, nominals
from nbkit.corpora.sandbox.meaning import THIRD, Clause, Phrase, Place
from nbkit.corpora.sandbox.tree import (
    ADJECTIVE,
    CASE,
    DET,
    MARK,
    Node,
)

_VOWELS = "aeiou"


def regular_plural(noun: str) -> str:
    """*noun* + s.

    >>> regular_plural("dog")
    'dogs'
    """
    return noun + "s"


class EnglishPhrases(Grammar):
    lang = "en"
    percent_clings = True

    @cached_property
    def nouns(self) -> dict[str, tuple[str, str, str]]:
        """Singular, plural and the preposition of place of each noun and name."""
        entries = {}
        for lexeme in nominals():
            forms, options = features(lexeme.cells["en"])
            plural = forms[1] if len(forms) > 1 else regular_plural(forms[0])
            entries[lexeme.id] = (forms[0], plural, options.get("loc", "in"))
        return entries

    # --- phrases

    def phrase(self, phrase: Phrase, relation: str, preposition: str = "", case: int = 1) -> Node:
        """A noun phrase with its preposition; *case* is the pronoun's (0 nominative, 1 accusative)."""
        key = phrase.key
        if phrase.noun is None:
            node = Node(self.pronoun(phrase)[case], "PRON", relation, (key,), self.pronoun(phrase)[0])
        elif "name" in phrase.noun.kinds:
            node = Node(self.nouns[phrase.noun.id][0], "PROPN", relation, (key,), feats="Number=Sing")
        else:
            singular, plural, _ = self.nouns[phrase.noun.id]
            form, feats = (plural, "Number=Plur") if phrase.plural else (singular, "Number=Sing")
            node = Node(form, "NOUN", relation, (key,), singular, feats)
            self._specify(node, phrase)
        if preposition:
            node.before.insert(0, Node(preposition, "ADP", "case", (key + CASE,)))
        if phrase.place is not None:
            node.after.append(self.place(phrase.place, "nmod"))
        if phrase.relative is not None:
            node.after.append(self._relative(phrase))
        if phrase.coordinated is not None:
            other = self.phrase(phrase.coordinated, "conj", case=case)
            other.before.insert(0, Node("and", "CCONJ", "cc", (phrase.coordinated.key + MARK,)))
            node.after.append(other)
        return node

    def pronoun(self, phrase: Phrase) -> list[str]:
        person = phrase.agreement
        return self.words["pronouns"][f"{person}f" if person == THIRD and phrase.female else str(person)]

    def _specify(self, node: Node, phrase: Phrase) -> None:
        key = phrase.key
        match phrase.determiner:
            case "definite":
                node.before.append(Node("the", "DET", "det", (key + DET,)))
            case "indefinite":
                node.before.append(Node("a", "DET", "det", (key + DET,)))
            case "this" | "that":
                form = {"this": "these", "that": "those"}[phrase.determiner] if phrase.plural else phrase.determiner
                node.before.append(Node(form, "DET", "det", (key + DET,), phrase.determiner))
            case "count":
                node.before.append(self.numeral(phrase))
            case "many":
                node.before.append(Node("many", "ADJ", "amod", (key + DET,), feats="Degree=Pos"))
            case "own":
                assert phrase.possessor is not None
                node.before.append(self._possessor(phrase.possessor))
        if phrase.adjective is not None:
            node.before.append(self.adjective(phrase.adjective, key + ADJECTIVE, "amod"))

    def _possessor(self, owner: Phrase) -> Node:
        if owner.noun is None:
            form = self.pronoun(owner)[2]
            return Node(form, "PRON", "nmod:poss", (owner.key,), self.pronoun(owner)[0], "Poss=Yes")
        node = self.phrase(owner, "nmod:poss")
        node.space = False
        node.after.append(Node("'s", "PART", "case", (owner.key + CASE,)))
        return node

    def adjective(self, adjective: Lexeme, key: int, relation: str) -> Node:
        form = features(adjective.cells["en"])[0][0]
        return Node(form, "ADJ", relation, (key,), feats="Degree=Pos")

    def place(self, place: Place, relation: str) -> Node:
        """A prepositional phrase of place."""
        ground = place.ground
        assert ground.noun is not None
        if place.relation == "at":
            return self.phrase(ground, relation, self.nouns[ground.noun.id][2])
        node = self.phrase(ground, relation)
        node.before.insert(0, fixed(self.words["relations"][place.relation], "case", (ground.key + CASE,)))
        return node

    def _relative(self, phrase: Phrase) -> Node:
        clause = phrase.relative
        assert clause is not None
        key = (clause.key + MARK,)
        if phrase.relative_object:
            node = self.clause(clause)
            node.before.insert(0, Node("that", "PRON", "obj", key, feats="PronType=Rel"))
        else:
            pronoun = Node("who" if phrase.is_person else "that", "PRON", "nsubj", key, feats="PronType=Rel")
            node = self.clause(clause, subject_node=pronoun, agreement=phrase.agreement)
        node.deprel = "acl:relcl"
        return node

    @abstractmethod
    def clause(self, clause: Clause, subject_node: Node | None = None, agreement: int = THIRD) -> Node:
        """A clause; the subject is *subject_node* where it is a relative or interrogative pronoun."""
