"""`nbkit list`: what there is by name, without importing what it takes to use it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from nbkit.cli.commands import as_columns, as_json
from nbkit.errors import NbkitError
from nbkit.registry import Registry


def _origin(registry: Registry[Any], name: str) -> str:
    try:
        entry = registry.get(name)
    except NbkitError as error:  # a plug-in that cannot be imported: the others are listed all the same
        return str(error)
    return entry.hub or ("trained here" if entry.python is None else "Python")


def _models() -> list[dict[str, Any]]:
    from nbkit.models import CLASSIFIERS, LANGUAGE_MODELS, MODELS
    from nbkit.models.backends import BACKENDS
    from nbkit.models.services.names import offered

    named = [
        {
            "name": name,
            "task": task,
            "from": _origin(registry, name),
            "summary": registry.summary(name),
        }
        for task, registry in (("translation", MODELS), ("inference", CLASSIFIERS), ("language", LANGUAGE_MODELS))
        for name in registry
    ]
    backends = [
        {
            "name": f"MODEL@{suffix}",
            "task": "any",
            "from": "a translator, BERT's kind or GPT-2",
            "summary": backend.summary,
        }
        for suffix, backend in BACKENDS.items()
    ]
    services = [
        {"name": name, "task": "translation", "from": place, "summary": summary} for name, place, summary in offered()
    ]
    return named + backends + services


def _corpora() -> list[dict[str, Any]]:
    from nbkit.corpora import CORPORA
    from nbkit.corpora.nli import NLI_CORPORA

    return [
        {
            "name": name,
            "task": task,
            "languages": list(registry.get(name).languages),
            "splits": list(registry.get(name).splits),
            "summary": registry.summary(name),
        }
        for task, registry in (("translation", CORPORA), ("inference", NLI_CORPORA))
        for name in registry
    ]


def _perturbations() -> list[dict[str, Any]]:
    from nbkit.perturb import PERTURBATIONS

    found = map(PERTURBATIONS.get, PERTURBATIONS)
    return [
        {"name": p.name, "category": p.category, "needs": p.needs, "summary": p.summary, "aliases": list(p.aliases)}
        for p in found
    ]


def _metrics() -> list[dict[str, Any]]:
    from nbkit.measure import METRICS

    return [{"name": name, "summary": METRICS.summary(name)} for name in METRICS]


def _studies() -> list[dict[str, Any]]:
    from nbkit.studies import STUDIES

    return [{"name": name, "summary": STUDIES.summary(name)} for name in STUDIES]


#: What can be listed: the rows, and which of their entries are shown in columns.
_KINDS: dict[str, tuple[Callable[[], list[dict[str, Any]]], list[str]]] = {
    "models": (_models, ["name", "task", "from", "summary"]),
    "corpora": (_corpora, ["name", "task", "languages", "splits", "summary"]),
    "perturbations": (_perturbations, ["name", "category", "needs", "summary"]),
    "metrics": (_metrics, ["name", "summary"]),
    "studies": (_studies, ["name", "summary"]),
}


@click.command(name="list")
@click.argument("kind", type=click.Choice(list(_KINDS)))
@click.option("--json", "wants_json", is_flag=True, help="Print a JSON list instead of columns.")
def listing(kind: str, wants_json: bool) -> None:
    """List models, corpora, perturbations, metrics or studies by name."""
    rows, keys = _KINDS[kind]
    click.echo(as_json(rows()) if wants_json else as_columns(rows(), keys))
