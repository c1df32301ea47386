"""The sentences of the mixture "general" are frozen: trained models and published results hang on them."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from sandbox_trees import described

import nbsandbox as sandbox

SIZE = 500
DIGESTS = Path(__file__).with_name("sandbox_general.tsv")


def digest(tgt: str, split: str) -> str:
    """The digest of the first pairs of English with *tgt*."""
    state = hashlib.sha256()
    for pair in sandbox.pairs("en", tgt, n=SIZE, split=split):
        state.update(described(pair).encode())
    return state.hexdigest()


@pytest.mark.thorough
@pytest.mark.parametrize(("tgt", "split", "expected"), [line.split("\t") for line in DIGESTS.read_text().splitlines()])
def test_general_is_frozen(tgt, split, expected):
    assert digest(tgt, split) == expected, "raise VERSION only if models and results may be thrown away"


def test_every_language_is_frozen():
    assert {line.split("\t")[0] for line in DIGESTS.read_text().splitlines()} == set(sandbox.LANGUAGES) - {"en"}
