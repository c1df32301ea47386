"""Clauses of French, Spanish and Italian: negation, perfect, questions; each language fills in its own verb forms."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

from nbkit.corpora.sandbox.grammars.base import fixed, governed, modal_of
from nbkit.corpora.sandbox.grammars.romance_phrases import RomancePhrases
from nbkit.corpora.sandbox.lexicon import verbals
from nbkit.corpora.sandbox.meaning import FIRST, SECOND, WE, Clause, Phrase
from nbkit.corpora.sandbox.tree import AUX, DEGREE, MARK, MODAL, NEGATION, PART, Node, comma


@dataclass(frozen=True, slots=True)
class Verb:
    """A verb's forms; the tables run over I, you, he/she, we, they."""

    infinitive: str
    present: tuple[str, ...]
    past: tuple[str, ...]
    imperfect: tuple[str, ...]
    future: tuple[str, ...]
    participle: str
    gerund: str
    imperative: str
    with_be: bool
    preposition: str


class Romance(RomancePhrases):
    drops_pronouns = True
    #: Questions whose subject follows the verb.
    inverting: ClassVar[frozenset[str]] = frozenset()

    @abstractmethod
    def conjugate(self, cell: str, options: dict[str, str], flags: list[str]) -> Verb:
        """A verb's forms from its dictionary cell."""

    @abstractmethod
    def cluster(self, clause: Clause, verb: Verb, agreement: int, participle: int) -> tuple[list[Node], Node]:
        """Auxiliaries and the lexical verb; *participle* is the agreement of a participle."""

    @abstractmethod
    def negate(self, clause: Clause, before: list[Node], head: Node) -> None:
        """Put the negation around or before the finite verb."""

    @cached_property
    def verbs(self) -> dict[str, Verb]:
        return {lexeme.id: self.conjugate(*governed(lexeme, self.lang)) for lexeme in verbals()}

    def adjective_participle(self, participle: str, agreement: int) -> str:
        """A participle that agrees."""
        return self.adjective_forms([participle])[agreement]

    # --- clauses

    def main(self, clause: Clause) -> Node:
        clause = self.prepare(clause)
        node = self.clause(clause)
        if clause.conjunct is not None:
            conjunct = clause.conjunct
            if clause.shared_subject:
                other = self.clause(replace(conjunct, subject=None), absent_subject=clause.subject)
            else:
                other = self.clause(conjunct)
            word = self.words["conjunctions"][clause.conjunction]
            other.before.insert(0, Node(word, "CCONJ", "cc", (conjunct.key + MARK,)))
            if clause.conjunction == "but":
                other.before.insert(0, comma())
            other.deprel = "conj"
            node.after.append(other)
        return node

    def prepare(self, clause: Clause) -> Clause:
        """Read *want to* as a modal where the language has an auxiliary for it."""
        return modal_of(clause) if "want" in self.words["modals"] else clause

    def is_dropped(self, subject: Phrase) -> bool:
        """Whether the verb's ending or the context says enough of this pronoun."""
        if subject.noun is not None or not self.drops_pronouns or subject.coordinated is not None:
            return False
        return subject.person in (FIRST, SECOND, WE) or subject.antecedent is not None

    def clause(
        self, clause: Clause, absent_subject: Phrase | None = None, preceding_object: Phrase | None = None
    ) -> Node:
        clause = self.prepare(clause)
        subject = clause.subject or absent_subject
        agreement = subject.agreement if subject is not None else 2
        if clause.existing is not None:
            return self._with_edges(clause, self.existential(clause), None)
        if clause.verb is None:
            return self._copular(clause, subject, agreement)
        verb = self.verbs[clause.verb.id]
        whole = 0 if subject is None else self.agreement(subject)
        if preceding_object is not None and not verb.with_be:
            whole = self.agreement(preceding_object)
        elif not (verb.with_be or clause.passive):
            whole = 0
        before, head = self.cluster(clause, verb, agreement, whole)
        inner = self._infinitive_of(head) if head.tag == "modal" else head
        if clause.negative:
            self.negate(clause, before, head)
        node: Node | None = None
        if clause.subject is not None and clause.force != "command":
            if self.is_dropped(clause.subject):
                (before[-1] if before and before[-1].upos == "AUX" else head).keys += (clause.subject.key,)
            else:
                node = self.phrase(clause.subject, "nsubj:pass" if clause.passive else "nsubj")
        head.before = before
        self._complements(clause, inner, verb)
        self._late(clause, head)
        return self._with_edges(clause, head, node)

    @staticmethod
    def _infinitive_of(modal: Node) -> Node:
        return next(node for node in modal.after if node.deprel == "xcomp")

    def _with_edges(self, clause: Clause, head: Node, subject: Node | None) -> Node:
        """Subject, question word, and what stands first."""
        opening = self._opening(clause)
        question = self._question(clause)
        inverted = clause.force in self.inverting
        if subject is not None and inverted:
            head.after.insert(0, subject)
            subject = None
        head.before = [*opening, *question, *([subject] if subject is not None else []), *head.before]
        return head

    def _opening(self, clause: Clause) -> list[Node]:
        nodes = []
        if clause.please:
            words = self.words["please"]
            please = fixed(words, "discourse", (clause.key + PART,), "INTJ")
            nodes.append(self.with_commas(please, after=True))
        if clause.subordinate is not None and clause.subordinate.first:
            nodes.append(self.with_commas(self._subordinate(clause), after=True))
        if clause.time is not None and clause.time_first:
            nodes.append(self.with_commas(self.adverbial(clause.time), after=self.lang == "fr"))
        return nodes

    def _question(self, clause: Clause) -> list[Node]:
        """Question words; in French with *est-ce que*."""
        key = (clause.question_key,)
        force = clause.force
        if force in ("statement", "command"):
            return []
        nodes = []
        if force in ("subject", "object"):
            relation = "nsubj" if force == "subject" else "obj"
            nodes.append(Node(self.words["question"][force], "PRON", relation, key, feats="PronType=Int"))
        elif force != "polar":
            words = self.words["question"][force]
            node = Node(words[-1], "ADV" if len(words) == 1 else "PRON", "advmod" if len(words) == 1 else "obl", key)
            node.feats = "PronType=Int"
            node.before = [Node(word, "ADP", "case", key) for word in words[:-1]]
            nodes.append(node)
        nodes.extend(self.question_particles(clause))
        return nodes

    def question_particles(self, clause: Clause) -> list[Node]:
        """Words that mark a question besides the question word (French *est-ce que*)."""
        return []

    def _complements(self, clause: Clause, head: Node, verb: Verb) -> None:
        after = head.after
        if clause.frequency is not None and "phrase" not in clause.frequency.adverb.kinds:
            after.append(self.adverbial(clause.frequency))
        if clause.manner is not None:
            after.append(self.adverbial(clause.manner))
        thing, recipient = clause.object, clause.recipient
        to = self.words["to"]
        if (
            recipient is not None
            and thing is not None
            and (thing.relative is not None or thing.coordinated is not None)
        ):
            after.append(self.phrase(recipient, "obl:arg", to))
            recipient = None
        if thing is not None:
            after.append(self._object(clause, thing, verb))
        if recipient is not None:
            after.append(self.phrase(recipient, "obl:arg", to))
        if clause.goal is not None:
            after.append(self.toward(clause.goal))
        if clause.place is not None:
            after.append(self.place(clause.place, "obl"))
        if clause.instrument is not None:
            after.append(self.phrase(clause.instrument, "obl", self.words["with"]))
        if clause.companion is not None:
            after.append(self.phrase(clause.companion, "obl", self.words["with"]))

    def _object(self, clause: Clause, thing: Phrase, verb: Verb) -> Node:
        if clause.passive:
            return self.phrase(thing, "obl:agent", self.words["by"])
        if verb.preposition:
            return self.phrase(thing, "obl:arg", verb.preposition)
        if thing.is_duration:
            return self.phrase(thing, "obl")
        personal = self.lang == "es" and thing.is_person
        return self.phrase(thing, "obj", "a" if personal else "", negative=clause.negative)

    def _late(self, clause: Clause, head: Node) -> None:
        if clause.frequency is not None and "phrase" in clause.frequency.adverb.kinds:
            head.after.append(self.adverbial(clause.frequency))
        if clause.time is not None and not clause.time_first:
            head.after.append(self.adverbial(clause.time))
        if clause.infinitive is not None:
            assert clause.verb is not None
            head.after.append(self._infinitive(clause.infinitive, "xcomp", self.verbs[clause.verb.id].preposition))
        if clause.purpose is not None:
            preposition = {"fr": "pour", "es": "para", "it": "per"}[self.lang]
            head.after.append(self._infinitive(clause.purpose, "advcl", preposition))
        if clause.content is not None:
            content = self.clause(clause.content)
            content.deprel = "ccomp"
            content.before.insert(0, Node(self.words["that"], "SCONJ", "mark", (clause.content.key + MARK,)))
            head.after.append(content)
        if clause.subordinate is not None and not clause.subordinate.first:
            head.after.append(self._subordinate(clause))

    def _infinitive(self, clause: Clause, relation: str, preposition: str) -> Node:
        assert clause.verb is not None
        verb = self.verbs[clause.verb.id]
        node = Node(verb.infinitive, "VERB", relation, (clause.key,), feats="VerbForm=Inf")
        if preposition:
            node.before.append(Node(preposition, "ADP", "mark", (clause.key + MARK,)))
        self._complements(clause, node, verb)
        return node

    def _subordinate(self, clause: Clause) -> Node:
        subordinate = clause.subordinate
        assert subordinate is not None
        node = self.clause(subordinate.clause)
        node.deprel = "advcl"
        word = self.words["conjunctions"][subordinate.conjunction]
        words = [word] if isinstance(word, str) else word
        node.before.insert(0, fixed(words, "mark", (subordinate.key + MARK,), "SCONJ"))
        return node

    # --- to be

    def copula(self, clause: Clause) -> tuple[list[str], str]:
        """Forms of the copula in the clause's tense, and its lemma."""
        lemma = {"fr": "être", "es": "ser", "it": "essere"}[self.lang]
        return self.words["be"]["past" if clause.tense == "past" else "present"], lemma

    def _copular(self, clause: Clause, subject: Phrase | None, agreement: int) -> Node:
        assert subject is not None
        forms, lemma = self.copula(clause)
        past = clause.tense == "past"
        copula = Node(
            forms[agreement],
            "AUX",
            "cop",
            (clause.key + AUX,),
            lemma,
            f"Tense={'Imp' if past else 'Pres'}|VerbForm=Fin",
        )
        if clause.class_ is not None:
            head = self.phrase(clause.class_, "root")
        else:
            assert clause.quality is not None
            lemma = self.adjectives[clause.quality.id].forms[0]
            form = self.adjective(clause.quality, subject)
            degree = "Degree=Pos"
            head = Node(form, "ADJ", "root", (clause.key,), lemma, degree)
            if clause.very or clause.than is not None:
                word = self.words["more" if clause.than is not None else "very"]
                head.before.append(Node(word, "ADV", "advmod", (clause.key + DEGREE,)))
            if clause.than is not None:
                head.after.append(self.phrase(clause.than, "obl", self.words["than"]))
        before = [copula]
        if clause.negative:
            self.negate(clause, before, head)
        node: Node | None = None
        if clause.subject is not None:
            if self.is_dropped(clause.subject):
                copula.keys += (clause.subject.key,)
            else:
                node = self.phrase(clause.subject, "nsubj")
        head.before = [*before, *head.before]
        self._late(replace(clause, place=None), head)
        return self._with_edges(clause, head, node)

    @abstractmethod
    def existential(self, clause: Clause) -> Node:
        """There is."""

    # --- building blocks for the languages' verb clusters

    def lexical(self, clause: Clause, form: str, verb: Verb, feats: str) -> Node:
        return Node(form, "VERB", "root", (clause.key,), verb.infinitive, feats)

    def auxiliary(self, form: str, lemma: str, key: int, tense: str = "Pres") -> Node:
        return Node(form, "AUX", "aux", (key,), lemma, f"Tense={tense}|VerbForm=Fin")

    def modal(self, clause: Clause, agreement: int) -> Node:
        """The finite form of *can*, *must* (and *want*)."""
        entry = self.words["modals"][clause.modal]
        tense = "past" if clause.tense == "past" else "present"
        key = clause.modal_key or clause.key + MODAL
        return self.auxiliary(entry[tense][agreement], entry["lemma"], key, "Imp" if tense == "past" else "Pres")

    def finite(self, clause: Clause, verb: Verb, agreement: int) -> Node:
        """A simple finite form: imperative, future or present."""
        if clause.force == "command":
            return self.lexical(clause, verb.imperative, verb, "Mood=Imp|VerbForm=Fin")
        if clause.tense == "future":
            return self.lexical(clause, verb.future[agreement], verb, "Tense=Fut|VerbForm=Fin")
        return self.lexical(clause, verb.present[agreement], verb, "Tense=Pres|VerbForm=Fin")


def negation(form: str, clause: Clause) -> Node:
    """A negative particle."""
    return Node(form, "ADV", "advmod", (clause.key + NEGATION,), feats="Polarity=Neg")
