"""Japanese: particles, modifiers first, the verb last; polite main clauses, plain subordinate ones."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

from nbkit.corpora.sandbox.grammars import japanese_verbs as forms_of
from nbkit.corpora.sandbox.grammars.base import governed, modal_of
from nbkit.corpora.sandbox.grammars.japanese_phrases import JapanesePhrases
from nbkit.corpora.sandbox.grammars.japanese_verbs import Chain, Verb, conjugate
from nbkit.corpora.sandbox.lexicon import verbals
from nbkit.corpora.sandbox.meaning import FIRST, SECOND, THIRD, WE, Clause
from nbkit.corpora.sandbox.tree import (
    AUX,
    DEGREE,
    MARK,
    MODAL,
    NEGATION,
    PART,
    Node,
    comma,
)

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
            return forms_of.command(verb, clause.please)
        if clause.modal == "can":
            return forms_of.able(verb, is_polite, past, negative)
        if clause.modal == "must":
            return forms_of.obliged(verb)
        if clause.modal == "want":
            agreement = clause.subject.agreement if clause.subject is not None else THIRD
            return forms_of.wanting(verb, agreement in (FIRST, SECOND, WE), past, negative)
        if clause.passive:
            return forms_of.passive(verb)
        if clause.tense == "condition":
            return forms_of.conditional(verb)
        lasting = clause.tense == "progressive" or (clause.tense == "present" and clause.content is not None)
        lasting = lasting or "st" in clause.verb.kinds or "present" in clause.verb.kinds
        if lasting and not (negative and clause.verb.id == "know"):
            return forms_of.continuing(verb, is_polite, past, negative)
        return forms_of.simple(verb, is_polite, past, negative)

    def head_of(self, clause: Clause, chain: Chain) -> Node:
        """The verb with its endings, which say tense, negation and modality."""
        assert clause.verb is not None
        verb = self.verbs[clause.verb.id][0]
        head, endings = forms_of.build(verb, chain, clause.key)
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
            first = self.clause(alone, True, "は", forms_of.te_form(verb))
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
