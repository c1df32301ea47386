"""The four perturbations of the dependency tree (word-order paper, §4.3, Figures 3 and 4).

In the mirrored tree every node's left and right dependents have traded sides, the order within a side being
kept. Where a subtree is not contiguous, the walk's order counts, not the sentence's. Each subtree's order is
put together from those of its parts, leaves first, so that no depth of a tree is too much.
"""

from __future__ import annotations

from collections.abc import Sequence

from nbkit.perturb.draws import Draws
from nbkit.perturb.view import View


def tree_mirror_pre(view: View, draws: Draws) -> list[int] | None:
    """Pre-order of the mirrored tree: node, right dependents, left dependents."""
    subtrees = _leaves(view)
    for token, left, right in view.branches:
        subtree = [token]
        for dependent in right + left:
            subtree += subtrees[dependent]
        subtrees[token] = subtree
    return _whole(view, subtrees)


def tree_mirror_post(view: View, draws: Draws) -> list[int] | None:
    """Post-order of the mirrored tree: right dependents, left dependents, node."""
    subtrees = _leaves(view)
    for token, left, right in view.branches:
        subtree: list[int] = []
        for dependent in right + left:
            subtree += subtrees[dependent]
        subtree.append(token)
        subtrees[token] = subtree
    return _whole(view, subtrees)


def tree_mirror_in(view: View, draws: Draws) -> list[int] | None:
    """In-order of the mirrored tree: right dependents, node, left dependents."""
    subtrees = _leaves(view)
    for token, left, right in view.branches:
        subtrees[token] = _around(token, right, left, subtrees)
    return _whole(view, subtrees)


def rotate_around_root(view: View, draws: Draws) -> list[int] | None:
    """What hangs right of the root, the root, what hangs left of it; each part in its own in-order.

    Figure 3 prints another order ("live find said Tom …"), which is no rotation; the samples of
    Tables 4 and 5 ("a car accident seen Have you ever ?") agree with the definition.
    """
    subtrees, root = _leaves(view), view.sentence.root
    for token, left, right in view.branches:
        first, second = (right, left) if token == root else (left, right)
        subtrees[token] = _around(token, first, second, subtrees)
    return _whole(view, subtrees)


def _leaves(view: View) -> list[Sequence[int]]:
    """For each token the order of its subtree, were it without dependents."""
    return list(zip(range(len(view.sentence))))


def _around(
    token: int, first: tuple[int, ...], second: tuple[int, ...], subtrees: Sequence[Sequence[int]]
) -> list[int]:
    """The subtrees of the *first* dependents, the token, those of the *second* ones."""
    order: list[int] = []
    for dependent in first:
        order += subtrees[dependent]
    order.append(token)
    for dependent in second:
        order += subtrees[dependent]
    return order


def _whole(view: View, subtrees: Sequence[Sequence[int]]) -> list[int]:
    """The root's subtree without final punctuation, which keeps its place wherever it hangs in the tree."""
    end = view.length
    return [token for token in subtrees[view.sentence.root] if token < end]
