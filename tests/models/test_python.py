"""Python code registered as a model: functions, objects and factories of all three kinds, and what is remembered."""

from __future__ import annotations

import functools
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nbkit.errors import ModelError, NbkitError
from nbkit.models import CLASSIFIERS, LANGUAGE_MODELS, MODELS, Decoding, Entry, label
from nbkit.models.probes import probe_problem
from nbkit.store import Store
from tests.conftest import shards
from tests.models.by_name import (
    check_classifier,
    check_language_model,
    check_model,
    classifier_identity,
    classify_remembered,
    ensure_classifier,
    ensure_language_model,
    ensure_model,
    is_classifier_here,
    is_language_model_here,
    is_trained,
    language_model_identity,
    load_classifier,
    load_language_model,
    load_translator,
    masked_remembered,
    model_identity,
    perplexities_remembered,
    resolve,
    translate_remembered,
    translation_config,
)

TEXTS = ["a b", " ", "c", "a b"]


class Copy:
    """The one of `nbkit.models.Translator`."""

    name = "copy"

    def translate(self, texts, src, tgt, decoding=None, *, progress=True):
        assert isinstance(decoding, Decoding)
        return [text.strip() for text in texts]


class Upper:
    """An object, a class and a factory."""

    def __init__(self, tgt: str = "?", device: str = "?"):
        self.tgt, self.device = tgt, device

    def translate(self, texts, src, tgt):
        assert tgt in (self.tgt, "de") and self.device in ("cpu", "?")
        return (text.upper() for text in texts)


def upper(texts):
    return [text.upper() for text in texts]


def make(src, tgt):
    return lambda texts: [f"{src}-{tgt} {text}" for text in texts]


def tagged(texts: list[str], tgt: str, *, src: str) -> list[str]:
    return [f"{src}-{tgt} {text}" for text in texts]


def called(texts: list[str], end: str) -> list[str]:
    return [f"{text}{end}" for text in texts]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(str(tmp_path / "store"))


@pytest.mark.parametrize(
    ("thing", "expected"),
    {
        "object": (Copy(), ["a b", "", "c", "a b"]),
        "function": (upper, ["A B", "", "C", "A B"]),
        "function of the pair": (tagged, ["en-de a b", "", "en-de c", "en-de a b"]),
        "partial": (functools.partial(called, end="!"), ["a b!", "", "c!", "a b!"]),
        "function in C": (functools.partial(map, str.title), ["A B", "", "C", "A B"]),
        "object without decoding": (Upper(), ["A B", "", "C", "A B"]),
        "class": (Upper, ["A B", "", "C", "A B"]),
        "factory of nothing": (lambda: Upper(), ["A B", "", "C", "A B"]),
        "factory of the pair": (make, ["en-de a b", "", "en-de c", "en-de a b"]),
        "string": ("tests.models.test_python:upper", ["A B", "", "C", "A B"]),
        "string of a class": ("tests.models.test_python:Upper", ["A B", "", "C", "A B"]),
    }.values(),
)
def test_whatever_translates_is_a_model(store, thing, expected):
    MODELS.register("mine", thing)
    assert check_model("mine", "en", "de") is None and ensure_model("mine", "en", "de") is None
    assert is_trained("mine", "en", "de") and label("mine") == "mine"
    assert translate_remembered("mine", TEXTS, "en", "de", store=store, device="cpu") == expected
    assert load_translator("mine", "en", "de", device="cpu").translate(TEXTS, "en", "de", progress=False) == expected


def test_an_entry_of_python_code_has_a_label_and_languages():
    MODELS.register("mine", Entry(python=upper, label="Mine", targets=("de",)), summary="all capitals")
    assert label("mine") == "Mine" and MODELS.summary("mine") == "all capitals"
    assert check_model("mine", "en", "de") is None
    assert check_model("mine", "en", "fr") == "model 'mine' does not translate to 'fr'; it translates to: de"


def test_python_code_cannot_be_probed():
    MODELS.register("mine", upper)
    assert "cannot be probed: it is Python code" in (probe_problem("mine", "en", "fr") or "")


def overlap(pairs: list[tuple[str, str]]) -> list[Any]:
    """A label where the hypothesis is in the premise, else probabilities."""
    return ["Entailment" if hypothesis in premise else (0.25, 0.5, 0.25) for premise, hypothesis in pairs]


class Overlap:
    def __init__(self, lang: str = "en"):
        self.lang = lang

    def probabilities(self, pairs, *, progress=True):
        assert self.lang == "en"
        return np.array([(1, 0, 0) if hypothesis in premise else (0.25, 0.5, 0.25) for premise, hypothesis in pairs])


@pytest.mark.parametrize("thing", [overlap, Overlap(), Overlap, lambda: overlap, "tests.models.test_python:overlap"])
def test_whatever_classifies_is_a_classifier(store, thing):
    CLASSIFIERS.register("mine", thing)
    pairs = [("a b", "a"), ("a", "b"), ("a b", "a")]
    expected = [(1, 0, 0), (0.25, 0.5, 0.25), (1, 0, 0)]
    assert check_classifier("mine") is None and is_classifier_here("mine") and ensure_classifier("mine") is None
    np.testing.assert_array_equal(classify_remembered("mine", pairs, store=store), expected)
    np.testing.assert_array_equal(load_classifier("mine").probabilities(pairs), expected)
    assert list(load_classifier("mine").rows(iter(pairs))) == expected


def lengths(texts: list[str]) -> list[float]:
    return [float(len(text)) / 3 for text in texts]


class Lengths:
    """Masked, too: short fillers are likely."""

    def perplexities(self, texts, *, progress=True):
        return lengths(texts)

    def masked_log_probabilities(self, texts, spans, candidates, *, progress=True):
        assert all(text[slice(*span)] == "cat" for text, span in zip(texts, spans, strict=True))
        return [[-len(each) for each in several] for several in candidates]


@pytest.mark.parametrize("thing", [lengths, Lengths(), Lengths, lambda: lengths, "tests.models.test_python:lengths"])
def test_whatever_scores_texts_is_a_language_model(store, thing):
    LANGUAGE_MODELS.register("mine", thing)
    expected = [7 / 3, float("nan"), 1 / 3]
    assert check_language_model("mine") is None and is_language_model_here("mine")
    assert ensure_language_model("mine") is None
    np.testing.assert_array_equal(perplexities_remembered("mine", ["a dog .", " ", "b"], store=store), expected)
    np.testing.assert_array_equal(load_language_model("mine").perplexities(["a dog .", " ", "b"]), expected)


def test_a_language_model_that_fills_places_is_a_masked_one(store):
    LANGUAGE_MODELS.register("mine", Lengths)
    LANGUAGE_MODELS.register("causal", lengths)
    assert check_language_model("mine", kind="masked") is None
    for _ in range(2):
        found = masked_remembered("mine", ["a cat", "cat"], [(2, 5), (0, 3)], [["dog", "bird"], []], store=store)
        assert [row.tolist() for row in found] == [[-3.0, -4.0], []]
    assert check_language_model("causal", kind="masked") == (
        "language model 'causal' is causal; a masked one is needed"
    )
    with pytest.raises(ModelError, match="a masked one is needed"):
        masked_remembered("causal", ["a cat"], [(2, 5)], [["dog"]], store=store)


def counted(function: Callable[[list[Any]], Any]) -> tuple[Callable[[list[Any]], Any], list[Any]]:
    asked: list[Any] = []

    def count(inputs):
        asked.extend(inputs)
        return function(inputs)

    return count, asked


#: A registry, a function for it, and how it is asked for two inputs.
KINDS = {
    "translators": (MODELS, upper, lambda store: translate_remembered("mine", ["a", "b"], "en", "de", store=store)),
    "classifiers": (CLASSIFIERS, overlap, lambda store: classify_remembered("mine", ["ab", "cd"], store=store)),
    "scorers": (LANGUAGE_MODELS, lengths, lambda store: perplexities_remembered("mine", ["a", "b"], store=store)),
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_results_are_remembered_under_the_identity_that_is_given_or_on_no_disk(kind, store):
    registry, function, ask = KINDS[kind]
    count, asked = counted(function)
    registry.register("mine", count)
    ask(store), ask(Store(store.url))
    assert len(asked) == 2 and not list(Path(store.url).rglob("*"))  # once, in memory
    registry.register("mine", count, replace=True)
    ask(store)
    assert len(asked) == 4 and not list(Path(store.url).rglob("*"))
    count.identity = "v2"
    ask(store), ask(Store(store.url))
    assert len(asked) == 6 and len(shards(Path(store.url))) == 1
    registry.register("mine", count, replace=True)
    ask(store)
    assert len(asked) == 6
    count.identity = {"version": 3}
    ask(store)
    assert len(asked) == 8 and len(shards(Path(store.url))) == 2


def test_identities_say_who_forgets():
    MODELS.register("mine", upper)
    CLASSIFIERS.register("mine", overlap)
    LANGUAGE_MODELS.register("mine", lengths)
    for known in (model_identity("mine", "en", "de"), classifier_identity("mine"), language_model_identity("mine")):
        assert known["python"] == "mine" and known["not_remembered"].startswith("register an identity")
    assert "not_remembered" in model_identity("placeholder:mine", "en", "de")


class WithIdentity(Upper):
    def __init__(self, version: str = "v1", tgt: str = "de"):
        super().__init__(tgt)
        self.version = version

    def identity(self, tgt):
        return {"version": self.version, "tgt": tgt}


class OfTheClass(Upper):
    identity = "of the class"

    def __init__(self):
        raise AssertionError("nobody asked it for a translation")


def test_objects_classes_and_what_factories_make_have_identities():
    known = {
        "object": (WithIdentity("v7"), {"version": "v7", "tgt": "de"}),
        "class": (WithIdentity, {"version": "v1", "tgt": "de"}),
        "factory": (lambda tgt: WithIdentity("v8", tgt), {"version": "v8", "tgt": "de"}),
        "its own": (OfTheClass, "of the class"),
    }
    for name, (thing, expected) in known.items():
        MODELS.register(name, thing)
        assert model_identity(name, "en", "de")["identity"] == expected


def test_one_identity_under_two_names_is_two_models(store):
    for name, end in (("one", "!"), ("two", "?")):
        model = functools.partial(called, end=end)
        model.identity = "v1"
        MODELS.register(name, model)
    found = [translate_remembered(name, ["a"], "en", "de", store=store) for name in ("one", "two")]
    assert found == [["a!"], ["a?"]]


def test_the_device_is_part_of_what_a_factory_that_asks_for_it_is(monkeypatch):
    def on(device, dtype):
        return upper

    on.identity = "v1"
    MODELS.register("mine", on)
    MODELS.register("function", upper)
    known = model_identity("mine", "en", "de", device="cuda:1")
    assert (known["device"], known["dtype"]) == ("cuda", "bfloat16")
    assert "device" not in model_identity("function", "en", "de", device="cuda:1")


def test_what_is_replaced_is_let_go_at_once(store):
    """Also what a factory made, and whatever the store is."""
    made = []

    def factory(end: str) -> Callable[[], Upper]:
        def make() -> Any:
            made.append(end)
            return functools.partial(called, end=end)

        return make

    MODELS.register("mine", factory("!"))
    for text in ("a", "b"):
        assert translate_remembered("mine", [text], "en", "de", store=store) == [f"{text}!"]
    assert made == ["!"]  # kept loaded
    MODELS.register("mine", factory("?"), replace=True)
    assert translate_remembered("mine", ["a", "b"], "en", "de", store=store) == ["a?", "b?"] and made == ["!", "?"]
    LANGUAGE_MODELS.register("mine", lambda: lengths)
    before = load_language_model("mine").perplexities(["abc"])
    LANGUAGE_MODELS.register("mine", lambda: lambda texts: [9.0 for _ in texts], replace=True)
    assert (before, load_language_model("mine").perplexities(["abc"])) == ([1.0], [9.0])


def fails_at(word: str) -> Callable[[list[str]], list[str]]:
    def translate(texts):
        if any(word in text for text in texts):
            raise KeyError(word)
        return texts

    return translate


@pytest.mark.parametrize(
    ("thing", "message"),
    {
        "too few": (lambda texts: texts[1:], "model 'mine' returned 4 answers for 5 texts; return one string per text"),
        "None": (lambda texts: [t if t != "text 2" else None for t in texts],
                 "model 'mine', text 3 ('text 2'): string expected, NoneType given; return one string"),
        "bytes": (lambda texts: [b"x" for _ in texts], "text 1 ('text 0'): string expected, bytes given"),
        "nothing": (lambda texts: None, "model 'mine' returned None for 5 texts; return one string per text"),
        "one string": (lambda texts: "x" * len(texts), "model 'mine' returned 'xxxxx' for 5 texts"),
        "surrogates": (lambda texts: ["\ud800" for _ in texts], "the string is not valid Unicode"),
        "inside": (fails_at("text 3"), "model 'mine' failed at text 4 ('text 3'): KeyError: 'text 3'; return"),
        "all of them": (lambda texts: 1 / 0 if len(texts) > 4 else texts, "failed at texts 1 to 5 ('text 0'): ZeroDiv"),
        "its making": (lambda device: [][1], "model 'mine': "),
        "what it makes": (lambda: 5, "which is neither callable nor has translate(); if"),
        "its identity": (type("Bad", (Upper,), {"identity": 3}), "identity must be a string or a JSON-serialisable"),
    }.values(),
)  # fmt: skip
def test_what_is_no_answer_is_named_with_the_way_out(store, thing, message):
    MODELS.register("mine", thing)
    with pytest.raises(ModelError, match=re.escape(message)):
        translate_remembered("mine", [f"text {i}" for i in range(5)], "en", "de", store=store)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ("maybe", "classifier 'mine', pair 1 (('a', 'b')): unknown label 'maybe'"),
        ((0.5, 0.5), "3 probabilities that sum to 1 expected, [0.5, 0.5] given; return a label or the prob"),
        ((2.0, -1.0, 0.0), "3 probabilities that sum to 1 expected"),
        (None, "pair 1"),
    ],
)
def test_what_is_no_row_is_named(store, answer, message):
    CLASSIFIERS.register("mine", lambda pairs: [answer for _ in pairs])
    with pytest.raises(ModelError, match=re.escape(message)):
        classify_remembered("mine", [("a", "b")], store=store)


@pytest.mark.parametrize("answer", ["3", -1.0, None])
def test_what_is_no_perplexity_is_named(store, answer):
    LANGUAGE_MODELS.register("mine", lambda texts: [answer for _ in texts])
    with pytest.raises(ModelError, match=r"language model 'mine', text 1 \('a'\)"):
        perplexities_remembered("mine", ["a"], store=store)


def test_suffixes_of_other_models_are_errors_and_the_placeholder_is_not(store):
    MODELS.register("mine", upper)
    CLASSIFIERS.register("mine", overlap)
    LANGUAGE_MODELS.register("mine", lengths)
    no_backend = "model 'mine' is custom Python code, to which @ct2 does not apply; drop it"
    assert check_model("mine@ct2", "en", "de") == no_backend
    for noun, found in (
        ("classifier", check_classifier("mine@ct2")),
        ("language model", check_language_model("mine@ct2")),
    ):
        assert found == f"{noun} 'mine@ct2': ctranslate2 runs translators alone; drop the backend suffix: 'mine'"
    no_seed = "model 'mine#2': 'mine' is not trained here, so its seed cannot be changed; drop '#…'"
    assert check_model("mine#2", "en", "de") == no_seed
    assert "?labels=… does not apply" in (check_classifier("mine?labels=neutral,entailment,contradiction") or "")
    found = translate_remembered("placeholder:mine", ["it cost 1,234.5 dollars"], "en", "de", store=store)
    assert found == ["IT COST 1.234,5 DOLLARS"]


@pytest.mark.parametrize("name", ["mine@ct2", "mine#2", "placeholder:mine", "openai:mine", "{src}", "", " mine"])
def test_names_that_mean_something_else_are_refused(name):
    with pytest.raises(ModelError, match="must not contain"):
        MODELS.register(name, upper)


def test_what_cannot_be_a_model_is_refused_where_it_is_registered():
    with pytest.raises(ModelError, match=r"model 'mine': 5 cannot be registered; register a function of a list"):
        MODELS.register("mine", 5)
    MODELS.register("gone", "tests.models.test_python:gone")
    with pytest.raises(NbkitError, match=r"model 'gone': 'tests.models.test_python:gone' cannot be imported"):
        resolve("gone", "en", "de")


def test_a_model_without_files_is_no_start_for_training():
    from nbtrain import TranslatorRecipe
    from nbtrain.classifiers import start_files
    from nbtrain.translators import load_start

    MODELS.register("mine", upper)
    LANGUAGE_MODELS.register("mine", Lengths)
    with pytest.raises(ModelError, match=r"start 'mine' is (in )?Python code, .*cannot be fine-tuned"):
        load_start(TranslatorRecipe.checked({"start": "mine", "src": "en", "targets": ["de"], "steps": 1}, "here"))
    with pytest.raises(ModelError, match=r"start 'mine' is (in )?Python code, .*cannot be fine-tuned"):
        start_files("mine", "en")


PLUGIN = """
def shout(texts):
    print("asked", *texts)
    return [text.upper() for text in texts]
"""
ASK = """
from nbkit.models import CLASSIFIERS, LANGUAGE_MODELS, MODELS
from tests.models.by_name import translate_remembered
from nbkit.store import Store
assert "plugged" in CLASSIFIERS and "plugged" in LANGUAGE_MODELS
if {identity!r}:
    from plugged import shout
    shout.identity = {identity!r}
print(*translate_remembered("plugged", ["a", "b"], "en", "de", store=Store()))
print(*translate_remembered("plugged", ["a", "b"], "en", "de", store=Store()))
"""


@pytest.fixture
def plugged(tmp_path: Path) -> dict[str, str]:
    """The environment of processes in which a distribution offers models under all three groups."""
    (tmp_path / "plugged.py").write_text(PLUGIN, encoding="utf-8")
    info = tmp_path / "plugged-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: plugged\nVersion: 1.0\n", encoding="utf-8")
    groups = ("nbkit.model", "nbkit.classifier", "nbkit.language_model")
    points = "".join(f"[{group}]\nplugged = plugged:shout\n" for group in groups)
    (info / "entry_points.txt").write_text(points, encoding="utf-8")
    return {**os.environ, "PYTHONPATH": str(tmp_path), "NBKIT_CACHE": str(tmp_path / "cache")}


@pytest.mark.thorough
def test_another_process_reads_only_what_has_an_identity(plugged: dict[str, str], tmp_path: Path):
    def ask(identity: str | None) -> list[str]:
        code = ASK.format(identity=identity)
        return subprocess.run([sys.executable, "-c", code], env=plugged, capture_output=True, text=True, check=True
                              ).stdout.splitlines()  # fmt: skip

    for _ in range(2):
        assert ask(None) == ["asked a b", "A B", "A B"]
        assert not shards(tmp_path)
    assert ask("v1") == ["asked a b", "A B", "A B"]
    assert ask("v1") == ["A B", "A B"] and len(shards(tmp_path)) == 1
    assert ask("v2") == ["asked a b", "A B", "A B"]


RUN = """
name: plugged
runs:
  - study: word_order
    params: {corpus: sandbox, languages: [de], models: [plugged], n_pairs: 5}
    notebooks: [model_card]
"""


@pytest.mark.thorough
def test_commands_name_what_is_registered_and_what_is_not_remembered(plugged: dict[str, str], tmp_path: Path):
    (tmp_path / "run.yaml").write_text(RUN, encoding="utf-8")

    def nbkit(*arguments: str) -> str:
        command = [sys.executable, "-m", "nbkit", *arguments]
        done = subprocess.run(command, env=plugged, capture_output=True, text=True, check=False, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        return done.stdout

    listed = [line.split() for line in nbkit("list", "models").splitlines()]
    assert ["plugged", "translation", "Python", "–", "from", "plugged"] in listed
    assert ["plugged", "inference", "Python", "–", "from", "plugged"] in listed
    remark = "results of model 'plugged' are not stored: register an identity"
    assert nbkit("validate", "run.yaml").splitlines() == [remark, "run.yaml: ready to run"]
    planned = nbkit("run", "run.yaml", "--dry-run")
    assert re.search(r"not stored +plugged: register an identity", planned)
    assert re.search(r"units of work +[1-9]\n", planned)  # the texts: what it answers in a unit, no notebook knows
    (tmp_path / "plugged.py").write_text(f"{PLUGIN}\nshout.identity = 'v1'\n", encoding="utf-8")
    assert nbkit("validate", "run.yaml").splitlines() == ["run.yaml: ready to run"]
    planned = nbkit("run", "run.yaml", "--dry-run")
    assert "not stored" not in planned and re.search(r"units of work +[1-9]\n", planned)


def test_a_plug_in_that_cannot_be_imported_is_listed_with_the_reason(plugged: dict[str, str], tmp_path: Path):
    (tmp_path / "plugged.py").write_text("import nothing_of_this_name\n", encoding="utf-8")
    command = [sys.executable, "-m", "nbkit", "list", "models"]
    done = subprocess.run(command, env=plugged, capture_output=True, text=True, check=True)
    assert "No module named 'nothing_of_this_name'" in done.stdout and "opus-mt" in done.stdout


def test_a_key_of_the_store_tells_the_settings_apart():
    upper_too = functools.partial(upper)
    upper_too.identity = "v1"
    MODELS.register("mine", upper_too)
    one, other = (translation_config("mine", "en", "de", Decoding(beams=beams)) for beams in (1, 5))
    assert one != other and one["model"] == other["model"]
