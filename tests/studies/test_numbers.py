"""The numbers study on translators whose behaviour is known: its tables must say so."""

from __future__ import annotations

import re
from decimal import Decimal
from pathlib import Path

import pandas as pd
import pytest

from nbkit.errors import NbkitError, ParamsError
from nbkit.measure.numbers import error_types
from nbkit.numbers import find_numbers, forms, write_number
from nbkit.numbers.formats import CAPABILITIES, formats
from nbkit.store import Store
from nbkit.studies import STUDIES, numbers
from nbkit.studies.numbers import NumbersParams, steps

from .conftest import tables_of, zero_widths


def by_rule(text: str) -> str:
    """Says everything in English, and every number in German."""
    for number in reversed(find_numbers(text, "en")):
        start, end = number.span
        form = number.form if number.form in forms("de") else "digits"
        text = text[:start] + write_number(number.value, "de", form) + text[end:]
    return text


def forgets_long_ones(text: str) -> str:
    """Drops the last digit of every integer of more than four."""
    return re.sub(r"\b(\d{4,})\d\b", r"\1", text)


TEMPLATES = """
integers: ["First [NUM] here.", "By 2019 we had [NUM]."]
decimals: ["It weighs [NUM] kg.", "It was [NUM] km."]
separators: ["It cost [NUM] euros.", "In all [NUM] tonnes."]
numerals: ["It came to [NUM].", "They lost [NUM] in all."]
"""


@pytest.fixture
def params(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> NumbersParams:
    monkeypatch.setenv("NBKIT_CACHE", str(tmp_path / "cache"))
    (tmp_path / "en.yaml").write_text(TEMPLATES, encoding="utf-8")
    return NumbersParams(
        models=["dummy"], templates=str(tmp_path / "{lang}.yaml"), n_numbers=3, n_templates=2, n_shrunk=4
    )


def test_a_translator_by_rule_passes_everything(params, translator):
    translator(by_rule)
    rates = numbers.pass_rates(params)
    assert list(rates["capability"]) == list(CAPABILITIES)
    assert (rates["strict"] == 1).all() and (rates["lenient"] == 1).all()
    assert list(rates["n"]) == [10 * 3 * 2, 6 * 3 * 2, 5 * 3 * 2, 4 * 3 * 2]
    assert (rates["strict_low"] < 1).all()  # nobody can be sure of it
    assert numbers.shrunk_failures(params).empty
    assert numbers.errors_found(params).empty
    assert numbers.error_counts(params)["n"].sum() == 0


def test_a_copy_fails_where_conventions_differ(params, translator):
    """§4: decimal and thousands separators are the error of a translator that keeps what it sees."""
    translator(lambda text: text)
    table = numbers.results(params)
    rates = numbers.pass_rates(params).set_index("capability")
    assert rates.loc["integers", "strict"] == 1
    assert rates.loc["decimals", "strict"] == rates.loc["separators", "strict"] == 0
    assert 0 < rates.loc["decimals", "lenient"] < 1  # 94.02 cannot be mistaken in German, 7.473 can
    decimals = table[table["capability"] == "decimals"].set_index("format")
    assert decimals.loc["dd.dd", "lenient"].all() and not decimals.loc["d.ddd", "lenient"].any()
    assert set(decimals["error"]) == {"separator not localised"}
    found = numbers.errors_found(params, k=3)
    assert len(found) == 3
    assert set(found["error"]) == set(table.loc[~table["strict"], "error"])
    for row in found.itertuples():
        assert row.correct in by_rule(row.source)


def test_rates_fall_with_the_number_of_digits_where_they_do(params, translator):
    translator(forgets_long_ones)
    by_digits = numbers.rates_by_digits(params).set_index("digits")["strict"]
    assert list(by_digits.index) == list(range(1, 11))
    assert (by_digits.loc[:4] == 1).all() and (by_digits.loc[5:] == 0).all()
    assert list(numbers.rates_by_fraction(params)["fraction_digits"].sort_values()) == [1, 2, 3, 4]
    counts = numbers.error_counts(params).set_index("error")
    assert counts.loc["digit dropped", "n"] > 0
    assert counts.loc["digit dropped", "source"] and "./dummy" not in counts["model"].tolist()
    assert list(counts.index) == [kind["name"] for kind in error_types()]
    assert counts["share"].sum() == pytest.approx(1)


def test_failures_are_shrunk_to_the_smallest(params, translator):
    dummy = translator(forgets_long_ones)
    table = numbers.shrunk_failures(params.model_copy(update={"formats": ["dddddddd", "ddddd", "dd"]}))
    assert list(table["format"]) == ["dddddddd", "ddddd"]
    assert set(table["smallest"]) == {"10000"} and set(table["smallest_format"]) == {"ddddd"}
    assert all(row.hypothesis == forgets_long_ones(row.source) for row in table.itertuples())
    assert set(table["error"]) == {"repeated digits miscounted"}
    asked = len(dummy.asked)
    numbers.shrunk_failures(params.model_copy(update={"formats": ["dddddddd", "ddddd", "dd"]}))
    assert len(dummy.asked) == asked == len(set(dummy.asked))


def test_capabilities_take_turns_in_what_is_shrunk(params, translator):
    translator(lambda text: "nothing")
    table = numbers.shrunk_failures(params)
    assert list(table["capability"]) == list(CAPABILITIES)
    assert list(table["smallest"]) == ["1", "1.1", "1,000", "1.1 million"]


def test_what_carrying_numbers_over_by_rule_buys(params, translator):
    translator(lambda text: text)
    both = params.model_copy(update={"models": ["dummy", "placeholder:dummy"]})
    table = numbers.mitigation(both).set_index("capability")
    assert list(table.index) == list(CAPABILITIES)
    assert (table["by_rule"] == 1).all()
    assert (table["gain"] == table["by_rule"] - table["plain"]).all()
    assert (table[["carried", "lost", "doubled", "no_number"]].sum(axis=1) == table["n"]).all()
    assert (table["lost"] == 0).all()
    assert table.loc["separators", "gain"] == 1
    assert numbers.mitigation(params).empty
    averages = numbers.averages(both).set_index("name")  # those by rule are no part of a capability's average
    assert averages.loc["separators", "percent"] == 0
    assert averages.loc["dummy + placeholder", "percent"] == 100


def test_the_papers_averages_stand_beside_ours(params, translator):
    """§3: Numerals 70.8 %, and R 77.8, A 80.6, B 90.4 over all capabilities; nothing else of Table 3 is text."""
    translator(by_rule)
    table = numbers.averages(params).set_index("name")
    assert table["published"].dropna().to_dict() == {
        "numerals": 70.8, "R (research)": 77.8, "A (commercial)": 80.6, "B (commercial)": 90.4,
    }  # fmt: skip
    assert table.loc["numerals", "difference"] == pytest.approx(29.2)
    assert table.loc["integers", "printed"] == "not printed"
    assert pd.isna(table.loc["B (commercial)", "percent"])
    assert table.loc["dummy", "cells"] == 4


def test_both_directions_and_every_language_have_cells_of_their_own(params, translator, tmp_path):
    translator(lambda text: text)
    for lang in ("de", "fr"):
        (tmp_path / f"{lang}.yaml").write_text(TEMPLATES, encoding="utf-8")
    grid = params.model_copy(update={"languages": ["de", "fr"], "directions": ["out", "back"], "formats": ["ddd"]})
    rates = numbers.pass_rates(grid)
    assert list(rates["pair"]) == ["en→de", "de→en", "en→fr", "fr→en"]
    assert list(rates["direction"]) == ["out", "back"] * 2
    assert [cell.label for cell in steps.STUDY.cells(grid)] == ["de.dummy", "fr.dummy"]
    assert set(numbers.capabilities(grid)["lang"]) == {"en", "de", "fr"}


def test_a_rerun_asks_nothing_and_a_cell_shares_what_the_grid_has(params, translator):
    dummy = translator(by_rule)
    numbers.pass_rates(params)
    asked = len(dummy.asked)
    assert asked == len(set(dummy.asked))
    numbers.error_counts(params)
    (cell,) = steps.STUDY.cells(params)
    numbers.results(cell.params)
    assert len(dummy.asked) == asked


def test_units_do_the_work_and_know_its_size(params, translator):
    dummy = translator(by_rule)
    (unit,) = steps.STUDY.units(params, count=True)
    assert (unit.stage, unit.texts, unit.stored) == (1, 25 * 3 * 2, 0)
    assert steps.translate_and_judge.work(**unit.arguments) == unit.texts
    asked = len(dummy.asked)
    (unit,) = steps.STUDY.units(params, count=True)
    assert unit.stored == unit.texts
    assert steps.translate_and_judge.work(**unit.arguments) == 0
    numbers.pass_rates(params)
    assert len(dummy.asked) == asked


def test_estimates_know_what_the_placeholder_step_asks(params, translator):
    translator(lambda text: text)
    behind = params.model_copy(update={"models": ["placeholder:dummy"]})
    (unit,) = steps.STUDY.units(behind, count=True)
    assert unit.stored == 0 and unit.texts < 25 * 3 * 2  # one stand-in for most numbers
    steps.translate_and_judge.work(**unit.arguments)
    (unit,) = steps.STUDY.units(behind, count=True)
    assert unit.stored == unit.texts


def test_cases_are_every_number_in_every_template(params, translator):
    translator(by_rule)
    (pair,) = params.pairs
    found = steps.cases(params, pair, "dummy", Store())
    assert len(found) == len({(case.pattern, case.source) for case in found}) == 25 * 3 * 2
    assert [case.capability for case in found] == sorted((case.capability for case in found), key=CAPABILITIES.index)
    exhausted = params.model_copy(update={"formats": ["d"], "n_numbers": 50})
    assert len(steps.cases(exhausted, pair, "dummy", Store())) == 9 * 2
    table = steps.judged(params, pair, "dummy", store=Store())
    assert all(find_numbers(row.written, "en")[0].value == Decimal(row.value) for row in table.itertuples())


def test_templates_of_the_sandbox_are_sentences_whose_numbers_are_carried(params, translator):
    translator(by_rule)
    sandbox = params.model_copy(update={"templates": "corpus:sandbox-numbers", "harvest_pairs": 60})
    used = numbers.templates_used(sandbox)
    assert set(used["capability"]) == set(CAPABILITIES) and len(used) == 2 * 4
    assert used["template"].str.contains(r"\[NUM\]").all()
    assert (numbers.pass_rates(sandbox)["strict"] == 1).all()
    by_system = sandbox.model_copy(update={"harvest_by": "system"})
    assert len(numbers.templates_used(by_system)) == 2 * 4
    translator(lambda text: "nothing")
    lost = NumbersParams(**by_system.model_dump() | {"beams": 1})  # other settings: nothing is remembered
    with pytest.raises(NbkitError, match="templates 'corpus:sandbox-numbers' hold none for integers in 'en'"):
        numbers.results(lost)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("formats", ["d.d.d"], "number format 'd.d.d': a second decimal separator at position 4"),
        ("languages", ["xx"], "unknown language 'xx'"),
        ("languages", ["en"], "'en' is both the source and another language"),
        ("models", ["opus-mt", "Helsinki-OPUS"], "would both be called 'Helsinki-OPUS'"),
        ("placeholders", {"": "[NUM]"}, "an empty spelling"),
        ("n_numbers", 0, "must be at least 1"),
        ("direction", ["out"], "unknown parameter; did you mean 'directions'?"),
    ],
)
def test_bad_parameters_are_named(field, value, message):
    with pytest.raises(ParamsError) as caught:
        NumbersParams.checked({field: value}, "numbers.yaml")
    assert message in str(caught.value) and "numbers.yaml" in str(caught.value)


def test_problems_are_found_before_anything_runs(params, tmp_path):
    nowhere = params.model_copy(update={"models": ["./dummy"]})
    assert steps.STUDY.problems(nowhere) == ["model './dummy': there is no folder dummy"]
    missing = params.model_copy(update={"models": [], "templates": str(tmp_path / "no_{lang}.yaml")})
    assert "no_en.yaml cannot be read" in steps.STUDY.problems(missing)[0]
    (tmp_path / "en.yaml").write_text("integers: ['[NUM]']\n", encoding="utf-8")
    thin = params.model_copy(update={"models": []})
    assert steps.STUDY.problems(thin) == [f"templates {tmp_path}/en.yaml: none for decimals, separators, numerals"]
    native = thin.model_copy(update={"formats": ["native:d"], "templates": "own"})
    assert "'en' has no form 'native'" in steps.STUDY.problems(native)[0]
    unknown = thin.model_copy(update={"templates": "corpus:sandbocks"})
    assert "did you mean 'sandbox'" in steps.STUDY.problems(unknown)[0]
    assert steps.STUDY.problems(thin.model_copy(update={"templates": "own"})) == []


def test_inputs_change_with_what_stands_behind_the_parameters(params, translator, tmp_path):
    translator(by_rule)
    before = steps.STUDY.inputs(params)
    assert before == steps.STUDY.inputs(params.model_copy())
    (tmp_path / "en.yaml").write_text(TEMPLATES.replace("First", "Then"), encoding="utf-8")
    assert steps.STUDY.inputs(params) != before


def test_the_study_is_registered_with_the_25_formats():
    study = STUDIES.get("numbers")
    assert study.params is NumbersParams
    assert NumbersParams().patterns("en") == formats("en")
    assert [pair.pair for pair in NumbersParams(languages=["zh", "de"], directions=["back"]).pairs] == [
        "de→en",
        "zh→en",
    ]


def test_no_interval_of_any_table_has_width_zero(params, translator):
    """A translator by rule passes everything: 100.0 [100.0, 100.0] of clusters."""
    translator(by_rule)
    found = dict(tables_of(numbers, params))
    assert sum("low" in "".join(map(str, table)) for table in found.values()) >= 3
    assert {name: ends for name, table in found.items() if (ends := zero_widths(table))} == {}
