"""French, Spanish and Italian: agreement, adjectives after their noun, prepositions that merge, dropped pronouns."""

from __future__ import annotations

import re
from abc import abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import ClassVar

from nbsandbox.grammars import NOMINATIVE, Grammar, Noun, marker_of, split_cell, without_article
from nbsandbox.meaning import (
    AUX,
    COUNT,
    DET,
    FIRST,
    MARK,
    MODAL,
    SECOND,
    THIRD,
    WE,
    Clause,
    Lexeme,
    Node,
    Phrase,
    table,
)

#: Beginnings of the words that are nouns to what they count: *deux millions d'euros*.
_SCALES = ("million", "milliard", "billi", "millón", "millones", "billón", "billones", "milion", "miliard")


@dataclass(frozen=True, slots=True)
class Adjective:
    """Forms: masculine, feminine, and their plurals; whether it stands before its noun; the form before a vowel."""

    forms: tuple[str, ...]
    first: bool
    before_vowel: str
    #: Whether Spanish says *estar* of it.
    passing: bool


@dataclass(frozen=True, slots=True)
class Verb:
    """A verb's forms; the tables run over I, you, he/she, we, they."""

    infinitive: str
    present: list[str]
    imperfect: list[str]
    future: list[str]
    participle: str
    imperative: str
    past: list[str]
    gerund: str = ""
    with_be: bool = False
    preposition: str = ""
    case: int = NOMINATIVE


def _with_endings(stem: str, endings: str) -> list[str]:
    """*stem* with each of the endings, which spaces separate."""
    return [stem + ending for ending in endings.split()]


class Romance(Grammar):
    noun_features: ClassVar[tuple[str, ...]] = ("Gender", "Number")
    governed_object = "obl:arg"
    #: Prepositions of place and direction of nouns that name no others.
    location, goal = "in", "a"
    drops_pronouns = True
    #: The relation of possessives.
    possession = "det"
    #: Questions whose subject follows the verb.
    inverting: ClassVar[frozenset[str]] = frozenset()

    # --- what each language decides

    @abstractmethod
    def plural(self, noun: str, feminine: bool) -> str:
        """The regular plural of a noun."""

    @abstractmethod
    def adjective_forms(self, forms: list[str]) -> tuple[str, str, str, str]:
        """The four forms of an adjective (as in `cell_of`) from those that its dictionary cell gives."""

    @abstractmethod
    def definite(self, feminine: bool, plural: bool, following: str) -> str:
        """The definite article before the word *following*."""

    @abstractmethod
    def indefinite(self, feminine: bool, following: str) -> str:
        """The indefinite article before the word *following*."""

    @abstractmethod
    def demonstrative(self, word: str, feminine: bool, plural: bool, following: str) -> tuple[str, str]:
        """Form and lemma of *this* or *that* before the word *following*."""

    @abstractmethod
    def verb_parts(self, clause: Clause, verb: Verb, agreement: int, participle: int) -> tuple[list[Node], Node]:
        """Auxiliaries, and the lexical verb; *participle*: the index of its participle's form (`cell_of`)."""

    @abstractmethod
    def existential(self, clause: Clause, thing: Phrase) -> Node:
        """The tree of *there is a book on the table*."""

    # --- dictionary

    def decline(self, cell: str) -> Noun:
        """Forms, gender and prepositions of place and goal of a noun, from its dictionary cell."""
        forms, options = split_cell(cell)
        gender, singular, *more = forms
        article = "el" if "el" in more else ""
        plural = more[0] if more and not article else self.plural(singular, gender == "f")
        location, goal = options.get("loc", self.location), options.get("goal", self.goal)
        return Noun((singular,), (plural,), gender, location, goal, article=article)

    @cached_property
    def adjectives(self) -> dict[str, Adjective]:
        """Each adjective by its id: its four forms, and whether it precedes the noun."""
        entries = {}
        for lexeme in table("adjectives"):
            forms, options = split_cell(lexeme.cells[self.lang])
            words = [form for form in forms if form not in ("pre", "inv", "estar")]
            four = (words[0],) * 4 if "inv" in forms else self.adjective_forms(words)
            entries[lexeme.id] = Adjective(four, "pre" in forms, options.get("vow", four[0]), "estar" in forms)
        return entries

    def starts_with_vowel(self, word: str) -> bool:
        """Whether *word* starts with a vowel or a silent *h*."""
        return word[0].lower() in "aeiouhéèêâîôœáíóúàù"

    # --- phrases

    def feminine(self, phrase: Phrase) -> bool:
        """Whether words that agree with the phrase are feminine."""
        parts = [phrase] if phrase.coordinated is None else [phrase, phrase.coordinated]
        if len(parts) == 1 and phrase.noun is None:
            return phrase.person == THIRD and phrase.female
        return all(self.nouns[part.noun.id].gender == "f" for part in parts if part.noun is not None)

    def agreement(self, phrase: Phrase) -> int:
        """The index of the adjective's form (`cell_of`) that agrees with the phrase."""
        return cell_of(self.feminine(phrase), phrase.agreement > THIRD)

    def pronoun_case(self, marker: str, case: int) -> int:
        """The index of a pronoun's form: 1 after a preposition, else 0."""
        return 1 if marker else 0

    def repeated(self, marker: str) -> str:
        """The preposition *to* (*à*, *a*), which is repeated before the second phrase, "" for others."""
        return marker if marker == self.words["to"] else ""

    def specify(self, node: Node, phrase: Phrase, noun: Noun, case: int) -> None:
        """Add determiner, number and owner to a noun, and its adjective before or after it."""
        feminine, plural, owner = noun.gender == "f", phrase.plural, phrase.possessor
        cell = cell_of(feminine, plural)
        if phrase.adjective is not None:
            adjective = self.adjectives[phrase.adjective.id]
            form = adjective.forms[cell]
            if adjective.first:
                form = self.before_noun(adjective, form, cell, node.form)
            word = self.adjective_node(form, phrase, adjective.forms[0])
            (node.before if adjective.first else node.after).append(word)
        following = node.before[0].form if node.before else node.form
        determiner = phrase.determiner
        if determiner == "own" and owner is not None and owner.noun is not None:
            node.after.append(self.phrase(owner, "nmod", self.words["of"]))
            determiner = "definite"
        match determiner:
            case "definite":
                form = self.definite(feminine, plural, following)
                if noun.article and not plural and following == node.form:
                    form = noun.article
                self.put_article(node, phrase, form)
            case "indefinite":
                node.before.insert(0, self.determiner(self.indefinite(feminine, following), phrase, "un"))
            case "no":
                form = self.words.get("no") or self.indefinite(feminine, following)
                node.before.insert(0, self.determiner(form, phrase, "un"))
            case "this" | "that":
                form, lemma = self.demonstrative(determiner, feminine, plural, following)
                node.before.insert(0, self.determiner(form, phrase, lemma))
            case "many":
                self.put_many(node, phrase, feminine)
            case "count":
                number = self.numeral(phrase)
                of = [Node(self.words["of"], "ADP", "case", (phrase.key + COUNT,))]
                node.before[:0] = [number, *(of if number.form.startswith(_SCALES) else [])]
            case "own" if owner is not None:
                form = self.possessive(phrase, self.pronoun(owner, "possessives"), cell, following)
                self.put_possessive(node, phrase, form)

    def possessive(self, phrase: Phrase, forms: list[str], cell: int, following: str) -> str:
        """Which of the *forms* of a possessive stands before the word *following*."""
        return forms[cell]

    def put_possessive(self, node: Node, phrase: Phrase, form: str) -> None:
        """Put the possessive *form* before the noun."""
        owner = phrase.possessor
        assert owner is not None
        lemma = self.pronoun(owner, "possessives")[0]
        node.before.insert(0, Node(form, "DET", self.possession, (owner.key,), lemma, "Poss=Yes"))

    def put_many(self, node: Node, phrase: Phrase, feminine: bool) -> None:
        """Put the word for *many* before the noun."""
        forms = self.words["many"]
        node.before.insert(0, self.determiner(forms[feminine], phrase, forms[2]))

    def before_noun(self, adjective: Adjective, form: str, cell: int, noun: str) -> str:
        """The form of an adjective that stands before *noun*."""
        return adjective.before_vowel if cell == 0 and self.starts_with_vowel(noun) else form

    def put_article(self, node: Node, phrase: Phrase, form: str) -> None:
        """The definite article, marked so that a preposition can merge with it."""
        article = self.determiner(form, phrase, self.definite(False, False, "b"))
        article.tag = "article"
        node.before.insert(0, article)

    def govern(self, node: Node, marker: str, keys: tuple[int, ...]) -> None:
        """Put a preposition before a phrase, in one word with its article where the language does: *du*."""
        self.merge(node, marker, lambda article: self.merged(marker, article), keys)

    def merged(self, preposition: str, article: str) -> str | None:
        """Preposition and definite article in one word, or None if they stay two."""
        return self.words["contractions"].get(f"{preposition} {article}")

    # --- clauses

    def clause(self, clause: Clause, absent: Phrase | None = None, preceding_object: Phrase | None = None) -> Node:
        """The tree of a clause; a participle agrees with *preceding_object*, that of a relative clause."""
        clause = self.with_modal_want(clause)
        subject = clause.subject or absent
        agreement = subject.agreement if subject is not None else THIRD
        if clause.existing is not None:
            return self._with_subject(clause, self.existential(clause, clause.existing), [])
        if clause.verb is None:
            return self._copular(clause, subject)
        verb, agreed = self.verb_of(clause), subject
        if preceding_object is not None and not verb.with_be:
            agreed = preceding_object
        elif not (verb.with_be or clause.passive):
            agreed = None
        before, head = self.verb_parts(clause, verb, agreement, 0 if agreed is None else self.agreement(agreed))
        inner = next(node for node in head.after if node.deprel == "xcomp") if head.tag == "modal" else head
        if clause.negative:
            self.negate(clause, before, head)
        who = self._subject(clause, before[-1] if before and before[-1].upos == "AUX" else head)
        head.before = before
        inner.after += self.fill(clause, "complements")
        head.after += self.fill(clause, "late")
        return self._with_subject(clause, head, who)

    def relative_clause(self, phrase: Phrase, clause: Clause, opening: Node) -> Node:
        """The tree of a relative clause, from which *phrase* is absent as subject or object."""
        gap = {"preceding_object" if phrase.relative_object else "absent": phrase}
        node = self.clause(clause, **gap)
        node.before.insert(0, opening)
        return node

    def _subject(self, clause: Clause, finite: Node) -> list[Node]:
        """The subject; empty if it is a dropped pronoun, whose address *finite*, the verb, gets."""
        if clause.subject is None or clause.force == "command" or not self._is_dropped(clause.subject):
            return self.fill(clause, "subject")
        finite.keys += (clause.subject.key,)
        return []

    def _is_dropped(self, subject: Phrase) -> bool:
        """Whether the subject is a pronoun that the language omits."""
        if subject.noun is not None or not self.drops_pronouns or subject.coordinated is not None:
            return False
        return subject.person in (FIRST, SECOND, WE) or subject.antecedent is not None

    def _with_subject(self, clause: Clause, head: Node, subject: list[Node]) -> Node:
        """*head* with what stands first in the clause, and its subject, which follows the verb in questions."""
        if clause.force in self.inverting:
            head.after[:0], subject = subject, []
        head.before[:0] = self.fill(clause, "opening") + subject
        return head

    def render_question(self, clause: Clause, force: str) -> list[Node]:
        """The question word; its preposition gets the same address."""
        nodes = super().render_question(clause, force)
        for node in nodes:
            for preposition in node.before:
                preposition.keys = node.keys
        return nodes

    def render_recipient_first(self, clause: Clause, recipient: Phrase) -> list[Node]:
        """The recipient, if it stands before the object because this is long."""
        return self.render_recipient(clause, recipient) if self._is_heavy(clause.object) else []

    def render_recipient_last(self, clause: Clause, recipient: Phrase) -> list[Node]:
        """The recipient, unless it stands before the object because this is long."""
        return [] if self._is_heavy(clause.object) else self.render_recipient(clause, recipient)

    @staticmethod
    def _is_heavy(thing: Phrase | None) -> bool:
        """Whether an object is so long that the recipient stands before it."""
        return thing is not None and (thing.relative is not None or thing.coordinated is not None)

    def render_goal(self, clause: Clause, goal: Phrase) -> list[Node]:
        """The goal of a movement, with the preposition of its noun."""
        return [self.phrase(goal, "obl", self.noun_of(goal).goal)]

    def direct_object(self, clause: Clause, thing: Phrase) -> Node:
        """The tree of the direct object, in a negation without indefinite article."""
        denied = clause.negative and not self.verb_of(clause).preposition
        return super().direct_object(clause, without_article(thing) if denied else thing)

    def render_infinitive(self, clause: Clause, infinitive: Clause) -> list[Node]:
        """The infinitive clause that completes the verb, with the verb's preposition: *commence à lire*."""
        return [self.infinitive(infinitive, "xcomp", self.verb_of(clause).preposition)]

    def infinitive(self, clause: Clause, relation: str, marker: str = "") -> Node:
        """The tree of an infinitive clause, with the preposition *marker* if given."""
        infinitive = self.verb_of(clause).infinitive
        node = Node(infinitive, "VERB", relation, (clause.key,), feats="VerbForm=Inf")
        if marker:
            node.before.append(Node(marker, "ADP", "mark", (clause.key + MARK,)))
        node.after = self.fill(clause, "complements")
        return node

    def negate(self, clause: Clause, before: list[Node], head: Node) -> None:
        """Put the negation before the finite verb. before: the auxiliaries; head: the verb."""
        before.insert(0, self.negation(clause))

    # --- to be

    def copula(self, clause: Clause) -> tuple[list[str], str]:
        """The forms of *to be* in the clause's tense, and its lemma."""
        return self.words["be"]["past" if clause.tense == "past" else "present"], self.words["be"]["lemma"]

    def _copular(self, clause: Clause, subject: Phrase | None) -> Node:
        """The tree of a clause with *to be*: *La maison est vieille*."""
        assert subject is not None
        forms, lemma = self.copula(clause)
        tense = "Imp" if clause.tense == "past" else "Pres"
        copula = self.auxiliary(forms[subject.agreement], lemma, clause.key + AUX, tense, "cop")
        head, before = self.predicate(replace(clause, subject=subject)), [copula]
        if clause.negative:
            self.negate(clause, before, head)
        who = self._subject(clause, copula)
        head.before[:0] = before
        head.after += self.fill(clause, "late")
        return self._with_subject(clause, head, who)

    def predicative(self, clause: Clause, quality: Lexeme) -> tuple[str, ...]:
        """The adjective in the form that agrees with the subject, and its lemma."""
        forms = self.adjectives[quality.id].forms
        return forms[0 if clause.subject is None else self.agreement(clause.subject)], forms[0]

    # --- building blocks for the languages' verb clusters

    def verb_node(self, clause: Clause, form: str, verb: Verb, feats: str) -> Node:
        """A node for the lexical verb in *form*."""
        return Node(form, "VERB", "root", (clause.key,), verb.infinitive, feats)

    def participle(self, clause: Clause, verb: Verb, cell: int) -> Node:
        """A node for the verb's participle, in the form of index *cell* (`cell_of`), as of an adjective."""
        return self.verb_node(clause, self.adjective_forms([verb.participle])[cell], verb, "VerbForm=Part")

    def modal(self, clause: Clause, agreement: int) -> Node:
        """A node for the finite form of *can*, *must* (and *want*)."""
        entry = self.words["modals"][clause.modal]
        past = clause.tense == "past"
        key = clause.modal_key or clause.key + MODAL
        return self.auxiliary(
            entry["past" if past else "present"][agreement], entry["lemma"], key, "Imp" if past else "Pres"
        )

    def progressive_tense(self, clause: Clause, verb: Verb, agreement: int) -> tuple[list[Node], Node]:
        """The auxiliary *estar* or *stare* as a list, and the gerund: *está leyendo*."""
        stay = self.words["stay"]
        auxiliary = self.auxiliary(stay["present"][agreement], stay["lemma"], clause.key + AUX)
        return [auxiliary], self.verb_node(clause, verb.gerund, verb, "VerbForm=Ger")

    def perfect_tense(self, clause: Clause, verb: Verb, agreement: int, participle: int) -> tuple[list[Node], Node]:
        """The auxiliary *to be* or *to have* as a list, and the participle, of the form with index *participle*."""
        entry = self.words["be" if verb.with_be else "have"]
        auxiliary = self.auxiliary(entry["present"][agreement], entry["lemma"], clause.key + AUX)
        return [auxiliary], self.participle(clause, verb, participle)

    def been(self, clause: Clause, form: str) -> Node:
        """A node for *been*, before the participle of a passive."""
        lemma = self.words["be"]["lemma"]
        return Node(form, "AUX", "aux:pass", (clause.key + AUX,), lemma, "VerbForm=Part")

    def simple_tense(self, clause: Clause, verb: Verb, agreement: int) -> tuple[list[Node], Node]:
        """No auxiliary, and the verb in a finite form: imperative, future, present or a past of one word."""
        wanted = clause.verb is not None and clause.verb.id == "want"
        if clause.force == "command":
            form, feats = verb.imperative, "Mood=Imp|VerbForm=Fin"
        elif clause.tense == "future":
            form, feats = verb.future[agreement], "Tense=Fut|VerbForm=Fin"
        elif clause.tense != "past":
            form, feats = verb.present[agreement], "Tense=Pres|VerbForm=Fin"
        elif wanted:
            form, feats = verb.imperfect[agreement], "Tense=Imp|VerbForm=Fin"
        else:
            form, feats = verb.past[agreement], "Tense=Past|VerbForm=Fin"
        return [], self.verb_node(clause, form, verb, feats)


def cell_of(feminine: bool, plural: bool) -> int:
    """The index of a form among (masculine, feminine, masculine plural, feminine plural)."""
    return 2 * plural + feminine


# ----------------------------------------------------------------------------
# French: elision, ne … pas, est-ce que, passé composé with agreement.

_ELIDED = {
    "le": "l'", "la": "l'", "de": "d'", "ne": "n'", "que": "qu'", "je": "j'", "me": "m'", "se": "s'",
}  # fmt: skip


class French(Romance):
    lang = "fr"
    location = "dans"
    goal = "à"
    drops_pronouns = False
    elides = True
    closing = frozenset(".,。、，")

    def plural(self, noun: str, feminine: bool) -> str:
        """The regular plural: with *s* unless the noun ends in *s*, *x* or *z*."""
        return noun if noun[-1] in "sxz" else noun + "s"

    def adjective_forms(self, forms: list[str]) -> tuple[str, str, str, str]:
        """The four forms of an adjective; feminine with *e*, plural with *s* unless the cell gives them.

        >>> French().adjective_forms(["grand"])
        ('grand', 'grande', 'grands', 'grandes')
        """
        masculine = forms[0]
        feminine = forms[1] if len(forms) > 1 else masculine if masculine.endswith("e") else masculine + "e"
        plural = forms[2] if len(forms) > 2 else self.plural(masculine, False)
        return masculine, feminine, plural, feminine + "s"

    def definite(self, feminine: bool, plural: bool, following: str) -> str:
        """*le*, *la*, *l'* or *les* before the word *following*."""
        if plural:
            return "les"
        if self.starts_with_vowel(following):
            return "l'"
        return "la" if feminine else "le"

    def indefinite(self, feminine: bool, following: str) -> str:
        """*un* or *une*."""
        return "une" if feminine else "un"

    def demonstrative(self, word: str, feminine: bool, plural: bool, following: str) -> tuple[str, str]:
        """*ce*, *cet*, *cette* or *ces* before the word *following*, and the lemma *ce*."""
        form = self.words["demonstrative"][cell_of(feminine, plural)]
        return "cet" if form == "ce" and self.starts_with_vowel(following) else form, "ce"

    def put_many(self, node: Node, phrase: Phrase, feminine: bool) -> None:
        """Put *beaucoup de* before the noun."""
        keys = (phrase.key + DET,)
        node.before[:0] = [Node("beaucoup", "ADV", "advmod", keys), Node("de", "ADP", "case", keys)]

    def possessive(self, phrase: Phrase, forms: list[str], cell: int, following: str) -> str:
        """Which of the *forms* of a possessive stands before the word *following*: *mon* before a vowel."""
        return forms[2 if phrase.plural else 3 if self.starts_with_vowel(following) else cell]

    def relative_pronoun(self, phrase: Phrase) -> tuple[str, str]:
        """*que* as object, else *qui*."""
        return ("que", "que") if phrase.relative_object else ("qui", "qui")

    # --- verbs

    def conjugate(self, cell: str, options: dict[str, str], flags: list[str]) -> Verb:
        """The forms of a verb, from its dictionary cell.

        >>> verb = French().conjugate("acheter", {}, [])
        >>> verb.present, verb.future[2], verb.participle
        (['achète', 'achètes', 'achète', 'achetons', 'achètent'], 'achètera', 'acheté')
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
        return Verb(
            infinitive,
            present,
            _with_endings(present[3].removesuffix("ons"), "ais ais ait ions aient"),
            _with_endings(future, "ai as a ons ont"),
            participle,
            imperative,
            [],
            with_be=options.get("aux") == "être",
            preposition=marker_of(flags),
        )

    def verb_parts(self, clause: Clause, verb: Verb, agreement: int, participle: int) -> tuple[list[Node], Node]:
        """Auxiliaries, and the lexical verb; a modal is the main verb and has the infinitive as complement."""
        if clause.modal:
            # French modals are full verbs: the infinitive is their complement
            modal = self.modal(clause, agreement)
            modal.upos, modal.deprel, modal.tag = "VERB", "root", "modal"
            infinitive = self.verb_node(clause, verb.infinitive, verb, "VerbForm=Inf")
            infinitive.deprel = "xcomp"
            modal.after.append(infinitive)
            return [], modal
        if clause.passive:
            have = self.words["have"]
            has = self.auxiliary(have["present"][agreement], have["lemma"], clause.key + AUX)
            return [has, self.been(clause, self.words["been"])], self.participle(clause, verb, participle)
        if clause.tense == "past" and clause.verb is not None and clause.verb.id != "want":
            return self.perfect_tense(clause, verb, agreement, participle)
        return self.simple_tense(clause, verb, agreement)

    def negate(self, clause: Clause, before: list[Node], head: Node) -> None:
        """Put *ne … pas* around the auxiliary or the finite verb."""
        around, after = self.negation(clause), self.negation(clause, "pas")
        if before:
            before[:1] = [around, before[0], after]
        else:
            before.append(around)
            head.after.insert(0, after)

    def render_question(self, clause: Clause, force: str) -> list[Node]:
        """The question word, with *est-ce que*."""
        nodes = super().render_question(clause, force)
        if force in ("statement", "command", "subject"):
            return nodes
        key = (clause.key + AUX,)
        verb = Node("est", "AUX", "aux", key, "être", "Tense=Pres|VerbForm=Fin")
        verb.space = False
        return [*nodes, verb, Node("-ce", "PRON", "expl:subj", key, "ce"), Node("que", "SCONJ", "mark", key)]

    def existential(self, clause: Clause, thing: Phrase) -> Node:
        """The tree of *il y a un livre sur la table*."""
        head = Node("a", "VERB", "root", (clause.key,), "avoir", "Tense=Pres|VerbForm=Fin")
        head.before = [Node(form, "PRON", "expl", (clause.key,)) for form in ("il", "y")]
        head.after = [self.phrase(thing, "obj"), *self.fill(clause, "place")]
        return head

    def spell(self, nodes: list[Node]) -> None:
        """Elide words before a vowel: *l'*, *qu'*, *s'il*."""
        for node, following in pairwise(nodes):
            if following.upos == "PUNCT" or following.form[0] == "-":
                continue
            if node.form in _ELIDED and self.starts_with_vowel(following.form):
                node.form = _ELIDED[node.form]
            elif node.form == "si" and node.upos == "SCONJ" and following.form in ("il", "ils"):
                node.form = "s'"


# ----------------------------------------------------------------------------
# Italian: articles by the next sound (il, lo, l'), articulated prepositions, passato prossimo.

_HEAVY = re.compile(r"s[^aeiouàèéìòù]|z|gn|ps|x|y")


class Italian(Romance):
    lang = "it"
    closing = Grammar.closing | {"%"}
    elides = True
    possession = "det:poss"
    location = "in"
    goal = "a"
    inverting = frozenset({"object"})

    def plural(self, noun: str, feminine: bool) -> str:
        """The regular plural: *libri*, *cani*, *case*.

        >>> [Italian().plural(noun, feminine) for noun, feminine in (("libro", False), ("cane", False), ("casa", True))]
        ['libri', 'cani', 'case']
        """
        if noun.endswith("a") and feminine:
            if noun.endswith(("ca", "ga")):
                return noun[:-1] + "he"
            return noun[:-1] + "e"
        return noun[:-1] + "i"

    def adjective_forms(self, forms: list[str]) -> tuple[str, str, str, str]:
        """The four forms of an adjective: *bianco*, *bianca*, *bianchi*, *bianche*.

        >>> Italian().adjective_forms(["bianco", "bianchi"])
        ('bianco', 'bianca', 'bianchi', 'bianche')
        """
        masculine = forms[0]
        if masculine.endswith("e"):
            return masculine, masculine, masculine[:-1] + "i", masculine[:-1] + "i"
        stem = masculine[:-1]
        plural = forms[1] if len(forms) > 1 else stem + "i"
        soft = stem[-1] in "cg" and ((len(forms) > 1 and plural.endswith("hi")) or forms[0] == "lungo")
        hard = stem[-1] in "cg"
        return masculine, stem + "a", plural, stem + ("he" if soft or hard else "e")

    def definite(self, feminine: bool, plural: bool, following: str) -> str:
        """*il*, *lo*, *l'*, *la*, *i*, *gli* or *le* before the word *following*."""
        vowel = self.starts_with_vowel(following)
        if feminine:
            return "le" if plural else "l'" if vowel else "la"
        heavy = _HEAVY.match(following.lower()) is not None
        if plural:
            return "gli" if vowel or heavy else "i"
        return "l'" if vowel else "lo" if heavy else "il"

    def indefinite(self, feminine: bool, following: str) -> str:
        """*un*, *uno*, *una* or *un'* before the word *following*."""
        vowel = self.starts_with_vowel(following)
        if feminine:
            return "un'" if vowel else "una"
        return "uno" if _HEAVY.match(following.lower()) and not vowel else "un"

    def merged(self, preposition: str, article: str) -> str | None:
        """Preposition and article in one word (*dello*), None if they stay two.

        >>> [Italian().merged("di", article) for article in ("il", "lo", "l'", "la", "i", "gli", "le")]
        ['del', 'dello', "dell'", 'della', 'dei', 'degli', 'delle']
        """
        stem = self.words["articulated"].get(preposition)
        return None if stem is None else _with_article_ending(stem, article)

    def before_noun(self, adjective: Adjective, form: str, cell: int, noun: str) -> str:
        """The form of an adjective before a noun; *bello* ends as the article does: *bell'albero*, *bei libri*."""
        if adjective.forms[0] != "bello":
            return form
        return _with_article_ending("be", self.definite(cell % 2 == 1, cell > 1, noun))

    def demonstrative(self, word: str, feminine: bool, plural: bool, following: str) -> tuple[str, str]:
        """Form and lemma of *questo* or *quello*, which ends as the article does: *quel*, *quello*, *quell'*."""
        if word == "that":
            return _with_article_ending("que", self.definite(feminine, plural, following)), "quello"
        if not plural and self.starts_with_vowel(following):
            return "quest'", "questo"
        return self.words["demonstrative"][cell_of(feminine, plural)], "questo"

    def put_possessive(self, node: Node, phrase: Phrase, form: str) -> None:
        """Put the possessive before the noun, with the article except for near relatives: *mia sorella*."""
        super().put_possessive(node, phrase, form)
        near_kin = "kin" in phrase.kinds and not phrase.plural and phrase.adjective is None
        if not near_kin or form == "loro":
            self.put_article(node, phrase, self.definite(self.noun_of(phrase).gender == "f", phrase.plural, form))

    # --- verbs

    def conjugate(self, cell: str, options: dict[str, str], flags: list[str]) -> Verb:
        """The forms of a verb, from its dictionary cell.

        >>> verb = Italian().conjugate("cercare", {}, [])
        >>> verb.present, verb.future[2]
        (['cerco', 'cerchi', 'cerca', 'cerchiamo', 'cercano'], 'cercherà')
        """
        kind, stem = cell[-3:], cell[:-3]
        front = stem + "h" if stem[-1] in "cg" and kind == "are" else stem
        if kind == "are":
            second = stem if stem.endswith("i") else front + "i"
            we = stem + "amo" if stem.endswith("i") else front + "iamo"
            if "stem" in options:  # invio: the stressed i stays
                second = stem + "i"
            present = [stem + "o", second, stem + "a", we, stem + "ano"]
            future = re.sub(r"([cg])i$", r"\1", front) + "er"
            participle, gerund = stem + "ato", stem + "ando"
        else:
            long = stem + "isc" if "isc" in flags else stem
            present = [long + "o", long + "i", long + "e", stem + "iamo", long + "ono"]
            future = stem + ("er" if kind == "ere" else "ir")
            participle, gerund = stem + ("uto" if kind == "ere" else "ito"), stem + "endo"
        present = options["pres"].split(",") if "pres" in options else present
        future = options.get("fut", future)
        return Verb(
            cell,
            present,
            _with_endings(cell[:-2], "vo vi va vamo vano"),
            _with_endings(future, "ò ai à emo anno"),
            options.get("pp", participle),
            options.get("imp", present[2] if kind == "are" else present[1]),
            [],
            options.get("ger", gerund),
            options.get("aux") == "essere",
            marker_of(flags),
        )

    def verb_parts(self, clause: Clause, verb: Verb, agreement: int, participle: int) -> tuple[list[Node], Node]:
        """Auxiliaries, and the lexical verb; the past is the perfect."""
        if clause.modal:
            return [self.modal(clause, agreement)], self.verb_node(clause, verb.infinitive, verb, "VerbForm=Inf")
        if clause.passive:
            be = self.words["be"]
            is_ = self.auxiliary(be["present"][agreement], be["lemma"], clause.key + AUX)
            been = self.been(clause, self.adjective_forms([self.words["been"]])[participle])
            return [is_, been], self.participle(clause, verb, participle)
        if clause.tense == "progressive":
            return self.progressive_tense(clause, verb, agreement)
        if clause.tense == "past":
            return self.perfect_tense(clause, verb, agreement, participle if verb.with_be else 0)
        return self.simple_tense(clause, verb, agreement)

    def existential(self, clause: Clause, thing: Phrase) -> Node:
        """The tree of *c'è un libro sul tavolo*."""
        form, there = ("sono", "ci") if thing.plural else ("è", "c'")
        head = Node(form, "VERB", "root", (clause.key,), "essere", "Tense=Pres|VerbForm=Fin")
        head.before = [Node(there, "PRON", "expl", (clause.key,), "ci")]
        head.after = [self.phrase(thing, "nsubj"), *self.fill(clause, "place")]
        return head


def _with_article_ending(stem: str, article: str) -> str:
    """*stem* with the ending of the article: *del*, *dello*, *dell'*."""
    if article in ("i", "gli"):
        return stem + article
    return stem + ("l" if article == "il" else "l" + article)


# ----------------------------------------------------------------------------
# Spanish: personal *a*, estar + gerund, ser and estar, ¿ ?.

_BARE = str.maketrans("áéíóú", "aeiou")


# how the last consonant of a stem is spelled before e
_BEFORE_E = {"c": "qu", "g": "gu", "z": "c"}


class Spanish(Romance):
    lang = "es"
    location = "en"
    goal = "a"
    inverting = frozenset({"object", "place", "time", "reason"})

    def plural(self, noun: str, feminine: bool) -> str:
        """The regular plural: *lápices*, *camiones*, *papeles*.

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
        """The four forms of an adjective; *o* becomes *a* in the feminine."""
        masculine = forms[0]
        feminine = masculine[:-1] + "a" if masculine.endswith("o") else masculine
        plural = forms[1] if len(forms) > 1 else self.plural(masculine, False)
        return masculine, feminine, plural, feminine + "s" if feminine != masculine else plural

    def definite(self, feminine: bool, plural: bool, following: str) -> str:
        """*el*, *la*, *los* or *las*."""
        return self.words["definite"][cell_of(feminine, plural)]

    def indefinite(self, feminine: bool, following: str) -> str:
        """*un* or *una*."""
        return self.words["indefinite"][feminine]

    def demonstrative(self, word: str, feminine: bool, plural: bool, following: str) -> tuple[str, str]:
        """The form of *este* or *aquel* for gender and number, and its lemma."""
        forms = self.words["demonstrative"][word]
        return forms[cell_of(feminine, plural)], forms[0]

    # --- verbs

    def conjugate(self, cell: str, options: dict[str, str], flags: list[str]) -> Verb:
        """The forms of a verb, from its dictionary cell.

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
            past = [first + "é", *_with_endings(stem, "aste ó amos aron")]
            imperfect = _with_endings(stem, "aba abas aba ábamos aban")
            gerund, participle = stem + "ando", stem + "ado"
        else:
            weak = stem + ("emos" if kind == "er" else "imos")
            soft = re.sub("g$", "j", strong) if stem.endswith("g") else strong
            present = [soft + "o", strong + "es", strong + "e", weak, strong + "en"]
            past = _with_endings(stem, "í iste ió imos ieron")
            imperfect = _with_endings(stem, "ía ías ía íamos ían")
            gerund, participle = stem + "iendo", stem + "ido"
        if "stem" in options and strong.endswith("y"):
            gerund = stem + "yendo"
        present = options["pres"].split(",") if "pres" in options else present
        past = options["pret"].split(",") if "pret" in options else past
        return Verb(
            cell,
            present,
            imperfect,
            _with_endings(options.get("fut", cell), "é ás á emos án"),
            options.get("pp", participle),
            present[2],
            past,
            options.get("ger", gerund),
            preposition=marker_of(flags),
        )

    def verb_parts(self, clause: Clause, verb: Verb, agreement: int, participle: int) -> tuple[list[Node], Node]:
        """Auxiliaries, and the lexical verb; the past is one word."""
        if clause.modal:
            return [self.modal(clause, agreement)], self.verb_node(clause, verb.infinitive, verb, "VerbForm=Inf")
        if clause.passive:
            be = self.words["be"]
            auxiliary = self.auxiliary(be["passive"][agreement], be["lemma"], clause.key + AUX, "Past", "aux:pass")
            return [auxiliary], self.participle(clause, verb, participle)
        if clause.tense == "progressive" and clause.verb is not None and "go" not in clause.verb.kinds:
            return self.progressive_tense(clause, verb, agreement)
        return self.simple_tense(clause, verb, agreement)

    def direct_object(self, clause: Clause, thing: Phrase) -> Node:
        """The tree of the direct object, with *a* before a person."""
        if thing.is_person and not self.verb_of(clause).preposition:
            return self.phrase(thing, "obj", "a")
        return super().direct_object(clause, thing)

    def copula(self, clause: Clause) -> tuple[list[str], str]:
        """The forms of *estar* for passing states, else of *ser*, and the lemma."""
        if clause.quality is not None and self.adjectives[clause.quality.id].passing:
            return self.words["stay"]["past" if clause.tense == "past" else "present"], "estar"
        return super().copula(clause)

    def existential(self, clause: Clause, thing: Phrase) -> Node:
        """The tree of *hay un libro en la mesa*."""
        head = Node("hay", "VERB", "root", (clause.key,), "haber", "Tense=Pres|VerbForm=Fin")
        head.after = [self.phrase(thing, "obj"), *self.fill(clause, "place")]
        return head

    def main(self, clause: Clause) -> Node:
        """The tree of a sentence, with *¿* or *¡* before a question or command."""
        node = super().main(clause)
        opening = {"statement": "", "command": "¡"}.get(clause.force, "¿")
        if opening:
            mark = Node(opening, "PUNCT", "punct")
            mark.space = False
            node.before.insert(0, mark)
        return node

    def spell(self, nodes: list[Node]) -> None:
        """Turn *y* into *e* before the sound *i*."""
        for node, following in pairwise(nodes):
            if node.form == "y" and re.match(r"(i|hi|í)(?!e)", following.form.lower()):
                node.form = "e"
