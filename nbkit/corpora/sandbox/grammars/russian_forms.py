"""Russian inflection: nouns in twelve forms, adjectives, verbs in two aspects, all by rule with listed exceptions."""

from __future__ import annotations

import re
from dataclasses import dataclass

from nbkit.corpora.sandbox.grammars.base import features

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
