"""Fixtures of more than one room."""

from __future__ import annotations

import gc
import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest


def pytest_collection() -> None:
    gc.disable()  # nothing of what is imported goes away again, and looking for it takes seconds


def pytest_collection_finish() -> None:
    gc.freeze()  # forked processes share what is not looked at
    gc.enable()


CHROMIUM = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--window-size=1200,900",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
)


@pytest.fixture(scope="session")
def tiny_pipelines(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A real spaCy pipeline for en and de, trained on two sentences each: its trees are trees, if not good ones."""
    import spacy
    from spacy.training import Example

    sentences = {
        "en": [
            (["Tom", "sleeps", "."], ["PROPN", "VERB", "PUNCT"], [1, 1, 1], ["nsubj", "ROOT", "punct"]),
            (["Go", "away", "!"], ["VERB", "ADV", "PUNCT"], [0, 0, 0], ["ROOT", "advmod", "punct"]),
        ],
        "de": [
            (["Tom", "schläft", "."], ["PROPN", "VERB", "PUNCT"], [1, 1, 1], ["nsubj", "ROOT", "punct"]),
            (["Geh", "weg", "!"], ["VERB", "ADV", "PUNCT"], [0, 0, 0], ["ROOT", "advmod", "punct"]),
        ],
    }
    folder = tmp_path_factory.mktemp("pipelines")
    paths = {}
    for lang, gold in sentences.items():
        nlp = spacy.blank(lang)
        nlp.add_pipe("morphologizer")
        nlp.add_pipe("parser", config={"min_action_freq": 1})
        examples = [
            Example.from_dict(nlp.make_doc(" ".join(words)), {"words": words, "pos": pos, "heads": heads, "deps": deps})
            for words, pos, heads, deps in gold
        ]
        optimizer = nlp.initialize(lambda examples=examples: examples)
        for _ in range(10):
            nlp.update(examples, sgd=optimizer)
        paths[lang] = str(folder / f"{lang}_tiny")
        nlp.to_disk(paths[lang])
    return paths


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Headless Chromium that reaches files and this machine, and no network."""
    binary, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not (binary and driver):
        pytest.skip("needs Debian's chromium and chromium-driver")
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = binary
    for flag in CHROMIUM:
        options.add_argument(flag)
    options.add_argument(f"--user-data-dir={tmp_path_factory.mktemp('chromium')}")
    options.set_capability("goog:loggingPrefs", {"performance": "ALL", "browser": "ALL"})
    service = webdriver.ChromeService(executable_path=driver, log_output=os.devnull)
    chrome = webdriver.Chrome(options=options, service=service)
    yield chrome
    chrome.quit()


@pytest.fixture(autouse=True)
def hubs_put_back(monkeypatch: pytest.MonkeyPatch):
    """What ``--offline`` and ``--plugin`` set for this process and its children holds for one test."""
    for name in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "HF_DATASETS_OFFLINE", "NBKIT_PLUGINS"):
        if (value := os.environ.get(name)) is None:
            monkeypatch.setenv(name, "")  # so that it is put back to nothing
            monkeypatch.delenv(name)
        else:
            monkeypatch.setenv(name, value)


@pytest.fixture(autouse=True)
def registries_put_back():
    """What a test registers is gone after it, whatever other test comes next in the same process."""
    from nbkit.corpora import CORPORA
    from nbkit.corpora.nli import NLI_CORPORA
    from nbkit.measure import METRICS
    from nbkit.measure.aligners import ALIGNERS
    from nbkit.models import CLASSIFIERS, LANGUAGE_MODELS, MODELS
    from nbkit.perturb import PERTURBATIONS
    from nbkit.studies import STUDIES

    with ExitStack() as stack:
        for each in (
            ALIGNERS, CLASSIFIERS, CORPORA, LANGUAGE_MODELS, METRICS, MODELS, NLI_CORPORA, PERTURBATIONS, STUDIES,
        ):  # fmt: skip
            stack.enter_context(each.isolated())
        yield


#: A configuration of the store, for tests of it; its inputs and a computation are below.
CONFIG = {"kind": "test", "version": 1}


class Counter:
    """A computation that counts what it is asked for."""

    def __init__(self, suffix: str = ""):
        self.seen: list[tuple[str, ...]] = []
        self.suffix = suffix

    def __call__(self, inputs):
        self.seen += inputs
        return [{"text": "|".join(texts) + self.suffix, "length": len(texts[0])} for texts in inputs]


def texts(n: int, start: int = 0) -> list[tuple[str]]:
    """So many inputs, from number *start* on."""
    return [(f"text {number}",) for number in range(start, start + n)]


def shards(root: Path) -> list[Path]:
    """The files of the records below *root*."""
    return sorted(root.rglob("*.rows.parquet"))
