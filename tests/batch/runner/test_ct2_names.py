"""Models that end in ``@ct2`` in run files: run as systems of their own, and what cannot be run is told first."""

from __future__ import annotations

import pandas as pd
import pytest

pytest.importorskip("ctranslate2", reason='the extra "ct2" is not installed')

from nbkit.batch.params import entries, parse, validate
from nbkit.studies.nli_permutation import STUDY, acceptance

from ...models.nli_checkpoints import save_classifier

GRID = """\
name: engines
runs:
  - study: nli_permutation
    params:
      corpora: ["sandbox:test"]
      models: [{models}]
      n_pairs: 6
      permutations: 3
      clumped_permutations: 2
      training_pairs: 20
"""
OTHERS = """\
name: engines
runs:
  - study: word_order
    params: {corpus: sandbox, languages: [de], models: [sandbox-marian@ct2, sandbox-lstm@ct2, sandbox-marian@ct]}
  - study: disambiguation
    params: {models: [sandbox-wsd-convs2s@ct2-int8], masked_lm: sandbox-wsd-bert@ct2, causal_lm: sandbox-wsd-gpt@ct2}
  - study: idioms
    params: {languages: [fr], models: {random: "sandbox-idioms-{condition}@ct2"}, conditions: [zero]}
"""


def messages(text: str) -> list[str]:
    return [str(problem) for problem in validate(parse(text, "grid.yaml"))]


def test_classifiers_without_a_conversion_are_told_by_name_and_line():
    names = "sandbox-roberta@ct2, sandbox-distilbert@ct2-int8, sandbox-bart@ct2, sandbox-bilstm@ct2, bilstm@ct3"
    bart, bilstm, unknown = messages(GRID.format(models=names))
    assert bart.startswith(
        "grid.yaml:6 (nli_permutation): classifier 'sandbox-bart@ct2': ctranslate2 does not support its"
    )
    assert bart.endswith("Drop the backend suffix to run it with transformers: 'sandbox-bart'")
    assert "'sandbox-bilstm@ct2'" in bilstm and "unknown backend 'ct3'; did you mean 'ct2'" in unknown


def test_translators_and_language_models_likewise():
    lstm, unknown, convs2s, masked, probed = messages(OTHERS)
    assert lstm.startswith("grid.yaml:4 (word_order): model 'sandbox-lstm@ct2': ctranslate2 does not support its")
    assert lstm.endswith("drop the backend suffix: 'sandbox-lstm'") and "unknown backend 'ct'" in unknown
    assert "'sandbox-wsd-convs2s@ct2-int8'" in convs2s and "'sandbox-wsd-bert@ct2'" in masked
    assert "'sandbox-idioms-zero@ct2' cannot be probed" in probed


def test_without_the_package_the_way_out_is_its_extra(monkeypatch):
    monkeypatch.setattr("nbkit.models.backends.find_spec", lambda package: None)
    (problem,) = messages(GRID.format(models="sandbox-roberta@ct2"))
    assert problem.endswith("backend 'ct2' needs the package ctranslate2: pip install \"nbkit[ct2]\"")


def test_a_study_has_one_row_for_each_backend_and_the_same_figures(tmp_path, monkeypatch):
    """Folders instead of names, as these are not trained; weights drawn at random tell pairs apart all the same."""
    monkeypatch.setenv("NBKIT_CACHE", str(tmp_path / "cache"))
    folder = save_classifier(tmp_path / "mine", "roberta")
    run = parse(GRID.format(models=f'"{folder}", "{folder}@ct2"'), "grid.yaml")
    assert validate(run) == []
    (entry,) = entries(run)
    found = acceptance.results(STUDY.read(entry.params, "pairs"))
    results = found.pivot(index="measure", columns="model", values="value")
    assert list(results.columns) == ["mine", "mine CT2"]
    pd.testing.assert_series_equal(results["mine"], results["mine CT2"], check_names=False, atol=1e-3)
    assert results["mine"].notna().any()
