"""`load_pairs`, `corpus_identity` and `check_corpus` over local files, end to end with a real pipeline."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from nbkit.corpora import Pair, Skipped, check_corpus, corpus_identity, load_pairs
from nbkit.corpora import corpus as corpus_module
from nbkit.errors import DataError, MissingExtraError, NbkitError, UnknownNameError
from nbkit.store import Store
from nbkit.text.parsers import parser_identity

PAIRS = [("Tom sleeps.", "Tom schläft."), ("Go away!", "Geh weg!"), ("Tom couldn't sleep.", "Tom schlief nicht.")]


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("NBKIT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def tsv(tmp_path) -> Path:
    path = tmp_path / "en-de.tsv"
    path.write_text("".join(f"{source}\t{target}\n" for source, target in PAIRS), "utf-8")
    return path


def texts(pairs) -> list[tuple[str, str]]:
    return [(pair.source.text, pair.target.text) for pair in pairs]


def test_a_tsv_file_is_parsed_on_both_sides(tsv, tiny_pipelines):
    pairs = list(load_pairs(str(tsv), "en", "de", parsers=tiny_pipelines))
    assert texts(pairs) == PAIRS
    assert [pair.id for pair in pairs] == ["1", "2", "3"]
    assert pairs[0].source.sentences[0].upos == ("PROPN", "VERB", "PUNCT")
    assert (pairs[0].source.lang, pairs[0].target.lang) == ("en", "de")
    assert pairs[0].alignment is None


def test_every_way_to_name_the_same_pairs(tsv, tmp_path, tiny_pipelines, monkeypatch):
    for column, lang in enumerate(("en", "de")):
        (tmp_path / f"test.{lang}").write_text("".join(f"{pair[column]}\n" for pair in PAIRS), "utf-8")
    monkeypatch.setenv("PAIRS", str(tmp_path))
    specs = [
        str(tsv),
        f"tsv:{tsv}",
        f"{tmp_path}/{{src}}-{{tgt}}.tsv",
        "${PAIRS}/en-de.tsv",
        "tsv:$PAIRS/en-de.tsv",
        f"moses:{tmp_path}/test",
        f"moses:{tmp_path}/test.{{lang}}",
    ]
    for spec in specs:
        assert check_corpus(spec, "en", "de", tiny_pipelines) == []
        assert texts(load_pairs(spec, "en", "de", parsers=tiny_pipelines)) == PAIRS, spec
    swapped = [(target, source) for source, target in PAIRS]
    assert texts(load_pairs(f"moses:{tmp_path}/test", "de", "en", parsers=tiny_pipelines)) == swapped


def test_n_takes_the_first_good_pairs(tsv, tiny_pipelines):
    assert texts(load_pairs(str(tsv), "en", "de", n=2, parsers=tiny_pipelines)) == PAIRS[:2]
    assert len(list(load_pairs(str(tsv), "en", "de", n=99, parsers=tiny_pipelines))) == 3
    tsv.write_text("no tab\n" + tsv.read_text("utf-8"), "utf-8")
    skipped = Skipped()
    pairs = list(load_pairs(str(tsv), "en", "de", n=2, parsers=tiny_pipelines, on_error="skip", skipped=skipped))
    assert [pair.id for pair in pairs] == ["2", "3"]
    assert [(error.path, error.line, error.reason) for error in skipped] == [
        (str(tsv), 1, "expected 2 tab-separated columns, found 1")
    ]
    with pytest.raises(DataError, match=r"en-de.tsv:1: expected 2 tab-separated"):
        list(load_pairs(str(tsv), "en", "de", n=2, parsers=tiny_pipelines))
    with pytest.raises(NbkitError, match="n is 0; it must be at least 1"):
        load_pairs(str(tsv), "en", "de", n=0, parsers=tiny_pipelines)


def test_corpora_are_joined_in_order(tsv, tmp_path, tiny_pipelines):
    other = tmp_path / "other.tsv"
    other.write_text("no tab\nGood night .\tGute Nacht .\n", "utf-8")
    joined = f"{tsv} + tsv:{other}"
    options = {"parsers": tiny_pipelines, "on_error": "skip"}
    pairs = list(load_pairs(joined, "en", "de", **options))
    assert texts(pairs) == [*PAIRS, ("Good night .", "Gute Nacht .")]
    assert [pair.id for pair in pairs] == ["1:1", "1:2", "1:3", "2:2"]
    assert texts(load_pairs(joined, "en", "de", n=2, start=2, **options)) == texts(pairs)[2:]
    assert texts(load_pairs(f"tsv:{other} + {tsv}", "en", "de", n=1, **options)) == texts(pairs)[3:]
    with pytest.raises(DataError, match=r"other\.tsv:1: "):
        list(load_pairs(joined, "en", "de", parsers=tiny_pipelines))
    assert "other.tsv:1" in problems(joined, parsers=tiny_pipelines)
    assert problems(f"{tsv} + {tmp_path}/nothing.tsv").count("no such file") == 1
    assert "only corpora of raw text can be joined, not pud" in problems(f"{tsv} + pud")
    assert "only corpora of raw text can be joined, not sandbox" in problems(f"sandbox + {tsv}")

    def identity(spec):
        return corpus_identity(spec, "en", "de", parsers=tiny_pipelines)

    assert identity(joined) != identity(f"tsv:{other} + {tsv}") != identity(str(tsv))
    before = identity(joined)
    other.write_text("Good night .\tGute Nacht .\n", "utf-8")
    assert identity(joined) != before


def test_start_leaves_pairs_out_without_parsing_them(tsv, tiny_pipelines, tmp_path):
    tsv.write_text("no tab\n" + tsv.read_text("utf-8"), "utf-8")
    store = Store(tmp_path / "mine")
    options = {"parsers": tiny_pipelines, "on_error": "skip", "store": store}
    (pair,) = load_pairs(str(tsv), "en", "de", n=1, start=1, **options)
    assert (pair.id, pair.source.text) == ("3", PAIRS[1][0])
    config = {"kind": "parse", **parser_identity(tiny_pipelines["en"], "en")}
    assert store.missing(config, [(source,) for source, _ in PAIRS]) == [(PAIRS[0][0],), (PAIRS[2][0],)]
    assert texts(load_pairs(str(tsv), "en", "de", start=2, **options)) == PAIRS[2:]
    with pytest.raises(NbkitError, match="start is -1"):
        load_pairs(str(tsv), "en", "de", start=-1, **options)


def test_chunks_change_nothing_and_reading_is_streaming(tsv, tiny_pipelines, monkeypatch):
    whole = list(load_pairs(str(tsv), "en", "de", parsers=tiny_pipelines))
    monkeypatch.setattr(corpus_module, "CHUNK", 2)
    assert list(load_pairs(str(tsv), "en", "de", parsers=tiny_pipelines)) == whole
    with tsv.open("a", encoding="utf-8") as file:
        file.write("x\ty\nbroken\n")
    stream = load_pairs(str(tsv), "en", "de", parsers=tiny_pipelines)
    assert list(itertools.islice(stream, 4))[:3] == whole  # the broken line is in the third chunk
    with pytest.raises(DataError, match=":5: "):
        next(stream)


def test_parses_are_remembered_in_the_store_that_is_given_or_the_default_one(tsv, tmp_path, tiny_pipelines, cache):
    list(load_pairs(str(tsv), "en", "de", parsers=tiny_pipelines, store=Store(tmp_path / "mine")))
    assert list((tmp_path / "mine" / "parse").iterdir()) and not (cache / "store").exists()
    list(load_pairs(str(tsv), "en", "de", parsers=tiny_pipelines))
    assert list((cache / "store" / "parse").iterdir())


def test_conllu_pairs_need_no_parser(tmp_path):
    for lang, word in (("en", "Hi"), ("ja", "やあ")):
        (tmp_path / f"{lang}.conllu").write_text(
            f"# sent_id = s1\n1\t{word}\t_\tINTJ\t_\t_\t0\troot\t_\t_\n\n", "utf-8"
        )
    for spec in (f"conllu:{tmp_path}/{{lang}}.conllu", f"{tmp_path}/{{lang}}.conllu"):
        assert check_corpus(spec, "en", "ja") == []
        (pair,) = load_pairs(spec, "en", "ja")
        assert isinstance(pair, Pair)
        assert (pair.id, pair.source.text, pair.target.text) == ("s1", "Hi", "やあ")
        assert list(load_pairs(spec, "en", "ja", start=1)) == []


def test_identity_follows_content_parsers_and_n(tsv, tmp_path, tiny_pipelines):
    def identity(spec=str(tsv), **options):
        return corpus_identity(spec, "en", "de", **{"parsers": tiny_pipelines, **options})

    original = identity()
    assert identity() == original
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / tsv.name).write_bytes(tsv.read_bytes())
    assert identity(str(elsewhere / tsv.name)) == original
    assert str(tmp_path) not in str(original)
    assert identity(n=2) != original
    assert identity(parsers={**tiny_pipelines, "en": _renamed(tiny_pipelines["en"], tmp_path)}) != original
    tsv.write_text(tsv.read_text("utf-8").replace("Go away", "Go home"), "utf-8")
    assert identity() != original


def _renamed(pipeline: str, folder: Path) -> str:
    import shutil

    shutil.copytree(pipeline, folder / "other")
    return str(folder / "other")


def test_what_is_missing_is_stated_before_anything_is_read(tsv, tiny_pipelines):
    with pytest.raises(MissingExtraError, match="parser 'de_none_sm' is not installed"):
        load_pairs(str(tsv), "en", "de", parsers={**tiny_pipelines, "de": "de_none_sm"})
    with pytest.raises(NbkitError, match=r"no such file: .*none\.tsv"):
        load_pairs("/none.tsv", "en", "de", parsers=tiny_pipelines)
    with pytest.raises(UnknownNameError, match="unknown language 'xx'"):
        load_pairs(str(tsv), "en", "xx", parsers=tiny_pipelines)
    with pytest.raises(NbkitError, match="on_error is 'warn'"):
        list(load_pairs(str(tsv), "en", "de", parsers=tiny_pipelines, on_error="warn"))  # type: ignore[arg-type]


def problems(spec: str, src="en", tgt="de", parsers=None) -> str:
    return "\n".join(check_corpus(spec, src, tgt, parsers))


def test_a_misspelt_file_and_an_empty_one_are_named(tmp_path, tiny_pipelines):
    (tmp_path / "pairs.en").write_text("a\n", encoding="utf-8")
    (tmp_path / "pairs.de").touch()
    found = problems(f"moses:{tmp_path}/pears").splitlines()[0]
    assert f"no such file: {tmp_path}/pears.en " in found and found.endswith(f"; did you mean {tmp_path}/pairs.en?")
    with pytest.raises(DataError, match=r"pairs\.en:1: pairs\.de is empty: the two files are not line-aligned"):
        list(load_pairs(f"moses:{tmp_path}/pairs", "en", "de", parsers=tiny_pipelines))


def test_validate_names_every_problem_at_once(tmp_path, monkeypatch):
    monkeypatch.delenv("NBKIT_NOWHERE", raising=False)
    spec = f"moses:{tmp_path}/none"
    found = problems(spec, parsers={"en": "en_none_sm", "de": "de_none_sm"})
    for part in (
        f"no such file: {tmp_path}/none.en",
        f"no such file: {tmp_path}/none.de",
        "'en_none_sm' is not",
        "'de_none_sm' is not",
    ):
        assert part in found
    assert "environment variable NBKIT_NOWHERE is not set" in problems("${NBKIT_NOWHERE}/{lang}.conllu")
    assert "write {lang} in place of the language code" in problems("conllu:both.conllu")
    assert "{language} cannot be filled in; available: {src}, {tgt}, {pair}" in problems("{language}.tsv")
    assert "lacks the path after the colon" in problems("tsv:")
    assert "is a path without a format" in problems("data/pairs")
    assert problems(f"{tmp_path}/x.tsv", tgt="qq").count("unknown language 'qq'") == 1


def test_named_corpora_without_their_data(monkeypatch, tmp_path):
    monkeypatch.delenv("NBKIT_DATA", raising=False)
    message = problems("pud")
    assert "corpus pud" in message and "${NBKIT_DATA}/pud/en.conllu" in message and "NBKIT_DATA is not set" in message
    monkeypatch.setenv("NBKIT_DATA", str(tmp_path))
    assert f"corpus pud: no such file: {tmp_path}/pud/en.conllu" in problems("pud")
    assert "corpus pud has no 'ru'; it has en, de, fr, es, zh, ja" in problems("pud", tgt="ru")
    assert "unknown split of corpus multi30k 'tset_2016_flickr'; did you mean 'test_2016_flickr'?" in problems(
        "multi30k:tset_2016_flickr"
    )
    assert "lacks the split after the colon" in problems("multi30k:")
    assert "unknown split of corpus pud 'test'" in problems("pud:test")


MALFORMED = {
    "no byte": (b"", "empty.tsv: it contains no pair"),
    "bad UTF-8": (b"a\tb\nGr\xf6\xdfe\tsize\n", "empty.tsv:2: bad UTF-8 at byte 3 of the line; convert"),
    "one column": (b"a\tb\nonly\n", "empty.tsv:2: expected 2 tab-separated columns, found 1"),
    "empty line": (b"\na\tb\n", "empty.tsv:1: empty line"),
    "empty target": (b"a\tb\nc\t \n", "empty.tsv:2: the target side is empty"),
}


@pytest.mark.parametrize("case", MALFORMED)
def test_what_the_file_holds_is_checked_beforehand(tmp_path, tiny_pipelines, case):
    data, message = MALFORMED[case]
    path = tmp_path / "empty.tsv"
    path.write_bytes(data)
    (problem,) = check_corpus(str(path), "en", "de", tiny_pipelines)
    assert message in problem
    if data:  # each has one good pair
        assert check_corpus(str(path), "en", "de", tiny_pipelines, on_error="skip") == []
        first_is_good = not data.startswith(b"\n")
        assert (check_corpus(str(path), "en", "de", tiny_pipelines, n=1) == []) == first_is_good
    path.write_bytes(b"a\nb\n")
    (problem,) = check_corpus(str(path), "en", "de", tiny_pipelines, on_error="skip")
    assert "it contains no usable pair; 2 were skipped, the first because of" in problem


def test_files_that_are_not_aligned_are_found_beforehand(tmp_path, tiny_pipelines):
    (tmp_path / "test.en").write_text("a\nb\n")
    (tmp_path / "test.de").write_text("a\n")
    (problem,) = check_corpus(f"moses:{tmp_path}/test", "en", "de", tiny_pipelines, on_error="skip")
    assert problem.endswith("test.en:2: test.de has only 1 line: the two files are not line-aligned")


def test_a_treebank_with_a_cycle_is_found_beforehand(tmp_path):
    good = "1\tGo\tgo\tVERB\t_\t_\t0\troot\t_\t_\n"
    cycle = "1\ta\ta\tNOUN\t_\t_\t2\tx\t_\t_\n2\tb\tb\tVERB\t_\t_\t1\tx\t_\t_\n"
    (tmp_path / "en.conllu").write_text(f"{good}\n{cycle}\n")
    (tmp_path / "de.conllu").write_text(f"{good}\n{good}\n")
    spec = f"conllu:{tmp_path}/{{lang}}.conllu"
    (problem,) = check_corpus(spec, "en", "de")
    assert "en.conllu:3: " in problem
    assert check_corpus(spec, "en", "de", n=1) == check_corpus(spec, "en", "de", on_error="skip") == []
