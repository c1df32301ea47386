"""What holds of every tree of the sandbox, whatever the mixture."""

from __future__ import annotations

from nbsandbox.sentences import ROOT, Pair, Sentence

UPOS = frozenset(
    {
        "ADJ",
        "ADP",
        "ADV",
        "AUX",
        "CCONJ",
        "DET",
        "INTJ",
        "NOUN",
        "NUM",
        "PART",
        "PRON",
        "PROPN",
        "PUNCT",
        "SCONJ",
        "VERB",
    }
)
RELATIONS = frozenset(
    {"acl", "advcl", "advmod", "amod", "aux", "case", "cc", "ccomp", "clf", "compound", "conj", "cop", "det"}
    | {"discourse", "expl", "fixed", "iobj", "mark", "nmod", "nsubj", "nummod", "obj", "obl", "punct", "root", "xcomp"}
)


def check_tree(sentence: Sentence) -> None:
    """A projective tree with one root, no cycle and universal labels."""
    heads = sentence.heads
    assert heads is not None and sentence.upos is not None and sentence.deprels is not None
    assert heads.count(ROOT) == 1
    assert all(reaches_root(heads, token) for token in range(len(heads))), sentence.joined
    assert is_projective(heads), sentence.joined
    assert [r == "root" for r in sentence.deprels] == [h == ROOT for h in heads], sentence.joined
    assert set(sentence.upos) <= UPOS
    assert {relation.partition(":")[0] for relation in sentence.deprels} <= RELATIONS, sentence.deprels
    assert all(sentence.lemmas or ()) and all(sentence.tokens)


def is_projective(heads: tuple[int, ...]) -> bool:
    """No two arcs cross."""
    arcs = [(min(d, h), max(d, h)) for d, h in enumerate(heads) if h != ROOT]
    return not any(a < c < b < d for a, b in arcs for c, d in arcs)


def reaches_root(heads: tuple[int, ...], token: int) -> bool:
    """Whether the heads lead from *token* to the root."""
    for _ in heads:
        if heads[token] == ROOT:
            return True
        token = heads[token]
    return False


def described(pair: Pair) -> str:
    """All that a pair holds, as one line."""
    sentences = [
        (s.tokens, s.spaces, s.upos, s.heads, s.deprels, s.lemmas, s.feats)
        for text in (pair.source, pair.target)
        for s in text.sentences
    ]
    return repr((pair.id, sentences, pair.alignment, pair.note))
