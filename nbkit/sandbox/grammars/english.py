"""English: articles, possessives with 's, do-support and negation, a/an."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from nbkit.sandbox.grammars import NOMINATIVE, Grammar, Noun, features, marker_of
from nbkit.sandbox.meaning import AUX, CASE, DET, MARK, MODAL, NEGATION, THIRD, Clause, Lexeme, Node, Phrase

_VOWELS = "aeiou"

_DOUBLED = frozenset({"swim", "run", "cut", "begin", "forget", "get", "hit", "drop", "win", "admit", "commit"})

#: The features of the forms of a verb; a base form without an auxiliary is a present.
_FEATURES = {
    "past": "Tense=Past|VerbForm=Fin",
    "third": "Number=Sing|Person=3|Tense=Pres|VerbForm=Fin",
    "present": "Tense=Pres|VerbForm=Fin",
    "base": "VerbForm=Inf",
    "ing": "VerbForm=Ger",
    "participle": "VerbForm=Part",
}


@dataclass(frozen=True, slots=True)
class Verb:
    """A verb's forms by name, its preposition and the recipient's, which stands after the object then."""

    forms: dict[str, str]
    preposition: str
    recipient: str
    case: int = NOMINATIVE


def verb_forms(cell: str) -> dict[str, str]:
    """Base, present, third person, past, participle and -ing form.

    >>> verb_forms("carry")["past"], verb_forms("run,ran,run")["ing"], verb_forms("smile")["ing"]
    ('carried', 'running', 'smiling')
    """
    base, *irregular = cell.split(",")
    if base[-1] == "y" and base[-2] not in _VOWELS:
        third, past = base[:-1] + "ies", base[:-1] + "ied"
    else:
        third = base + ("es" if base.endswith(("s", "sh", "ch", "x", "o")) else "s")
        past = base + ("d" if base.endswith("e") else "ed")
    if base.endswith("ie"):
        ing = base[:-2] + "ying"
    elif base.endswith("e") and not base.endswith("ee"):
        ing = base[:-1] + "ing"
    else:
        ing = base + (base[-1] if base in _DOUBLED else "") + "ing"
    past, participle = irregular or (past, past)
    return {"base": base, "present": base, "third": third, "past": past, "participle": participle, "ing": ing}


class English(Grammar):
    lang = "en"
    closing = Grammar.closing | {"%"}
    cases = ("Nom", "Acc")
    usual_case = 1

    def decline(self, cell: str) -> Noun:
        """A noun's forms, which have no case, and its preposition of place.

        >>> English().decline("dog").plural[0]
        'dogs'
        """
        forms, options = features(cell)
        plural = forms[1] if len(forms) > 1 else forms[0] + "s"
        return Noun((forms[0],) * 2, (plural,) * 2, location=options.get("loc", "in"))

    def conjugate(self, cell: str, options: dict[str, str], flags: list[str]) -> Verb:
        return Verb(verb_forms(cell), marker_of(flags), options.get("iobj", ""))

    # --- phrases

    def specify(self, node: Node, phrase: Phrase, noun: Noun, case: int) -> None:
        before = node.before
        match phrase.determiner:
            case "definite" | "indefinite" | "no":
                before.append(self.determiner("the" if phrase.determiner == "definite" else "a", phrase))
            case "this" | "that":
                form = {"this": "these", "that": "those"}[phrase.determiner] if phrase.plural else phrase.determiner
                before.append(self.determiner(form, phrase, phrase.determiner))
            case "count":
                before.append(self.numeral(phrase))
            case "many":
                before.append(Node("many", "ADJ", "amod", (phrase.key + DET,), feats="Degree=Pos"))
            case "own" if phrase.possessor is not None:
                before.append(self._possessor(phrase.possessor))
        if phrase.adjective is not None:
            before.append(self.described(features(phrase.adjective.cells["en"])[0][0], phrase))

    def _possessor(self, owner: Phrase) -> Node:
        if owner.noun is None:
            nominative, _, possessive = self.pronoun(owner)
            return Node(possessive, "PRON", "nmod:poss", (owner.key,), nominative, "Poss=Yes")
        node = self.phrase(owner, "nmod:poss")
        node.space = False
        node.after.append(Node("'s", "PART", "case", (owner.key + CASE,)))
        return node

    def relative_pronoun(self, phrase: Phrase) -> tuple[str, str]:
        word = "who" if phrase.is_person and not phrase.relative_object else "that"
        return word, word

    # --- clauses

    def parts_conjuncts(self, clause: Clause) -> bool:
        return not clause.shared_subject

    def clause(self, clause: Clause, absent: Phrase | None = None) -> Node:
        subject = clause.subject or absent
        agreement = subject.agreement if subject is not None else THIRD
        if clause.existing is not None:
            return self._existential(clause, clause.existing)
        if clause.verb is None:
            return self._copular(clause, agreement)
        verb = self.verb_of(clause)
        auxiliaries, form = self._auxiliaries(clause, agreement)
        head = Node(verb.forms[form], "VERB", "root", (clause.key,), verb.forms["base"], _FEATURES[form])
        inverted = 0
        if clause.force in ("polar", "object", "place", "time", "reason"):
            inverted = 2 if clause.negative else 1
        head.before = [
            *self.fill(clause, "opening"),
            *auxiliaries[:inverted],
            *self.fill(clause, "subject"),
            *auxiliaries[inverted:],
            *self.fill(clause, "before_verb"),
        ]
        head.after = self.fill(clause, "after_verb")
        return head

    def _auxiliaries(self, clause: Clause, agreement: int) -> tuple[list[Node], str]:
        """Auxiliaries with negation, and the name of the lexical verb's form."""
        key, be = clause.key + AUX, self.words["be"]
        past = clause.tense == "past"
        if clause.modal:
            word = "could" if clause.modal == "can" and past else clause.modal
            auxiliary, form = Node(word, "AUX", "aux", (clause.key + MODAL,), clause.modal, "VerbForm=Fin"), "base"
        elif clause.passive:
            auxiliary, form = self.auxiliary(be["past"][agreement], "be", key, "Past", "aux:pass"), "participle"
        elif clause.tense == "progressive":
            auxiliary, form = self.auxiliary(be["present"][agreement], "be", key), "ing"
        elif clause.tense == "future":
            auxiliary, form = Node("will", "AUX", "aux", (key,), feats="VerbForm=Fin"), "base"
        elif clause.negative or clause.force not in ("statement", "subject", "command"):
            do = "did" if past else "does" if agreement == THIRD else "do"
            auxiliary, form = self.auxiliary(do, "do", key, "Past" if past else "Pres"), "base"
        else:
            return [], "past" if past else "third" if agreement == THIRD else "present"
        return self._negated(clause, auxiliary), form

    def _negated(self, clause: Clause, auxiliary: Node) -> list[Node]:
        """The auxiliary, and *n't* where the clause is negative."""
        if not clause.negative:
            return [auxiliary]
        form = "not"
        if auxiliary.form != "am":
            auxiliary.form = self.words["negated"].get(auxiliary.form, auxiliary.form)
            auxiliary.space, form = False, "n't"
        return [auxiliary, Node(form, "PART", "advmod", (clause.key + NEGATION,), "not")]

    def say_recipient_first(self, clause: Clause, recipient: Phrase) -> list[Node]:
        return [] if self._recipient_marker(clause) else [self.phrase(recipient, "iobj")]

    def say_recipient_last(self, clause: Clause, recipient: Phrase) -> list[Node]:
        marker = self._recipient_marker(clause)
        return [self.phrase(recipient, "obl", marker)] if marker else []

    def _recipient_marker(self, clause: Clause) -> str:
        return self.verb_of(clause).recipient

    def infinitive(self, clause: Clause, relation: str, marker: str = "to") -> Node:
        base = self.verb_of(clause).forms["base"]
        node = Node(base, "VERB", relation, (clause.key,), feats="VerbForm=Inf")
        node.before.append(Node(marker, "PART", "mark", (clause.key + MARK,)))
        node.after = self.fill(clause, "after_verb")
        return node

    def _copular(self, clause: Clause, agreement: int) -> Node:
        tense = "past" if clause.tense == "past" else "present"
        form = self.words["be"][tense][agreement]
        copula = self._negated(clause, self.auxiliary(form, "be", clause.key + AUX, tense[:4].capitalize(), "cop"))
        head = self.predicate(clause)
        if clause.than is not None and head.upos == "ADJ" and head.before:
            head.before[0].feats = "Degree=Cmp"
        subject = self.fill(clause, "subject")
        parts = [*copula, *subject] if clause.force == "polar" else [*subject, *copula]
        head.before[:0] = self.fill(clause, "opening") + parts
        head.after += self.fill(clause, "late")
        return head

    def predicative(self, clause: Clause, quality: Lexeme) -> tuple[str, ...]:
        positive, *comparative = features(quality.cells["en"])[0]
        return positive, positive, *comparative

    def _existential(self, clause: Clause, thing: Phrase) -> Node:
        form = self.words["be"]["past" if clause.tense == "past" else "present"][thing.agreement]
        head = Node(form, "VERB", "root", (clause.key,), "be", "VerbForm=Fin")
        there = Node("there", "PRON", "expl", (clause.key,))
        (head.after if clause.force == "polar" else head.before).append(there)
        head.after += [self.phrase(thing, "nsubj"), *self.fill(clause, "late")]
        return head

    def spell(self, nodes: list[Node]) -> None:
        for node, following in pairwise(nodes):
            if node.form == "a" and node.upos == "DET":
                vowel = following.form[0].lower() in _VOWELS and following.form not in self.words["a_before"]
                node.form = "an" if vowel or following.form in self.words["an_before"] else "a"
