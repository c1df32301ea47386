"""French: elision, ne … pas, est-ce que, passé composé with agreement, adjectives before and after the noun."""

from __future__ import annotations

import re
from itertools import pairwise

from nbkit.sandbox.grammars.romance import Romance, Verb, cell_of, negation
from nbkit.sandbox.meaning import AUX, DET, Clause, Node, Phrase

_ELIDED = {
    "le": "l'", "la": "l'", "de": "d'", "ne": "n'", "que": "qu'", "je": "j'", "me": "m'", "se": "s'",
}  # fmt: skip


class French(Romance):
    lang = "fr"
    location = "dans"
    goal = "à"
    drops_pronouns = False

    def plural(self, noun: str, feminine: bool) -> str:
        return noun if noun[-1] in "sxz" else noun + "s"

    def adjective_forms(self, forms: list[str]) -> tuple[str, str, str, str]:
        """The four forms.

        >>> French().adjective_forms(["grand"])
        ('grand', 'grande', 'grands', 'grandes')
        """
        masculine = forms[0]
        feminine = forms[1] if len(forms) > 1 else masculine if masculine.endswith("e") else masculine + "e"
        plural = forms[2] if len(forms) > 2 else self.plural(masculine, False)
        return masculine, feminine, plural, feminine + "s"

    def definite(self, feminine: bool, plural: bool, following: str) -> str:
        if plural:
            return "les"
        if self.starts_with_vowel(following):
            return "l'"
        return "la" if feminine else "le"

    def indefinite(self, feminine: bool, following: str) -> str:
        return "une" if feminine else "un"

    def merge(self, preposition: str, article: str) -> str | None:
        return self.words["contractions"].get(f"{preposition} {article}")

    def determine(self, node: Node, phrase: Phrase, feminine: bool, following: str) -> None:
        key = phrase.key
        vowel = self.starts_with_vowel(following)
        match phrase.determiner:
            case "this" | "that":
                form = self.words["demonstrative"][cell_of(feminine, phrase.plural)]
                form = "cet" if form == "ce" and vowel else form
                node.before.insert(0, Node(form, "DET", "det", (key + DET,), "ce"))
            case "many":
                many = Node("beaucoup", "ADV", "advmod", (key + DET,))
                node.before[:0] = [many, Node("de", "ADP", "case", (key + DET,))]
            case "own":
                assert phrase.possessor is not None
                owner = phrase.possessor
                forms = self.words["possessives"][str(owner.agreement)]
                index = 2 if phrase.plural else 3 if vowel else int(feminine)
                node.before.insert(0, Node(forms[index], "DET", "det", (owner.key,), forms[0], "Poss=Yes"))

    # --- verbs

    def conjugate(self, cell: str, options: dict[str, str], flags: list[str]) -> Verb:
        """A verb's forms.

        >>> verb = French().conjugate("acheter", {}, [])
        >>> verb.present, verb.future[2], verb.participle
        (('achète', 'achètes', 'achète', 'achetons', 'achètent'), 'achètera', 'acheté')
        """
        infinitive, _, table = cell.partition(":")
        if table:
            *present, participle, future = table.split(",")
            imperative = present[1].removesuffix("s") if present[1].endswith("es") else present[1]
        else:
            stem = infinitive[:-2]
            strong = re.sub(r"[eé]([bcdfgjklmnprtv])$", r"è\1", stem)
            future = infinitive if "é" in stem[-2:] or strong == stem else strong + "er"
            if infinitive.endswith("oyer"):
                strong = stem[:-1] + "i"
                future = strong + "er"
            soft = stem + "e" if stem.endswith("g") else stem[:-1] + "ç" if stem.endswith("c") else stem
            present = [strong + "e", strong + "es", strong + "e", soft + "ons", strong + "ent"]
            participle, imperative = stem + "é", strong + "e"
        future = options.get("fut", future)
        past_stem = present[3].removesuffix("ons")
        preposition = flags[0][1:] if flags else ""
        return Verb(
            infinitive,
            tuple(present),
            (),
            tuple(past_stem + ending for ending in ("ais", "ais", "ait", "ions", "aient")),
            tuple(future + ending for ending in ("ai", "as", "a", "ons", "ont")),
            participle,
            "",
            imperative,
            options.get("aux") == "être",
            preposition,
        )

    def cluster(self, clause: Clause, verb: Verb, agreement: int, participle: int) -> tuple[list[Node], Node]:
        past = clause.tense == "past"
        if clause.modal:
            # French modals are full verbs: the infinitive is their complement
            modal = self.modal(clause, agreement)
            modal.upos, modal.deprel, modal.tag = "VERB", "root", "modal"
            infinitive = self.lexical(clause, verb.infinitive, verb, "VerbForm=Inf")
            infinitive.deprel = "xcomp"
            modal.after.append(infinitive)
            return [], modal
        agreed = self.adjective_participle(verb.participle, participle)
        if clause.passive:
            has = self.auxiliary(self.words["have"][agreement], "avoir", clause.key + AUX)
            been = Node(self.words["been"], "AUX", "aux:pass", (clause.key + AUX,), "être", "VerbForm=Part")
            return [has, been], self.lexical(clause, agreed, verb, "VerbForm=Part")
        if past and clause.verb is not None and clause.verb.id == "want":
            return [], self.lexical(clause, verb.imperfect[agreement], verb, "Tense=Imp|VerbForm=Fin")
        if past:
            forms, lemma = (self.words["be"]["present"], "être") if verb.with_be else (self.words["have"], "avoir")
            auxiliary = self.auxiliary(forms[agreement], lemma, clause.key + AUX)
            return [auxiliary], self.lexical(clause, agreed, verb, "VerbForm=Part")
        return [], self.finite(clause, verb, agreement)

    def negate(self, clause: Clause, before: list[Node], head: Node) -> None:
        if before:
            before[:1] = [negation("ne", clause), before[0], negation("pas", clause)]
        else:
            before.append(negation("ne", clause))
            head.after.insert(0, negation("pas", clause))

    def question_particles(self, clause: Clause) -> list[Node]:
        if clause.force == "subject":
            return []
        key = (clause.key + AUX,)
        verb = Node("est", "AUX", "aux", key, "être", "Tense=Pres|VerbForm=Fin")
        verb.space = False
        return [verb, Node("-ce", "PRON", "expl:subj", key, "ce"), Node("que", "SCONJ", "mark", key)]

    def existential(self, clause: Clause) -> Node:
        assert clause.existing is not None and clause.place is not None
        head = Node("a", "VERB", "root", (clause.key,), "avoir", "Tense=Pres|VerbForm=Fin")
        head.before = [Node(form, "PRON", "expl", (clause.key,)) for form in ("il", "y")]
        head.after = [self.phrase(clause.existing, "obj"), self.place(clause.place, "obl")]
        return head

    def spell(self, nodes: list[Node]) -> None:
        for node, following in pairwise(nodes):
            if following.upos == "PUNCT" or following.form[0] == "-":
                continue
            if node.form in _ELIDED and self.starts_with_vowel(following.form):
                node.form = _ELIDED[node.form]
            elif node.form == "si" and node.upos == "SCONJ" and following.form in ("il", "ils"):
                node.form = "s'"
            if node.form.endswith("'"):
                node.space = False
