"""Spanish: personal *a*, dropped pronouns, estar + gerund, ser and estar, ¿ ?."""

from __future__ import annotations

import re
from functools import cached_property
from itertools import pairwise

from nbkit.sandbox.grammars.base import features
from nbkit.sandbox.grammars.romance import Romance, Verb, cell_of, negation
from nbkit.sandbox.meaning import AUX, DET, Clause, Node, Phrase, table

_BARE = str.maketrans("áéíóú", "aeiou")


# how the last consonant of a stem is spelled before e
_BEFORE_E = {"c": "qu", "g": "gu", "z": "c"}


class Spanish(Romance):
    lang = "es"
    location = "en"
    goal = "a"
    inverting = frozenset({"object", "place", "time", "reason"})

    def plural(self, noun: str, feminine: bool) -> str:
        """The plural.

        >>> [Spanish().plural(noun, False) for noun in ("lápiz", "camión", "papel", "sofá", "tomate")]
        ['lápices', 'camiones', 'papeles', 'sofás', 'tomates']
        """
        if noun[-1] in "aeioué" or noun.endswith("á"):
            return noun + "s"
        if noun.endswith("z"):
            return noun[:-1] + "ces"
        if re.search(r"[áéíóú][ns]$", noun):
            return noun[:-2] + noun[-2:].translate(_BARE) + "es"
        return noun + "es"

    def adjective_forms(self, forms: list[str]) -> tuple[str, str, str, str]:
        masculine = forms[0]
        feminine = masculine[:-1] + "a" if masculine.endswith("o") else masculine
        plural = forms[1] if len(forms) > 1 else self.plural(masculine, False)
        return masculine, feminine, plural, feminine + "s" if feminine != masculine else plural

    @cached_property
    def passing(self) -> frozenset[str]:
        """The adjectives that take *estar*."""
        return frozenset(a.id for a in table("adjectives") if "estar" in features(a.cells["es"])[0])

    def definite(self, feminine: bool, plural: bool, following: str) -> str:
        return self.words["definite"][cell_of(feminine, plural)]

    def indefinite(self, feminine: bool, following: str) -> str:
        return self.words["indefinite"][feminine]

    def merge(self, preposition: str, article: str) -> str | None:
        return self.words["contractions"].get(f"{preposition} {article}")

    def determine(self, node: Node, phrase: Phrase, feminine: bool, following: str) -> None:
        key, cell = phrase.key, cell_of(feminine, phrase.plural)
        match phrase.determiner:
            case "this" | "that":
                forms = self.words["demonstrative"][phrase.determiner]
                form = forms[cell]
                node.before.insert(0, Node(form, "DET", "det", (key + DET,), forms[0]))
            case "many":
                form = self.words["many"][feminine]
                node.before.insert(0, Node(form, "DET", "det", (key + DET,), "mucho"))
            case "own":
                assert phrase.possessor is not None
                forms = self.words["possessives"][str(phrase.possessor.agreement)]
                node.before.insert(0, Node(forms[cell], "DET", "det", (phrase.possessor.key,), forms[0], "Poss=Yes"))

    # --- verbs

    def conjugate(self, cell: str, options: dict[str, str], flags: list[str]) -> Verb:
        """A verb's forms.

            >>> verb = Spanish().conjugate("buscar", {}, [])
            >>> verb.present[0], verb.past[0], verb.gerund
            ('busco', 'busqué', 'buscando')
        >>> Spanish().conjugate("empezar", {}, []).past[0]
        'empecé'
        """
        kind = cell[-2:].translate(_BARE)
        stem = cell[:-2]
        strong = options.get("stem", stem)
        if kind == "ar":
            weak = stem + "amos"
            present = [strong + "o", strong + "as", strong + "a", weak, strong + "an"]
            first = stem[:-1] + _BEFORE_E.get(stem[-1], stem[-1])
            past = [first + "é", stem + "aste", stem + "ó", stem + "amos", stem + "aron"]
            imperfect = [stem + ending for ending in ("aba", "abas", "aba", "ábamos", "aban")]
            gerund, participle = stem + "ando", stem + "ado"
        else:
            weak = stem + ("emos" if kind == "er" else "imos")
            soft = re.sub("g$", "j", strong) if stem.endswith("g") else strong
            present = [soft + "o", strong + "es", strong + "e", weak, strong + "en"]
            past = [stem + ending for ending in ("í", "iste", "ió", "imos", "ieron")]
            imperfect = [stem + ending for ending in ("ía", "ías", "ía", "íamos", "ían")]
            gerund, participle = stem + "iendo", stem + "ido"
        if "stem" in options and strong.endswith("y"):
            gerund = stem + "yendo"
        present = options["pres"].split(",") if "pres" in options else present
        past = options["pret"].split(",") if "pret" in options else past
        future = options.get("fut", cell)
        return Verb(
            cell,
            tuple(present),
            tuple(past),
            tuple(imperfect),
            tuple(future + ending for ending in ("é", "ás", "á", "emos", "án")),
            options.get("pp", participle),
            options.get("ger", gerund),
            present[2],
            False,
            flags[0][1:] if flags else "",
        )

    def cluster(self, clause: Clause, verb: Verb, agreement: int, participle: int) -> tuple[list[Node], Node]:
        past = clause.tense == "past"
        if clause.modal:
            return [self.modal(clause, agreement)], self.lexical(clause, verb.infinitive, verb, "VerbForm=Inf")
        if clause.passive:
            auxiliary = self.auxiliary(self.words["be"]["passive"][agreement], "ser", clause.key + AUX, "Past")
            auxiliary.deprel = "aux:pass"
            form = self.adjective_participle(verb.participle, participle)
            return [auxiliary], self.lexical(clause, form, verb, "VerbForm=Part")
        if clause.tense == "progressive" and clause.verb is not None and "go" not in clause.verb.kinds:
            auxiliary = self.auxiliary(self.words["stay"]["present"][agreement], "estar", clause.key + AUX)
            return [auxiliary], self.lexical(clause, verb.gerund, verb, "VerbForm=Ger")
        if past:
            wanted = clause.verb is not None and clause.verb.id == "want"
            forms = verb.imperfect if wanted else verb.past
            tense = "Imp" if wanted else "Past"
            return [], self.lexical(clause, forms[agreement], verb, f"Tense={tense}|VerbForm=Fin")
        return [], self.finite(clause, verb, agreement)

    def negate(self, clause: Clause, before: list[Node], head: Node) -> None:
        before.insert(0, negation("no", clause))

    def copula(self, clause: Clause) -> tuple[list[str], str]:
        if clause.quality is not None and clause.quality.id in self.passing:
            return self.words["stay"]["past" if clause.tense == "past" else "present"], "estar"
        return super().copula(clause)

    def existential(self, clause: Clause) -> Node:
        assert clause.existing is not None and clause.place is not None
        head = Node("hay", "VERB", "root", (clause.key,), "haber", "Tense=Pres|VerbForm=Fin")
        head.after = [self.phrase(clause.existing, "obj"), self.place(clause.place, "obl")]
        return head

    def main(self, clause: Clause) -> Node:
        node = super().main(clause)
        opening = {"statement": "", "command": "¡"}.get(clause.force, "¿")
        if opening:
            mark = Node(opening, "PUNCT", "punct")
            mark.space = False
            node.before.insert(0, mark)
        return node

    def spell(self, nodes: list[Node]) -> None:
        for node, following in pairwise(nodes):
            if node.form == "y" and re.match(r"(i|hi|í)(?!e)", following.form.lower()):
                node.form = "e"
