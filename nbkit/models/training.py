"""Training a translator, from scratch or from a checkpoint on: a recipe in, a ``from_pretrained`` folder out."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any

from nbkit.errors import ModelError
from nbkit.models.architecture import new_model
from nbkit.models.card import check_held_out, dev_bleu, measure, write_card
from nbkit.models.catalogue import Family, families
from nbkit.models.collate import Batches, Collate, Example
from nbkit.models.loading import quiet
from nbkit.models.progress import tell
from nbkit.models.recipe import TranslatorRecipe
from nbkit.models.tokenized import load_tokenizer
from nbkit.models.training_data import checkpoint_examples, idiom_texts, own_examples, regular_texts
from nbkit.models.training_folder import (
    common_arguments,
    fresh,
    is_main_process,
    last_checkpoint,
    save_trained,
    threads,
    trained_once,
)
from nbkit.models.vocabulary import train_vocabulary

_SCHEDULES = {"linear": "linear", "inverse_sqrt": "inverse_sqrt", "constant": "constant_with_warmup"}


def train_translator(recipe: TranslatorRecipe, output: Path, *, resume: bool = True) -> Path:
    """Trains a translator and writes it to the folder *output*, which appears when it is complete.

    The folder holds safetensors weights, tokenizer, generation settings, a model card (``README.md``: data,
    settings, BLEU) and the recipe in ``nbkit.json``. What is unfinished lies in a hidden folder beside it: a run
    that was killed goes on from its last checkpoint when it is started again with the same recipe (``resume=False``
    begins anew). Of several processes that train one folder one works and the others wait. The same recipe gives
    the same weights again on the same machine. For several GPUs, start the command by ``accelerate launch``: each
    of them then gets its own batches.

    Returns *output*. Raises `ModelError` where *output* is there already and was not made by this recipe, where
    there is nothing to train on, and for a checkpoint to start from that cannot be had; errors of the corpora pass
    through.
    """
    record = {"sources": [recipe.src], "targets": list(recipe.targets), "recipe": recipe.model_dump(mode="json")}
    return trained_once(
        record, Path(output), lambda work: _train(recipe, work, record, Path(output).name), resume=resume
    )


@dataclass(frozen=True)
class _Begun:
    """What training begins with: a model, what cuts texts for it and how it is told languages, and the examples."""

    model: Any
    tokenizer: Any
    family: Family
    examples: Sequence[Example]


def _train(recipe: TranslatorRecipe, work: Path, record: Mapping[str, Any], name: str) -> Path:
    started = time.monotonic()
    with threads(recipe.threads), quiet():
        regular = {target: regular_texts(recipe, target) for target in recipe.targets}
        if not any(regular.values()):
            raise ModelError(f"nothing to train on: '{recipe.train}' holds no pair {recipe.src}→{recipe.targets}")
        idioms = {target: idiom_texts(recipe, target) for target in recipe.targets}
        check_held_out(recipe)
        begun = (_from_scratch if recipe.start is None else _from_checkpoint)(recipe, regular, idioms, work)
        trainer = _trainer(recipe, begun, record, work)
        tell(trainer, name)
        result = trainer.train(resume_from_checkpoint=last_checkpoint(work / "checkpoints"))
        finished = work / "finished"
        if trainer.is_world_process_zero():
            kept = _keep(recipe, begun.model, trainer.state, work / "checkpoints")
            save_trained(begun.model, begun.tokenizer, record, finished)
            facts = {"pairs": sum(map(len, regular.values()))}
            if recipe.idioms is not None:
                facts["pairs with idioms, copies included"] = sum(map(len, idioms.values()))
            facts |= {"steps": result.global_step, "loss": result.training_loss, **kept}
            facts |= {"parameters": begun.model.num_parameters(), "vocabulary": len(begun.tokenizer)}
            bleu = measure(recipe, finished)
            write_card(recipe, finished, bleu, {**facts, "seconds": round(time.monotonic() - started)})
        trainer.accelerator.wait_for_everyone()
    return finished


_Texts = Mapping[str, list[tuple[str, str]]]


def _from_scratch(recipe: TranslatorRecipe, regular: _Texts, idioms: _Texts, work: Path) -> _Begun:
    from accelerate import PartialState
    from transformers import set_seed

    # Language by language in turn, so that each has its share of what the vocabulary is learnt from.
    rows = zip_longest(*regular.values(), fillvalue=())
    texts = dict.fromkeys(text for row in rows for pair in row for text in pair)
    folder = work / "tokenizer"
    family = families()["m2m100" if recipe.architecture == "m2m100" else "marian"]
    with PartialState().main_process_first():
        if is_main_process():
            train_vocabulary(texts, recipe, fresh(folder))
        tokenizer = load_tokenizer(family, folder)

    def examples(target: str) -> Iterator[Example]:
        return own_examples(tokenizer, [*regular[target], *idioms[target]], target, recipe)

    found = list(chain.from_iterable(map(examples, recipe.targets)))
    set_seed(recipe.seed)
    return _Begun(new_model(recipe, tokenizer), tokenizer, family, found)


def _from_checkpoint(recipe: TranslatorRecipe, regular: _Texts, idioms: _Texts, work: Path) -> _Begun:
    from transformers import set_seed

    from nbkit.models.checkpoints import started

    model, tokenizer, family = started(recipe)

    def examples(target: str) -> Iterator[Example]:
        return checkpoint_examples(tokenizer, family, [*regular[target], *idioms[target]], target, recipe)

    found = list(chain.from_iterable(map(examples, recipe.targets)))
    set_seed(recipe.seed)
    return _Begun(model, tokenizer, family, found)


def _trainer(recipe: TranslatorRecipe, begun: _Begun, record: Mapping[str, Any], work: Path) -> Any:
    from transformers import Seq2SeqTrainer

    from nbkit.models.noise import NewNoise, Noise, NoisyBatches

    start = begun.model.config.decoder_start_token_id
    batches: Batches | NoisyBatches = Batches(begun.examples, recipe.batch_tokens, recipe.seed)
    callbacks = []
    if recipe.is_noisy:
        noise = Noise.of(recipe, begun.tokenizer, begun.family, start)
        batches = NoisyBatches(begun.examples, recipe.batch_tokens, recipe.seed, noise)
        callbacks.append(NewNoise(batches))
    options = {
        "model": begun.model,
        "args": _arguments(recipe, work / "checkpoints"),
        "train_dataset": batches,
        "data_collator": Collate(begun.tokenizer.pad_token_id, start),
        "callbacks": callbacks,
    }
    if recipe.keep != "best":
        return Seq2SeqTrainer(**options)
    from nbkit.models.checkpoints import BestByBleu

    return BestByBleu(
        look=lambda folder: dev_bleu(recipe, folder),
        work=work,
        save=lambda model, folder: save_trained(model, begun.tokenizer, record, folder),
        **options,
    )


def _keep(recipe: TranslatorRecipe, model: Any, state: Any, folder: Path) -> dict[str, Any]:
    """Puts the weights that are kept into *model*, and says in words which they are."""
    from nbkit.models.checkpoints import last_folders, mean_weights, put_in

    if recipe.keep == "average":
        folders = last_folders(folder, recipe.averaged)
        put_in(model, mean_weights(folders))
        return {"kept, the mean of steps": ", ".join(path.name.rpartition("-")[2] for path in folders)}
    if recipe.keep == "best":  # the trainer has put them in already
        return {"kept, from step": state.best_global_step, "its dev BLEU": round(state.best_metric, 2)}
    return {}


def _arguments(recipe: TranslatorRecipe, folder: Path) -> Any:
    from transformers import Seq2SeqTrainingArguments

    looks: dict[str, Any] = {}
    if recipe.keep == "best":
        looks = {
            "eval_strategy": "steps",
            "eval_steps": recipe.save_every,
            "load_best_model_at_end": True,
            "metric_for_best_model": "bleu",
            "greater_is_better": True,
        }
    options = {
        **common_arguments(recipe, folder),
        "gradient_accumulation_steps": recipe.accumulate,
        "learning_rate": recipe.learning_rate,
        "lr_scheduler_type": _SCHEDULES[recipe.schedule],
        "label_smoothing_factor": recipe.label_smoothing,
        "adam_beta2": recipe.beta2,
        "adam_epsilon": recipe.epsilon,
        **looks,
    }
    if recipe.keep == "average":
        options["save_total_limit"] = max(2, recipe.averaged)
    return Seq2SeqTrainingArguments(**options)
