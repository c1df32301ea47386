"""Training an NLI classifier: a recipe in, an ordinary ``from_pretrained`` folder with a model card out."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import torch
from torch import Tensor

from nbkit.corpora.nli import LABELS, find_nli, load_nli, raw_nli
from nbkit.errors import ModelError
from nbkit.models.catalogue import known_order, order_of
from nbkit.models.classifiers.classifier import CollatePairs, NliExample, encode_pairs, positions_of
from nbkit.models.classifiers.lifecycle import Pair, load_classifier, start_files
from nbkit.models.loading import SAFELY, quiet, reading
from nbkit.models.networks.architectures import NAMES, new_classifier, train_tokenizer
from nbkit.models.recipes import ClassifierRecipe
from nbkit.models.training import Batches, Card, Training, common_arguments, table, threads, train_by
from nbkit.models.weights import check_bytes
from nbkit.perturb.derangements import derange_pair
from nbkit.seeding import address

# ----------------------------------------------------------------------------
# Labelled pairs as running text, for training: raw, some of them joined from tokens, with permuted copies.

Split = Literal["dev", "test"]


class LabelledPair(NamedTuple):
    """Premise and hypothesis, their label, and permuted copies of both."""

    pair: Pair
    label: str
    copies: tuple[Pair, ...] = ()


def training_pairs(recipe: ClassifierRecipe) -> Iterator[LabelledPair]:
    """The pairs to train on; a drawn share of them joined from tokens, as permuted text is.

    Otherwise spacing, and not word order, would be what a model learns to tell the two apart by. Raises as
    `nbkit.corpora.nli.load_nli` does.
    """
    return _labelled(recipe, recipe.train, recipe.joined, recipe.pairs, 0)


def dev_pairs(recipe: ClassifierRecipe) -> Iterator[LabelledPair]:
    """The pairs that decide when to stop, as they are in their corpus."""
    return _labelled(recipe, recipe.dev, 0.0, recipe.held_out, recipe.dev_start)


def _labelled(
    recipe: ClassifierRecipe, corpus: str, joined: float, n: int | None, start: int
) -> Iterator[LabelledPair]:
    """Pairs ``start … start + n - 1`` with their permuted copies; one too short for these comes without any."""
    if not joined and not recipe.max_entropy:  # words are cut only where something is made of them
        for premise, hypothesis, label in raw_nli(corpus, recipe.lang, n=n, start=start):
            yield LabelledPair((premise, hypothesis), label)
        return
    seed = address(recipe.seed, "max-entropy")
    for pair in load_nli(corpus, recipe.lang, n=n, start=start, parsers={recipe.lang: recipe.tokens}):
        is_joined = address(recipe.seed, "joined", pair.id) % 1000 < 1000 * joined
        texts = (
            (pair.premise.joined, pair.hypothesis.joined) if is_joined else (pair.premise.text, pair.hypothesis.text)
        )
        found = None
        if recipe.max_entropy:
            found = derange_pair(pair.premise, pair.hypothesis, recipe.copies, seed=seed)
        yield LabelledPair((texts[0], texts[1]), pair.label, tuple(found.texts()) if found else ())


def held_out_pairs(recipe: ClassifierRecipe, split: Split) -> tuple[list[Pair], list[str]]:
    """The pairs of dev or test that accuracy is measured on, and their labels."""
    corpus, start = (recipe.dev, recipe.dev_start) if split == "dev" else (recipe.test, 0)
    rows = list(raw_nli(corpus, recipe.lang, n=recipe.held_out, start=start))
    return [(premise, hypothesis) for premise, hypothesis, _ in rows], [label for *_, label in rows]


def is_endless(corpus: str) -> bool:
    """Whether *corpus* draws as many pairs as one asks for.

    >>> is_endless("sandbox:train"), is_endless("sick:train")
    (True, False)
    """
    return find_nli(corpus)[0].endless


# ----------------------------------------------------------------------------
# The model card of a classifier trained here: what it was trained on, how, and how good it is.


def measure(recipe: ClassifierRecipe, folder: Path) -> list[dict[str, Any]]:
    """Accuracy of the classifier in *folder* on dev and test, a row each, beside that of the most frequent label."""
    classifier = load_classifier(str(folder.absolute()), lang=recipe.lang, device="cpu")
    rows = []
    for split in get_args(Split):
        pairs, gold = held_out_pairs(recipe, split)
        chosen = [LABELS[i] for i in classifier.probabilities(pairs, progress=False).argmax(1)]
        label, count = Counter(gold).most_common(1)[0] if gold else ("", 0)
        rows.append(
            {
                "split": split,
                "corpus": getattr(recipe, split),
                "pairs": len(gold),
                "accuracy": sum(map(str.__eq__, chosen, gold)) / len(gold) if gold else None,
                "majority": count / len(gold) if gold else None,
                "majority_label": label,
            }
        )
    return rows


def card(recipe: ClassifierRecipe, rows: list[dict[str, Any]]) -> Card:
    """What is said of the model; *rows*: as `measure` has them."""
    lines = []
    for split, corpus, pairs, accuracy, majority, label in map(dict.values, rows):
        lines.append((split, corpus, pairs, _percent(accuracy), f"{_percent(majority)} ({label})"))
    scores = table("| split | corpus | pairs | accuracy | most frequent label |", lines)
    what = f"a {recipe.architecture} model" if recipe.start is None else f"`{recipe.start}`, fine-tuned"
    how = "Trained from scratch" if recipe.start is None else "Fine-tuned"
    return Card(
        task="text-classification",
        title=f"Natural language inference ({recipe.lang}): {what}, by nbkit",
        data=f"{how} on `{recipe.train}`. Outputs, in their order: {', '.join(LABELS)}.",
        scores=f"## Accuracy\n\n{scores}",
        packages=("torch", "transformers", "tokenizers"),
    )


def _percent(share: float | None) -> str:
    return "no pairs" if share is None else f"{share:.1%}"


# ----------------------------------------------------------------------------
# The training itself.


def train_classifier(recipe: ClassifierRecipe, output: Path, *, resume: bool = True) -> Path:
    """Trains a classifier and writes it to the folder *output*, which appears when it is complete.

    The folder holds safetensors weights, tokenizer, a model card (``README.md``: data, settings, accuracy beside that
    of the majority label) and the recipe in ``nbkit.json``. Every ``save_every`` steps the model is measured on dev;
    the best one is kept: by accuracy, with ``max_entropy`` by the mean of accuracy and of the entropy on
    permuted copies as a share of its largest, ln 3. A run that was killed goes on from its last checkpoint when it is
    started again with the same recipe (``resume=False`` begins anew); the same recipe gives the same weights again
    on the same machine.

    Returns *output*. Raises `ModelError` where *output* is there already and was not made by this recipe, where there
    is nothing to train on, or for a checkpoint to start from that cannot be had; errors of the corpora pass through.
    """
    return train_by(recipe, {"lang": recipe.lang}, output, _train, resume=resume)


def _train(training: Training) -> Path:
    from transformers import EarlyStoppingCallback, Trainer, set_seed

    recipe: ClassifierRecipe = training.recipe
    if recipe.pairs is None and is_endless(recipe.train):
        raise ModelError(f"'{recipe.train}' has no last pair: say how many are wanted (pairs)")
    with threads(recipe.threads), quiet():
        pairs = list(training_pairs(recipe))
        dev = list(dev_pairs(recipe))
        if not pairs or not dev:
            empty = recipe.dev if pairs else recipe.train
            raise ModelError(f"nothing to train on: '{empty}' holds no pair in '{recipe.lang}'")
        held_out_pairs(recipe, "test")  # what is wrong with them is to be known before a long training
        set_seed(recipe.seed)
        if recipe.start is None:
            # Each text once, so that a premise of many pairs weighs no more than others in the vocabulary.
            tokenizer = train_tokenizer(dict.fromkeys(text for pair in pairs for text in pair.pair), recipe)
            model = new_classifier(recipe, tokenizer)
        else:
            model, tokenizer = _started(recipe)
        is_balanced = recipe.max_entropy > 0
        trainer = Trainer(
            model=model,
            args=_arguments(recipe, training.checkpoints),
            train_dataset=_batches(recipe, model, tokenizer, pairs),
            eval_dataset=_batches(recipe, model, tokenizer, dev),
            data_collator=CollatePairs(tokenizer.pad_token_id),
            compute_loss_func=Loss(recipe.max_entropy),
            compute_metrics=_measures_with_copies if is_balanced else _measures,
            preprocess_logits_for_metrics=lambda outputs, labels: outputs[0] if isinstance(outputs, tuple) else outputs,
            callbacks=[EarlyStoppingCallback(recipe.patience)] if recipe.patience else [],
        )

        def facts(result: Any) -> dict[str, Any]:
            return {
                "pairs": len(pairs),
                "permuted copies": sum(len(pair.copies) for pair in pairs),
                "steps": result.global_step,
                "kept, from step": trainer.state.best_global_step or trainer.state.global_step,
            }

        return training.through(trainer, tokenizer, facts, lambda folder: card(recipe, measure(recipe, folder)))


@dataclass(frozen=True)
class Loss:
    """Cross-entropy on pairs, less *max_entropy* times the entropy on their permuted copies (label −100).

    Both are means over the labelled pairs of a batch, in nats.

    >>> outputs = {"logits": torch.tensor([[0.0, 0.0, 0.0], [9.0, 0.0, 0.0]])}
    >>> round(float(Loss(0.0)(outputs, torch.tensor([1, -100]))), 4)  # −log ⅓
    1.0986
    >>> unsure = {"logits": torch.zeros(2, 3)}
    >>> round(float(Loss(0.5)(unsure, torch.tensor([1, -100]))), 4)  # ln 3 − ½ ln 3
    0.5493
    """

    max_entropy: float

    def __call__(self, outputs: Any, labels: Tensor, num_items_in_batch: Any = None) -> Tensor:
        log_p = outputs["logits"].float().log_softmax(-1)
        is_pair = labels >= 0
        loss = torch.nn.functional.nll_loss(log_p[is_pair], labels[is_pair])
        if not self.max_entropy:
            return loss
        log_q = log_p[~is_pair]
        return loss + self.max_entropy * (log_q.exp() * log_q).sum() / is_pair.sum()


def _measures(predictions: Any) -> dict[str, float]:
    is_pair = predictions.label_ids >= 0
    chosen = predictions.predictions[is_pair].argmax(-1)
    accuracy = float((chosen == predictions.label_ids[is_pair]).mean())
    return {"accuracy": accuracy, "balance": accuracy}


def _measures_with_copies(predictions: Any) -> dict[str, float]:
    logits = np.asarray(predictions.predictions, dtype=np.float64)[predictions.label_ids < 0]
    log_p = logits - np.logaddexp.reduce(logits, axis=-1, keepdims=True)
    entropy = float(-(np.exp(log_p) * log_p).sum(-1).mean()) if len(logits) else 0.0
    measures = _measures(predictions)
    balance = (measures["accuracy"] + entropy / math.log(len(LABELS))) / 2
    return {**measures, "entropy": entropy, "balance": balance}


def _batches(recipe: ClassifierRecipe, model: Any, tokenizer: Any, pairs: Iterable[LabelledPair]) -> Batches:
    rows = list(pairs)
    everything = chain.from_iterable((row.pair, *row.copies) for row in rows)
    encoded = encode_pairs(tokenizer, everything, positions_of(model, tokenizer), recipe.start or "in training")
    names = [model.config.id2label[i] for i in range(len(LABELS))]
    numbers = dict(zip(LABELS, order_of(names, recipe.start or "in training"), strict=True))
    examples = [NliExample(next(encoded), numbers[row.label], tuple(next(encoded) for _ in row.copies)) for row in rows]
    return Batches(examples, recipe.batch_tokens, recipe.seed)


def _started(recipe: ClassifierRecipe) -> tuple[Any, Any]:
    """The checkpoint to start from and its tokenizer; a classifier of the three labels keeps its outputs' order."""
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    assert recipe.start is not None
    folder = start_files(recipe.start, recipe.lang)
    check_bytes(folder, f"checkpoint '{recipe.start}'")
    options: dict[str, Any] = (
        {} if known_order(folder) else {**NAMES, "ignore_mismatched_sizes": True}
    )  # a head that is not NLI's
    with reading(f"checkpoint '{recipe.start}'", folder, "cannot be trained on"):
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
        model = AutoModelForSequenceClassification.from_pretrained(folder, dtype=torch.float32, **SAFELY, **options)
    if tokenizer.pad_token_id is None:
        raise ModelError(
            f"checkpoint '{recipe.start}' has no padding token: start from a masked model, not a causal one"
        )
    return model, tokenizer


def _arguments(recipe: ClassifierRecipe, folder: Path) -> Any:
    from transformers import TrainingArguments

    return TrainingArguments(
        **common_arguments(recipe, folder),
        per_device_eval_batch_size=1,
        learning_rate=recipe.rate,
        lr_scheduler_type="linear",
        weight_decay=recipe.weight_decay,
        eval_strategy="steps",
        eval_steps=recipe.save_every,
        load_best_model_at_end=True,
        metric_for_best_model="balance",
        greater_is_better=True,
        restore_callback_states_from_checkpoint=True,
        label_names=["labels"],
    )
