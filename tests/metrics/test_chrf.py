"""chrF equals sacreBLEU's, exactly, in every script."""

from __future__ import annotations

import random
from pathlib import Path
from unicodedata import normalize

import pytest
import regex
import sacrebleu
from hypothesis import given
from hypothesis import strategies as st

from nbkit.errors import NbkitError
from nbkit.measure.bleu import Chrf
from nbkit.text.conllu import read_conllu


def form(text: str) -> str:
    return normalize("NFC", regex.sub(r"[\p{Cf}\s]", "", text))


def sacre(hypotheses: list[str], references: list[str]) -> list[float]:
    metric = sacrebleu.CHRF()
    pairs = zip(map(form, hypotheses), map(form, references), strict=True)
    return [metric.sentence_score(h, [r]).score / 100 for h, r in pairs]


@pytest.mark.parametrize(
    ("hypothesis", "reference", "expected"),
    [
        ("abc", "abc", 1.0),
        ("a b c", "abc", 1.0),
        ("xyz", "abc", 0.0),
        ("", "abc", 0.0),
        ("abc", "", 0.0),
        ("", "", 0.0),
        # One order: P = 1/2, R = 1, F2 = 5 · 1/2 / (4 · 1/2 + 1).
        ("ab", "a", 2.5 / 3),
        # Orders 1 and 2: P = R = (2/2 + 0/1) / 2.
        ("ba", "ab", 0.5),
    ],
)
def test_by_hand(hypothesis: str, reference: str, expected: float) -> None:
    assert Chrf().scores([hypothesis], [reference], "en")[0] == pytest.approx(expected, abs=1e-12)
    assert Chrf().scores([hypothesis], [reference], "en").tolist() == sacre([hypothesis], [reference])


TEXTS = st.one_of(
    st.text(max_size=30), st.text(st.sampled_from("ab c"), max_size=30), st.text("北京é\u0301👍 ", max_size=9)
)


@given(st.lists(st.tuples(TEXTS, TEXTS), max_size=8))
def test_equals_sacrebleu(pairs: list[tuple[str, str]]) -> None:
    hypotheses, references = [h for h, _ in pairs], [r for _, r in pairs]
    scores = Chrf().scores(hypotheses, references, "en")
    assert scores.tolist() == sacre(hypotheses, references)
    assert ((scores >= 0) & (scores <= 1)).all()


@given(TEXTS.filter(form), TEXTS)
def test_a_text_is_itself_however_it_is_spaced(text: str, other: str) -> None:
    spaced = " ".join(text)
    assert Chrf().scores([spaced], [text], "en").tolist() == [1.0]
    assert Chrf().scores([spaced], [other], "en").tolist() == Chrf().scores([text], [other], "en").tolist()


@pytest.mark.parametrize("lang", ["de", "zh", "ja"])
def test_equals_sacrebleu_on_perturbed_treebanks(lang: str, data_folder: Path) -> None:
    rng = random.Random(0)
    texts = list(read_conllu(data_folder / "pud" / f"{lang}.conllu", lang))[:300]
    references = [text.text for text in texts]
    hypotheses = [text.sentences[0].reorder(rng.sample(range(n), n)) for text in texts if (n := len(text.sentences[0]))]
    assert Chrf().scores(hypotheses, references, lang).tolist() == sacre(hypotheses, references)


def test_a_text_of_thousands_of_distinct_characters() -> None:
    reference = "".join(map(chr, range(0x4E00, 0x4E00 + 3000)))
    hypothesis = reference[:1000] + reference[1010:]
    assert Chrf().scores([hypothesis, "a"], [reference, "ab"], "zh").tolist() == sacre(
        [hypothesis, "a"], [reference, "ab"]
    )


def test_lone_surrogates_do_not_stop_a_run() -> None:
    assert Chrf().scores(["\ud800a"], ["\ud800a"], "en").tolist() == [1.0]


def test_encodings_of_a_text_are_alike() -> None:
    text = "Die Tür ist höher als der Dampfkessel."
    assert Chrf().scores([normalize("NFD", text).replace("Dampf", "Dampf\u00ad")], [text], "de").tolist() == [1.0]


def test_lengths_must_agree() -> None:
    with pytest.raises(NbkitError, match="chrf: 1 hypotheses but 0 references"):
        Chrf().scores(["a"], [], "en")
    assert Chrf().scores([], [], "en").shape == (0,)
