"""Chinese: measure words, 的, modifiers before the verb, 了 and 没有, 被, questions with 吗."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from nbkit.sandbox.grammars import Grammar, Noun, features, without_article
from nbkit.sandbox.meaning import (
    AUX,
    CASE,
    CLASSIFIER,
    COUNT,
    DEGREE,
    DET,
    MARK,
    MODAL,
    PART,
    Adverbial,
    Clause,
    Lexeme,
    Node,
    Phrase,
    Place,
    Subordinate,
)


@dataclass(frozen=True, slots=True)
class Verb:
    """A verb, what marks its recipient, and whether 了 stands before an infinitive."""

    word: str
    recipient: str
    is_completed: bool


class Chinese(Grammar):
    lang = "zh"
    spaced = False
    stop, question_mark, command_mark, comma_mark = "。", "？", "！", "，"
    phrase_features: ClassVar[dict[str, str]] = {}
    noun_features: ClassVar[tuple[str, ...]] = ()

    def decline(self, cell: str) -> Noun:
        """Word, measure word and the localizer of place of a noun."""
        forms, options = features(cell)
        word, _, measure = forms[0].partition("/")
        return Noun((word,), (word,), location=options.get("loc", "里"), counter=measure)

    def conjugate(self, cell: str, options: dict[str, str], flags: list[str]) -> Verb:
        return Verb(cell, options.get("iobj", ""), "le" in flags)

    # --- phrases

    def attach(self, node: Node, phrase: Phrase) -> None:
        """All that is said of a thing stands before it; see `specify`."""

    def specify(self, node: Node, phrase: Phrase, noun: Noun, case: int) -> None:
        key, before, owner = phrase.key, node.before, phrase.possessor
        if phrase.relative is not None:
            relative = self.clause(replace(phrase.relative, time_first=False), is_relative=True)
            relative.deprel = "acl:relcl"
            relative.after.append(Node("的", "PART", "mark:rel", (phrase.relative.key + MARK,)))
            before.append(relative)
        if phrase.place is not None:
            place = self._located(phrase.place, "nmod", "")
            place.after.append(Node("的", "PART", "case"))
            before.append(place)
        match phrase.determiner:
            case "indefinite":
                before.append(self._measured("一", "NUM", "nummod", phrase, noun))
            case "this" | "that":
                word = "这" if phrase.determiner == "this" else "那"
                if phrase.plural:
                    before.append(self.determiner(word + "些", phrase))
                else:
                    before.append(self._measured(word, "DET", "det", phrase, noun))
            case "definite" if phrase.plural:
                before.append(self.determiner("那些", phrase))
            case "count":
                number = self.numeral(phrase)
                if not phrase.is_measure:
                    number.after.append(Node(noun.counter, "NOUN", "clf", (key + COUNT, key + CLASSIFIER)))
                before.append(number)
            case "many":
                before.append(Node("很多", "NUM", "nummod", (key + DET,)))
            case "own" if owner is not None:
                whose = Node("自己", "PRON", "nmod", (owner.key,)) if phrase.reflexive else self.phrase(owner, "nmod")
                whose.after.append(Node("的", "PART", "case", (owner.key + CASE,)))
                before.append(whose)
        if phrase.adjective is not None:
            word, particle = _adjective(phrase.adjective)
            adjective = self.described(word, phrase)
            if particle:
                adjective.after.append(Node(particle, "PART", "mark:rel"))
            before.append(adjective)

    def _measured(self, word: str, upos: str, relation: str, phrase: Phrase, noun: Noun) -> Node:
        keys = (phrase.key + DET, phrase.key + CLASSIFIER)
        node = Node(word, upos, relation, keys[:1])
        node.after.append(Node(noun.counter, "NOUN", "clf", keys))
        return node

    def place(self, place: Place, relation: str) -> Node:
        """在 … 里: a phrase of place."""
        return self._located(place, relation, "在")

    def _located(self, place: Place, relation: str, preposition: str) -> Node:
        ground = place.ground
        node = self.phrase(ground, relation, preposition)
        at = place.relation == "at"
        localizer = self.noun_of(ground).location if at else self.words["relations"][place.relation]
        if localizer:
            node.after.append(Node(localizer, "ADP", "case", (ground.key + CASE,)))
        return node

    # --- clauses

    def main(self, clause: Clause) -> Node:
        node = super().main(clause)
        if clause.force == "polar":
            node.after.append(Node("吗", "PART", "discourse:sp", (clause.key + PART,)))
        return node

    def conjunction(self, clause: Clause) -> str:
        return "并" if clause.shared_subject else "但是" if clause.conjunction == "but" else "而"

    def parts_conjuncts(self, clause: Clause) -> bool:
        return True

    def clause(self, clause: Clause, absent: Phrase | None = None, is_relative: bool = False) -> Node:
        """A clause; a relative one has no 了."""
        clause = self.prepared(clause)
        if clause.existing is not None:
            return self._existential(clause, clause.existing)
        if clause.verb is None:
            return self._copular(clause)
        head = Node(self.verb_of(clause).word, "VERB", "root", (clause.key,))
        head.before = self.fill(clause, "before_verb")
        if not is_relative and self._says_completed(clause):
            head.after.append(Node("了", "AUX", "aux", (clause.key + AUX,)))
        head.after += self.fill(clause, "after_verb")
        return head

    def _says_completed(self, clause: Clause) -> bool:
        if clause.infinitive is not None:
            return _is_completed(clause) and self.verb_of(clause).is_completed
        return _is_completed(clause) and clause.content is None and clause.purpose is None

    def say_please(self, clause: Clause, please: bool) -> list[Node]:
        return [Node("请", "VERB", "discourse", (clause.key + PART,))]

    def say_subordinate_first(self, clause: Clause, subordinate: Subordinate) -> list[Node]:
        return [self.subordinate(subordinate)] if _leads(subordinate) else []

    def say_subordinate_late(self, clause: Clause, subordinate: Subordinate) -> list[Node]:
        return [] if _leads(subordinate) else [self.subordinate(subordinate)]

    def say_subordinate_then(self, clause: Clause, subordinate: Subordinate) -> list[Node]:
        """就 after a condition."""
        then = Node("就", "ADV", "advmod", (subordinate.key + MARK,))
        return [then] if subordinate.conjunction == "if" else []

    def say_negation(self, clause: Clause, negative: bool) -> list[Node]:
        plain = bool(clause.modal) or clause.tense in ("future", "present")
        return [self.negation(clause, "" if plain else "没有")]

    def say_tense(self, clause: Clause, tense: str) -> list[Node]:
        """Modals, the future and what is going on."""
        key = clause.key + AUX
        if clause.modal:
            word = self.words["modals"][clause.modal]
            return [Node(word, "AUX", "aux", (clause.modal_key or clause.key + MODAL,))]
        if tense == "future":
            return [Node("会", "AUX", "aux", (key,))]
        if tense == "progressive" and (clause.place is None or not clause.negative):
            word = "在" if clause.negative else "正在" if clause.place is None else "正"
            return [Node(word, "ADV", "advmod", (key,))]
        return []

    def say_companion(self, clause: Clause, companion: Phrase) -> list[Node]:
        return [*super().say_companion(clause, companion), Node("一起", "ADV", "advmod", (companion.key + CASE,))]

    def say_manner(self, clause: Clause, manner: Adverbial) -> list[Node]:
        node = self.adverbial(manner)
        node.after.append(Node("地", "PART", "mark:adv", (manner.key,)))
        return [node]

    def say_recipient_marked(self, clause: Clause, recipient: Phrase) -> list[Node]:
        marker = self._recipient_marker(clause)
        return [self.phrase(recipient, "obl", marker)] if marker else []

    def say_recipient_bare(self, clause: Clause, recipient: Phrase) -> list[Node]:
        return [] if self._recipient_marker(clause) else [self.phrase(recipient, "iobj")]

    def _recipient_marker(self, clause: Clause) -> str:
        return self.verb_of(clause).recipient

    def say_object(self, clause: Clause, thing: Phrase) -> list[Node]:
        if clause.passive:
            return []
        if clause.negative:
            thing = without_article(thing)  # 没有买苹果: no measure word for what is not there
        if clause.recipient is not None and not self._recipient_marker(clause):
            thing = _pointed_at(thing)
        return [self.phrase(thing, "obl" if thing.is_duration else "obj")]

    def say_infinitive(self, clause: Clause, infinitive: Clause) -> list[Node]:
        return [self._plain(infinitive, "xcomp")]

    def say_purpose(self, clause: Clause, purpose: Clause) -> list[Node]:
        return [self._plain(replace(purpose, tense="past" if _is_completed(clause) else "present"), "advcl")]

    def say_content(self, clause: Clause, content: Clause) -> list[Node]:
        return [self._plain(replace(content, time_first=False), "ccomp")]

    def _plain(self, clause: Clause, relation: str) -> Node:
        node = self.clause(clause)
        node.deprel = relation
        return node

    def subordinate(self, subordinate: Subordinate) -> Node:
        node = super().subordinate(subordinate)
        if subordinate.conjunction == "when":
            node.after.append(Node("时", "PART", "mark", (subordinate.key + MARK,)))
        return node

    def _copular(self, clause: Clause) -> Node:
        key, before = clause.key, self.fill(clause, "subject")
        copula = Node("是", "AUX", "cop", (key + AUX,))
        if clause.class_ is not None:
            head = self.phrase(clause.class_, "root")
            head.before[:0] = [*before, copula]
            return head
        assert clause.quality is not None
        if clause.tense == "past":
            before.append(Node("当时", "NOUN", "obl", (key + AUX,)))
        word, particle = _adjective(clause.quality)
        head = Node(word, "ADJ", "root", (key,), feats="Degree=Pos")
        if clause.than is not None:
            than = self.participant("than", clause.than)
            than.before[0].keys += (key + DEGREE,)
            before.append(than)
        if clause.negative:
            before.append(self.negation(clause))
        if "color" in clause.quality.kinds:
            before.append(copula)
            head.after.append(Node(particle, "PART", "mark:rel"))
        elif not clause.negative and clause.very:
            before.append(Node("非常", "ADV", "advmod", (key + DEGREE,)))
        elif not clause.negative and clause.than is None and clause.force != "polar":
            before.append(Node("很", "ADV", "advmod", (key + AUX,)))
        head.before = before
        return head

    def _existential(self, clause: Clause, thing: Phrase) -> Node:
        assert clause.place is not None
        head = Node("有", "VERB", "root", (clause.key,))
        head.before, head.after = [self._located(clause.place, "obl", "")], [self.phrase(thing, "obj")]
        return head


def _adjective(adjective: Lexeme) -> tuple[str, str]:
    """The word, and 的 where it takes it before a noun."""
    word, _, particle = adjective.cells["zh"].partition("+")
    return word, particle


def _is_completed(clause: Clause) -> bool:
    return clause.tense == "past" and not (clause.negative or clause.modal)


def _leads(subordinate: Subordinate) -> bool:
    """Whether an adverbial clause comes first; 当 … 时 always does."""
    return subordinate.first or subordinate.conjunction == "when"


def _pointed_at(phrase: Phrase) -> Phrase:
    """*phrase*, which is known, with a demonstrative: it stands right after the recipient."""
    if phrase.determiner == "definite" and phrase.place is None and phrase.relative is None:
        phrase = replace(phrase, determiner="that")
    if phrase.coordinated is not None:
        phrase = replace(phrase, coordinated=_pointed_at(phrase.coordinated))
    return phrase
