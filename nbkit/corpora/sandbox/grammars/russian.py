"""Russian: six cases, two aspects, agreement in the past, no articles, no copula in the present."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cached_property
from itertools import pairwise

from nbkit.corpora.sandbox.grammars.base import fixed, governed
from nbkit.corpora.sandbox.grammars.russian_forms import (
    ACCUSATIVE,
    DATIVE,
    INSTRUMENTAL,
    NOMINATIVE,
    Aspect,
    Verb,
    conjugate,
    short,
)
from nbkit.corpora.sandbox.grammars.russian_phrases import RussianPhrases
from nbkit.corpora.sandbox.lexicon import verbals
from nbkit.corpora.sandbox.meaning import THIRD, Clause, Phrase
from nbkit.corpora.sandbox.tree import (
    AUX,
    CASE,
    DEGREE,
    MARK,
    MODAL,
    NEGATION,
    PART,
    Node,
    comma,
)

# verbs whose past and future are spoken of as going on, not as completed
_CONTINUING = frozenset({"intr", "want", "durative"})


class Russian(RussianPhrases):
    @cached_property
    def verbs(self) -> dict[str, Verb]:
        return {lexeme.id: conjugate(*governed(lexeme, "ru")) for lexeme in verbals()}

    # --- clauses

    def main(self, clause: Clause) -> Node:
        node = self.clause(clause)
        if clause.conjunct is not None:
            conjunct = clause.conjunct
            if clause.shared_subject:
                other = self.clause(replace(conjunct, subject=None), clause.subject)
            else:
                other = self.clause(conjunct)
            word = self.words["conjunctions"][clause.conjunction]
            other.before.insert(0, Node(word, "CCONJ", "cc", (conjunct.key + MARK,)))
            if not clause.shared_subject:
                other.before.insert(0, comma())
            other.deprel = "conj"
            node.after.append(other)
        return node

    def finite(self, clause: Clause, verb: Verb, subject: Phrase | None) -> Node:
        """The finite verb with its auxiliary, its infinitive where a modal is finite."""
        assert clause.verb is not None
        key, agreement, cell = clause.key, subject.agreement if subject is not None else THIRD, self.past_cell(subject)
        perfective, imperfective = verb.perfective, verb.imperfective
        past = clause.tense == "past"
        continues = not clause.verb.kinds.isdisjoint(_CONTINUING)
        if clause.modal:
            aspect = imperfective if "durative" in clause.verb.kinds else perfective
            return self._modal(clause, aspect, agreement, cell)
        if clause.passive:
            head = self._word(clause, short(verb.participle)[cell], perfective, "VerbForm=Part|Voice=Pass")
            head.before.append(
                Node(self.words["be"][cell], "AUX", "aux:pass", (key + AUX,), "быть", "Tense=Past|VerbForm=Fin")
            )
            return head
        if clause.force == "command":
            return self._word(clause, verb.imperative, perfective, "Mood=Imp|VerbForm=Fin")
        if past:
            aspect = imperfective if continues else perfective
            return self._word(clause, aspect.past[cell], aspect, "Tense=Past|VerbForm=Fin")
        if clause.tense == "future" and continues:
            head = self._word(clause, imperfective.infinitive, imperfective, "VerbForm=Inf")
            head.before.append(
                Node(self.words["will"][agreement], "AUX", "aux", (key + AUX,), "быть", "Tense=Fut|VerbForm=Fin")
            )
            return head
        if clause.tense in ("future", "condition"):
            return self._word(clause, perfective.present[agreement], perfective, "Tense=Fut|VerbForm=Fin")
        forms = verb.habitual if clause.tense == "habit" else imperfective.present
        return self._word(clause, forms[agreement], imperfective, "Tense=Pres|VerbForm=Fin")

    def _word(self, clause: Clause, form: str, aspect: Aspect, feats: str) -> Node:
        return Node(form, "VERB", "root", (clause.key,), aspect.infinitive, feats)

    def _modal(self, clause: Clause, aspect: Aspect, agreement: int, cell: int) -> Node:
        entry = self.words["modals"][clause.modal]
        key = (clause.key + MODAL,)
        if clause.modal == "must":
            head = Node(entry["forms"][cell], "ADJ", "root", key, entry["lemma"], "Variant=Short")
        elif clause.tense == "past":
            head = Node(entry["past"][cell], "VERB", "root", key, entry["lemma"], "Tense=Past|VerbForm=Fin")
        else:
            head = Node(entry["present"][agreement], "VERB", "root", key, entry["lemma"], "Tense=Pres|VerbForm=Fin")
        head.tag = "modal"
        infinitive = self._word(clause, aspect.infinitive, aspect, "VerbForm=Inf")
        infinitive.deprel = "xcomp"
        head.after.append(infinitive)
        return head

    def clause(self, clause: Clause, absent_subject: Phrase | None = None) -> Node:
        """A clause; its verb agrees with *absent_subject* where the subject stands outside of it."""
        subject = clause.subject or absent_subject
        if clause.existing is not None:
            return self._existential(clause)
        if clause.verb is None:
            return self._copular(clause)
        verb = self.verbs[clause.verb.id]
        head = self.finite(clause, verb, subject)
        inner = head.after[0] if head.tag == "modal" else head
        if clause.negative:
            head.before.insert(0, Node("не", "PART", "advmod", (clause.key + NEGATION,), feats="Polarity=Neg"))
        times = []
        commands = clause.force == "command"
        if clause.time is not None and not (clause.time_first or commands):
            times.append(self.adverbial(clause.time))
        if clause.frequency is not None:
            times.append(self.adverbial(clause.frequency))
        adverbs: list[Node] = []
        if clause.manner is not None:
            manner = self.adverbial(clause.manner)
            (inner.before if inner is not head else adverbs).append(manner)
        node = []
        if clause.subject is not None and clause.force != "command":
            node.append(self.phrase(clause.subject, "nsubj:pass" if clause.passive else "nsubj", NOMINATIVE))
        head.before = [*self._opening(clause), *node, *times, *head.before, *adverbs]
        self._complements(clause, inner, verb)
        self._late(clause, head, verb)
        if clause.time is not None and commands:
            head.after.append(self.adverbial(clause.time))
        return head

    def _opening(self, clause: Clause) -> list[Node]:
        key = (clause.question_key,)
        nodes = []
        if clause.force in ("subject", "object"):
            relation = "nsubj" if clause.force == "subject" else "obj"
            nodes.append(Node(self.words["question"][clause.force], "PRON", relation, key, feats="PronType=Int"))
        elif clause.force in ("place", "time", "reason"):
            nodes.append(Node(self.words["question"][clause.force], "ADV", "advmod", key, feats="PronType=Int"))
        if clause.please:
            please = Node("пожалуйста", "INTJ", "discourse", (clause.key + PART,))
            nodes.append(self.with_commas(please, after=True))
        if clause.subordinate is not None and clause.subordinate.first:
            nodes.append(self.with_commas(self._subordinate(clause), after=True))
        if clause.time is not None and clause.time_first:
            nodes.append(self.adverbial(clause.time))
        return nodes

    def _complements(self, clause: Clause, head: Node, verb: Verb) -> None:
        after = head.after
        if clause.recipient is not None:
            after.append(self.phrase(clause.recipient, "iobj", DATIVE))
        if clause.object is not None:
            if clause.passive:
                after.append(self.phrase(clause.object, "obl:agent", INSTRUMENTAL))
            elif verb.preposition:
                after.append(self.phrase(clause.object, "obl", ACCUSATIVE, verb.preposition))
            else:
                relation = "obl" if clause.object.is_duration else "obj" if verb.case == ACCUSATIVE else "iobj"
                after.append(self.phrase(clause.object, relation, verb.case))
        if clause.goal is not None and clause.goal.noun is not None:
            preposition = self.nouns[clause.goal.noun.id].preposition
            after.append(self.phrase(clause.goal, "obl", ACCUSATIVE, preposition))
        if clause.instrument is not None:
            after.append(self.phrase(clause.instrument, "obl", INSTRUMENTAL))
        if clause.place is not None:
            after.append(self.place(clause.place, "obl"))
        if clause.companion is not None:
            after.append(self.phrase(clause.companion, "obl", INSTRUMENTAL, "с"))

    def _late(self, clause: Clause, head: Node, verb: Verb | None) -> None:
        after = head.after
        if clause.infinitive is not None:
            assert verb is not None
            after.append(self._infinitive(clause.infinitive, "xcomp", verb.takes_imperfective))
        if clause.purpose is not None:
            node = self._infinitive(clause.purpose, "advcl", False)
            node.before.insert(0, Node("чтобы", "SCONJ", "mark", (clause.purpose.key + MARK,)))
            after.append(self.with_commas(node, before=True))
        if clause.content is not None:
            content = clause.content
            if content.modal and content.tense == "past":
                content = replace(content, tense="present")  # Russian keeps the tense of what was said
            node = self.clause(content)
            node.deprel = "ccomp"
            node.before.insert(0, Node("что", "SCONJ", "mark", (clause.content.key + MARK,)))
            after.append(self.with_commas(node, before=True))
        if clause.subordinate is not None and not clause.subordinate.first:
            after.append(self.with_commas(self._subordinate(clause), before=True))

    def _infinitive(self, clause: Clause, relation: str, imperfective: bool) -> Node:
        assert clause.verb is not None
        verb = self.verbs[clause.verb.id]
        aspect = verb.imperfective if imperfective or "durative" in clause.verb.kinds else verb.perfective
        node = self._word(clause, aspect.infinitive, aspect, "VerbForm=Inf")
        node.deprel = relation
        self._complements(clause, node, verb)
        return node

    def _subordinate(self, clause: Clause) -> Node:
        subordinate = clause.subordinate
        assert subordinate is not None
        node = self.clause(subordinate.clause)
        node.deprel = "advcl"
        words = self.words["conjunctions"][subordinate.conjunction]
        node.before.insert(0, fixed(words, "mark", (subordinate.key + MARK,), "SCONJ"))
        return node

    def _copular(self, clause: Clause) -> Node:
        assert clause.subject is not None
        subject, past, key = clause.subject, clause.tense == "past", clause.key
        node = self.phrase(subject, "nsubj", NOMINATIVE)
        cell = self.past_cell(subject)
        before = [node]
        if clause.negative:
            before.append(Node("не", "PART", "advmod", (key + NEGATION,), feats="Polarity=Neg"))
        if past:
            before.append(Node(self.words["be"][cell], "AUX", "cop", (key + AUX,), "быть", "Tense=Past|VerbForm=Fin"))
        if clause.class_ is not None:
            head = self.phrase(clause.class_, "root", NOMINATIVE)
            before.append(Node("—", "PUNCT", "punct", (key + AUX,)))
        else:
            head = self._quality(clause, cell, past)
        head.before = [*before, *head.before]
        return head

    def _quality(self, clause: Clause, cell: int, past: bool) -> Node:
        assert clause.quality is not None
        lemma, forms, comparative, shorts = self.adjectives[clause.quality.id]
        if clause.than is not None:
            head = Node(comparative, "ADJ", "root", (clause.key, clause.key + DEGREE), lemma, "Degree=Cmp")
            than = self.phrase(clause.than, "obl", NOMINATIVE)
            than.before.insert(0, Node("чем", "SCONJ", "mark", (clause.than.key + CASE,)))
            head.after.append(self.with_commas(than, before=True))
            return head
        row = forms["mfnp"[cell]]
        form = shorts[cell] if shorts else row[INSTRUMENTAL if past else NOMINATIVE]
        head = Node(form, "ADJ", "root", (clause.key,), lemma, "Degree=Pos")
        if clause.very:
            head.before.append(Node("очень", "ADV", "advmod", (clause.key + DEGREE,)))
        return head

    def _existential(self, clause: Clause) -> Node:
        assert clause.existing is not None and clause.place is not None
        head = Node("есть", "VERB", "root", (clause.key,), "быть", "Tense=Pres|VerbForm=Fin")
        head.before = [self.place(clause.place, "obl")]
        head.after = [self.phrase(clause.existing, "nsubj", NOMINATIVE)]
        return head

    def spell(self, nodes: list[Node]) -> None:
        for node, following in pairwise(nodes):
            if node.form == "с" and re.match(r"[сзшж][бвгджзйклмнпрстфхцчшщ]", following.form.lower()):
                node.form = "со"
