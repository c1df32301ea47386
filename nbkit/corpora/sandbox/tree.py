"""Dependency trees under construction: nodes with ordered dependents, flattened into a `Sentence`."""

from __future__ import annotations

from collections.abc import Callable

from nbkit.text import ROOT, Sentence

# What a token says about a thing of the meaning. A token's address is (key of the thing + role), the same in
# every language; two tokens of a pair are aligned where they share an address. Keys are multiples of STEP.
STEP = 16
CONTENT, DET, CASE, AUX, NEGATION, MARK, CLASSIFIER, COUNT, ADJECTIVE, DEGREE, MODAL, PART = range(12)
FINAL = -1

_COMMAS = frozenset(",，、")


class Node:
    """A word with its dependents before and after it, so that every tree is projective by construction."""

    __slots__ = ("after", "before", "deprel", "feats", "form", "index", "keys", "lemma", "space", "tag", "upos")

    def __init__(self, form: str, upos: str, deprel: str, keys: tuple[int, ...] = (), lemma: str = "", feats: str = ""):
        self.form, self.upos, self.deprel, self.keys = form, upos, deprel, keys
        self.lemma = lemma or form
        self.feats = feats
        self.before: list[Node] = []
        self.after: list[Node] = []
        self.space = True
        self.index = -1
        self.tag = ""  # a note from a grammar to its own spelling rules

    def in_order(self, into: list[Node]) -> list[Node]:
        """Append this subtree's nodes from left to right, and number them."""
        for node in self.before:
            node.in_order(into)
        self.index = len(into)
        into.append(self)
        for node in self.after:
            node.in_order(into)
        return into


def comma(form: str = ",") -> Node:
    """A comma: it clings to the word before it."""
    return Node(form, "PUNCT", "punct")


def _without_needless_commas(nodes: list[Node]) -> list[Node]:
    """Leave out commas that meet another mark (the end of a relative clause at the end of its sentence)."""
    last = len(nodes) - 1
    needless = [n for i, n in enumerate(nodes) if n.form in _COMMAS and i < last and nodes[i + 1].upos == "PUNCT"]
    if not needless:
        return nodes
    kept = [node for node in nodes if node not in needless]
    for node in needless:
        node.index = len(kept)
    for index, node in enumerate(kept):
        node.index = index
    return kept


def realise(
    root: Node, lang: str, spell: Callable[[list[Node]], None], spaced: bool
) -> tuple[Sentence, list[tuple[int, ...]]]:
    """The `Sentence` of a finished tree, and the addresses of each of its tokens.

    *spell* applies the language's rules for neighbouring words (elision, a/an) to the nodes in order.
    """
    nodes = _without_needless_commas(root.in_order([]))
    spell(nodes)
    heads = [ROOT] * (len(nodes) + 1)  # the last entry takes what the dropped commas point at
    for node in nodes:
        for dependent in node.before:
            heads[dependent.index] = node.index
        for dependent in node.after:
            heads[dependent.index] = node.index
    first = nodes[0] if nodes[0].form[0].isalnum() or len(nodes) == 1 else nodes[1]
    first.form = first.form[0].upper() + first.form[1:]
    nodes[-1].space = False
    sentence = Sentence(
        tokens=tuple([node.form for node in nodes]),
        lang=lang,
        spaces=tuple([node.space for node in nodes]) if spaced else (False,) * len(nodes),
        upos=tuple([node.upos for node in nodes]),
        heads=tuple(heads[:-1]),
        deprels=tuple([node.deprel for node in nodes]),
        lemmas=tuple([node.lemma for node in nodes]),
        feats=tuple([node.feats for node in nodes]),
    )
    return sentence, [node.keys for node in nodes]
