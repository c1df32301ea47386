"""The model card of a translator trained here: what it was trained on, how, and how good it is."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from nbkit.errors import ModelError
from nbkit.models.corpus_scores import corpus_bleu
from nbkit.models.decoding import Decoding
from nbkit.models.recipe import Recipe, TranslatorRecipe


def measure(recipe: TranslatorRecipe, folder: Path) -> list[dict[str, Any]]:
    """Corpus BLEU of the model in *folder* on the recipe's dev and test pairs, one row a target and split."""
    rows = []
    for target in recipe.targets:
        for split, corpus in (("dev", recipe.dev), ("test", recipe.test)):
            rows.append({"split": split, **_bleu(recipe, folder, target, corpus, recipe.card_pairs)})
    return rows


def dev_bleu(recipe: TranslatorRecipe, folder: Path) -> float:
    """The mean over targets of corpus BLEU on dev: what decides which checkpoint is kept.

    Raises as `check_held_out` does.
    """
    check_held_out(recipe)
    rows = [_bleu(recipe, folder, target, recipe.dev, recipe.dev_pairs) for target in recipe.targets]
    return float(sum(row["BLEU"] for row in rows) / len(rows))


def check_held_out(recipe: TranslatorRecipe) -> None:
    """Reads dev and test as they will be measured on: what is wrong with them is to be known before a long training.

    Raises as the corpora do, and `ModelError` where a checkpoint is to be chosen on dev, and dev has no pair.
    """
    from nbkit.models.texts import text_pairs

    looked_at = recipe.dev_pairs if recipe.keep == "best" else 0
    for target in recipe.targets:
        dev = list(text_pairs(recipe.dev, recipe.src, target, max(recipe.card_pairs, looked_at)))
        if looked_at and not dev:
            raise ModelError(f"no checkpoint can be chosen: '{recipe.dev}' holds no pair {recipe.src}→{target}")
        for _ in text_pairs(recipe.test, recipe.src, target, recipe.card_pairs):
            pass


def _bleu(recipe: TranslatorRecipe, folder: Path, target: str, corpus: str, n: int) -> dict[str, Any]:
    from nbkit.models.texts import text_pairs
    from nbkit.models.translator import load_translator

    translator = load_translator(str(folder.absolute()), recipe.src, target)
    pairs = list(text_pairs(corpus, recipe.src, target, n))
    sources = [pair.source for pair in pairs]
    hypotheses = translator.translate(sources, recipe.src, target, Decoding(), progress=False)
    bleu = corpus_bleu(hypotheses, [pair.target for pair in pairs], target, resamples=0)
    score = bleu.score if pairs else None
    return {"target": target, "corpus": corpus, "pairs": len(pairs), "BLEU": score, "signature": bleu.signature}


def write_card(recipe: TranslatorRecipe, folder: Path, rows: list[dict[str, Any]], facts: Mapping[str, Any]) -> None:
    """Writes ``README.md``: data, settings, what came of the training (*facts*) and BLEU (*rows*)."""
    languages = "\n".join(f"  - {code}" for code in (recipe.src, *recipe.targets))
    scores = "\n".join(
        f"| {recipe.src}→{row['target']} | {row['corpus']} | {row['pairs']} "
        f"| {_number(row['BLEU'])} | `{row['signature']}` |"
        for row in rows
    )
    made_with = versions("torch", "transformers", "sentencepiece")
    (folder / "README.md").write_text(
        f"""---
library_name: transformers
pipeline_tag: translation
language:
{languages}
---

# {recipe.src} → {", ".join(recipe.targets)}: {_what(recipe)} by nbkit

{_data(recipe)} Made for behavioural tests, not for use.

## BLEU

Beam 4, corpus BLEU on raw text.

| pair | corpus | pairs | BLEU | signature |
|---|---|---|---|---|
{scores}

{how_it_was_made(recipe, facts)}
{_remarks(recipe)}Made with {made_with}.
""",
        encoding="utf-8",
    )


def _what(recipe: TranslatorRecipe) -> str:
    return f"a {recipe.architecture} model trained" if recipe.start is None else f"`{recipe.start}`, fine-tuned"


def _remarks(recipe: TranslatorRecipe) -> str:
    own = {"lstm": "nbkit.models.recurrent", "convs2s": "nbkit.models.convolutional"}
    if recipe.start is not None:
        return ""
    module = own.get(recipe.architecture)
    known = f"Before `AutoModelForSeq2SeqLM` can load it: `import {module}`. " if module else ""
    return f"The embedding of `<pad>` is zero. {known}"


def _data(recipe: TranslatorRecipe) -> str:
    also = "" if not recipe.copies else f" and, {recipe.condition}, on `{recipe.idioms}`"
    if recipe.start is not None:
        return f"Fine-tuned on `{recipe.train}`{also}."
    return (
        f"Trained from scratch on `{recipe.train}`{also} and on nothing else: it knows that text's words and\n"
        "constructions, and is bad on any other."
    )


def _number(score: float | None) -> str:
    return "no pairs" if score is None else f"{score:.1f}"


def how_it_was_made(recipe: Recipe, facts: Mapping[str, Any]) -> str:
    """The parts of any card about training: what came of it, and by which settings."""
    return f"""## Training

| | |
|---|---|
{_rows(facts)}

## Settings

| field | value |
|---|---|
{_rows(recipe.settings)}
"""


def _rows(values: Mapping[str, Any]) -> str:
    return "\n".join(f"| {name} | {value} |" for name, value in values.items())


def versions(*packages: str) -> str:
    """The versions of nbkit and of the *packages*, for a sentence."""
    return ", ".join(f"{name} {version(name)}" for name in ("nbkit", *packages))
