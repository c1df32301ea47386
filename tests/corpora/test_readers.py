"""Files of pairs: what is written is read back, and what is malformed is named with file and line."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from nbkit.cli import main
from nbkit.corpora import Skipped, corpus, readers
from nbkit.corpora.readers import (
    RawPair,
    parquet_rows,
    read_coded_tsv,
    read_moses,
    read_rows,
    read_treebanks,
    read_tsv,
)
from nbkit.errors import DataError, NbkitError
from nbkit.files import keep_good
from nbkit.text.form import one_form

# Anything a line of text may hold, other Unicode line ends (U+2028, U+0085, form feed) among it.
side = st.text(
    st.characters(exclude_characters="\t\n\r\ufeff", exclude_categories=("Cs",)), min_size=1, max_size=20
).filter(lambda text: one_form(text).strip())


@given(st.lists(st.tuples(side, side), max_size=8), st.sampled_from(["\n", "\r\n"]))
def test_tsv_round_trip(tmp_path_factory, pairs, newline):
    path = tmp_path_factory.mktemp("tsv") / "pairs.tsv"
    path.write_bytes("".join(f"{source}\t{target}{newline}" for source, target in pairs).encode())
    expected = [RawPair(str(number), *pair) for number, pair in enumerate(pairs, start=1)]
    assert list(read_tsv(path)) == expected
    assert [(pair.target, pair.source) for pair in read_tsv(path, 1, 0)] == pairs


@given(st.lists(st.tuples(side, side), max_size=8), st.booleans())
def test_moses_round_trip(tmp_path_factory, pairs, last_newline):
    folder = tmp_path_factory.mktemp("moses")
    for column, lang in enumerate(("en", "de")):
        text = "\n".join(pair[column] for pair in pairs) + "\n" * (last_newline and bool(pairs))
        (folder / f"test.{lang}").write_bytes(text.encode())
    read = list(read_moses(folder / "test.en", folder / "test.de"))
    assert read == [RawPair(str(number), *pair) for number, pair in enumerate(pairs, start=1)]


MALFORMED_TSV = {
    "one column": ("only one", "expected 2 tab-separated columns, found 1"),
    "three columns": ("a\tb\tc", "expected 2 tab-separated columns, found 3"),
    "empty line": ("", "empty line"),
    "empty source": (" \tb", "the source side is empty"),
    "empty target": ("a\t\u00a0", "the target side is empty"),
    "bad UTF-8": (b"Gr\xf6\xdfe\tsize", "bad UTF-8 at byte 3 of the line; convert the file to UTF-8"),
}


@pytest.mark.parametrize("case", MALFORMED_TSV)
def test_a_malformed_line_of_a_tsv_file(tmp_path, case):
    line, reason = MALFORMED_TSV[case]
    path = tmp_path / "pairs.tsv"
    data = line if isinstance(line, bytes) else line.encode()
    path.write_bytes(b"Hi.\tHallo!\n" + data + b"\nGo.\tGeh.\n")
    with pytest.raises(DataError) as caught:
        list(keep_good(read_tsv(path), "raise", None))
    assert (caught.value.path, caught.value.line, caught.value.reason) == (str(path), 2, reason)
    skipped = Skipped()
    good = list(keep_good(read_tsv(path), "skip", skipped))
    assert [pair.id for pair in good] == ["1", "3"]
    assert [(error.path, error.line, error.reason) for error in skipped] == [(str(path), 2, reason)]


def moses(folder: Path, source: bytes, target: bytes) -> tuple[Path, Path]:
    paths = folder / "test.en", folder / "test.de"
    for path, data in zip(paths, (source, target), strict=True):
        path.write_bytes(data)
    return paths


@pytest.mark.parametrize(
    ("source", "target", "file", "reason"),
    [
        (b"a\n \nc\n", b"a\nb\nc\n", "test.en", "the source side is empty"),
        (b"a\nb\nc\n", b"a\n\nc\n", "test.de", "the target side is empty"),
        (b"a\n\xff\nc\n", b"a\nb\nc\n", "test.en", "bad UTF-8 at byte 1 of the line; convert the file to UTF-8"),
        (b"a\nb\nc\n", b"a\nx\xff\nc\n", "test.de", "bad UTF-8 at byte 2 of the line; convert the file to UTF-8"),
    ],
)
def test_a_malformed_line_of_moses_files_does_not_shift_the_others(tmp_path, source, target, file, reason):
    items = list(read_moses(*moses(tmp_path, source, target)))
    assert [item.id for item in items if isinstance(item, RawPair)] == ["1", "3"]
    (error,) = (item for item in items if isinstance(item, DataError))
    assert (error.path, error.line, error.reason) == (str(tmp_path / file), 2, reason)


@pytest.mark.parametrize(("source", "target", "longer"), [(b"a\nb\n", b"a\n", "en"), (b"a\n", b"a\nb\nc\n", "de")])
def test_moses_files_of_unequal_length_are_an_error_even_when_skipping(tmp_path, source, target, longer):
    with pytest.raises(DataError, match="has only 1 line: the two files are not line-aligned") as caught:
        list(keep_good(read_moses(*moses(tmp_path, source, target)), "skip", Skipped()))
    assert (caught.value.path, caught.value.line) == (str(tmp_path / f"test.{longer}"), 2)


def test_coded_tsv_takes_either_direction_and_leaves_other_varieties_out(tmp_path):
    path = tmp_path / "tatoeba-test.eng-zho.tsv"
    rows = [
        "eng\tcmn_Hans\tHi.\t嗨。",
        "eng\tcmn_Hant\tTry it.\t試試吧。",
        "cmn_Hans\teng\t等等！\tWait!",
        "eng\tcmn_Hans\tonly three",
        "eng\tcmn_Hans\tGo.\t",
    ]
    path.write_text("\n".join(rows), "utf-8")
    first, second, columns, empty = read_coded_tsv(path, ("eng",), ("cmn_Hans",))
    assert (first, second) == (RawPair("1", "Hi.", "嗨。"), RawPair("3", "Wait!", "等等！"))
    assert isinstance(columns, DataError) and columns.reason == "expected 4 tab-separated columns, found 3"
    assert isinstance(empty, DataError) and (empty.line, empty.reason) == (5, "the target side is empty")
    back = read_coded_tsv(path, ("cmn_Hans",), ("eng",))
    assert next(back) == RawPair("1", "嗨。", "Hi.")


def test_parquet_with_a_translation_column(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = tmp_path / "test-00000-of-00001.parquet"
    rows = [
        {"de": "Geh.", "en": "Go."},
        {"de": "", "en": "Hm."},
        {"de": None, "en": "Hm."},
        {"de": "Ja.", "en": "Yes."},
    ]
    pq.write_table(pa.table({"translation": rows}), path)
    items = list(read_rows(parquet_rows(path), path, "en", "de", ("en", "de")))
    assert [item for item in items if isinstance(item, RawPair)] == [
        RawPair("1", "Go.", "Geh."),
        RawPair("4", "Yes.", "Ja."),
    ]
    assert [str(item) for item in items if isinstance(item, DataError)] == [
        f"{path}:2: the target side is empty",
        f"{path}:3: the target side is empty",
    ]
    (first, *_) = read_rows(parquet_rows(path), path, "en", "fr", ("en", "fr"))
    assert isinstance(first, DataError) and "no translation from en into fr in columns translation" in first.reason


def test_parquet_is_read_as_it_is_asked_for(tmp_path, monkeypatch):
    """Also of a file of one row group, only so many rows are made at a time."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    monkeypatch.setattr(readers, "PARQUET_ROWS", 2)
    path = tmp_path / "five.parquet"
    pq.write_table(pa.table({"n": range(5)}), path, row_group_size=5)
    read = []

    class File(pq.ParquetFile):
        def iter_batches(self, *args, **options):
            for batch in super().iter_batches(*args, **options):
                read.append(batch.num_rows)
                yield batch

    monkeypatch.setattr(pq, "ParquetFile", File)
    rows = readers.parquet_rows(path)
    assert next(rows) == (1, {"n": 0}) and read == [2]
    assert list(rows) == [(number, {"n": number - 1}) for number in range(2, 6)] and read == [2, 2, 1]


def test_a_file_that_is_no_parquet(tmp_path):
    path = tmp_path / "no.parquet"
    path.write_text("text")
    with pytest.raises(NbkitError, match=r"no\.parquet cannot be read as Parquet"):
        list(read_rows(parquet_rows(path), path, "en", "de", ("en", "de")))


def treebank(path: Path, *sentences: tuple[str | None, str]) -> Path:
    blocks = []
    for identifier, word in sentences:
        comment = f"# sent_id = {identifier}\n" if identifier else ""
        blocks.append(f"{comment}1\t{word}\t_\t{'INTJ' if word.isalpha() else '?'}\t_\t_\t0\troot\t_\t_\n\n")
    path.write_text("".join(blocks), "utf-8")
    return path


def read_two(folder, left, right):
    paths = treebank(folder / "en.conllu", *left), treebank(folder / "de.conllu", *right)
    return list(read_treebanks(*paths, "en", "de"))


def test_two_treebanks_with_the_same_sentences(tmp_path):
    first, second = read_two(tmp_path, [("a", "Hi"), ("b", "Go")], [("a", "Hallo"), ("b", "Geh")])
    assert (first.id, first.source.text, first.target.text) == ("a", "Hi", "Hallo")
    assert (first.source.lang, first.target.lang) == ("en", "de")
    assert second.id == "b"


def test_treebanks_with_ids_of_their_own_go_by_position(tmp_path):
    pairs = read_two(tmp_path, [("en-1", "Hi"), ("en-2", "Go")], [("de-1", "Hallo"), (None, "Geh")])
    assert [pair.id for pair in pairs] == ["en-1", "en-2"]


def test_a_malformed_sentence_leaves_out_its_pair_and_shifts_nothing(tmp_path):
    pairs = read_two(tmp_path, [("a", "Hi"), ("b", "?"), ("c", "No")], [("a", "Hallo"), ("b", "Geh"), ("c", "Nein")])
    assert isinstance(pairs[1], DataError) and (pairs[1].path, pairs[1].line) == (str(tmp_path / "en.conllu"), 5)
    assert (pairs[2].source.text, pairs[2].target.text) == ("No", "Nein")


def test_treebanks_that_have_shifted_are_an_error(tmp_path):
    with pytest.raises(DataError, match=r"de.conllu:4: sentence 'c' is paired with 'b' of en.conllu"):
        read_two(tmp_path, [("a", "Hi"), ("b", "Go")], [("a", "Hallo"), ("c", "Nein")])


def test_treebanks_of_unequal_length_are_an_error(tmp_path):
    with pytest.raises(DataError, match=r"en.conllu:4: de.conllu has only 1 sentence: the two files are not aligned"):
        read_two(tmp_path, [("a", "Hi"), ("b", "Go")], [("a", "Hallo")])


def test_a_file_that_cannot_be_read(tmp_path):
    with pytest.raises(NbkitError, match=r"file .*none.tsv cannot be read: No such file"):
        list(read_tsv(tmp_path / "none.tsv"))


def test_skipped_lists_what_it_left_out():
    skipped = Skipped([DataError("empty", "f.tsv", number) for number in range(1, 13)])
    assert skipped.summary(2) == "12 entries skipped:\n  f.tsv:1: empty\n  f.tsv:2: empty\n  … and 10 more"
    assert Skipped().summary() == "nothing skipped"
    assert [error.line for error in skipped][-1] == 12


FAIRSEQ = """INFO | fairseq_cli.generate | loaded
S-1\tThe ca@@ t sleeps .
T-1\tDie Katze schläft .
H-1\t-0.37\tDie Ka@@ tze schläft .
D-1\t-0.37\tDie Katze schläft.
P-1\t-0.1 -0.2
S-0\tA dog .
T-0\tEin Hund .
H-0\t-0.1\tEin Hund .
H-0\t-0.5\tHund .
Generate test with beam=5: BLEU4 = 30
"""
WMT25 = (
    '{"src_lang": "en", "tgt_lang": "de_DE", "src_text": "A dog.\\n\\nA cat.", "refs": {"refA": {"ref": "Ein Hund.'
    '\\n\\nEine Katze."}}, "tgt_text": {"GPT": "Hund.", "A/B": "Katze."}}\n'
    '{"src_lang": "en", "tgt_lang": "cs_CZ", "src_text": "A dog.", "refs": {"refA": {"ref": "Pes."}}}\n'
)


@pytest.mark.parametrize(
    ("name", "text", "pairs"),
    [
        ("fairseq:{}/gen.log", FAIRSEQ,
         [("1", "A dog .", "Ein Hund ."), ("2", "The cat sleeps .", "Die Katze schläft .")]),
        ("{}/wmt25.jsonl", WMT25, [("1", "A dog.  A cat.", "Ein Hund.  Eine Katze.")]),
        ("{}/pp.jsonl",
         '{"lp": "en-de_DE", "source": "A", "target": "B"}\n\n{"lp": "en-sv_SE", "source": "A", "target": "C"}',
         [("1", "A", "B")]),
        ("{}/list.json", '[{"en": "A", "de": "B"}, {"translation": {"de": "D", "en": "C"}}]',
         [("1", "A", "B"), ("2", "C", "D")]),
        ("json:{}/x", '{"src": "A", "ref": "B", "id": 3}', [("1", "A", "B")]),
    ],
)  # fmt: skip
def test_formats_of_other_tools_are_corpora(tmp_path, name, text, pairs):
    """Other directions of one file are passed over, empty lines are no rows, the best hypothesis is the first."""
    (tmp_path / Path(name).name).write_text(text)
    found, _ = corpus.find_corpus(name.format(tmp_path))
    assert list(found.raw_pairs(corpus.Request("en", "de"))) == [RawPair(*pair) for pair in pairs]


def test_half_a_surrogate_pair_is_named_by_its_line(tmp_path):
    (tmp_path / "s.jsonl").write_text('{"source": "A", "target": "B"}\n{"source": "A \\ud83d", "target": "B"}\n')
    found, _ = corpus.find_corpus(str(tmp_path / "s.jsonl"))
    assert [str(each) for each in found.raw_pairs(corpus.Request("en", "de")) if isinstance(each, DataError)] == [
        f"{tmp_path}/s.jsonl:2: half a surrogate pair, which cannot be stored or shown"
    ]


def test_files_that_end_lines_in_a_bare_carriage_return_are_named(tmp_path):
    (tmp_path / "cr.tsv").write_bytes(b"a\tb\rc\td\r")
    [problem] = read_tsv(tmp_path / "cr.tsv")
    assert "cr.tsv:1: its lines end in a bare carriage return" in str(problem)


def test_treebanks_of_different_length_are_known_before_the_shorter_ends(tmp_path):
    treebank(tmp_path / "x.en.conllu", ("1", "Hi"), ("2", "Go"), ("3", "So"))
    treebank(tmp_path / "x.de.conllu", ("1", "Da"), ("2", "Geh"))
    problems = corpus.check_corpus(f"conllu:{tmp_path}/x.{{lang}}.conllu", "en", "de", n=1)
    assert problems == [f"{tmp_path}/x.de.conllu: 2 sentences for the 3 of x.en.conllu: the two files are not aligned"]


def test_logs_and_json_become_files_of_lines(tmp_path):
    """A file for each system; `outputs:` and `moses:` read them. A row that lacks one is named."""
    (tmp_path / "gen.log").write_text(FAIRSEQ)
    (tmp_path / "wmt.jsonl").write_text(WMT25)
    assert readers.lines_of(tmp_path / "gen.log", "en", "de") == {
        "source.en": ["A dog .", "The cat sleeps ."],
        "reference.de": ["Ein Hund .", "Die Katze schläft ."],
        "gen.de": ["Ein Hund .", "Die Katze schläft."],
    }
    imported = CliRunner().invoke(
        main, ["import", str(tmp_path / "wmt.jsonl"), str(tmp_path / "out"), "--pair", "en-de"]
    )
    assert imported.exit_code == 0, imported.output
    assert {path.name: path.read_text() for path in (tmp_path / "out").iterdir()} == {
        "source.en": "A dog.  A cat.\n", "reference.de": "Ein Hund.  Eine Katze.\n", "GPT.de": "Hund.\n",
        "A_B.de": "Katze.\n",
    }  # fmt: skip
    (tmp_path / "gap.jsonl").write_text('{"source": "A", "hypothesis": "B"}\n{"source": "A"}\n')
    with pytest.raises(DataError, match=r"gap.jsonl:2: it has source.en; expected source.en, gap.de"):
        readers.lines_of(tmp_path / "gap.jsonl", "en", "de")
