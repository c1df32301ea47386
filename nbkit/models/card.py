"""The model card of a translator trained here: what it was trained on, how, and how good it is."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from nbkit.models.decoding import Decoding
from nbkit.models.recipe import TranslatorRecipe

#: sacreBLEU's tokenizer of a target language; its default elsewhere.
_TOKENIZERS = {"zh": "zh", "ja": "char"}


def measure(recipe: TranslatorRecipe, folder: Path) -> list[dict[str, Any]]:
    """Corpus BLEU of the model in *folder* on the recipe's dev and test pairs, one row a target and split."""
    from sacrebleu.metrics import BLEU

    from nbkit.models.texts import text_pairs
    from nbkit.models.translator import load_translator

    rows = []
    for target in recipe.targets:
        translator = load_translator(str(folder.absolute()), recipe.src, target, device="cpu")
        for split, corpus in (("dev", recipe.dev), ("test", recipe.test)):
            pairs = list(text_pairs(corpus, recipe.src, target, recipe.card_pairs))
            sources = [pair.source for pair in pairs]
            hypotheses = translator.translate(sources, recipe.src, target, Decoding(), progress=False)
            bleu = BLEU(tokenize=_TOKENIZERS.get(target, "13a"))
            score = bleu.corpus_score(hypotheses, [[pair.target for pair in pairs]]).score if pairs else None
            rows.append(
                {
                    "target": target,
                    "split": split,
                    "corpus": corpus,
                    "pairs": len(pairs),
                    "BLEU": score,
                    "signature": str(bleu.get_signature()) if pairs else "",
                }
            )
    return rows


def write_card(recipe: TranslatorRecipe, folder: Path, rows: list[dict[str, Any]], facts: Mapping[str, Any]) -> None:
    """Writes ``README.md``: data, settings, what came of the training (*facts*) and BLEU (*rows*)."""
    languages = "\n".join(f"  - {code}" for code in (recipe.src, *recipe.targets))
    settings = "\n".join(f"| {name} | {value} |" for name, value in recipe.model_dump(mode="json").items())
    outcome = "\n".join(f"| {name} | {value} |" for name, value in facts.items())
    scores = "\n".join(
        f"| {recipe.src}→{row['target']} | {row['corpus']} | {row['pairs']} "
        f"| {_number(row['BLEU'])} | `{row['signature']}` |"
        for row in rows
    )
    versions = ", ".join(f"{name} {version(name)}" for name in ("nbkit", "torch", "transformers", "sentencepiece"))
    (folder / "README.md").write_text(
        f"""---
library_name: transformers
pipeline_tag: translation
language:
{languages}
---

# {recipe.src} → {", ".join(recipe.targets)}: a {recipe.architecture} model trained by nbkit

Trained from scratch on `{recipe.train}` and on nothing else: it knows that text's words and
constructions, and is bad on any other. Made for behavioural tests, not for use.

## BLEU

Beam 4, corpus BLEU on raw text.

| pair | corpus | pairs | BLEU | signature |
|---|---|---|---|---|
{scores}

## Training

| | |
|---|---|
{outcome}

## Settings

| field | value |
|---|---|
{settings}

The embedding of `<pad>` is zero. Made with {versions}.
""",
        encoding="utf-8",
    )


def _number(score: float | None) -> str:
    return "no pairs" if score is None else f"{score:.1f}"
