"""Options in names are part of keys: each is changed on a store that holds the tables from before.

`test_keys` does the same with parameters; here the study is a toy, the systems are a real server, programs and files.
"""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zlib import crc32

import pandas as pd
import pytest

from nbkit.measure import METRICS, load_metric
from nbkit.measure.aligners import ALIGNERS, load_aligner
from nbkit.models import load
from nbkit.models.services.chat import ChatOptions
from nbkit.models.services.commands import CommandOptions
from nbkit.models.services.outputs import OutputsOptions
from nbkit.perturb import PERTURBATIONS, Perturbation
from nbkit.studies import STUDIES
from nbkit.studies.parts import Run
from tests.models.chat_server import Asked, Reply, chat_server, completion
from tests.studies.toy import STUDY, ToyParams

PACING = {"concurrency", "rate", "timeout", "attempts", "backoff", "most"}
PROMPT = "messages:\n- user: 'Into {target}, please: {text}'\nlabels: [%s]\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NBKIT_CACHE", str(tmp_path / "cache"))
    Path("lines.txt").write_text("one\ntwo\nthree\nfour\n")


@pytest.fixture
def server() -> Iterator[str]:
    """The address of a server whose answers depend on all that is sent."""

    def reply(asked: Asked) -> Reply:
        return completion(f"Answer: {'x' * (1 + crc32(json.dumps(asked.body, sort_keys=True).encode()) % 97)}")

    with chat_server(reply) as found:
        yield found.url


def read(model: str) -> pd.DataFrame:
    return STUDY.read(ToyParams(file="lines.txt", models=[model], max_new_tokens=9))


def check(before: str, after: str, monkeypatch: pytest.MonkeyPatch, *, edit: dict[str, str] | None = None) -> bool:
    """Whether a change of name, or of files, changes outcomes; a warm store has to give what an empty one does."""
    first = read(before)
    for name, text in (edit or {}).items():
        Path(name).write_text(text)
    warm = read(after)
    with monkeypatch.context() as patch:
        patch.setenv("NBKIT_CACHE", "empty")
        cold = read(after)
    pd.testing.assert_frame_equal(warm, cold, check_exact=True)
    return not first["ratio"].equals(cold["ratio"])


SERVER = {"prompt": "plain", "temperature": "0.7", "seed": "3", "limit": "none"}


@pytest.mark.parametrize("option", SERVER)
def test_options_of_servers(option: str, server: str, monkeypatch: pytest.MonkeyPatch):
    assert check(f"openai:m@{server}", f"openai:m@{server}?{option}={SERVER[option]}", monkeypatch)


def test_every_option_of_servers_is_among_them():
    assert ChatOptions.model_fields.keys() == SERVER.keys() | PACING
    name = "openai:m@http://localhost:1/v1"
    for option in PACING:  # none of these changes an answer
        with_option, without = (load(each, "translate", "en", "de") for each in (f"{name}?{option}=3", name))
        assert with_option.table_key() == without.table_key()


@pytest.mark.parametrize(
    ("before", "after"), [(PROMPT % "Reply", PROMPT % "Answer"), (PROMPT % "", PROMPT.replace("please", "now") % "")]
)
def test_files_of_prompts(before: str, after: str, server: str, monkeypatch: pytest.MonkeyPatch):
    """Labels are not sent to the model, but they decide what of an answer is the translation."""
    Path("mine.yaml").write_text(before)
    name = f"openai:m@{server}?prompt=mine.yaml"
    assert check(name, name, monkeypatch, edit={"mine.yaml": after})


def test_labels_of_classifiers_by_a_server(server: str):
    study, how = STUDIES.get("nli_permutation"), {"language": "en", "corpora": ["sandbox"], "n_pairs": 2}
    keys = []
    for labels in ("Reply", "Answer"):
        Path("mine.yaml").write_text(PROMPT % labels)
        params = study.params(models=[f"openai:m@{server}?prompt=mine.yaml"], **how)
        keys += [part.key for part in Run(study, params).first_parts(study.table("outcomes"))]
    assert keys[0] != keys[1]


SCRIPT = "import sys\nfor line in sys.stdin:\n    print(line.strip() + {!r} + ' '.join(sys.argv[1:]), flush=True)\n"


def command(**options: Any) -> str:
    words = [sys.executable, "say.py"]
    return f"command:{json.dumps({'command': words, **options})}"


def test_programs_and_their_options(monkeypatch: pytest.MonkeyPatch):
    Path("say.py").write_text(SCRIPT.format("!"))
    assert check(command(), command(command=[sys.executable, "say.py", "more"]), monkeypatch)
    assert check(command(), command(), monkeypatch, edit={"say.py": SCRIPT.format("?!")})
    for options in ({"version": "2"}, {"isolate": "batch"}):
        assert not check(command(), command(**options), monkeypatch)
        before, after = (load(name, "translate", "en", "de") for name in (command(), command(**options)))
        assert before.table_key() != after.table_key()
    assert CommandOptions.model_fields.keys() == {"command", "version", "isolate", "workers", "timeout", "label"}


def test_files_of_translations_and_their_option(monkeypatch: pytest.MonkeyPatch):
    lines = Path("lines.txt").read_text().splitlines()
    Path("first.en").write_text("\n".join(lines) + "\n")
    Path("second.en").write_text("\n".join(lines[::-1]) + "\n")
    Path("mine.de").write_text("a\nbb\nccc\ndddd\n")
    assert check("outputs:mine.de?source=first.en", "outputs:mine.de?source=second.en", monkeypatch)
    name = "outputs:mine.de?source=first.en"
    assert check(name, name, monkeypatch, edit={"mine.de": "aa\nb\nc\nd\n"})
    assert check(name, name, monkeypatch, edit={"first.en": "\n".join(lines[::-1]) + "\n"})
    assert OutputsOptions.model_fields.keys() == {"source"}


METRIC_OPTIONS = {
    "bleu": {"max_order": 2}, "levenshtein": {}, "chrf": {}, "bleu-nltk": {},
    "bertscore": {"model": "roberta-large", "layer": 3, "measure": "recall"}, "bleurt": {"model": "other/bleurt"},
}  # fmt: skip
ALIGNER_OPTIONS: dict[str, dict[str, Any]] = {
    "lexicon": {"argument": "words.tsv", "entries": {("a", "b"): 2.0}, "pairs": 50, "threshold": 0.3},
    "eflomal": {"training": [(("a",), ("b",))], "samplers": 1, "iterations": 0.5},
    "embeddings": {"argument": "other/encoder", "layer": 3, "method": "argmax"},
    "pharaoh": {"argument": "other.align"},
}  # fmt: skip
#: Where things are computed and stored; the kind of device is part of the identity of weights.
PLACE = {"device", "store"}


@pytest.mark.parametrize("name", sorted(METRICS))
def test_options_of_metrics(name: str):
    options = METRIC_OPTIONS[name]
    assert options.keys() == inspect.signature(METRICS.get(name)).parameters.keys() - PLACE
    for option, value in options.items():
        assert load_metric(name, **{option: value}).identity("en") != load_metric(name).identity("en"), option


@pytest.mark.parametrize("name", sorted(ALIGNERS))
def test_options_of_aligners(name: str):
    Path("words.tsv").write_text("a\tb\n")
    Path("one.align").write_text("0-0\n")
    Path("other.align").write_text("0-1\n")
    options = ALIGNER_OPTIONS[name]
    known = inspect.signature(ALIGNERS.get(name)).parameters.keys() - PLACE - {"src", "tgt"}
    assert options.keys() == known - ({"argument"} if name == "eflomal" else set())
    usual = {"embeddings": "embeddings:some/encoder", "pharaoh": "pharaoh:one.align"}.get(name, name)
    before = load_aligner(usual, "en", "de").identity
    for option, value in options.items():
        changed = f"{name}:{value}" if option == "argument" else usual
        more = {} if option == "argument" else {option: value}
        assert load_aligner(changed, "en", "de", **more).identity != before, option


def test_a_perturbation_that_is_rewritten(monkeypatch: pytest.MonkeyPatch):
    study, how = STUDIES.get("word_order"), {"perturbations": ["mine"], "models": [], "n_pairs": 3}

    def found(order: Any) -> pd.DataFrame:
        PERTURBATIONS.register("mine", Perturbation("mine", "random", (), "tokens", order), replace=True)
        return study.read(study.params(**how), "items")

    first = found(lambda view, draws: list(range(view.length))[::-1])
    warm = found(lambda view, draws: [*range(1, view.length), 0])
    monkeypatch.setenv("NBKIT_CACHE", "empty")
    pd.testing.assert_frame_equal(warm, found(lambda view, draws: [*range(1, view.length), 0]))
    assert not warm["changed"].equals(first["changed"])
