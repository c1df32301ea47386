"""A word-for-word language and recipes that learn it, or begin to."""

from __future__ import annotations

import random
from pathlib import Path

from nbtrain import TranslatorRecipe

WORDS = {"the": "das", "dog": "Tier", "cat": "Haus", "sees": "sieht", "finds": "findet", "old": "alte", "and": "und"}


def write_words(path: Path, pairs: int = 400, seed: int = 0) -> str:
    """Writes so many pairs to a TSV file; its path."""
    draw, lines = random.Random(seed), []
    for _ in range(pairs):
        words = draw.choices(list(WORDS), k=draw.randint(3, 7))
        lines.append(" ".join(words) + " .\t" + " ".join(WORDS[word] for word in words) + " .")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


def tiny(corpus: str, **fields) -> TranslatorRecipe:
    sizes = {"d_model": 16, "ffn": 32, "heads": 2, "encoder_layers": 1, "decoder_layers": 1, "vocabulary": 60}
    settings = {"steps": 6, "batch_tokens": 300, "warmup": 2, "save_every": 2, "threads": 1, "card_pairs": 5}
    places = {"train": corpus, "dev": corpus, "test": corpus}
    return TranslatorRecipe(**{**sizes, **settings, **places, **fields})
