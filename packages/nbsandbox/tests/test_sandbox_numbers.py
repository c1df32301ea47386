"""The mixture of numbers: what is written is what is meant, in every language and form."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from itertools import count

import pytest
from sandbox_trees import check_tree

import nbsandbox as sandbox
from nbquantities import find_numbers
from nbsandbox.meaning import STEP, Amount, Clause, Phrase, lexemes
from nbsandbox.stream import grammar, meaning, mixtures

TARGETS = [lang for lang in sandbox.LANGUAGES if lang != "en"]
SIZE = 300
KEYS = count(STEP, STEP)
LEXICON = {lexeme.id: lexeme for lexeme in lexemes()}


@pytest.fixture(scope="module")
def drawn() -> dict[str, list]:
    return {lang: list(sandbox.pairs("en", lang, n=SIZE, mixture="numbers")) for lang in TARGETS}


def values(text: str, lang: str) -> Counter[Decimal]:
    """The values of the numbers in a text, an article aside."""
    return Counter(number.value for number in find_numbers(text, lang) if number.form != "article")


def meant(phrases: list[Phrase | None]) -> list[Amount]:
    found = [phrase for phrase in phrases if phrase is not None]
    found += [phrase.coordinated for phrase in found if phrase.coordinated is not None]
    return [phrase.amount for phrase in found if phrase.amount is not None]


def amounts(clauses: list[Clause]) -> list[Amount]:
    """The numbers of a meaning that are written by rule."""
    (clause,) = clauses
    inner = clause.content or clause
    return meant([inner.subject, inner.object, inner.existing])


# --- trees


@pytest.mark.parametrize("lang", TARGETS)
def test_trees(drawn, lang):
    for pair in drawn[lang]:
        for text in (pair.source, pair.target):
            sentence = text.sentences[0]
            check_tree_with_percent(sentence)
            for token, tag in enumerate(sentence.upos):
                if tag == "NUM" and sentence.tokens[token] not in ("一",):
                    relation = sentence.deprels[token].partition(":")[0]
                    assert relation in ("nummod", "compound", "obl"), (sentence.joined, sentence.tokens[token])


def check_tree_with_percent(sentence) -> None:
    check_tree(sentence)
    assert "  " not in sentence.text and " ," not in sentence.text


# --- numbers


def test_many_templates_and_all_forms(drawn):
    notes = Counter(pair.note for pair in drawn["de"])
    assert set(notes) == set(mixtures()["numbers"]["weights"]) and len(notes) >= 12
    forms = Counter(a.form for i in range(SIZE) for a in amounts(meaning("numbers", "test", i)[1]))
    assert set(forms) == {"digits", "grouped", "scale", "words", "financial", "native"}


@pytest.mark.parametrize("lang", sandbox.LANGUAGES)
def test_every_number_is_found_again_where_it_was_written(drawn, lang):
    texts = [pair.source if lang == "en" else pair.target for pair in drawn["de" if lang == "en" else lang]]
    for index, text in enumerate(texts):
        wanted = Counter(amount.value for amount in amounts(meaning("numbers", "test", index)[1]))
        assert not wanted - values(text.text, lang), (text.text, wanted)


@pytest.mark.parametrize("lang", TARGETS)
def test_numbers_are_aligned_with_numbers(drawn, lang):
    for pair in drawn[lang]:
        source, target = (text.sentences[0] for text in (pair.source, pair.target))
        links = {s: {t for a, t in pair.alignment if a == s} for s, _ in pair.alignment}
        for token, tag in enumerate(source.upos):
            if tag == "NUM":
                tags = {target.upos[t] for t in links[token]}
                assert "NUM" in tags and tags <= {"NUM", "NOUN", "ADP"}, (source.joined, target.joined)


def longest(split: str) -> tuple[int, int]:
    """The most digits before and after the point."""
    found = [a for i in range(SIZE) for a in amounts(meaning("numbers", split, i)[1]) if a.form != "scale"]
    whole = max(len(str(abs(int(a.value)))) for a in found)
    return whole, max(-int(a.value.as_tuple().exponent) for a in found)


def test_test_numbers_are_longer_than_those_of_training():
    limits = mixtures()["numbers"]["numerals"]
    assert longest("train") == (limits["train"]["digits"], limits["train"]["fraction"]) == (5, 2)
    assert longest("test") == (limits["test"]["digits"], limits["test"]["fraction"]) == (10, 4)


# --- grammar


def so_many(noun: str, value: str, form: str = "digits", **more) -> Phrase:
    return Phrase(next(KEYS), LEXICON[noun], "count", plural=True, amount=Amount(Decimal(value), form), **more)


def sentence(lang: str, verb: str, thing: Phrase) -> str:
    anna = Phrase(next(KEYS), LEXICON["Anna"], female=True)
    clause = Clause(next(KEYS), subject=anna, verb=LEXICON[verb], object=thing, tense="past")
    return grammar(lang).sentence(clause)[0].text


@pytest.mark.parametrize(
    ("lang", "noun", "value", "form", "expected"),
    [
        ("en", "book", "12345", "grouped", "Anna bought 12,345 books."),
        ("en", "book", "3400000", "scale", "Anna bought 3.4 million books."),
        ("de", "book", "12345", "grouped", "Anna hat 12.345 Bücher gekauft."),
        ("fr", "book", "3400000", "scale", "Anna a acheté 3,4 millions de livres."),
        ("fr", "apple", "3400000", "scale", "Anna a acheté 3,4 millions de pommes."),
        ("fr", "orange", "3400000", "scale", "Anna a acheté 3,4 millions d'oranges."),
        ("es", "book", "3400000", "scale", "Ana compró 3,4 millones de libros."),
        ("it", "book", "3400000", "scale", "Anna ha comprato 3,4 milioni di libri."),
        ("ru", "book", "21", "digits", "Анна купила 21 книгу."),  # as one
        ("ru", "book", "23", "digits", "Анна купила 23 книги."),  # as two to four
        ("ru", "book", "25", "digits", "Анна купила 25 книг."),
        ("ru", "book", "3400000", "scale", "Анна купила 3,4 млн книг."),
        ("zh", "book", "345", "digits", "安娜买了345本书。"),
        ("ja", "book", "345", "digits", "アンナは345冊の本を買いました。"),
        ("ja", "bag", "345", "digits", "アンナは345個のかばんを買いました。"),  # つ counts up to nine
    ],
)
def test_nouns_agree_with_their_numbers(lang, noun, value, form, expected):
    assert sentence(lang, "buy", so_many(noun, value, form)) == expected


def test_amounts_of_a_unit_have_no_measure_word_and_no_object_particle():
    cost = Clause(next(KEYS), verb=LEXICON["cost"], tense="past", object=so_many("euro", "12.5"))
    cost.subject = Phrase(next(KEYS), LEXICON["car"], "definite")
    assert grammar("zh").sentence(cost)[0].text == "汽车花费了12.5欧元。"
    assert grammar("ja").sentence(cost)[0].text == "車は12.5ユーロしました。"
    assert grammar("ru").sentence(cost)[0].text == "Машина стоила 12,5 евро."
