"""The catalogue, one's own corpora, and data sets of the hub (through its cache; the hub itself is never asked)."""

from __future__ import annotations

from pathlib import Path

import pytest

from nbkit.corpora import (
    CORPORA,
    Pair,
    Request,
    check_corpus,
    corpus_identity,
    file_corpus,
    find_corpus,
    load_pairs,
)
from nbkit.corpora.corpus import catalogue_name
from nbkit.corpora.nli import NLI_CORPORA
from nbkit.errors import NbkitError, UnknownNameError
from nbkit.languages import NAMES, TARGETS
from nbkit.studies.named import corpus_facts
from nbkit.text.sentences import Sentence, Text


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("NBKIT_CACHE", str(tmp_path / "cache"))


def test_every_named_corpus_says_what_it_is():
    assert {"sandbox", "multi30k", "tatoeba", "pud", "opus100", "tatoeba-challenge"} <= set(CORPORA)
    for name in CORPORA:
        assert CORPORA.summary(name) and CORPORA.domain(name)
        assert set(CORPORA.get(name).languages) <= NAMES.keys()
    assert set(CORPORA.get("tatoeba-challenge").languages) == {"en", *TARGETS}
    assert CORPORA.get("multi30k").splits[0] == "test_2016_flickr"


def test_files_of_a_declared_corpus_are_recognised_and_others_are_not():
    """A card names the domain of a corpus also where its files are given; of other files nothing is invented."""
    place = "moses:${NBKIT_DATA}/wmt/wmt23/en-de/{source|reference-A}.{lang}"
    assert catalogue_name(place) == "wmt23" and CORPORA.domain("wmt23").startswith("news, ")
    assert catalogue_name("tsv:${NBKIT_DATA}/tatoeba/en-de.tsv") == "tatoeba"
    for other in ("tsv:mine/en-de.tsv", "moses:${NBKIT_DATA}/wmt/wmt23-suites/en-de/x.{lang}", "own", "mine.tsv"):
        assert catalogue_name(other) == "" and corpus_facts(other)["licence"] == ""
    assert corpus_facts("tsv:mine/en-de.tsv")["domain"] == ""
    assert all(NLI_CORPORA.domain(name) for name in NLI_CORPORA)


class Greetings:
    languages = ("en", "de")
    splits = ("short", "long")

    def pairs(self, request: Request):
        for number in range(request.n or 3):
            yield Pair(
                f"{request.split}-{number}", Text((Sentence(("Hi",), "en"),)), Text((Sentence(("Hallo",), "de"),))
            )

    def identity(self, request: Request):
        return {"corpus": "greetings", "version": 1, "split": request.split}

    def problems(self, request: Request):
        return [] if request.tgt == "de" else [f"greetings has no '{request.tgt}'"]


@pytest.fixture
def greetings(monkeypatch):
    CORPORA.register("greetings", Greetings(), summary="my own")


def test_a_corpus_of_ones_own(greetings):
    assert [pair.id for pair in load_pairs("greetings:long", "en", "de", n=2)] == ["long-0", "long-1"]
    assert corpus_identity("greetings", "en", "de", n=2) == {
        "corpus": "greetings",
        "version": 1,
        "split": None,
        "src": "en",
        "tgt": "de",
        "n": 2,
    }
    assert check_corpus("greetings", "en", "fr") == ["greetings has no 'fr'"]
    with pytest.raises(UnknownNameError, match="unknown corpus 'greeting'; did you mean 'greetings'"):
        find_corpus("greeting")


def test_an_unknown_format_is_named():
    with pytest.raises(UnknownNameError, match="unknown format of corpus mine 'tvs'; did you mean 'tsv'"):
        file_corpus("mine", {"format": "tvs", "files": "x"})


def test_the_columns_of_a_catalogue_entry_serve_both_directions(tmp_path, tiny_pipelines):
    (tmp_path / "pairs.tsv").write_text("English\tGerman\nGo.\tGeh.\n")
    entry = {
        "format": "tsv",
        "files": f"{tmp_path}/pairs.tsv",
        "columns": ["en", "de"],
        "header": 1,
        "languages": ["en", "de"],
    }
    corpus = file_corpus("mine", entry)
    for src, tgt, expected in (("en", "de", ("Go.", "Geh.")), ("de", "en", ("Geh.", "Go."))):
        (pair,) = corpus.pairs(Request(src, tgt, parsers=tiny_pipelines))
        assert (pair.source.text, pair.target.text) == expected
    assert corpus.problems(Request("en", "fr"))[0] == "corpus mine has no 'fr'; it has en, de"


@pytest.fixture
def hub(tmp_path, monkeypatch) -> Path:
    """An empty hub cache, and no network: what a machine without the data set sees."""
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    return tmp_path / "hub"


def put(hub: Path, repository: str, revision: str, name: str) -> Path:
    path = hub / f"datasets--{repository.replace('/', '--')}" / "snapshots" / revision / name
    path.parent.mkdir(parents=True)
    return path


def test_a_data_set_that_cannot_be_had_is_named_with_the_ways_out(hub, tiny_pipelines):
    with pytest.raises(NbkitError) as caught:
        load_pairs("opus100", "en", "de", parsers=tiny_pipelines)
    message = str(caught.value)
    for part in ("Helsinki-NLP/opus-100", "de-en/test-00000-of-00001.parquet", str(hub), "HF_HOME", "moses:PREFIX"):
        assert part in message
    assert check_corpus("opus100", "en", "de", tiny_pipelines) == [message]


def test_opus100_from_the_cache(hub, tiny_pipelines):
    import pyarrow as pa
    import pyarrow.parquet as pq

    place = find_corpus("opus100")[0].place  # type: ignore[attr-defined]
    path = put(hub, place.repository, place.revision, "de-en/test-00000-of-00001.parquet")
    pq.write_table(pa.table({"translation": [{"de": "Geh weg!", "en": "Go away!"}]}), path)
    assert check_corpus("opus100", "en", "de", tiny_pipelines) == []
    (pair,) = load_pairs("opus100", "en", "de", parsers=tiny_pipelines)
    assert (pair.source.text, pair.target.text) == ("Go away!", "Geh weg!")
    (back,) = load_pairs("opus100", "de", "en", parsers=tiny_pipelines)
    assert (back.source, back.target) == (pair.target, pair.source)


def test_the_tatoeba_challenge_from_the_cache(hub, tiny_pipelines):
    place = find_corpus("tatoeba-challenge")[0].place  # type: ignore[attr-defined]
    path = put(hub, place.repository, place.revision, "test/tatoeba-test.deu-eng.tsv")
    path.write_text("deu\teng\tGeh weg!\tGo away!\n")
    (pair,) = load_pairs("tatoeba-challenge", "en", "de", parsers=tiny_pipelines)
    assert (pair.source.text, pair.target.text) == ("Go away!", "Geh weg!")


@pytest.mark.parametrize(
    ("corpus", "tgt", "file"),
    [
        ("opus100", "fr", "en-fr/test-00000-of-00001.parquet"),
        ("opus100:train", "de", "de-en/train-00000-of-00001.parquet"),
        ("tatoeba-challenge", "zh", "test/tatoeba-test.eng-zho.tsv"),
        ("tatoeba-challenge:dev", "ja", "dev/tatoeba-dev.eng-jpn.tsv"),
    ],
)
def test_the_identity_of_a_hub_file_is_its_pinned_revision_and_fetches_nothing(hub, tmp_path, corpus, tgt, file):
    import json

    meta = {"lang": tgt, "pipeline": ["morphologizer", "parser"]}
    parsers = {}
    for lang in ("en", tgt):
        (tmp_path / lang).mkdir()
        (tmp_path / lang / "meta.json").write_text(json.dumps(meta | {"lang": lang}))
        parsers[lang] = str(tmp_path / lang)
    (identity,) = corpus_identity(corpus, "en", tgt, parsers=parsers)["files"]
    assert identity["file"] == file
    assert len(identity["revision"]) == 40  # a commit, not a branch that moves


def test_a_pair_without_the_pivot_language(hub):
    (problem, *_) = check_corpus("opus100", "de", "fr")
    assert problem == "corpus opus100 has no pairs de-fr: one side is always 'en'"


def test_the_sandbox_by_name():
    from nbkit.corpora import sandbox

    assert check_corpus("sandbox", "en", "ja") == []
    pairs = list(load_pairs("sandbox", "en", "de", n=5))
    assert pairs == list(sandbox.pairs("en", "de", n=5))
    assert list(load_pairs("sandbox:test", "en", "de", n=2, start=3)) == pairs[3:]
    assert list(load_pairs("sandbox:train", "en", "de", n=5)) != pairs
    assert corpus_identity("sandbox", "en", "de", n=5)["version"] == sandbox.VERSION
    assert corpus_identity("sandbox:dev", "en", "de", n=5)["split"] == "dev"
    (problem,) = check_corpus("sandbox", "en", "sw")
    assert problem.startswith("unknown sandbox language 'sw'")
    (problem,) = check_corpus("sandbox:tset", "en", "de")
    assert problem.startswith("unknown sandbox split 'tset'; did you mean 'test'?")
    with pytest.raises(UnknownNameError, match="unknown sandbox split 'tets'; did you mean 'test'"):
        load_pairs("sandbox:tets", "en", "de")
    with pytest.raises(NbkitError, match="corpus sandbox is unbounded: set n"):
        load_pairs("sandbox", "en", "de")
