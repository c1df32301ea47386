"""Noun phrases of French, Spanish and Italian: agreement, adjectives after their noun, prepositions that merge."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

from nbkit.sandbox.grammars.base import Grammar, conjuncts, features, fixed, governed, modal_of
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
    Lexeme,
    Node,
    Phrase,
    Place,
    comma,
    nominals,
    table,
    verbals,
)


@dataclass(frozen=True, slots=True)
class Noun:
    """Gender, forms, and the prepositions of place and direction."""

    feminine: bool
    singular: str
    plural: str
    location: str
    goal: str
    masculine_article: bool = False


@dataclass(frozen=True, slots=True)
class Adjective:
    """Forms: masculine, feminine, and their plurals; whether it stands before its noun; the form before a vowel."""

    forms: tuple[str, str, str, str]
    first: bool
    before_vowel: str


#: Beginnings of the words that are nouns to what they count.
_SCALES = (
    "million",
    "milliard",
    "billion",
    "billiard",
    "millón",
    "millones",
    "billón",
    "billones",
    "milion",
    "miliard",
)


def cell_of(feminine: bool, plural: bool) -> int:
    """Index into (masculine, feminine, masculine plural, feminine plural)."""
    return 2 * plural + feminine


class RomancePhrases(Grammar):
    location = "in"
    goal = "a"

    # --- what each language decides

    @abstractmethod
    def plural(self, noun: str, feminine: bool) -> str:
        """The regular plural of a noun."""

    @abstractmethod
    def adjective_forms(self, forms: list[str]) -> tuple[str, str, str, str]:
        """The four forms of an adjective from those that its dictionary cell gives."""

    @abstractmethod
    def definite(self, feminine: bool, plural: bool, following: str) -> str:
        """The definite article before the word *following*."""

    @abstractmethod
    def indefinite(self, feminine: bool, following: str) -> str:
        """The indefinite article before the word *following*."""

    @abstractmethod
    def merge(self, preposition: str, article: str) -> str | None:
        """Preposition and definite article in one word, or None where they stay two."""

    @abstractmethod
    def determine(self, node: Node, phrase: Phrase, feminine: bool, following: str) -> None:
        """Put demonstratives, possessives and *many* before the noun."""

    # --- dictionary

    @cached_property
    def nouns(self) -> dict[str, Noun]:
        entries = {}
        for lexeme in nominals():
            forms, options = features(lexeme.cells[self.lang])
            feminine, singular = forms[0] == "f", forms[1]
            article = "el" in forms[2:]
            plural = forms[2] if len(forms) > 2 and not article else self.plural(singular, feminine)
            location, goal = options.get("loc", self.location), options.get("goal", self.goal)
            entries[lexeme.id] = Noun(feminine, singular, plural, location, goal, article)
        return entries

    @cached_property
    def adjectives(self) -> dict[str, Adjective]:
        entries = {}
        for lexeme in table("adjectives"):
            forms, options = features(lexeme.cells[self.lang])
            words = [form for form in forms if form not in ("pre", "inv", "estar")]
            four = (words[0],) * 4 if "inv" in forms else self.adjective_forms(words)
            entries[lexeme.id] = Adjective(four, "pre" in forms, options.get("vow", four[0]))
        return entries

    # --- phrases

    def feminine(self, phrase: Phrase) -> bool:
        """Whether words that agree with the phrase are feminine."""
        parts = conjuncts(phrase)
        if len(parts) > 1:
            return all(self.nouns[part.noun.id].feminine for part in parts if part.noun is not None)
        if phrase.noun is None:
            return phrase.person == THIRD and phrase.female
        return self.nouns[phrase.noun.id].feminine

    def agreement(self, phrase: Phrase) -> int:
        """Which of an adjective's four forms agrees with the phrase."""
        return cell_of(self.feminine(phrase), phrase.agreement > THIRD)

    def pronoun(self, phrase: Phrase) -> list[str]:
        person = phrase.agreement
        return self.words["pronouns"][f"{person}f" if person == THIRD and phrase.female else str(person)]

    def phrase(
        self, phrase: Phrase, relation: str, preposition: str = "", strong: bool = False, negative: bool = False
    ) -> Node:
        """A noun phrase with its preposition; *strong* asks for the pronoun used after prepositions."""
        key = phrase.key
        if phrase.noun is None:
            forms = self.pronoun(phrase)
            node = Node(forms[1 if strong or preposition else 0], "PRON", relation, (key,), forms[0])
            if preposition:
                node.before.append(Node(preposition, "ADP", "case", (key + CASE,)))
        else:
            noun = self.nouns[phrase.noun.id]
            number = "Plur" if phrase.plural else "Sing"
            gender = "Fem" if noun.feminine else "Masc"
            name = "name" in phrase.noun.kinds
            form = noun.plural if phrase.plural else noun.singular
            node = Node(
                form, "PROPN" if name else "NOUN", relation, (key,), noun.singular, f"Gender={gender}|Number={number}"
            )
            self._specify(node, phrase, noun, preposition, negative)
        if phrase.place is not None:
            node.after.append(self.place(phrase.place, "nmod"))
        if phrase.relative is not None:
            node.after.append(self._relative(phrase))
        if phrase.coordinated is not None:
            repeated = preposition if preposition == self.words["to"] else ""
            other = self.phrase(phrase.coordinated, "conj", repeated, strong, negative)
            word = self.words["conjunctions"]["and"]
            other.before.insert(0, Node(word, "CCONJ", "cc", (phrase.coordinated.key + MARK,)))
            node.after.append(other)
        return node

    def _specify(self, node: Node, phrase: Phrase, noun: Noun, preposition: str, negative: bool) -> None:
        key, feminine, plural = phrase.key, noun.feminine, phrase.plural
        if phrase.adjective is not None:
            adjective = self.adjectives[phrase.adjective.id]
            form = adjective.forms[cell_of(feminine, plural)]
            if adjective.first:
                form = self.before_noun(adjective, form, cell_of(feminine, plural), node.form)
            word = Node(form, "ADJ", "amod", (key + ADJECTIVE,), adjective.forms[0], "Degree=Pos")
            (node.before if adjective.first else node.after).append(word)
        following = node.before[0].form if node.before else node.form
        article = ""
        if phrase.determiner == "definite" or (
            phrase.determiner == "own" and phrase.possessor is not None and phrase.possessor.noun is not None
        ):
            article = self.definite(feminine, plural, following)
            if noun.masculine_article and not plural and following == node.form:
                article = "el"
        elif phrase.determiner == "indefinite":
            self._indefinite(node, key, feminine, following, negative)
        elif phrase.determiner == "count":
            self._count(node, phrase)
        elif phrase.determiner != "none":
            self.determine(node, phrase, feminine, following)
        if phrase.determiner == "own" and phrase.possessor is not None and phrase.possessor.noun is not None:
            node.after.append(self.phrase(phrase.possessor, "nmod", self.words["of"]))
        if article:
            self.put_article(node, article, key)
        if preposition:
            self._govern(node, preposition, key)

    def before_noun(self, adjective: Adjective, form: str, cell: int, noun: str) -> str:
        """The form of an adjective that stands before *noun*."""
        return adjective.before_vowel if cell == 0 and self.starts_with_vowel(noun) else form

    def put_article(self, node: Node, article: str, key: int) -> None:
        """The definite article, marked so that a preposition can merge with it."""
        word = Node(article, "DET", "det", (key + DET,), self.definite(False, False, "b"))
        word.tag = "article"
        word.space = not article.endswith("'")
        node.before.insert(0, word)

    def _indefinite(self, node: Node, key: int, feminine: bool, following: str, negative: bool) -> None:
        form = self.indefinite(feminine, following)
        keys: tuple[int, ...] = (key + DET,)
        if negative and self.lang == "fr":
            form = "de"
        word = Node(form, "DET", "det", keys, "un")
        word.space = not form.endswith("'")
        node.before.insert(0, word)

    def _count(self, node: Node, phrase: Phrase) -> None:
        number = self.numeral(phrase)
        if number.form.startswith(_SCALES):  # deux millions d'euros
            node.before.insert(0, Node(self.words["of"], "ADP", "case", (phrase.key + COUNT,)))
        node.before.insert(0, number)

    def _govern(self, node: Node, preposition: str, key: int) -> None:
        first = node.before[0] if node.before else None
        if first is not None and first.tag == "article":
            merged = self.merge(preposition, first.form)
            if merged is not None:
                word = Node(merged, "ADP", "case", (key + CASE, *first.keys), preposition)
                word.space = not merged.endswith("'")
                node.before[0] = word
                return
        node.before.insert(0, Node(preposition, "ADP", "case", (key + CASE,)))

    def place(self, place: Place, relation: str) -> Node:
        """A prepositional phrase of place."""
        ground = place.ground
        assert ground.noun is not None
        if place.relation == "at":
            return self.phrase(ground, relation, self.nouns[ground.noun.id].location)
        words = self.words["relations"][place.relation]
        node = self.phrase(ground, relation, words[-1])
        if len(words) > 1:
            last = node.before.pop(0)
            root = fixed(words[:-1], "case", (ground.key + CASE,))
            last.deprel = "fixed"
            root.after.append(last)
            node.before.insert(0, root)
        return node

    def toward(self, goal: Phrase) -> Node:
        """A prepositional phrase of direction."""
        assert goal.noun is not None
        return self.phrase(goal, "obl", self.nouns[goal.noun.id].goal)

    def starts_with_vowel(self, word: str) -> bool:
        return word[0].lower() in "aeiouhéèêâîôœáíóúàù"

    def adjective(self, adjective: Lexeme, subject: Phrase) -> str:
        """The form that agrees with *subject*."""
        return self.adjectives[adjective.id].forms[self.agreement(subject)]

    def _relative(self, phrase: Phrase) -> Node:
        clause = phrase.relative
        assert clause is not None
        if phrase.relative_object:
            node = self.clause(clause, preceding_object=phrase)
            form, relation = self.words["that"], "obj"
        else:
            node = self.clause(clause, absent_subject=phrase)
            form, relation = "qui" if self.lang == "fr" else self.words["that"], "nsubj"
        node.before.insert(0, Node(form, "PRON", relation, (clause.key + MARK,), feats="PronType=Rel"))
        node.deprel = "acl:relcl"
        return node

    @abstractmethod
    def clause(
        self, clause: Clause, absent_subject: Phrase | None = None, preceding_object: Phrase | None = None
    ) -> Node:
        """A clause; its verb agrees with *absent_subject* where the subject stands outside of it."""


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
