"""Alignment by embeddings: matching against a plain reference, words from subwords, a tiny encoder end to end."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbkit.corpora.sandbox import pairs as sandbox_pairs
from nbkit.errors import ModelError
from nbkit.measure import learned as embeddings
from nbkit.measure.aligners import check_aligner, load_aligner
from nbkit.store import Store

SHAPES = st.tuples(st.integers(1, 7), st.integers(1, 7))
#: Matrices of few different values, so that many are equal.
MATRICES = SHAPES.flatmap(
    lambda shape: st.lists(
        st.lists(st.sampled_from([0.1, 0.3, 0.5, 0.7, 0.9]), min_size=shape[1], max_size=shape[1]),
        min_size=shape[0],
        max_size=shape[0],
    )
)


def mutual(similarity: dict[tuple[int, int], float], rows: int, columns: int) -> set[tuple[int, int]]:
    """Cells that are the first largest of their row and of their column."""
    links = set()
    for i in range(rows):
        j = max(range(columns), key=lambda j: (similarity[i, j], -j))
        if max(range(rows), key=lambda k: (similarity[k, j], -k)) == i:
            links.add((i, j))
    return links


def reference(matrix: list[list[float]], method: str) -> set[tuple[int, int]]:
    """SimAlign §3.1 and §3.2 cell by cell, in plain Python."""
    rows, columns = len(matrix), len(matrix[0])
    similarity = {(i, j): np.float32(matrix[i][j]) for i in range(rows) for j in range(columns)}
    links = mutual(similarity, rows, columns)
    linked_rows, linked_columns = {i for i, _ in links}, {j for _, j in links}
    is_done = len(linked_rows) == rows or len(linked_columns) == columns
    if method == "argmax" or min(rows, columns) <= 2 or is_done:
        return links
    weight = {0: np.float32(1), 1: np.float32(0.9), 2: np.float32(0)}
    taken = {(i, j): (i in linked_rows) + (j in linked_columns) for i, j in similarity}
    again = mutual({cell: value * weight[taken[cell]] for cell, value in similarity.items()}, rows, columns)
    return links | {cell for cell in again if taken[cell] < 2}


@given(MATRICES, st.sampled_from(sorted(embeddings.METHODS)))
def test_matching_is_that_of_the_paper(matrix, method):
    found = embeddings.METHODS[method](np.array(matrix, dtype=np.float32))
    assert set(map(tuple, np.argwhere(found).tolist())) == reference(matrix, method)


# ---- a tiny encoder

PAIRS = [(pair.source.tokens, pair.target.tokens) for pair in sandbox_pairs("en", "de", n=24)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A BERT with random weights and a vocabulary so small that most words are cut into pieces."""
    import torch
    from tokenizers import BertWordPieceTokenizer
    from transformers import BertConfig, BertModel, BertTokenizerFast

    path = tmp_path_factory.mktemp("encoder")
    pieces = BertWordPieceTokenizer(lowercase=False)
    pieces.train_from_iterator([" ".join(text) for pair in PAIRS for text in pair], vocab_size=150, min_frequency=1)
    pieces.save_model(str(path))
    tokenizer = BertTokenizerFast(vocab=str(path / "vocab.txt"), do_lower_case=False, model_max_length=120)
    tokenizer.save_pretrained(path)
    torch.manual_seed(3)
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
    config = BertConfig(vocab_size=len(tokenizer), max_position_embeddings=128, initializer_range=0.4, **sizes)
    BertModel(config).save_pretrained(path)
    return path


def aligner(folder, **options):
    return load_aligner(f"embeddings:{folder}", "en", "de", device="cpu", **{"layer": 2, **options})


@pytest.mark.parametrize("method", sorted(embeddings.METHODS))
def test_words_are_linked_where_their_subwords_are(folder, method):
    """One pair at a time through transformers' own slow way."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    tokenizer, network = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder).eval()
    found = list(aligner(folder, method=method).align(PAIRS, progress=False))
    cut_words = 0
    for pair, links in zip(PAIRS, found, strict=True):
        sides = []
        for words in pair:
            pieces = [(piece, place) for place, word in enumerate(words) for piece in tokenizer.tokenize(word)]
            ids = tokenizer.convert_tokens_to_ids([tokenizer.cls_token, *(p for p, _ in pieces), tokenizer.sep_token])
            with torch.no_grad():
                states = network(torch.tensor([ids]), output_hidden_states=True).hidden_states[2][0, 1:-1].numpy()
            sides.append((states / np.linalg.norm(states, axis=1, keepdims=True), [place for _, place in pieces]))
            cut_words += len(pieces) - len(words)
        (source, of_source), (target, of_target) = sides
        cells = reference(((source @ target.T + 1) / 2).tolist(), method)
        assert set(links) == {(of_source[i], of_target[j]) for i, j in cells}
    assert cut_words > 50


def test_links_do_not_depend_on_batches_or_order(folder, monkeypatch):
    whole = list(aligner(folder).align(PAIRS, progress=False))
    again = aligner(folder)
    assert list(again.align(PAIRS[::-1], progress=False)) == whole[::-1]
    assert [next(again.align([pair], progress=False)) for pair in PAIRS[:5]] == whole[:5]
    monkeypatch.setattr(embeddings, "WINDOW", 3)
    monkeypatch.setattr("nbkit.models.network.BUDGETS", {"cpu": 1})
    assert list(aligner(folder).align(PAIRS, progress=False)) == whole


def test_links_are_remembered_pair_by_pair(folder, tmp_path, monkeypatch):
    def run(pairs, **options):
        return list(aligner(folder, store=Store(tmp_path / "store"), **options).align(pairs, progress=False))

    whole = run([*PAIRS, PAIRS[0]])
    assert whole == list(aligner(folder).align([*PAIRS, PAIRS[0]], progress=False))

    def refuse(*arguments):
        raise AssertionError("a model was loaded")

    monkeypatch.setattr(embeddings, "_load_encoder", refuse)
    assert run(PAIRS[::-1]) == whole[-2::-1]
    for changed in ({"method": "argmax"}, {"layer": 1}):
        with pytest.raises(AssertionError, match="a model was loaded"):
            run(PAIRS, **changed)


def test_texts_without_words_have_no_links(folder):
    pairs = [((), ("a",)), ((" ", ""), ("a",)), (PAIRS[0][0], ("",)), PAIRS[0]]
    found = list(aligner(folder).align(pairs, progress=False))
    assert found[:3] == [(), (), ()]
    assert found[3]


def test_what_is_too_long_is_cut_with_a_warning(folder):
    long = (PAIRS[0][0] * 60, PAIRS[0][1])
    with pytest.warns(UserWarning, match="1 texts exceed the model's limit of 120 subwords"):
        (links,) = aligner(folder).align([long], progress=False)
    assert links
    assert max(source for source, _ in links) < 120


def test_models_that_cannot_align_say_why(folder, tmp_path):
    with pytest.raises(ModelError, match=r"layer: 0 .* to 2 expected, 8 given"):
        list(aligner(folder, layer=8).align(PAIRS, progress=False))
    assert "there is no folder" in check_aligner(f"embeddings:{tmp_path / 'nothing'}", "en", "de")
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "bert"}))
    assert "holds no safetensors weights" in check_aligner(f"embeddings:{tmp_path}", "en", "de")
    assert check_aligner(f"embeddings:{folder}", "en", "de") is None


def test_a_tokenizer_without_offsets_is_refused(folder, monkeypatch):
    from transformers import BertTokenizerFast

    monkeypatch.setattr(BertTokenizerFast, "is_fast", False)
    with pytest.raises(ModelError, match="has no offsets to map subwords to words"):
        list(aligner(folder).align(PAIRS, progress=False))
