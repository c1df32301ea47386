"""The two forms of the disambiguation paper: written, filled in, read back; agreement against scikit-learn."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from openpyxl import load_workbook
from sklearn.metrics import cohen_kappa_score

from nbkit.errors import NbkitError
from nbkit.measure.forms import (
    NATURALNESS,
    SENSE_ANSWERS,
    agreement,
    error_rates,
    make_naturalness_form,
    make_sense_form,
    naturalness,
    read_forms,
    weighted_agreement,
    weighted_kappa,
)

SENTENCES = pd.DataFrame(
    [
        (f"Sentence {i} with a bat.", "bat", "Schläger, Keule", "Fledermaus", "adversarial" if i % 2 else "regular")
        for i in range(12)
    ],
    columns=["sentence", "homograph", "correct", "other", "set"],
)


def filled(path, copy, answer):
    """*path* with ``answer(row of the sheet by header)`` in every row, saved as *copy*."""
    book = load_workbook(path)
    sheet = book["judgements"]
    header = [cell.value for cell in sheet[1]]
    for row in sheet.iter_rows(min_row=2):
        shown = {name: cell.value for name, cell in zip(header, row, strict=True)}
        row[header.index("label")].value = answer(shown)
    book.save(copy)
    return copy


def test_sense_forms_hide_the_answer_and_come_back(tmp_path):
    form, key = make_sense_form(SENTENCES, tmp_path / "senses.xlsx", seed=3)
    sheet = load_workbook(form)["judgements"]
    assert [cell.value for cell in sheet[1]] == [
        "item",
        "sentence",
        "homograph",
        "SENSE 1",
        "SENSE 2",
        "label",
        "remark",
    ]
    firsts = [row[3].value for row in sheet.iter_rows(min_row=2)]
    assert {"Schläger, Keule", "Fledermaus"} == set(firsts)  # the right one is not always first
    instructions = load_workbook(form)["instructions"]
    assert any("equally interpreted" in str(row[0].value) for row in instructions.iter_rows())

    def knows(row):
        return "SENSE 1" if row["SENSE 1"].startswith("Schl") else "SENSE 2"

    def guesses(row):
        return "BOTH" if row["sentence"].startswith("Sentence 1 ") else knows(row)

    forms = {"A": filled(form, tmp_path / "a.xlsx", knows), "B": filled(form, tmp_path / "b.xlsx", guesses)}
    judged = read_forms(forms, key)
    rates = error_rates(judged).set_index(["set", "annotator"])
    assert rates.loc[("adversarial", "B"), "error_rate"] == pytest.approx(1 / 6)
    assert rates.loc[("adversarial", "B"), "both"] == pytest.approx(1 / 6)
    assert rates.loc[("adversarial", "all"), "n"] == 12 and rates.loc[("regular", "all"), "error_rate"] == 0
    kappa = agreement(judged, labels=SENSE_ANSWERS, resamples=20).set_index("measure").loc["cohen", "value"]
    wide = judged.pivot(index="item", columns="annotator", values="judgement")
    assert kappa == pytest.approx(cohen_kappa_score(wide["A"], wide["B"]))


def test_naturalness_has_no_right_answer_but_means_and_weights(tmp_path):
    form, key = make_naturalness_form(SENTENCES, tmp_path / "natural.xlsx")
    texts = [str(row[0].value) for row in load_workbook(form)["instructions"].iter_rows()]
    assert any(text.startswith("1 = Completely unnatural") for text in texts)

    def low(row):
        return NATURALNESS[len(row["sentence"]) % 3]

    def high(row):
        return NATURALNESS[len(row["sentence"]) % 3 + 1]

    judged = read_forms(
        {"A": filled(form, tmp_path / "a.xlsx", low), "B": filled(form, tmp_path / "b.xlsx", high)}, key
    )
    means = naturalness(judged).set_index(["set", "annotator"])["mean"]
    assert means["adversarial", "B"] == pytest.approx(means["adversarial", "A"] + 1)
    weighted = weighted_agreement(judged, resamples=20).set_index("weights")["value"]
    wide = judged.pivot(index="item", columns="annotator", values="judgement").astype(int)
    for weights in ("linear", "quadratic"):
        assert weighted[weights] == pytest.approx(cohen_kappa_score(wide["A"], wide["B"], weights=weights))


def test_weighted_kappa_is_scikit_learns():
    random = np.random.default_rng(1)
    for _ in range(20):
        a, b = random.integers(1, 6, size=(2, 30))
        for weights in ("linear", "quadratic"):
            assert weighted_kappa(np.array([a, b]), weights) == pytest.approx(cohen_kappa_score(a, b, weights=weights))
    assert np.isnan(weighted_kappa(np.array([[3, 3], [3, 3]])))


def test_bad_tables_and_too_few_annotators(tmp_path):
    with pytest.raises(NbkitError, match="no column other"):
        make_sense_form(SENTENCES.drop(columns="other"), tmp_path / "x.xlsx")
    with pytest.raises(NbkitError, match="two or more annotators"):
        weighted_agreement(pd.DataFrame({"annotator": ["A"], "item": ["1"], "judgement": ["3"]}))
