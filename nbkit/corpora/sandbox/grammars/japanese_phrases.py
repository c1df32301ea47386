"""Japanese noun phrases: particles, counters, modifiers before the noun."""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property
from typing import ClassVar

from nbkit.corpora.sandbox.grammars.base import Grammar
from nbkit.corpora.sandbox.grammars.japanese_verbs import Chain
from nbkit.corpora.sandbox.lexicon import nominals
from nbkit.corpora.sandbox.meaning import THIRD, Clause, Phrase, Place
from nbkit.corpora.sandbox.tree import (
    ADJECTIVE,
    CASE,
    COUNT,
    DET,
    MARK,
    Node,
)


class JapanesePhrases(Grammar):
    lang = "ja"
    spaced = False
    stop, question_mark, command_mark = "。", "？", "。"
    phrase_features: ClassVar[dict[str, str]] = {}

    @cached_property
    def nouns(self) -> dict[str, tuple[str, str]]:
        """Word and counter of each noun and name."""
        entries = {}
        for lexeme in nominals():
            word, _, counter = lexeme.cells["ja"].partition("/")
            entries[lexeme.id] = (word, counter)
        return entries

    # --- phrases

    def phrase(self, phrase: Phrase, relation: str, particle: str = "") -> Node:
        """A noun phrase with its particle."""
        key = phrase.key
        if phrase.noun is None:
            node = Node(self.pronoun(phrase), "PRON", relation, (key,))
        else:
            name = "name" in phrase.noun.kinds
            node = Node(self.nouns[phrase.noun.id][0], "PROPN" if name else "NOUN", relation, (key,))
            if not name:
                self._specify(node, phrase)
        if phrase.coordinated is not None:
            first = node
            node = self.phrase(phrase.coordinated, relation)
            first.deprel = "nmod"
            first.after.append(Node("と", "ADP", "case", (phrase.coordinated.key + MARK,)))
            node.before.insert(0, first)
        if particle:
            node.after.append(Node(particle, "ADP", "case", (key + CASE,)))
        return node

    def pronoun(self, phrase: Phrase) -> str:
        person = phrase.agreement
        return self.words["pronouns"][f"{person}f" if person == THIRD and phrase.female else str(person)]

    def _specify(self, node: Node, phrase: Phrase) -> None:
        assert phrase.noun is not None
        key, before = phrase.key, node.before
        if phrase.relative is not None:
            relative = self.clause(phrase.relative, is_polite=False, subject_particle="が")
            relative.deprel = "acl:relcl"
            before.append(relative)
        if phrase.place is not None:
            before.append(self.place(phrase.place, "nmod", "の"))
        match phrase.determiner:
            case "this" | "that":
                demonstrative = "この" if phrase.determiner == "this" else "あの"
                before.append(Node(demonstrative, "DET", "det", (key + DET,)))
            case "count":
                number = self.numeral(phrase)
                if not phrase.is_measure:
                    counter = self.nouns[phrase.noun.id][1]
                    if phrase.amount is not None:
                        counter = self.words["general_counters"].get(counter, counter)
                    number.after.append(Node(counter, "NOUN", "clf", (key + COUNT,)))
                    number.after.append(Node("の", "ADP", "case"))
                before.append(number)
            case "many":
                many = Node("たくさん", "NOUN", "nmod", (key + DET,))
                many.after.append(Node("の", "ADP", "case"))
                before.append(many)
            case "own":
                owner = phrase.possessor
                assert owner is not None
                if phrase.reflexive:
                    before.append(Node("自分", "PRON", "nmod", (owner.key,)))
                    before[-1].after.append(Node("の", "ADP", "case", (owner.key + CASE,)))
                else:
                    before.append(self.phrase(owner, "nmod", "の"))
        if phrase.adjective is not None:
            word, _, suffix = phrase.adjective.cells["ja"].partition("+")
            adjective = Node(word, "ADJ", "amod", (key + ADJECTIVE,), feats="Degree=Pos")
            if suffix == "な":
                adjective.after.append(Node("な", "AUX", "cop", (), "だ"))
            elif suffix:
                adjective.after.append(Node(suffix, "ADP", "case"))
            before.append(adjective)

    def place(self, place: Place, relation: str, particle: str) -> Node:
        """公園 で; テーブル の 上 に."""
        ground = place.ground
        if place.relation == "at":
            return self.phrase(ground, relation, particle)
        side = Node(self.words["relations"][place.relation], "NOUN", relation, (ground.key + CASE,))
        side.before.append(self.phrase(ground, "nmod", "の"))
        side.after.append(Node(particle, "ADP", "case"))
        return side

    @abstractmethod
    def clause(self, clause: Clause, is_polite: bool, subject_particle: str, chain: Chain | None = None) -> Node:
        """A clause; its verb is in *chain*'s form where that is given."""
