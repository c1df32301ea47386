"""The disambiguation study on corpora in files: links of other aligners, malformed entries, no test pairs, dry runs."""

from __future__ import annotations

from collections.abc import Iterable
from math import log2
from pathlib import Path

import pytest
import yaml

from nbkit import models
from nbkit.batch.workers import run_unit
from nbkit.corpora import Pair, load_pairs
from nbkit.corpora.homographs import load_homographs
from nbkit.errors import NbkitError, ParamsError
from nbkit.measure import aligners as pharaoh
from nbkit.models.translators.texts import text_pairs
from nbkit.studies.disambiguation import STUDY, DisambiguationParams, mining, pages
from nbkit.studies.disambiguation.mining import fold_counts
from nbkit.studies.disambiguation.sets import judgement_sample
from tests.align.pharaoh import write_pharaoh
from tests.metrics.ten_pairs import LEXICON, german, parsed, triples

from .conftest import Dummy, register

TRAINING, TEST = 160, 40


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
    params = params_of(files)
    gold = DisambiguationParams(training_pairs=TRAINING, models=[], masked_lm=None, causal_lm=None)
    one, other = (fold_counts(STUDY.read(each, "senses"))(-1) for each in (params, gold))
    assert one == other
    pool, pairs = STUDY.read(params, "items"), STUDY.read(params, "pairs")
    assert set(pool["corpus"]) == {files["one"], files["other"]} and pool["key"].is_unique
    assert (pool["fold"] == -1).all()
    assert STUDY.used(params) == {"n_pairs": [TEST], "n_test": [len(pool)]}
    for corpus in params.test_corpora:
        own = pairs[pairs["corpus"] == corpus]
        assert (own["left_out"] == "").sum() == (pool["corpus"] == corpus).sum() > TEST / 2
    assert len(STUDY.read(params)) == len(pool)
    assert set(STUDY.read(params, "quality")["corpus"]) == set(params.test_corpora)


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
    (row,) = STUDY.read(params, "items").to_dict("records")
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


def test_units_are_pairs_of_all_corpora(files, copier):
    """Pairs of two corpora that are called alike are two, those of two homographs in one pair are one."""
    pool = STUDY.read(params_of(files), "items")
    assert pool["unit"].nunique() == pool["pair"].nunique() <= len(pool)
    assert pool.groupby("pair")["unit"].nunique().eq(1).all()
    names = pool["pair"].str.rpartition("/")[2]
    assert names.nunique() < pool["unit"].nunique()


def test_links_of_a_file_are_not_read_for_keys(files, copier, monkeypatch):
    monkeypatch.setattr(pharaoh, "from_pharaoh", None)
    assert STUDY.inputs(params_of(files))


def test_what_links_translations_is_loaded_once_a_run(files, copier, monkeypatch):
    loaded, real = [], mining.load_aligner
    monkeypatch.setattr(mining, "load_aligner", lambda name, *a, **o: loaded.append(name) or real(name, *a, **o))
    real_align = type(real(files["words"], "en", "de")).align
    aligners = set()
    monkeypatch.setattr(type(real(files["words"], "en", "de")), "align",
                        lambda self, *a, **o: aligners.add(id(self)) or real_align(self, *a, **o))  # fmt: skip
    STUDY.read(params_of(files), "attacks")
    assert loaded and len(aligners) == 1


def test_malformed_entries_are_skipped_where_that_is_asked_for(files, copier, tmp_path: Path):
    lines = Path(files["one"].removeprefix("conllu:").replace("{lang}", "en")).read_text(encoding="utf-8").split("\n\n")
    german = Path(files["one"].removeprefix("conllu:").replace("{lang}", "de")).read_text(encoding="utf-8")
    lines[2] = "1\tbroken"
    (tmp_path / "bad.en.conllu").write_text("\n\n".join(lines), encoding="utf-8")
    (tmp_path / "bad.de.conllu").write_text(german, encoding="utf-8")
    bad = f"conllu:{tmp_path}/bad.{{lang}}.conllu"
    params = params_of(files, aligner=files["words"], test_corpora=[bad], on_error="skip")
    assert STUDY.read(params, "sizes").set_index("used")["pairs"].to_dict() == {"training": TRAINING, "test": TEST - 1}
    assert len(STUDY.read(params, "quality")) == 10
    STUDY.read(params, "items")
    assert STUDY.used(params)["n_pairs"] == [TEST - 1]
    few = params.model_copy(update={"n_pairs": 5})  # n counts pairs that can be used, not lines
    STUDY.read(few, "items")
    assert STUDY.used(few)["n_pairs"] == [5]
    with pytest.raises(NbkitError, match=r"bad\.en\.conllu"):
        STUDY.read(params_of(files, test_corpora=[bad]), "sizes")


def test_text_of_raw_corpora_leaves_malformed_lines_out(tmp_path: Path):
    (tmp_path / "pairs.tsv").write_text("a\tb\nbroken\nc\td\ne\tf\n", encoding="utf-8")
    corpus = f"tsv:{tmp_path}/pairs.tsv"
    assert [pair.source for pair in text_pairs(corpus, "en", "de", 2, on_error="skip")] == ["a", "c"]
    with pytest.raises(NbkitError, match=r"pairs\.tsv:2"):
        list(text_pairs(corpus, "en", "de", 2))


def test_language_models_may_be_python_and_are_remembered_where_they_say_who_they_are(files, copier):
    """Seeds are chosen, and samples scored, by what a cell registers."""

    class Short:
        """Finds short words likely, and texts as unlikely as they are long."""

        identity = "v1"

        def perplexities(self, texts, *, progress=True):
            return [float(len(text)) for text in texts]

        def masked_log_probabilities(self, texts, spans, candidates, *, progress=True):
            return [[-float(len(each)) for each in several] for several in candidates]

    models.LANGUAGE_MODELS.register("short", Short())
    params = params_of(files, masked_lm="short", causal_lm="short")
    assert not [problem for problem in STUDY.problems(params) if "short" in problem]
    samples = STUDY.read(params, "samples")
    assert samples["perplexity"].tolist() == [len(text) for text in samples["text"]]
    assert "short" in str(pages.footer(params))
    keys = STUDY.inputs(params)["tables"]
    assert "v1" in str(keys["seeds en→de"]) and "v1" in str(keys["samples en→de"])


@pytest.mark.parametrize("why", ["all too short", "an empty corpus"])
def test_with_nothing_to_test_tables_are_empty(files, copier, tmp_path: Path, why):
    change: dict[str, object] = {"min_tokens": 500}
    if why == "an empty corpus":
        change = {"test_corpora": [write_treebanks([], tmp_path, "nothing")]}
    params = params_of(files, **change)
    for unit in STUDY.units(params):
        if ":ensure" not in unit.function:
            run_unit(unit.function, unit.arguments)
    for name in ("items", "outcomes", "seeds", "samples", "attacks"):
        table = STUDY.read(params, name)
        assert table.empty and set(STUDY.table(name).columns) <= set(table)
    left = STUDY.read(params, "pairs")["left_out"]
    assert left.ne("").all() and left.empty == (why == "an empty corpus")
    assert judgement_sample(params, 10).empty


def test_a_dry_run_neither_counts_senses_nor_translates(files, copier, tmp_path):
    params = params_of(files, n_pairs=TEST)
    found = {unit.label: unit for unit in STUDY.units(params, count=True)}
    judging = next(unit for label, unit in found.items() if "outcomes" in label)
    assert (judging.texts, judging.stored, judging.left) == (2 * TEST, 0, 2 * TEST)  # at most so many
    there = {path.parent.parent.name for path in (tmp_path / "cache" / "store").rglob("*.parquet")}
    assert not copier.asked and not there & {f"disambiguation.{name}" for name in ("senses", "pairs", "items")}


def test_a_dry_run_counts_what_was_found(files, copier):
    """Texts that several tables ask, such as pairs for BLEU that are tested, too, count once."""
    params = params_of(files)
    STUDY.read(params, "items")
    units = [unit for unit in STUDY.units(params, count=True) if unit.label.split()[1] in ("outcomes", "quality")]
    asked = {*STUDY.read(params, "items")["source"], *STUDY.read(params, "plain")["source"]}  # each text once
    assert (sum(unit.texts for unit in units), sum(unit.stored for unit in units)) == (len(asked), 0)


def test_seeds_are_attacked_in_parts(files, copier):
    params = params_of(files, folds=4, test_corpora=[files["one"]], n_seeds=None)
    units = [unit.label.split()[1] for unit in STUDY.units(params)]
    assert {"senses", "folds", "pairs", "items", "outcomes", "seeds", "samples", "attacks"} <= set(units)
    assert STUDY.read(params, "folds")["first"].tolist() == [0, 40, 80, 120]


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


def test_problems_of_corpora_are_reported(files, tmp_path: Path):
    def problems(**changes: object) -> str:
        return "\n".join(STUDY.problems(params_of(files, models=[], **changes)))

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
    assert "has homographs of 'fr', not 'en'" in problems(lexicon=str(tmp_path / "fr.yaml"))


def test_named_lexicons_are_of_the_source_language():
    with pytest.raises(ParamsError, match="homograph lexicon own has homographs of 'en', not 'fr'"):
        DisambiguationParams(source="fr", lexicon="own")
    assert load_homographs("own", src="en").src == "en"


def test_an_aligner_learns_from_no_more_than_the_training_pairs(copier):
    few = DisambiguationParams(training_pairs=20, aligner_pairs=4000, models=[], masked_lm=None, causal_lm=None)
    same = few.model_copy(update={"aligner_pairs": 20})
    columns = ["of", "to", "n"]
    assert STUDY.read(few, "links")[columns].equals(STUDY.read(same, "links")[columns])
