"""What remembered tables of this study carry of what is behind them: the code, and revisions of models."""

from __future__ import annotations

from typing import Any

from nbkit import models
from nbkit.fingerprint import KEYED, digest
from nbkit.models.identity import with_revision
from nbkit.studies.disambiguation.params import DisambiguationParams


def code(module: str) -> str:
    """Digest of a module of this study and of all that it imports; figures, which nothing here is made of, aside."""
    return digest(f"nbkit.studies.disambiguation.{module}", without=(*KEYED, "nbkit/figures/"))


def of_model(params: DisambiguationParams, model: str, key: dict[str, Any]) -> dict[str, Any]:
    """*key* and the translator's part of it; one of a hub is fetched first, as only then its revision is known."""
    return with_revision(
        lambda: {**key, **params.translation_key(model)},
        lambda: models.ensure_model(model, params.source, params.target),
    )


def seeds_key(params: DisambiguationParams) -> dict[str, Any]:
    """What can change the seeds, with the revision of their language model."""
    _fetch(params, params.masked_lm, params.target)
    return params.seeds_key()


def samples_key(params: DisambiguationParams) -> dict[str, Any]:
    """What can change the samples, with the revisions of the language models."""
    _fetch(params, params.masked_lm, params.target)
    _fetch(params, params.causal_lm, params.source)
    return params.samples_key()


def _fetch(params: DisambiguationParams, name: str | None, lang: str) -> None:
    if name is not None:
        with_revision(
            lambda: {"model": params.language_model_key(name, lang)}, lambda: models.ensure_language_model(name, lang)
        )
