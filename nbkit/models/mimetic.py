"""How small Transformers begin that have few texts to learn from: attention to the like, and positions in waves."""

from __future__ import annotations

import torch

#: What transformers calls the two projections that attention compares.
_COMPARED = (("query", "key"), ("q_proj", "k_proj"), ("q_lin", "k_lin"))


def spread(width: int) -> float:
    """Standard deviation of random weights: outputs as large as inputs. The published 0.02 suits a width of 768."""
    return width**-0.5


@torch.no_grad()
def attend_to_the_like(model: torch.nn.Module) -> None:
    """Lets each token attend to tokens like itself at first: keys are projected as queries are.

    Which words of the hypothesis stand in the premise is what pairs are judged by; from random projections that takes
    a Transformer more pairs to find out than small sets have. After Trockman & Kolter 2023, "Mimetic Initialization of
    Self-Attention Layers", who found such projections in pretrained models.
    """
    for module in model.modules():
        for query, key in _COMPARED:
            if hasattr(module, query) and hasattr(module, key):
                getattr(module, key).weight.copy_(getattr(module, query).weight)


@torch.no_grad()
def place_in_waves(model: torch.nn.Module) -> None:
    """Lets positions begin as sines and cosines (Vaswani et al. 2017), so that near ones are alike; they are learnt on.

    As large as the random vectors of words, so that neither drowns the other.
    """
    for name, table in model.named_modules():
        if isinstance(table, torch.nn.Embedding) and "position" in name:
            positions, width = table.weight.shape
            rates = 10000 ** (-torch.arange(0, width, 2) / width)
            angles = torch.arange(positions).unsqueeze(1) * rates
            waves = torch.stack((angles.sin(), angles.cos()), 2).reshape(positions, -1)[:, :width]
            table.weight.copy_(waves * (2 / width) ** 0.5)
