"""Accuracy and agreement against references computed another way."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbkit.errors import NbkitError
from nbkit.measure.forms import accuracy_table, agreement, krippendorff_alpha

LABELS = ("e", "n", "c")


def judgements(**given: str) -> pd.DataFrame:
    """One letter a judgement, an annotator a keyword; "gold" is the key."""
    gold = given.pop("gold", next(iter(given.values())))
    rows = [
        (name, i, letter, answer, "D^c" if i % 2 else "D^f")
        for name, letters in given.items()
        for i, (letter, answer) in enumerate(zip(letters, gold, strict=True))
        if letter != "-"
    ]
    return pd.DataFrame(rows, columns=["annotator", "item", "judgement", "label", "stratum"])


def test_accuracy_and_intervals_are_those_of_table_6():
    """58.1 % of 200 has the half-width 0.068 that Table 6 prints for evaluator X, 37.8 % that of Y but for rounding."""
    for correct, printed in ((116, 0.068), (76, 0.064)):
        gold = "e" * 200
        row = accuracy_table(judgements(X="e" * correct + "n" * (200 - correct), gold=gold), labels=LABELS, by=[]).iloc[
            0
        ]
        assert row["accuracy"] == correct / 200
        assert abs(row["half_width"] - printed) < 0.004
        assert row["low"] < row["accuracy"] < row["high"]


def test_strata_are_looked_at_apart():
    table = accuracy_table(judgements(X="eenc", gold="encc"), labels=LABELS).set_index("value")
    assert (
        table.loc["", "accuracy"] == 0.5 and table.loc["D^f", "accuracy"] == 0.5 and table.loc["D^c", "accuracy"] == 0.5
    )
    assert table["n"].to_dict() == {"": 4, "D^c": 2, "D^f": 2}


def test_macro_f1_by_hand():
    """e: precision 1/2, recall 1; n: 0; c: precision 1, recall 1/2. F1 2/3, 0, 2/3."""
    row = accuracy_table(judgements(X="eenc", gold="encc"), labels=LABELS, by=[]).iloc[0]
    assert row["macro_f1"] == pytest.approx((2 / 3 + 0 + 2 / 3) / 3)
    all_right = accuracy_table(judgements(X="enc", gold="enc"), labels=LABELS, by=[]).iloc[0]
    assert all_right["macro_f1"] == 1 and all_right["high"] == 1 and all_right["low"] < 1


def brute_force_alpha(codes: np.ndarray) -> float:
    """1 − Dₒ/Dₑ over all pairs of judgements, spelled out."""
    within, values = [], []
    for item in codes.T:
        given = [code for code in item if code >= 0]
        if len(given) > 1:
            values += given
            within += [((a != b), len(given) - 1) for a, b in permutations(given, 2)]
    n = len(values)
    observed = sum(differ / weight for differ, weight in within) / n
    expected = sum(a != b for a, b in permutations(values, 2)) / (n * (n - 1))
    return 1 - observed / expected if expected else float("nan")


@given(st.lists(st.lists(st.integers(-1, 2), min_size=3, max_size=3), min_size=2, max_size=12))
def test_krippendorff_is_what_brute_force_gives(rows):
    codes = np.array(rows).T
    if not ((codes >= 0).sum(axis=0) > 1).any():
        return
    assert krippendorff_alpha(codes, 3) == pytest.approx(brute_force_alpha(codes), nan_ok=True)


def test_krippendorff_of_the_published_example():
    """Krippendorff 2011, *Computing Krippendorff's Alpha-Reliability*, section C: four observers, nominal α = 0.743."""
    observers = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, 0, 0, 0],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, 0, 3],
        [0, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 0],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, 0],
    ]
    assert krippendorff_alpha(np.array(observers) - 1, 5) == pytest.approx(0.743, abs=5e-4)


def test_cohen_and_fleiss_by_hand():
    """Two annotators agree on 3 of 4; chance: 1/2·1/4 + 1/2·3/4 = 1/2, so κ = (3/4 − 1/2)/(1 − 1/2) = 1/2."""
    table = agreement(judgements(X="eenn", Y="ennn"), labels=LABELS, resamples=50).set_index("measure")
    assert table.loc["share", "value"] == 0.75
    assert table.loc["cohen", "value"] == pytest.approx(0.5)
    # Fleiss: pooled shares 3/8 and 5/8, chance 34/64; κ = (0.75 − 0.53125)/(1 − 0.53125)
    assert table.loc["fleiss", "value"] == pytest.approx((0.75 - 34 / 64) / (1 - 34 / 64))
    assert (table["low"].fillna(-1) <= table["value"]).all()


def test_full_agreement_is_1_and_one_label_alone_is_undefined():
    same = agreement(judgements(X="enc", Y="enc", Z="enc"), labels=LABELS, resamples=20)
    assert (same["value"] == 1).all() and (same["n"] == 3).all()
    assert len(same) == 2 * 3 + 2  # share and Cohen's κ of three pairs, Fleiss' κ and α of all
    alone = agreement(judgements(X="eee", Y="eee"), labels=LABELS, resamples=20).set_index("measure")["value"]
    assert alone["share"] == 1 and alone[["cohen", "fleiss", "krippendorff"]].isna().all()


def test_agreement_does_not_depend_on_the_order_of_rows():
    table = judgements(X="eenncc", Y="enncec")
    one, other = (agreement(t, labels=LABELS, resamples=99) for t in (table, table.iloc[::-1]))
    values = [t.set_index("measure")["value"].round(12).to_dict() for t in (one, other)]
    assert values[0] == values[1]


def test_what_cannot_be_computed_is_named():
    with pytest.raises(NbkitError, match="two or more annotators; given: X"):
        agreement(judgements(X="enc"), labels=LABELS)
    with pytest.raises(NbkitError, match="no column stratum"):
        accuracy_table(judgements(X="enc").drop(columns="stratum"), labels=LABELS)
