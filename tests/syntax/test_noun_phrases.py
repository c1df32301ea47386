"""Base noun phrases in the eight languages and in the label sets of the parsers in use."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings

from nbkit.errors import NbkitError
from nbkit.text.conllu import read_conllu
from nbkit.text.sentences import Sentence, base_noun_phrases
from tests.perturb.annotated import annotated
from tests.strategies import sentences

CASES = {
    "Figure 3": (
        "en",
        "[Tom/PROPN/2/nsubj] said/VERB/0/root [he/PRON/6/nsubj] could/AUX/6/aux n't/PART/6/advmod find/VERB/2/ccomp "
        "[a/DET/9/det decent/ADJ/9/amod place/NOUN/6/obj] to/PART/11/mark live/VERB/9/acl ./PUNCT/2/punct",
    ),
    "possessor with its 's": (
        "en",
        "[The/DET/3/det old/ADJ/3/amod man/NOUN/6/nmod:poss 's/PART/3/case red/ADJ/6/amod car/NOUN/7/nsubj] "
        "broke/VERB/0/root [its/PRON/9/nmod:poss axle/NOUN/7/obj]",
    ),
    "coordinated nouns are two, coordinated adjectives are in one": (
        "en",
        "[Tom/PROPN/4/nsubj] and/CCONJ/3/cc [Ann/PROPN/1/conj] saw/VERB/0/root "
        "[a/DET/9/det black/ADJ/9/amod and/CCONJ/8/cc white/ADJ/6/conj cat/NOUN/4/obj]",
    ),
    "degree words, numbers, a comma inside": (
        "en",
        "[More/ADJ/3/advmod than/ADP/1/fixed thirty/NUM/7/nummod very/ADV/5/advmod big/ADJ/7/amod ,/PUNCT/7/punct "
        "men/NOUN/8/nsubj] left/VERB/0/root",
    ),
    "a quotation mark at the edge is outside, a pair is inside": (
        "en",
        '"/PUNCT/4/punct [The/DET/4/det new/ADJ/4/amod law/NOUN/5/nsubj] forbids/VERB/0/root '
        '[so-called/ADJ/9/amod "/PUNCT/9/punct performance/NOUN/9/compound pay/NOUN/5/obj "/PUNCT/9/punct] '
        "now/ADV/5/advmod",
    ),
    "a name with a title, an apposition apart": (
        "en",
        "[Special/ADJ/2/amod assistant/NOUN/3/nmod:desc Kori/PROPN/5/nsubj Schulman/PROPN/3/flat] wrote/VERB/0/root "
        "[Tom/PROPN/5/obj] ,/PUNCT/9/punct [a/DET/9/det friend/NOUN/6/appos] of/ADP/11/case [hers/PRON/9/nmod]",
    ),
    "an expletive is none": ("en", "There/PRON/2/expl is/VERB/0/root [a/DET/4/det way/NOUN/2/nsubj]"),
    "a noun of a compound that something stands between stands alone": (
        "en",
        "[cat/NOUN/3/compound] quickly/ADV/4/advmod [food/NOUN/4/nsubj] sold/VERB/0/root",
    ),
    "German: what a participle brings along breaks the block": (
        "de",
        "die/DET/5/det von/ADP/3/case [ihm/PRON/4/obl] [gekaufte/ADJ/5/amod Blume/NOUN/6/nsubj] blüht/VERB/0/root",
    ),
    "German, TIGER labels": (
        "de",
        "[Der/DET/3/nk alte/ADJ/3/nk Mann/NOUN/4/sb] sah/VERB/0/ROOT in/ADP/4/mo [dem/DET/7/nk Haus/NOUN/5/nk] "
        "[Angela/PROPN/9/pnc Merkel/PROPN/4/oa]",
    ),
    "French: the article written as one with a preposition is outside": (
        "fr",
        "[Une/DET/2/det voiture/NOUN/6/nsubj rouge/ADJ/2/amod] du/ADP/5/case [voisin/NOUN/2/nmod] "
        "passe/VERB/0/root [l'/DET/8/det arbre/NOUN/6/obj]",
    ),
    "French: an adjective's relative clause stays out, the adjective in": (
        "fr",
        "[un/DET/2/det homme/NOUN/0/root fort/ADJ/2/amod] et/CCONJ/6/cc [qui/PRON/6/nsubj] aime/VERB/3/conj",
    ),
    "Spanish": (
        "es",
        "[Cada/DET/3/det gran/ADJ/3/amod libro/NOUN/4/nsubj] vale/VERB/0/root [diez/NUM/6/nummod euros/NOUN/4/obj]",
    ),
    "Italian": ("it", "[La/DET/3/det mia/DET/3/det:poss casa/NOUN/5/nsubj bella/ADJ/3/amod] cade/VERB/0/root"),
    "Russian": (
        "ru",
        "[Пять/NUM/3/nummod:gov старых/ADJ/3/amod друзей/NOUN/4/nsubj] пришли/VERB/0/root [ночью/NOUN/4/obl]",
    ),
    "Chinese: a classifier and the particle of an adjective are inside": (
        "zh",
        "[三/NUM/2/nummod 個/NOUN/5/clf 漂亮/ADJ/5/amod 的/PART/3/mark:rel 房子/NOUN/8/nsubj] "
        "在/ADP/7/case [山/NOUN/8/obl] 倒/VERB/0/root",
    ),
    "Japanese: particles are outside": (
        "ja",
        "[この/DET/3/det 警察/NOUN/3/compound 官/NOUN/5/nsubj] は/ADP/3/case 走る/VERB/0/root",
    ),
    "ClearNLP labels": (
        "en",
        "[Tom/PROPN/4/poss 's/PART/1/case two/NUM/4/nummod dogs/NOUN/5/nsubj] ate/VERB/0/ROOT "
        "[all/DET/9/predet the/DET/9/det apple/NOUN/9/compound pies/NOUN/5/dobj]",
    ),
}


@pytest.mark.parametrize(("lang", "bracketed"), CASES.values(), ids=CASES)
def test_phrases_are_those_in_brackets(lang: str, bracketed: str) -> None:
    words = bracketed.split()
    starts = [i for i, word in enumerate(words) if word.startswith("[")]
    ends = [i + 1 for i, word in enumerate(words) if word.endswith("]")]
    sentence = annotated(" ".join(word.strip("[]") for word in words), lang)
    assert base_noun_phrases(sentence) == list(zip(starts, ends, strict=True))


NO_HEAD = {"expl", "case", "mark", "cc", "cop", "aux", "fixed", "det", "punct"}


@settings(deadline=None)
@given(sentence=sentences())
def test_phrases_are_apart_in_order_and_hold_every_noun_that_may_head_one(sentence: Sentence) -> None:
    phrases = base_noun_phrases(sentence)
    edges = [edge for phrase in phrases for edge in phrase]
    assert edges == sorted(edges)
    assert all(start < end for start, end in phrases)
    covered = {i for start, end in phrases for i in range(start, end)}
    for i, (tag, label) in enumerate(zip(sentence.upos, sentence.deprels, strict=True)):
        if tag in ("NOUN", "PROPN", "PRON") and label not in NO_HEAD:
            assert i in covered
    for start, end in phrases:
        assert any(sentence.upos[i] in ("NOUN", "PROPN", "PRON") for i in range(start, end))
        # In one piece in the tree as well: exactly one token hangs on something outside.
        assert sum(not start <= sentence.heads[i] < end for i in range(start, end) if sentence.upos[i] != "PUNCT") == 1


def test_what_is_missing_is_named() -> None:
    with pytest.raises(NbkitError, match="'Tom sleeps' has no parts of speech, no dependency tree, no relations"):
        base_noun_phrases(Sentence(("Tom", "sleeps"), "en"))


@pytest.mark.parametrize("lang", ["en", "de", "fr", "es", "zh", "ja"])
def test_a_sentence_of_a_real_treebank_has_some_six_short_phrases(data_folder: Path, lang: str) -> None:
    """Labels of the treebank that nothing covers would show as more and shorter phrases, too many as longer ones."""
    lengths: Counter[int] = Counter()
    texts = list(read_conllu(data_folder / "pud" / f"{lang}.conllu", lang))
    for text in texts:
        for sentence in text.sentences:
            lengths.update(end - start for start, end in base_noun_phrases(sentence))
    assert 5 < lengths.total() / len(texts) < 7
    assert sum(lengths[length] for length in (1, 2, 3)) / lengths.total() > 0.9
    assert max(lengths) <= 15
