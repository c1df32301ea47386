"""Russian: nouns in twelve forms, adjectives, verbs in two aspects, all by rule with listed exceptions."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from itertools import pairwise
from typing import ClassVar

from babel import Locale

from nbsandbox.grammars import NOMINATIVE, Grammar, Noun, marker_of, split_cell
from nbsandbox.meaning import (
    AUX,
    CASE,
    COUNT,
    MARK,
    MODAL,
    THIRD,
    Amount,
    Clause,
    Lexeme,
    Node,
    Phrase,
    Place,
    table,
)

GENITIVE, DATIVE, ACCUSATIVE, INSTRUMENTAL, PREPOSITIONAL = range(1, 6)

_SINGULAR, _PLURAL = "ngdaip", "NGDAIP"

_HUSHING = "жшчщ"

_VELAR = "гкх"


def decline(cell: str) -> Noun:
    """All forms of a Russian noun, from its dictionary cell.

    >>> " ".join(decline("f,книга").singular)
    'книга книги книге книгу книгой книге'
    >>> decline("m.a,учитель,N=учителя").plural[:2]
    ('учителя', 'учителей')
    """
    forms, options = split_cell(cell)
    gender, _, animate = forms[0].partition(".")
    word = forms[1]
    if "0" in forms:
        singular, plural = [word] * 6, [word] * 6
    else:
        singular, plural = _declined(word, gender, options.get("obl"))
    if "sg" in options:
        singular = [word, *options["sg"].split("/")]
    if "pl" in options:
        n, g, d, i, p = options["pl"].split("/")
        plural = [n, g, d, "", i, p]
    for place, name in enumerate(_SINGULAR):
        singular[place] = options.get(name, singular[place])
    for place, name in enumerate(_PLURAL):
        plural[place] = options.get(name, plural[place])
    if not singular[ACCUSATIVE]:
        singular[ACCUSATIVE] = singular[GENITIVE if animate else NOMINATIVE]
    plural[ACCUSATIVE] = plural[GENITIVE if animate else NOMINATIVE]
    return Noun(
        tuple(singular),
        tuple(plural),
        gender,
        options.get("loc", "в"),
        locative=options.get("l", singular[PREPOSITIONAL]),
        animate=bool(animate),
    )


def _declined(word: str, gender: str, oblique: str | None) -> tuple[list[str], list[str]]:
    """The cases of a noun in singular and plural by the regular declensions; "" for an accusative that animacy decides.

    The endings of each declension are written in the order of the cases, "=" for the word itself.
    """
    stem = word[:-1]
    if gender not in "fn" and not word.endswith(("а", "я")):
        stem = oblique or (stem if word[-1] in "ьй" else word)
    last = stem[-1]
    y = "и" if last in _HUSHING + _VELAR else "ы"
    if word.endswith("а"):
        o = "ей" if last in _HUSHING + "ц" else "ой"
        singular, plural = f"= {y} е у {o} е", f"{y} _ ам ами ах"
    elif word.endswith("ия"):
        singular, plural = "= и и ю ей и", "и й ям ями ях"
    elif word.endswith("я"):
        singular, plural = "= и е ю ей е", "и ь ям ями ях"
    elif word.endswith("ь") and gender == "f":
        a = "а" if last in _HUSHING else "я"
        singular, plural = "= и и = =ю и", f"и ей {a}м {a}ми {a}х"
    elif word.endswith("о"):
        singular, plural = "= а у = ом е", "а _ ам ами ах"
    elif word.endswith("ие"):
        singular, plural = "= я ю = ем и", "я й ям ями ях"
    elif word.endswith("е"):
        singular, plural = "= я ю = ем е", "я ей ям ями ях"
    elif word[-1] in "ьй":
        singular, plural = "= я ю _ ем е", f"и {'ей' if word[-1] == 'ь' else 'ев'} ям ями ях"
    else:
        many = "ей" if last in _HUSHING else "ев" if last == "ц" else "ов"
        o = "ем" if last in _HUSHING + "ц" else "ом"
        singular, plural = f"= а у _ {o} е", f"{y} {many} ам ами ах"
    forms = [word + e[1:] if e[0] == "=" else stem + e.strip("_") for e in f"{singular} {plural}".split()]
    if singular.split()[ACCUSATIVE] == "_":
        forms[ACCUSATIVE] = ""
    return forms[:6], [*forms[6:9], "", *forms[9:]]


def adjective_forms(lemma: str) -> dict[str, tuple[str, ...]]:
    """The six cases of an adjective by gender (m, f, n) and plural (p); "" for an accusative that animacy decides.

    >>> adjective_forms("синий")["f"][0], adjective_forms("большой")["n"][0], adjective_forms("горячий")["m"][1]
    ('синяя', 'большое', 'горячего')
    """
    stem, ending = lemma[:-2], lemma[-2:]
    last = stem[-1]
    soft = ending == "ий" and last not in _VELAR  # синий, горячий
    thin = ending == "ий" and last not in _VELAR + _HUSHING  # синий
    i = "и" if soft or last in _VELAR + _HUSHING else "ы"
    o = "е" if soft else "о"
    a, u = ("яя", "юю") if thin else ("ая", "ую")
    oblique = (f"{stem}{o}го", f"{stem}{o}му", "", f"{stem}{i}м", f"{stem}{o}м")
    feminine = f"{stem}{o}й"
    return {
        "m": (lemma, *oblique),
        "n": (f"{stem}{o}е", *oblique[:2], f"{stem}{o}е", *oblique[3:]),
        "f": (stem + a, feminine, feminine, stem + u, feminine, feminine),
        "p": (f"{stem}{i}е", f"{stem}{i}х", f"{stem}{i}м", "", f"{stem}{i}ми", f"{stem}{i}х"),
    }


@dataclass(frozen=True, slots=True)
class Aspect:
    """One aspect of a verb: infinitive, the five forms of its present (or perfective future), four of its past."""

    infinitive: str
    present: tuple[str, ...]
    past: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Verb:
    imperfective: Aspect
    perfective: Aspect
    habitual: tuple[str, ...]
    imperative: str
    participle: str
    case: int
    preposition: str
    takes_imperfective: bool


def aspect_of(cell: str, past: str = "") -> Aspect:
    """The forms of one aspect of a verb, from infinitive, first and second person (or all five persons).

    >>> aspect_of("смеяться,смеюсь,смеёшься").present[4], aspect_of("писать,пишу,пишешь").past
    ('смеются', ('писал', 'писала', 'писало', 'писали'))
    """
    infinitive, *given = cell.split(",")
    reflexive = infinitive.endswith("ся")
    forms = [re.sub("(ся|сь)$", "", form) for form in given] if reflexive else given
    if len(forms) == 2:
        first, second = forms
        stem = second[:-3]
        they = stem + ("ат" if stem[-1] in _HUSHING else "ят") if second.endswith("ишь") else first + "т"
        forms = [first, second, second[:-2] + "т", second[:-2] + "м", they]
    if past:
        masculine, _, feminine = past.partition(":")
    else:
        masculine = re.sub("ть(ся)?$", "л", infinitive)
        feminine = masculine + "а"
    pasts = [masculine, feminine, feminine[:-1] + "о", feminine[:-1] + "и"]
    if reflexive:
        forms, pasts = [_reflexive(form) for form in forms], [_reflexive(form) for form in pasts]
    return Aspect(infinitive, tuple(forms), tuple(pasts))


def _reflexive(form: str) -> str:
    """A verb's form with the reflexive ending *-ся* or *-сь*."""
    return form + ("сь" if form[-1] in "аеёиоуыэюя" else "ся")


def conjugate(cell: str, options: dict[str, str], flags: list[str]) -> Verb:
    """The forms of both aspects of a Russian verb, its preposition and case, from its dictionary cell."""
    first, _, second = cell.partition("/")
    imperfective, perfective = aspect_of(first, options.get("past", "")), aspect_of(second, options.get("pfpast", ""))
    stem = perfective.present[1][:-3]
    imperative = options.get("imp", stem + ("й" if stem[-1:] in "аеёиоуыэюя" else "и"))
    habitual = aspect_of(options["hab"]).present if "hab" in options else imperfective.present
    return Verb(
        imperfective,
        perfective,
        habitual,
        imperative,
        options.get("pass", ""),
        DATIVE if "dat" in flags else ACCUSATIVE,
        marker_of(flags),
        "impf" in flags,
    )


def short_forms(masculine: str) -> tuple[str, ...]:
    """The four short forms of a passive participle: masculine, feminine, neuter, plural.

    >>> short_forms("переведён")
    ('переведён', 'переведена', 'переведено', 'переведены')
    """
    stem = masculine.replace("ё", "е")
    return masculine, stem + "а", stem + "о", stem + "ы"


def _plural_category(value: Decimal) -> str:
    """The plural category (CLDR) of a number in Russian: *one* for 21, *few* for 22, *many* for 25.

    >>> [_plural_category(Decimal(n)) for n in ("21", "22", "25", "2.5")]
    ['one', 'few', 'many', 'other']
    """
    return Locale("ru").plural_form(value)


class Russian(Grammar):
    lang = "ru"
    cases = ("Nom", "Gen", "Dat", "Acc", "Ins", "Loc")
    noun_features: ClassVar[tuple[str, ...]] = ("Case", "Gender", "Number")
    object_case = ACCUSATIVE
    negative = ("PART", "Polarity=Neg")
    parts_relatives = True

    decline = staticmethod(decline)
    conjugate = staticmethod(conjugate)

    @cached_property
    def adjectives(self) -> dict[str, tuple[str, dict[str, tuple[str, ...]], str, tuple[str, ...]]]:
        """Each adjective by its id: lemma, declension, comparative, short forms (empty if it has none)."""
        entries = {}
        for lexeme in table("adjectives"):
            forms, options = split_cell(lexeme.cells["ru"])
            shorts = tuple(options["pred"].split(":")) if "pred" in options else ()
            entries[lexeme.id] = (forms[0], adjective_forms(forms[0]), options.get("cmp", ""), shorts)
        return entries

    @cached_property
    def which(self) -> dict[str, tuple[str, ...]]:
        """The forms of the relative pronoun *который*."""
        return adjective_forms("который")

    # --- phrases

    def past_cell(self, phrase: Phrase | None) -> int:
        """The index of the past (or short) form that agrees with the phrase: of m, f, n or the plural."""
        if phrase is None:
            return 0
        if phrase.agreement > THIRD:
            return 3
        if phrase.noun is not None:
            return "mfn".index(self.noun_of(phrase).gender)
        return int(phrase.female and phrase.person == THIRD)

    def specify(self, node: Node, phrase: Phrase, noun: Noun, case: int) -> None:
        """Add number or determiner, owner and adjective to a noun, with endings for gender, number and case."""
        plural, owner = phrase.plural, phrase.possessor
        match phrase.determiner:
            case "count" | "many":
                case, plural = self._add_number(node, phrase, noun, case)
            case "this" | "that":
                lemma = self.words["demonstrative"][phrase.determiner]
                form = _agreeing(self.words["determiners"][lemma], noun, plural, case)
                node.before.append(self.determiner(form, phrase, lemma))
            case "own" if owner is not None:
                if owner.noun is not None:
                    node.after.append(self.phrase(owner, "nmod", case=GENITIVE))
                else:
                    lemma = self.words["own"] if phrase.reflexive else self.pronoun(owner, "possessives")
                    declined = self.words["determiners"].get(lemma)
                    form = lemma if declined is None else _agreeing(declined, noun, plural, case)
                    node.before.append(Node(form, "DET", "det", (owner.key,), lemma, "Poss=Yes"))
        if phrase.adjective is not None:
            lemma, forms, _, _ = self.adjectives[phrase.adjective.id]
            node.before.append(self.adjective_node(_agreeing(forms, noun, plural, case), phrase, lemma))

    def _add_number(self, node: Node, phrase: Phrase, noun: Noun, case: int) -> tuple[int, bool]:
        """Add the number, which decides the noun's form; returns case and plural of the adjective after it."""
        if phrase.amount is not None:
            number = self.numeral(phrase)
            category = _plural_category_of(phrase.amount, scaled=bool(number.before))
        elif phrase.determiner == "many":
            word = "многим" if case == DATIVE else "много"
            number, category = self.determiner(word, phrase, "много"), "many"
        else:
            nominative, feminine, genitive, dative = self.words["numerals"][phrase.count]
            plain = case == NOMINATIVE or (case == ACCUSATIVE and not noun.animate)
            word = (feminine if noun.gender == "f" else nominative) if plain else genitive
            word = dative if case == DATIVE else word
            number = Node(word, "NUM", "nummod", (phrase.key + COUNT,), nominative)
            category = "few" if plain and phrase.count < 5 else "many"
        node.before.append(number)
        if category == "one":
            node.form = noun.singular[case]
            return case, False
        if case == DATIVE and phrase.amount is None:
            node.form = noun.plural[DATIVE]
            return DATIVE, True
        if number.upos == "NUM":
            number.deprel = "nummod:gov"
        node.form = (noun.plural if category == "many" else noun.singular)[GENITIVE]
        return NOMINATIVE if category != "many" and noun.gender == "f" else GENITIVE, True

    def place(self, place: Place, relation: str) -> Node:
        """The tree of a phrase of place, whose noun may have a locative: *в лесу*."""
        node = super().place(place, relation)
        if self.place_case(place) == PREPOSITIONAL and not place.ground.plural:
            node.form = self.noun_of(place.ground).locative  # в лесу, о лесе
        return node

    def place_case(self, place: Place) -> int:
        """The prepositional for *at*, *in* and *on*, else the instrumental."""
        return PREPOSITIONAL if place.relation in ("at", "in", "on") else INSTRUMENTAL

    def relative_pronoun(self, phrase: Phrase) -> tuple[str, str]:
        """The form of *который* that agrees with the noun, and this lemma."""
        case = ACCUSATIVE if phrase.relative_object else NOMINATIVE
        return _agreeing(self.which, self.noun_of(phrase), phrase.plural, case), "который"

    # --- clauses

    def has_comma_before_conjunct(self, clause: Clause) -> bool:
        """Whether the coordinated clauses have different subjects."""
        return not clause.shared_subject

    def finite_verb(self, clause: Clause, verb: Verb, subject: Phrase | None) -> Node:
        """The tree of the finite verb with its auxiliary; of a modal with its infinitive."""
        agreement, cell = subject.agreement if subject is not None else THIRD, self.past_cell(subject)
        tense, continues = clause.tense, not clause.kinds.isdisjoint(_CONTINUING)
        if clause.modal:
            return self._modal(clause, self._aspect_of_infinitive(clause), agreement, cell)
        if clause.passive:
            head = _verb_node(clause, short_forms(verb.participle)[cell], verb.perfective, "VerbForm=Part|Voice=Pass")
            head.before.append(self._be(self.words["be"][cell], clause, "Past", "aux:pass"))
            return head
        if clause.force == "command":
            return _verb_node(clause, verb.imperative, verb.perfective, "Mood=Imp|VerbForm=Fin")
        if tense == "future" and continues:
            head = _verb_node(clause, verb.imperfective.infinitive, verb.imperfective, "VerbForm=Inf")
            head.before.append(self._be(self.words["will"][agreement], clause, "Fut", "aux"))
            return head
        if tense == "past":
            aspect = verb.imperfective if continues else verb.perfective
            return _verb_node(clause, aspect.past[cell], aspect, "Tense=Past|VerbForm=Fin")
        if tense in ("future", "condition"):
            return _verb_node(clause, verb.perfective.present[agreement], verb.perfective, "Tense=Fut|VerbForm=Fin")
        forms = verb.habitual if tense == "habit" else verb.imperfective.present
        return _verb_node(clause, forms[agreement], verb.imperfective, "Tense=Pres|VerbForm=Fin")

    def _be(self, form: str, clause: Clause, tense: str, relation: str) -> Node:
        """A node for *form* of *быть*."""
        return self.auxiliary(form, "быть", clause.key + AUX, tense, relation)

    def _aspect_of_infinitive(self, clause: Clause, imperfective: bool = False) -> Aspect:
        """The aspect of a clause's verb as infinitive: perfective unless the event lasts or it is required."""
        verb = self.verb_of(clause)
        return verb.imperfective if imperfective or "durative" in clause.kinds else verb.perfective

    def _modal(self, clause: Clause, aspect: Aspect, agreement: int, cell: int) -> Node:
        """The tree of a modal with its infinitive, in *aspect*; cell: of its past or short form."""
        entry = self.words["modals"][clause.modal]
        if clause.modal == "must":
            form, upos, feats = entry["forms"][cell], "ADJ", "Variant=Short"
        elif clause.tense == "past":
            form, upos, feats = entry["past"][cell], "VERB", "Tense=Past|VerbForm=Fin"
        else:
            form, upos, feats = entry["present"][agreement], "VERB", "Tense=Pres|VerbForm=Fin"
        head = Node(form, upos, "root", (clause.key + MODAL,), entry["lemma"], feats)
        head.tag = "modal"
        infinitive = _verb_node(clause, aspect.infinitive, aspect, "VerbForm=Inf")
        infinitive.deprel = "xcomp"
        head.after.append(infinitive)
        return head

    def clause(self, clause: Clause, absent: Phrase | None = None) -> Node:
        """The tree of a clause; an infinitive after a modal has the complements."""
        if clause.existing is not None:
            return self._existential(clause, clause.existing)
        if clause.verb is None:
            return self._copular(clause)
        head = self.finite_verb(clause, self.verb_of(clause), clause.subject or absent)
        inner = head.after[0] if head.tag == "modal" else head
        head.before[:0] = self.fill(clause, "before_verb")
        inner.before += self.fill(clause, "manner")
        inner.after += self.fill(clause, "complements")
        head.after += self.fill(clause, "late")
        return head

    def render_negation(self, clause: Clause, negative: bool) -> list[Node]:
        """The particle *не*."""
        return [self.negation(clause)]

    def render_goal(self, clause: Clause, goal: Phrase) -> list[Node]:
        """The goal of a movement, in the accusative with the preposition of its noun."""
        return [self.phrase(goal, "obl", self.noun_of(goal).location, ACCUSATIVE)]

    def render_infinitive(self, clause: Clause, infinitive: Clause) -> list[Node]:
        """The infinitive clause that completes the verb, in the aspect that the verb requires."""
        aspect = self._aspect_of_infinitive(infinitive, self.verb_of(clause).takes_imperfective)
        return [self._infinitive_clause(infinitive, "xcomp", aspect)]

    def render_purpose(self, clause: Clause, purpose: Clause) -> list[Node]:
        """The clause of purpose, with *чтобы*."""
        node = self._infinitive_clause(purpose, "advcl", self._aspect_of_infinitive(purpose))
        node.before.insert(0, Node("чтобы", "SCONJ", "mark", (purpose.key + MARK,)))
        return [node]

    def render_content(self, clause: Clause, content: Clause) -> list[Node]:
        """The clause that someone says or thinks; a modal keeps the tense of the original words."""
        if content.modal and content.tense == "past":
            content = replace(content, tense="present")  # Russian keeps the tense of what was said
        return super().render_content(clause, content)

    def _infinitive_clause(self, clause: Clause, relation: str, aspect: Aspect) -> Node:
        """The tree of an infinitive clause in *aspect*, as *relation* to its head."""
        node = _verb_node(clause, aspect.infinitive, aspect, "VerbForm=Inf")
        node.deprel = relation
        node.after = self.fill(clause, "complements")
        return node

    def _copular(self, clause: Clause) -> Node:
        """The tree of a clause with *быть*, which is omitted in the present, with a dash before a noun."""
        before = self.fill(clause, "copular")
        if clause.tense == "past":
            form = self.words["be"][self.past_cell(clause.subject)]
            before.append(self._be(form, clause, "Past", "cop"))
        if clause.class_ is not None:
            before.append(Node("—", "PUNCT", "punct", (clause.key + AUX,)))
        head = self.predicate(clause)
        head.before[:0] = before
        return head

    def predicative(self, clause: Clause, quality: Lexeme) -> tuple[str, ...]:
        """The adjective in short form or the case of a predicate, its lemma and its comparative."""
        lemma, forms, comparative, shorts = self.adjectives[quality.id]
        cell, case = self.past_cell(clause.subject), INSTRUMENTAL if clause.tense == "past" else NOMINATIVE
        return shorts[cell] if shorts else forms["mfnp"[cell]][case], lemma, comparative

    def compared(self, than: Phrase) -> Node:
        """The tree of what the subject is compared with: *, чем автобус*."""
        node = self.phrase(than, "obl")
        node.before.insert(0, Node("чем", "SCONJ", "mark", (than.key + CASE,)))
        return self.with_commas(node, before=True)

    def _existential(self, clause: Clause, thing: Phrase) -> Node:
        """The tree of *there is*: *на столе есть книга*."""
        head = Node("есть", "VERB", "root", (clause.key,), "быть", "Tense=Pres|VerbForm=Fin")
        head.before, head.after = self.fill(clause, "place"), [self.phrase(thing, "nsubj")]
        return head

    def spell(self, nodes: list[Node]) -> None:
        """Turn *с* into *со* before certain consonants."""
        for node, following in pairwise(nodes):
            if node.form == "с" and re.match(r"[сзшж][бвгджзйклмнпрстфхцчшщ]", following.form.lower()):
                node.form = "со"


# verbs whose past and future are spoken of as going on, not as completed
_CONTINUING = frozenset({"intr", "want", "durative"})


def _verb_node(clause: Clause, form: str, aspect: Aspect, feats: str) -> Node:
    """A node for the verb of *clause* in *form*, with the infinitive of *aspect* as lemma."""
    return Node(form, "VERB", "root", (clause.key,), aspect.infinitive, feats)


def _agreeing(forms: dict[str, tuple[str, ...]], noun: Noun, plural: bool, case: int) -> str:
    """The form of an adjective or determiner that agrees with *noun*; its accusative depends on animacy."""
    row = forms["p" if plural else noun.gender]
    if case == ACCUSATIVE and (plural or noun.gender == "m"):
        return row[GENITIVE if noun.animate else NOMINATIVE]
    return row[case]


def _plural_category_of(amount: Amount, scaled: bool) -> str:
    """The plural category of an amount: *21 книга, 22 книги, 25 книг, 2,5 книги, 2 млн книг*."""
    return "many" if scaled and amount.form == "scale" else _plural_category(amount.value)
