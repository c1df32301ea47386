"""Handwritten sentences: each checks a rule of its language that a mistake would break."""

from __future__ import annotations

from itertools import count

import pytest

from nbsandbox.meaning import FIRST, SECOND, STEP, Adverbial, Clause, Lexeme, Phrase, Place, Subordinate, lexemes
from nbsandbox.stream import grammar

LEXICON = {(lexeme.id, "subjects" if lexeme.subjects else "other"): lexeme for lexeme in lexemes()}
KEYS = count(STEP, STEP)


def verb(name: str) -> Lexeme:
    return LEXICON[name, "subjects"]


def word(name: str) -> Lexeme:
    return LEXICON[name, "other"]


def the(name: str, determiner: str = "definite", **more) -> Phrase:
    noun = word(name)
    if "adjective" in more:
        more["adjective"] = word(more["adjective"])
    return Phrase(next(KEYS), noun, determiner, female="female" in noun.kinds, **more)


def a(name: str, **more) -> Phrase:
    return the(name, "indefinite", **more)


def named(name: str) -> Phrase:
    return the(name, "none")


def clause(subject: Phrase | None, verb_name: str | None, **more) -> Clause:
    return Clause(next(KEYS), subject, verb(verb_name) if verb_name else None, **more)


def adverb(name: str) -> Adverbial:
    return Adverbial(next(KEYS), word(name))


def again(phrase: Phrase) -> Phrase:
    return Phrase(next(KEYS), female=phrase.female, antecedent=phrase)


def reported_inability() -> Clause:
    tom = named("Tom")
    inner = clause(again(tom), "find", object=a("ticket", adjective="old"), tense="past", modal="can", negative=True)
    return clause(tom, "say", content=inner)


def gift() -> Clause:
    return clause(the("teacher"), "give", recipient=the("boy"), object=a("book", adjective="new"))


def walk() -> Clause:
    return clause(the("doctor"), "go", goal=the("station"))


def in_the_park() -> Clause:
    here = Place(next(KEYS), "at", the("park"))
    return clause(the("woman"), "read", object=the("letter"), tense="progressive", place=here)


def no_apple() -> Clause:
    return clause(the("student"), "buy", object=a("apple"), negative=True)


def reason() -> Clause:
    queen = the("queen")
    hungry = Clause(next(KEYS), again(queen), quality=word("hungry"), tense="past")
    return clause(queen, "eat", object=the("cake"), subordinate=Subordinate(next(KEYS), "because", hungry))


def invitation() -> Clause:
    inner = clause(named("Anna"), "invite", object=the("painter"), time=adverb("tomorrow"), tense="future")
    return clause(
        the("mother", "own", possessor=Phrase(next(KEYS), person=FIRST)), "think", content=inner, tense="present"
    )


def relative() -> Clause:
    letter = the("letter", relative_object=True)
    letter.relative = clause(the("king"), "write")
    return clause(the("actress"), "find", object=letter)


def three_books() -> Clause:
    return clause(the("farmer"), "sell", object=the("book", "count", plural=True, count=3, adjective="red"))


def own_dog() -> Clause:
    man = the("man")
    dog = the("dog", "own", possessor=Phrase(next(KEYS)), reflexive=True)
    return clause(man, "seek", object=dog, tense="progressive")


def what() -> Clause:
    return clause(the("child"), "draw", force="object", question_key=next(KEYS))


def clean_up() -> Clause:
    return clause(
        Phrase(next(KEYS), person=SECOND), "open", object=the("window"), force="command", tense="present", please=True
    )


def wish() -> Clause:
    inner = clause(None, "visit", object=the("museum"), tense="present")
    return clause(Phrase(next(KEYS), person=FIRST), "want", infinitive=inner, tense="present")


def passive() -> Clause:
    return clause(the("window"), "break", object=the("boy"), passive=True)


def under_the_tree() -> Clause:
    spot = Place(next(KEYS), "under", the("tree"))
    return Clause(next(KEYS), existing=a("cat", adjective="black"), place=spot, tense="present")


GOLDEN = [
    # English: do-support and contractions, a/an, modals, participles
    (no_apple, "en", "The student did n't buy an apple ."),
    (reported_inability, "en", "Tom said that he could n't find an old ticket ."),
    (passive, "en", "The window was broken by the boy ."),
    (under_the_tree, "en", "There is a black cat under the tree ."),
    # German: the bracket, verb-final clauses, separable verbs, cases and endings, contractions, kein
    (reported_inability, "de", "Tom hat gesagt , dass er kein altes Ticket finden konnte ."),
    (gift, "de", "Der Lehrer hat dem Jungen ein neues Buch gegeben ."),
    (walk, "de", "Der Arzt ist zum Bahnhof gegangen ."),
    (in_the_park, "de", "Die Frau liest den Brief im Park ."),
    (no_apple, "de", "Der Student hat keinen Apfel gekauft ."),
    (reason, "de", "Die Königin hat den Kuchen gegessen , weil sie hungrig war ."),
    (invitation, "de", "Meine Mutter denkt , dass Anna morgen den Maler einladen wird ."),
    (relative, "de", "Die Schauspielerin hat den Brief , den der König geschrieben hat , gefunden ."),
    (wish, "de", "Ich will das Museum besuchen ."),
    (what, "de", "Was hat das Kind gezeichnet ?"),
    # French: elision, ne … pas, de under negation, agreement of the participle, place of adjectives, du/au
    (no_apple, "fr", "L' étudiant n' a pas acheté de pomme ."),
    (reported_inability, "fr", "Tom a dit qu' il ne pouvait pas trouver de vieux billet ."),
    (gift, "fr", "Le professeur a donné un nouveau livre au garçon ."),
    (relative, "fr", "L' actrice a trouvé la lettre que le roi a écrite ."),
    (walk, "fr", "Le médecin est allé à la gare ."),
    (three_books, "fr", "Le fermier a vendu trois livres rouges ."),
    (what, "fr", "Qu' est -ce que l' enfant a dessiné ?"),
    (clean_up, "fr", "S'il te plaît , ouvre la fenêtre !"),
    # Spanish: personal a, dropped pronouns, gerund, adjectives after the noun, al, ¿ ?
    (own_dog, "es", "El hombre está buscando su perro ."),
    (invitation, "es", "Mi madre piensa que Ana invitará al pintor mañana ."),
    (reported_inability, "es", "Tom dijo que no podía encontrar un billete viejo ."),
    (three_books, "es", "El granjero vendió tres libros rojos ."),
    (wish, "es", "Quiero visitar el museo ."),
    (what, "es", "¿ Qué dibujó el niño ?"),
    # Italian: articles by sound, articulated prepositions, passato prossimo, kinship without article
    (no_apple, "it", "Lo studente non ha comprato una mela ."),
    (walk, "it", "Il medico è andato alla stazione ."),
    (invitation, "it", "Mia madre pensa che Anna inviterà il pittore domani ."),
    (in_the_park, "it", "La donna sta leggendo la lettera nel parco ."),
    (gift, "it", "Il professore ha dato un nuovo libro al ragazzo ."),
    (under_the_tree, "it", "C' è un gatto nero sotto l' albero ."),
    # Russian: case, gender and aspect, numerals, свой, no copula in the present
    (gift, "ru", "Учитель дал мальчику новую книгу ."),
    (in_the_park, "ru", "Женщина читает письмо в парке ."),
    (three_books, "ru", "Фермер продал три красные книги ."),
    (own_dog, "ru", "Мужчина ищет свою собаку ."),
    (reason, "ru", "Королева съела торт , потому что она была голодна ."),
    (relative, "ru", "Актриса нашла письмо , которое король написал ."),
    (reported_inability, "ru", "Том сказал , что он не может найти старый билет ."),
    (passive, "ru", "Окно было разбито мальчиком ."),
    # Chinese: measure words, 了 and 没有, modifiers first, relative clauses before their noun
    (gift, "zh", "老师 给 了 男孩 一 本 新 书 。"),
    (three_books, "zh", "农民 卖 了 三 本 红色 的 书 。"),
    (no_apple, "zh", "学生 没有 买 苹果 。"),
    (in_the_park, "zh", "女人 正 在 公园 里 读 信 。"),
    (relative, "zh", "女演员 找到 了 国王 写 的 信 。"),
    (passive, "zh", "窗户 被 男孩 打破 了 。"),
    # Japanese: particles, the verb last, plain forms inside, counters
    (gift, "ja", "先生 は 男の子 に 新しい 本 を あげ まし た 。"),
    (three_books, "ja", "農夫 は 三 冊 の 赤い 本 を 売り まし た 。"),
    (reason, "ja", "空腹 だっ た ので 、 女王 は ケーキ を 食べ まし た 。"),
    (relative, "ja", "女優 は 王様 が 書い た 手紙 を 見つけ まし た 。"),
    (reported_inability, "ja", "トム は 古い 切符 を 見つける こと が でき ない と 言い まし た 。"),
    (under_the_tree, "ja", "木 の 下 に 黒い 猫 が い ます 。"),
    (wish, "ja", "私 は 博物館 を 訪れ たい です 。"),
]  # fmt: skip


@pytest.mark.parametrize(("meaning", "lang", "expected"), GOLDEN, ids=lambda value: getattr(value, "__name__", None))
def test_realisation(meaning, lang, expected):
    sentence, _ = grammar(lang).sentence(meaning())
    assert " ".join(sentence.tokens) == expected


@pytest.mark.parametrize(
    ("meaning", "lang", "expected"),
    [
        (no_apple, "en", "The student didn't buy an apple."),
        (no_apple, "fr", "L'étudiant n'a pas acheté de pomme."),
        (what, "fr", "Qu'est-ce que l'enfant a dessiné ?"),
        (what, "es", "¿Qué dibujó el niño?"),
        (under_the_tree, "it", "C'è un gatto nero sotto l'albero."),
        (gift, "zh", "老师给了男孩一本新书。"),
        (reason, "ja", "空腹だったので、女王はケーキを食べました。"),
    ],
)
def test_running_text(meaning, lang, expected):
    sentence, _ = grammar(lang).sentence(meaning())
    assert sentence.text == expected


def test_a_german_subordinate_clause_has_its_finite_verb_last_and_its_tree_says_so():
    sentence, _ = grammar("de").sentence(reason())
    columns = zip(sentence.tokens, sentence.upos, sentence.heads, sentence.deprels, strict=True)
    assert list(columns) == [
        ("Die", "DET", 1, "det"),
        ("Königin", "NOUN", 5, "nsubj"),
        ("hat", "AUX", 5, "aux"),
        ("den", "DET", 4, "det"),
        ("Kuchen", "NOUN", 5, "obj"),
        ("gegessen", "VERB", -1, "root"),
        (",", "PUNCT", 9, "punct"),
        ("weil", "SCONJ", 9, "mark"),
        ("sie", "PRON", 9, "nsubj"),
        ("hungrig", "ADJ", 5, "advcl"),
        ("war", "AUX", 9, "cop"),
        (".", "PUNCT", 5, "punct"),
    ]
