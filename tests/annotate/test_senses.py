"""The two forms of the disambiguation paper: written, filled in, read back; agreement against scikit-learn."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
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
)
from tests.annotate.filling import fill, rows_of

SENTENCES = pd.DataFrame(
    [
        (f"Sentence {i} with a bat.", "bat", "Schläger, Keule", "Fledermaus", "adversarial" if i % 2 else "regular")
        for i in range(12)
    ],
    columns=["sentence", "homograph", "correct", "other", "set"],
)


def test_sense_forms_hide_the_answer_and_come_back(tmp_path):
    form, key = make_sense_form(SENTENCES, tmp_path / "senses.csv", seed=3)
    rows = rows_of(form)
    assert list(rows[0]) == ["item", "sentence", "homograph", "SENSE 1", "SENSE 2", "label", "remark"]
    assert {row["SENSE 1"] for row in rows} == {"Schläger, Keule", "Fledermaus"}  # the right one is not always first
    assert "equally interpreted" in form.with_suffix(".instructions.txt").read_text("utf-8")

    def knows(row):
        return "SENSE 1" if row["SENSE 1"].startswith("Schl") else "SENSE 2"

    def guesses(row):
        return "BOTH" if row["sentence"].startswith("Sentence 1 ") else knows(row)

    forms = {"A": fill(form, tmp_path / "a.csv", knows), "B": fill(form, tmp_path / "b.csv", guesses)}
    judged = read_forms(forms, key)
    rates = error_rates(judged).set_index(["set", "annotator"])
    assert rates.loc[("adversarial", "B"), "error_rate"] == pytest.approx(1 / 6)
    assert rates.loc[("adversarial", "B"), "both"] == pytest.approx(1 / 6)
    assert rates.loc[("adversarial", "all"), "n"] == 12 and rates.loc[("regular", "all"), "error_rate"] == 0
    kappa = agreement(judged, labels=SENSE_ANSWERS, resamples=20).set_index("measure").loc["cohen", "value"]
    wide = judged.pivot(index="item", columns="annotator", values="judgement")
    assert kappa == pytest.approx(cohen_kappa_score(wide["A"], wide["B"]))


def test_naturalness_has_no_right_answer_but_means_and_weights(tmp_path):
    form, key = make_naturalness_form(SENTENCES, tmp_path / "natural.csv")
    assert "\n1 = Completely unnatural" in form.with_suffix(".instructions.txt").read_text("utf-8")

    def low(row):
        return NATURALNESS[len(row["sentence"]) % 3]

    def high(row):
        return NATURALNESS[len(row["sentence"]) % 3 + 1]

    judged = read_forms({"A": fill(form, tmp_path / "a.csv", low), "B": fill(form, tmp_path / "b.csv", high)}, key)
    means = naturalness(judged).set_index(["set", "annotator"])["mean"]
    assert means["adversarial", "B"] == pytest.approx(means["adversarial", "A"] + 1)
    weighted = weighted_agreement(judged, resamples=20).set_index("weights")["value"]
    wide = judged.pivot(index="item", columns="annotator", values="judgement").astype(int)
    for weights in ("linear", "quadratic"):
        assert weighted[weights] == pytest.approx(cohen_kappa_score(wide["A"], wide["B"], weights=weights))


@pytest.mark.parametrize(("weights", "power"), [("linear", 1), ("quadratic", 2)])
def test_weights_are_of_the_scale_also_where_a_score_was_never_given(weights, power):
    """1 − Σ w o / Σ w e by its definition; the score 3 occurs nowhere."""
    a, b = np.random.default_rng(1).choice([1, 2, 4, 5], size=(2, 30))
    rows = [(who, n, str(score)) for who, scores in (("A", a), ("B", b)) for n, score in enumerate(scores)]
    judged = pd.DataFrame(rows, columns=["annotator", "item", "judgement"])
    expected = (np.abs(a[:, None] - b[None, :]) ** power).mean()
    found = weighted_agreement(judged, resamples=20).set_index("weights")["value"][weights]
    assert found == pytest.approx(1 - (np.abs(a - b) ** power).mean() / expected)
    assert weighted_agreement(judged.assign(judgement="3"), resamples=2)["value"].isna().all()


def test_bad_tables_and_too_few_annotators(tmp_path):
    with pytest.raises(NbkitError, match="no column other"):
        make_sense_form(SENTENCES.drop(columns="other"), tmp_path / "x.csv")
    with pytest.raises(NbkitError, match="two or more annotators"):
        weighted_agreement(pd.DataFrame({"annotator": ["A"], "item": ["1"], "judgement": ["3"]}))
