"""The idioms study on translators whose behaviour is known: its tables must say so."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from nbkit.corpora.idioms import IdiomPair
from nbkit.errors import NbkitError, ParamsError
from nbkit.measure.bleu import cut
from nbkit.models import MODELS
from nbkit.models.probes import ContextProbe
from nbkit.store import Store
from nbkit.studies import STUDIES, idioms
from nbkit.studies.idioms import STUDY, IdiomsParams, System, steps
from nbkit.studies.idioms.steps import aligned_pairs, drawn, idiom_tokens, load_data, token_spans
from nbkit.studies.idioms.tables import _claims, paper_name
from nbkit.studies.word_order import WordOrderParams

from .conftest import Dummy, tables_of, zero_widths
from .idioms_cases import literally, of, pairs, toy_params


@pytest.fixture
def params(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> IdiomsParams:
    monkeypatch.setenv("NBKIT_CACHE", str(tmp_path / "cache"))
    return toy_params(tmp_path)


def test_word_by_word_is_an_error_and_the_references_are_none(params, translator):
    translator(literally)
    errors = idioms.literal_errors(params)
    row = of(errors, variant="paper", pairs="paper")
    assert (row["value"], row["n"], row["idioms"]) == (1, 4, 2)
    assert (
        row["signature"].startswith("LitTER|pairs:paper|spans:all|unit:word") and "dict:file:words" in row["signature"]
    )
    assert of(errors, "references", variant="paper", pairs="paper")["value"] == 0
    assert of(errors, "copy of the source", variant="paper", pairs="paper")["value"] == 0
    assert row["covered_pairs"] == row["open_pairs"] == row["covered_idioms"] == 1
    accuracy = idioms.accuracy(params)
    assert of(accuracy, "references", measure="unigram_precision")["value"] == 1
    assert of(accuracy, measure="unigram_precision")["value"] < 1
    assert set(accuracy["empty_reference"]) == {0.0}


def test_an_idiom_counts_once_however_often_it_is_there(params, translator):
    """Equation 1: of the frequent idiom all are wrong, of the rare one none."""
    translator(lambda text: literally(text) if "kick" in text.lower() else "Cela est gênant .")
    row = of(idioms.literal_errors(params), variant="paper", pairs="paper")
    assert row["value"] == 0.5 and row["micro"] == 0.75


def test_an_idiom_that_the_dictionary_does_not_know(params, translator, tmp_path):
    (tmp_path / "words.tsv").write_text("bucket\tseau\n", encoding="utf-8")
    translator(literally)
    errors = idioms.literal_errors(params)
    assert of(errors, variant="paper", pairs="paper")["value"] == 0.5
    covered = of(errors, variant="paper", pairs="covered")
    assert (covered["value"], covered["n"], covered["idioms"]) == (1, 3, 1)
    assert (covered["covered_pairs"], covered["covered_idioms"]) == (0.75, 0.5)


def test_a_blocklisted_word_elsewhere_is_no_error_of_the_aligned_variant(params, translator, tmp_path):
    """Limitation 1: the word translates another word of the sentence."""
    links = tmp_path / "links.tsv"
    translator(lambda text: "Ils meurent , seau ." if "kick" in text.lower() else "Cela est gênant .")
    for linked, expected in (("bucket\tseau\n", 0.5), ("they\tseau\n", 0.0)):
        kept = [line for line in links.read_text(encoding="utf-8").splitlines(True) if "seau" not in line]
        links.write_text("".join([*kept, linked]), encoding="utf-8")
        errors = idioms.literal_errors(params)
        assert of(errors, variant="paper", pairs="paper")["value"] == 0.5
        aligned = of(errors, variant="aligned", pairs="paper")
        assert aligned["value"] == expected and "aligned:lexicon" in aligned["signature"]


def test_what_is_aligned_to_the_idiom_is_seen_in_its_places(params, translator):
    translator(literally)
    store = Store()
    (system,) = params.systems
    table = steps.aligned(params, "fr", system, params.aligners[0], store=store)
    for row in table.itertuples():
        assert row.hypothesis_words.split() == [
            cut(literally(pair.source), "fr")[place]
            for pair in load_data(params, "fr", store).test if pair.id == row.id
            for place in json.loads(row.hypothesis_tokens)
        ]  # fmt: skip


def test_global_scores_are_sacrebleus(params, translator):
    from sacrebleu.metrics import BLEU, CHRF

    translator(literally)
    scores = idioms.global_scores(params)
    assert list(dict.fromkeys(scores["of"])) == ["idiom-test", "news"]
    test = load_data(params, "fr", Store()).test
    texts, references = [literally(pair.source) for pair in test], [[pair.target for pair in test]]
    assert of(scores, of="idiom-test", measure="bleu")["value"] == BLEU().corpus_score(texts, references).score
    expected = CHRF().corpus_score(texts, references).score / 100
    assert of(scores, of="idiom-test", measure="chrf")["value"] == pytest.approx(expected)
    assert of(scores, "references", of="news", measure="bleu")["value"] == pytest.approx(100)
    assert of(scores, "references", of="news", measure="chrf")[["low", "high"]].isna().all(), "it never varies"
    assert scores["high"].max() <= 100
    known = scores[scores["low"].notna()]
    assert (known["low"] <= known["value"] + 1e-6).all()  # the bounds come as text with nine digits
    assert (known["value"] <= known["high"] + 1e-6).all()


def test_results_stand_beside_the_papers(params, translator):
    translator(literally)
    results = idioms.results(params)
    row = of(results, measure="litter")
    assert (row["published"], row["printed"]) == (0.563, "0.563")
    assert row["difference"] == pytest.approx(1 - 0.563)
    assert row["as_computed"] == 1 and np.isnan(of(results, measure="bleu")["as_computed"])
    assert of(results, "references", measure="unigram_precision")["as_computed"] == 1
    lexicon = of(results, measure="unigram_precision")  # a statistical aligner stands beside fast-align
    assert lexicon["of"] == params.aligners[0] and lexicon["published"] == 0.268
    assert of(results, measure="bleu", of="idiom-test")["published"] == 34.4
    assert of(results, measure="bleu", of="news")["printed"] == "not printed"
    assert of(results, "references", measure="litter")["printed"] == "not printed"
    spanish = idioms.PUBLISHED.load("table4")
    assert len(idioms.published_results(params)) == len(spanish) == 154


def test_published_figures_read_both_directions_and_strip_accents(params, translator, tmp_path):
    """*bucket* is in the dictionary of the other direction alone; *hot* is translated without its accent."""
    (tmp_path / "en-fr.txt").write_text("hot\tbrûlant\n", encoding="utf-8")
    (tmp_path / "fr-en.txt").write_text("seau\tbucket\n", encoding="utf-8")
    translator(lambda text: literally(text) if "kick" in text.lower() else "Cela est brulant .")
    both = params.model_copy(update={"dictionary": str(tmp_path / "{src}-{tgt}.txt")})
    errors = idioms.literal_errors(both)
    text, figures = (of(errors, variant=variant, pairs="paper") for variant in ("paper", "published"))
    assert (text["value"], figures["value"]) == (0, 1)
    assert (text["covered_idioms"], figures["covered_idioms"]) == (0.5, 1)
    assert "dict:file:en-fr." in text["signature"] and "|accents:stripped|" in figures["signature"]
    assert "dict:file:en-fr+fr-en." in figures["signature"]
    assert of(errors, "references", variant="published", pairs="paper")["value"] == 0
    assert of(idioms.results(both), measure="litter")["as_computed"] == 1
    before = STUDY.inputs(both)["fr"]["dictionary"]
    (tmp_path / "fr-en.txt").write_text("seau\tpail\n", encoding="utf-8")
    assert STUDY.inputs(both)["fr"]["dictionary"] != before
    assert of(idioms.literal_errors(both), variant="published", pairs="paper")["value"] == 0.5
    (tmp_path / "fr-en.txt").write_text("seau\n", encoding="utf-8")
    assert any("fr-en.txt" in problem for problem in STUDY.problems(both))


def test_an_induced_dictionary_is_counted_in_both_directions(params, translator, tmp_path):
    """Two words of one language share the one of the other that they are linked to."""
    translator(literally)
    words = "".join(f"{word} {number}\tseau {number}\n" for word in ("bucket", "pail") for number in range(3))
    (tmp_path / "pairs.tsv").write_text(words, encoding="utf-8")
    (tmp_path / "links.tsv").write_text("bucket\tseau\npail\tseau\n", encoding="utf-8")
    update = {"dictionary": "induced", "aligned_corpora": [f"{tmp_path}/pairs.tsv"]}
    induced = params.model_copy(update=update)
    store = Store()
    forward, reverse = steps.run_dictionaries(induced, "fr", store)
    assert forward.translations("pail") == ("seau",)
    assert reverse is not None and set(reverse.translations("seau")) == {"bucket", "pail"}


def test_table_1_stands_beside_the_run_file_of_the_paper(params, tmp_path):
    """Under the names of params/idioms.yaml every row is found that the paper prints, the size of its corpora too."""
    run = yaml.safe_load((Path(__file__).parents[2] / "params" / "idioms.yaml").read_text(encoding="utf-8"))["runs"][0]
    text = "".join(f"{pair.source}\t{pair.target}\n" for pair in pairs())
    (tmp_path / "corpus.tsv").write_text(text, encoding="utf-8")
    (tmp_path / "list.txt").write_text("kick the bucket\nhot potato\n", encoding="utf-8")
    files = {"data": "mined", "corpora": dict.fromkeys(run["params"]["corpora"], f"{tmp_path}/corpus.tsv"),
             "generic": dict.fromkeys(run["params"]["generic"], f"{tmp_path}/corpus.tsv"),
             "idioms": f"{tmp_path}/list.txt"}  # fmt: skip
    found = idioms.data_statistics(params.model_copy(update=files)).set_index("statistic")
    printed = idioms.PUBLISHED.load("table1").query("language == 'fr'").set_index("statistic")["value"]
    names = {"Europarl": "Europarl", "IWSLT17": "IWSLT", "WMT14-test": "WMT-test", "IWSLT17-test": "IWSLT-test"}
    for ours, theirs in [*names.items(), *((name, name) for name in printed.index if name not in names.values())]:
        assert found.loc[ours, "published"] == printed[theirs]


def test_another_source_language_than_the_papers_stands_beside_nothing(params, translator, monkeypatch):
    translator(literally)
    other = params.model_copy(update={"source": "de"})
    monkeypatch.setattr(idioms.tables, "load_data", lambda *_: load_data(params, "fr", Store()))
    assert set(idioms.data_statistics(other)["printed"]) == {"not printed"}
    assert idioms.published_results(other).empty
    ours = idioms.results(params)
    assert set(idioms.tables._beside_the_papers(ours, "de")["note"]) == {"the paper has no de→fr"}


def test_statistics_and_frequencies_count_the_same(params, translator):
    counts = idioms.data_statistics(params).set_index("statistic")["value"]
    frequencies = idioms.idiom_frequencies(params)
    assert counts["Idiom-train"] == frequencies["train"].sum() == 4
    assert counts["Idiom-test"] == frequencies["test"].sum() == 4
    assert counts["news-test"] == 2 and np.isnan(counts["Regular"])
    assert list(frequencies["idiom"]) == ["kick the bucket", "hot potato"]
    assert list(frequencies["rank"]) == [1, 2]


def test_samples_show_errors_and_what_is_none(params, translator):
    translator(lambda text: literally(text) if "kick" in text.lower() else "Cela est gênant .")
    samples = idioms.litter_samples(params, k=2)
    assert list(samples["error"]) == [True, True, False]
    first = samples.iloc[0]
    assert {name for name, _ in json.loads(first["triggers"])} == {"cognent", "seau"}
    assert json.loads(first["blocklists"]) == [["kick", ["cognent"], True], ["bucket", ["seau"], True]]
    ((name, places), *_) = json.loads(first["triggers"])
    spans = token_spans(first["hypothesis"], "fr")
    assert [first["hypothesis"][slice(*spans[place])] for place in places] == [name]


def test_findings_are_asked_of_the_same_idioms(params):
    """The model of the condition joint knows the frequent idiom."""
    MODELS.register("dummy-zero", Dummy(literally))
    MODELS.register("dummy-joint", Dummy(lambda text: "Ils meurent ." if "kick" in text.lower() else literally(text)))
    both = params.model_copy(update={"conditions": ["joint", "zero"]})
    found = idioms.findings(both).iloc[0]
    assert found["finding"] == "random: zero > joint"
    assert (found["difference"], found["low"], found["high"], found["holds"]) == (0.5, -1, 1, "not sure")
    assert idioms.findings(params).empty


@pytest.mark.parametrize("name", ["table3", "table4"])
def test_what_the_findings_claim_is_what_the_paper_prints(name):
    """Also with several upsamplings, in whatever order: 100x has no fewer errors than 20x in Table 3."""
    table = idioms.PUBLISHED.load(name)
    printed = table[table["measure"] == "litter"].set_index(["model", "condition"])["value"].to_dict()
    models = {model: f"{model}-{{condition}}" for model, _ in printed}
    claims = _claims(IdiomsParams(models=models, conditions=["upsample-100", "joint", "upsample-20", "zero"]))
    known = [pair for *pair, _ in claims if all(system[:2] in printed for system in pair)]
    assert len(known) == 2 * 2 + 3 + 4
    for worse, better in known:
        assert printed[worse[:2]] > printed[better[:2]]
    assert {text for *_, text in claims if text.startswith("random:")} == {
        "random: zero > joint", "random: joint > upsample 20x"
    }  # fmt: skip


def test_the_papers_examples_come_out_as_printed():
    examples = idioms.published_examples()
    assert len(examples) == 5 and examples["agrees"].all()
    assert list(examples["error"]) == [False, False, True, True, False]


def test_the_matcher_finds_what_the_data_gives(params):
    recall = idioms.matcher_recall(params).iloc[0]
    assert (recall["spans"], recall["found"], recall["exact"], recall["extra"]) == (8, 1, 1, 0)


def test_every_system_and_the_controls_are_asked_once(params, translator):
    dummy = translator(literally)
    idioms.results(params)
    asked = len(dummy.asked)
    assert asked == len(set(dummy.asked)) == 4 + 2
    idioms.literal_errors(params)
    (cell,) = STUDY.cells(params)
    idioms.accuracy(cell.params)
    assert len(dummy.asked) == asked
    assert (cell.label, cell.tags) == ("fr.random", {"language": "fr", "model": "random"})


def test_units_do_the_work_in_stages(params, translator):
    dummy = translator(literally)
    units = STUDY.units(params, count=True)
    assert [unit.stage for unit in units] == [0, 1, 1, 1, 2]
    (translate,) = (unit for unit in units if unit.label.startswith("translate"))
    assert (translate.texts, translate.stored) == (6, 0)
    for unit in sorted(units, key=lambda unit: unit.stage):
        getattr(steps, unit.function.partition(":")[2]).work(**unit.arguments)
    asked = len(dummy.asked)
    idioms.results(params)
    assert len(dummy.asked) == asked
    (translate,) = (unit for unit in STUDY.units(params, count=True) if unit.label.startswith("translate"))
    assert translate.stored == 6


def fake_probes(name, wanted, src, tgt, decoding, **_):
    """Less context doubles the surprise; words of the reference are 1 nat, the last one 3."""
    for pair in wanted:
        words = token_spans(pair.target, tgt)
        entropies = (*(1.0 for _ in words[:-1]), 3.0)
        yield {
            context: ContextProbe(context, pair.target if context == "full" else "rien", (-float(factor),) * len(words),
                                  entropies, words, 1)
            for factor, context in enumerate(("full", "phrase", "word"), start=1)
        }  # fmt: skip


def test_probes_by_context(params, translator, monkeypatch):
    monkeypatch.setattr(steps, "probe_remembered", fake_probes)
    monkeypatch.setattr(steps, "has_states", lambda *_: True)
    translator(literally)
    probing = params.model_copy(update={"contexts": ["full", "phrase", "word"]})
    effects = idioms.context_effects(probing)
    value = effects.set_index(["measure", "context"])
    assert value.loc[("chrf", "full"), "value"] == 1 and value.loc[("chrf", "word"), "value"] < 0.3
    assert value.loc[("perplexity", "full"), "value"] == pytest.approx(np.e)
    assert value.loc[("perplexity", "phrase"), "change"] == pytest.approx(np.e**2 - np.e)
    ends = ["low", "high", "change_low", "change_high"]
    assert value.loc[("perplexity", "phrase"), ends].isna().all(), "the same in every sentence: how sure is not known"
    assert value.loc[("entropy_idiom", "full"), "value"] == 1
    assert value.loc[("entropy_other", "full"), "value"] > 1  # the final mark is another word's
    assert np.isnan(value.loc[("chrf", "full"), "change"])
    shown = idioms.context_examples(probing, k=1)
    assert list(shown.columns[-3:]) == ["full", "phrase", "word"] and shown.iloc[0]["word"] == "rien"
    assert idioms.context_effects(params).empty and idioms.context_examples(params).empty


def test_mined_pairs_are_those_of_the_matcher(params, tmp_path):
    lines = [f"{pair.source}\t{pair.target}" for pair in pairs()]
    lines += [
        "Nothing here .\tRien ici .",
        "They kick the bucket . " * 30 + "\t" + "Ils meurent . " * 30,
        "kick the bucket\tun",
    ]
    (tmp_path / "corpus.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (tmp_path / "list.txt").write_text("kick the bucket\nhot potato\n", encoding="utf-8")
    corpus = str(tmp_path / "corpus.tsv")
    mined = params.model_copy(update={"data": "mined", "corpora": {"mine": corpus}, "idioms": f"{tmp_path}/list.txt"})
    assert not steps.is_mined(mined, "fr", Store())
    found, sizes = steps.mine(mined, "fr", Store())
    assert steps.is_mined(mined, "fr", Store())
    assert {(pair.idiom, pair.words) for pair in found} == {
        ("kick the bucket", ("kick the bucket",)), ("hot potato", ("hot potato",))
    }  # fmt: skip
    # Two are too long, or too uneven.
    assert sizes == {"mine": 11, "Combined (after preprocessing)": 9, "Regular": 1}
    assert Counter(pair.idiom for pair in load_data(mined, "fr", Store()).test) == {
        "kick the bucket": 3,
        "hot potato": 1,
    }
    every = mined.model_copy(update={"tested": "all"})
    data = load_data(every, "fr", Store())
    assert len(data.test) == len(found) and not data.train and not data.splits.discarded
    assert steps.data_key(every, "fr") != steps.data_key(mined, "fr")


def test_aligners_never_see_a_test_sentence(params, tmp_path):
    data = load_data(params, "fr", Store())
    leak = f"{data.test[0].source.upper()}\tIls meurent\n"
    (tmp_path / "more.tsv").write_text(leak + "It is here .\tCela est ici .\n", encoding="utf-8")
    found = aligned_pairs(params.model_copy(update={"aligned_corpora": [f"{tmp_path}/more.tsv"]}), "fr", Store())
    assert len(found) == len(data.train) + 1
    assert not {" ".join(source).lower() for source, _ in found} & {pair.source.lower() for pair in data.splits.test}


@given(st.text(max_size=40), st.sampled_from(["en", "fr", "zh"]))
def test_token_spans_stand_for_the_tokens(text, lang):
    spans, tokens = token_spans(text, lang), cut(text, lang)
    assert len(spans) == len(tokens)
    for (start, end), token in zip(spans, tokens, strict=True):
        assert 0 <= start < end <= len(text)
        if text[start:end].isascii():
            assert token in text[start:end]


def test_idiom_tokens_are_found_in_composed_text():
    decomposed = "Le cafe\u0301 est un marche\u0301 aux puces."
    start = decomposed.index("marche")
    pair = IdiomPair("1", decomposed, "…", "marché aux puces", ((start, len(decomposed) - 1),))
    tokens = cut(decomposed, "fr")
    assert [tokens[place] for place in idiom_tokens(pair, "fr")][-2:] == ["aux", "puces"]


def test_drawn_pairs_let_idioms_take_turns():
    many = [IdiomPair(str(i), f"a b {i}", "x", f"idiom {i % 5}", ((0, 1),)) for i in range(40)]
    chosen = drawn(many, 10, seed=0)
    assert set(Counter(pair.idiom for pair in chosen).values()) == {2}
    assert [int(pair.id) for pair in chosen] == sorted(int(pair.id) for pair in chosen)
    assert set(drawn(many[::-1], 10, seed=0)) == set(chosen) and drawn(many, None, 0) == tuple(many)
    assert drawn(many, 10, seed=1) != chosen


def test_systems_stand_by_condition_as_in_the_papers_tables():
    params = IdiomsParams(models={"random": "r-{condition}", "given": "g"}, conditions=["joint", "zero", "joint"])
    assert params.systems == [
        System("random", "joint", "r-joint"), System("random", "zero", "r-zero"), System("given", "as it is", "g")
    ]  # fmt: skip
    assert paper_name("tuned +replace (enc)") == paper_name("mBART+replace(enc)")
    assert params.narrowed("fr", "given").systems == params.systems[-1:]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"conditions": ["seven"]}, "condition 'seven' is unknown"),
        ({"data": "minded"}, "data"),
        ({"data": "mined"}, "corpora is empty"),
        ({"corpora": {"PUD": "pud"}}, "corpora are mined only if data is 'mined'"),
        ({"languages": ["en"]}, "both the source and a target"),
        ({"models": {"Random": "a", "random": "b"}}, "would both be called 'random'.*rename one"),
        ({"models": {"mBART": "a", "tuned": "b"}}, "mBART and tuned would both be called 'mbart'"),
        ({"models": {"References": "a"}}, "'References' is the name of a control: give the model another name"),
        ({"contexts": ["sentence"]}, "contexts"),
        ({"model": {}}, "did you mean 'models'"),
    ],
)
def test_parameters_that_do_not_fit(values, message):
    with pytest.raises(ParamsError, match=message):
        IdiomsParams(**values)


def test_contexts_go_from_wide_to_narrow_and_begin_with_the_whole():
    assert IdiomsParams(contexts=["word"]).contexts == ["full", "word"]
    assert IdiomsParams(contexts=[]).contexts == []


def test_problems_name_files_and_models(params, tmp_path):
    bad = params.model_copy(update={"data": f"files:{tmp_path}/absent", "dictionary": str(tmp_path / "none.txt")})
    found = "\n".join(STUDY.problems(bad))
    assert "there is no file" in found and "none.txt" in found
    (tmp_path / "set.spans.en").write_text("kick the bucket\t[(5, 900)]\n", encoding="utf-8")
    assert any("set.spans.en" in problem for problem in STUDY.problems(params))
    with pytest.raises(NbkitError, match=r"set\.spans\.en"):
        idioms.data_statistics(params)


def test_what_has_no_last_pair_is_told_beforehand():
    found = STUDY.problems(IdiomsParams(models={}, n_generic=None, n_aligned=None))
    assert [problem.rpartition("set ")[2] for problem in found] == ["n_generic", "n_aligned"]
    finite = {"generic": {"own": "sandbox-idioms:idiom-test"}, "aligned_corpora": ["sandbox-idioms:idiom-train"]}
    assert STUDY.problems(IdiomsParams(models={}, n_generic=None, n_aligned=None, **finite)) == []
    by_order = WordOrderParams(corpus="sandbox-idioms:idiom-test", languages=["fr"], models=[], n_pairs=None)
    assert WordOrderParams.study.problems(by_order) == []
    found = WordOrderParams.study.problems(by_order.model_copy(update={"corpus": "sandbox-idioms:dev"}))
    assert found == ["corpus 'sandbox-idioms:dev' is unbounded: set n_pairs"]


def test_the_study_is_registered():
    assert STUDIES.get("idioms") is idioms.STUDY


def test_published_tables_are_complete():
    table = idioms.PUBLISHED.load("table3")
    key = ["condition", "model", "measure", "of"]
    assert len(table) == 14 * 11 and not table.duplicated(key).any()
    other = idioms.PUBLISHED.load("table4")
    assert len(other) == 14 * 11 and set(other["of"]) - set(table["of"]) == {"WMT13"}
    part = idioms.PUBLISHED.load("table2")
    assert len(part) == 12 * 6
    merged = part.merge(table, on=key, suffixes=("", "_of_table3"))
    assert len(merged) == len(part) and (merged["value"] == merged["value_of_table3"]).all()


def test_cells_read_off_the_page():
    fr = idioms.PUBLISHED.load("table3").set_index(["condition", "model", "measure", "of"])["value"]
    assert fr["zero", "random", "litter", ""] == 0.563
    assert fr["joint", "mBART +replace (enc)", "unigram_precision", "awesome-align"] == 0.306
    assert fr["upsample-100", "mBART", "chrf", "idiom-test"] == 0.61
    es = idioms.PUBLISHED.load("table4").set_index(["condition", "model", "measure", "of"])["value"]
    assert es["zero", "mBART +replace (dec)", "bleu", "WMT13"] == 34.4
    assert es["upsample-20", "random", "aligned_chrf", "awesome-align"] == 0.44


def test_table_1_does_not_add_up_by_what_its_notes_say():
    table = idioms.PUBLISHED.load("table1").set_index(["language", "statistic"])["value"]
    for language, missing in (("fr", 117), ("es", 112)):
        parts = sum(table[language, name] for name in ("Regular", "Idiom-train", "Idiom-test"))
        combined = table[language, "Combined (after preprocessing)"]
        assert combined - parts == missing
        notes = idioms.PUBLISHED.load("table1").set_index(["language", "statistic"])["note"]
        assert f"{parts:,}" in notes[language, "Combined (after preprocessing)"]
        assert f"{table[language, 'Idiom-test'] - table[language, 'Idiom-train']}" in idioms.PUBLISHED.note("table1")


def test_the_papers_main_finding_is_in_its_tables():
    """LitTER falls from zero to joint to upsampling for random and mBART models, in both languages."""
    for name in ("table3", "table4"):
        table = idioms.PUBLISHED.load(name)
        litter = table[table["measure"] == "litter"].set_index(["model", "condition"])["value"]
        for model in ("random", "mBART"):
            values = [litter[model, condition] for condition in ("zero", "joint", "upsample-20")]
            assert values == sorted(values, reverse=True)


def test_every_artefact_has_a_title():
    names = idioms.PUBLISHED.names()
    assert {f"fig{i}" for i in range(1, 22)} | {f"table{i}" for i in range(1, 5)} <= set(names)
    for name in names:
        assert idioms.PUBLISHED.title(name) and idioms.PUBLISHED.note(name)


def test_no_interval_of_any_table_has_width_zero(params, translator, monkeypatch):
    """Word by word, every idiom is an error; the references have none by construction, and so no interval."""
    monkeypatch.setattr(steps, "probe_remembered", fake_probes)
    monkeypatch.setattr(steps, "has_states", lambda *_: True)
    translator(literally)
    probing = params.model_copy(update={"contexts": ["full", "phrase", "word"]})
    found = dict(tables_of(idioms, probing))
    assert sum("low" in "".join(map(str, table)) for table in found.values()) >= 4
    assert {name: ends for name, table in found.items() if (ends := zero_widths(table))} == {}
