"""Japanese verb forms as chains of tokens, cut as the Universal Dependencies treebanks cut them."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

from nbkit.sandbox.grammars.base import Grammar, governed, modal_of
from nbkit.sandbox.meaning import (
    ADJECTIVE,
    AUX,
    CASE,
    COUNT,
    DEGREE,
    DET,
    FIRST,
    MARK,
    MODAL,
    NEGATION,
    PART,
    SECOND,
    THIRD,
    WE,
    Clause,
    Node,
    Phrase,
    Place,
    comma,
    nominals,
    verbals,
)

_ROWS = {
    "う": "わいえお",
    "く": "かきけこ",
    "ぐ": "がぎげご",
    "す": "さしせそ",
    "つ": "たちてと",
    "ぬ": "なにねの",
    "ぶ": "ばびべぼ",
    "む": "まみめも",
    "る": "らりれろ",
}


_TE = {"う": "っ", "つ": "っ", "る": "っ", "く": "い", "ぐ": "い", "す": "し", "ぬ": "ん", "ぶ": "ん", "む": "ん"}


@dataclass(frozen=True, slots=True)
class Verb:
    """A verb's stems. *light* is する after a noun (翻訳 する), which then carries the inflection."""

    plain: str
    masu: str
    nai: str
    te: str
    voiced: bool
    volitional: str
    passive: str
    light: str

    @property
    def lemma(self) -> str:
        return self.light + self.plain


def conjugate(cell: str) -> Verb:
    """The stems of a verb: 読む5 (five-grade), 食べる1 (one-grade), 翻訳する, 来る.

    >>> verb = conjugate("読む5")
    >>> verb.masu, verb.nai, verb.te, verb.voiced, verb.passive
    ('読み', '読ま', '読ん', True, '読まれ')
    """
    if cell.endswith("する"):
        return Verb("する", "し", "し", "し", False, "しよう", "され", cell[:-2])
    if cell == "来る":
        return Verb("来る", "来", "来", "来", False, "来よう", "来られ", "")
    word, grade = cell[:-1], cell[-1]
    stem, last = word[:-1], word[-1]
    if grade == "1":
        return Verb(word, stem, stem, stem, False, stem + "よう", stem + "られ", "")
    a, i, o = _ROWS[last][0], _ROWS[last][1], _ROWS[last][3]
    te = stem + ("っ" if word == "行く" else _TE[last])
    return Verb(word, stem + i, stem + a, te, last in "ぐぬぶむ", f"{stem}{o}う", f"{stem}{a}れ", "")


# what follows each stem, by form: (token, lemma, UPOS, relation)
_AUX = ("AUX", "aux")


_MARK = ("SCONJ", "mark")


_MASU = [("ます", "ます", *_AUX)]


_MASEN = [("ませ", "ます", *_AUX), ("ん", "ない", *_AUX)]


_MASHITA = [("まし", "ます", *_AUX), ("た", "た", *_AUX)]


_MASENDESHITA = [*_MASEN, ("でし", "です", *_AUX), ("た", "た", *_AUX)]


_DESU = [("です", "です", *_AUX)]


def polite(past: bool, negative: bool) -> list[tuple[str, str, str, str]]:
    """ます, ません, ました, ませんでした."""
    if past:
        return _MASENDESHITA if negative else _MASHITA
    return _MASEN if negative else _MASU


def plain_ending(word: str, past: bool, negative: bool) -> list[tuple[str, str, str, str]]:
    """The plain forms of いる and できる, which end in る."""
    stem = word[:-1]
    if negative:
        return [(stem, word, *_AUX), *_nai(past)]
    return [(stem, word, *_AUX), ("た", "た", *_AUX)] if past else [(word, word, *_AUX)]


def _nai(past: bool) -> list[tuple[str, str, str, str]]:
    return [("なかっ", "ない", *_AUX), ("た", "た", *_AUX)] if past else [("ない", "ない", *_AUX)]


Chain = tuple[str, list[tuple[str, str, str, str]]]


def te_form(verb: Verb) -> Chain:
    """読ん で."""
    return verb.te, [("で" if verb.voiced else "て", "て", *_MARK)]


def simple(verb: Verb, is_polite: bool, past: bool, negative: bool) -> Chain:
    """読みます, 読んだ, 読まない …"""
    if is_polite:
        return verb.masu, polite(past, negative)
    if negative:
        return verb.nai, _nai(past)
    if past:
        return verb.te, [("だ" if verb.voiced else "た", "た", *_AUX)]
    return verb.plain, []


def continuing(verb: Verb, is_polite: bool, past: bool, negative: bool) -> Chain:
    """読んでいます, 読んでいた …"""
    stem, chain = te_form(verb)
    if is_polite:
        return stem, [*chain, ("い", "いる", *_AUX), *polite(past, negative)]
    return stem, [*chain, *plain_ending("いる", past, negative)]


def able(verb: Verb, is_polite: bool, past: bool, negative: bool) -> Chain:
    """読むことができます."""
    start = [("こと", "こと", *_MARK), ("が", "が", "ADP", "case")]
    if is_polite:
        return verb.plain, [*start, ("でき", "できる", *_AUX), *polite(past, negative)]
    return verb.plain, [*start, *plain_ending("できる", past, negative)]


def obliged(verb: Verb) -> Chain:
    """読まなければなりません."""
    return verb.nai, [("なけれ", "ない", *_AUX), ("ば", "ば", *_MARK), ("なり", "なる", *_AUX), *_MASEN]


def wanting(verb: Verb, own: bool, past: bool, negative: bool) -> Chain:
    """読みたいです; of others 読みたがっています."""
    if own:
        if negative:
            middle = [("たく", "たい", *_AUX), *_nai(past)]
        else:
            middle = [("たかっ", "たい", *_AUX), ("た", "た", *_AUX)] if past else [("たい", "たい", *_AUX)]
        return verb.masu, [*middle, *_DESU]
    start = [("たがっ", "たがる", *_AUX), ("て", "て", *_MARK), ("い", "いる", *_AUX)]
    return verb.masu, [*start, *polite(past, negative)]


def conditional(verb: Verb) -> Chain:
    """読んだら."""
    return verb.te, [("だら" if verb.voiced else "たら", "た", *_AUX)]


def passive(verb: Verb) -> Chain:
    """読まれました."""
    suffix = "られ" if verb.passive.endswith("られ") and not verb.nai.endswith("ら") else "れ"
    lemma = "られる" if suffix == "られ" else "れる"
    return verb.passive.removesuffix(suffix), [(suffix, lemma, *_AUX), *_MASHITA]


def command(verb: Verb, please: bool) -> Chain:
    """読んでください, 読みなさい."""
    if please:
        stem, chain = te_form(verb)
        return stem, [*chain, ("ください", "くださる", *_AUX)]
    return verb.masu, [("なさい", "なさる", *_AUX)]


def build(verb: Verb, chain: Chain, key: int) -> tuple[Node, list[Node]]:
    """The head of the chain, and the list of the tokens after it (also its dependents)."""
    stem, links = chain
    if verb.light:
        head = Node(verb.light, "VERB", "root", (key,), verb.light)
        head.after.append(Node(stem, "AUX", "aux", (key,), "する"))
    else:
        head = Node(stem, "VERB", "root", (key,), verb.lemma)
    head.after.extend(Node(form, upos, relation, (), lemma) for form, lemma, upos, relation in links)
    return head, head.after


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


_NEGATIVE_LEMMAS = frozenset({"ない"})


class Japanese(JapanesePhrases):
    @cached_property
    def verbs(self) -> dict[str, tuple[Verb, str, str]]:
        """Verb, the particle of its object, and what links it to a complement clause."""
        entries = {}
        for lexeme in verbals():
            form, _, flags = governed(lexeme, "ja")
            particle = next((flag[1:] for flag in flags if flag.startswith("+")), "を")
            link = next((flag for flag in flags if not flag.startswith("+")), "")
            verb = conjugate(form) if form != "たい" else conjugate("する")
            entries[lexeme.id] = (verb, particle, link)
        return entries

    # --- the verb

    def chain(self, clause: Clause, verb: Verb, is_polite: bool) -> Chain:
        """The verb's form in this clause."""
        assert clause.verb is not None
        past, negative = clause.tense == "past", clause.negative
        if clause.force == "command":
            return command(verb, clause.please)
        if clause.modal == "can":
            return able(verb, is_polite, past, negative)
        if clause.modal == "must":
            return obliged(verb)
        if clause.modal == "want":
            agreement = clause.subject.agreement if clause.subject is not None else THIRD
            return wanting(verb, agreement in (FIRST, SECOND, WE), past, negative)
        if clause.passive:
            return passive(verb)
        if clause.tense == "condition":
            return conditional(verb)
        lasting = clause.tense == "progressive" or (clause.tense == "present" and clause.content is not None)
        lasting = lasting or "st" in clause.verb.kinds or "present" in clause.verb.kinds
        if lasting and not (negative and clause.verb.id == "know"):
            return continuing(verb, is_polite, past, negative)
        return simple(verb, is_polite, past, negative)

    def head_of(self, clause: Clause, chain: Chain) -> Node:
        """The verb with its endings, which say tense, negation and modality."""
        assert clause.verb is not None
        verb = self.verbs[clause.verb.id][0]
        head, endings = build(verb, chain, clause.key)
        for ending in endings:
            if clause.modal == "must":
                ending.keys = (clause.key + MODAL,)
            elif ending.lemma in _NEGATIVE_LEMMAS and clause.negative:
                ending.keys = (clause.key + NEGATION,)
            elif ending.lemma in ("できる", "たい", "たがる", "なる", "こと"):
                ending.keys = (clause.modal_key or clause.key + MODAL,)
            elif ending.lemma == "くださる":
                ending.keys = (clause.key + PART,)
            elif ending.upos == "AUX" and not ending.keys:
                ending.keys = (clause.key + AUX,)
        return head

    # --- clauses

    def main(self, clause: Clause) -> Node:
        if clause.conjunct is not None:
            return self._coordinated(clause)
        node = self.clause(clause, is_polite=True, subject_particle="は")
        if clause.force not in ("statement", "command"):
            node.after.append(Node("か", "PART", "mark", (clause.key + PART,)))
        return node

    def _coordinated(self, clause: Clause) -> Node:
        conjunct = clause.conjunct
        assert conjunct is not None and clause.verb is not None
        verb = self.verbs[clause.verb.id][0]
        mark = (conjunct.key + MARK,)
        alone = replace(clause, conjunct=None)
        if clause.shared_subject:
            first = self.clause(alone, True, "は", te_form(verb))
            conjunct = replace(conjunct, subject=None)
        elif clause.conjunction == "and":
            first = self.clause(alone, True, "は", (verb.masu, []))
        else:
            first = self.clause(alone, True, "は")
            first.after.append(Node("が", "SCONJ", "mark", mark))
        first.deprel = "advcl"
        first.after.append(comma("、"))
        node = self.clause(conjunct, True, "は")
        node.before.insert(0, first)
        return node

    def clause(self, clause: Clause, is_polite: bool, subject_particle: str, chain: Chain | None = None) -> Node:
        """A clause; its verb is in *chain*'s form where that is given."""
        clause = modal_of(clause)
        if clause.existing is not None:
            return self._existential(clause)
        if clause.verb is None:
            return self._copular(clause, is_polite, subject_particle)
        verb, particle, _ = self.verbs[clause.verb.id]
        head = self.head_of(clause, chain or self.chain(clause, verb, is_polite))
        before = self._opening(clause)
        before.extend(self._subject(clause, subject_particle))
        before.extend(self._adverbials(clause))
        before.extend(self._participants(clause, particle))
        head.before = before
        return head

    def _opening(self, clause: Clause) -> list[Node]:
        nodes = []
        if clause.subordinate is not None:
            nodes.append(self._subordinate(clause))
        if clause.time is not None and clause.time_first:
            nodes.append(self.with_comma(self.adverbial(clause.time)))
        return nodes

    @staticmethod
    def with_comma(node: Node) -> Node:
        node.after.append(comma("、"))
        return node

    def _subject(self, clause: Clause, particle: str) -> list[Node]:
        if clause.force == "subject":
            who = Node("誰", "PRON", "nsubj", (clause.question_key,), feats="PronType=Int")
            who.after.append(Node("が", "ADP", "case"))
            return [who]
        if clause.subject is None or clause.force == "command":
            return []
        if clause.subject.antecedent is not None and clause.subject.noun is None:
            return []
        return [self.phrase(clause.subject, "nsubj", particle)]

    def _adverbials(self, clause: Clause) -> list[Node]:
        nodes = []
        if clause.time is not None and not clause.time_first:
            nodes.append(self.adverbial(clause.time))
        if clause.frequency is not None:
            nodes.append(self.adverbial(clause.frequency))
        if clause.force in ("place", "time", "reason"):
            word = self.words["question"][clause.force]
            node = Node(word, "PRON" if clause.force == "place" else "ADV", "advmod", (clause.question_key,))
            node.feats = "PronType=Int"
            if clause.force == "place":
                node.deprel = "obl"
                node.after.append(Node("で", "ADP", "case"))
            nodes.append(node)
        if clause.purpose is not None:
            purpose = self._complement(clause.purpose, "advcl")
            purpose.after.append(Node("ため", "NOUN", "mark", (clause.purpose.key + MARK,)))
            purpose.after.append(Node("に", "ADP", "case", (clause.purpose.key + MARK,)))
            nodes.append(purpose)
        if clause.place is not None:
            nodes.append(self.place(clause.place, "obl", "で"))
        if clause.companion is not None:
            nodes.append(self.phrase(clause.companion, "obl", "と"))
        if clause.instrument is not None:
            nodes.append(self.phrase(clause.instrument, "obl", "で"))
        if clause.manner is not None:
            nodes.append(self.adverbial(clause.manner))
        return nodes

    def _participants(self, clause: Clause, particle: str) -> list[Node]:
        nodes = []
        if clause.recipient is not None:
            nodes.append(self.phrase(clause.recipient, "iobj", "に"))
        if clause.force == "object":
            what = Node("何", "PRON", "obj", (clause.question_key,), feats="PronType=Int")
            what.after.append(Node("を", "ADP", "case"))
            nodes.append(what)
        if clause.object is not None:
            if clause.passive:
                nodes.append(self.phrase(clause.object, "obl", "によって"))
            elif clause.object.is_measure and particle == "を":
                nodes.append(self.phrase(clause.object, "obl"))  # 100 ユーロ 払う
            else:
                nodes.append(self.phrase(clause.object, "obj" if particle == "を" else "obl", particle))
        if clause.goal is not None:
            nodes.append(self.phrase(clause.goal, "obl", "に" if particle == "を" else particle))
        if clause.infinitive is not None:
            nodes.append(self._infinitive(clause))
        if clause.content is not None:
            nodes.append(self._content(clause))
        return nodes

    def _complement(self, clause: Clause, relation: str, chain: Chain | None = None) -> Node:
        assert clause.verb is not None
        verb = self.verbs[clause.verb.id][0]
        node = self.clause(clause, False, "が", chain or (verb.plain, []))
        node.deprel = relation
        return node

    def _infinitive(self, clause: Clause) -> Node:
        """What one tries, begins, decides: each verb links it in its own way."""
        inner = clause.infinitive
        assert clause.verb is not None and inner is not None and inner.verb is not None
        verb, link = self.verbs[inner.verb.id][0], self.verbs[clause.verb.id][2]
        key = (inner.key + MARK,)
        if link == "masu":
            return self._complement(inner, "xcomp", (verb.masu, []))
        if link == "よう":
            node = self._complement(inner, "xcomp", (verb.volitional, []))
            node.after.append(Node("と", "ADP", "case", key))
            return node
        node = self._complement(inner, "xcomp")
        if link == "と":
            node.after.append(Node("と", "ADP", "case", key))
        else:
            node.after.append(Node(link, "SCONJ", "mark", key))
            node.after.append(Node("を", "ADP", "case", key))
        return node

    def _content(self, clause: Clause) -> Node:
        content = clause.content
        assert clause.verb is not None and content is not None
        link = self.verbs[clause.verb.id][2]
        if content.modal and content.tense == "past":
            content = replace(content, tense="present")  # Japanese keeps the tense of what was said
        node = self.clause(replace(content, time_first=False), False, "が")
        node.deprel = "ccomp"
        key = (content.key + MARK,)
        if link == "と":
            node.after.append(Node("と", "ADP", "case", key))
        else:
            node.after.append(Node(link, "SCONJ", "mark", key))
            node.after.append(Node("を", "ADP", "case", key))
        return node

    def _subordinate(self, clause: Clause) -> Node:
        subordinate = clause.subordinate
        assert subordinate is not None
        node = self.clause(subordinate.clause, False, "が")
        node.deprel = "advcl"
        key = (subordinate.key + MARK,)
        if subordinate.conjunction == "because":
            node.after.append(Node("ので", "SCONJ", "mark", key))
        elif subordinate.conjunction == "when":
            node.after.append(Node("とき", "NOUN", "mark", key))
        else:
            node.before.insert(0, Node("もし", "ADV", "advmod", key))
        return self.with_comma(node)

    def _copular(self, clause: Clause, is_polite: bool, subject_particle: str) -> Node:
        past, key = clause.tense == "past", clause.key
        before = self._subject(clause, subject_particle)
        if clause.class_ is not None:
            head = self.phrase(clause.class_, "root")
            head.before = [*before, *head.before]
            if is_polite:
                head.after.append(Node("です", "AUX", "cop", (key + AUX,), "だ"))
            else:  # 負担であること
                forms = (("で", "だ", "cop"), ("ある", "ある", "aux"))
                head.after += [Node(form, "AUX", relation, (key + AUX,), lemma) for form, lemma, relation in forms]
            return head
        assert clause.quality is not None
        word, _, suffix = clause.quality.cells["ja"].partition("+")
        if clause.than is not None:
            than = self.phrase(clause.than, "obl", "より")
            than.after[-1].keys += (key + DEGREE,)
            before.append(than)
        if clause.very:
            before.append(Node("とても", "ADV", "advmod", (key + DEGREE,)))
        endings = self._noun_like(clause, is_polite) if suffix else self._inflected(clause, is_polite)
        stem = word[:-1] + ("く" if clause.negative else "かっ") if not suffix and (past or clause.negative) else word
        head = Node(stem, "ADJ", "root", (key,), word, "Degree=Pos")
        head.before = before
        for form, lemma in endings:
            relation = "cop" if lemma in ("だ", "です") and suffix else "aux"
            node = Node(
                form, "ADP" if form == "は" else "AUX", "case" if form == "は" else relation, (key + AUX,), lemma
            )
            if lemma == "ない" and clause.negative:
                node.keys = (key + NEGATION,)
            head.after.append(node)
        return head

    @staticmethod
    def _inflected(clause: Clause, is_polite: bool) -> list[tuple[str, str]]:
        """What follows 大きい."""
        desu = [("です", "です")] if is_polite else []
        past = clause.tense == "past"
        if clause.negative:
            return [*([("なかっ", "ない"), ("た", "た")] if past else [("ない", "ない")]), *desu]
        return [*([("た", "た")] if past else []), *desu]

    @staticmethod
    def _noun_like(clause: Clause, is_polite: bool) -> list[tuple[str, str]]:
        """What follows 静か."""
        past = clause.tense == "past"
        if clause.negative:
            start = [("で", "だ"), ("は", "は"), ("あり", "ある"), ("ませ", "ます"), ("ん", "ない")]
            return [*start, ("でし", "です"), ("た", "た")] if past else start
        if is_polite:
            return [("でし", "です"), ("た", "た")] if past else [("です", "です")]
        return [("だっ", "だ"), ("た", "た")]

    def _existential(self, clause: Clause) -> Node:
        thing = clause.existing
        assert thing is not None and clause.place is not None
        stem, lemma = ("い", "いる") if thing.is_animate else ("あり", "ある")
        head = Node(stem, "VERB", "root", (clause.key,), lemma)
        head.before = [self.place(clause.place, "obl", "に"), self.phrase(thing, "nsubj", "が")]
        head.after = [Node("ます", "AUX", "aux", (clause.key,))]
        return head
