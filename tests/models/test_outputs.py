"""Translations that exist already: files that fit their sources, and all the ways in which they do not."""

from __future__ import annotations

import pytest

from nbkit.errors import ModelError
from nbkit.models import Decoding, label
from nbkit.models.services.outputs import MissingOutputsError, read_lines
from nbkit.store import Store
from tests.models.by_name import check_model, model_identity, remote, translate_remembered, translation_config

SOURCES = [f"Line {n} has {n * 7} words{' and more' * (n % 5)}." for n in range(1, 121)]
LINES = [f"Zeile {n} hat {n * 7} Wörter{' und mehr' * (n % 5)}." for n in range(1, 121)]


@pytest.fixture
def files(tmp_path):
    """Writes sources and what a system made of them, as bytes or lines; the system's name."""

    def made(lines: list[str] | bytes, sources: list[str] = SOURCES) -> str:
        (tmp_path / "source.en").write_text("\n".join(sources) + "\n", encoding="utf-8")
        data = lines if isinstance(lines, bytes) else ("\n".join(lines) + "\n").encode()
        (tmp_path / "mine.de").write_bytes(data)
        return f"outputs:{tmp_path}/mine.{{tgt}}"

    return made


def translate(name, texts, store=None):
    return translate_remembered(
        name, texts, "en", "de", Decoding(), store=store or Store("memory://outputs"), progress=False
    )


def test_lines_are_found_by_their_sources(files, tmp_path):
    """In any order; nothing is stored."""
    name = files(LINES)
    store = Store(str(tmp_path / "store"))
    assert translate(name, [SOURCES[5], "", SOURCES[0], f"  {SOURCES[5]} "], store) == [
        LINES[5],
        "",
        LINES[0],
        LINES[5],
    ]
    assert list(store.all_records(translation_config(name, "en", "de", Decoding()))) == []
    assert check_model(name, "en", "de") is None and label(name) == "mine"


@pytest.mark.parametrize(
    "data",
    [
        "\n".join(LINES).encode(),
        "\r\n".join([*LINES, ""]).encode(),
        ("\ufeff" + "\n".join([*LINES, ""])).encode(),
        "\n".join(["", *LINES[1:], ""]).encode(),
    ],
    ids=["no last line break", "CRLF", "byte-order mark", "an empty line"],
)
def test_what_editors_do_to_files_is_forgiven(files, data):
    assert translate(files(data), SOURCES[1:]) == LINES[1:]


def test_a_text_without_a_translation_is_named(files):
    message = (
        "no translation en→de of 2 of 3 texts, such as 'Another.'; not measurable with outputs alone: a file answers"
    )
    with pytest.raises(MissingOutputsError, match=message):
        translate(files(LINES), [SOURCES[0], "Another.", "More."])


FAULTS = {
    "a line missing": (
        LINES[:50] + LINES[51:],
        r"mine.de:5\d: 119 lines for the 120 .*: 1 line missing; the first .* about 5",
    ),
    "ten too many": ([*LINES, *["x"] * 10], r"mine.de:121: 130 lines for the 120 .*10 lines too many"),
    "one exchanged for another": (
        LINES[:50] + LINES[51:] + ["x"],
        r"mine.de:5\d: from here on the lines fit the sources 1 line later",
    ),
    "one put in": (
        [*LINES[:50], "x", *LINES[50:-1]],
        r"mine.de:5\d: from here on the lines fit the sources 1 line earlier",
    ),
    "two exchanged": (
        [*LINES[:50], LINES[51], LINES[50], *LINES[52:]],
        r"mine.de:51: lines 51 and 52 are exchanged: each fits the other's source in .*source.en",
    ),
    "empty": (b"", "mine.de: empty, but .*source.en has 120 lines"),
    "latin-1": ("\n".join(LINES).encode("latin-1"), "mine.de:1: bad UTF-8 at byte 16 of the line"),
    "NUL": ("\n".join([*LINES[:9], "\x00", *LINES[10:]]).encode(), "mine.de:10: a NUL character"),
}


@pytest.mark.parametrize(("lines", "message"), FAULTS.values(), ids=FAULTS)
def test_files_that_do_not_fit_name_file_and_line(files, lines, message):
    name = files(lines)
    with pytest.raises(ModelError, match=message):
        translate(name, SOURCES[:1])
    assert name in (check_model(name, "en", "de") or "")


def test_what_is_no_fault_of_a_file_is_its_translation(files):
    """Another language, the source itself, HTML, one line for all: what a system wrote, as it is."""
    french = [f"La ligne {n} a {n * 7} mots{' et plus' * (n % 5)}." for n in range(1, 121)]
    html = [f"<p class='x'>{line}</p><script>alert(1)</script>&nbsp;" for line in LINES]
    for lines in (french, SOURCES, html, ["..."] * 120, [""] * 120):
        name = files(lines)
        assert check_model(name, "en", "de") is None
        assert translate(name, SOURCES) == lines


def test_a_file_that_is_a_folder_holds_no_round(tmp_path, files):
    name = files(LINES)
    (tmp_path / "mine.de").unlink()
    (tmp_path / "mine.de").mkdir()
    with pytest.raises(MissingOutputsError, match="no translation en→de of 120 of 120 texts"):
        translate(name, SOURCES)
    with pytest.raises(ModelError, match=r"no source file .*source\.en.*; say which one"):
        (tmp_path / "mine.de").rmdir()
        (tmp_path / "mine.de").write_text("x\n", encoding="utf-8")
        (tmp_path / "source.en").unlink()
        (tmp_path / "source.en").mkdir()
        translate(name, SOURCES)


def test_a_page_says_what_lines_hold(files, tmp_path):
    """How many are empty, and sources that occur again with another translation, of which the first one counts."""
    found = remote(files(["", *LINES[1:]], [SOURCES[1], *SOURCES[1:]]), "en", "de")
    assert found.remark == (
        "en→de: 120 lines, 1 empty, 1 repeat a source with another translation: the first one counts"
    )
    for number in (1, 2):
        (tmp_path / f"{number}.en-de.en").write_text(f"{SOURCES[number]}\n", encoding="utf-8")
        (tmp_path / f"{number}.en-de.de").write_text(f"{LINES[number]}\n", encoding="utf-8")
    found = remote(f"outputs:{tmp_path}", "en", "de")
    assert found.remark == "en→de: round 2, 2 lines, 0 empty"
    (tmp_path / "2.en-de.de").write_text("x\ny\n", encoding="utf-8")
    assert found.remark is None  # `problem` says why


def test_places_that_are_not_there(tmp_path, files):
    assert "no file or folder" in (check_model(f"outputs:{tmp_path}/x.de", "en", "de") or "")
    (tmp_path / "alone").mkdir()
    (tmp_path / "alone/deep").mkdir()
    (tmp_path / "alone/deep/x.de").write_text("x\n", encoding="utf-8")
    assert "no source file" in (check_model(f"outputs:{tmp_path}/alone/deep/x.de", "en", "de") or "")
    for name in (f"outputs:{tmp_path}/*.de", f"outputs:{tmp_path}/*.de?source={tmp_path}/source.en"):
        assert "* stands for several systems in a run file alone" in (check_model(name, "en", "de") or "")
    assert "NBKIT_NO_SUCH" in (check_model("outputs:${NBKIT_NO_SUCH}/x.de", "en", "de") or "")
    assert "write outputs:FILE" in (check_model("outputs:", "en", "de") or "")
    name = files(LINES).replace("mine", "mine") + f"?source={tmp_path}/source.en"
    assert check_model(name, "en", "de") is None


def test_identity_follows_the_content(files, tmp_path):
    first = model_identity(files(LINES), "en", "de")
    assert model_identity(files(LINES), "en", "de") == first
    assert model_identity(files(["x", *LINES[1:]]), "en", "de") != first


def test_rounds_of_a_folder(tmp_path):
    """Each round adds what the one before lacked."""
    for number, texts in (("1", SOURCES[:3]), ("2", ["New."])):
        (tmp_path / f"{number}.en-de.en").write_text("\n".join(texts) + "\n", encoding="utf-8")
    name = f"outputs:{tmp_path}"
    with pytest.raises(MissingOutputsError, match=r"/1.en-de.de is missing: write the translations of 1.en-de.en"):
        translate(name, SOURCES[:1])
    (tmp_path / "1.en-de.de").write_text("\n".join(LINES[:3]) + "\n", encoding="utf-8")
    assert translate(name, SOURCES[:3]) == LINES[:3]
    with pytest.raises(MissingOutputsError, match=r"of 1 of 2 texts, such as 'New.'; .*/2.en-de.de is missing"):
        translate(name, ["New.", SOURCES[0]])
    (tmp_path / "2.en-de.de").write_text("Neu.\n", encoding="utf-8")
    assert translate(name, [SOURCES[1], "New."]) == [LINES[1], "Neu."]
    with pytest.raises(MissingOutputsError, match=f"'nbkit sources RUN.yaml {tmp_path}' writes what a run needs"):
        translate(name, ["Newer."])


def test_lines_of_unicode_separators_are_one(tmp_path):
    path = tmp_path / "x.de"
    path.write_text("a\u2028b\x0cc\nd\n", encoding="utf-8")
    assert read_lines(path) == ["a\u2028b\x0cc", "d"]
