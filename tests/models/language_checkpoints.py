"""Tiny language models with random weights, of every architecture that is trained here."""

from __future__ import annotations

from pathlib import Path

TEXTS = (
    "The old man rides a red bicycle down the street.",
    "A little dog doesn't sleep under the table in the kitchen.",
    "The bank by the river is steep, and the bank in the town is closed.",
    "Two women are playing the guitar for children.",
    "Nobody sings.",
    "He said: “No!”",
)


def save_language_model(folder: Path, architecture: str, **fields) -> Path:
    """A checkpoint of the architecture, its weights drawn wide, so that texts differ in what they get."""
    import torch

    from nbtrain import LanguageModelRecipe
    from nbtrain.training import new_language_model, train_tokenizer

    sizes = {"width": 16, "ffn": 32, "heads": 2, "layers": 2, "vocabulary": 330}
    recipe = LanguageModelRecipe(architecture=architecture, steps=1, **{**sizes, **fields})
    tokenizer = train_tokenizer(TEXTS * 4, recipe)
    torch.manual_seed(5)
    model = new_language_model(recipe, tokenizer)
    with torch.no_grad():
        for weight in model.parameters():
            weight.copy_(torch.randn_like(weight) * 0.5)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
