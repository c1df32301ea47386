"""``transformers serve`` on this machine, with a tiny chat model of random weights."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from transformers.utils.import_utils import is_serve_available

from nbkit.errors import ModelError
from nbkit.models import Decoding
from nbkit.store import Store
from tests.models.by_name import load_translator, translate_remembered, usage_remembered

pytestmark = pytest.mark.skipif(
    not is_serve_available(), reason='transformers serve is not installed: pip install "transformers[serving]"'
)

TEXTS = ("Tom sleeps .", "The little dog sleeps under the old table .", "Tom sleeps .", "")
LIMIT = Decoding(max_new_tokens=12)


def save_chat_model(folder: Path, sentences: tuple[str, ...]) -> Path:
    """A Llama of random weights over a byte-level vocabulary, with a chat template."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=400, special_tokens=["<s>", "</s>"], initial_alphabet=alphabet)
    tokenizer.train_from_iterator(sentences, trainer)
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>", pad_token="</s>")
    fast.chat_template = "<s>{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}\n{% endfor %}assistant:"
    torch.manual_seed(3)
    config = LlamaConfig(
        vocab_size=len(fast), hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2,
        max_position_embeddings=512, bos_token_id=0, eos_token_id=1, pad_token_id=1, initializer_range=0.5,
    )  # fmt: skip
    LlamaForCausalLM(config).save_pretrained(folder)
    fast.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """The server's URL, and the folder of its model, which is what the server calls it."""
    from .conftest import SENTENCES

    folder = save_chat_model(tmp_path_factory.mktemp("served") / "tiny-chat", SENTENCES)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = folder.parent / "log.txt"
    # The command's own script may not be on the path.
    command = [sys.executable, "-c", "from transformers.cli.transformers import main; main()", "serve", str(folder)]
    settings = {"HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1", "HF_HOME": str(folder.parent / "hub")}
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*command, "--host", "127.0.0.1", "--port", str(port), "--device", "cpu"],
            stdout=output, stderr=output, env={**os.environ, **settings},
        )  # fmt: skip
        try:
            until = time.monotonic() + 120
            while not is_up(port):
                assert process.poll() is None and time.monotonic() < until, log.read_text()[-2000:]
                time.sleep(0.2)
            yield f"http://127.0.0.1:{port}/v1", folder
        finally:
            process.terminate()
            process.wait(timeout=30)


def is_up(port: int) -> bool:
    try:
        return httpx.get(f"http://127.0.0.1:{port}/health", timeout=2.0).status_code == 200
    except httpx.TransportError:
        return False


def test_a_real_server_translates_the_same_every_time(served, tmp_path):
    url, folder = served
    name = f"openai:{folder}@{url}?concurrency=2"
    first = load_translator(name, "en", "de").translate(TEXTS, "en", "de", LIMIT, progress=False)
    second = translate_remembered(name, TEXTS, "en", "de", LIMIT, store=Store(tmp_path), progress=False)
    assert first == second
    assert first[0] == first[2]
    assert first[3] == ""
    usage = usage_remembered(name, "en", "de", LIMIT, store=Store(tmp_path))
    assert usage.texts == 2
    assert usage.prompt_tokens > 40
    assert 2 <= usage.completion_tokens <= 24


def test_a_model_that_the_server_does_not_have(served):
    url, _ = served
    with pytest.raises(ModelError, match=r"answers [45]"):
        load_translator(f"openai:other@{url}?attempts=1", "en", "de").translate(["a"], "en", "de", progress=False)
