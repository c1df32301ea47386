"""Chat models behind a real server on this machine, one that fails in all the ways that servers fail."""

from __future__ import annotations

import threading
import time
from email.utils import formatdate
from itertools import pairwise
from pathlib import Path

import pytest

from nbkit.errors import ModelError
from nbkit.models import Decoding
from nbkit.models.services import service
from nbkit.store import Store
from tests.models.by_name import load_translator, translate_remembered, usage_remembered

from .chat_server import Asked, Reply, chat_server, completion

KEY = "sk-quite-secret"
TEXTS = [f"sentence {number}" for number in range(12)]
#: Fast enough for a test, patient enough to be seen.
QUICK = "backoff=0.01"


@pytest.fixture(autouse=True)
def own_server_settings(monkeypatch):
    for variable in ("OPENAI_BASE_URL", "OPENAI_API_KEY"):
        monkeypatch.delenv(variable, raising=False)


def upper(asked: Asked) -> Reply:
    return completion(asked.text.upper())


def translator(server, options: str = QUICK):
    return load_translator(f"openai:tiny@{server.url}?{options}", "en", "de")


def kept_text(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


def test_a_request_says_all_that_matters(monkeypatch):
    with chat_server(upper) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/")
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        asked = load_translator("openai:org/tiny", "en", "ta").translate(["Tom\nsleeps."], "en", "ta", progress=False)
    assert asked == ["TOM SLEEPS."]
    (request,) = server.asked
    assert request.path == "/v1/chat/completions"
    assert request.headers["Authorization"] == f"Bearer {KEY}"
    body = request.body
    assert (body["model"], body["temperature"], body["seed"], body["stream"]) == ("org/tiny", 0.0, 0, False)
    assert body["max_tokens"] == Decoding().limit(len("Tom sleeps."))
    assert [message["role"] for message in body["messages"]] == ["system", "user"]
    assert body["messages"][1]["content"] == "Translate from English into Tamil:\n\nTom sleeps."


def test_options_change_the_request():
    options = "prompt=plain&temperature=none&seed=7&limit=max_completion_tokens"
    with chat_server(upper) as server:
        translator(server, options).translate(["a"], "en", "de", Decoding(max_new_tokens=9), progress=False)
        translator(server, "seed=none&limit=none&temperature=0.5").translate(["a"], "en", "de", progress=False)
    first, second = (asked.body for asked in server.asked)
    assert first["max_completion_tokens"] == 9
    assert first["seed"] == 7
    assert not {"temperature", "max_tokens"} & set(first)
    assert [message["role"] for message in first["messages"]] == ["user"]
    assert second["temperature"] == 0.5
    assert not {"seed", "max_tokens", "max_completion_tokens"} & set(second)


def test_order_is_kept_and_nothing_is_asked_twice_or_for_nothing():
    def slow_first(asked: Asked) -> Reply:
        return completion(asked.text.upper(), pause=0.2 if asked.text == "one" else 0.0)

    with chat_server(slow_first) as server:
        answers = translator(server).translate(["one", " ", "two", "one", "three"], "en", "de", progress=False)
    assert answers == ["ONE", "", "TWO", "ONE", "THREE"]
    assert sorted(server.texts()) == ["one", "three", "two"]


def test_as_many_at_once_as_allowed_and_no_more():
    together = threading.Barrier(3)

    def meet(asked: Asked) -> Reply:
        together.wait(timeout=20)  # breaks where fewer than three come at once
        return upper(asked)

    with chat_server(meet) as server:
        answers = translator(server, "concurrency=3").translate(TEXTS, "en", "de", progress=False)
    assert answers == [text.upper() for text in TEXTS]
    assert server.most_at_once == 3


def test_a_rate_is_kept():
    with chat_server(upper) as server:
        translator(server, "rate=1200&concurrency=4").translate(TEXTS[:6], "en", "de", progress=False)
    times = sorted(asked.at for asked in server.asked)
    assert times[-1] - times[0] >= 5 * 0.05 - 0.03


@pytest.mark.thorough
@pytest.mark.parametrize(
    "waiting",
    [{"Retry-After": "1"}, {"retry-after-ms": "800"}, {"Retry-After": "date"}],
    ids=["seconds", "milliseconds", "date"],
)
def test_retry_after_holds_all_requests_back(waiting):
    refused_at: list[float] = []

    def limited(asked: Asked) -> Reply:
        if not refused_at:
            refused_at.append(time.monotonic())
            # A date has whole seconds: two ahead is more than one away.
            headers = {
                name: value.replace("date", formatdate(time.time() + 2, usegmt=True)) for name, value in waiting.items()
            }
            return Reply({"error": {"message": "slow down"}}, 429, headers)
        return upper(asked)

    with chat_server(limited) as server:
        answers = translator(server, "concurrency=1&backoff=0.01").translate(TEXTS[:3], "en", "de", progress=False)
    assert answers == [text.upper() for text in TEXTS[:3]]
    assert len(server.asked) == 4
    assert min(asked.at for asked in server.asked[1:]) - refused_at[0] >= 0.75


def test_a_spent_limit_is_waited_for_before_the_server_has_to_say_no():
    def counting(asked: Asked) -> Reply:
        spent = {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "400ms"}
        return completion(asked.text.upper(), headers=spent if asked.text == "one" else {})

    with chat_server(counting) as server:
        translator(server, "concurrency=1").translate(["one", "two"], "en", "de", progress=False)
    assert server.asked[1].at - server.asked[0].at >= 0.35


def test_no_more_requests_are_sent_than_most():
    with chat_server(upper) as server:
        model = translator(server, "most=3&concurrency=4")
        with pytest.raises(ModelError, match=r"all 3 requests of \?most= are sent"):
            model.translate(TEXTS[:6], "en", "de", progress=False)
    assert len(server.asked) == 3


def test_a_wait_without_end_is_reported():
    limited = Reply("", 429, {"Retry-After": "7200"})
    with chat_server(lambda asked: limited) as server, pytest.raises(ModelError, match="429; the server asks to wait"):
        translator(server).translate(["a"], "en", "de", progress=False)
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    "fault",
    [
        Reply({"error": {"message": "overloaded"}}, 500),
        Reply("", 503),
        Reply(b"<html>Bad gateway</html>", 502),
        Reply(b'{"choices": [{"mess'),
        Reply(b"\xff\xfe"),
        Reply([]),
        Reply({"choices": []}),
        Reply({"choices": [{"message": None}]}),
        Reply({"object": "something else"}),
        Reply(b'{"choices": [{"message": {"content": "a\\ud800b"}}]}'),
    ],
    ids=["500", "503", "502", "cut", "bytes", "list", "no choice", "no message", "no completion", "half a pair"],
)
def test_what_passes_is_tried_again(fault):
    with chat_server(lambda asked: fault if len(server.asked) < 3 else upper(asked)) as server:
        assert translator(server).translate(["a"], "en", "de", progress=False) == ["A"]
    assert len(server.asked) == 3


def test_a_server_that_is_not_there_is_reported_after_all_attempts():
    with chat_server(upper) as server:
        pass
    with pytest.raises(ModelError, match=r"ConnectError: .*; gave up after 3 attempts for 'a'; .*run again"):
        translator(server, "attempts=3&backoff=0.01").translate(["a"], "en", "de", progress=False)


@pytest.mark.parametrize("fault", [{"pause": 30.0}, {"trickle": 0.05}], ids=["hangs", "trickles"])
def test_a_server_that_hangs_is_given_up(fault):
    with chat_server(lambda asked: completion("x" * 400, **fault)) as server:
        start = time.monotonic()
        with pytest.raises(ModelError, match=r"no answer within 0\.4 s; gave up after 2 attempts"):
            translator(server, "timeout=0.4&attempts=2&backoff=0.01").translate(["a"], "en", "de", progress=False)
        assert 0.8 <= time.monotonic() - start < 15
    assert len(server.asked) == 2


def test_waits_grow_from_attempt_to_attempt():
    with chat_server(lambda asked: Reply("", 500)) as server, pytest.raises(ModelError, match="after 4 attempts"):
        translator(server, "attempts=4&backoff=0.1").translate(["a"], "en", "de", progress=False)
    times = [asked.at for asked in server.asked]
    gaps = [after - before for before, after in pairwise(times)]
    assert [gap >= least for gap, least in zip(gaps, (0.05, 0.1, 0.2), strict=True)] == [True] * 3


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        (Reply({"error": {"message": "no such key"}}, 401), "answered 401: no such key .no key was sent: NBKIT_KEY_1"),
        (Reply({"detail": "not found"}, 404), "is 'tiny' the server's name for the model"),
        (
            Reply({"error": "unknown field seed"}, 400),
            r"400: unknown field seed; .*: \?seed=none .text: 'sentence 0'",
        ),
        (Reply({"error": "context too long"}, 400), "answered 400: context too long .text: 'sentence 0'"),
        (Reply({"error": {"message": "no money", "code": "insufficient_quota"}}, 429), "answered 429: no money"),
        (Reply("", 307, {"Location": "http://127.0.0.1:9/"}), "answered 307"),
        (Reply(b"x" * (5 * 2**20)), "answered with more than 4194304 bytes"),
    ],
    ids=["key", "model", "field", "text", "quota", "elsewhere", "flood"],
)
def test_what_does_not_pass_is_reported_at_once(reply, message):
    with chat_server(lambda asked: reply) as server, pytest.raises(ModelError, match=message):
        translator(server, "concurrency=1").translate(TEXTS, "en", "de", progress=False)
    assert len(server.asked) == 1


def test_answers_that_are_not_one_line_are_handled_and_counted(tmp_path):
    replies = {
        "a": completion("Eins.\nOder: eine."),
        "b": completion('"Zwei."'),
        "c": completion("Drei."),
        "d": completion(None, "content_filter"),
        "e": completion("Translation: Fün", "length"),
        "f": completion([{"type": "text", "text": "Sechs"}, {"type": "text", "text": "."}]),
        "g": completion("<think>Hm, seven is", "length"),
        "h": completion(" \n"),
    }
    with chat_server(lambda asked: replies[asked.text]) as server:
        name, store = f"openai:tiny@{server.url}?{QUICK}", Store(tmp_path)
        answers = translate_remembered(name, list(replies), "en", "de", store=store, progress=False)
        usage = usage_remembered(name, "en", "de", store=store)
    assert answers == ["Eins.", "Zwei.", "Drei.", "", "Fün", "Sechs.", "", ""]
    assert usage == {
        "texts": 8, "prompt_tokens": 160, "completion_tokens": 40, "characters": 8,
        "cut": 1, "trimmed": 1, "as is": 2, "refused": 1, "truncated": 2, "empty": 1,
    }  # fmt: skip


def test_a_failure_in_the_middle_loses_nothing_that_was_answered(tmp_path):
    store = Store(tmp_path)
    broken = {"sentence 7"}

    def reply(asked: Asked) -> Reply:
        return Reply({"error": "no"}, 400) if asked.text in broken else completion(asked.text.upper())

    with chat_server(reply) as server:
        name = f"openai:tiny@{server.url}?concurrency=2"
        with pytest.raises(ModelError, match="answered 400"):
            translate_remembered(name, TEXTS, "en", "de", store=store, progress=False)
        first = set(server.texts()) - broken
        assert 7 <= len(first) < len(TEXTS) - 1
        known = usage_remembered(name, "en", "de", store=store)
        assert (known["texts"], known["prompt_tokens"], known["completion_tokens"]) == (
            len(first),
            20 * len(first),
            5 * len(first),
        )
        broken.clear()
        server.asked.clear()
        answers = translate_remembered(name, TEXTS, "en", "de", store=store, progress=False)
        assert answers == [text.upper() for text in TEXTS]
        assert set(server.texts()) == set(TEXTS) - first
        assert usage_remembered(name, "en", "de", store=store) == {
            "texts": 12, "prompt_tokens": 240, "completion_tokens": 60,
            "characters": sum(map(len, TEXTS)), "as is": 12,
        }  # fmt: skip


def test_an_interruption_loses_nothing_that_was_answered(tmp_path, monkeypatch):
    store = Store(tmp_path)
    as_completed = service.as_completed

    def interrupted(futures):
        for number, future in enumerate(as_completed(futures)):
            if number == 5:
                raise KeyboardInterrupt
            yield future

    with chat_server(upper) as server:
        name = f"openai:tiny@{server.url}?concurrency=1"
        monkeypatch.setattr(service, "as_completed", interrupted)
        with pytest.raises(KeyboardInterrupt):
            translate_remembered(name, TEXTS, "en", "de", store=store, progress=False)
    assert usage_remembered(name, "en", "de", store=store)["texts"] == 5


def test_another_rule_or_pace_asks_nobody_and_another_prompt_does(tmp_path):
    store = Store(tmp_path / "store")
    own = tmp_path / "own.yaml"
    own.write_text("messages:\n  - user: 'Into {target}, please:\n\n      {text}'\n", encoding="utf-8")
    with chat_server(upper) as server:
        base = f"openai:tiny@{server.url}"
        for options in ("", "?concurrency=2&timeout=9&rate=9999&attempts=1&backoff=0"):
            for decoding in (Decoding(), Decoding(beams=1, length_penalty=2.0)):
                translate_remembered(base + options, ["a"], "en", "de", decoding, store=store, progress=False)
        assert len(server.asked) == 1
        translate_remembered(f"{base}?prompt={own}", ["a"], "en", "de", store=store, progress=False)
        assert server.asked[-1].body["messages"] == [{"role": "user", "content": "Into German, please:\na"}]
        for options in ("?seed=1", "?temperature=1", "?prompt=plain"):
            translate_remembered(base + options, ["a"], "en", "de", store=store, progress=False)
        translate_remembered(base, ["a"], "en", "de", Decoding(max_new_tokens=5), store=store, progress=False)
    assert len(server.asked) == 6


def test_numbers_are_carried_over_by_rule_around_a_server_too(tmp_path):
    with chat_server(upper) as server:
        name = f"placeholder:openai:tiny@{server.url}"
        answers = translate_remembered(
            name, ["it cost 1,234.5 dollars"], "en", "de", store=Store(tmp_path), progress=False
        )
    assert answers == ["IT COST 1.234,5 DOLLARS"]
    assert server.texts() == ["it cost 7 dollars"]
