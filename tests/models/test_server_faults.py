"""A server that goes bad in the middle of work that is remembered: told, nothing lost, and no wrong answer stored."""

from __future__ import annotations

import tracemalloc
import zlib

import pytest

from nbkit.errors import ModelError
from nbkit.store import Store
from tests.models.by_name import translate_remembered, usage_remembered

from .chat_server import Asked, Reply, chat_server, completion

TEXTS = [f"sentence {number}" for number in range(12)]
GOOD = 5
#: Each fault, and what is said of it.
FAULTS = {
    "hangs": (completion("WRONG", pause=30.0), r"no answer within 1 s; gave up after 2 attempts"),
    "says wait": (Reply({"error": {"message": "slow down"}}, 429), "answered 429: slow down; gave up after 2 attempts"),
    "garbage": (Reply(b'{"choices": [{"message": {"content": "WRO'), "no chat completion in the answer"),
    "another page": (Reply(b"<html>WRONG</html>", 200), "no chat completion in the answer '<html>WRONG"),
    "error as an answer": (Reply({"error": {"message": "CUDA out of memory"}}, 200), "no chat completion"),
}


@pytest.mark.thorough
@pytest.mark.parametrize("fault", FAULTS)
def test_a_server_that_goes_bad_costs_what_it_did_not_answer(fault, tmp_path, monkeypatch):
    for variable in ("OPENAI_BASE_URL", "OPENAI_API_KEY"):
        monkeypatch.delenv(variable, raising=False)
    reply, message = FAULTS[fault]
    well: list[str] = []
    is_bad = [True]

    def answer(asked: Asked) -> Reply:
        if is_bad[0] and len(well) == GOOD and asked.text not in well:
            return reply
        well.append(asked.text)
        return completion(asked.text.upper())

    # Short only where it is waited for: on a busy machine a good answer may take as long, and is asked for again.
    timeout = 1 if fault == "hangs" else 60
    with chat_server(answer) as server:
        name = f"openai:tiny@{server.url}?concurrency=1&timeout={timeout}&attempts=2&backoff=0.01"
        store = Store(tmp_path)
        with pytest.raises(ModelError, match=rf"{message}.*run again to continue"):
            translate_remembered(name, TEXTS, "en", "de", store=store, progress=False)
        assert usage_remembered(name, "en", "de", store=store)["texts"] == GOOD
        is_bad[0] = False
        # Another process finds what was answered, asks for the rest, and has what a good server would have said.
        found = translate_remembered(name, TEXTS, "en", "de", store=Store(tmp_path), progress=False)
    assert found == [text.upper() for text in TEXTS]
    assert sorted(set(well) if fault == "hangs" else well) == sorted(TEXTS)


def packed_zeros(megabytes: int) -> bytes:
    """A gzip stream of so many megabytes of zeros: one, packed so that it can be repeated."""
    stream = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS | 16)
    head = stream.compress(bytes(2**20)) + stream.flush(zlib.Z_FULL_FLUSH)
    return head + (stream.compress(bytes(2**20)) + stream.flush(zlib.Z_FULL_FLUSH)) * (megabytes - 1) + stream.flush()


@pytest.mark.parametrize("status", [200, 503])
def test_a_gigabyte_of_packed_zeros_is_not_unpacked(status, tmp_path, monkeypatch):
    for variable in ("OPENAI_BASE_URL", "OPENAI_API_KEY"):
        monkeypatch.delenv(variable, raising=False)
    bomb = packed_zeros(1024)
    with chat_server(lambda asked: Reply(bomb, status, {"Content-Encoding": "gzip"})) as server:
        name = f"openai:tiny@{server.url}?concurrency=1&attempts=1"
        tracemalloc.start()
        try:
            with pytest.raises(ModelError, match=r"answers packed \('gzip'\)"):
                translate_remembered(name, ["a"], "en", "de", store=Store(tmp_path), progress=False)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert peak < 24 * 2**20
