"""Training a translator from scratch: a recipe in, an ordinary ``from_pretrained`` folder out."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any

import torch

from nbkit.errors import ModelError
from nbkit.models.architecture import new_model
from nbkit.models.card import measure, write_card
from nbkit.models.catalogue import families
from nbkit.models.collate import Batches, Collate, Example
from nbkit.models.loading import quiet
from nbkit.models.progress import tell
from nbkit.models.recipe import TranslatorRecipe
from nbkit.models.texts import text_pairs
from nbkit.models.tokenized import load_tokenizer
from nbkit.models.training_folder import (
    fresh,
    is_main_process,
    last_checkpoint,
    threads,
    trained_once,
    write_record,
)
from nbkit.models.vocabulary import encode_all, train_vocabulary
from nbkit.seeding import address

#: Longest side of a training pair, in tokens; longer pairs are left out.
LONGEST = 256


def train_translator(recipe: TranslatorRecipe, output: Path, *, resume: bool = True) -> Path:
    """Trains a translator and writes it to the folder *output*, which appears when it is complete.

    The folder holds safetensors weights, tokenizer, generation settings, a model card (``README.md``: data,
    settings, BLEU) and the recipe in ``nbkit.json``. What is unfinished lies in a hidden folder beside it: a run
    that was killed goes on from its last checkpoint when it is started again with the same recipe (``resume=False``
    begins anew). Of several processes that train one folder one works and the others wait. The same recipe gives
    the same weights again on the same machine. For several GPUs, start the command by ``accelerate launch``: each
    of them then gets its own batches.

    Returns *output*. Raises `ModelError` where *output* is there already and was not made by this recipe, and where
    there is nothing to train on; errors of the corpora pass through.
    """
    record = {"sources": [recipe.src], "targets": list(recipe.targets), "recipe": recipe.model_dump(mode="json")}
    return trained_once(
        record, Path(output), lambda work: _train(recipe, work, record, Path(output).name), resume=resume
    )


def _train(recipe: TranslatorRecipe, work: Path, record: Mapping[str, Any], name: str) -> Path:
    from accelerate import PartialState
    from transformers import Seq2SeqTrainer, set_seed

    started = time.monotonic()
    with threads(recipe.threads), quiet():
        pairs = {target: list(_training_texts(recipe, target)) for target in recipe.targets}
        if not any(pairs.values()):
            raise ModelError(f"nothing to train on: '{recipe.train}' holds no pair {recipe.src}→{recipe.targets}")
        # Language by language in turn, so that each has its share of what the vocabulary is learnt from.
        rows = zip_longest(*pairs.values(), fillvalue=())
        texts = dict.fromkeys(text for row in rows for pair in row for text in pair)
        family, folder = families()[recipe.architecture], work / "tokenizer"
        with PartialState().main_process_first():
            if is_main_process():
                train_vocabulary(texts, recipe, fresh(folder))
            tokenizer = load_tokenizer(family, folder)
        examples = list(chain.from_iterable(_examples(tokenizer, pairs[target], target, recipe) for target in pairs))
        set_seed(recipe.seed)
        model = new_model(recipe, tokenizer)
        trainer = Seq2SeqTrainer(
            model=model,
            args=_arguments(recipe, work / "checkpoints"),
            train_dataset=Batches(examples, recipe.batch_tokens, recipe.seed),
            data_collator=Collate(tokenizer.pad_token_id, model.config.decoder_start_token_id),
        )
        tell(trainer, name)
        result = trainer.train(resume_from_checkpoint=last_checkpoint(work / "checkpoints"))
        finished = work / "finished"
        if trainer.is_world_process_zero():
            fresh(finished)
            model.save_pretrained(finished)
            tokenizer.save_pretrained(finished)
            write_record(record, finished)
            facts = {"pairs": sum(map(len, pairs.values())), "steps": result.global_step, "loss": result.training_loss}
            facts |= {"parameters": model.num_parameters(), "vocabulary": len(tokenizer)}
            bleu = measure(recipe, finished)
            write_card(recipe, finished, bleu, {**facts, "seconds": round(time.monotonic() - started)})
        trainer.accelerator.wait_for_everyone()
    return finished


def _training_texts(recipe: TranslatorRecipe, target: str) -> Iterator[tuple[str, str]]:
    """Pairs as running text; the sources of a drawn share of them as joined tokens, spaced as perturbed text is."""
    for pair in text_pairs(recipe.train, recipe.src, target, recipe.pairs):
        is_joined = address(recipe.seed, "joined", pair.id) % 1000 < 1000 * recipe.joined
        if pair.source.strip() and pair.target.strip():
            yield pair.joined if is_joined else pair.source, pair.target


def _examples(tokenizer: Any, pairs: list[tuple[str, str]], target: str, recipe: TranslatorRecipe) -> Iterator[Example]:
    end = (tokenizer.eos_token_id,)
    marks: list[tuple[int, ...]] = [(), ()]
    if recipe.architecture == "m2m100":
        marks = [(tokenizer.get_lang_id(recipe.src),), (tokenizer.get_lang_id(target),)]
    sources, targets = (encode_all(tokenizer, side) for side in zip(*pairs, strict=True)) if pairs else ((), ())
    for source, reference in zip(sources, targets, strict=True):
        if max(len(source), len(reference)) < LONGEST:
            yield Example((*marks[0], *source, *end), (*marks[1], *reference, *end))


def _arguments(recipe: TranslatorRecipe, folder: Path) -> Any:
    from transformers import Seq2SeqTrainingArguments

    return Seq2SeqTrainingArguments(
        output_dir=str(folder),
        max_steps=recipe.steps or -1,
        num_train_epochs=recipe.epochs or 1.0,
        per_device_train_batch_size=1,  # an item of the data set is a whole batch
        learning_rate=recipe.learning_rate,
        lr_scheduler_type="linear",
        warmup_steps=recipe.warmup,
        label_smoothing_factor=recipe.label_smoothing,
        adam_beta2=0.98,
        max_grad_norm=1.0,
        seed=recipe.seed,
        save_strategy="steps",
        save_steps=recipe.save_every,
        save_total_limit=2,
        logging_steps=50,
        remove_unused_columns=False,
        dataloader_pin_memory=torch.cuda.is_available(),
        disable_tqdm=True,
        report_to=[],
    )
