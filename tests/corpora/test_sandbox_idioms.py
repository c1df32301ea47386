"""The mixture of idioms: literal words in regular text, idioms in splits of their own, meanings in every language."""

from __future__ import annotations

from collections import Counter

import pytest

from nbkit.corpora import check_corpus, corpus_identity, load_pairs, sandbox
from nbkit.corpora.idiom_splits import check_leaks, fits, sentence_key, split_idioms
from nbkit.corpora.sandbox.generate import meaning, mixtures
from nbkit.corpora.sandbox.idioms import clauses_of, idioms, literal_verbs
from nbkit.corpora.sandbox_idioms import sandbox_idiom_pairs, sandbox_idiom_splits
from nbkit.errors import NbkitError, UnknownNameError
from nbkit.metrics.literal import Litter
from nbkit.metrics.word_dictionary import WordDictionary
from tests.corpora.sandbox_trees import check_tree

TARGETS = [lang for lang in sandbox.LANGUAGES if lang != "en"]
SIZE = 200
#: The languages whose dictionaries are counted here; each takes a second or two.
DICTIONARIES = ["fr", "es", "ja"]


@pytest.fixture(scope="module")
def idiomatic() -> dict[str, list]:
    """All pairs with idioms."""
    return {
        lang: [
            pair
            for split in sandbox.IDIOM_SPLITS
            for pair in sandbox.pairs("en", lang, n=None, split=split, mixture="idioms")
        ]
        for lang in TARGETS
    }


@pytest.fixture(scope="module")
def regular() -> dict[str, list]:
    return {lang: list(sandbox.pairs("en", lang, n=SIZE, split="regular", mixture="idioms")) for lang in TARGETS}


# --- sentences


@pytest.mark.parametrize("lang", TARGETS)
def test_trees(idiomatic, regular, lang):
    for pair in idiomatic[lang] + regular[lang]:
        for text in (pair.source, pair.target):
            for sentence in text.sentences:
                check_tree(sentence)
                assert "  " not in sentence.text and " ," not in sentence.text


def test_every_construction_and_context_is_drawn(idiomatic, regular):
    settings = mixtures()["idioms"]
    assert {pair.note for pair in regular["de"]} == set(settings["weights"])
    assert {pair.note.partition(":")[0] for pair in idiomatic["de"]} == set(settings["contexts"])


@pytest.mark.parametrize("lang", TARGETS)
def test_content_words_of_an_idiom_are_aligned(idiomatic, lang):
    for pair in idiomatic[lang]:
        linked = {source for source, _ in pair.alignment}
        (sentence,) = pair.source.sentences
        for token in sandbox.gold_idiom(pair).tokens:
            assert token in linked or sentence.upos[token] == "DET", (pair.source.text, pair.target.text)


EXPECTED = {
    "kick the bucket": {"de": "sterben", "fr": "mourir", "es": "morir", "it": "morire", "zh": "去世", "ja": "亡くなる"},
    "take the cake": {"de": "gewinnen", "fr": "gagner", "es": "ganar", "it": "vincere", "zh": "获胜", "ja": "勝つ"},
    "a white elephant": {"de": "Last", "fr": "fardeau", "es": "carga", "it": "peso", "zh": "负担", "ja": "負担"},
    "pull someone's leg": {"de": "täuschen", "fr": "tromper", "es": "engañar", "ru": "обмануть", "zh": "欺骗"},
    "lend someone a hand": {"de": "helfen", "fr": "aider", "es": "ayudar", "it": "aiutare", "ru": "помочь"},
}


@pytest.mark.parametrize(("idiom", "lang"), [(idiom, lang) for idiom, row in EXPECTED.items() for lang in row])
def test_other_languages_say_what_it_means(idiomatic, idiom, lang):
    found = [pair for pair in idiomatic[lang] if pair.note.endswith(idiom)]
    for pair in found:
        assert EXPECTED[idiom][lang] in pair.target.sentences[0].lemmas, pair.target.text
    assert len(found) >= 6


# --- splits


def test_half_of_each_idiom_to_each_split():
    splits = sandbox_idiom_splits("fr")
    assert set(splits.frequencies()) == {idiom.name for idiom in idioms()} and len(idioms()) >= 12
    for idiom in idioms():
        train, test = splits.frequencies()[idiom.name]
        assert train + test == idiom.pairs and test - train in (0, 1)
    assert len({pair.source for pair in (*splits.train, *splits.test)}) == sum(idiom.pairs for idiom in idioms())


def test_the_papers_rule_deals_as_many(idiomatic):
    splits = sandbox_idiom_splits("de")
    again = split_idioms([*splits.train, *splits.test])
    assert again.frequencies() == splits.frequencies() and not again.discarded


def test_no_sentence_leaks_and_regular_text_has_no_idiom():
    for split in ("regular", "dev", "test"):
        texts = [
            (pair.source.text, pair.target.text)
            for pair in sandbox.pairs("en", "de", n=700, split=split, mixture="idioms")
        ]
        check_leaks(texts, sandbox_idiom_pairs("de"))
        for index in range(700):
            _, clauses = meaning("idioms", "train" if split == "regular" else split, index)
            for clause in (inner for each in clauses for inner in clauses_of(each)):
                assert clause.idiom is None
                assert (clause.verb, clause.object and clause.object.noun) not in SAID


#: Verb and object of every idiom.
SAID = {(idiom.verb, idiom.phrase.noun) for idiom in idioms() if idiom.verb is not None}


def test_the_words_of_an_idiom_are_never_listed_together():
    assert not [(verb.id, noun.id) for verb, nouns in literal_verbs().items() for noun in nouns if (verb, noun) in SAID]


def test_idiom_train_and_test_share_no_sentence():
    keys = [{sentence_key(pair.source) for pair in sandbox_idiom_pairs("es", split)} for split in sandbox.IDIOM_SPLITS]
    assert not keys[0] & keys[1]


def test_idiom_pairs_pass_the_papers_filters():
    pairs = sandbox_idiom_pairs("fr")
    assert sum(fits(pair.source, pair.target) for pair in pairs) > 0.9 * len(pairs)


# --- places of the idioms


def test_spans_are_the_words_of_the_tokens(idiomatic):
    for pair in idiomatic["de"]:
        gold = sandbox.gold_idiom(pair)
        words = " ".join(pair.source.text[start:end] for start, end in gold.spans)
        assert words.split() == [pair.source.tokens[token] for token in gold.tokens], pair.source.text
        assert list(gold.spans) == sorted(gold.spans)


def test_spans_hold_the_idiom_and_not_whom_it_is_about(idiomatic):
    forms = Counter()
    lemmas = {"a white elephant": "white elephant", "a big cheese": "big cheese", "eat one's hat": "eat hat"}
    lemmas |= {"lend someone a hand": "lend a hand", "pull someone's leg": "pull leg"}
    lemmas |= {"show someone the door": "show the door", "spill the beans": "spill the bean"}
    lemmas |= {"hit the books": "hit the book"}
    for pair in idiomatic["de"]:
        gold = sandbox.gold_idiom(pair)
        (sentence,) = pair.source.sentences
        said = " ".join(sentence.lemmas[token] for token in gold.tokens)
        assert said == lemmas.get(gold.idiom, gold.idiom)
        forms[gold.idiom, " ".join(sentence.tokens[token] for token in gold.tokens)] += 1
    inflected = Counter(idiom for idiom, _ in forms)
    assert sum(count > 1 for count in inflected.values()) >= 10
    assert any(len(sandbox.gold_idiom(pair).spans) == 2 for pair in idiomatic["de"])


# --- the dictionary


@pytest.mark.parametrize("lang", DICTIONARIES)
def test_every_word_of_every_idiom_has_literal_translations(idiomatic, lang):
    dictionary = sandbox.idiom_dictionary("en", lang)
    for pair in idiomatic[lang]:
        (sentence,) = pair.source.sentences
        for token in sandbox.gold_idiom(pair).tokens:
            if sentence.upos[token] in ("VERB", "NOUN", "ADJ"):
                assert dictionary.get(sentence.tokens[token].lower()), (lang, sentence.tokens[token])


@pytest.mark.parametrize("lang", DICTIONARIES)
def test_references_are_no_literal_errors_and_literal_translations_are(idiomatic, lang):
    litter = Litter(WordDictionary("sandbox", "sandbox", sandbox.idiom_dictionary("en", lang)), "en", lang)
    alive = 0
    for pair in sandbox_idiom_pairs(lang):
        idiom = " ".join(pair.words)
        assert not litter.judge_texts(idiom, pair.target, pair.target).error
        blocklists = litter.judge_texts(idiom, pair.target, pair.target).blocklists
        alive += bool(blocklists)
        if blocklists:
            literal = f"{pair.target[:-1]} {blocklists[0].translations[0]}"
            assert litter.judge_texts(idiom, pair.target, literal).error
    assert alive > 0.95 * len(sandbox_idiom_pairs(lang))


# --- grammar


def said(idiomatic, lang: str, idiom: str) -> str:
    """All sentences of an idiom in *lang*, or in English."""
    pairs = [pair for pair in idiomatic["de" if lang == "en" else lang] if pair.note.endswith(idiom)]
    texts = [pair.source.text if lang == "en" else pair.target.text for pair in pairs]
    return "\n".join(texts)


@pytest.mark.parametrize(
    ("lang", "idiom", "fragment"),
    [
        ("en", "pull someone's leg", "wanted to pull Paul's leg"),
        ("en", "lend someone a hand", "didn't lend Maria a hand"),
        ("en", "eat one's hat", "Our son ate his hat when a woman returned"),
        ("de", "hit the road", "weiß, dass der Bauer heute Morgen abgereist ist."),  # the auxiliary of motion, last
        ("de", "break the ice", "Heute wollte der arme Koch das Gespräch anfangen."),
        ("de", "lend someone a hand", "Unser Vater hat Maria nicht geholfen."),
        ("fr", "kick the bucket", "Paul a essayé de mourir."),
        ("fr", "buy the farm", "Ils sont morts quand"),  # a participle that agrees
        ("fr", "smell a rat", "Hier soir, il voulait douter."),
        ("es", "show someone the door", "Laura despidió a mi abuelo."),  # the person takes "a"
        ("es", "smell a rat", "Nuestra tía dudará en la oficina pronto."),
        ("it", "take the cake", "gli avvocati hanno vinto nel parco."),
        ("it", "eat one's hat", "Nostro figlio ha ammesso l'errore"),
        ("ru", "lend someone a hand", "помог моему сыну."),  # helping takes the dative
        ("ru", "hit the books", "не занимался в гостинице."),  # going on, so imperfective
        ("ru", "a white elephant", "Тот замок — обуза."),
        ("zh", "pull someone's leg", "因为客人欺骗了罗伯特。"),
        ("zh", "a white elephant", "那座城堡是一个负担。"),
        ("ja", "a big cheese", "重要な人物であると言いました。"),  # plain before と
        ("ja", "kick the bucket", "亡くなりたがっていました。"),
    ],
)
def test_fragments(idiomatic, lang, idiom, fragment):
    assert fragment in said(idiomatic, lang, idiom)


# --- as a corpus, and bad input


def test_the_corpus():
    assert check_corpus("sandbox-idioms:idiom-train", "en", "fr") == []
    test = list(load_pairs("sandbox-idioms:idiom-test", "en", "fr"))
    assert len(test) == len(sandbox_idiom_pairs("fr")) and test[3].id == "idioms/idiom-test/3"
    assert [pair.id for pair in load_pairs("sandbox-idioms:idiom-test", "en", "fr", n=2, start=3)] == [
        "idioms/idiom-test/3",
        "idioms/idiom-test/4",
    ]
    assert next(load_pairs("sandbox-idioms:regular", "en", "fr", n=1)).id == "idioms/train/0"
    assert corpus_identity("sandbox-idioms:regular", "en", "fr") != corpus_identity("sandbox-idioms", "en", "fr")


def test_both_sides_are_figurative_between_other_languages():
    for pair in sandbox.pairs("de", "fr", n=None, split="idiom-test", mixture="idioms"):
        if pair.note.endswith("kick the bucket"):
            assert "sterben" in pair.source.sentences[0].lemmas and "mourir" in pair.target.sentences[0].lemmas


def test_bad_input():
    with pytest.raises(NbkitError, match="is regular text"):
        sandbox.gold_idiom(next(sandbox.pairs("en", "de", n=1, mixture="idioms")))
    with pytest.raises(NbkitError, match="only English ones"):
        sandbox.gold_idiom(next(sandbox.pairs("de", "en", n=1, split="idiom-test", mixture="idioms")))
    with pytest.raises(UnknownNameError, match="idiom-tset"):
        next(sandbox.pairs("en", "de", n=1, split="idiom-tset", mixture="idioms"))
    with pytest.raises(NbkitError, match="no last pair"):
        list(load_pairs("sandbox-idioms:regular", "en", "fr"))
