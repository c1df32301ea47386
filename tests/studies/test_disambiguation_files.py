"""The disambiguation study on corpora in files: links of other aligners, malformed entries, no test pairs, dry runs."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from math import log2
from pathlib import Path

import numpy as np
import pytest
import yaml

from nbkit import models
from nbkit.batch.workers import run_unit
from nbkit.corpora import Pair, load_pairs
from nbkit.corpora.homographs import load_homographs
from nbkit.errors import NbkitError, ParamsError
from nbkit.measure import aligners as pharaoh
from nbkit.measure.statistics import share_interval
from nbkit.models.translators.texts import text_pairs
from nbkit.store import Store
from nbkit.studies import disambiguation as study
from nbkit.studies.disambiguation import DisambiguationParams, tables
from nbkit.studies.disambiguation import mining as links
from nbkit.studies.disambiguation.mining import Mining, n_pairs
from nbkit.studies.disambiguation.steps import attacked_chunk, chunks
from nbkit.studies.disambiguation.styled import footer
from nbkit.studies.disambiguation.tables import strength
from tests.align.pharaoh import write_pharaoh
from tests.metrics.ten_pairs import LEXICON, german, parsed, triples

from .conftest import Dummy, register

TRAINING, TEST = 160, 40
#: The name of the package is that of the function.
pool_module = import_module("nbkit.studies.disambiguation.pool")


def write_treebanks(pairs: Iterable[Pair], folder: Path, name: str) -> str:
    """*pairs* as CoNLL-U, a file a language; the corpus's specification."""
    blocks: dict[str, list[str]] = {"en": [], "de": []}
    for pair in pairs:
        for lang, text in (("en", pair.source), ("de", pair.target)):
            (sentence,) = text.sentences
            columns = [getattr(sentence, name) for name in ("tokens", "lemmas", "upos", "heads", "deprels", "spaces")]
            columns[-1] = columns[-1] or (True,) * len(sentence)
            rows = [
                f"{i}\t{word}\t{lemma}\t{upos}\t_\t_\t{head + 1}\t{label}\t_\t{'_' if space else 'SpaceAfter=No'}\n"
                for i, (word, lemma, upos, head, label, space) in enumerate(zip(*columns, strict=True), 1)
            ]
            blocks[lang].append("".join(rows))
    for lang, found in blocks.items():
        (folder / f"{name}.{lang}.conllu").write_text("\n".join(found) + "\n" if found else "", encoding="utf-8")
    return f"conllu:{folder}/{name}.{{lang}}.conllu"


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Training and test corpora of the sandbox's homographs as files, links of the former, and a word list."""
    folder = tmp_path_factory.mktemp("files")
    training = list(load_pairs("sandbox-homographs:train", "en", "de", n=TRAINING))
    test = list(load_pairs("sandbox-homographs:test", "en", "de", n=2 * TEST))
    words = sorted(
        {(p.source.tokens[i].lower(), p.target.tokens[j].lower()) for p in [*training, *test] for i, j in p.alignment}
    )
    (folder / "words.tsv").write_text("".join(f"{s}\t{t}\n" for s, t in words), encoding="utf-8")
    write_pharaoh([pair.alignment for pair in training], folder / "train.align")
    return {
        "training": write_treebanks(training, folder, "train"),
        "one": write_treebanks(test[:TEST], folder, "one"),
        "other": write_treebanks(test[TEST:], folder, "other"),
        "links": f"pharaoh:{folder}/train.align",
        "words": f"lexicon:{folder}/words.tsv",
    }


@pytest.fixture
def copier(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Dummy:
    """A translator that copies; everything remembered goes to a folder of the test's own."""
    monkeypatch.setenv("NBKIT_CACHE", str(tmp_path / "cache"))
    dummy = Dummy(lambda text: text)
    register(dummy, ["copier"])
    return dummy


def params_of(files: dict[str, str], **changes: object) -> DisambiguationParams:
    settings: dict[str, object] = {
        "models": ["copier"], "masked_lm": None, "causal_lm": None, "training_corpus": files["training"],
        "training_pairs": None, "test_corpora": [files["one"], files["other"]], "n_pairs": None, "min_tokens": 4,
        "aligner": files["links"], "hypothesis_aligner": files["words"], "bleu_pairs": 10, "challenge_size": 10,
        "n_seeds": 10, "n_samples": 3, "attack_size": 10,
    }  # fmt: skip
    return DisambiguationParams(**{**settings, **changes})


def test_links_in_a_file_count_as_gold_ones_do_and_test_corpora_are_kept_apart(files, copier):
    store, params = Store(), params_of(files)
    gold = DisambiguationParams(training_pairs=TRAINING, models=[], masked_lm=None, causal_lm=None)
    assert study.counts(params, store) == study.counts(gold, store)
    pairs = study.pool(params, store)
    assert set(pairs["corpus"]) == {files["one"], files["other"]} and pairs["key"].is_unique
    assert (pairs["fold"] == -1).all()
    read = study.pool_left_out(params, store).set_index(["corpus", "reason"])["n"]
    assert [read[corpus, "pairs read"] for corpus in params.test_corpora] == [TEST, TEST]
    for corpus in params.test_corpora:
        own = read[corpus].drop("pairs read")
        assert own["in the pool"] == (pairs["corpus"] == corpus).sum() > TEST / 2
    assert len(study.judged(params, "copier", store=store)) == len(pairs)
    assert len(study.bleu(params, store)) == 2


def test_biases_of_the_pool_are_those_of_equation_3(copier, tmp_path: Path):
    """The ten pairs of `tests.metrics.ten_pairs`, of which nine tell a sense; a test sentence worked out by hand."""
    training = [Pair(str(i), *triple) for i, triple in enumerate(triples())]
    write_pharaoh([pair.alignment for pair in training], tmp_path / "train.align")
    test = [Pair("t", parsed("old/ADJ/amod/1 bat/NOUN/nsubj/2 fly/VERB/root/-1 small/ADJ/dep/2"), german("Fledermaus"))]
    (tmp_path / "words.tsv").write_text("bat\tFledermaus\n", encoding="utf-8")
    lexicon = {
        word: [{"sense": each.name, "translations": sorted(each.translations)} for each in homograph.clusters]
        for word, homograph in LEXICON.homographs.items()
    }
    content = yaml.safe_dump({"source": "en", "target": "de", "homographs": lexicon})
    (tmp_path / "lexicon.yaml").write_text(content, encoding="utf-8")
    params = DisambiguationParams(
        models=[], masked_lm=None, causal_lm=None, lexicon=str(tmp_path / "lexicon.yaml"), min_tokens=4,
        training_corpus=write_treebanks(training, tmp_path, "train"), training_pairs=None, n_pairs=None,
        test_corpora=[write_treebanks(test, tmp_path, "test")], aligner=f"pharaoh:{tmp_path}/train.align",
        hypothesis_aligner=f"lexicon:{tmp_path}/words.tsv",
    )  # fmt: skip
    (row,) = study.pool(params, Store()).to_dict("records")
    assert (row["homograph"], row["sense"], row["wrong_sense"], row["length"]) == ("bat", "animal", "club", 4)
    # FREQ: animal has old 2, fly 2, small 1; club has old 2. N = 9, n(old) = 5 (4 beside "bat"), n(animal) = 3.
    expected = {
        "freq_right": 2 + 2 + 1,
        "freq_wrong": 2,
        "ppmi_right": log2(2 * 9 / (5 * 3)) + log2(2 * 9 / (2 * 3)) + log2(1 * 9 / (1 * 3)),
        "ppmi_wrong": log2(2 * 9 / (5 * 3)),
        "ppmi_homograph_right": log2(2 * 6 / (4 * 3)) + log2(2 * 6 / (2 * 3)) + log2(1 * 6 / (1 * 3)),
        "ppmi_homograph_wrong": 0,
    }
    for name, total in expected.items():
        assert row[f"{name}_sum"] == pytest.approx(total) and row[f"{name}_mean"] == pytest.approx(total / 4), name


def test_intervals_resample_pairs_of_all_corpora(files, copier, monkeypatch):
    """Pairs of two corpora that are called alike are two, those of two homographs in one pair are one."""
    store, params = Store(), params_of(files)
    pairs = study.pool(params, store)
    copier._translate = dict(zip(pairs["source"], pairs["reference"], strict=True)).__getitem__
    seen = {}
    monkeypatch.setattr(tables, "strength", lambda scores, yes, groups, **_: seen.update(strength=groups) or strength(
        scores, yes, groups))  # fmt: skip
    monkeypatch.setattr(tables, "share_interval", lambda values, *, groups: seen.update(rate=groups) or (
        share_interval(values, groups=groups)))  # fmt: skip
    decided = (study.judged(params, "copier", store=store)["outcome"] != "undecided").to_numpy()
    study.correlations(params, store), study.errors(params, store)
    own = pairs[decided]
    assert own["pair"].nunique() < (n := len(own[["corpus", "pair"]].drop_duplicates())) <= len(own)
    assert len(set(seen["strength"])) == len(set(seen["rate"])) == n


def test_links_of_a_file_are_not_read_for_keys(files, copier, monkeypatch):
    monkeypatch.setattr(pharaoh, "read_pharaoh", None)
    assert params_of(files).counts_key()["aligner"]["aligner"] == "pharaoh"


def test_what_links_translations_is_loaded_once_a_run(files, copier, monkeypatch):
    loaded = []
    real = pool_module.load_aligner
    monkeypatch.setattr(pool_module, "load_aligner", lambda name, *a, **o: loaded.append(name) or real(name, *a, **o))
    store, params = Store(), params_of(files)
    study.pool(params, store), study.judged(params, "copier", store=store), study.attacked(params, "copier", store)
    assert loaded == [files["words"]]


def test_malformed_entries_are_left_out_where_that_is_asked_for(files, copier, tmp_path: Path):
    lines = Path(files["one"].removeprefix("conllu:").replace("{lang}", "en")).read_text(encoding="utf-8").split("\n\n")
    german = Path(files["one"].removeprefix("conllu:").replace("{lang}", "de")).read_text(encoding="utf-8")
    lines[2] = "1\tbroken"
    (tmp_path / "bad.en.conllu").write_text("\n\n".join(lines), encoding="utf-8")
    (tmp_path / "bad.de.conllu").write_text(german, encoding="utf-8")
    bad = f"conllu:{tmp_path}/bad.{{lang}}.conllu"
    store = Store()
    params = params_of(files, aligner=files["words"], test_corpora=[bad], on_error="skip")
    assert study.pool_left_out(params, store).set_index("reason")["n"]["pairs read"] == TEST - 1
    assert study.corpus_sizes(params, store).set_index("used")["pairs"].to_dict() == {
        "training": TRAINING, "test": TEST - 1,
    }  # fmt: skip
    assert study.bleu(params, store)["n"].tolist() == [10]
    with pytest.raises(NbkitError, match=r"bad\.en\.conllu"):
        study.corpus_sizes(params_of(files, test_corpora=[bad]), store)
    # n counts pairs that can be used, not lines.
    limited = Mining(bad, n=TEST - 1, on_error="skip")
    assert n_pairs(limited, store) == TEST - 1
    assert study.pool_left_out(params.model_copy(update={"n_pairs": 5}), store)["n"].iloc[0] <= 5


def test_text_of_raw_corpora_leaves_malformed_lines_out(tmp_path: Path):
    (tmp_path / "pairs.tsv").write_text("a\tb\nbroken\nc\td\ne\tf\n", encoding="utf-8")
    corpus = f"tsv:{tmp_path}/pairs.tsv"
    assert [pair.source for pair in text_pairs(corpus, "en", "de", 2, on_error="skip")] == ["a", "c"]
    with pytest.raises(NbkitError, match=r"pairs\.tsv:2"):
        list(text_pairs(corpus, "en", "de", 2))


def test_models_of_a_hub_are_fetched_before_their_results_are_kept(files, copier, monkeypatch):
    """Only then their revisions are known, which are part of the keys."""
    here: set[str] = set()

    def identity(name: str, *_: object, **__: object) -> dict[str, object]:
        return {"hub": name, "weights": f"{name}'s revision" if name in here else None}

    for kind in ("model", "language_model"):
        monkeypatch.setattr(models, f"{kind}_identity", identity, raising=False)
        monkeypatch.setattr(models, f"ensure_{kind}", lambda name, *_: here.add(name), raising=False)
    answers = {
        "masked_remembered": lambda _, texts, spans, fillers, **__: [[0.0] * len(each) for each in fillers],
        "perplexities_remembered": lambda _, texts, **__: np.ones(len(texts)),
        "translate_remembered": lambda _, texts, *__, **___: list(texts),
    }
    for name, answer in answers.items():
        monkeypatch.setattr(models, name, answer, raising=False)
    store, params = Store(), params_of(files, models=["me/mt"], masked_lm="me/bert", causal_lm="me/gpt")
    (start,) = chunks(params, store)
    attacked_chunk(params, "me/mt", start, store=store)
    kinds = {"seeds": ["me/bert"], "generated_chunk": ["me/bert", "me/gpt"], "judged": ["me/mt"],
             "attacked_chunk": ["me/bert", "me/gpt", "me/mt"]}  # fmt: skip
    for kind, names in kinds.items():
        (config,) = Path(store.url).rglob(f"disambiguation.{kind}/*/config.json")
        text = config.read_text(encoding="utf-8")
        assert all(f"{name}'s revision" in text for name in names)


def test_language_models_may_be_python_and_are_remembered_where_they_say_who_they_are(files, copier):
    """Seeds are chosen, and samples scored, by what a cell registers; without identity none of it is on disk."""

    class Short:
        """Finds short words likely, and texts as unlikely as they are long."""

        def perplexities(self, texts, *, progress=True):
            return [float(len(text)) for text in texts]

        def masked_log_probabilities(self, texts, spans, candidates, *, progress=True):
            return [[-float(len(each)) for each in several] for several in candidates]

    mine = Short()
    models.LANGUAGE_MODELS.register("short", mine)
    params, store = params_of(files, masked_lm="short", causal_lm="short"), Store()
    assert not [problem for problem in study.STUDY.problems(params) if "short" in problem]

    def kept() -> set[str]:
        paths = Path(store.url).rglob("config.json")
        return {path.parent.parent.name for path in paths if '"python": "short"' in path.read_text(encoding="utf-8")}

    (start,) = chunks(params, store)
    attacked_chunk(params, "copier", start, store=store)
    assert not kept() and "short (not remembered: register an identity)" in str(footer(params))
    mine.identity = "v1"
    attacked_chunk(params, "copier", start, store=store)
    assert kept() >= {
        "disambiguation.seeds",
        "disambiguation.generated_chunk",
        "disambiguation.attacked_chunk",
        "perplexity",
    }
    assert "not remembered" not in str(footer(params))


@pytest.mark.parametrize("why", ["all too short", "an empty corpus"])
def test_with_nothing_to_test_tables_are_empty(files, copier, tmp_path: Path, why):
    change: dict[str, object] = {"min_tokens": 500}
    if why == "an empty corpus":
        change = {"test_corpora": [write_treebanks([], tmp_path, "nothing")]}
    store, params = Store(), params_of(files, **change)
    assert study.pool(params, store).empty and study.generated(params, store).empty
    for unit in study.STUDY.units(params, store=store):
        if ":ensure" not in unit.function:
            run_unit(unit.function, unit.arguments, {})
    assert study.errors(params, store)[["n", "errors", "undecided"]].iloc[0].tolist() == [0, 0, 0]
    assert study.attack_rates(params, store)[["n", "successes"]].iloc[0].tolist() == [0, 0]
    assert study.seeds_left(params, store)["n"].sum() == 0 and study.rare_overlap(params, store)["of"].eq(0).all()
    for table in (study.correlations, study.challenge_errors, study.attack_challenge, study.attack_correlations,
                  study.successes, study.transfer, study.bleu, study.error_examples, study.samples_made,
                  study.perturbation_examples, study.success_by_kind, study.undecided_translations):  # fmt: skip
        assert len(table(params, store=store).columns) > 2
    left = study.pool_left_out(params, store).groupby("reason")["n"].sum()
    assert left["in the pool"] == 0 and left.get("pairs read", 0) == (0 if why == "an empty corpus" else 2 * TEST)
    assert study.judgement_sample(params, 10, store).empty


def test_a_dry_run_neither_reads_for_nor_writes_results(files, copier, monkeypatch):
    for name in ("aligned_pairs", "load_pairs"):
        monkeypatch.setattr(pool_module, name, None)
    monkeypatch.setattr(links, "shard_pairs", None)
    monkeypatch.setattr(pool_module, "load_aligner", None)
    store, params = Store(), params_of(files)
    found = {unit.label: unit for unit in study.STUDY.units(params, count=True, store=store)}
    translating = next(unit for label, unit in found.items() if label.startswith("translate"))
    assert (translating.texts, translating.stored) == (2 * TEST, 0)  # at most so many
    assert not list(Path(store.url).rglob("*.parquet")) and not copier.asked
    monkeypatch.undo()


def test_a_dry_run_counts_what_was_found(files, copier):
    store, params = Store(), params_of(files)
    pairs = study.pool(params, store)
    study.judged(params, "copier", store=store)
    unit = next(unit for unit in study.STUDY.units(params, count=True, store=store) if "translate" in unit.label)
    assert unit.stored == pairs["source"].nunique() and unit.texts <= unit.stored + 20


def test_corpora_are_counted_and_looked_through_in_shards_of_their_own(files, copier):
    store, params = Store(), params_of(files, folds=4, test_corpora=[files["one"]])
    units = study.STUDY.units(params, store=store)
    starts = [unit.arguments["start"] for unit in units if unit.function.endswith(":count_senses")]
    assert starts == [0, 40, 80, 120]
    assert len([unit for unit in units if unit.function.endswith(":find_pairs")]) == 5
    attacks = [unit for unit in study.STUDY.units(params.model_copy(update={"n_seeds": 500})) if "attack" in unit.label]
    assert [unit.arguments["part"] for unit in attacks] == [(0, 3), (1, 3), (2, 3)]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"hypothesis_aligner": "lexicon"}, "made from the gold alignment, and 'aligner: pharaoh"),
        ({"hypothesis_aligner": "pharaoh:links.txt"}, "does not align translations made by this run"),
        ({"hypothesis_aligner": "gold"}, "does not align translations made by this run"),
    ],
)
def test_translations_are_not_linked_by_what_does_not_know_them(files, change, message):
    with pytest.raises(ParamsError, match=message):
        params_of(files, **change)


def test_problems_of_corpora_are_told(files, tmp_path: Path):
    def problems(**changes: object) -> str:
        return "\n".join(study.STUDY.problems(params_of(files, models=[], **changes)))

    assert problems() == ""
    endless = {"training_corpus": "sandbox-homographs:train", "test_corpora": ["sandbox-homographs:test"]}
    found = problems(**endless, aligner="gold")
    assert "is unbounded: set training_pairs" in found and "set n_pairs" in found
    found = problems(aligner="gold", hypothesis_aligner="lexicon")
    assert found.count("has no gold links: name what is to link its pairs") == 3
    assert "let on_error be 'raise'" in problems(on_error="skip")
    (tmp_path / "fr.yaml").write_text(
        "source: fr\ntarget: de\nhomographs:\n  avocat:\n    - {sense: fruit, translations: [Avocado]}\n"
        "    - {sense: law, translations: [Anwalt]}\n",
        encoding="utf-8",
    )
    assert "has homographs of 'fr', not of 'en'" in problems(lexicon=str(tmp_path / "fr.yaml"))


def test_named_lexicons_are_of_the_source_language():
    with pytest.raises(ParamsError, match="homograph lexicon own has homographs of 'en', not of 'fr'"):
        DisambiguationParams(source="fr", lexicon="own")
    assert load_homographs("own", src="en").src == "en"


def test_an_aligner_learns_from_no_more_than_the_training_pairs(copier):
    store = Store()
    few = DisambiguationParams(training_pairs=20, aligner_pairs=4000, models=[], masked_lm=None, causal_lm=None)
    same = few.model_copy(update={"aligner_pairs": 20})
    assert pool_module.word_list(few, store) == pool_module.word_list(same, store)
