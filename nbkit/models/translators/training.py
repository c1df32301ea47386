"""Training a translator, from scratch or from a checkpoint: a recipe in, a ``from_pretrained`` folder out.

In the order of the file: noise on what is read; training data; weights to begin and to end with; the model card; the
training itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, islice, zip_longest
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import Dataset
from transformers import Seq2SeqTrainer, TrainerCallback, set_seed

from nbkit.errors import ModelError
from nbkit.models.catalogue import Family, check_pair, families, family_of, resolve
from nbkit.models.decoding import Decoding
from nbkit.models.loading import quiet
from nbkit.models.networks.architectures import encode_all, new_model, train_vocabulary
from nbkit.models.recipes import TranslatorRecipe
from nbkit.models.training import (
    Batches,
    Card,
    Collate,
    Example,
    Training,
    common_arguments,
    fresh,
    is_main_process,
    save_trained,
    table,
    threads,
    train_by,
)
from nbkit.models.translators.lifecycle import ensure_model, load_translator
from nbkit.models.translators.seq2seq import load_seq2seq, load_tokenizer
from nbkit.models.translators.texts import TextPair, corpus_bleu, text_pairs
from nbkit.models.weights import check_bytes
from nbkit.seeding import address, generator

# ----------------------------------------------------------------------------
# Noise on what a translator reads in training: masked source words, random source words, random target words.
#
# Source: idioms paper, §3.2: "mask 10% of the source tokens" (+mask), "replace 10% of the source tokens with random
# ones" (+replace (enc)), "replace 10% of the target tokens with random ones" (+replace (dec)). On the target side it
# is what the decoder has read that is replaced (Voita et al. 2021, "Analyzing the Source and Target Contributions to
# Predictions in Neural Machine Translation"); what it has to write, the labels, stays.


@dataclass(frozen=True)
class Noise:
    """Shares of tokens, and what they become; special tokens are never touched.

    mask, replace_source, replace_target: each ordinary token is hit with this probability by itself; a source token
    that is both masked and replaced is masked. mask_id: what masked ones become. special: ids that are left alone.
    vocabulary: how many ids there are; replacements are drawn uniformly from those that are not special. start: the
    decoder's start.
    """

    seed: int
    mask: float
    replace_source: float
    replace_target: float
    mask_id: int
    special: frozenset[int]
    vocabulary: int
    start: int

    @classmethod
    def of(cls, recipe: TranslatorRecipe, tokenizer: Any, family: Family, start: int) -> Noise:
        """As the recipe says; a vocabulary without ``<mask>`` has its unknown token in its place.

        The family's language tokens are special, whether the tokenizer's files list them as such or not.
        """
        mask = tokenizer.mask_token_id
        special = {token for token in (*tokenizer.all_special_ids, mask) if token is not None}
        if family.token is not None:
            names = [family.token.format(code=code) for code in family.codes.values()]
            special.update(token for token in tokenizer.convert_tokens_to_ids(names) if token is not None)
        return cls(
            seed=recipe.seed,
            mask=recipe.mask,
            replace_source=recipe.replace_source,
            replace_target=recipe.replace_target,
            mask_id=tokenizer.unk_token_id if mask is None else mask,
            special=frozenset(special),
            vocabulary=len(tokenizer),
            start=start,
        )

    def __call__(self, example: Example, number: int, epoch: int) -> Example:
        """The example with noise that belongs to its *number* and the *epoch*: every pass sees another.

        >>> noise = Noise(0, 1 - 1e-9, 0, 0, mask_id=3, special=frozenset({0, 3}), vocabulary=9, start=0)
        >>> noise(Example((5, 6, 7, 8, 0), (4, 0)), 1, 0)  # all but the end
        Example(source=(3, 3, 3, 3, 0), target=(4, 0), prefix=None)
        """
        source, prefix = np.array(example.source), example.prefix
        if self.replace_source:
            source = self._replaced(source, self.replace_source, "source", number, epoch)
        if self.mask:
            hit = self._hit(np.array(example.source), self.mask, "mask", number, epoch)
            source = np.where(hit, self.mask_id, source)
        if self.replace_target:
            read = np.array(prefix or (self.start, *example.target[:-1]))
            prefix = tuple(self._replaced(read, self.replace_target, "target", number, epoch).tolist())
        return replace(example, source=tuple(source.tolist()), prefix=prefix)

    def _hit(self, ids: np.ndarray, share: float, kind: str, number: int, epoch: int) -> np.ndarray:
        drawn = generator(self.seed, "noise", kind, number, epoch).random(len(ids)) < share
        return drawn & ~np.isin(ids, list(self.special))

    def _replaced(self, ids: np.ndarray, share: float, kind: str, number: int, epoch: int) -> np.ndarray:
        others = np.setdiff1d(np.arange(self.vocabulary), list(self.special))
        drawn = generator(self.seed, "random tokens", kind, number, epoch).choice(others, len(ids))
        return np.where(self._hit(ids, share, kind, number, epoch), drawn, ids)


@dataclass(frozen=True)
class _Numbered:
    number: int
    example: Example

    @property
    def lengths(self) -> tuple[int, ...]:
        return self.example.lengths


class NoisyBatches(Dataset):
    """`Batches` whose examples get their noise when they are asked for; *epoch* says which."""

    def __init__(self, examples: Sequence[Example], budget: int, seed: int, noise: Noise):
        self.batches = Batches([_Numbered(*row) for row in enumerate(examples)], budget, seed)
        self.noise, self.epoch = noise, 0

    def __len__(self) -> int:
        return len(self.batches)

    def __getitem__(self, index: int) -> list[Example]:
        return [self.noise(row.example, row.number, self.epoch) for row in self.batches[index]]


class NewNoise(TrainerCallback):
    """Tells noisy batches which pass over the data begins, also where a run goes on in the middle of one."""

    def __init__(self, batches: NoisyBatches):
        self.batches = batches

    def on_epoch_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self.batches.epoch = int((state.epoch or 0) + 1e-6)


# ----------------------------------------------------------------------------
# What a translator is trained on: pairs as text, by the condition of its idioms, then token ids.

#: Longest side of a training pair, in tokens; longer pairs are left out.
LONGEST = 256


_CHUNK = 1024


def regular_texts(recipe: TranslatorRecipe, target: str) -> list[tuple[str, str]]:
    """Pairs as running text; the sources of a drawn share of them as joined tokens, spaced as perturbed text is."""
    return list(_texts(recipe, text_pairs(recipe.train, recipe.src, target, recipe.pairs)))


def idiom_texts(recipe: TranslatorRecipe, target: str) -> list[tuple[str, str]]:
    """The pairs of idiom-train, as often as the condition says; a pair with several idioms once a copy.

    Source: idioms paper, §3.1: *zero*, *joint*, *upsampling*.
    """
    if recipe.idioms is None or not recipe.copies:
        return []
    distinct: dict[tuple[str, str], TextPair] = {}
    for pair in text_pairs(recipe.idioms, recipe.src, target, recipe.idiom_pairs):
        distinct.setdefault((pair.source, pair.target), pair)  # before any is joined: spaced both ways it would be two
    return list(_texts(recipe, distinct.values())) * recipe.copies


def _texts(recipe: TranslatorRecipe, pairs: Iterable[TextPair]) -> Iterator[tuple[str, str]]:
    for pair in pairs:
        is_joined = address(recipe.seed, "joined", pair.id) % 1000 < 1000 * recipe.joined
        if pair.source.strip() and pair.target.strip():
            yield pair.joined if is_joined else pair.source, pair.target


def own_examples(
    tokenizer: Any, pairs: Sequence[tuple[str, str]], target: str, recipe: TranslatorRecipe
) -> Iterator[Example]:
    """Pairs in a vocabulary that was trained here."""
    end = (tokenizer.eos_token_id,)
    marks: list[tuple[int, ...]] = [(), ()]
    if recipe.architecture == "m2m100":
        marks = [(tokenizer.get_lang_id(recipe.src),), (tokenizer.get_lang_id(target),)]
    sources, targets = (encode_all(tokenizer, side) for side in zip(*pairs, strict=True)) if pairs else ((), ())
    for source, reference in zip(sources, targets, strict=True):
        if max(len(source), len(reference)) < LONGEST:
            yield Example((*marks[0], *source, *end), (*marks[1], *reference, *end))


def checkpoint_examples(
    tokenizer: Any, family: Family, pairs: Sequence[tuple[str, str]], target: str, recipe: TranslatorRecipe
) -> Iterator[Example]:
    """Pairs as a checkpoint's own tokenizer cuts and marks them."""
    if family.token is not None:
        tokenizer.src_lang, tokenizer.tgt_lang = family.code(recipe.src), family.code(target)
    mark = f">>{target}<<"
    prefix = f"{mark} " if mark in getattr(tokenizer, "supported_language_codes", ()) else ""
    longest = min(LONGEST, tokenizer.model_max_length)
    stream = iter(pairs)
    while chunk := list(islice(stream, _CHUNK)):
        sources = tokenizer([prefix + source for source, _ in chunk], verbose=False)["input_ids"]
        targets = tokenizer(text_target=[reference for _, reference in chunk], verbose=False)["input_ids"]
        for source, reference in zip(sources, targets, strict=True):
            if max(len(source), len(reference)) > longest:
                continue
            if family.token_starts:  # … </s> fr: the language begins what the decoder reads, and is no label
                yield Example(tuple(source), tuple(reference[:-1]), (reference[-1], *reference[:-2]))
            else:
                yield Example(tuple(source), tuple(reference))


# ----------------------------------------------------------------------------
# Weights to begin with and weights to end with: a checkpoint that is fine-tuned, a mean, the best on dev.


def started(recipe: TranslatorRecipe) -> tuple[Any, Any, Family]:
    """The checkpoint to start from, with the recipe's dropout, its own tokenizer, and its family.

    With one target, the language it is asked for stays in its settings, so that any program translates into that one.
    Raises `ModelError` where it cannot be had, does not speak a language, or is behind a service or in Python code.
    """
    assert recipe.start is not None
    reference = resolve(recipe.start, recipe.src, recipe.targets[0])
    folder = ensure_model(recipe.start, recipe.src, recipe.targets[0])
    if folder is None:
        where = "in Python code" if reference.remote is None else "behind a service"
        raise ModelError(f"start '{recipe.start}' is {where}: a model with files is needed to be trained on")
    family = family_of(reference, folder)
    for target in recipe.targets:
        check_pair(resolve(recipe.start, recipe.src, target), family, folder)
    check_bytes(folder, f"start '{recipe.start}'")
    tokenizer = load_tokenizer(family, folder)
    changes = {"dropout": recipe.dropout, "attention_dropout": recipe.attention_dropout}
    model = load_seq2seq(reference, folder, torch.float32, changes)
    if family.token is not None:
        tokenizer.src_lang, tokenizer.tgt_lang = family.code(recipe.src), family.code(recipe.targets[0])
        token = tokenizer.convert_tokens_to_ids(family.token.format(code=family.code(recipe.targets[0])))
        if family.token_starts:
            model.config.decoder_start_token_id = model.generation_config.decoder_start_token_id = token
        else:
            model.generation_config.forced_bos_token_id = token if len(recipe.targets) == 1 else None
    return model.train(), tokenizer, family


class BestByBleu(Seq2SeqTrainer):
    """Looks at the dev corpus by translating it, as anybody would: from a folder.

    *look* takes the folder of a model and gives its BLEU; *save* writes a model to such a folder. What was best so far
    stands in the trainer's state, so that a run that goes on knows it.
    """

    def __init__(self, *, look: Any, work: Path, save: Any, **options: Any):
        unread: Any = [None]  # the trainer wants a data set; it is `evaluate` that looks
        super().__init__(eval_dataset=unread, **options)
        self._look, self._folder, self._save_whole = look, work / "candidate", save

    def evaluate(self, *_: Any, **__: Any) -> dict[str, float]:
        """BLEU on dev, in percent; measured by one process and told to the others."""
        from accelerate.utils import broadcast_object_list

        found = [0.0]
        if self.is_world_process_zero():
            self._save_whole(self.accelerator.unwrap_model(self.model), self._folder)
            found = [self._look(self._folder)]
        if self.args.world_size > 1:
            found = broadcast_object_list(found)
        metrics = {"eval_bleu": found[0]}
        self.log(metrics)
        self.control = self.callback_handler.on_evaluate(self.args, self.state, self.control, metrics)
        return metrics


def last_folders(folder: Path, count: int) -> list[Path]:
    """The last *count* checkpoints in *folder*, oldest first."""
    return sorted(folder.glob("checkpoint-*"), key=lambda path: int(path.name.rpartition("-")[2]))[-count:]


def mean_weights(folders: Iterable[Path]) -> dict[str, Tensor]:
    """The mean of each tensor over checkpoints. Source: Vaswani et al. 2017, §6.1 (checkpoint averaging)."""
    from safetensors.torch import load_file

    total: dict[str, Tensor] = {}
    chosen = list(folders)
    for folder in chosen:
        for path in sorted(folder.glob("*.safetensors")):
            for name, tensor in load_file(path).items():
                total[name] = total[name] + tensor.double() if name in total else tensor.double()
    return {name: tensor / len(chosen) for name, tensor in total.items()}


def put_in(model: torch.nn.Module, tensors: dict[str, Tensor]) -> None:
    """Sets a model's weights; those that share a stored tensor follow it. Raises `ModelError` for strange names."""
    strange = model.load_state_dict(tensors, strict=False).unexpected_keys
    if strange:
        raise ModelError(f"checkpoint: no such weights in the model: {', '.join(strange[:5])}")


# ----------------------------------------------------------------------------
# The model card of a translator trained here: what it was trained on, how, and how good it is.


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
    looked_at = recipe.dev_pairs if recipe.keep == "best" else 0
    for target in recipe.targets:
        dev = list(text_pairs(recipe.dev, recipe.src, target, max(recipe.card_pairs, looked_at)))
        if looked_at and not dev:
            raise ModelError(f"no checkpoint can be chosen: '{recipe.dev}' holds no pair {recipe.src}→{target}")
        for _ in text_pairs(recipe.test, recipe.src, target, recipe.card_pairs):
            pass


def _bleu(recipe: TranslatorRecipe, folder: Path, target: str, corpus: str, n: int) -> dict[str, Any]:
    translator = load_translator(str(folder.absolute()), recipe.src, target)
    pairs = list(text_pairs(corpus, recipe.src, target, n))
    sources = [pair.source for pair in pairs]
    hypotheses = translator.translate(sources, recipe.src, target, Decoding(), progress=False)
    bleu = corpus_bleu(hypotheses, [pair.target for pair in pairs], target, resamples=0)
    score = bleu.score if pairs else None
    return {"target": target, "corpus": corpus, "pairs": len(pairs), "BLEU": score, "signature": bleu.signature}


def card(recipe: TranslatorRecipe, rows: list[dict[str, Any]]) -> Card:
    """What is said of the model; *rows*: as `measure` has them."""
    lines = [
        (f"{recipe.src}→{row['target']}", row["corpus"], row["pairs"], _number(row["BLEU"]), f"`{row['signature']}`")
        for row in rows
    ]
    scores = table("| pair | corpus | pairs | BLEU | signature |", lines)
    return Card(
        task="translation",
        title=f"{recipe.src} → {', '.join(recipe.targets)}: {_what(recipe)} by nbkit",
        data=_data(recipe),
        scores=f"## BLEU\n\nBeam 4, corpus BLEU on raw text.\n\n{scores}",
        packages=("torch", "transformers", "sentencepiece"),
        remarks=_remarks(recipe),
    )


def _what(recipe: TranslatorRecipe) -> str:
    return f"a {recipe.architecture} model trained" if recipe.start is None else f"`{recipe.start}`, fine-tuned"


def _remarks(recipe: TranslatorRecipe) -> str:
    own = {"lstm": "nbkit.models.networks.sequence", "convs2s": "nbkit.models.networks.sequence"}
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


# ----------------------------------------------------------------------------
# The training itself.

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
    return train_by(recipe, {"sources": [recipe.src], "targets": list(recipe.targets)}, output, _train, resume=resume)


@dataclass(frozen=True)
class _Begun:
    """What training begins with: a model, what cuts texts for it and how it is told languages, and the examples."""

    model: Any
    tokenizer: Any
    family: Family
    examples: Sequence[Example]


def _train(training: Training) -> Path:
    recipe: TranslatorRecipe = training.recipe
    with threads(recipe.threads), quiet():
        regular = {target: regular_texts(recipe, target) for target in recipe.targets}
        if not any(regular.values()):
            raise ModelError(f"nothing to train on: '{recipe.train}' holds no pair {recipe.src}→{recipe.targets}")
        idioms = {target: idiom_texts(recipe, target) for target in recipe.targets}
        check_held_out(recipe)
        begun = _begun(recipe, regular, idioms, training.work)
        trainer = _trainer(begun, training)

        def facts(result: Any) -> dict[str, Any]:
            kept = _keep(recipe, begun.model, trainer.state, training.checkpoints)
            found = {"pairs": sum(map(len, regular.values()))}
            if recipe.idioms is not None:
                found["pairs with idioms, copies included"] = sum(map(len, idioms.values()))
            return {**found, "steps": result.global_step, "loss": result.training_loss, **kept}

        return training.through(trainer, begun.tokenizer, facts, lambda folder: card(recipe, measure(recipe, folder)))


_Texts = Mapping[str, list[tuple[str, str]]]


def _begun(recipe: TranslatorRecipe, regular: _Texts, idioms: _Texts, work: Path) -> _Begun:
    encode: Callable[..., Iterator[Example]]
    if recipe.start is None:
        model, (tokenizer, family) = None, _new_vocabulary(recipe, regular, work / "tokenizer")
        encode = partial(own_examples, tokenizer)
    else:
        model, tokenizer, family = started(recipe)
        encode = partial(checkpoint_examples, tokenizer, family)
    pairs = {target: [*regular[target], *idioms[target]] for target in recipe.targets}
    found = list(chain.from_iterable(encode(pairs[target], target, recipe) for target in recipe.targets))
    set_seed(recipe.seed)
    model = new_model(recipe, tokenizer) if model is None else model
    return _Begun(model, tokenizer, family, found)


def _new_vocabulary(recipe: TranslatorRecipe, regular: _Texts, folder: Path) -> tuple[Any, Family]:
    from accelerate import PartialState

    # Language by language in turn, so that each has its share of what the vocabulary is learnt from.
    rows = zip_longest(*regular.values(), fillvalue=())
    texts = dict.fromkeys(text for row in rows for pair in row for text in pair)
    family = families()["m2m100" if recipe.architecture == "m2m100" else "marian"]
    with PartialState().main_process_first():
        if is_main_process():
            train_vocabulary(texts, recipe, fresh(folder))
        return load_tokenizer(family, folder), family


def _trainer(begun: _Begun, training: Training) -> Any:
    recipe: TranslatorRecipe = training.recipe
    start = begun.model.config.decoder_start_token_id
    batches: Batches | NoisyBatches = Batches(begun.examples, recipe.batch_tokens, recipe.seed)
    callbacks = []
    if recipe.is_noisy:
        noise = Noise.of(recipe, begun.tokenizer, begun.family, start)
        batches = NoisyBatches(begun.examples, recipe.batch_tokens, recipe.seed, noise)
        callbacks.append(NewNoise(batches))
    options = {
        "model": begun.model,
        "args": _arguments(recipe, training.checkpoints),
        "train_dataset": batches,
        "data_collator": Collate(begun.tokenizer.pad_token_id, start),
        "callbacks": callbacks,
    }
    if recipe.keep != "best":
        return Seq2SeqTrainer(**options)
    return BestByBleu(
        look=lambda folder: dev_bleu(recipe, folder),
        work=training.work,
        save=lambda model, folder: save_trained(model, begun.tokenizer, training.record, folder),
        **options,
    )


def _keep(recipe: TranslatorRecipe, model: Any, state: Any, folder: Path) -> dict[str, Any]:
    """Puts the weights that are kept into *model*, and says in words which they are."""
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
