"""Chat models behind a server: names, keys, identities, prompts and costs."""

from __future__ import annotations

import base64
import json
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import quote

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from nbkit import provenance
from nbkit.cli import main
from nbkit.errors import DataError, ModelError, UnknownNameError
from nbkit.models import MODELS, Decoding, Entry, label
from nbkit.models.services.keys import key_variable, without_secrets
from nbkit.models.services.prompts import load_prompt
from nbkit.models.services.service import costs
from nbkit.store import Store
from tests.models.by_name import (
    check_model,
    ensure_model,
    is_trained,
    load_translator,
    model_identity,
    remote,
    resolve,
    translate_remembered,
    translation_config,
)

from .chat_server import Asked, Reply, chat_server, completion

KEY = "sk-quite-secret"
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


def test_the_key_is_written_nowhere(tmp_path, monkeypatch):
    store = Store(tmp_path)
    with chat_server(lambda asked: Reply({"error": {"message": f"bad key {KEY}"}}, 401)) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        with pytest.raises(ModelError, match="the key in OPENAI_API_KEY was rejected") as caught:
            translate_remembered("openai:tiny", ["a"], "en", "de", store=store, progress=False)
        server.reply = upper
        translate_remembered("openai:tiny", ["a"], "en", "de", store=store, progress=False)
        reference = resolve("openai:tiny", "en", "de")
        shown = [str(caught.value), repr(reference), json.dumps(model_identity("openai:tiny", "en", "de"))]
    assert KEY not in "".join(shown)
    assert b"tiny" in kept_text(tmp_path)
    assert KEY.encode() not in kept_text(tmp_path)


def test_a_key_goes_to_no_server_it_is_not_for(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with chat_server(upper) as server:
        translator(server).translate(["a"], "en", "de", progress=False)
        monkeypatch.setenv(f"NBKIT_KEY_127_0_0_1__HTTP_{server.url.split(':')[2].removesuffix('/v1')}", "its own")
        translator(server).translate(["a"], "en", "de", progress=False)
    assert "Authorization" not in server.asked[0].headers
    assert server.asked[1].headers["Authorization"] == "Bearer its own"


#: Where servers are: labels of any characters that a URL's host has, dots at any place, and any port.
HOSTS = st.text("ab01.-_~ßä", min_size=1, max_size=8)
SERVERS = st.builds(
    lambda scheme, host, port: (scheme, host, port, f"{scheme}://{host}{f':{port}' if port else ''}/v1"),
    st.sampled_from(["http", "https"]), HOSTS, st.sampled_from([None, 1, 80, 443, 8000, 65535]),
)  # fmt: skip


@given(st.lists(SERVERS, min_size=2, max_size=40))
def test_no_two_servers_have_one_variable(servers):
    known = {}
    for scheme, host, port, url in servers:
        variable = key_variable(url)
        assert re.fullmatch(r"[A-Z0-9_]+", variable)
        place = (scheme, host.lower(), port or {"http": 80, "https": 443}[scheme])
        assert known.setdefault(variable, place) == place


def test_names_that_look_alike_have_variables_of_their_own():
    urls = ("https://api-mistral.ai", "https://api_mistral.ai", "http://api.mistral.ai", "https://api.mistral.ai:8443")
    urls += (
        "https://localhost.8000",
        "http://localhost:8000",
        "https://localhost:8000",
        "https://[::1]",
        "https://a..2d",
    )
    urls += ("https://a-", "https://a.2d", "https://api.mistral.ai")
    variables = [key_variable(url) for url in urls]
    assert len(set(variables)) == len(urls)
    assert variables[-1] == "NBKIT_KEY_API_MISTRAL_AI"
    assert key_variable("https://api.mistral.ai:443/v1") == key_variable("https://API.mistral.ai")


def test_a_key_is_not_sent_unencrypted_over_a_network(monkeypatch):
    monkeypatch.setenv("NBKIT_KEY_NODE_7__HTTP_8000", KEY)
    monkeypatch.setenv("NBKIT_KEY_NODE_7__HTTPS_8000", KEY)
    problem = check_model("openai:tiny@http://node.7:8000/v1", "en", "de")
    assert "would be sent to http://node.7:8000/v1 unencrypted: write https://" in problem and KEY not in problem
    with pytest.raises(ModelError, match="unencrypted"):
        load_translator("openai:tiny@http://node.7:8000/v1", "en", "de")
    assert check_model("openai:tiny@https://node.7:8000/v1", "en", "de") is None
    monkeypatch.delenv("NBKIT_KEY_NODE_7__HTTP_8000")
    assert check_model("openai:tiny@http://node.7:8000/v1", "en", "de") is None
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://node.7/v1")
    assert "the key in OPENAI_API_KEY would be sent to http://node.7/v1 unencrypted" in check_model(
        "openai:tiny", "en", "de"
    )


@given(
    st.text(st.characters(codec="utf-8", categories=("L", "N", "P")), min_size=8, max_size=40),
    st.text("abc:", max_size=6), st.text("abc:", max_size=6),
)  # fmt: skip
def test_a_secret_is_hidden_however_it_is_written(secret, before, after):
    data = f"{before}{secret}{after}".encode()
    written = [
        secret,
        quote(secret, safe=""),
        secret.encode().hex(),
        data.hex().upper(),
        quote(secret, safe="").lower(),
    ]
    written += [base64.b64encode(data).decode(), base64.urlsafe_b64encode(data).decode().rstrip("=")]
    for form in written:
        shown = without_secrets(f"bad key {form}!", [secret])
        assert form not in shown and "…" in shown


def test_no_form_and_no_part_of_a_key_is_in_an_error(monkeypatch, tmp_path):
    """Servers that repeat it: in Base64, in an address, and where the message is cut in the middle of it."""
    coded = base64.b64encode(f"Bearer {KEY}".encode()).decode()
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    for body in (f"bad {coded}", f"bad {quote(KEY)}", "x" * 290 + KEY, "x" * 70 + KEY):
        for status in (200, 401):
            reply = Reply(body.encode(), status)
            with chat_server(lambda asked, reply=reply: reply) as server:
                monkeypatch.setenv("OPENAI_BASE_URL", server.url)
                with pytest.raises(ModelError) as caught:
                    load_translator(f"openai:tiny?{QUICK}&attempts=1", "en", "de").translate(["a"], "en", "de")
            assert KEY[:4] not in str(caught.value) and coded[12:22] not in str(caught.value)


@pytest.mark.parametrize("port", ["99999", "0", "-1", "x"])
def test_a_port_that_there_is_not(port):
    with pytest.raises(ModelError, match="the port must be a number from 1 to 65535"):
        resolve(f"openai:tiny@http://localhost:{port}/v1", "en", "de")


def test_what_is_missing_is_stated_without_a_call(monkeypatch, tmp_path):
    assert "OPENAI_API_KEY is not set" in check_model("openai:gpt", "en", "de")
    assert "OPENAI_BASE_URL" in check_model("openai:gpt", "en", "de")
    with pytest.raises(ModelError, match="OPENAI_API_KEY is not set"):
        load_translator("openai:gpt", "en", "de")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost:1/v1")
    assert check_model("openai:gpt", "en", "de") is None
    assert check_model("placeholder:openai:gpt", "en", "de") is None
    monkeypatch.setenv("OPENAI_BASE_URL", "localhost:1")
    assert "OPENAI_BASE_URL: 'localhost:1' is not a base URL" in check_model("openai:gpt", "en", "de")
    monkeypatch.delenv("OPENAI_BASE_URL")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    assert check_model("openai:gpt", "en", "de") is None
    assert "did you mean 'plain'" in check_model("openai:gpt?prompt=plane", "en", "de")
    assert "cannot be read" in check_model(f"openai:gpt?prompt={tmp_path}/none.yaml", "en", "de")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("openai:", "write openai:MODEL"),
        ("openai:@http://localhost/v1", "write openai:MODEL"),
        ("openai:x@http://user:word@localhost/v1", "a URL must not contain user and password"),
        ("openai:x?temprature=1", "temprature: unknown option; did you mean 'temperature'"),
        ("openai:x?temperature=warm", "temperature: expected a number, found 'warm'"),
        ("openai:x?concurrency=2.5", "concurrency: expected a whole number, found '2.5'"),
        ("openai:x?concurrency=0", "concurrency: must be at least 1, found '0'"),
        ("openai:x?timeout=nan", "timeout: expected a number, found 'nan'"),
        ("openai:x?limit=tokens", "limit: must be 'max_tokens' or 'max_completion_tokens', found 'tokens'"),
        ("openai:x?concurrency", "write options as"),
    ],
)
def test_names_that_cannot_be_read(name, message):
    with pytest.raises(ModelError, match=message) as caught:
        resolve(name, "en", "de")
    assert "user:word" not in str(caught.value)


def test_names_of_models_are_taken_as_servers_have_them():
    for model in ("gpt-4o-mini", "meta-llama/Llama-3.1-8B", "qwen3:8b", "ft:gpt:org::id", "org/model@v2"):
        found = remote(f"openai:{model}@https://host:8000/v1?seed=3", "en", "de")
        assert (found.model, found.url, found.options.seed) == (model, "https://host:8000/v1", 3)
    assert label("openai:org/tiny@http://h/v1?prompt=plain&temperature=0.7&seed=2") == "tiny (plain, t=0.7, seed 2)"
    assert label("placeholder:openai:tiny") == "tiny + placeholder"


def test_a_server_can_be_an_entry_of_the_catalogue(monkeypatch, tmp_path):
    with chat_server(upper) as server:
        monkeypatch.setenv("MY_SERVER", server.url)
        entry = Entry(hub="openai:tiny-{src}-{tgt}@${MY_SERVER}", label="Mine", targets=("de",), codes={"de": "ger"})
        MODELS.register("mine", entry)
        assert label("mine") == "Mine"
        assert "does not translate to 'fr'; it translates to: de" in check_model("mine", "en", "fr")
        assert translate_remembered("mine", ["a"], "en", "de", store=Store(tmp_path), progress=False) == ["A"]
        assert server.asked[0].body["model"] == "tiny-en-ger"
        with pytest.raises(ModelError, match="runs behind a service, to which @ct2 does not apply"):
            resolve("mine@ct2", "en", "de")


def test_nothing_is_trained_or_downloaded(monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost:1/v1")
    assert ensure_model("openai:tiny", "en", "de") is None
    assert is_trained("openai:tiny", "en", "de")


def test_identity_holds_what_changes_an_answer(monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", "http://Somewhere:8000/v1")
    assert model_identity("openai:tiny", "en", "de") == {
        "translation": 1, "backend": "openai", "model": "tiny", "server": "somewhere:8000",
        "prompt": load_prompt("translate").digest, "temperature": 0.0, "seed": 0,
    }  # fmt: skip
    assert "placeholder" in model_identity("placeholder:openai:tiny", "en", "de")
    config = translation_config("openai:tiny", "en", "de", Decoding(beams=7), device="cuda", dtype="float16")
    assert config["decoding"] == {"max_new_tokens": "source"}
    assert "cuda" not in json.dumps(config)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("messages: []", "messages: expected at least 1, found 0"),
        ("- a", r"a prompt has messages \(user: Translate \{text\}\) and labels; .*expected a mapping"),
        ("messages: [{user: Hello}]", r"no message of this prompt contains \{text\}"),
        ("messages: [{user: '{text} {txt}'}]", r"placeholder 'txt'; there are: \{text\}"),
        ("messages: [{user: '{text} {'}]", "double a literal brace"),
        ("messages: [{usr: '{text}'}]", "must be 'system', 'user' or 'assistant', found 'usr'"),
        ("messages: [{user: '{text}'}]\nlabel: [a]", "label: unknown field; did you mean 'labels'"),
        ("messages: [", "cannot be read"),
    ],
)
def test_prompts_that_cannot_be_used(tmp_path, content, message):
    path = tmp_path / "prompt.yaml"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(DataError, match=message) as caught:
        load_prompt(str(path))
    assert str(path) in str(caught.value)


def test_prompts_by_name():
    with pytest.raises(UnknownNameError, match="did you mean 'translate'"):
        load_prompt("translte")
    (message,) = load_prompt("plain").filled("{braces} stay", "en", "cy")
    assert message["content"] == "Translate the following sentence into Welsh: {braces} stay"


def test_what_is_remembered_needs_neither_torch_nor_a_client(tmp_path):
    with chat_server(upper) as server:
        name = f"openai:tiny@{server.url}"
        translate_remembered(name, ["a"], "en", "de", store=Store(tmp_path), progress=False)
    code = (
        "import sys; from tests.models.by_name import translate_remembered; from nbkit.store import Store\n"
        f"print(translate_remembered({name!r}, ['a'], 'en', 'de', store=Store({str(tmp_path)!r})))\n"
        "print(sorted({'torch', 'transformers', 'httpx', 'spacy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["['A']", "[]"]


def test_costs_are_summed_over_pairs_for_provenance(tmp_path, monkeypatch):
    store = Store(tmp_path)
    with chat_server(upper) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        for tgt, texts in (("de", ["one", "two"]), ("fr", ["one"])):
            translate_remembered("openai:tiny", texts, "en", tgt, store=store, progress=False)
    found = costs(
        ["opus-mt", "placeholder:openai:tiny", "openai:tiny", "openai:other"],
        [("en", "de"), ("en", "fr"), ("en", "it")],
        store=store,
    )
    tiny = {"texts": 3, "prompt_tokens": 60, "completion_tokens": 15, "characters": 9, "as is": 3}
    nothing = {"texts": 0, "prompt_tokens": 0, "completion_tokens": 0, "characters": 0}
    assert found == {"openai:tiny": tiny, "openai:other": nothing}
    shown = repr(provenance.footer(models=["openai:tiny"], costs=found))
    assert "openai:tiny: texts 3, prompt_tokens 60, completion_tokens 15" in shown


def test_a_change_of_server_or_key_holds_in_the_same_process(tmp_path, monkeypatch):
    store = Store(tmp_path)
    refused = Reply({"error": {"message": "no"}}, 401)

    def needs_key(asked: Asked) -> Reply:
        return upper(asked) if asked.headers.get("Authorization") == f"Bearer {KEY}" else refused

    with chat_server(needs_key) as first, chat_server(lambda asked: completion("other")) as second:
        monkeypatch.setenv("OPENAI_BASE_URL", first.url)
        for key, message in (("sk-wrong", "rejected"), ("sk-ü", "OPENAI_API_KEY contains an invalid character")):
            monkeypatch.setenv("OPENAI_API_KEY", key)
            with pytest.raises(ModelError, match=message) as caught:
                translate_remembered("openai:tiny", ["a"], "en", "de", store=store, progress=False)
            assert key not in str(caught.value)
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        assert translate_remembered("openai:tiny", ["a"], "en", "de", store=store, progress=False) == ["A"]
        monkeypatch.setenv("OPENAI_BASE_URL", second.url)
        assert translate_remembered("openai:tiny", ["a"], "en", "de", store=store, progress=False) == ["other"]


@pytest.mark.parametrize("place", ["127.0.0.1:8931/v1", "ftp://x/v1", "api.example.org/v1", "localhost:8000"])
def test_a_server_that_is_no_url_is_not_taken_for_the_vendors_model(place, monkeypatch):
    """Else texts would go to where the key in the environment is for."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with pytest.raises(ModelError, match=f"'{place}' is not a base URL; write one such as http://localhost:8000/v1"):
        resolve(f"openai:tiny@{place}", "en", "de")
    assert remote("openai:org/tiny@2024-07", "en", "de").model == "org/tiny@2024-07"


@pytest.mark.parametrize("url", ["http://[::1/v1", "http://x/v1@ct2"])
def test_urls_that_are_none(url):
    with pytest.raises(ModelError, match=r"model 'openai:tiny@…': (not a base URL: |a base URL must not contain @)"):
        resolve(f"openai:tiny@{url}", "en", "de")


def test_the_command_says_what_answers_cost_and_what_became_of_them(tmp_path):
    (tmp_path / "texts.txt").write_text("a\nb\nc\n")
    with chat_server(lambda asked: completion("" if asked.text == "b" else asked.text.upper())) as server:
        command = ["translate", str(tmp_path / "texts.txt"), "--system", f"openai:tiny@{server.url}", "--pair", "en-de"]
        done = CliRunner().invoke(main, command)
        assert done.exit_code == 0 and done.stdout == "A\n\nC\n"
        counts = "texts 3, prompt tokens 60, completion tokens 15, characters 3, as is 2, empty 1"
        assert done.stderr == f"openai:tiny@{server.url}: {counts}\n"
        (tmp_path / "texts.txt").write_text("c\n")
        assert "texts 1, prompt tokens 20" in CliRunner().invoke(main, command).stderr  # of this file
