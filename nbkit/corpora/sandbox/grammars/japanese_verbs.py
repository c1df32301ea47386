"""Japanese verb forms as chains of tokens, cut as the Universal Dependencies treebanks cut them."""

from __future__ import annotations

from dataclasses import dataclass

from nbkit.corpora.sandbox.tree import Node

_ROWS = {
    "う": "わいえお",
    "く": "かきけこ",
    "ぐ": "がぎげご",
    "す": "さしせそ",
    "つ": "たちてと",
    "ぬ": "なにねの",
    "ぶ": "ばびべぼ",
    "む": "まみめも",
    "る": "らりれろ",
}
_TE = {"う": "っ", "つ": "っ", "る": "っ", "く": "い", "ぐ": "い", "す": "し", "ぬ": "ん", "ぶ": "ん", "む": "ん"}


@dataclass(frozen=True, slots=True)
class Verb:
    """A verb's stems. *light* is する after a noun (翻訳 する), which then carries the inflection."""

    plain: str
    masu: str
    nai: str
    te: str
    voiced: bool
    volitional: str
    passive: str
    light: str

    @property
    def lemma(self) -> str:
        return self.light + self.plain


def conjugate(cell: str) -> Verb:
    """The stems of a verb: 読む5 (five-grade), 食べる1 (one-grade), 翻訳する, 来る.

    >>> verb = conjugate("読む5")
    >>> verb.masu, verb.nai, verb.te, verb.voiced, verb.passive
    ('読み', '読ま', '読ん', True, '読まれ')
    """
    if cell.endswith("する"):
        return Verb("する", "し", "し", "し", False, "しよう", "され", cell[:-2])
    if cell == "来る":
        return Verb("来る", "来", "来", "来", False, "来よう", "来られ", "")
    word, grade = cell[:-1], cell[-1]
    stem, last = word[:-1], word[-1]
    if grade == "1":
        return Verb(word, stem, stem, stem, False, stem + "よう", stem + "られ", "")
    a, i, o = _ROWS[last][0], _ROWS[last][1], _ROWS[last][3]
    te = stem + ("っ" if word == "行く" else _TE[last])
    return Verb(word, stem + i, stem + a, te, last in "ぐぬぶむ", f"{stem}{o}う", f"{stem}{a}れ", "")


# what follows each stem, by form: (token, lemma, UPOS, relation)
_AUX = ("AUX", "aux")
_MARK = ("SCONJ", "mark")
_MASU = [("ます", "ます", *_AUX)]
_MASEN = [("ませ", "ます", *_AUX), ("ん", "ない", *_AUX)]
_MASHITA = [("まし", "ます", *_AUX), ("た", "た", *_AUX)]
_MASENDESHITA = [*_MASEN, ("でし", "です", *_AUX), ("た", "た", *_AUX)]
_DESU = [("です", "です", *_AUX)]


def polite(past: bool, negative: bool) -> list[tuple[str, str, str, str]]:
    """ます, ません, ました, ませんでした."""
    if past:
        return _MASENDESHITA if negative else _MASHITA
    return _MASEN if negative else _MASU


def plain_ending(word: str, past: bool, negative: bool) -> list[tuple[str, str, str, str]]:
    """The plain forms of いる and できる, which end in る."""
    stem = word[:-1]
    if negative:
        return [(stem, word, *_AUX), *_nai(past)]
    return [(stem, word, *_AUX), ("た", "た", *_AUX)] if past else [(word, word, *_AUX)]


def _nai(past: bool) -> list[tuple[str, str, str, str]]:
    return [("なかっ", "ない", *_AUX), ("た", "た", *_AUX)] if past else [("ない", "ない", *_AUX)]


Chain = tuple[str, list[tuple[str, str, str, str]]]


def te_form(verb: Verb) -> Chain:
    """読ん で."""
    return verb.te, [("で" if verb.voiced else "て", "て", *_MARK)]


def simple(verb: Verb, is_polite: bool, past: bool, negative: bool) -> Chain:
    """読みます, 読んだ, 読まない …"""
    if is_polite:
        return verb.masu, polite(past, negative)
    if negative:
        return verb.nai, _nai(past)
    if past:
        return verb.te, [("だ" if verb.voiced else "た", "た", *_AUX)]
    return verb.plain, []


def continuing(verb: Verb, is_polite: bool, past: bool, negative: bool) -> Chain:
    """読んでいます, 読んでいた …"""
    stem, chain = te_form(verb)
    if is_polite:
        return stem, [*chain, ("い", "いる", *_AUX), *polite(past, negative)]
    return stem, [*chain, *plain_ending("いる", past, negative)]


def able(verb: Verb, is_polite: bool, past: bool, negative: bool) -> Chain:
    """読むことができます."""
    start = [("こと", "こと", *_MARK), ("が", "が", "ADP", "case")]
    if is_polite:
        return verb.plain, [*start, ("でき", "できる", *_AUX), *polite(past, negative)]
    return verb.plain, [*start, *plain_ending("できる", past, negative)]


def obliged(verb: Verb) -> Chain:
    """読まなければなりません."""
    return verb.nai, [("なけれ", "ない", *_AUX), ("ば", "ば", *_MARK), ("なり", "なる", *_AUX), *_MASEN]


def wanting(verb: Verb, own: bool, past: bool, negative: bool) -> Chain:
    """読みたいです; of others 読みたがっています."""
    if own:
        if negative:
            middle = [("たく", "たい", *_AUX), *_nai(past)]
        else:
            middle = [("たかっ", "たい", *_AUX), ("た", "た", *_AUX)] if past else [("たい", "たい", *_AUX)]
        return verb.masu, [*middle, *_DESU]
    start = [("たがっ", "たがる", *_AUX), ("て", "て", *_MARK), ("い", "いる", *_AUX)]
    return verb.masu, [*start, *polite(past, negative)]


def conditional(verb: Verb) -> Chain:
    """読んだら."""
    return verb.te, [("だら" if verb.voiced else "たら", "た", *_AUX)]


def passive(verb: Verb) -> Chain:
    """読まれました."""
    suffix = "られ" if verb.passive.endswith("られ") and not verb.nai.endswith("ら") else "れ"
    lemma = "られる" if suffix == "られ" else "れる"
    return verb.passive.removesuffix(suffix), [(suffix, lemma, *_AUX), *_MASHITA]


def command(verb: Verb, please: bool) -> Chain:
    """読んでください, 読みなさい."""
    if please:
        stem, chain = te_form(verb)
        return stem, [*chain, ("ください", "くださる", *_AUX)]
    return verb.masu, [("なさい", "なさる", *_AUX)]


def build(verb: Verb, chain: Chain, key: int) -> tuple[Node, list[Node]]:
    """The head of the chain, and the list of the tokens after it (also its dependents)."""
    stem, links = chain
    if verb.light:
        head = Node(verb.light, "VERB", "root", (key,), verb.light)
        head.after.append(Node(stem, "AUX", "aux", (key,), "する"))
    else:
        head = Node(stem, "VERB", "root", (key,), verb.lemma)
    head.after.extend(Node(form, upos, relation, (), lemma) for form, lemma, upos, relation in links)
    return head, head.after
