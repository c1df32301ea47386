"""Dictionaries: files of MUSE's form, pinned downloads, and what word alignments give."""

from __future__ import annotations

import urllib.request
from io import BytesIO
from urllib.error import URLError

import pytest

from nbkit.errors import DataError, NbkitError
from nbkit.measure.literal import WordDictionary, fetch_muse, induced_dictionary, muse_problem, read_dictionary


def test_muse_and_tsv(tmp_path):
    path = tmp_path / "en-fr.txt"
    path.write_text("the le\nThe la\nthe le\nice\tse rendre\n\n# no entry\nbark aboyer\r\n", encoding="utf-8")
    words = read_dictionary(path)
    assert words.entries == {"the": ("le", "la"), "ice": ("se rendre",), "bark": ("aboyer",)}
    assert words.label.startswith("file:en-fr.")
    assert words.targets == {"le", "la", "se rendre", "aboyer"}


@pytest.mark.parametrize("line", ["alone", "the le la", "a\tb\tc", "a\t", "\tb"])
def test_a_line_with_the_wrong_number_of_fields(tmp_path, line):
    path = tmp_path / "bad.txt"
    path.write_text(f"the le\n{line}\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"bad\.txt:2: expected a word and a translation"):
        read_dictionary(path)


def test_files_that_are_no_dictionaries(tmp_path):
    (tmp_path / "latin").write_bytes(b"the le\nsummer \xe9t\xe9\n")
    with pytest.raises(DataError, match="latin:2: bad UTF-8 at byte 8"):
        read_dictionary(tmp_path / "latin")
    (tmp_path / "empty").write_text("# nothing\n", encoding="utf-8")
    with pytest.raises(DataError, match="no entry"):
        read_dictionary(tmp_path / "empty")
    with pytest.raises(NbkitError, match="cannot be read"):
        read_dictionary(tmp_path / "none")


def test_the_digest_is_of_the_entries():
    one = WordDictionary("a", "file", {"x": ("y",), "z": ("u",)})
    same = WordDictionary("a", "file", {"z": ("u",), "x": ("y",)})
    assert one.digest == same.digest != WordDictionary("a", "file", {"x": ("y",), "z": ("v",)}).digest


def test_muse_is_pinned(tmp_path, monkeypatch):
    content = b"the le\nthe la\n"
    asked = []

    def answer(request, timeout):
        asked.append((request.method, request.full_url))
        return BytesIO(content)

    monkeypatch.setattr(urllib.request, "urlopen", answer)
    assert fetch_muse("en", "fr", tmp_path).entries == {"the": ("le", "la")}
    assert muse_problem("en", "fr", tmp_path) is None
    [(method, address)] = asked
    assert method == "GET" and address.endswith("/en-fr.txt")
    assert muse_problem("en", "es", tmp_path) is None and asked[-1][0] == "HEAD"
    assert not (tmp_path / "muse-en-es.txt").exists()
    (tmp_path / "muse-en-fr.txt").write_bytes(b"the les\n")
    with pytest.raises(NbkitError, match="the file has changed"):
        fetch_muse("en", "fr", tmp_path)


def test_muse_out_of_reach(tmp_path, monkeypatch):
    def answer(request, timeout):
        raise URLError("no network")

    monkeypatch.setattr(urllib.request, "urlopen", answer)
    with pytest.raises(NbkitError, match=r"en-fr\.txt cannot be fetched .*put the file at"):
        fetch_muse("en", "fr", tmp_path)
    assert str(tmp_path / "muse-en-fr.txt") in (muse_problem("en", "fr", tmp_path) or "")


def test_induced_by_count_and_share():
    pairs = [(("Ice", "!"), ("glace", "!"))] * 8 + [(("ice",), ("verglas",))] * 3 + [(("ice",), ("rare",))] * 2
    links = [((0, 0), (1, 1))] * 8 + [((0, 0),)] * 5
    words = induced_dictionary(pairs, links, "toy")
    assert words.entries == {"ice": ("glace", "verglas")}  # ! has no letter, rare is too rare
    assert words.label.startswith("induced:toy.")
    assert induced_dictionary(pairs, links, "toy", min_share=0.5).entries == {"ice": ("glace",)}
    assert induced_dictionary(pairs, links, "toy", min_count=1).entries == {"ice": ("glace", "verglas", "rare")}
