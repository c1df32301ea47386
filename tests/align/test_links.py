"""Links: Pharaoh's format, projection and symmetrisation."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbkit.errors import DataError, NbkitError
from nbkit.measure.aligners import (
    linked_tokens,
    load_aligner,
    pairs_digest,
    read_pharaoh,
    symmetrise,
)
from tests.align.pharaoh import write_pharaoh

LINKS = st.sets(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=20)
FORWARD = st.dictionaries(st.integers(0, 7), st.integers(0, 7)).map(lambda of: {(s, t) for t, s in of.items()})
BACKWARD = st.dictionaries(st.integers(0, 7), st.integers(0, 7)).map(lambda of: set(of.items()))


@given(st.lists(LINKS, max_size=5))
def test_pharaoh_files_come_back_as_they_were_written(tmp_path_factory, alignments):
    path = write_pharaoh(alignments, tmp_path_factory.mktemp("links") / "corpus.align")
    assert list(read_pharaoh(path)) == [tuple(sorted(links)) for links in alignments]


@pytest.mark.parametrize("field", ["1", "1:2", "1-", "-1-2", "1-2-3", "a-b", "1 - 2", "1p2", "²-1"])
def test_a_malformed_line_is_named_with_file_and_line(tmp_path, field):
    path = tmp_path / "bad.align"
    path.write_text(f"0-0 1-1\n0-0 {field}\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"bad\.align:2: .* is not a link; source-target expected"):
        list(read_pharaoh(path))


def test_no_file_and_no_text_are_named(tmp_path):
    with pytest.raises(NbkitError, match=r"Pharaoh-format file .*nowhere\.align cannot be read"):
        list(read_pharaoh(tmp_path / "nowhere.align"))
    (tmp_path / "binary.align").write_bytes(b"\xff\xfe0-0")
    with pytest.raises(DataError, match=r"binary\.align"):
        list(read_pharaoh(tmp_path / "binary.align"))


@given(LINKS, st.integers(0, 7), st.integers(1, 3))
def test_projection_is_what_the_links_say(links, start, width):
    phrase = range(start, start + width)
    assert linked_tokens(links, phrase) == tuple(t for t in range(8) if any((s, t) in links for s in phrase))


@pytest.mark.parametrize("link", [(2, 0), (0, 1)])
def test_links_outside_the_texts(tmp_path, link):
    aligner = load_aligner(f"pharaoh:{write_pharaoh([{link}], tmp_path / 'one.align')}", "en", "de")
    with pytest.raises(
        DataError, match=r"one\.align:1: link .* points outside its texts of 2 and 1 tokens: 'a b', 'c'"
    ):
        list(aligner.align([(["a", "b"], ["c"])]))


def test_the_digest_sees_every_boundary():
    corpora = [
        [(("a", "b"), ("c",))],
        [(("a",), ("b", "c"))],
        [(("ab",), ("c",))],
        [(("a", "b"), ("c",)), ((), ())],
        [(("c",), ("a", "b"))],
    ]
    assert len({pairs_digest(corpus) for corpus in corpora}) == len(corpora)


# ---- symmetrisation


def test_grow_diag_final_and_step_by_step():
    """A matrix worked by hand: * both directions, f and b one of them.

    . 0 1 2 3 4      1-0 and 0-1 are beside 0-0 and 1-1, whose words are linked already: left out.
    0 * f . . .      2-2 is beside 1-1, and its words are free: grown.
    1 b * . . .      3-4 is beside nothing, its words are free: final-and takes it.
    2 . . f . .      4-4 then has a linked target word: left out.
    3 . . . . f
    4 . . . . b
    """
    both = {(0, 0), (1, 1)}
    forward, backward = both | {(0, 1), (2, 2), (3, 4)}, both | {(1, 0), (4, 4)}
    assert set(symmetrise(forward, backward)) == both | {(2, 2), (3, 4)}


@given(FORWARD, BACKWARD)
def test_symmetrised_links_lie_between_intersection_and_union(forward, backward):
    links = set(symmetrise(forward, backward))
    assert forward & backward <= links <= forward | backward
    sources, targets = ({link[side] for link in links} for side in (0, 1))
    assert all(s in sources or t in targets for s, t in forward | backward)  # what is left out has a linked word


@given(FORWARD)
def test_directions_that_agree_are_the_alignment(links):
    assert set(symmetrise(links, links)) == links
