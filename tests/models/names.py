"""Names of models of every kind, whose store keys are frozen in ``keys.json``: `write` makes it, `test_keys` compares.

A key that changes makes every stored answer of its model unreachable. Written by::

    python -m tests.models.names
"""
# ruff: noqa: B023 - each function is called at once

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from hashlib import blake2b
from importlib.metadata import version
from pathlib import Path
from typing import Any

from nbkit.errors import NbkitError
from nbkit.models import CLASSIFIERS, LANGUAGE_MODELS, MODELS, Decoding, Entry, load

FROZEN = Path(__file__).with_name("keys.json")
PACKAGES = ("ctranslate2", "torch", "transformers")
ENVIRONMENT = {"MINE": "./mt-en-de", "OPENAI_API_KEY": "sk-test-123456", "HF_HUB_CACHE": "/nonexistent/hub"}
#: Devices with dtypes, and settings of the search.
PLACES = (("cpu", "auto"), ("cuda:1", "auto"), ("cpu", "bfloat16"))
SEARCHES: tuple[dict[str, Any], ...] = (
    {},
    {"beams": 1},
    {"beams": 2, "max_new_tokens": 30, "length_penalty": 0.5, "early_stopping": True},
)
TRANSLATORS = [
    *((name, "en", "de") for name in (
        "opus-mt", "mbart50", "m2m100-418m", "m2m100-1.2b", "nllb-600m", "opus-mt@ct2", "nllb-600m@ct2-int8",
        "Helsinki-NLP/opus-mt-en-de", "Helsinki-NLP/opus-mt-en-de@main", "a/b@v2@ct2", "./mt-en-de", "./mt-en-de@ct2",
        "./mt-en-de@ct2-int8", "$MINE", "${MINE}@ct2", "sandbox", "sandbox-any#2", "sandbox@ct2", "sandbox-marian",
        "sandbox-marian#3@ct2-int8", "sandbox-m2m", "sandbox-m2m@ct2", "sandbox-lstm", "sandbox-convs2s",
        "sandbox-numbers", "sandbox-wsd-lstm#2", "captions", "captions@ct2", "mine", "mine2", "served",
        "openai:gpt-4o-mini", "openai:qwen3:8b@http://localhost:11434/v1?temperature=none&concurrency=2",
        "openai:m@http://localhost:8000/v1?prompt=plain&seed=7&temperature=0.5",
        "openai:m@https://api.mistral.ai/v1/?limit=none",
        "openai:m@http://localhost:8000/v1?prompt=p.yaml&limit=max_completion_tokens", "command:tr a-z A-Z",
        "command:echo {src}-{tgt} {src3} {tgt3}", "command:python3 up.py",
        'command:{"command": ["tr", "a-z", "A-Z"], "isolate": "batch", "version": "2", "timeout": 5, "workers": 2, '
        '"label": "T"}',
        "command:no-such-program-x", "outputs:sys.{tgt}", "outputs:sys.de?source=source.en", "./nowhere",
    )),
    *((name, "en", "fr") for name in (
        "sandbox-idioms-zero", "sandbox-idioms-upsample-20", "sandbox-idioms-tuned-joint#4", "sandbox-m2m")),
    ("opus-mt", "en", "zh"), ("opus-mt", "en", "ja"), ("opus-mt@ct2", "en", "zh"), ("m2m100-418m", "de", "zh"),
    ("sandbox-marian", "en", "ru"),
]  # fmt: skip
NLI = [
    *((name, "en") for name in (
        "roberta-large-mnli", "bart-large-mnli", "distilbert-mnli", "sandbox-roberta", "sandbox-bart",
        "sandbox-distilbert", "sandbox-convnet", "sandbox-infersent", "infersent", "sick-roberta",
        "a/b?labels=contradiction,neutral,entailment", "roberta-large-mnli?labels=neutral,entailment,contradiction",
        "mine", "./mt-en-de", "openai:gpt-4o-mini", "openai:m@http://localhost:8000/v1?prompt=classify",
        "outputs:sys.labels")),
    ("sandbox-roberta", "de"), ("ocnli-bilstm", "zh"),
]  # fmt: skip
SCORERS = [
    *((name, lang) for name in (
        "gpt2", "distilgpt2", "bert", "sandbox-gpt", "sandbox-bert", "sandbox-wsd-gpt", "captions-gpt", "a/b", "mine",
        "./mt-en-de") for lang in (None, "en")),
    ("bert-german", None), ("sandbox-gpt", "de"), ("captions-bert", "de"),
]  # fmt: skip


def place_files(folder: Path) -> None:
    """The files that the names refer to, in *folder*, which has to be the working folder."""
    model = folder / "mt-en-de"
    model.mkdir()
    (model / "config.json").write_text('{"model_type": "marian", "architectures": ["MarianMTModel"]}\n')
    (model / "tokenizer_config.json").write_text("{}\n")
    (model / "model.safetensors").write_bytes(b"weights")
    (folder / "source.en").write_text("Tom sleeps.\nMary sings.\n")
    (folder / "sys.de").write_text("Tom schläft.\nMaria singt.\n")
    (folder / "sys.labels").write_text("neutral\nentailment\n")
    (folder / "up.py").write_text("import sys\nfor line in sys.stdin:\n    print(line.strip().upper())\n")
    (folder / "p.yaml").write_text("messages:\n  - user: 'Say {text} in {target}'\n")


def shout(texts: list[str]) -> list[str]:
    return [text.upper() for text in texts]


def echo(texts: list[str]) -> list[str]:
    return list(texts)


shout.identity = "v2"  # type: ignore[attr-defined]
echo.identity = {"a": 1, "b": [2, 3]}  # type: ignore[attr-defined]


def register_all() -> None:
    """The registered names among them."""
    MODELS.register("mine", shout)
    MODELS.register("mine2", echo)
    CLASSIFIERS.register("mine", shout)
    LANGUAGE_MODELS.register("mine", echo)
    MODELS.register("served", Entry(hub="openai:q-{src}@http://localhost:1/v1", label="S", sources=("en",)))
    MODELS.register("captions", Entry(hub="./mt-{src}-{tgt}", label="C"))


def keys() -> Iterator[tuple[str, Any]]:
    """What is asked, in words, and the store key of its answers, or the error."""
    for device, dtype in PLACES:
        how = {"device": device, "dtype": dtype}
        for name, src, tgt in TRANSLATORS:
            for search in SEARCHES:
                place = " ".join(map(str, ("translate", name, src, tgt, device, dtype, *search.values())))
                yield place, _tried(lambda: load(name, "translate", src, tgt, decoding=Decoding(**search), **how).key())
        for task, names in (("classify", NLI), ("likelihood", SCORERS)):
            for name, lang in names:
                place = " ".join((task, name, str(lang), device, dtype))
                yield place, _tried(lambda: load(name, task, lang, **how).key())


def _tried(key: Any) -> Any:
    try:
        return _without_versions(json.loads(json.dumps(key())))
    except NbkitError as error:
        return type(error).__name__


def _without_versions(value: Any) -> Any:
    """*value* without what changes with the installed packages, and with the programs of this machine."""
    if not isinstance(value, dict):
        return value
    known = {name: version(name) for name in PACKAGES}
    return {
        name: "installed" if name in known and each == known[name] else _without_versions(each)
        for name, each in ({**value, "program": bool(value["program"])} if "program" in value else value).items()
    }


def digest(key: Any) -> str:
    """What is frozen of a key."""
    return blake2b(json.dumps(key, sort_keys=True).encode(), digest_size=8).hexdigest()


def main() -> None:
    """Write ``keys.json`` anew."""
    import tempfile

    os.environ.update(ENVIRONMENT)
    os.environ.pop("NBKIT_DATA", None)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        place_files(Path(folder))
        register_all()
        found = {place: (key, digest(key)) for place, key in keys()}
    whole = {place: key for place, (key, _) in found.items() if place.endswith("cpu auto")}
    digests = {place: each for place, (_, each) in found.items()}
    FROZEN.write_text(json.dumps({"keys": whole, "digests": digests}, indent=0, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
