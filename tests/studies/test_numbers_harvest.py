"""Templates out of a corpus: which sentences have a place for a number, and who has to carry it."""

from __future__ import annotations

import pandas as pd
import pytest

from nbkit.studies.answering import Cell
from nbkit.studies.numbers import NumbersParams
from nbkit.studies.numbers.harvest import harvest
from nbkit.studies.numbers.items import templates


def texts(sentences: list[str], src: str = "en", tgt: str = "zh", translate=list) -> list[str]:
    """The templates of sentences under a translator; Chinese has English separators, so that a copy is correct."""
    return [template.text for template in harvest(sentences, src, tgt, translate)]


def of_corpus(corpus: str, n: int, model: str = "", ask_model=None, **how: str) -> pd.DataFrame:
    """The templates of the integers of an English-German corpus."""
    params = NumbersParams(templates=f"corpus:{corpus}", harvest_pairs=n, formats=["d"], n_templates=100, **how)
    return templates(params, Cell("en", "de"), model, ask_model)


@pytest.mark.parametrize(
    ("sentence", "template"),
    [
        ("It weighs 12.5 kg.", "It weighs [NUM] kg."),
        ("About 1,234 of 2,000 came.", "About [NUM] of 2,000 came."),
        ("(12) is the answer.", "([NUM]) is the answer."),
        ("It grew by 12%.", "It grew by [NUM]%."),
        ("In May, 18 people came.", "In May, [NUM] people came."),
    ],
)
def test_sentences_with_a_place_for_a_number(sentence, template):
    assert texts([sentence]) == [template]


@pytest.mark.parametrize(
    ("sentence", "why"),
    [
        ("No number.", "none"),
        ("There is 1 dog.", "other words change with one"),
        ("A dog and a cat.", "articles"),
        ("It came 3rd.", "an ordinal"),
        ("We met in 1998.", "a year"),
        ("We met at 10:30.", "a time"),
        ("They will play on Saturday, 18 June.", "a day of a month"),
        ("On June 18 they met.", "a day of a month"),
        ("He lived during 59 BC.", "a year of an era"),
        ("They won 3-2.", "a score"),
        ("He drives a B52 home.", "a name"),
        ("From 5 to 5.", "there twice, so that nobody knows which was carried"),
        ("A [NUM] and a 7.", "a placeholder already"),
    ],
)
def test_sentences_without_one(sentence, why):
    assert texts([sentence]) == []


@pytest.mark.parametrize(
    ("lang", "sentence"),
    [("de", "Er kam am 18. Juni."), ("es", "Vino el 18 de junio."), ("fr", "Il est venu le 18 juin."),
     ("de", "Er lebte um 59 v. Chr. in Rom.")],
)  # fmt: skip
def test_dates_of_other_languages(lang, sentence):
    assert texts([sentence], lang, "en") == []


def test_only_what_is_carried_over_becomes_a_template():
    sentences = ["It cost 12 euros.", "It cost 345 euros.", "It cost 7 euros."]
    assert texts(sentences, translate=lambda batch: [text.replace("345", "354") for text in batch]) == [
        "It cost [NUM] euros.",
        "It cost [NUM] euros.",
    ]
    assert texts(sentences, translate=lambda batch: [f"{text} 99" for text in batch]) == []


def test_capability_and_place_are_those_of_the_number():
    sentences = ["It cost 12.", "It cost 1.25.", "It cost 1,250.", "It cost 1.2 million.", "It cost twelve."]
    found = list(harvest(sentences, "en", "zh", lambda batch: [_in_chinese(text) for text in batch], places="mine"))
    assert [each.capability for each in found] == ["integers", "decimals", "separators", "numerals", "numerals"]
    assert [each.place for each in found] == [f"mine:{line}" for line in range(1, 6)]


def _in_chinese(text: str) -> str:
    return text.replace("1.2 million", "120万").replace("twelve", "十二")


def test_languages_without_spaces():
    assert texts(["他有12本书。"], "zh", "ja") == ["他有[NUM]本书。"]
    assert texts(["在B12室。"], "zh", "ja") == []


def test_a_long_corpus_is_translated_in_batches():
    sizes = []

    def translate(batch: list[str]) -> list[str]:
        sizes.append(len(batch))
        return batch

    assert len(texts([f"It cost {n} euros." for n in range(2100, 3302)], translate=translate)) == 1202
    assert sizes == [500, 500, 202]


def test_a_parallel_corpus_and_its_references(tmp_path):
    path = tmp_path / "pairs.tsv"
    rows = [
        ("It cost 12 euros.", "Es kostete 12 Euro."),
        ("It cost 13 euros.", "Es kostete 14 Euro."),
        ("It cost 12 euros.", "Es kostete zwölf Euro."),
        ("It cost 2.5 euros.", "Es kostete 2,5 Euro."),
    ]
    path.write_text("".join(f"{source}\t{target}\n" for source, target in rows), encoding="utf-8")
    found = of_corpus(str(path), 10)
    assert list(found["template"]) == ["It cost [NUM] euros."]  # both are the same sentence but for the number
    assert list(found["place"]) == [f"{path}:1"]
    asked = []

    def ask_model(name: str, batch: list[str]) -> list[str]:
        asked.append(name)
        return [text.replace(".5", ",5") for text in batch]

    by_system = of_corpus(str(path), 10, harvest_by="system", model="placeholder:mine", ask_model=ask_model)
    assert list(by_system["template"]) == ["It cost [NUM] euros."]
    assert asked == ["mine"], "a model behind the placeholder step has the templates of the model"


@pytest.mark.parametrize("corpus", ["multi30k:test_2016_flickr", "tatoeba"])
def test_real_corpora_hold_templates(data_folder, corpus):
    found = of_corpus(corpus, 10_000)
    assert len(found) > 20
    assert all(each.count("[NUM]") == 1 for each in found["template"])
