"""Chat models and files of labels as NLI classifiers."""

from __future__ import annotations

import numpy as np
import pytest

from nbkit.models.services.outputs import MissingOutputsError
from nbkit.store import Store
from tests.models.by_name import (
    check_classifier,
    classifier_identity,
    classifier_label,
    classify_remembered,
    load_classifier,
)

from .chat_server import chat_server, completion

PAIRS = [("A man sleeps .", "A person rests ."), ("A dog runs .", "A dog sits ."), ("It rains .", "It is Monday .")]
ANSWERS = ["Entailment.", "**Contradiction**", "As an AI, I would rather not say."]


@pytest.fixture
def no_keys(monkeypatch):
    for variable in ("OPENAI_BASE_URL", "OPENAI_API_KEY"):
        monkeypatch.delenv(variable, raising=False)


def test_a_chat_model_is_asked_for_labels(tmp_path, no_keys):
    """Each answer is stored as it came; one without a label is a row of NaN."""
    asked = dict(zip((premise for premise, _ in PAIRS), ANSWERS, strict=True))

    def reply(request):
        content = request.body["messages"][-1]["content"]
        return completion(next(answer for premise, answer in asked.items() if premise in content))

    store = Store(str(tmp_path / "store"))
    with chat_server(reply) as server:
        name = f"openai:tiny@{server.url}?backoff=0.01"
        rows = classify_remembered(name, PAIRS, store=store, lang="en", progress=False)
        again = classify_remembered(name, PAIRS, store=store, lang="en", progress=False)
        assert len(server.asked) == 3
        alone = load_classifier(name).probabilities(PAIRS[:1], progress=False)
        asked_of = [request.body["messages"] for request in server.asked]  # several at a time, in any order
        system, user = next(messages for messages in asked_of if "A man sleeps" in messages[-1]["content"])
    assert rows[:2].tolist() == [[1, 0, 0], [0, 0, 1]] and np.isnan(rows[2]).all()
    np.testing.assert_array_equal(rows, again)
    assert alone.tolist() == [[1, 0, 0]]
    assert "one word" in system["content"] and "Premise: A man sleeps . Hypothesis: A person rests ." in user["content"]
    assert classifier_label(name) == "tiny" and check_classifier(name) is None
    plain = classifier_identity(f"{name}&prompt=plain")
    assert plain != classifier_identity(name)


def test_labels_in_a_file(tmp_path):
    (tmp_path / "source.en").write_text("".join(f"{a} ||| {b}\n" for a, b in PAIRS), encoding="utf-8")
    (tmp_path / "mine.labels").write_text("entailment\n0.1 0.2 0.7\nneutral\n", encoding="utf-8")
    name = f"outputs:{tmp_path}/mine.labels"
    store = Store(str(tmp_path / "store"))
    rows = classify_remembered(name, PAIRS, store=store, lang="en", progress=False)
    assert rows.tolist() == [[1, 0, 0], [0.1, 0.2, 0.7], [0, 1, 0]]
    assert check_classifier(name) is None and classifier_label(name) == "mine"
    with pytest.raises(MissingOutputsError, match="1 texts"):
        classify_remembered(name, [("x", "y")], store=store, lang="en", progress=False)
