"""What workers of an idioms run do beside and after one another, and what a change behind a remembered table does."""

from __future__ import annotations

from pathlib import Path

import pytest

from nbkit.align import eflomal_aligner
from nbkit.models import remember
from nbkit.store import Store
from nbkit.studies.idioms import IdiomsParams, judged, work
from nbkit.studies.idioms.data import load_data
from nbkit.studies.idioms.judged import CONTROLS

from .conftest import Dummy
from .idioms_cases import literally, toy_params


@pytest.fixture
def params(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> IdiomsParams:
    monkeypatch.setenv("NBKIT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(remember, "kept_translator", lambda *args, **kwargs: Dummy(literally))
    return toy_params(tmp_path)


def test_all_systems_are_judged_against_one_alignment_of_the_references(params, monkeypatch):
    """Links that cannot be sampled twice alike are there before systems are judged side by side."""
    sampled: list[set[tuple[str, ...]]] = []

    def sample(pairs, settings, priors):
        sampled.append({target for _, target in pairs})
        return ["0-0"] * len(pairs), ["0-0"] * len(pairs)

    monkeypatch.setattr(eflomal_aligner, "_sample", sample)
    monkeypatch.setattr(eflomal_aligner.EflomalAligner, "_priors", ["a b 1"])
    eflomal = params.model_copy(update={"aligners": ["eflomal"]})
    dump = eflomal.model_dump(mode="json")
    work.learn(dump, "fr")
    references = {tuple(judged.tokens(pair.target, "fr")) for pair in load_data(eflomal, "fr", Store()).test}
    assert references in sampled
    sampled.clear()
    for system in (*eflomal.systems, *CONTROLS):
        work.judge(dump, "fr", list(system))
    assert references not in sampled and len(sampled) == 2  # one model's translations, and a copy of the sources
