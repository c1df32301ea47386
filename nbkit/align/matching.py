"""Links out of similarities, for a batch of pairs at once: argmax and itermax of simalign.

Source: Jalili Sabet et al. 2020, "SimAlign", §3.1 (Argmax) and §3.2 (IterMax); simalign 0.4 (``inter``, ``itermax``).
Of equal similarities the first counts, as in NumPy.
"""

from __future__ import annotations

import torch
from torch import Tensor

#: What a similarity is multiplied with in the second round of itermax where one of its two units is linked already.
_DISCOUNT = 0.9
# Below every similarity: padding.
_NOTHING = -1.0


def argmax(similarity: Tensor, is_pair: Tensor) -> Tensor:
    """Mutual argmax: units that are each other's most similar one.

    similarity: (pairs × source units × target units), in [0, 1]. is_pair: False where a unit is padding; of the same
    shape. Returns a boolean tensor of that shape.

    >>> similarity = torch.tensor([[[0.9, 0.8], [0.7, 0.1]]])
    >>> argmax(similarity, torch.ones_like(similarity, dtype=torch.bool)).tolist()
    [[[True, False], [False, False]]]
    """
    similarity = similarity.masked_fill(~is_pair, _NOTHING)
    best_target = torch.zeros_like(is_pair).scatter_(2, similarity.argmax(2, keepdim=True), True)
    best_source = torch.zeros_like(is_pair).scatter_(1, similarity.argmax(1, keepdim=True), True)
    return best_target & best_source & is_pair


def itermax(similarity: Tensor, is_pair: Tensor) -> Tensor:
    """Argmax, then once more among the pairs of which a unit is not linked: simalign's two rounds.

    In the second round similarities count 0.9 where one unit is linked, 0 where both are. Pairs with a side of at most
    two units, or with a side that is all linked, have the first round alone. Arguments and result as of `argmax`.

    >>> similarity = torch.tensor([[[0.9, 0.2, 0.8], [0.7, 0.1, 0.6], [0.3, 0.2, 0.2]]])
    >>> itermax(similarity, torch.ones_like(similarity, dtype=torch.bool)).int().tolist()
    [[[1, 0, 1], [1, 0, 0], [0, 0, 0]]]
    """
    first = argmax(similarity, is_pair)
    free_source = ~first.any(2, keepdim=True) & is_pair.any(2, keepdim=True)
    free_target = ~first.any(1, keepdim=True) & is_pair.any(1, keepdim=True)
    shorter = torch.minimum(is_pair.any(2).sum(1), is_pair.any(1).sum(1))
    goes_on = (shorter > 2) & free_source.any(2).any(1) & free_target.any(2).any(1)
    weight = torch.full_like(similarity, _DISCOUNT)
    weight = weight.masked_fill(free_source & free_target, 1.0).masked_fill(~free_source & ~free_target, 0.0)
    second = argmax(similarity * weight, is_pair) & (free_source | free_target)
    return first | (second & goes_on[:, None, None])


METHODS = {"argmax": argmax, "itermax": itermax}
