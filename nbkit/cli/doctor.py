"""`nbkit list`: what can be named; `nbkit doctor`: versions, device, caches, and what is missing."""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import click
import psutil

import nbkit
from nbkit import provenance
from nbkit.batch import bundled
from nbkit.batch.params import read, validate
from nbkit.cli import aligned, offline_option, size_text
from nbkit.corpora import CORPORA
from nbkit.corpora.nli import NLI_CORPORA
from nbkit.errors import NbkitError
from nbkit.languages import TARGETS
from nbkit.measure import METRICS, check_metric
from nbkit.models import (
    CLASSIFIERS,
    LANGUAGE_MODELS,
    MODELS,
    check_classifier,
    check_language_model,
    is_classifier_here,
    is_language_model_here,
)
from nbkit.models.backends import BACKENDS
from nbkit.models.catalogue import weights_licence
from nbkit.models.services.names import ServerModel, offered, parse_remote
from nbkit.models.weights import hub_cache, is_offline
from nbkit.perturb import PERTURBATIONS
from nbkit.registry import Registry
from nbkit.store import Store, cache_folder, cache_problem
from nbkit.studies import STUDIES
from nbkit.studies.results import outdated
from nbkit.text.parsers import check_parser, parser_for
from nbkit.yaml_text import load

#: What stands in a list where there is nothing to say.
NOTHING = "–"


def _origin(registry: Registry[Any], name: str) -> str:
    try:
        entry = registry.get(name)
    except NbkitError as error:  # a plug-in that cannot be imported: the others are listed all the same
        return str(error)
    return entry.hub or ("trained here" if entry.python is None else "Python")


def _licence(registry: Registry[Any], name: str) -> str:
    try:
        return weights_licence(name) or registry.licence(name) or NOTHING
    except NbkitError:  # reported by `_origin`
        return NOTHING


def _models() -> Iterator[Sequence[Any]]:
    for task, registry in (("translation", MODELS), ("inference", CLASSIFIERS), ("language", LANGUAGE_MODELS)):
        for name in registry:
            yield name, task, _origin(registry, name), _licence(registry, name), registry.summary(name)
    for suffix, backend in BACKENDS.items():
        kinds = "translators"
        yield f"MODEL@{suffix}", "any", kinds, "the model's", backend.summary
    for name, place, summary in offered():
        yield name, "translation", place, "the service's terms", summary


def _corpora() -> Iterator[Sequence[Any]]:
    for task, registry in (("translation", CORPORA), ("inference", NLI_CORPORA)):
        for name in registry:
            corpus = registry.get(name)
            licence = registry.licence(name) or NOTHING
            yield name, task, list(corpus.languages), list(corpus.splits), licence, registry.summary(name)


def _perturbations() -> Iterator[Sequence[Any]]:
    for each in map(PERTURBATIONS.get, PERTURBATIONS):
        yield each.name, each.category, each.needs, each.summary, list(each.aliases)


def _parameters() -> Iterator[Sequence[Any]]:
    for study in map(STUDIES.get, STUDIES):
        for name, about in study.params.model_fields.items():
            default = about.get_default(call_default_factory=True)
            yield study.name, name, _type_name(about.annotation), default, about.description or ""


def _type_name(kind: Any) -> str:
    """A type as people call it who write run files.

    >>> _type_name(dict[str, list[int]]), _type_name(float | None), _type_name(Literal["in", "out"])
    ('mapping to list of whole number', 'number or null', 'in | out')
    """
    inside = get_args(kind)
    match get_origin(kind):
        case None:
            return _TYPES.get(kind, getattr(kind, "__name__", str(kind)))
        case origin if origin is Annotated:
            return _type_name(inside[0])
        case origin if origin is Literal:
            return " | ".join(map(str, inside))
        case origin if origin in (Union, UnionType):
            return " or ".join(map(_type_name, inside))
        case origin if issubclass(origin, Mapping):
            return f"mapping to {_type_name(inside[1])}"
    return f"list of {_type_name(inside[0])}"


_TYPES = {str: "text", int: "whole number", float: "number", bool: "true or false", NoneType: "null"}


def _summaries(registry: Registry[Any]) -> Iterator[Sequence[Any]]:
    for name in registry:
        yield name, registry.summary(name)


#: What can be listed: its rows, and the names of their values.
_KINDS: dict[str, tuple[Callable[[], Iterator[Sequence[Any]]], list[str]]] = {
    "models": (_models, ["name", "task", "from", "licence", "summary"]),
    "corpora": (_corpora, ["name", "task", "languages", "splits", "licence", "summary"]),
    "perturbations": (_perturbations, ["name", "category", "needs", "summary", "aliases"]),
    "metrics": (partial(_summaries, METRICS), ["name", "summary"]),
    "studies": (partial(_summaries, STUDIES), ["name", "summary"]),
}


_PARAMETER = ["study", "name", "type", "default", "description"]


def _about(row: Mapping[str, Any]) -> str:
    """Description, type, and the default as a run file writes it."""
    default = json.dumps(row["default"], ensure_ascii=False)
    return f"{row['description']}  [{row['type']}; default: {default}]".strip()


@click.command(name="list")
@click.argument("kind", type=click.Choice(list(_KINDS)))
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True,
              help="Aligned columns or a JSON list.")  # fmt: skip
@click.option("--params", "wants_params", is_flag=True, help="Parameters of the studies (with `studies`).")
def listing(kind: str, form: str, wants_params: bool) -> None:
    """List models, corpora, perturbations, metrics or studies by name."""
    if wants_params and kind != "studies":
        raise click.UsageError(f"--params does not apply to {kind}; write nbkit list studies --params")
    rows, keys = (_parameters, _PARAMETER) if wants_params else _KINDS[kind]
    found = [dict(zip(keys, row, strict=True)) for row in rows()]
    if form == "json":
        click.echo(json.dumps(found, indent=2, ensure_ascii=False))
        return
    if wants_params:
        formatter = click.HelpFormatter(max_width=100)
        for study, rows_of in groupby(found, key=itemgetter("study")):
            with formatter.section(study):
                formatter.write_dl([(row["name"], _about(row)) for row in rows_of], col_max=24)
        click.echo(formatter.getvalue().strip())
        return
    shown = [key for key in keys if key != "aliases"]
    text = [[", ".join(row[key]) if isinstance(row[key], list) else str(row[key]) for key in shown] for row in found]
    click.echo(aligned([shown, *text]))


# ----------------------------------------------------------------------------
# `nbkit doctor`.

_SHOWN_PROBLEMS = 4
_NO_DATA = "not set; required for tests and runs on real data: export NBKIT_DATA=FOLDER"
#: What a problem says of a variable of the environment.
_UNSET = re.compile(r"(?:environment variable (\w+)|\$\{(\w+)\}) is not set")


Row = tuple[str, str]


@click.command()
@offline_option
def doctor() -> None:
    """Show versions, device and caches, and what each study lacks and how to get it."""
    for title, rows in (
        ("nbkit", _software()),
        ("Folders", _folders()),
        ("Backends", _backends()),
        ("Parsers", _parsers()),
        ("Classifiers", _trained(CLASSIFIERS, check_classifier, is_classifier_here)),
        ("Language models", _trained(LANGUAGE_MODELS, check_language_model, is_language_model_here)),
        ("Translation services", _services()),
        ("Metrics", _metrics()),
        ("Run files", _run_files()),
    ):
        click.echo(f"{title}\n{aligned(list(rows), indent='  ')}\n")


def _software() -> Iterator[Row]:
    facts = provenance.collect()
    yield "nbkit", f"{nbkit.__version__} ({facts.get('commit', 'installed package')})"
    yield "python", platform.python_version()
    yield from provenance.versions().items()
    yield "device", facts["device"]
    yield "dtype", facts["dtype"]
    yield "memory", f"{psutil.virtual_memory().total / 2**30:.1f} GiB"


def _folders() -> Iterator[Row]:
    cache = cache_folder()
    yield "cache ($NBKIT_CACHE)", cache if "://" in cache else _described(Path(cache))
    if refusal := cache_problem():
        yield "", f"nothing can be stored: {refusal}"
    hub = hub_cache()
    read_only = ", read-only: no weights can be downloaded" if hub.is_dir() and not os.access(hub, os.W_OK) else ""
    yield "model hub ($HF_HOME)", _described(hub) + (", offline" if is_offline() else read_only)
    old = outdated(map(STUDIES.get, STUDIES))
    if old:
        size = size_text(sum(block.size for block in old))
        yield "", f"{size} of it in {len(old)} outdated tables; remove them: nbkit store --clear"
    data = os.environ.get("NBKIT_DATA")
    yield "data ($NBKIT_DATA)", _described(Path(data)) if data else _NO_DATA
    yield "disk", f"{shutil.disk_usage(Path.cwd()).free / 2**30:.1f} GiB free here"


def _described(folder: Path) -> str:
    if not folder.is_dir():
        return f"{folder} (does not exist yet)"
    files = [path.lstat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
    return f"{folder} ({len(files)} files, {size_text(sum(files))})"


def _backends() -> Iterator[Row]:
    for suffix, backend in BACKENDS.items():
        yield f"MODEL@{suffix}", backend.problem or f"ready ({backend.package} {backend.version})"


def _parsers() -> Iterator[Row]:
    missing = False
    for lang in ("en", *TARGETS):
        spec = parser_for(lang)
        problem = check_parser(spec, lang)
        missing |= problem is not None
        yield lang, problem.partition(";")[0] if problem else spec
    if missing:
        yield "", "python -m spacy download NAME, or conda install -c conda-forge spacy-model-NAME, or name a"
        yield "", "folder in the run file (parsers: {de: FOLDER}); the sandbox and treebanks need no parser"


def _trained(
    registry: Registry[Any], check: Callable[[str, str], str | None], is_here: Callable[[str, str], bool]
) -> Iterator[Row]:
    """For each model whether it is available, or will be trained here; last what helps.

    One line for all that lack the same variable of the environment.
    """
    helps: dict[str, None] = {}
    unset: dict[str, list[str]] = {}
    for name in registry:
        entry = registry.get(name)
        lang = (entry.languages or ("en",))[0]
        # First, as a recipe without its training data cannot say which model it makes.
        problem = check(name, lang)
        ready = "ready" if entry.recipe is None or problem or is_here(name, lang) else "will be trained on first use"
        helps |= dict.fromkeys((problem or "").splitlines()[1:])
        said = _gist(problem or ready)
        if said.startswith(_NEEDS):
            unset.setdefault(said, []).append(name)
        else:
            yield name, said
    yield from ((said, ", ".join(names)) for said, names in unset.items())
    yield from (("", line.strip()) for line in helps)


def _services() -> Iterator[Row]:
    for name, place, summary in offered():
        if name.startswith(ServerModel.prefix):
            yield name, _first_line(parse_remote(name).problem("en", "de") or f"ready: {place}")
        else:
            yield name, f"ready: {summary}"


def _metrics() -> Iterator[Row]:
    for name in METRICS:
        yield name, _first_line(check_metric(name, lang="en") or "ready")


def _run_files() -> Iterator[Row]:
    """By study, which run files, of this folder or bundled, could be run now, and what the others lack."""
    here = Path("params")
    folder = here if here.is_dir() else bundled("params")
    states: dict[str, dict[str, list[str]]] = {study: {} for study in (*STUDIES, _NO_STUDY)}
    lacking: dict[str, list[str]] = {}
    for path in sorted(folder.glob("*.yaml")):
        try:
            problems = [_NO_CACHE if one.place == "NBKIT_CACHE" else one.message for one in validate(read(path))]
        except NbkitError as error:
            problems = str(error).splitlines()
        messages = list(dict.fromkeys(map(_gist, problems)))
        state, *more = messages or ["ready to run"]
        said = path.stem
        if more or (messages and not state.startswith(_NEEDS)):
            state, said = path.stem, f"{len(problems)} problem{'s' * (len(problems) > 1)}"
            lacking[state] = messages[:_SHOWN_PROBLEMS]
            if len(messages) > _SHOWN_PROBLEMS:
                lacking[state].append(f"… and more: nbkit validate {path}")
        for study in _studies(path):
            states[study].setdefault(state, []).append(said)
    for study, of_state in states.items():
        for number, (state, names) in enumerate(of_state.items()):
            yield "" if number else study, f"{state}: {', '.join(names)}"
            yield from (("", f"  {message}") for message in lacking.pop(state, []))  # of several studies, once


#: Where run files stand whose studies cannot be read.
_NO_STUDY = "no study"


def _studies(path: Path) -> list[str]:
    """The studies of a run file, also of one whose variables have no value."""
    try:
        said = [each["study"] for each in load(path.read_text(encoding="utf-8"), path)[1]["runs"]]
    except (NbkitError, OSError, ValueError, TypeError, KeyError):
        said = []
    return [study for study in STUDIES if study in said] or [_NO_STUDY]


#: What a line begins with that says only what is needed: `_folders` says how to get it.
_NEEDS = "needs "
_NO_CACHE = f"{_NEEDS}a cache that can be written to"


def _gist(problem: str) -> str:
    """The first line; of a variable that is not set, its name alone."""
    unset = _UNSET.search(problem)
    return f"{_NEEDS}${unset[1] or unset[2]}" if unset else _first_line(problem)


def _first_line(text: str) -> str:
    return text.strip().splitlines()[0]


# ----------------------------------------------------------------------------
# `nbkit store`.


@click.command()
@click.option("--clear", is_flag=True, help="Remove tables computed by earlier versions of the code.")
@click.option("--clear-kind", "kinds", multiple=True, metavar="KIND", help="Remove all of this kind (repeatable).")
def store(clear: bool, kinds: tuple[str, ...]) -> None:
    """Show what the store holds, by kind, and remove what is outdated.

    When the code behind a stored table changes, the table is recomputed, and the old one stays until it is removed.
    Removed results are recomputed when they are needed.
    """
    blocks = list(Store().blocks())
    there = dict.fromkeys(block.kind for block in blocks)
    for kind in kinds:
        if kind not in there:
            raise NbkitError(f"the store has nothing of kind '{kind}'; it has: {', '.join(there) or 'none'}")
    old = outdated(map(STUDIES.get, STUDIES))
    if clear or kinds:
        removed = {block.folder: block for block in blocks if block.kind in kinds or (clear and block in old)}
        for block in removed.values():
            block.remove()
        click.echo(f"{len(removed)} blocks removed, {size_text(sum(block.size for block in removed.values()))}")
        return
    rows = [("kind", "blocks", "size", "outdated")]
    for kind in there:
        own, stale = ([block.size for block in among if block.kind == kind] for among in (blocks, old))
        rows.append((kind, str(len(own)), size_text(sum(own)), size_text(sum(stale)) if stale else ""))
    click.echo(aligned(rows))
