"""Russian noun phrases: agreement in gender, number, case and animacy; numerals that govern."""

from __future__ import annotations

from abc import abstractmethod
from decimal import Decimal
from functools import cached_property

from babel import Locale

from nbkit.corpora.sandbox.grammars.base import Grammar, features
from nbkit.corpora.sandbox.grammars.russian_forms import (
    ACCUSATIVE,
    CASES,
    DATIVE,
    GENITIVE,
    INSTRUMENTAL,
    NOMINATIVE,
    PREPOSITIONAL,
    Noun,
    adjective,
    decline,
)
from nbkit.corpora.sandbox.lexicon import nominals, table
from nbkit.corpora.sandbox.meaning import THIRD, Clause, Phrase, Place
from nbkit.corpora.sandbox.tree import (
    ADJECTIVE,
    CASE,
    COUNT,
    DET,
    MARK,
    Node,
)


def _plural(value: Decimal) -> str:
    """The plural category (CLDR) of a number as Russian speakers count.

    >>> [_plural(Decimal(n)) for n in ("21", "22", "25", "2.5")]
    ['one', 'few', 'many', 'other']
    """
    return Locale("ru").plural_form(value)


class RussianPhrases(Grammar):
    lang = "ru"

    @cached_property
    def nouns(self) -> dict[str, Noun]:
        return {lexeme.id: decline(lexeme.cells["ru"]) for lexeme in nominals()}

    @cached_property
    def adjectives(self) -> dict[str, tuple[str, dict[str, tuple[str, ...]], str, tuple[str, ...]]]:
        """Lemma, declension, comparative and short forms (empty where it has none)."""
        entries = {}
        for lexeme in table("adjectives"):
            forms, options = features(lexeme.cells["ru"])
            shorts = tuple(options["pred"].split(":")) if "pred" in options else ()
            entries[lexeme.id] = (forms[0], adjective(forms[0]), options.get("cmp", ""), shorts)
        return entries

    @cached_property
    def which(self) -> dict[str, tuple[str, ...]]:
        """The relative pronoun."""
        return adjective("который")

    # --- phrases

    def gender(self, phrase: Phrase) -> str:
        """m, f, n, or p for the plural."""
        if phrase.agreement > THIRD:
            return "p"
        if phrase.noun is not None:
            return self.nouns[phrase.noun.id].gender
        return "f" if phrase.female and phrase.person == THIRD else "m"

    def past_cell(self, phrase: Phrase | None) -> int:
        """Which of the four past (or short) forms agrees with the phrase."""
        return 0 if phrase is None else "mfnp".index(self.gender(phrase))

    def pronoun(self, phrase: Phrase, kind: str = "pronouns") -> str:
        person = phrase.agreement
        key = f"{person}f" if person == THIRD and phrase.female else str(person)
        return self.words[kind][key]

    def phrase(self, phrase: Phrase, relation: str, case: int, preposition: str = "") -> Node:
        """A noun phrase in *case*, with its preposition."""
        key = phrase.key
        if phrase.noun is None:
            forms = self.pronoun(phrase)
            node = Node(forms[case], "PRON", relation, (key,), forms[0], f"Case={CASES[case]}")
        else:
            noun = self.nouns[phrase.noun.id]
            name = "name" in phrase.noun.kinds
            node = Node("", "PROPN" if name else "NOUN", relation, (key,), noun.singular[0])
            counted = self._count(node, phrase, noun, case)
            if not counted:
                node.form = (noun.plural if phrase.plural else noun.singular)[case]
                if case == PREPOSITIONAL and not phrase.plural and preposition in ("в", "на"):
                    node.form = noun.locative
                self._specify(node, phrase, noun, case)
            number = "Plur" if phrase.plural else "Sing"
            gender = {"m": "Masc", "f": "Fem", "n": "Neut"}[noun.gender]
            node.feats = f"Case={CASES[case]}|Gender={gender}|Number={number}"
        if preposition:
            node.before.insert(0, Node(preposition, "ADP", "case", (key + CASE,)))
        if phrase.place is not None:
            node.after.append(self.place(phrase.place, "nmod"))
        if phrase.relative is not None:
            node.after.append(self._relative(phrase))
        if phrase.coordinated is not None:
            other = self.phrase(phrase.coordinated, "conj", case)
            other.before.insert(0, Node("и", "CCONJ", "cc", (phrase.coordinated.key + MARK,)))
            node.after.append(other)
        return node

    def _agreeing(self, forms: dict[str, tuple[str, ...]], noun: Noun, plural: bool, case: int) -> str:
        """The form that agrees; in the accusative it depends on animacy."""
        row = forms["p" if plural else noun.gender]
        if case == ACCUSATIVE and (plural or noun.gender == "m"):
            return row[GENITIVE if noun.animate else NOMINATIVE]
        return row[case]

    def _count(self, node: Node, phrase: Phrase, noun: Noun, case: int) -> bool:
        """*Three new books*: the numeral decides the case of what follows."""
        if phrase.determiner not in ("count", "many"):
            return False
        if phrase.amount is not None:
            self._amount(node, phrase, noun, case)
            return True
        feminine = noun.gender == "f"
        plain = case == NOMINATIVE or (case == ACCUSATIVE and not noun.animate)
        if phrase.determiner == "many":
            word = "много" if case != DATIVE else "многим"
            counter = Node(word, "DET", "det", (phrase.key + DET,), "много")
            numeral = 5
        else:
            numeral = phrase.count
            forms = self.words["numerals"][numeral]
            word = forms[3] if case == DATIVE else forms[feminine] if plain else forms[2]
            counter = Node(word, "NUM", "nummod" if case == DATIVE else "nummod:gov", (phrase.key + COUNT,), forms[0])
        if case == DATIVE:
            node.form, form_case, plural = noun.plural[DATIVE], DATIVE, True
        elif plain and numeral < 5:
            node.form = noun.singular[GENITIVE]
            form_case, plural = (NOMINATIVE if feminine else GENITIVE), True
        else:
            node.form, form_case, plural = noun.plural[GENITIVE], GENITIVE, True
        node.before.append(counter)
        self._qualify(node, phrase, noun, form_case, plural)
        return True

    def _amount(self, node: Node, phrase: Phrase, noun: Noun, case: int) -> None:
        """*21 книга, 22 книги, 25 книг, 2,5 книги*: the plural category of the number decides; of inanimate things."""
        assert phrase.amount is not None
        number = self.numeral(phrase)
        category = "many" if number.before and phrase.amount.form == "scale" else _plural(phrase.amount.value)
        node.before.append(number)
        match category:
            case "one":
                node.form = noun.singular[case]
                self._qualify(node, phrase, noun, case, False)
            case "many":
                node.form, number.deprel = noun.plural[GENITIVE], "nummod:gov"
                self._qualify(node, phrase, noun, GENITIVE, True)
            case _:
                node.form, number.deprel = noun.singular[GENITIVE], "nummod:gov"
                described = NOMINATIVE if noun.gender == "f" else GENITIVE
                self._qualify(node, phrase, noun, described, True)

    def _qualify(self, node: Node, phrase: Phrase, noun: Noun, case: int, plural: bool) -> None:
        if phrase.adjective is None:
            return
        lemma, forms, _, _ = self.adjectives[phrase.adjective.id]
        form = self._agreeing(forms, noun, plural, case)
        node.before.append(Node(form, "ADJ", "amod", (phrase.key + ADJECTIVE,), lemma, "Degree=Pos"))

    def _specify(self, node: Node, phrase: Phrase, noun: Noun, case: int) -> None:
        key, plural = phrase.key, phrase.plural
        if phrase.determiner in ("this", "that"):
            lemma = "этот" if phrase.determiner == "this" else "тот"
            form = self._agreeing(self.words["determiners"][lemma], noun, plural, case)
            node.before.append(Node(form, "DET", "det", (key + DET,), lemma))
        elif phrase.determiner == "own":
            owner = phrase.possessor
            assert owner is not None
            if owner.noun is not None:
                self._qualify(node, phrase, noun, case, plural)
                node.after.append(self.phrase(owner, "nmod", GENITIVE))
                return
            lemma = self.words["own"] if phrase.reflexive else self.pronoun(owner, "possessives")
            declined = self.words["determiners"].get(lemma)
            form = lemma if declined is None else self._agreeing(declined, noun, plural, case)
            node.before.append(Node(form, "DET", "det", (owner.key,), lemma, "Poss=Yes"))
        self._qualify(node, phrase, noun, case, plural)

    def place(self, place: Place, relation: str) -> Node:
        """A prepositional phrase of place."""
        ground = place.ground
        assert ground.noun is not None
        if place.relation == "at":
            return self.phrase(ground, relation, PREPOSITIONAL, self.nouns[ground.noun.id].preposition)
        preposition, case = self.words["relations"][place.relation]
        node = self.phrase(ground, relation, PREPOSITIONAL if case == "p" else INSTRUMENTAL, preposition)
        if place.relation == "beside":
            with_ = node.before[0]
            with_.deprel = "fixed"
            beside = Node("рядом", "ADV", "case", with_.keys)
            beside.after.append(with_)
            node.before[0] = beside
        return node

    def _relative(self, phrase: Phrase) -> Node:
        clause = phrase.relative
        assert clause is not None and phrase.noun is not None
        case = ACCUSATIVE if phrase.relative_object else NOMINATIVE
        form = self._agreeing(self.which, self.nouns[phrase.noun.id], phrase.plural, case)
        relation = "obj" if phrase.relative_object else "nsubj"
        node = self.clause(clause, None if phrase.relative_object else phrase)
        node.before.insert(0, Node(form, "PRON", relation, (clause.key + MARK,), "который", "PronType=Rel"))
        node.deprel = "acl:relcl"
        return self.with_commas(node, before=True, after=True)

    @abstractmethod
    def clause(self, clause: Clause, absent_subject: Phrase | None = None) -> Node:
        """A clause; its verb agrees with *absent_subject* where the subject stands outside of it."""
