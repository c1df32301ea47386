"""Russian inflection: nouns in twelve forms, adjectives, verbs in two aspects, all by rule with listed exceptions."""

from __future__ import annotations

import re
from abc import abstractmethod
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from itertools import pairwise

from babel import Locale

from nbkit.sandbox.grammars.base import Grammar, features, fixed, governed
from nbkit.sandbox.meaning import (
    ADJECTIVE,
    AUX,
    CASE,
    COUNT,
    DEGREE,
    DET,
    MARK,
    MODAL,
    NEGATION,
    PART,
    THIRD,
    Clause,
    Node,
    Phrase,
    Place,
    comma,
    nominals,
    table,
    verbals,
)

NOMINATIVE, GENITIVE, DATIVE, ACCUSATIVE, INSTRUMENTAL, PREPOSITIONAL = range(6)


CASES = ("Nom", "Gen", "Dat", "Acc", "Ins", "Loc")


_SINGULAR, _PLURAL = "ngdaip", "NGDAIP"


_HUSHING = "жшчщ"


_VELAR = "гкх"


@dataclass(frozen=True, slots=True)
class Noun:
    """Gender (m, f, n), animacy, six singular and plural forms, the form after в and на, the preposition of place."""

    gender: str
    animate: bool
    singular: tuple[str, ...]
    plural: tuple[str, ...]
    locative: str
    preposition: str


def decline(cell: str) -> Noun:
    """All forms of a noun from its dictionary cell.

    >>> " ".join(decline("f,книга").singular)
    'книга книги книге книгу книгой книге'
    >>> decline("m.a,учитель,N=учителя").plural[:2]
    ('учителя', 'учителей')
    """
    forms, options = features(cell)
    gender, _, animate = forms[0].partition(".")
    word = forms[1]
    if "0" in forms:
        singular, plural = [word] * 6, [word] * 6
    else:
        singular, plural = _endings(word, gender, options.get("obl"))
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
    locative = options.get("l", singular[PREPOSITIONAL])
    return Noun(gender, bool(animate), tuple(singular), tuple(plural), locative, options.get("loc", "в"))


def _endings(word: str, gender: str, oblique: str | None) -> tuple[list[str], list[str]]:
    if word.endswith("а"):
        stem = word[:-1]
        y = "и" if stem[-1] in _HUSHING + _VELAR else "ы"
        o = "ей" if stem[-1] in _HUSHING + "ц" else "ой"
        singular = [word, stem + y, stem + "е", stem + "у", stem + o, stem + "е"]
        return singular, [stem + y, stem, stem + "ам", "", stem + "ами", stem + "ах"]
    if word.endswith("ия"):
        stem = word[:-1]
        singular = [word, stem + "и", stem + "и", stem + "ю", stem + "ей", stem + "и"]
        return singular, [stem + "и", stem + "й", stem + "ям", "", stem + "ями", stem + "ях"]
    if word.endswith("я"):
        stem = word[:-1]
        singular = [word, stem + "и", stem + "е", stem + "ю", stem + "ей", stem + "е"]
        return singular, [stem + "и", stem + "ь", stem + "ям", "", stem + "ями", stem + "ях"]
    if word.endswith("ь") and gender == "f":
        stem = word[:-1]
        a = "а" if stem[-1] in _HUSHING else "я"
        singular = [word, stem + "и", stem + "и", word, word + "ю", stem + "и"]
        return singular, [stem + "и", stem + "ей", f"{stem}{a}м", "", f"{stem}{a}ми", f"{stem}{a}х"]
    if gender == "n":
        stem, last = word[:-1], word[-1]
        if last == "о":
            singular = [word, stem + "а", stem + "у", word, stem + "ом", stem + "е"]
            return singular, [stem + "а", stem, stem + "ам", "", stem + "ами", stem + "ах"]
        p = "и" if word.endswith("ие") else "е"
        singular = [word, stem + "я", stem + "ю", word, stem + "ем", stem + p]
        many = stem + "й" if word.endswith("ие") else stem + "ей"
        return singular, [stem + "я", many, stem + "ям", "", stem + "ями", stem + "ях"]
    if word[-1] in "ьй":
        stem = oblique or word[:-1]
        singular = [word, stem + "я", stem + "ю", "", stem + "ем", stem + "е"]
        many = stem + ("ей" if word[-1] == "ь" else "ев")
        return singular, [stem + "и", many, stem + "ям", "", stem + "ями", stem + "ях"]
    stem = oblique or word
    y = "и" if stem[-1] in _HUSHING + _VELAR else "ы"
    many = "ей" if stem[-1] in _HUSHING else "ев" if stem[-1] == "ц" else "ов"
    o = "ем" if stem[-1] in _HUSHING + "ц" else "ом"
    singular = [word, stem + "а", stem + "у", "", stem + o, stem + "е"]
    return singular, [stem + y, stem + many, stem + "ам", "", stem + "ами", stem + "ах"]


def adjective(lemma: str) -> dict[str, tuple[str, ...]]:
    """Six cases by gender (m, f, n) and plural (p); the accusative of m and p is left to animacy (empty).

    >>> adjective("синий")["f"][0], adjective("большой")["n"][0], adjective("горячий")["m"][1]
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


def aspect(cell: str, past: str = "") -> Aspect:
    """One aspect from infinitive, first and second person (or all five forms).

    >>> aspect("смеяться,смеюсь,смеёшься").present[4], aspect("писать,пишу,пишешь").past
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
    return form + ("сь" if form[-1] in "аеёиоуыэюя" else "ся")


def conjugate(cell: str, options: dict[str, str], flags: list[str]) -> Verb:
    """Both aspects of a verb, with its government."""
    first, _, second = cell.partition("/")
    imperfective, perfective = aspect(first, options.get("past", "")), aspect(second, options.get("pfpast", ""))
    stem = perfective.present[1][:-3]
    imperative = options.get("imp", stem + ("й" if stem[-1:] in "аеёиоуыэюя" else "и"))
    habitual = aspect(options["hab"]).present if "hab" in options else imperfective.present
    preposition, case = "", DATIVE if "dat" in flags else ACCUSATIVE
    for flag in flags:
        if flag.startswith("+"):
            preposition = flag[1:].partition(".")[0]
    return Verb(
        imperfective, perfective, habitual, imperative, options.get("pass", ""), case, preposition, "impf" in flags
    )


def short(masculine: str) -> tuple[str, ...]:
    """The four short forms of a passive participle.

    >>> short("переведён")
    ('переведён', 'переведена', 'переведено', 'переведены')
    """
    stem = masculine.replace("ё", "е")
    return masculine, stem + "а", stem + "о", stem + "ы"


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


# verbs whose past and future are spoken of as going on, not as completed
_CONTINUING = frozenset({"intr", "want", "durative"})


class Russian(RussianPhrases):
    @cached_property
    def verbs(self) -> dict[str, Verb]:
        return {lexeme.id: conjugate(*governed(lexeme, "ru")) for lexeme in verbals()}

    # --- clauses

    def main(self, clause: Clause) -> Node:
        node = self.clause(clause)
        if clause.conjunct is not None:
            conjunct = clause.conjunct
            if clause.shared_subject:
                other = self.clause(replace(conjunct, subject=None), clause.subject)
            else:
                other = self.clause(conjunct)
            word = self.words["conjunctions"][clause.conjunction]
            other.before.insert(0, Node(word, "CCONJ", "cc", (conjunct.key + MARK,)))
            if not clause.shared_subject:
                other.before.insert(0, comma())
            other.deprel = "conj"
            node.after.append(other)
        return node

    def finite(self, clause: Clause, verb: Verb, subject: Phrase | None) -> Node:
        """The finite verb with its auxiliary, its infinitive where a modal is finite."""
        assert clause.verb is not None
        key, agreement, cell = clause.key, subject.agreement if subject is not None else THIRD, self.past_cell(subject)
        perfective, imperfective = verb.perfective, verb.imperfective
        past = clause.tense == "past"
        continues = not clause.verb.kinds.isdisjoint(_CONTINUING)
        if clause.modal:
            aspect = imperfective if "durative" in clause.verb.kinds else perfective
            return self._modal(clause, aspect, agreement, cell)
        if clause.passive:
            head = self._word(clause, short(verb.participle)[cell], perfective, "VerbForm=Part|Voice=Pass")
            head.before.append(
                Node(self.words["be"][cell], "AUX", "aux:pass", (key + AUX,), "быть", "Tense=Past|VerbForm=Fin")
            )
            return head
        if clause.force == "command":
            return self._word(clause, verb.imperative, perfective, "Mood=Imp|VerbForm=Fin")
        if past:
            aspect = imperfective if continues else perfective
            return self._word(clause, aspect.past[cell], aspect, "Tense=Past|VerbForm=Fin")
        if clause.tense == "future" and continues:
            head = self._word(clause, imperfective.infinitive, imperfective, "VerbForm=Inf")
            head.before.append(
                Node(self.words["will"][agreement], "AUX", "aux", (key + AUX,), "быть", "Tense=Fut|VerbForm=Fin")
            )
            return head
        if clause.tense in ("future", "condition"):
            return self._word(clause, perfective.present[agreement], perfective, "Tense=Fut|VerbForm=Fin")
        forms = verb.habitual if clause.tense == "habit" else imperfective.present
        return self._word(clause, forms[agreement], imperfective, "Tense=Pres|VerbForm=Fin")

    def _word(self, clause: Clause, form: str, aspect: Aspect, feats: str) -> Node:
        return Node(form, "VERB", "root", (clause.key,), aspect.infinitive, feats)

    def _modal(self, clause: Clause, aspect: Aspect, agreement: int, cell: int) -> Node:
        entry = self.words["modals"][clause.modal]
        key = (clause.key + MODAL,)
        if clause.modal == "must":
            head = Node(entry["forms"][cell], "ADJ", "root", key, entry["lemma"], "Variant=Short")
        elif clause.tense == "past":
            head = Node(entry["past"][cell], "VERB", "root", key, entry["lemma"], "Tense=Past|VerbForm=Fin")
        else:
            head = Node(entry["present"][agreement], "VERB", "root", key, entry["lemma"], "Tense=Pres|VerbForm=Fin")
        head.tag = "modal"
        infinitive = self._word(clause, aspect.infinitive, aspect, "VerbForm=Inf")
        infinitive.deprel = "xcomp"
        head.after.append(infinitive)
        return head

    def clause(self, clause: Clause, absent_subject: Phrase | None = None) -> Node:
        """A clause; its verb agrees with *absent_subject* where the subject stands outside of it."""
        subject = clause.subject or absent_subject
        if clause.existing is not None:
            return self._existential(clause)
        if clause.verb is None:
            return self._copular(clause)
        verb = self.verbs[clause.verb.id]
        head = self.finite(clause, verb, subject)
        inner = head.after[0] if head.tag == "modal" else head
        if clause.negative:
            head.before.insert(0, Node("не", "PART", "advmod", (clause.key + NEGATION,), feats="Polarity=Neg"))
        times = []
        commands = clause.force == "command"
        if clause.time is not None and not (clause.time_first or commands):
            times.append(self.adverbial(clause.time))
        if clause.frequency is not None:
            times.append(self.adverbial(clause.frequency))
        adverbs: list[Node] = []
        if clause.manner is not None:
            manner = self.adverbial(clause.manner)
            (inner.before if inner is not head else adverbs).append(manner)
        node = []
        if clause.subject is not None and clause.force != "command":
            node.append(self.phrase(clause.subject, "nsubj:pass" if clause.passive else "nsubj", NOMINATIVE))
        head.before = [*self._opening(clause), *node, *times, *head.before, *adverbs]
        self._complements(clause, inner, verb)
        self._late(clause, head, verb)
        if clause.time is not None and commands:
            head.after.append(self.adverbial(clause.time))
        return head

    def _opening(self, clause: Clause) -> list[Node]:
        key = (clause.question_key,)
        nodes = []
        if clause.force in ("subject", "object"):
            relation = "nsubj" if clause.force == "subject" else "obj"
            nodes.append(Node(self.words["question"][clause.force], "PRON", relation, key, feats="PronType=Int"))
        elif clause.force in ("place", "time", "reason"):
            nodes.append(Node(self.words["question"][clause.force], "ADV", "advmod", key, feats="PronType=Int"))
        if clause.please:
            please = Node("пожалуйста", "INTJ", "discourse", (clause.key + PART,))
            nodes.append(self.with_commas(please, after=True))
        if clause.subordinate is not None and clause.subordinate.first:
            nodes.append(self.with_commas(self._subordinate(clause), after=True))
        if clause.time is not None and clause.time_first:
            nodes.append(self.adverbial(clause.time))
        return nodes

    def _complements(self, clause: Clause, head: Node, verb: Verb) -> None:
        after = head.after
        if clause.recipient is not None:
            after.append(self.phrase(clause.recipient, "iobj", DATIVE))
        if clause.object is not None:
            if clause.passive:
                after.append(self.phrase(clause.object, "obl:agent", INSTRUMENTAL))
            elif verb.preposition:
                after.append(self.phrase(clause.object, "obl", ACCUSATIVE, verb.preposition))
            else:
                relation = "obl" if clause.object.is_duration else "obj" if verb.case == ACCUSATIVE else "iobj"
                after.append(self.phrase(clause.object, relation, verb.case))
        if clause.goal is not None and clause.goal.noun is not None:
            preposition = self.nouns[clause.goal.noun.id].preposition
            after.append(self.phrase(clause.goal, "obl", ACCUSATIVE, preposition))
        if clause.instrument is not None:
            after.append(self.phrase(clause.instrument, "obl", INSTRUMENTAL))
        if clause.place is not None:
            after.append(self.place(clause.place, "obl"))
        if clause.companion is not None:
            after.append(self.phrase(clause.companion, "obl", INSTRUMENTAL, "с"))

    def _late(self, clause: Clause, head: Node, verb: Verb | None) -> None:
        after = head.after
        if clause.infinitive is not None:
            assert verb is not None
            after.append(self._infinitive(clause.infinitive, "xcomp", verb.takes_imperfective))
        if clause.purpose is not None:
            node = self._infinitive(clause.purpose, "advcl", False)
            node.before.insert(0, Node("чтобы", "SCONJ", "mark", (clause.purpose.key + MARK,)))
            after.append(self.with_commas(node, before=True))
        if clause.content is not None:
            content = clause.content
            if content.modal and content.tense == "past":
                content = replace(content, tense="present")  # Russian keeps the tense of what was said
            node = self.clause(content)
            node.deprel = "ccomp"
            node.before.insert(0, Node("что", "SCONJ", "mark", (clause.content.key + MARK,)))
            after.append(self.with_commas(node, before=True))
        if clause.subordinate is not None and not clause.subordinate.first:
            after.append(self.with_commas(self._subordinate(clause), before=True))

    def _infinitive(self, clause: Clause, relation: str, imperfective: bool) -> Node:
        assert clause.verb is not None
        verb = self.verbs[clause.verb.id]
        aspect = verb.imperfective if imperfective or "durative" in clause.verb.kinds else verb.perfective
        node = self._word(clause, aspect.infinitive, aspect, "VerbForm=Inf")
        node.deprel = relation
        self._complements(clause, node, verb)
        return node

    def _subordinate(self, clause: Clause) -> Node:
        subordinate = clause.subordinate
        assert subordinate is not None
        node = self.clause(subordinate.clause)
        node.deprel = "advcl"
        words = self.words["conjunctions"][subordinate.conjunction]
        node.before.insert(0, fixed(words, "mark", (subordinate.key + MARK,), "SCONJ"))
        return node

    def _copular(self, clause: Clause) -> Node:
        assert clause.subject is not None
        subject, past, key = clause.subject, clause.tense == "past", clause.key
        node = self.phrase(subject, "nsubj", NOMINATIVE)
        cell = self.past_cell(subject)
        before = [node]
        if clause.negative:
            before.append(Node("не", "PART", "advmod", (key + NEGATION,), feats="Polarity=Neg"))
        if past:
            before.append(Node(self.words["be"][cell], "AUX", "cop", (key + AUX,), "быть", "Tense=Past|VerbForm=Fin"))
        if clause.class_ is not None:
            head = self.phrase(clause.class_, "root", NOMINATIVE)
            before.append(Node("—", "PUNCT", "punct", (key + AUX,)))
        else:
            head = self._quality(clause, cell, past)
        head.before = [*before, *head.before]
        return head

    def _quality(self, clause: Clause, cell: int, past: bool) -> Node:
        assert clause.quality is not None
        lemma, forms, comparative, shorts = self.adjectives[clause.quality.id]
        if clause.than is not None:
            head = Node(comparative, "ADJ", "root", (clause.key, clause.key + DEGREE), lemma, "Degree=Cmp")
            than = self.phrase(clause.than, "obl", NOMINATIVE)
            than.before.insert(0, Node("чем", "SCONJ", "mark", (clause.than.key + CASE,)))
            head.after.append(self.with_commas(than, before=True))
            return head
        row = forms["mfnp"[cell]]
        form = shorts[cell] if shorts else row[INSTRUMENTAL if past else NOMINATIVE]
        head = Node(form, "ADJ", "root", (clause.key,), lemma, "Degree=Pos")
        if clause.very:
            head.before.append(Node("очень", "ADV", "advmod", (clause.key + DEGREE,)))
        return head

    def _existential(self, clause: Clause) -> Node:
        assert clause.existing is not None and clause.place is not None
        head = Node("есть", "VERB", "root", (clause.key,), "быть", "Tense=Pres|VerbForm=Fin")
        head.before = [self.place(clause.place, "obl")]
        head.after = [self.phrase(clause.existing, "nsubj", NOMINATIVE)]
        return head

    def spell(self, nodes: list[Node]) -> None:
        for node, following in pairwise(nodes):
            if node.form == "с" and re.match(r"[сзшж][бвгджзйклмнпрстфхцчшщ]", following.form.lower()):
                node.form = "со"
