"""English noun phrases: articles, possessives with 's, prepositional phrases, relative clauses."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from functools import cached_property

from nbkit.sandbox.grammars.base import Grammar, features, fixed, governed
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
    verbals,
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


_VOWEL_LETTERS = "aeiou"


def verb_forms(cell: str) -> dict[str, str]:
    """Base, third person, past, participle and -ing form.

    >>> verb_forms("carry")["past"], verb_forms("run,ran,run")["ing"], verb_forms("smile")["ing"]
    ('carried', 'running', 'smiling')
    """
    parts = cell.split()[0].split(",")
    base = parts[0]
    if base[-1] == "y" and base[-2] not in _VOWEL_LETTERS:
        third, past = base[:-1] + "ies", base[:-1] + "ied"
    else:
        third = base + ("es" if base.endswith(("s", "sh", "ch", "x", "o")) else "s")
        past = base + ("d" if base.endswith("e") else "ed")
    doubled = base in _DOUBLED
    if base.endswith("ie"):
        ing = base[:-2] + "ying"
    elif base.endswith("e") and not base.endswith("ee"):
        ing = base[:-1] + "ing"
    else:
        ing = base + (base[-1] if doubled else "") + "ing"
    if len(parts) == 1:
        return {"base": base, "third": third, "past": past, "participle": past, "ing": ing}
    return {"base": base, "third": third, "past": parts[1], "participle": parts[2], "ing": ing}


_DOUBLED = frozenset({"swim", "run", "cut", "begin", "forget", "get", "hit", "drop", "win", "admit", "commit"})


class English(EnglishPhrases):
    @cached_property
    def verbs(self) -> dict[str, dict[str, str]]:
        entries = {}
        for lexeme in verbals():
            entries[lexeme.id] = verb_forms(lexeme.cells["en"])
            _, options, flags = governed(lexeme, "en")
            entries[lexeme.id]["preposition"] = flags[0][1:] if flags else ""
            entries[lexeme.id]["recipient"] = options.get("iobj", "")
        return entries

    # --- verbs

    def auxiliaries(self, clause: Clause, agreement: int) -> tuple[list[Node], str, str]:
        """Auxiliaries with negation, the name of the lexical verb's form, and its features."""
        key = clause.key
        past = clause.tense == "past"
        if clause.modal:
            form = "could" if clause.modal == "can" and past else clause.modal
            aux, verb = [Node(form, "AUX", "aux", (key + MODAL,), clause.modal, "VerbForm=Fin")], "base"
        elif clause.passive:
            form = self.words["be"]["past"][agreement]
            aux = [Node(form, "AUX", "aux:pass", (key + AUX,), "be", "Tense=Past|VerbForm=Fin")]
            verb = "participle"
        elif clause.tense == "progressive":
            form = self.words["be"]["present"][agreement]
            aux, verb = [Node(form, "AUX", "aux", (key + AUX,), "be", "Tense=Pres|VerbForm=Fin")], "ing"
        elif clause.tense == "future":
            aux, verb = [Node("will", "AUX", "aux", (key + AUX,), "will", "VerbForm=Fin")], "base"
        elif clause.negative or (clause.force not in ("statement", "subject", "command")):
            form = "did" if past else "does" if agreement == THIRD else "do"
            feats = "Tense=Past|VerbForm=Fin" if past else "Tense=Pres|VerbForm=Fin"
            aux, verb = [Node(form, "AUX", "aux", (key + AUX,), "do", feats)], "base"
        else:
            aux, verb = [], "past" if past else "third" if agreement == THIRD else "base"
        if clause.negative:
            self._negate(aux)
            aux[-1].keys = (key + NEGATION,)
        feats = {
            "past": "Tense=Past|VerbForm=Fin",
            "third": "Number=Sing|Person=3|Tense=Pres|VerbForm=Fin",
            "base": "VerbForm=Inf" if aux else "Tense=Pres|VerbForm=Fin",
            "ing": "VerbForm=Ger",
            "participle": "VerbForm=Part",
        }[verb]
        return aux, verb, feats

    def _negate(self, auxiliaries: list[Node]) -> None:
        auxiliary = auxiliaries[0]
        if auxiliary.form == "am":
            auxiliaries.insert(1, Node("not", "PART", "advmod", lemma="not"))
            return
        auxiliary.form = self.words["negated"].get(auxiliary.form, auxiliary.form)
        auxiliary.space = False
        auxiliaries.insert(1, Node("n't", "PART", "advmod", lemma="not"))

    # --- clauses

    def main(self, clause: Clause) -> Node:
        node = self.clause(clause)
        if clause.conjunct is not None:
            conjunct = clause.conjunct
            if clause.shared_subject:
                conjunct = replace(conjunct, subject=None)
            other = self.clause(conjunct, agreement=clause.subject.agreement if clause.subject else THIRD)
            other.deprel = "conj"
            other.before.insert(0, Node(clause.conjunction, "CCONJ", "cc", (clause.conjunct.key + MARK,)))
            if not clause.shared_subject:
                other.before.insert(0, comma())
            node.after.append(other)
        return node

    def clause(self, clause: Clause, subject_node: Node | None = None, agreement: int = THIRD) -> Node:
        """A clause; the subject is *subject_node* where it is a relative or interrogative pronoun."""
        if clause.subject is not None:
            agreement = clause.subject.agreement
            subject_node = self.phrase(clause.subject, "nsubj:pass" if clause.passive else "nsubj", case=0)
        if clause.existing is not None:
            return self._existential(clause)
        if clause.quality is not None or clause.class_ is not None:
            return self._copular(clause, subject_node, agreement)
        assert clause.verb is not None
        entry = self.verbs[clause.verb.id]
        auxiliaries, form, feats = self.auxiliaries(clause, agreement)
        head = Node(entry[form], "VERB", "root", (clause.key,), entry["base"], feats)
        question, subject_node = self._question(clause, subject_node)
        self._opening(clause, head)
        if question is not None:
            head.before.append(question)
        inverted = clause.force in ("polar", "object", "place", "time", "reason")
        if inverted:
            cut = 2 if clause.negative else 1
            head.before.extend(auxiliaries[:cut])
            auxiliaries = auxiliaries[cut:]
        if subject_node is not None and clause.force != "command":
            head.before.append(subject_node)
        head.before.extend(auxiliaries)
        if clause.frequency is not None and "phrase" not in clause.frequency.adverb.kinds:
            head.before.append(self.adverbial(clause.frequency))
        self._complements(clause, head, entry)
        self._closing(clause, head)
        return head

    def _question(self, clause: Clause, subject: Node | None) -> tuple[Node | None, Node | None]:
        key = (clause.question_key,)
        if clause.force == "subject":
            return None, Node("who", "PRON", "nsubj", key, feats="PronType=Int")
        if clause.force == "object":
            return Node("what", "PRON", "obj", key, feats="PronType=Int"), subject
        if clause.force in ("place", "time", "reason"):
            return Node(self.words["question"][clause.force], "ADV", "advmod", key, feats="PronType=Int"), subject
        return None, subject

    def _opening(self, clause: Clause, head: Node) -> None:
        if clause.subordinate is not None and clause.subordinate.first:
            node = self._subordinate(clause)
            head.before.append(self.with_commas(node, after=True))
        if clause.please:
            head.before.append(Node("please", "INTJ", "discourse", (clause.key + PART,)))
        if clause.time is not None and clause.time_first:
            head.before.append(self.adverbial(clause.time))

    def _complements(self, clause: Clause, head: Node, entry: dict[str, str]) -> None:
        preposition = entry["preposition"]
        if clause.recipient is not None and not entry["recipient"]:
            head.after.append(self.phrase(clause.recipient, "iobj"))
        if clause.object is not None:
            if clause.passive:
                head.after.append(self.phrase(clause.object, "obl:agent", "by"))
            else:
                oblique = preposition or clause.object.is_duration
                head.after.append(self.phrase(clause.object, "obl" if oblique else "obj", preposition))
        if clause.recipient is not None and entry["recipient"]:
            head.after.append(self.phrase(clause.recipient, "obl", entry["recipient"]))
        if clause.goal is not None:
            head.after.append(self.phrase(clause.goal, "obl", "to"))
        if clause.manner is not None:
            head.after.append(self.adverbial(clause.manner))
        if clause.instrument is not None:
            head.after.append(self.phrase(clause.instrument, "obl", "with"))
        if clause.companion is not None:
            head.after.append(self.phrase(clause.companion, "obl", "with"))
        if clause.infinitive is not None:
            head.after.append(self._infinitive(clause.infinitive, "xcomp"))
        if clause.purpose is not None:
            head.after.append(self._infinitive(clause.purpose, "advcl"))
        if clause.content is not None:
            content = self.clause(clause.content)
            content.deprel = "ccomp"
            content.before.insert(0, Node("that", "SCONJ", "mark", (clause.content.key + MARK,)))
            head.after.append(content)

    def _closing(self, clause: Clause, head: Node) -> None:
        if clause.place is not None:
            head.after.append(self.place(clause.place, "obl"))
        if clause.frequency is not None and "phrase" in clause.frequency.adverb.kinds:
            head.after.append(self.adverbial(clause.frequency))
        if clause.time is not None and not clause.time_first:
            head.after.append(self.adverbial(clause.time))
        if clause.subordinate is not None and not clause.subordinate.first:
            head.after.append(self._subordinate(clause))

    def _infinitive(self, clause: Clause, relation: str) -> Node:
        assert clause.verb is not None
        entry = self.verbs[clause.verb.id]
        node = Node(entry["base"], "VERB", relation, (clause.key,), entry["base"], "VerbForm=Inf")
        node.before.append(Node("to", "PART", "mark", (clause.key + MARK,)))
        self._complements(clause, node, entry)
        self._closing(clause, node)
        return node

    def _subordinate(self, clause: Clause) -> Node:
        subordinate = clause.subordinate
        assert subordinate is not None
        node = self.clause(subordinate.clause)
        node.deprel = "advcl"
        word = self.words["conjunctions"][subordinate.conjunction]
        node.before.insert(0, Node(word, "SCONJ", "mark", (subordinate.key + MARK,)))
        return node

    def _copular(self, clause: Clause, subject: Node | None, agreement: int) -> Node:
        past = clause.tense == "past"
        form = self.words["be"]["past" if past else "present"][agreement]
        copula = [
            Node(form, "AUX", "cop", (clause.key + AUX,), "be", f"Tense={'Past' if past else 'Pres'}|VerbForm=Fin")
        ]
        if clause.negative:
            self._negate(copula)
            copula[-1].keys = (clause.key + NEGATION,)
        if clause.class_ is not None:
            head = self.phrase(clause.class_, "root")
        else:
            assert clause.quality is not None
            head = self._quality(clause)
        inner = head.before
        head.before = []
        self._opening(clause, head)
        parts = [subject] if subject is not None else []
        if clause.force == "polar":
            head.before.extend([*copula, *parts])
        else:
            head.before.extend([*parts, *copula])
        head.before.extend(inner)
        self._closing(clause, head)
        return head

    def _quality(self, clause: Clause) -> Node:
        assert clause.quality is not None
        if clause.than is None:
            head = self.adjective(clause.quality, clause.key, "root")
            if clause.very:
                head.before.append(Node("very", "ADV", "advmod", (clause.key + DEGREE,)))
            return head
        forms = features(clause.quality.cells["en"])[0]
        if len(forms) > 1:
            head = Node(forms[1], "ADJ", "root", (clause.key, clause.key + DEGREE), forms[0], "Degree=Cmp")
        else:
            head = Node(forms[0], "ADJ", "root", (clause.key,), feats="Degree=Pos")
            head.before.append(Node("more", "ADV", "advmod", (clause.key + DEGREE,), feats="Degree=Cmp"))
        head.after.append(self.phrase(clause.than, "obl", "than"))
        return head

    def _existential(self, clause: Clause) -> Node:
        assert clause.existing is not None
        form = self.words["be"]["past" if clause.tense == "past" else "present"][clause.existing.agreement]
        head = Node(form, "VERB", "root", (clause.key,), "be", "VerbForm=Fin")
        there = Node("there", "PRON", "expl", (clause.key,))
        head.before = [head_part for head_part in (there,) if clause.force != "polar"]
        if clause.force == "polar":
            head.after.append(there)
        head.after.append(self.phrase(clause.existing, "nsubj"))
        self._closing(clause, head)
        return head

    def spell(self, nodes: list[Node]) -> None:
        following = nodes[-1]
        for node in reversed(nodes[:-1]):
            if node.form == "a" and node.upos == "DET":
                vowel = following.form[0].lower() in _VOWEL_LETTERS
                if following.form in self.words["a_before"]:
                    vowel = False
                if following.form in self.words["an_before"]:
                    vowel = True
                node.form = "an" if vowel else "a"
            following = node
