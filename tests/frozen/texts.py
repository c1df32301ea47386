"""What the command line says, and what every run file comes to, on a machine without network, data and models."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import URLError

import click
import pytest
from click.testing import CliRunner

from nbkit.batch.params import Entry, entries, read
from nbkit.batch.plan import make_plan
from nbkit.cli import main
from nbkit.errors import NbkitError
from tests.frozen.runs import without_versions

ROOT = Path(__file__).parents[2]
RUN_FILES = sorted(path.name for path in (ROOT / "params").glob("*.yaml"))
#: Run files of which counting texts takes long, as every sentence is perturbed for it.
UNCOUNTED = ("sandbox.yaml", "nli_permutation_real.yaml")
KINDS = ("models", "corpora", "perturbations", "metrics", "studies")


@contextmanager
def bare_machine(folder: Path, data: str | None) -> Iterator[None]:
    """The checkout as the working folder, empty caches in *folder*, no network, no keys; *data*: of NBKIT_DATA."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        for name in os.environ:
            if re.search(r"_(API_)?KEY$|_APPID$|_BASE_URL$|^CUDA_|^HF_|^NBKIT_DATA$", name):
                patch.delenv(name)
        patch.setenv("NBKIT_CACHE", str(folder / "cache"))
        patch.setenv("HF_HOME", str(folder / "hub"))
        patch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(folder / "hub" / "hub"))
        patch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
        for name in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "HF_DATASETS_OFFLINE"):
            patch.setenv(name, "1")  # commands set them for good
        patch.setenv("COLUMNS", "100")
        patch.setattr("urllib.request.urlopen", _no_network)
        found = shutil.which  # programs that a machine may have
        patch.setattr(
            "shutil.which", lambda name, *more, **named: None if name == "apertium" else found(name, *more, **named)
        )
        if data is not None:
            patch.setenv("NBKIT_DATA", data)
        yield


def _no_network(*_: object, **__: object) -> None:
    raise URLError("no network")


def needs_data(name: str) -> bool:
    """Whether a run file names ``NBKIT_DATA``."""
    return "NBKIT_DATA" in (ROOT / "params" / name).read_text(encoding="utf-8")


def printed(*arguments: str) -> str:
    """What a command says, to both streams, with its exit code."""
    result = CliRunner().invoke(main, list(arguments))
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return f"$ nbkit {' '.join(arguments)}\n{result.output.rstrip()}\n# exit code {result.exit_code}"


def help_text() -> str:
    """``nbkit --help``, and that of every command and of the commands below it."""
    return "\n\n".join(printed(*words, "--help") for words in _commands(main, ()))


def _commands(command: click.Command, words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    yield words
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            assert found is not None
            yield from _commands(found, (*words, name))


def list_text(kind: str) -> str:
    """``nbkit list KIND``, in columns and as JSON."""
    return "\n\n".join(_normal(printed("list", kind, *more)) for more in ((), ("--format", "json")))


def validate_text(name: str) -> str:
    return _normal(printed("validate", f"params/{name}", "--offline"))


def doctor_text() -> str:
    """``nbkit doctor``, of versions and the machine the names alone."""
    sections = printed("doctor", "--offline").split("\n\n")
    for place, section in enumerate(sections):
        title, *rows = section.splitlines()
        if title.endswith("nbkit") or title.endswith("--offline") or title == "Folders":
            sections[place] = "\n".join([title, *(re.sub(r"(?<=\S)(  +).*", r"\1…", row) for row in rows)])
    return _normal("\n\n".join(sections))


def plan_text(name: str) -> str:
    """Cells, executions and units of a run file, a line of JSON each, or why there are none."""
    run = read(f"params/{name}")
    lines: list[object] = [{"run": run.name, "title": run.title}]
    for entry in entries(run):
        lines.append(
            {"entry": entry.name, "study": entry.study.name, "notebooks": [each.path for each in entry.notebooks]}
        )
        lines += [{"cell": cell.label, **cell.tags} for cell in entry.study.cells(entry.params)]
        lines += _units(entry, is_counted=name not in UNCOUNTED)
    try:
        lines += [{"execution": each.label, "notebook": each.notebook} for each in make_plan(run).executions]
    except NbkitError as error:
        lines.append({"not planned": str(error)})
    return _normal("\n".join(json.dumps(each, ensure_ascii=False) for each in lines))


def _units(entry: Entry, *, is_counted: bool) -> Iterator[object]:
    for count, what in ((True, "not counted"), (False, "no units")):
        if not count or is_counted:
            try:
                units = entry.study.units(entry.params, count=count)
            except NbkitError as error:
                yield {what: str(error)}
            else:
                yield from ([unit.stage, unit.label, unit.texts, unit.stored] for unit in units)
                return


def _normal(text: str) -> str:
    """*text* without the folders of this machine and the versions of libraries."""
    places = {
        os.environ.get("NBKIT_DATA"): "<data>",
        os.environ["HF_HOME"]: "<hub>",
        os.environ["NBKIT_CACHE"]: "<cache>",
    }
    for place, name in [*places.items(), (str(ROOT), "<checkout>")]:
        text = text.replace(place, name) if place else text
    text = re.sub(r"\b(ctranslate2) \d[\w.+]*", r"\1 <version>", text)
    return without_versions(text)
