"""German noun phrases: four cases, three genders, adjective endings, contractions (*zum*)."""

from __future__ import annotations

import re
from abc import abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property

from nbkit.sandbox.grammars.base import Grammar, features, governed, modal_of
from nbkit.sandbox.meaning import (
    ADJECTIVE,
    AUX,
    CASE,
    DEGREE,
    DET,
    MARK,
    MODAL,
    NEGATION,
    PART,
    THIRD,
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


@dataclass(frozen=True, slots=True)
class Verb:
    """A verb's forms; *prefix* is the separable one."""

    prefix: str
    stem: str
    present: tuple[str, ...]
    participle: str
    imperative: str
    perfect: str
    preposition: str
    case: int

    @property
    def infinitive(self) -> str:
        return self.prefix + self.stem


def conjugate(cell: str, options: dict[str, str], flags: list[str]) -> Verb:
    """A verb from its cell: infinitive, third person, participle.

    >>> conjugate("auf|machen,macht,aufgemacht", {}, []).present
    ('mache', 'machst', 'macht', 'machen', 'machen')
    >>> conjugate("lesen,liest,gelesen", {}, []).imperative
    'lies'
    """
    infinitive, third, participle = cell.split(",")
    prefix, _, stem = infinitive.rpartition("|")
    base = stem.removesuffix("n").removesuffix("e")
    first = options.get("1", base[:-2] + "le" if stem.endswith("eln") else base + "e")
    root = third.removesuffix("t")
    second = options.get("2", root + ("t" if root.endswith(("s", "ß", "z")) else "st"))
    changed = ("ie" in root or "i" in root) and not ("ie" in base or "i" in base)
    imperative = root if changed else base + ("e" if third.endswith(("et", "iert")) else "")
    preposition, case = "", DATIVE if "dat" in flags else ACCUSATIVE
    for flag in flags:
        if flag.startswith("+"):
            preposition = flag[1:].partition(".")[0]
    perfect = "sein" if "sein" in flags else "haben"
    return Verb(prefix, stem, (first, second, third, stem, stem), participle, imperative, perfect, preposition, case)


class German(GermanNouns):
    @cached_property
    def verbs(self) -> dict[str, Verb]:
        return {lexeme.id: conjugate(*governed(lexeme, "de")) for lexeme in verbals()}

    # --- the verb cluster

    def cluster(self, clause: Clause, agreement: int, separate: bool) -> tuple[Node, Node | None, Node | None]:
        """Lexical verb, finite auxiliary (or None where the verb itself is finite), separated prefix.

        *separate* where the finite verb stands second, away from its prefix.
        """
        assert clause.verb is not None
        verb = self.verbs[clause.verb.id]
        key, past = clause.key, clause.tense == "past"
        lemma, infinitive = verb.infinitive, "VerbForm=Inf"
        if clause.modal:
            modal = self.words["modals"][clause.modal]
            form = modal["past" if past else "present"][agreement]
            tense = "Past" if past else "Pres"
            auxiliary = self._auxiliary(form, modal["lemma"], clause.modal_key or key + MODAL, tense)
            return Node(lemma, "VERB", "root", (key,), lemma, infinitive), auxiliary, None
        if clause.passive:
            form = self.words["passive"][agreement]
            auxiliary = self._auxiliary(form, "werden", key + AUX, "Past")
            auxiliary.deprel = "aux:pass"
            return Node(verb.participle, "VERB", "root", (key,), lemma, "VerbForm=Part"), auxiliary, None
        if past:
            form = (self.words["be"]["present"] if verb.perfect == "sein" else self.words["have"])[agreement]
            auxiliary = self._auxiliary(form, verb.perfect, key + AUX, "Pres")
            return Node(verb.participle, "VERB", "root", (key,), lemma, "VerbForm=Part"), auxiliary, None
        if clause.tense == "future":
            auxiliary = self._auxiliary(self.words["will"][agreement], "werden", key + AUX, "Pres")
            return Node(lemma, "VERB", "root", (key,), lemma, infinitive), auxiliary, None
        feats = "Tense=Pres|VerbForm=Fin"
        if clause.force == "command":
            form, feats = verb.imperative, "Mood=Imp|VerbForm=Fin"
        else:
            form = verb.present[agreement]
        prefix = Node(verb.prefix, "ADP", "compound:prt", (key,)) if verb.prefix and separate else None
        if verb.prefix and not separate:
            form = verb.prefix + form
        return Node(form, "VERB", "root", (key,), lemma, feats), None, prefix

    def _auxiliary(self, form: str, lemma: str, key: int, tense: str) -> Node:
        return Node(form, "AUX", "aux", (key,), lemma, f"Tense={tense}|VerbForm=Fin")

    # --- the field between the verbs

    def middle(self, clause: Clause, subject: Node | None) -> tuple[list[Node], list[Node]]:
        """What stands between the two verbs, and what comes after the last one."""
        assert clause.verb is not None
        verb = self.verbs[clause.verb.id]
        field = [subject] if subject is not None else []
        thing = clause.object
        known = thing is not None and thing.determiner not in ("indefinite", "count", "many") and not verb.preposition
        nothing = thing is not None and thing.determiner == "indefinite" and clause.negative and not verb.preposition
        late: list[Node] = []
        if clause.time is not None and not clause.time_first:
            field.append(self.adverbial(clause.time))
        if clause.frequency is not None:
            field.append(self.adverbial(clause.frequency))
        if clause.recipient is not None:
            field.append(self.phrase(clause.recipient, "iobj", DATIVE))
        if thing is not None and not clause.passive:
            relation = (
                "obl" if verb.preposition or thing.is_duration else "obj" if verb.case == ACCUSATIVE else "obl:arg"
            )
            node = self.phrase(thing, relation, verb.case, verb.preposition, nothing)
            (field if known else late).append(node)
        if clause.negative and not nothing:
            field.append(Node("nicht", "PART", "advmod", (clause.key + NEGATION,)))
        elif nothing:
            late[0].before[0].keys += (clause.key + NEGATION,)
        if clause.passive and clause.object is not None:
            field.append(self.phrase(clause.object, "obl:agent", DATIVE, "von"))
        if clause.place is not None:
            field.append(self.place(clause.place, "obl"))
        if clause.companion is not None:
            field.append(self.phrase(clause.companion, "obl", DATIVE, "mit"))
        if clause.instrument is not None:
            field.append(self.phrase(clause.instrument, "obl", DATIVE, "mit"))
        if clause.manner is not None:
            field.append(self.adverbial(clause.manner))
        field.extend(late)
        if clause.goal is not None:
            field.append(self.toward(clause.goal))
        return field, self.after(clause)

    def after(self, clause: Clause) -> list[Node]:
        """Clauses after the last verb."""
        nodes = []
        if clause.infinitive is not None:
            nodes.append(self.with_commas(self.infinitive(clause.infinitive, "xcomp"), before=True))
        if clause.purpose is not None:
            node = self.infinitive(clause.purpose, "advcl")
            node.before.insert(0, Node("um", "SCONJ", "mark", (clause.purpose.key + MARK,)))
            nodes.append(self.with_commas(node, before=True))
        if clause.content is not None:
            opening = Node("dass", "SCONJ", "mark", (clause.content.key + MARK,))
            node = self.subordinate(clause.content, opening)
            node.deprel = "ccomp"
            nodes.append(self.with_commas(node, before=True))
        if clause.subordinate is not None and not clause.subordinate.first:
            nodes.append(self.with_commas(self.adverbial_clause(clause), before=True))
        return nodes

    def infinitive(self, clause: Clause, relation: str) -> Node:
        """An infinitive with *zu*, which a separable prefix takes inside."""
        assert clause.verb is not None
        verb = self.verbs[clause.verb.id]
        field, after = self.middle(clause, None)
        if verb.prefix:
            node = Node(
                f"{verb.prefix}zu{verb.stem}", "VERB", relation, (clause.key, clause.key + MARK), verb.infinitive
            )
            node.before = field
        else:
            node = Node(verb.stem, "VERB", relation, (clause.key,), verb.stem)
            node.before = [*field, Node("zu", "PART", "mark", (clause.key + MARK,))]
        node.feats = "VerbForm=Inf"
        node.after = after
        return node

    # --- clauses

    def main(self, clause: Clause) -> Node:
        clause = modal_of(clause)
        subject = clause.subject
        node = self.second(clause, subject)
        if clause.conjunct is not None:
            conjunct = clause.conjunct
            cc = Node(self.words["conjunctions"][clause.conjunction], "CCONJ", "cc", (conjunct.key + MARK,))
            if clause.shared_subject:
                assert subject is not None
                other = self.second(replace(conjunct, subject=None), None, subject.agreement)
                self._share_auxiliary(node, other)
            else:
                other = self.second(conjunct, conjunct.subject)
            other.before.insert(0, cc)
            other.deprel = "conj"
            if clause.conjunction == "but":
                other.before.insert(0, comma())
            node.after.append(other)
        return node

    @staticmethod
    def _share_auxiliary(first: Node, second: Node) -> None:
        """*Hat … geöffnet und … gelesen*: an auxiliary that both verbs have is said once."""
        shared = [(a, b) for a in first.before for b in second.before if a.deprel == b.deprel == "aux"]
        if shared and shared[0][0].lemma == shared[0][1].lemma:
            second.before.remove(shared[0][1])

    def second(self, clause: Clause, subject: Phrase | None, agreement: int = THIRD) -> Node:
        """A main clause: finite verb second, or first in polar questions and commands."""
        if subject is not None:
            agreement = subject.agreement
        if clause.verb is None:
            return self._copular(clause, subject, agreement)
        head, auxiliary, prefix = self.cluster(clause, agreement, separate=True)
        opening = self._opening(clause)
        node = None
        if subject is not None and clause.force != "command":
            node = self.phrase(subject, "nsubj:pass" if clause.passive else "nsubj", NOMINATIVE)
        if not opening and clause.force == "statement" and node is not None:
            opening, node = [node], None
        field, after = self.middle(clause, node)
        if clause.please:
            opening.insert(0, Node("bitte", "INTJ", "discourse", (clause.key + PART,)))
        if auxiliary is not None:
            head.before = [*opening, auxiliary, *field]
            head.after = after
        else:
            head.before = opening
            head.after = [*field, *([prefix] if prefix is not None else []), *after]
        return head

    def _opening(self, clause: Clause) -> list[Node]:
        """What fills the place before the finite verb, other than the subject."""
        key = (clause.question_key,)
        match clause.force:
            case "subject":
                return [Node("wer", "PRON", "nsubj", key, feats="PronType=Int")]
            case "object":
                return [Node("was", "PRON", "obj", key, feats="PronType=Int")]
            case "place" | "time" | "reason":
                return [Node(self.words["question"][clause.force], "ADV", "advmod", key, feats="PronType=Int")]
        if clause.subordinate is not None and clause.subordinate.first:
            return [self.with_commas(self.adverbial_clause(clause), after=True)]
        if clause.time is not None and clause.time_first and clause.force == "statement":
            return [self.adverbial(clause.time)]
        return []

    def adverbial_clause(self, clause: Clause) -> Node:
        subordinate = clause.subordinate
        assert subordinate is not None
        word = self.words["conjunctions"][subordinate.conjunction]
        node = self.subordinate(subordinate.clause, Node(word, "SCONJ", "mark", (subordinate.key + MARK,)))
        node.deprel = "advcl"
        return node

    def subordinate(self, clause: Clause, opening: Node) -> Node:
        """A clause with its own subject and the finite verb at the end."""
        clause = modal_of(clause)
        if clause.verb is not None:
            return self.verb_final(clause, opening)
        assert clause.subject is not None
        node = self._copular(clause, clause.subject, clause.subject.agreement)
        copula = node.before.pop(1)
        node.after.insert(0, copula)
        node.before.insert(0, opening)
        return node

    def verb_final(self, clause: Clause, opening: Node, agreement: int = THIRD) -> Node:
        subject = None
        if clause.subject is not None:
            agreement = clause.subject.agreement
            subject = self.phrase(clause.subject, "nsubj", NOMINATIVE)
        head, auxiliary, _ = self.cluster(clause, agreement, separate=False)
        field, after = self.middle(replace(clause, time_first=False), subject)
        head.before = [opening, *field]
        head.after = [*([auxiliary] if auxiliary is not None else []), *after]
        return head

    def _copular(self, clause: Clause, subject: Phrase | None, agreement: int) -> Node:
        past = clause.tense == "past"
        form = self.words["be"]["past" if past else "present"][agreement]
        copula = Node(
            form, "AUX", "cop", (clause.key + AUX,), "sein", f"Tense={'Past' if past else 'Pres'}|VerbForm=Fin"
        )
        if clause.existing is not None:
            return self._existential(clause, copula)
        assert subject is not None
        who = self.phrase(subject, "nsubj", NOMINATIVE)
        head = self.phrase(clause.class_, "root", NOMINATIVE) if clause.class_ is not None else self._quality(clause)
        opening = [copula, who] if clause.force == "polar" else [who, copula]
        if clause.negative:
            opening.append(Node("nicht", "PART", "advmod", (clause.key + NEGATION,)))
        head.before = [*opening, *head.before]
        if clause.subordinate is not None:
            head.after.extend(self.after(clause))
        return head

    def _quality(self, clause: Clause) -> Node:
        assert clause.quality is not None
        if clause.than is None:
            head = Node(self.adjective(clause.quality), "ADJ", "root", (clause.key,), feats="Degree=Pos")
            if clause.very:
                head.before.append(Node("sehr", "ADV", "advmod", (clause.key + DEGREE,)))
            return head
        form, lemma = self.adjectives[clause.quality.id][2], self.adjective(clause.quality)
        head = Node(form, "ADJ", "root", (clause.key, clause.key + DEGREE), lemma, "Degree=Cmp")
        head.after.append(self.phrase(clause.than, "obl", NOMINATIVE, "als"))
        return head

    def _existential(self, clause: Clause, copula: Node) -> Node:
        assert clause.existing is not None and clause.place is not None
        copula.upos, copula.deprel, copula.keys = "VERB", "root", (clause.key,)
        copula.form = self.words["be"]["present"][clause.existing.agreement]
        thing = self.phrase(clause.existing, "nsubj", NOMINATIVE)
        place = self.place(clause.place, "obl")
        if clause.force == "polar":
            copula.after = [thing, place]
        else:
            copula.before, copula.after = [place], [thing]
        return copula
