"""The four perturbations of the dependency tree (word-order paper, §4.3, Figures 3 and 4).

Each walks the whole tree from the root; where a subtree is not contiguous, the walk's order counts, not
the sentence's. In the mirrored tree every node's left and right dependents have traded sides, the order
within a side being kept. No walk recurses, so that no depth of a tree is too much.
"""

from __future__ import annotations

from nbkit.errors import NbkitError
from nbkit.perturb.draws import Draws
from nbkit.perturb.view import Sides, View


def tree_mirror_pre(view: View, draws: Draws) -> list[int] | None:
    """Pre-order of the mirrored tree: node, right dependents, left dependents."""
    sides, order, stack = view.sides, [], [view.sentence.root]
    while stack:
        token = stack.pop()
        order.append(token)
        left, right = sides[token]
        stack += left[::-1]
        stack += right[::-1]
    return _movable(view, order)


def tree_mirror_post(view: View, draws: Draws) -> list[int] | None:
    """Post-order of the mirrored tree: right dependents, left dependents, node."""
    sides, backwards, stack = view.sides, [], [view.sentence.root]
    while stack:
        token = stack.pop()
        backwards.append(token)
        left, right = sides[token]
        stack += right
        stack += left
    return _movable(view, backwards[::-1])


def tree_mirror_in(view: View, draws: Draws) -> list[int] | None:
    """In-order of the mirrored tree: right dependents, node, left dependents."""
    mirrored = [(right, left) for left, right in view.sides]
    return _movable(view, _in_order(mirrored, view.sentence.root))


def rotate_around_root(view: View, draws: Draws) -> list[int] | None:
    """What hangs right of the root, the root, what hangs left of it; each part in its own in-order.

    Figure 3 prints another order ("live find said Tom …"), which is no rotation; the samples of
    Tables 4 and 5 ("a car accident seen Have you ever ?") agree with the definition.
    """
    sides, root = view.sides, view.sentence.root
    left, right = sides[root]
    rotated = list(sides)
    rotated[root] = (right, left)
    return _movable(view, _in_order(rotated, root))


def _in_order(sides: list[Sides], root: int) -> list[int]:
    """The tokens under *root*: those of the first side, the token itself, those of the second side."""
    order, stack = [], [root]
    while stack:
        token = stack.pop()
        if token < 0:  # ~token: its first side is done
            order.append(~token)
            continue
        first, second = sides[token]
        stack += second[::-1]
        stack.append(~token)
        stack += first[::-1]
    return order


def _movable(view: View, walk: list[int]) -> list[int]:
    """The walk without final punctuation, which keeps its place wherever it hangs in the tree."""
    if len(walk) != len(view.sentence):
        raise NbkitError(f"the heads of {view.sentence.joined!r} run in a circle: {view.sentence.heads}")
    end = len(view)
    return [token for token in walk if token < end]
