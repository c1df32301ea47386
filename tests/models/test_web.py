"""Translation services by way of deep-translator; requests go to a real server on this machine."""

from __future__ import annotations

import re
import time
from importlib.util import find_spec

import pytest

from nbkit.errors import MissingExtraError, ModelError, UnknownNameError
from nbkit.models import check_model, label, load_translator, model_identity, translate_remembered, usage_remembered
from nbkit.models.services import names
from nbkit.store import Store

from .chat_server import Asked, Reply, chat_server

NAME = "deep-translator:libre?rate=0&backoff=0.01"
KEY = "quite/secret"

needs_package = pytest.mark.skipif(find_spec("deep_translator") is None, reason="deep-translator is not installed")


@pytest.fixture(autouse=True)
def own_keys(monkeypatch):
    for service in names.services().values():
        for variable in (*service.keys.values(), *service.wishes.values()):
            monkeypatch.delenv(variable, raising=False)


@pytest.fixture
def libre(monkeypatch):
    """LibreTranslate as it is asked by the package, here on this machine: shouts."""

    def reply(asked: Asked) -> Reply:
        text = re.search(r"q=([^&]*)", asked.path)[1].replace("+", " ")
        return Reply({"translatedText": text.upper()})

    with chat_server(reply) as server:
        monkeypatch.setenv("LIBRE_URL", f"{server.url.removesuffix('v1')}")
        monkeypatch.setenv("LIBRE_API_KEY", KEY)
        yield server


def test_names():
    assert label("deep-translator:google") == "Google"
    with pytest.raises(UnknownNameError, match="did you mean 'google'"):
        label("deep-translator:gogle")
    with pytest.raises(ModelError, match="unknown option 'prompt'"):
        label("deep-translator:google?prompt=plain")


def test_the_install_line_where_the_package_is_missing(monkeypatch):
    monkeypatch.setattr(names, "find_spec", lambda name: None)
    line = 'deep-translator: pip install "nbkit[deep-translator]"'
    assert check_model("deep-translator:google", "en", "de").endswith(line)
    with pytest.raises(MissingExtraError, match="needs the package deep-translator"):
        load_translator("deep-translator:google", "en", "de")


def test_identity_needs_no_package(monkeypatch):
    monkeypatch.setattr(names, "find_spec", lambda name: None)
    identity = {"translation": 1, "backend": "deep-translator"}
    assert model_identity("deep-translator:google?rate=9", "en", "de") == {**identity, "service": "google"}
    monkeypatch.setenv("LIBRE_URL", "http://here/")
    libre = {**identity, "service": "libre", "server": "http://here/"}
    assert model_identity("deep-translator:libre", "en", "de") == libre


@needs_package
def test_every_service_is_a_class_of_the_package_that_takes_its_arguments():
    import inspect

    import deep_translator

    for service in names.services().values():
        parameters = inspect.signature(getattr(deep_translator, service.class_name)).parameters
        assert {*service.keys, *service.wishes, *service.arguments} <= set(parameters)


@needs_package
def test_all_ten_languages_of_services_that_have_them():
    for name in ("google", "mymemory"):
        for lang in ("de", "fr", "es", "it", "ru", "zh", "ja", "ta", "ne"):
            assert check_model(f"deep-translator:{name}", "en", lang) is None
            assert check_model(f"deep-translator:{name}", lang, "en") is None


@needs_package
def test_services_are_told_codes_and_not_names(monkeypatch):
    for name, service in names.services().items():
        for variable in service.keys.values():
            monkeypatch.setenv(variable, KEY)
        if not service.asks:
            made = names.WebModel.parsed(f"deep-translator:{name}").made("en", "es")
            assert (made._source, made._target) == (service.codes.get("en", "en"), service.codes.get("es", "es"))


@needs_package
def test_what_is_missing_is_said_without_a_call(monkeypatch):
    assert "DEEPL_API_KEY is not set; DeepL requires it" in check_model("deep-translator:deepl", "en", "de")
    assert "BAIDU_APPID and BAIDU_APPKEY are not set" in check_model("deep-translator:baidu", "en", "de")
    monkeypatch.setenv("DEEPL_API_KEY", KEY)
    assert check_model("deep-translator:deepl", "en", "de") is None
    assert "DeepL does not translate 'ne'" in check_model("deep-translator:deepl", "en", "ne")
    with pytest.raises(ModelError, match="Google does not translate 'xx'"):
        load_translator("deep-translator:google", "en", "xx")


@needs_package
def test_translations_are_remembered_and_counted(libre, tmp_path):
    store = Store(tmp_path)
    for _ in range(2):
        answers = translate_remembered(NAME, ["one b", " ", "two", "one b"], "en", "de", store=store, progress=False)
        assert answers == ["ONE B", "", "TWO", "ONE B"]
    assert len(libre.asked) == 2
    assert usage_remembered(NAME, "en", "de", store=store).characters == 8
    assert KEY.encode() not in b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())


@needs_package
def test_what_passes_is_tried_again(libre):
    shout = libre.reply
    libre.reply = lambda asked: Reply("", 500) if len(libre.asked) < 3 else shout(asked)
    assert load_translator(NAME, "en", "de").translate(["a"], "en", "de", progress=False) == ["A"]
    assert len(libre.asked) == 3


@needs_package
@pytest.mark.parametrize("reply", [Reply("", 403), Reply(b"garbage"), Reply("", 503)], ids=["403", "garbage", "503"])
def test_no_message_shows_the_key(libre, reply):
    libre.reply = lambda asked: reply
    with pytest.raises(ModelError, match="LibreTranslate: ") as caught:
        load_translator(f"{NAME}&attempts=2", "en", "de").translate(["a"], "en", "de", progress=False)
    assert len(libre.asked) == (1 if reply.status == 403 else 2)
    assert KEY not in str(caught.value)


@needs_package
def test_a_service_that_is_gone_shows_no_key_either(libre, monkeypatch):
    monkeypatch.setenv("LIBRE_URL", "http://127.0.0.1:9/")
    with pytest.raises(ModelError, match="after 2 attempts") as caught:
        load_translator(f"{NAME}&attempts=2", "en", "de").translate(["a"], "en", "de", progress=False)
    assert not {KEY, "quite%2Fsecret"} & set(re.findall(r"[\w/%]+", str(caught.value)))


@needs_package
def test_a_service_that_hangs_is_given_up(libre):
    libre.reply = lambda asked: Reply("", pause=30.0)
    start = time.monotonic()
    with pytest.raises(ModelError, match=r"no answer within 0\.3 s; gave up after 2 attempts"):
        load_translator(f"{NAME}&timeout=0.3&attempts=2", "en", "de").translate(["a"], "en", "de", progress=False)
    assert time.monotonic() - start < 15
