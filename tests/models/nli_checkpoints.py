"""Tiny NLI classifiers with random weights, of every architecture, labelled as their published ones are."""

from __future__ import annotations

import json
from pathlib import Path

WORDS = (
    "a man is riding the red bicycle down the old street",
    "the little dog does n't sleep under the table in the kitchen",
    "a woman in a blue shirt can play the guitar for children",
    "nobody is cooking rice and two cats are watching the birds",
)
#: What the outputs of the published models are called, in their order.
LABELS = {
    "roberta": ("CONTRADICTION", "NEUTRAL", "ENTAILMENT"),
    "bart": ("contradiction", "neutral", "entailment"),
    "distilbert": ("ENTAILMENT", "NEUTRAL", "CONTRADICTION"),
    "infersent": ("entailment", "neutral", "contradiction"),
    "bilstm": ("neutral", "contradiction", "entailment"),
    "convnet": ("entailment", "contradiction", "neutral"),
}
#: Others that any checkpoint can have: what their classifier is called, and whose settings and tokenizer it goes with.
MORE = {
    "bert": ("Bert", "distilbert", ("neutral", "entailment", "contradiction")),
    "camembert": ("Camembert", "roberta", ("entailment", "neutral", "contradiction")),
    "xlm-roberta": ("XLMRoberta", "roberta", ("contradiction", "entailment", "neutral")),
}
PAIRS = tuple(
    (" ".join(first.split()[i:]), " ".join(second.split()[: j + 2]))
    for i, first in enumerate(WORDS)
    for j, second in enumerate(WORDS)
)


def relabel(folder: Path, labels: tuple[str, ...] | None) -> None:
    """Writes other names of the outputs into the settings, and nothing else."""
    path = folder / "config.json"
    config = json.loads(path.read_text())
    config.pop("id2label", None)
    config.pop("label2id", None)
    if labels is not None:
        config["id2label"] = {str(i): name for i, name in enumerate(labels)}
        config["label2id"] = {name: i for i, name in enumerate(labels)}
    path.write_text(json.dumps(config))


def save_classifier(folder: Path, architecture: str, width: int = 16, vocabulary: int = 400) -> Path:
    """A checkpoint of the architecture, its weights drawn wide, so that pairs differ in what they get."""
    import torch

    from nbtrain import ClassifierRecipe
    from nbtrain.training import new_classifier, train_tokenizer

    sizes = {"embedding": 12, "width": width, "ffn": 32, "heads": 2, "layers": 2, "comparison": 16, "dropout": 0.3}
    recipe = ClassifierRecipe(architecture=architecture, steps=1, vocabulary=vocabulary, **sizes)
    tokenizer = train_tokenizer([text for text in WORDS for _ in range(9)], recipe)
    torch.manual_seed(5)
    model = new_classifier(recipe, tokenizer)
    with torch.no_grad():
        for weight in model.parameters():
            weight.copy_(torch.randn_like(weight) * 0.5)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    relabel(folder, LABELS[architecture])
    return folder


def save_other(folder: Path, architecture: str, like: Path) -> Path:
    """A checkpoint of an architecture of `MORE`; *like*: one of the architecture whose tokenizer it goes with."""
    import torch
    import transformers

    kind, _, labels = MORE[architecture]
    tokenizer = transformers.AutoTokenizer.from_pretrained(like)
    if architecture == "bert":
        tokenizer = transformers.BertTokenizer(vocab=tokenizer.get_vocab(), model_max_length=tokenizer.model_max_length)
    config = getattr(transformers, f"{kind}Config")(
        vocab_size=len(tokenizer),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=520,
        type_vocab_size=2 if architecture == "bert" else 1,
        pad_token_id=tokenizer.pad_token_id,
        num_labels=3,
    )
    torch.manual_seed(6)
    model = getattr(transformers, f"{kind}ForSequenceClassification")(config)
    with torch.no_grad():
        for weight in model.parameters():
            weight.copy_(torch.randn_like(weight) * 0.5)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    relabel(folder, labels)
    return folder
