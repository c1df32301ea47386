"""`nbkit doctor`: versions, device, caches, and what is missing for which study."""

from __future__ import annotations

import os
import platform
import shlex
import shutil
from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import click

from nbkit.cli.commands import aligned, go_offline
from nbkit.errors import NbkitError

_SHOWN_PROBLEMS = 4


Row = tuple[str, str]


@click.command()
@click.option("--offline", is_flag=True, help="Never ask the model hub.")
def doctor(offline: bool) -> None:
    """Show versions, device and caches, and what is missing for which study, with the way out."""
    if offline:
        go_offline()
    for title, rows in (
        ("nbkit", _software()),
        ("Folders", _folders()),
        ("Backends", _backends()),
        ("Parsers", _parsers()),
        ("Classifiers", _classifiers()),
        ("Language models", _language_models()),
        ("Translation services", _services()),
        ("Metrics", _metrics()),
        ("Run files", _run_files()),
    ):
        click.echo(f"{title}\n{aligned(list(rows), indent='  ')}\n")


def _software() -> Iterator[Row]:
    import nbkit
    from nbkit import provenance

    facts = provenance.collect()
    yield "nbkit", f"{nbkit.__version__} ({facts.get('commit', 'installed package')})"
    yield "python", platform.python_version()
    yield from provenance.versions().items()
    yield "device", facts["device"]
    yield "dtype", facts["dtype"]
    memory = _memory()
    if memory:
        yield "memory", f"{memory / 2**30:.1f} GiB"


def _memory() -> int:
    import psutil

    return psutil.virtual_memory().total


def _folders() -> Iterator[Row]:
    from nbkit.models.weights import hub_cache, is_offline
    from nbkit.store import cache_folder

    cache = cache_folder()
    yield "cache ($NBKIT_CACHE)", cache if "://" in cache else _described(Path(cache))
    yield "model hub ($HF_HOME)", _described(hub_cache()) + (", offline" if is_offline() else "")
    data = os.environ.get("NBKIT_DATA")
    yield "data ($NBKIT_DATA)", _described(Path(data)) if data else "not set: tests and runs on real data need it"
    yield "disk", f"{shutil.disk_usage(Path.cwd()).free / 2**30:.1f} GiB free here"


def _described(folder: Path) -> str:
    if not folder.is_dir():
        return f"{folder} (not there yet)"
    files = [path.lstat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
    return f"{folder} ({len(files)} files, {_size(sum(files))})"


def _size(size: float) -> str:
    for unit in ("B", "KiB", "MiB"):
        if size < 1024:
            return f"{size:.0f} {unit}"
        size /= 1024
    return f"{size:.1f} GiB"


def _backends() -> Iterator[Row]:
    from nbkit.models.backends import BACKENDS

    for suffix, backend in BACKENDS.items():
        yield f"MODEL@{suffix}", backend.problem or f"ready ({backend.package} {backend.version})"


def _parsers() -> Iterator[Row]:
    from nbkit.cli.commands import pipeline_for
    from nbkit.languages import TARGETS
    from nbkit.text.parsers import check_parser, parser_for

    missing = False
    for lang in ("en", *TARGETS):
        found = pipeline_for(lang)
        missing |= found is None
        yield lang, found or _first_clause(check_parser(parser_for(lang), lang) or "")
    if missing:
        yield "", "python -m spacy download NAME, or conda install -c conda-forge spacy-model-NAME, or name a"
        yield "", "folder in the run file (parsers: {de: FOLDER}); the sandbox and treebanks need no parser"


def _classifiers() -> Iterator[Row]:
    from nbkit.models import CLASSIFIERS, check_classifier, is_classifier_here

    for name in CLASSIFIERS:
        lang = (CLASSIFIERS.get(name).languages or ("en",))[0]
        problem, recipe = check_classifier(name, lang), CLASSIFIERS.get(name).recipe
        yield name, _readiness(problem, recipe, partial(is_classifier_here, name, lang))


def _language_models() -> Iterator[Row]:
    from nbkit.models import LANGUAGE_MODELS, check_language_model, is_language_model_here

    for name in LANGUAGE_MODELS:
        lang = (LANGUAGE_MODELS.get(name).languages or ("en",))[0]
        problem, recipe = check_language_model(name, lang), LANGUAGE_MODELS.get(name).recipe
        yield name, _readiness(problem, recipe, partial(is_language_model_here, name, lang))


def _readiness(problem: str | None, recipe: str | None, is_here: Callable[[], bool]) -> str:
    if problem:  # which model a recipe makes cannot be known, either, where the training data is missing
        return _first_line(problem)
    return "ready" if recipe is None or is_here() else "will be trained on first use"


def _services() -> Iterator[Row]:
    from nbkit.models.services.names import WebModel, offered, parse_remote

    for name, place, _ in offered():
        if not name.startswith(WebModel.prefix):
            yield name, _first_line(parse_remote(name).problem("en", "de") or f"ready: {place}")
    yield _web_services()


def _web_services() -> Row:
    """All services of deep-translator in one line: those that are ready, and what the others ask for."""
    from nbkit.models.services.names import PACKAGE, WebModel, services

    row = f"{WebModel.prefix}NAME"
    if find_spec(PACKAGE) is None:
        return row, f'pip install "nbkit[deep-translator]", for {", ".join(services())}'
    ready = [name for name in services() if WebModel.parsed(WebModel.prefix + name).problem("en", "de") is None]
    keys = (key for each in services().values() for key in each.keys.values())
    unset = dict.fromkeys(key for key in keys if not os.environ.get(key))
    parts = {"ready": ready, "not set": unset}
    return row, "; ".join(f"{what}: {', '.join(names)}" for what, names in parts.items() if names)


def _metrics() -> Iterator[Row]:
    from nbkit.measure import METRICS, check_metric

    for name in METRICS:
        yield name, _first_line(check_metric(name, lang="en") or "ready")


def _run_files() -> Iterator[Row]:
    """Whether each run file here, or that came with nbkit, could be run as things are."""
    from nbkit.batch.params import read, validate
    from nbkit.bundle import bundled

    here = Path("params")
    folder = here if here.is_dir() else bundled("params")
    for path in sorted(folder.glob("*.yaml")):
        try:
            problems = [problem.message for problem in validate(read(path))]
        except NbkitError as error:
            problems = str(error).splitlines()
        messages = list(dict.fromkeys(map(_first_line, problems)))
        yield path.stem, "ready to run" if not messages else f"{len(problems)} problem{'s' * (len(problems) > 1)}:"
        for message in messages[:_SHOWN_PROBLEMS]:
            yield "", message
        if len(messages) > _SHOWN_PROBLEMS:
            yield "", f"… and more: nbkit validate {path}"


def _first_clause(text: str) -> str:
    return text.partition(";")[0]


def _first_line(text: str) -> str:
    return text.strip().splitlines()[0]


# ----------------------------------------------------------------------------
# `nbkit init`: notebooks and run files in a folder of one's own.


@click.command()
@click.argument("folder", default=".", type=click.Path(path_type=Path))
def init(folder: Path) -> None:
    """Lay the notebooks and run files out in FOLDER (by default here). No file is overwritten."""
    from nbkit.bundle import lay_out

    written = lay_out(folder)
    click.echo(f"{len(written)} files in {folder / 'notebooks'} and {folder / 'params'}")
    click.echo(f"Next: {'' if folder == Path() else f'cd {shlex.quote(str(folder))} && '}nbkit run params/demo.yaml")
