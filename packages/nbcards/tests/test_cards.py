"""A system's card: what it asks, what it says, and what it writes."""

import json
import re
import shutil
from base64 import b64decode
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

from nbcards.cards import Item, _marked, read_card, schema
from nbcards.making import make_card
from nbcards.places import outcomes_at
from nbkit.batch.card import plan_card
from nbkit.batch.params import read
from nbkit.cli import main
from nbkit.errors import NbkitError, ParamsError, UnknownNameError
from nbkit.models import CLASSIFIERS, MODELS
from nbkit.studies import STUDIES
from nbkit.studies.behaviours import behaviours
from tests.pages import violations
from tests.studies.long_files import long

pytestmark = pytest.mark.thorough


def rows_at(folder: Path) -> pd.DataFrame:
    """The measured rows of all studies of a card."""
    return pd.concat(map(long, outcomes_at(folder)), ignore_index=True)


#: As little of each study as says anything.
SMALL = {
    "word_order": {"n_pairs": 5, "perturbations": ["reversed", "word_shuffle"]},
    "numbers": {"n_numbers": 1, "n_templates": 1},
    "idioms": {"n_test": 10},
    "disambiguation": {"n_pairs": 60, "training_pairs": 300, "aligner_pairs": 200},
}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A card of a translator that repeats its source, and what it was asked."""
    seen: list[str] = []

    def parrot(texts: list[str]) -> list[str]:
        seen.extend(texts)
        return texts

    folder = tmp_path_factory.mktemp("card")
    with pytest.MonkeyPatch.context() as patch, MODELS.isolated():
        patch.setenv("NBKIT_CACHE", str(tmp_path_factory.mktemp("cache")))
        patch.delenv("NBKIT_DATA", raising=False)
        MODELS.register("parrot", parrot)
        plan = plan_card(["parrot"], ("en", "de"), overrides=SMALL, max_texts=120, command="nbkit card parrot")
        lines: list[str] = []
        pages: list[str] = []  # as they were when each line was shown

        def show_line(line: str) -> None:
            lines.append(line)
            pages.append((folder / "card.html").read_text() if (folder / "card.html").exists() else "")

        card = make_card(plan, folder, show_line)
        yield plan, card, folder, seen, lines, pages


def test_every_behaviour_is_answered_or_says_why_not(made):
    plan, card, *_ = made
    assert [each.study for each in card.behaviours] == [each.study.name for each in plan.behaviours]
    for behaviour in card.behaviours:
        assert bool(behaviour.answers) != bool(behaviour.not_measurable), behaviour.study
        assert all("{" not in sentence for answers in behaviour.answers.values() for sentence in answers)
    by_name = {each.study: each for each in card.behaviours}
    assert "--classifier" in by_name["nli_permutation"].not_measurable["this card"]
    assert re.fullmatch(r"With only \d independent items, parrot .*", by_name["word_order"].answers["parrot"][0])
    assert "Only" in by_name["numbers"].warnings[0]  # two dozen numbers
    strict = by_name["numbers"].measures[0].values[0]
    assert (
        f"of the {strict.n} outputs judged, {strict.n} are broken (copy {strict.n})"
        in by_name["numbers"].answers["parrot"][0]
    )


def test_the_page_can_be_read_after_each_behaviour(made):
    _, _, folder, *_, pages = made
    written = [page for page in pages if page]
    assert "Still to be measured: Numbers, Idioms" in written[0] and 'http-equiv="refresh"' in written[0]
    assert 'id="word_order"' in written[0] and 'id="numbers"' not in written[0] and 'id="numbers"' in written[-1]
    assert 'href="sentences.html' not in written[0]  # which is not there yet
    final = (folder / "card.html").read_text()
    assert "Still to be measured" not in final and "refresh" not in final and 'href="sentences.html' in final


def test_the_numbers_are_those_of_the_outcomes(made):
    _, card, folder, *_ = made
    rows = rows_at(folder)
    strict = rows[(rows["study"] == "numbers") & (rows["measure"] == "strict")]
    (value,) = next(each for each in card.behaviours if each.study == "numbers").measures[0].values
    assert value.value == pytest.approx(strict["value"].mean())
    assert value.n == len(strict) and value.low <= value.value <= value.high
    pair = rows[rows["study"] == "word_order"].set_index(["item", "measure"])["value"].unstack()
    scrambled = pair[pair["bleu/beta1"].notna() & pair["bleu/beta2"].notna()]
    found = next(each for each in card.behaviours if each.study == "word_order")
    groups = {value.group: value.value for value in found.measures[0].groups}
    assert found.measures[0].values[0].value == pytest.approx(sum(groups.values()) / len(groups))
    assert len(scrambled) >= sum(value.n for value in found.measures[0].groups)


def test_no_more_is_asked_than_was_planned(made):
    plan, _, _, seen, lines, _ = made
    assert seen and all(each.texts <= 120 for each in plan.behaviours)
    assert len(seen) <= 4 * 120
    assert any("at most" in line for line in lines)


def test_the_files_of_a_card(made):
    _, card, folder, *_ = made
    assert read_card(folder) == card
    page = (folder / "card.html").read_text(encoding="utf-8")
    assert len(page.encode()) < 2_000_000 and "http://" not in page.replace("http://www.w3.org", "")
    summary = page.partition("summary")[2].partition("</table>")[0]
    for behaviour in (each for each in card.behaviours if each.answers):
        first = behaviour.measures[0]
        assert f'href="#{behaviour.study}"' in summary and f'id="{behaviour.study}"' in page
        assert all(first.with_interval(value) in summary for value in first.values)
    assert "There is no overall score" in page and "<svg" in page and "{{" not in page
    text = (folder / "card.md").read_text(encoding="utf-8")
    assert "| numbers carried over | parrot |" in text
    assert all(f"> {warning}" in text for each in card.behaviours for warning in each.warnings)
    assert all(licence in text for each in card.behaviours for licence in each.corpora.values())
    assert "different texts of sandbox: a synthetic world" in text and "independent units" not in page
    assert 'href="sentences.html#study=numbers&amp;system=parrot&amp;measure=strict"' in page
    browsed = (folder / "sentences.html").read_text(encoding="utf-8")
    assert 'href="card.html"' in browsed and "sandbox" in browsed
    again = read(folder / "run.yaml")
    assert {each.study for each in again.runs} == {each.study for each in card.behaviours if each.params}


def test_a_translator_that_repeats_its_source_is_not_well(made):
    _, card, *_ = made
    (health,) = card.health
    (parrot,) = health.systems
    assert 0 < parrot.counts["copy"] <= parrot.lines_with <= health.lines and health.texts.startswith(f"{health.lines}")
    assert all(each["kind"] in parrot.counts and each["evidence"] for each in parrot.quoted)


def test_the_schema_is_the_one_that_is_published():
    file = Path(__file__).parents[3] / "docs/card.schema.json"
    assert json.loads(file.read_text(encoding="utf-8")) == json.loads(json.dumps(schema()))


def test_a_card_of_another_version_is_refused(tmp_path):
    (tmp_path / "card.json").write_text('{"schema_version": 99}', encoding="utf-8")
    with pytest.raises(NbkitError, match="version 99"):
        read_card(tmp_path)
    with pytest.raises(NbkitError, match="no card"):
        read_card(tmp_path / "nowhere")


def test_outcomes_are_of_the_cards_systems_alone(made):
    """A study's own controls would make two cards look as if each had several systems."""
    _, _, folder, *_ = made
    assert set(rows_at(folder)["system"]) == {"parrot"}


def test_published_systems_are_those_of_the_direction(made):
    _, card, *_ = made
    for behaviour in card.behaviours:
        for measure in behaviour.measures:
            assert all(each.pair in ("", "en-de") for each in measure.published)
    declared = behaviours(STUDIES)["idioms"]
    marks = [mark for measure in declared.measures.values() for mark in measure.published]
    assert any(mark.pair not in ("", "en-de") for mark in marks)  # there was something to leave away


@pytest.mark.browser
def test_a_card_prints_on_two_pages(made, browser):
    from selenium.webdriver.common.print_page_options import PrintOptions

    _, _, folder, *_ = made
    browser.get((folder / "card.html").as_uri())
    printed = b64decode(browser.print_page(PrintOptions()))
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) <= 2
    (where,) = browser.find_elements("css selector", ".on-paper")
    folded = browser.find_elements("css selector", "details")
    assert not where.is_displayed() and any(each.is_displayed() for each in folded)
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:  # what paper omits it says where to find
        assert "card.json" in where.text and not any(each.is_displayed() for each in folded)
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


@pytest.mark.browser
def test_a_card_and_its_sentences_are_accessible(made, browser):
    _, _, folder, *_ = made
    for name in ("card.html", "sentences.html"):
        assert not violations(browser, (folder / name).as_uri()), name


@pytest.mark.browser
def test_a_value_leads_to_its_sentences(made, browser):
    _, card, folder, *_ = made
    browser.get((folder / "card.html").as_uri())
    browser.find_element("css selector", "#numbers svg a").click()
    assert "sentences.html#study=numbers" in browser.current_url
    numbers = next(each for each in card.behaviours if each.study == "numbers")
    shown = browser.find_element("id", "count").text
    assert shown.startswith(f"{numbers.measures[0].values[0].n} "), shown


def table_of(first: str) -> list[dict[str, str]]:
    """The rows of the table in docs/cards.md whose first column has this name."""
    text = (Path(__file__).parents[3] / "docs/cards.md").read_text(encoding="utf-8")
    lines = [
        line.strip("| ").split(" | ") for line in text.partition(f"\n| {first} |")[2].split("\n\n")[0].splitlines()
    ]
    return [dict(zip([first, *lines[0]], row, strict=True)) for row in lines[2:]]


@pytest.fixture
def alone(monkeypatch, tmp_path):
    """Without data of the machine, with a function and a service."""
    monkeypatch.setenv("NBKIT_CACHE", str(tmp_path))
    monkeypatch.delenv("NBKIT_DATA", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with MODELS.isolated():
        MODELS.register("mine", lambda texts: texts)
        yield


@pytest.mark.thorough
@pytest.mark.parametrize("row", table_of("system"), ids=lambda row: row["system"])
def test_the_table_of_systems_is_what_a_plan_says(row, alone):
    name = row["system"].partition("`")[2].partition("`")[0]
    chosen = {"classifiers": [name]} if row["system"].startswith("classifier") else {"systems": [name]}
    plan = plan_card(**{"systems": [], **chosen}, pair=("en", "de"))
    assert {each.behaviour.title: "yes" if each.params else "no" for each in plan.behaviours} == {
        title: text for title, text in row.items() if title != "system"
    }


@pytest.mark.thorough
@pytest.mark.parametrize("row", table_of("direction"), ids=lambda row: row["direction"])
def test_the_table_of_directions_is_what_a_plan_says(row, alone):
    CLASSIFIERS.register("neutral", lambda pairs: ["neutral"] * len(pairs))
    plan = plan_card(["mine"], tuple(row["direction"].split("-")), classifiers=["neutral"])
    assert {each.behaviour.title: "yes" if each.params else "no" for each in plan.behaviours} == {
        title: text for title, text in row.items() if title != "direction"
    }


def test_what_is_wrong_with_the_request(monkeypatch):
    with pytest.raises(ParamsError, match="unknown behaviour 'number'; did you mean 'numbers'"):
        plan_card(["sandbox-marian"], ("en", "de"), overrides={"number": {}})
    for names, classifiers in ((["no-such"], []), (["sandbox", "no-such"], []), (["sandbox"], ["no-such"])):
        with pytest.raises(UnknownNameError, match="'no-such'"):
            plan_card(names, ("en", "de"), classifiers=classifiers)


#: Sources with numbers, their reference, and what a system wrote.
LINES = [
    ("It weighs 12.5 kg.", "Es wiegt 12,5 kg.", "Es wiegt 12,5 kg."),
    ("The shop is 10 miles away.", "Das Geschäft ist 10 Meilen entfernt.", "Das Geschäft ist 16 Kilometer entfernt."),
    ("They sold 1,250 tickets.", "Sie verkauften 1.250 Karten.", "Sie verkauften 1.520 Karten."),
    ("We saw 12 dogs.", "Wir sahen zwölf Hunde.", "Wir sahen Hunde."),
    ("The tax brought in £2.5m.", "Die Steuer brachte 2,5 Mio. £ ein.", "Die Steuer brachte 2,5 Millionen Pfund ein."),
    ("He paid 45 euros.", "Er zahlte etwas.", "Er zahlte nichts."),
    ("No number here.", "Hier ist keine Zahl.", "Hier ist keine."),
]


@pytest.fixture
def files(tmp_path, monkeypatch):
    """The lines as files, in a folder of its own."""
    monkeypatch.setenv("NBKIT_CACHE", str(tmp_path / "cache"))
    for name, lines in zip(("source.en", "reference-A.de", "mine.de"), zip(*LINES, strict=True), strict=True):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return tmp_path


def test_what_several_systems_share_stands_there_once(files):
    shutil.copy(files / "mine.de", files / "yours.de")
    plan = plan_card([f"outputs:{files}/{name}.de" for name in ("mine", "yours")], ("en", "de"))
    order, numbers = (each for each in plan.behaviours if each.study.name in ("word_order", "numbers"))
    card = make_card(replace(plan, behaviours=(order, numbers)), files / "card")
    order = card.behaviours[0]
    assert order.reasons == {order.not_measurable["mine"]: ["mine", "yours"]}
    text, page = ((files / "card" / f"card.{form}").read_text(encoding="utf-8") for form in ("md", "html"))
    assert text.count("- Not measurable for mine, yours: a file of translations") == 1
    assert page.count("a file of translations") == 1
    assert all(re.search(f"^- With only .*{name} carries over", text, re.MULTILINE) for name in ("mine", "yours"))


def test_the_numbers_of_a_file_of_outputs_are_those_of_its_sources(files):
    """Each sentence keeps its quantities; the same amount in another unit is no failure."""
    plan = plan_card([f"outputs:{files}/mine.de"], ("en", "de"))
    numbers = next(each for each in plan.behaviours if each.study.name == "numbers")
    assert (numbers.corpora, numbers.texts) == ("outputs", 6)
    card = make_card(replace(plan, behaviours=(numbers,)), files / "card")
    assert card.behaviours[0].texts[0].use == "tested"
    assert card.behaviours[0].texts[0].name.endswith("/source with reference-A") and card.behaviours[0].tested == 6
    # "Er zahlte etwas.": the reference loses a quantity, too.
    (people,) = card.behaviours[0].measures[0].people
    assert (people.system, people.n, round(people.value * people.n)) == ("reference", 6, 5)
    assert "; reference: 83.3% [" in card.behaviours[0].answers["mine"][0]
    assert [each.role for each in card.behaviours[0].items] == ["fails", "passes", "passes"]
    assert all(span["label"] == "quantity" for span in card.behaviours[0].items[1].spans)
    assert "those of other systems included: 23 of 25" in (files / "card/card.html").read_text(encoding="utf-8")
    (value,) = card.behaviours[0].measures[0].values
    assert (value.n, value.clusters, round(value.value * value.n)) == (6, 6, 3)
    rows = rows_at(files / "card").query("measure == 'carried'")
    failed = rows[rows["verdict"] == "fail"].set_index("source")["reason"]
    assert set(failed.index) == {"They sold 1,250 tickets.", "We saw 12 dogs.", "He paid 45 euros."} and failed.all()
    sources = dict(zip(rows["source"], rows["spans"], strict=True))
    span = sources["They sold 1,250 tickets."][0]
    assert "They sold 1,250 tickets."[span["start"] : span["end"]] == "1,250"


def test_broken_output_stands_first_on_the_card_of_a_file(files):
    """The reference is read as well; what only several systems show is named."""
    lines = (files / "mine.de").read_text(encoding="utf-8").splitlines()
    (files / "mine.de").write_text("\n".join(["", "Geh! " * 9, *lines[2:]]) + "\n", encoding="utf-8")
    plan = plan_card([f"outputs:{files}/mine.de"], ("en", "de"))
    numbers = next(each for each in plan.behaviours if each.study.name == "numbers")
    card = make_card(replace(plan, behaviours=(numbers,)), files / "card")
    (health,) = card.health
    mine, people = health.systems
    assert (health.lines, mine.counts, mine.lines_with) == (7, {"empty": 1, "loop": 1}, 2)
    assert (people.system, people.counts) == ("reference-A", {})
    assert set(health.unjudged) == {"numbers", "boilerplate"}
    sentence = "mine: defects were found in 2 of 7 texts (28.6%): empty 1, loop 1."
    page = (files / "card" / "card.html").read_text(encoding="utf-8")
    assert sentence in page and page.index('id="health"') < page.index('id="numbers"')
    assert "needs the outputs of 4 systems, there are 2" in page
    assert sentence in (files / "card" / "card.md").read_text(encoding="utf-8")


def test_what_a_card_of_a_file_needs_beside_it(files):
    def reason(*names):
        plan = plan_card([f"outputs:{files / name}" for name in names], ("en", "de"))
        return {each.study.name: each.reason for each in plan.behaviours}

    assert "answers only for the lines of its source" in reason("mine.de")["word_order"]
    (files / "sub").mkdir()
    for name in ("source.en", "other.de"):
        (files / "sub" / name).write_text("It weighs 12 kg.\n", encoding="utf-8")
    assert "there is no reference beside" in reason("sub/other.de")["numbers"]
    assert "translate different sources" in reason("mine.de", "sub/other.de")["numbers"]
    # A reference may itself be a system, and is then not what it is compared with.
    (files / "reference-A.de").rename(files / "reference-B.de")
    assert "there is no reference beside" in reason("mine.de", "reference-B.de")["numbers"]


def test_texts_that_are_named_replace_those_that_are_not_there(files, monkeypatch):
    """Where the data has nothing for a direction, --params may name something."""
    monkeypatch.setenv("NBKIT_DATA", str(files))
    for more, message in (
        ({}, "nbkit knows of no texts in $NBKIT_DATA"),
        ({"data": "mined", "corpora": {"x": "tsv:no.tsv"}}, "no.tsv"),
    ):
        plan = plan_card(["command:cat"], ("en", "de"), overrides={"idioms": more})
        assert message in next(each.reason for each in plan.behaviours if each.study.name == "idioms")


def test_a_card_that_could_say_nothing_is_refused_before_anything_is_written(tmp_path):
    plan = plan_card([str(tmp_path / "empty")], ("en", "de"))
    assert not plan.measurable
    with pytest.raises(NbkitError, match=r"no behaviour can be measured:\n  Word order: .*empty"):
        make_card(plan, tmp_path / "card")
    assert not (tmp_path / "card").exists()


def test_of_a_long_text_what_is_around_the_marks_is_shown_and_all_of_it_folded():
    long = "word " * 100
    item = Item(
        system="mine", role="fails", item="1", source=f"{long}{long}12 {long}", changed=None, reference="short",
        output=long, spans=({"text": "source", "start": 1000, "end": 1002, "label": "number"},), score=0.0,
        verdict="fail", reason="",
    )  # fmt: skip
    shown, _, whole = _marked(item, "source").partition("<details>")
    assert shown.startswith("… word") and shown.endswith("word …") and '<mark title="number">12</mark>' in shown
    assert len(re.sub("<[^>]+>", "", shown)) < 360 and whole.count("word") == 300
    assert _marked(item, "output").startswith("… word") and _marked(item, "reference") == "short"


def test_systems_that_tables_could_not_tell_apart_are_refused():
    with pytest.raises(NbkitError, match="command:cat and command:cat -u would both be called 'cat'"):
        plan_card(["command:cat", "command:cat -u"], ("en", "de"))


def test_a_system_that_is_named_twice_is_one_column():
    assert list(plan_card(["sandbox", "sandbox"], ("en", "de")).systems.values()) == ["sandbox"]


def test_a_card_does_not_replace_files_of_a_run(made, tmp_path):
    plan, *_ = made
    (tmp_path / "sentences.html").write_text("of a run")
    with pytest.raises(NbkitError, match=r"holds files but no card\.html; choose another folder with --output"):
        make_card(plan, tmp_path)
    assert [each.name for each in tmp_path.iterdir()] == ["sentences.html"]


def test_a_card_does_not_replace_that_of_another_system(made, tmp_path):
    plan, *_ = made
    shutil.copytree(made[2], tmp_path / "card")
    written = (tmp_path / "card" / "card.json").read_bytes()
    for other in (replace(plan, systems={"copy": "command:cat"}), replace(plan, pair=("en", "fr"))):
        with pytest.raises(
            NbkitError, match=r"holds the card of parrot \(en-de\); choose another folder with --output"
        ):
            make_card(other, tmp_path / "card")
    assert (tmp_path / "card" / "card.json").read_bytes() == written


def test_a_card_on_which_everything_failed_is_a_failure(tmp_path, monkeypatch):
    monkeypatch.setenv("NBKIT_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("NBKIT_DATA", raising=False)
    given = ["command:false", "--pair", "en-de", "--max-texts", "30", "--output", str(tmp_path / "card")]
    done = CliRunner().invoke(main, ["card", *given])
    assert done.exit_code == 2 and "no behaviour could be measured" in done.output
    assert "--allow-commands" in (tmp_path / "card" / "card.html").read_text(encoding="utf-8")


def test_a_card_has_a_suite_that_is_asked_for(monkeypatch, tmp_path):
    monkeypatch.setenv("NBKIT_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    tests = "[{source: The dog., category: a, right: [Der Hund.]}, {source: The cat., category: b, must: [Katze]}]"
    Path("ours.yaml").write_text(f"name: ours\npair: en-de\ntests: {tests}\n", encoding="utf-8")
    known = {"The dog.": "Der Hund.", "The cat.": "Die Katze."}
    MODELS.register("good", lambda texts: [known[text] for text in texts])
    alone = {"suite": behaviours(STUDIES)["suite"]}
    monkeypatch.setattr("nbkit.batch.card.behaviours", lambda studies: alone)
    assert not plan_card(["good"], ("en", "de")).behaviours
    card = make_card(plan_card(["good"], ("en", "de"), overrides={"suite": {"suite": "ours.yaml"}}), tmp_path / "card")
    (shown,) = card.behaviours
    assert shown.answers["good"][0].startswith("With only 2 independent items, good passes 100.0% of 2 tests")
    assert {value.group for value in shown.measures[0].groups} == {"a", "b"}
