"""Numbers in running text, of systems whose errors are known: whose they are, and what is undecided."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import nbkit
from nbkit.batch import params as run_files
from nbkit.errors import ParamsError
from nbkit.measure.statistics import share_interval
from nbkit.store import Store
from nbkit.studies.numbers import STUDY, NumbersParams, running
from nbkit.studies.numbers.running import ALL_KINDS
from nbkit.studies.parts import Run
from nbkit.studies.results import computed
from nbkit.studies.summarise import summarise
from tests.pages import run_page
from tests.studies.long_files import outcomes

SOURCE = ["We met 12 men on 3 May.", "No numbers here.", "It weighs 6 kg.", "They paid €500."]
REFERENCE = ["Wir trafen am 3. Mai 12 Männer.", "Hier nicht.", "Es wiegt 6 kg.", "Sie zahlten 500 €."]
SYSTEMS = {
    "good": ["Wir trafen am 3. Mai 12 Männer.", "Keine Zahlen hier.", "Es wiegt 6 kg.", "Sie zahlten 500 Euro."],
    "one": ["Wir trafen am 3. Mai 13 Männer.", "Keine 8 Zahlen.", "Es wiegt sehr viel.", "Sie zahlten 500 Dollar."],
    "two": ["Wir trafen am 3. Mai 12 Männer.", "Keine Zahlen hier.", "Es wiegt viel.", "Sie zahlten 500 €."],
    "three": ["Wir trafen am 3. Mai 12 Männer.", "Keine Zahlen hier.", "Es wiegt etwas.", "Sie zahlten 500 €."],
}


@pytest.fixture
def params(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> NumbersParams:
    monkeypatch.setenv("NBKIT_CACHE", str(tmp_path / "cache"))
    (tmp_path / "systems").mkdir()
    files = {"source.en": SOURCE, "reference-A.de": REFERENCE}
    files |= {f"systems/{name}.de": lines for name, lines in SYSTEMS.items()}
    for name, lines in files.items():
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return NumbersParams(
        templates=None, sentences=f"moses:{tmp_path}/{{source|reference-A}}.{{lang}}",
        models=[f"outputs:{tmp_path}/systems/*.{{tgt}}"],
    )  # fmt: skip


def test_no_system_is_called_as_the_references_are(params, tmp_path):
    """Their rows would be one."""
    (tmp_path / "systems" / "reference.de").write_text("\n".join(REFERENCE) + "\n", encoding="utf-8")
    name = f"outputs:{tmp_path}/systems/reference.de?source={tmp_path}/source.en"
    with pytest.raises(ParamsError, match="a model is called 'reference', as the references of sentences are: rename"):
        NumbersParams.checked({**params.model_dump(), "models": [name]})


def test_outcomes_need_parameters():
    with pytest.raises(ParamsError, match="parameters of a study are expected"):
        nbkit.outcomes("numbers")


def test_a_corpus_without_quantities_is_named_beforehand(params, tmp_path):
    """Only once it can be read: a file that is not there is another problem."""
    assert STUDY.problems(params) == []
    (tmp_path / "none.tsv").write_text("A man sleeps.\tEin Mann schläft.\n", encoding="utf-8")
    for file, message in (("none", "no text in 'en' states a quantity"), ("gone", "no such file")):
        [problem] = STUDY.problems(params.model_copy(update={"sentences": f"tsv:{tmp_path}/{file}.tsv"}))
        assert message in problem


def test_only_what_has_to_be_carried_is_counted(params):
    given = STUDY.read(params, "sentences")
    assert list(given["unit"]) == [0, 2, 3]
    assert [list(kinds) for kinds in given["kinds"]] == [["dates", "numbers"], ["measures"], ["money"]]


def test_an_error_of_many_is_everyones_and_undecided(params):
    found = STUDY.read(params, "running_text")
    assert list(found["model"].unique()) == [*sorted(SYSTEMS), running.REFERENCE]
    whole = found[found["kind"] == ALL_KINDS].groupby("model")
    # Six kilograms are lost by three systems: nobody is blamed, and for these the sentence does not count.
    undecided = whole["verdict"].agg(lambda verdicts: int((verdicts == "undecided").sum()))
    assert undecided.to_dict() == {"good": 0, "reference": 0, "two": 1, "three": 1, "one": 1}
    assert whole["carried"].mean().to_dict() == {"good": 1, "reference": 1, "two": 1, "three": 1, "one": 0}
    one = found[found["model"] == "one"].groupby("kind")["carried"].mean()
    assert one["dates"] == 1 and one["numbers"] == 0 == one["money"] and np.isnan(one["measures"])


def test_a_system_more_changes_only_whose_an_error_is(params, tmp_path):
    """The flags of the others are not computed again; with fewer systems an error of three is that of two."""
    two = params.model_copy(update={"models": [name for name in params.models if "three" not in name]})
    own = STUDY.read(two, "running_text").query("model == 'two' and kind == 'all'")
    assert set(own["verdict"]) == {"pass", "fail"}
    kept = {part.key["cell"][-1]: part.config for part in Run(STUDY, two).parts(STUDY.table("flags"))}
    assert all(Store().has_table(config) for config in kept.values())
    again = {part.key["cell"][-1]: part.config for part in Run(STUDY, params).parts(STUDY.table("flags"))}
    assert {name: again[name] for name in kept} == kept
    assert "undecided" in set(STUDY.read(params, "running_text").query("model == 'two'")["verdict"])


def test_the_page_shows_the_errors_of_single_systems(params, tmp_path, monkeypatch):
    page = run_page("numbers/running_text", params.model_dump(), tmp_path / "page", monkeypatch)
    errors = pd.read_csv(page.kept["tables/running_text_errors.texts.csv"])
    assert set(errors["model"]) == {"one"} and list(errors["line"]) == [1, 4]
    assert set(errors["shown"]) == {"2 of 2"}
    assert errors["wrong"].iloc[0] == "12 ≠ 13 (value)" and "500" in errors["wrong"].iloc[1]
    assert "<mark" in page.shown["errors-table"].to_html()
    rates = page.frame("running_text")
    assert rates["kind"].iloc[0] == ALL_KINDS and set(rates["undecided"]) == {0, 1}


def test_a_sentence_that_stands_again_says_nothing_new_on_page_and_card(params, tmp_path, monkeypatch):
    for path in tmp_path.glob("**/*.*"):
        if path.suffix in (".en", ".de"):
            path.write_text(path.read_text(encoding="utf-8") * 5, encoding="utf-8")
    page = run_page("numbers/running_text", params.model_dump(), tmp_path / "page", monkeypatch).frame("running_text")
    card = computed(params).measured("carried")
    card = summarise(card, "value", "system", interval="share", cluster="cluster").set_index("system")
    own = page[page["kind"] == ALL_KINDS].set_index("model")
    assert own["n"].to_dict() == {"good": 15, "reference": 15, "one": 10, "two": 10, "three": 10}
    for name, row in own.iterrows():
        assert list(row[["value", "low", "high"]]) == list(card.loc[name, ["value", "low", "high"]])
    assert own.loc["good", "low"] == pytest.approx(share_interval([1, 1, 1]).low)


def test_outcomes_say_the_same_and_mark_what_is_wrong(params):
    found = pd.concat(list(outcomes(params, texts=True)), ignore_index=True)
    assert set(found["measure"]) == {"carried", "carried/kind", "chrf"}
    carried = found[found["measure"] == "carried"].set_index(["system", "source"])
    assert carried.loc[("two", SOURCE[2]), "verdict"] == "undecided"
    assert carried.loc[("two", SOURCE[2]), "reason"] == "everyone's: 6 kg (missing)"
    row = carried.loc[("one", SOURCE[0])]
    assert (row["verdict"], row["reason"]) == ("fail", "12 ≠ 13 (value)")
    texts = {"source": SOURCE[0], "output": row["output"]}
    assert [texts[span["text"]][span["start"] : span["end"]] for span in row["spans"]] == ["12", "13"]
    chrf = found[found["measure"] == "chrf"]
    assert (chrf[chrf["system"] == running.REFERENCE]["value"] == 1).all()
    assert STUDY.read(params, "running_text").query("kind == 'all'")["chrf_sums"].map(len).eq(18).all()


def test_pages_that_have_nothing_to_show_are_omitted(params, tmp_path):
    def pages(text: str) -> list[str]:
        file = tmp_path / "run.yaml"
        file.write_text(text, encoding="utf-8")
        return [page.path for page in run_files.entries(run_files.read(file))[0].notebooks]

    assert "numbers/running_text" not in pages("name: a\nruns: [{study: numbers}]\n")
    given = f"params: {{templates: null, sentences: '{params.sentences}', models: {params.models}}}"
    assert pages(f"name: a\nruns: [{{study: numbers, {given}}}]\n") == ["numbers/running_text"]
    file = tmp_path / "chosen.yaml"
    file.write_text("name: a\nruns: [{study: numbers, notebooks: [running_text]}]\n", encoding="utf-8")
    [problem] = run_files.validate(run_files.read(file))
    assert "sentences" in problem.message and "running_text" in problem.message


def test_a_run_that_asks_for_nothing_is_refused(params):
    nothing = params.model_copy(update={"sentences": None})
    assert any("templates and sentences" in problem for problem in STUDY.problems(nothing))
