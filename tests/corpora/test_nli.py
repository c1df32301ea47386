"""NLI sets: what is read, what is left out, what is refused, and that labels are never guessed."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from nbkit.corpora import Skipped
from nbkit.corpora.nli import (
    LABELS,
    NLI_CORPORA,
    check_nli,
    find_nli,
    load_nli,
    nli_identity,
    nli_tokenizer,
    raw_nli,
)
from nbkit.errors import DataError, MissingExtraError, NbkitError, UnknownNameError
from nbkit.store import Store

PLAIN = {"en": "tokenizer", "zh": "tokenizer"}
ROWS = [
    ("A man couldn't sleep.", "A man slept.", "contradiction"),
    ('Tom said "go".', "Tom spoke.", "entailment"),
    ("A dog runs.", "A big dog runs.", "neutral"),
]


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("NBKIT_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def tsv(tmp_path) -> Path:
    return write(tmp_path / "mine.tsv", ["premise\thypothesis\tlabel", *("\t".join(row) for row in ROWS)])


def write(path: Path, lines: list[str]) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return path


def test_a_tsv_is_read_as_it_stands(tsv):
    assert list(raw_nli(str(tsv), "en")) == ROWS
    pairs = list(load_nli(str(tsv), "en", parsers=PLAIN))
    assert [(p.premise.text, p.hypothesis.text, p.label) for p in pairs] == ROWS
    assert [p.id for p in pairs] == ["2", "3", "4"]  # lines of the file; the header is line 1
    assert pairs[0].premise.tokens == ("A", "man", "could", "n't", "sleep", ".")
    assert pairs[1].premise.joined == 'Tom said " go " .'
    assert {p.premise.lang for p in pairs} == {"en"}


@pytest.mark.parametrize(
    ("premise", "hypothesis", "label"),
    [("sentence1", "sentence2", "gold_label"), ("sentence_A", "sentence_B", "entailment_judgment")],
)
def test_columns_are_recognised_by_the_names_that_published_sets_use(tmp_path, premise, hypothesis, label):
    lines = [f"{label}\tother\t{premise}\t{hypothesis}", *(f"{row[2].upper()}\tx\t{row[0]}\t{row[1]}" for row in ROWS)]
    assert list(raw_nli(str(write(tmp_path / "set.txt", lines)), "en")) == ROWS


def test_columns_can_be_named(tmp_path):
    path = write(tmp_path / "odd.tsv", ["a\tb\tc", "x\ty\te"])
    with pytest.raises(DataError, match=r"odd.tsv:2: no premise column among a, b, c; name the columns"):
        next(raw_nli(str(path), "en"))
    assert list(raw_nli(f"{path}?premise=a&hypothesis=b&label=c", "en")) == [("x", "y", "entailment")]
    with pytest.raises(DataError, match="no label column 'd' among a, b, c"):
        next(raw_nli(f"{path}?premise=a&hypothesis=b&label=d", "en"))
    with pytest.raises(UnknownNameError, match="did you mean 'hypothesis'"):
        find_nli(f"{path}?hypotesis=b")


def test_integers_are_labels_only_where_their_order_is_stated(tmp_path):
    lines = [json.dumps({"premise": "x", "hypothesis": "y", "label": label}) for label in (0, 1, 2)]
    path = write(tmp_path / "numbers.jsonl", lines)
    with pytest.raises(DataError, match=r":1: label '0' is not one of .*classes=entailment,neutral,contradiction"):
        next(raw_nli(str(path), "en"))
    order = "contradiction,entailment,neutral"
    assert [label for *_, label in raw_nli(f"{path}?classes={order}", "en")] == order.split(",")
    with pytest.raises(NbkitError, match="in the order of the file's integers"):
        find_nli(f"{path}?classes=entailment,contradiction")


def test_rows_without_a_gold_label_are_left_out_and_counted(tmp_path):
    labels = ["neutral", "-", -1, None, "", "entailment"]
    lines = [json.dumps({"premise": "x", "hypothesis": "y", "label": label}) for label in labels]
    skipped = Skipped()
    found = list(raw_nli(str(write(tmp_path / "mixed.jsonl", lines)), "en", skipped=skipped))
    assert [label for *_, label in found] == ["neutral", "entailment"]
    assert [error.line for error in skipped] == [2, 3, 4, 5]
    assert "no gold label ('-')" in skipped.summary()


BAD = {
    "columns": ("only one column", "expected 3 tab-separated columns, found 1"),
    "premise": (" \thello\tneutral", "the premise is empty"),
    "hypothesis": ("hello\t\tneutral", "the hypothesis is empty"),
    "label": ("a\tb\tmaybe", "label 'maybe' is not one of entailment, neutral, contradiction"),
}


@pytest.mark.parametrize("kind", BAD)
def test_a_malformed_row_is_named_by_file_and_line(tsv, kind):
    line, reason = BAD[kind]
    tsv.write_text(tsv.read_text("utf-8") + f"{line}\na b c\td\tneutral\n", "utf-8")
    with pytest.raises(DataError) as caught:
        list(load_nli(str(tsv), "en", parsers=PLAIN))
    assert str(caught.value).startswith(f"{tsv}:5: {reason}")
    skipped = Skipped()
    pairs = list(load_nli(str(tsv), "en", parsers=PLAIN, on_error="skip", skipped=skipped))
    assert len(pairs) == 4 and len(skipped) == 1
    # what was left out counts towards neither n nor start
    again = list(load_nli(str(tsv), "en", parsers=PLAIN, on_error="skip", n=1, start=3))
    assert again == pairs[3:]


def test_broken_json_and_bad_utf8_are_named(tmp_path):
    path = tmp_path / "bad.jsonl"
    path.write_bytes(b'{"premise": "x"\n[1]\n\xff\n')
    skipped = Skipped()
    assert list(raw_nli(str(path), "en", on_error="skip", skipped=skipped)) == []
    reasons = [error.reason for error in skipped]
    assert (
        reasons[0].startswith("invalid JSON")
        and reasons[1].startswith("a JSON object is expected")
        and "UTF-8" in reasons[2]
    )


def test_parquet_with_integer_classes(tmp_path):
    pd = pytest.importorskip("pandas")
    path = tmp_path / "set.parquet"
    pd.DataFrame(
        [(p, h, LABELS.index(label)) for p, h, label in ROWS], columns=["premise", "hypothesis", "label"]
    ).to_parquet(path)
    assert list(raw_nli(f"{path}?classes={','.join(LABELS)}", "en")) == ROWS


def test_any_part_is_the_same_part(tsv):
    everything = list(load_nli(str(tsv), "en", parsers=PLAIN))
    assert [p for start in range(3) for p in load_nli(str(tsv), "en", parsers=PLAIN, start=start, n=1)] == everything


def test_a_pipeline_tags_parts_of_speech_and_its_parses_are_remembered(tsv, tmp_path, tiny_pipelines, monkeypatch):
    store = Store(tmp_path / "store")
    pairs = list(load_nli(str(tsv), "en", parsers=tiny_pipelines, store=store))
    assert all(sentence.upos for pair in pairs for sentence in (*pair.premise.sentences, *pair.hypothesis.sentences))
    monkeypatch.setattr("nbkit.text.parsers.load_parser", lambda *_: pytest.fail("parsed again"))
    assert list(load_nli(str(tsv), "en", parsers=tiny_pipelines, store=store)) == pairs


def test_the_identity_follows_content_tokenizer_and_columns(tsv, tiny_pipelines):
    plain = nli_identity(str(tsv), "en", parsers=PLAIN)
    assert plain == nli_identity(str(tsv), "en", parsers=PLAIN)
    assert plain != nli_identity(str(tsv), "en", parsers=tiny_pipelines)
    assert plain != nli_identity(f"{tsv}?label=label", "en", parsers=PLAIN)
    assert plain != nli_identity(str(tsv), "en", parsers=PLAIN, n=2)
    tsv.write_text(tsv.read_text("utf-8").replace("dog", "cat"), "utf-8")
    assert plain != nli_identity(str(tsv), "en", parsers=PLAIN)


def test_chinese_without_a_pipeline_is_cut_into_characters(tmp_path):
    path = write(tmp_path / "zh.tsv", ["premise\thypothesis\tlabel", "他喜欢狗\t他不喜欢猫\tneutral"])
    (pair,) = load_nli(str(path), "zh", parsers=PLAIN)
    assert pair.premise.tokens == ("他", "喜", "欢", "狗") and pair.premise.joined == "他喜欢狗"
    assert nli_tokenizer(str(path), "zh", PLAIN) == ("tokenizer", False)


def test_jieba_cuts_chinese_words(tmp_path):
    pytest.importorskip("jieba")
    path = write(tmp_path / "zh.tsv", ["premise\thypothesis\tlabel", "他喜欢狗\t他不喜欢猫\tneutral"])
    (pair,) = load_nli(str(path), "zh", parsers={"zh": "jieba"})
    assert "喜欢" in pair.premise.tokens


def test_problems_are_reported_before_anything_is_read(tmp_path, monkeypatch):
    monkeypatch.delenv("NBKIT_DATA", raising=False)
    assert "did you mean 'ocnli'" in check_nli("ocnly", "zh")[0]
    assert "has no 'de'; it has en" in check_nli("sick", "de", parsers={"de": "tokenizer"})[0]
    assert "NBKIT_DATA is not set" in check_nli("sick", "en", parsers=PLAIN)[0]
    assert "unknown split of NLI corpus sick 'tets'" in check_nli("sick:tets", "en", parsers=PLAIN)[0]
    assert "is unbounded: set n" in check_nli("sandbox", "en")[0]
    assert "no such file" in check_nli(str(tmp_path / "none.tsv"), "en", parsers=PLAIN)[0]
    assert (
        "jieba' segments Chinese" in check_nli(str(write(tmp_path / "a.tsv", ["x"])), "en", parsers={"en": "jieba"})[-1]
    )
    for spec, error in {"no/such": NbkitError, "sick:": NbkitError, "nothing": UnknownNameError}.items():
        with pytest.raises(error):
            find_nli(spec)
    with pytest.raises(NbkitError, match="n is 0"):
        load_nli("sick", "en", n=0)
    with pytest.raises(MissingExtraError, match="no_such_pipeline"):
        nli_identity(str(write(tmp_path / "b.tsv", ["x"])), "en", parsers={"en": "no_such_pipeline"})


def test_every_named_set_says_its_classes_in_the_publishers_order():
    """The order in which the hub's copies number the classes: entailment 0, neutral 1, contradiction 2."""
    for name in ("mnli", "mnli-mm", "snli", "anli-r1", "anli-r2", "anli-r3"):
        corpus = NLI_CORPORA.get(name)
        assert corpus.classes == LABELS and len(corpus.place.revision) == 40
    assert {name: corpus.splits[0] for name in NLI_CORPORA if (corpus := NLI_CORPORA.get(name))} == {
        "sandbox": "test", "sick": "test", "ocnli": "dev", "mnli": "dev", "mnli-mm": "dev", "snli": "test",
        "anli-r1": "dev", "anli-r2": "dev", "anli-r3": "dev",
    }  # fmt: skip
    assert NLI_CORPORA.get("anli-r2").place.template == "plain_text/{split}_r2-00000-of-00001.parquet"


def test_the_sandbox_is_a_set_like_any_other():
    pairs = list(load_nli("sandbox", "en", n=60))
    assert {pair.label for pair in pairs} == set(LABELS)
    assert all(sentence.upos for pair in pairs for sentence in pair.premise.sentences)
    assert list(load_nli("sandbox", "en", n=20, start=40)) == pairs[40:]
    assert list(raw_nli("sandbox", "en", n=2))[1] == (pairs[1].premise.text, pairs[1].hypothesis.text, pairs[1].label)
    assert nli_identity("sandbox", "en", n=5) != nli_identity("sandbox:train", "en", n=5)
    assert nli_tokenizer("sandbox", "en") == ("gold", True)
    with pytest.raises(NbkitError, match="sandbox is unbounded: set n"):
        load_nli("sandbox", "en")
    assert "unknown sandbox language 'ta'" in check_nli("sandbox", "ta", n=3)[0]


def test_sick_and_ocnli_are_all_there(data_folder):
    """Sizes and class counts of the published files (Marelli et al. 2014; Hu et al. 2020)."""
    assert Counter(label for *_, label in raw_nli("sick", "en")) == {
        "neutral": 2793, "entailment": 1414, "contradiction": 720,
    }  # fmt: skip
    assert sum(1 for _ in raw_nli("sick:train", "en")) == 4500 and sum(1 for _ in raw_nli("sick:dev", "en")) == 500
    skipped = Skipped()
    labels = Counter(label for *_, label in raw_nli("ocnli", "zh", skipped=skipped))
    assert labels == {"neutral": 1103, "entailment": 947, "contradiction": 900} and len(skipped) == 50
    assert {error.reason for error in skipped} == {"no gold label ('-')"}
    (first,) = load_nli("sick", "en", n=1, parsers=PLAIN)
    assert first.id == "6" and first.premise.text == "There is no boy playing outdoors and there is no man smiling"


def test_rows_are_checked_beforehand(tmp_path):
    path = write(tmp_path / "a.tsv", ["premise\thypothesis\tlabel", "a\tb\tneutral", "a\t\tneutral", ""])
    (problem,) = check_nli(str(path), "en", parsers=PLAIN)
    assert problem.endswith("a.tsv:3: the hypothesis is empty or not text")
    assert check_nli(str(path), "en", parsers=PLAIN, n=1) == []
    assert check_nli(str(path), "en", parsers=PLAIN, on_error="skip") == []
    (problem,) = check_nli(str(write(tmp_path / "b.tsv", [])), "en", parsers=PLAIN, on_error="skip")
    assert "it contains no pair" in problem


def test_a_set_of_the_hub_names_the_formats_of_nli(monkeypatch):
    def unreachable(url, **options):
        raise OSError("no network")

    monkeypatch.setattr("huggingface_hub.get_hf_file_metadata", unreachable)
    monkeypatch.setattr("huggingface_hub.try_to_load_from_cache", lambda *args, **options: None)
    (problem,) = check_nli("snli", "en", parsers=PLAIN)
    assert "or give local files as the corpus (PAIRS.tsv, PAIRS.jsonl or PAIRS.parquet)" in problem
    with pytest.raises(UnknownNameError, match="unknown split of NLI corpus sandbox 'tets'"):
        load_nli("sandbox:tets", "en")
