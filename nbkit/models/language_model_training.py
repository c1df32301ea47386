"""Training a language model from scratch: a recipe in, an ordinary ``from_pretrained`` folder out."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from torch.nn.functional import cross_entropy
from torch.utils.data import SequentialSampler
from transformers import Trainer, TrainingArguments, set_seed

from nbkit.errors import ModelError
from nbkit.models.collate import Batches
from nbkit.models.language_model_architecture import new_language_model, new_tokenizer
from nbkit.models.language_model_batches import CollateCausal, CollateMasked, Rounds, examples
from nbkit.models.language_model_card import measure, write_card
from nbkit.models.language_model_recipe import LanguageModelRecipe
from nbkit.models.language_model_texts import held_out_texts, training_samples
from nbkit.models.loading import quiet
from nbkit.models.output_layer import given_instead
from nbkit.models.progress import tell
from nbkit.models.training_folder import (
    common_arguments,
    fresh,
    is_main_process,
    last_checkpoint,
    save_trained,
    threads,
    trained_once,
)


def train_language_model(recipe: LanguageModelRecipe, output: Path, *, resume: bool = True) -> Path:
    """Trains a language model and writes it to the folder *output*, which appears when it is complete.

    The folder holds safetensors weights, tokenizer, a model card (``README.md``: data, settings, perplexity) and the
    recipe in ``nbkit.json``. A run that was killed goes on from its last checkpoint when it is started again with the
    same recipe (``resume=False`` begins anew); the same recipe gives the same weights again on the same machine. For
    several GPUs, start the command by ``accelerate launch``: each of them then gets its own batches.

    Returns *output*. Raises `ModelError` where *output* is there already and was not made by this recipe, and where
    there is nothing to train on; errors of the corpora pass through.
    """
    record = {"lang": recipe.lang, "recipe": recipe.model_dump(mode="json")}
    return trained_once(
        record, Path(output), lambda work: _train(recipe, work, record, Path(output).name), resume=resume
    )


def _train(recipe: LanguageModelRecipe, work: Path, record: Mapping[str, Any], name: str) -> Path:
    from accelerate import PartialState
    from transformers import AutoTokenizer

    started = time.monotonic()
    with threads(recipe.threads), quiet():
        samples = list(training_samples(recipe))
        if not samples:
            raise ModelError(f"nothing to train on: {', '.join(recipe.train)} hold no text in '{recipe.lang}'")
        for corpus in (recipe.dev, recipe.test):
            held_out_texts(corpus, recipe)  # what is wrong with them is to be known before a long training
        with PartialState().main_process_first():
            if is_main_process():
                # Each text once, so that a premise of many pairs weighs no more than others in the vocabulary.
                texts = dict.fromkeys(text for sample in samples for text in sample)
                new_tokenizer(texts, recipe).save_pretrained(fresh(work / "tokenizer"))
            tokenizer = AutoTokenizer.from_pretrained(work / "tokenizer", local_files_only=True)
        batches = Batches(
            list(examples(tokenizer, samples, is_causal=recipe.is_causal)), recipe.batch_tokens, recipe.seed
        )
        set_seed(recipe.seed)
        model = new_language_model(recipe, tokenizer)
        at_once = PartialState().num_processes
        steps = recipe.steps or math.ceil((recipe.epochs or 1) * len(batches) / at_once)
        trainer = LanguageModelTrainer(
            model=model,
            args=_arguments(recipe, steps, work / "checkpoints"),
            train_dataset=Rounds(batches, math.ceil(steps * at_once / len(batches)), recipe.seed),
            data_collator=_collate(recipe, tokenizer),
        )
        tell(trainer, name)
        result = trainer.train(resume_from_checkpoint=last_checkpoint(work / "checkpoints"))
        finished = work / "finished"
        if trainer.is_world_process_zero():
            save_trained(model, tokenizer, record, finished)
            facts = {
                "texts": sum(map(len, samples)),
                "steps": result.global_step,
                "loss": round(result.training_loss, 4),
                "parameters": model.num_parameters(),
                "vocabulary": len(tokenizer),
            }
            rows = measure(recipe, finished)
            write_card(recipe, finished, rows, {**facts, "seconds": round(time.monotonic() - started)})
        trainer.accelerator.wait_for_everyone()
    return finished


class LanguageModelTrainer(Trainer):
    """Trains on labels that stand where the model's outputs do, −100 where there is nothing to guess.

    Batches come in the order of the data set, and logits are computed only where something is to be guessed: of a
    masked model's tokens about one in seven.
    """

    loss_is_scaled_for_ga = False

    def _get_train_sampler(self, train_dataset: Any = None) -> SequentialSampler:
        batches: Any = self.train_dataset if train_dataset is None else train_dataset
        return SequentialSampler(batches)

    def compute_loss(
        self, model: Any, inputs: dict[str, Any], return_outputs: bool = False, num_items_in_batch: Any = None
    ) -> Any:
        """The mean −log p of the labels, in nats."""
        labels = inputs.pop("labels")
        chosen = labels >= 0
        layer = self.accelerator.unwrap_model(model).get_output_embeddings()
        with given_instead(layer, lambda states: states[chosen]):
            outputs = model(**inputs)
        loss = cross_entropy(outputs.logits.float(), labels[chosen])
        return (loss, outputs) if return_outputs else loss


def _collate(recipe: LanguageModelRecipe, tokenizer: Any) -> CollateCausal | CollateMasked:
    if recipe.is_causal:
        return CollateCausal(tokenizer.eos_token_id)
    special = tuple(sorted(tokenizer.all_special_ids))
    return CollateMasked(
        tokenizer.pad_token_id, tokenizer.mask_token_id, special, len(tokenizer), recipe.masked, recipe.seed
    )


def _arguments(recipe: LanguageModelRecipe, steps: int, folder: Path) -> TrainingArguments:
    return TrainingArguments(
        **{**common_arguments(recipe, folder), "max_steps": steps},
        learning_rate=recipe.learning_rate,
        lr_scheduler_type="linear",
        weight_decay=recipe.weight_decay,
        adam_beta2=0.98,
    )
