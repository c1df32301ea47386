"""Noun phrases of French, Spanish and Italian: agreement, adjectives after their noun, prepositions that merge."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property

from nbkit.corpora.sandbox.grammars.base import Grammar, conjuncts, features, fixed
from nbkit.corpora.sandbox.lexicon import Lexeme, nominals, table
from nbkit.corpora.sandbox.meaning import THIRD, Clause, Phrase, Place
from nbkit.corpora.sandbox.tree import ADJECTIVE, CASE, COUNT, DET, MARK, Node


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
