"""Chinese: measure words, 的, modifiers before the verb, 了 and 没有, 被, questions with 吗."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import ClassVar

from nbkit.sandbox.grammars.base import Grammar, features, governed, modal_of
from nbkit.sandbox.meaning import (
    ADJECTIVE,
    AUX,
    CASE,
    CLASSIFIER,
    COUNT,
    DEGREE,
    DET,
    MARK,
    MODAL,
    NEGATION,
    PART,
    THIRD,
    Adverbial,
    Clause,
    Lexeme,
    Node,
    Phrase,
    Place,
    comma,
    nominals,
    verbals,
)


class Chinese(Grammar):
    lang = "zh"
    spaced = False
    stop, question_mark, command_mark = "。", "？", "！"
    phrase_features: ClassVar[dict[str, str]] = {}

    @cached_property
    def nouns(self) -> dict[str, tuple[str, str, str]]:
        """Word, measure word and the localizer of place of each noun and name."""
        entries = {}
        for lexeme in nominals():
            forms, options = features(lexeme.cells["zh"])
            word, _, measure = forms[0].partition("/")
            entries[lexeme.id] = (word, measure, options.get("loc", "里"))
        return entries

    @cached_property
    def verbs(self) -> dict[str, tuple[str, str, bool]]:
        """Word, what marks the recipient, and whether 了 stands before an infinitive."""
        entries = {}
        for lexeme in verbals():
            form, options, flags = governed(lexeme, "zh")
            entries[lexeme.id] = (form, options.get("iobj", ""), "le" in flags)
        return entries

    # --- phrases

    def phrase(self, phrase: Phrase, relation: str, preposition: str = "", definite: bool = False) -> Node:
        """A noun phrase; *definite* gives a definite one its demonstrative."""
        key = phrase.key
        if phrase.noun is None:
            node = Node(self.pronoun(phrase), "PRON", relation, (key,))
        else:
            name = "name" in phrase.noun.kinds
            node = Node(self.nouns[phrase.noun.id][0], "PROPN" if name else "NOUN", relation, (key,))
            if not name:
                self._specify(node, phrase, definite)
        if phrase.coordinated is not None:
            other = self.phrase(phrase.coordinated, "conj", definite=definite)
            other.before.insert(0, Node("和", "CCONJ", "cc", (phrase.coordinated.key + MARK,)))
            node.after.append(other)
        if preposition:
            node.before.insert(0, Node(preposition, "ADP", "case", (key + CASE,)))
        return node

    def pronoun(self, phrase: Phrase) -> str:
        person = phrase.agreement
        return self.words["pronouns"][f"{person}f" if person == THIRD and phrase.female else str(person)]

    def _measured(self, word: str, upos: str, relation: str, key: int, role: int, measure: str) -> Node:
        node = Node(word, upos, relation, (key + role,))
        node.after.append(Node(measure, "NOUN", "clf", (key + role, key + CLASSIFIER)))
        return node

    def _specify(self, node: Node, phrase: Phrase, definite: bool) -> None:
        assert phrase.noun is not None
        key, measure, before = phrase.key, self.nouns[phrase.noun.id][1], node.before
        if phrase.relative is not None:
            relative = self.clause(replace(phrase.relative, time_first=False), relative=True)
            relative.deprel = "acl:relcl"
            relative.after.append(Node("的", "PART", "mark:rel", (phrase.relative.key + MARK,)))
            before.append(relative)
        if phrase.place is not None:
            place = self.place(phrase.place, "nmod", with_preposition=False)
            place.after.append(Node("的", "PART", "case"))
            before.append(place)
        match phrase.determiner:
            case "indefinite":
                before.append(self._measured("一", "NUM", "nummod", key, DET, measure))
            case "this" | "that":
                word = "这" if phrase.determiner == "this" else "那"
                if phrase.plural:
                    before.append(Node(word + "些", "DET", "det", (key + DET,)))
                else:
                    before.append(self._measured(word, "DET", "det", key, DET, measure))
            case "definite" if phrase.plural:
                before.append(Node("那些", "DET", "det", (key + DET,)))
            case "definite" if definite and phrase.place is None and phrase.relative is None:
                before.append(self._measured("那", "DET", "det", key, DET, measure))
            case "count":
                number = self.numeral(phrase)
                if not phrase.is_measure:
                    number.after.append(Node(measure, "NOUN", "clf", (key + COUNT, key + CLASSIFIER)))
                before.append(number)
            case "many":
                before.append(Node("很多", "NUM", "nummod", (key + DET,)))
            case "own":
                assert phrase.possessor is not None
                before.append(self._owner(phrase))
        if phrase.adjective is not None:
            word, particle = self.adjective(phrase.adjective)
            adjective = Node(word, "ADJ", "amod", (key + ADJECTIVE,), feats="Degree=Pos")
            if particle:
                adjective.after.append(Node(particle, "PART", "mark:rel"))
            before.append(adjective)

    def _owner(self, phrase: Phrase) -> Node:
        owner = phrase.possessor
        assert owner is not None
        node = Node("自己", "PRON", "nmod", (owner.key,)) if phrase.reflexive else self.phrase(owner, "nmod")
        node.after.append(Node("的", "PART", "case", (owner.key + CASE,)))
        return node

    def adjective(self, adjective: Lexeme) -> tuple[str, str]:
        """The word, and 的 where it takes it before a noun."""
        word, _, particle = adjective.cells["zh"].partition("+")
        return word, particle

    def place(self, place: Place, relation: str, with_preposition: bool = True) -> Node:
        """在 … 里: a phrase of place."""
        ground = place.ground
        assert ground.noun is not None
        node = self.phrase(ground, relation, "在" if with_preposition else "")
        at = place.relation == "at"
        localizer = self.nouns[ground.noun.id][2] if at else self.words["relations"][place.relation]
        if localizer:
            node.after.append(Node(localizer, "ADP", "case", (ground.key + CASE,)))
        return node

    # --- clauses

    def main(self, clause: Clause) -> Node:
        node = self.clause(clause)
        if clause.conjunct is not None:
            conjunct = clause.conjunct
            if clause.shared_subject:
                conjunct = replace(conjunct, subject=None)
                word = "并"
            else:
                word = "但是" if clause.conjunction == "but" else "而"
            other = self.clause(conjunct)
            other.before[:0] = [comma("，"), Node(word, "CCONJ", "cc", (conjunct.key + MARK,))]
            other.deprel = "conj"
            node.after.append(other)
        if clause.force == "polar":
            node.after.append(Node("吗", "PART", "discourse:sp", (clause.key + PART,)))
        return node

    def clause(self, clause: Clause, relative: bool = False) -> Node:
        """A clause; a relative one has no 了."""
        clause = modal_of(clause)
        if clause.existing is not None:
            return self._existential(clause)
        if clause.verb is None:
            return self._copular(clause)
        word, recipient, _ = self.verbs[clause.verb.id]
        head = Node(word, "VERB", "root", (clause.key,))
        head.before = [*self._opening(clause), *self._subject(clause), *self._adverbs(clause)]
        head.before.extend(self._modifiers(clause, recipient))
        self._complements(clause, head, recipient, relative)
        if clause.subordinate is not None and not self._leads(clause):
            head.after.append(self._subordinate(clause, after_main=True))
        return head

    @staticmethod
    def _leads(clause: Clause) -> bool:
        """Whether the adverbial clause comes first; 当 … 时 always does."""
        subordinate = clause.subordinate
        return subordinate is not None and (subordinate.first or subordinate.conjunction == "when")

    def _opening(self, clause: Clause) -> list[Node]:
        nodes = []
        if clause.please:
            nodes.append(Node("请", "VERB", "discourse", (clause.key + PART,)))
        if clause.subordinate is not None and self._leads(clause):
            nodes.append(self._subordinate(clause, after_main=False))
        if clause.time is not None and clause.time_first:
            nodes.append(self.adverbial(clause.time))
        return nodes

    def _subject(self, clause: Clause) -> list[Node]:
        if clause.force == "subject":
            return [Node("谁", "PRON", "nsubj", (clause.question_key,), feats="PronType=Int")]
        if clause.subject is None or clause.force == "command":
            return []
        return [self.phrase(clause.subject, "nsubj:pass" if clause.passive else "nsubj")]

    def _adverbs(self, clause: Clause) -> list[Node]:
        """Time, frequency, questions of time and reason; 就 after a condition; negation and modals."""
        nodes = []
        if clause.time is not None and not clause.time_first:
            nodes.append(self.adverbial(clause.time))
        if clause.frequency is not None:
            nodes.append(self.adverbial(clause.frequency))
        if clause.force in ("time", "reason"):
            word = self.words["question"][clause.force]
            nodes.append(Node(word, "ADV", "advmod", (clause.question_key,), feats="PronType=Int"))
        if clause.subordinate is not None and clause.subordinate.conjunction == "if":
            nodes.append(Node("就", "ADV", "advmod", (clause.subordinate.key + MARK,)))
        key = clause.key
        if clause.negative:
            plain = bool(clause.modal) or clause.tense in ("future", "present")
            nodes.append(Node("不" if plain else "没有", "ADV", "advmod", (key + NEGATION,), feats="Polarity=Neg"))
        if clause.modal:
            word = self.words["modals"][clause.modal]
            nodes.append(Node(word, "AUX", "aux", (clause.modal_key or key + MODAL,)))
        elif clause.tense == "future":
            nodes.append(Node("会", "AUX", "aux", (key + AUX,)))
        elif clause.tense == "progressive" and (clause.place is None or not clause.negative):
            word = "在" if clause.negative else "正在" if clause.place is None else "正"
            nodes.append(Node(word, "ADV", "advmod", (key + AUX,)))
        return nodes

    def _modifiers(self, clause: Clause, recipient: str) -> list[Node]:
        """Place, company, instrument, manner, agent and marked recipient: all before the verb."""
        nodes = []
        if clause.force == "place":
            where = Node("哪里", "PRON", "obl", (clause.question_key,), feats="PronType=Int")
            where.before.append(Node("在", "ADP", "case"))
            nodes.append(where)
        if clause.place is not None:
            nodes.append(self.place(clause.place, "obl"))
        if clause.companion is not None:
            nodes.append(self.phrase(clause.companion, "obl", "和"))
            nodes.append(Node("一起", "ADV", "advmod", (clause.companion.key + CASE,)))
        if clause.instrument is not None:
            nodes.append(self.phrase(clause.instrument, "obl", "用"))
        if clause.manner is not None:
            nodes.append(self._manner(clause.manner))
        if clause.passive and clause.object is not None:
            nodes.append(self.phrase(clause.object, "obl:agent", "被"))
        if clause.recipient is not None and recipient:
            nodes.append(self.phrase(clause.recipient, "obl", recipient))
        return nodes

    def _manner(self, adverbial: Adverbial) -> Node:
        node = self.adverbial(adverbial)
        node.after.append(Node("地", "PART", "mark:adv", (adverbial.key,)))
        return node

    def _complements(self, clause: Clause, head: Node, recipient: str, relative: bool) -> None:
        assert clause.verb is not None
        after = head.after
        done = clause.tense == "past" and not (clause.negative or relative or clause.modal)
        bare = clause.content is not None or clause.purpose is not None
        if clause.infinitive is not None:
            bare = not self.verbs[clause.verb.id][2]
        if done and not bare:
            after.append(Node("了", "AUX", "aux", (clause.key + AUX,)))
        if clause.recipient is not None and not recipient:
            after.append(self.phrase(clause.recipient, "iobj"))
        if clause.force == "object":
            after.append(Node("什么", "PRON", "obj", (clause.question_key,), feats="PronType=Int"))
        if clause.object is not None and not clause.passive:
            direct = clause.recipient is not None and not recipient
            thing = clause.object
            if clause.negative and thing.determiner == "indefinite":
                thing = replace(thing, determiner="none")  # 没有买苹果: no measure word for what is not there
            after.append(self.phrase(thing, "obl" if thing.is_duration else "obj", definite=direct))
        if clause.goal is not None:
            after.append(self.phrase(clause.goal, "obj"))
        if clause.infinitive is not None:
            after.append(self._plain(clause.infinitive, "xcomp"))
        if clause.purpose is not None:
            purpose = replace(clause.purpose, tense="past" if done else "present")
            after.append(self._plain(purpose, "advcl"))
        if clause.content is not None:
            content = self.clause(replace(clause.content, time_first=False))
            content.deprel = "ccomp"
            after.append(content)

    def _plain(self, clause: Clause, relation: str) -> Node:
        node = self.clause(clause)
        node.deprel = relation
        return node

    def _subordinate(self, clause: Clause, after_main: bool) -> Node:
        subordinate = clause.subordinate
        assert subordinate is not None
        node = self.clause(subordinate.clause)
        node.deprel = "advcl"
        key = (subordinate.key + MARK,)
        word = {"because": "因为", "when": "当", "if": "如果"}[subordinate.conjunction]
        node.before.insert(0, Node(word, "SCONJ", "mark", key))
        if subordinate.conjunction == "when":
            node.after.append(Node("时", "PART", "mark", key))
        if after_main:
            node.before.insert(0, comma("，"))
        else:
            node.after.append(comma("，"))
        return node

    def _copular(self, clause: Clause) -> Node:
        key, before = clause.key, self._subject(clause)
        negative = Node("不", "ADV", "advmod", (key + NEGATION,), feats="Polarity=Neg")
        if clause.class_ is not None:
            head = self.phrase(clause.class_, "root")
            head.before = [*before, Node("是", "AUX", "cop", (key + AUX,)), *head.before]
            return head
        assert clause.quality is not None
        if clause.tense == "past":
            before.append(Node("当时", "NOUN", "obl", (key + AUX,)))
        word, particle = self.adjective(clause.quality)
        head = Node(word, "ADJ", "root", (key,), feats="Degree=Pos")
        if clause.than is not None:
            than = self.phrase(clause.than, "obl", "比")
            than.before[0].keys += (key + DEGREE,)
            before.append(than)
        if "color" in clause.quality.kinds:
            if clause.negative:
                before.append(negative)
            before.append(Node("是", "AUX", "cop", (key + AUX,)))
            head.after.append(Node(particle, "PART", "mark:rel"))
        elif clause.negative:
            before.append(negative)
        elif clause.very:
            before.append(Node("非常", "ADV", "advmod", (key + DEGREE,)))
        elif clause.than is None and clause.force != "polar":
            before.append(Node("很", "ADV", "advmod", (key + AUX,)))
        head.before = before
        return head

    def _existential(self, clause: Clause) -> Node:
        assert clause.existing is not None and clause.place is not None
        head = Node("有", "VERB", "root", (clause.key,))
        head.before = [self.place(clause.place, "obl", with_preposition=False)]
        head.after = [self.phrase(clause.existing, "obj")]
        return head
