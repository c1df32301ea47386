"""The four perturbations of the dependency tree (word-order paper, §4.3, Figures 3 and 4).

In the mirrored tree every node's left and right dependents have traded sides, the order within a side being
kept. Where a subtree is not contiguous, the walk's order counts, not the sentence's. Each subtree's order is
put together from those of its parts, leaves first, so that no depth of a tree is too much. Final punctuation
is left out wherever it hangs in the tree, as it keeps its place.
"""

from __future__ import annotations

from nbkit.perturb.draws import Draws
from nbkit.perturb.view import View


def tree_mirror_pre(view: View, draws: Draws) -> list[int] | None:
    """Pre-order of the mirrored tree: node, right dependents, left dependents."""
    subtrees = [*view.leaves]
    for token, left, right in view.sentence.branches:
        order = [*subtrees[token]]
        for dependent in right + left:
            order += subtrees[dependent]
        subtrees[token] = order
    return [*subtrees[view.sentence.root]]


def tree_mirror_post(view: View, draws: Draws) -> list[int] | None:
    """Post-order of the mirrored tree: right dependents, left dependents, node."""
    subtrees = [*view.leaves]
    for token, left, right in view.sentence.branches:
        order: list[int] = []
        for dependent in right + left:
            order += subtrees[dependent]
        order += subtrees[token]
        subtrees[token] = order
    return [*subtrees[view.sentence.root]]


def tree_mirror_in(view: View, draws: Draws) -> list[int] | None:
    """In-order of the mirrored tree: right dependents, node, left dependents."""
    subtrees = [*view.leaves]
    for token, left, right in view.sentence.branches:
        order: list[int] = []
        for dependent in right:
            order += subtrees[dependent]
        order += subtrees[token]
        for dependent in left:
            order += subtrees[dependent]
        subtrees[token] = order
    return [*subtrees[view.sentence.root]]


def rotate_around_root(view: View, draws: Draws) -> list[int] | None:
    """What hangs right of the root, the root, what hangs left of it; each part in its own in-order.

    Figure 3 prints another order ("live find said Tom …"), which is no rotation; the samples of
    Tables 4 and 5 ("a car accident seen Have you ever ?") agree with the definition.
    """
    subtrees, root = [*view.leaves], view.sentence.root
    for token, left, right in view.sentence.branches:
        if token == root:
            left, right = right, left
        order: list[int] = []
        for dependent in left:
            order += subtrees[dependent]
        order += subtrees[token]
        for dependent in right:
            order += subtrees[dependent]
        subtrees[token] = order
    return [*subtrees[root]]
