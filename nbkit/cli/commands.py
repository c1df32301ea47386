"""The one entry of a run file that a command is about."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

import click

from nbkit import __version__
from nbkit.bundle import find_params
from nbkit.errors import NbkitError, ParamsError
from nbkit.registry import load_plugins
from nbkit.studies.base import StudyParams

Params = TypeVar("Params", bound=StudyParams)


def params_of(run: Path, study: str, schema: type[Params], entry: str | None, settings: Mapping[str, str]) -> Params:
    """The parameters, of the type *schema*, that a run file has for a study.

    entry: which of the file's entries, where several are of the study. settings: values of the file's variables.
    Raises `NbkitError` where the file has no such entry, or several and *entry* names none of them.
    """
    from nbkit.batch.params import entries, read

    checked = entries(read(find_params(run), settings))
    own = {each.name: each.params for each in checked if isinstance(each.params, schema)}
    if not own:
        raise NbkitError(f"{run} has no entry of the study {study}")
    if entry is None and len(own) > 1:
        raise NbkitError(f"{run} has several entries of the study: say which (--entry {' or '.join(own)})")
    if entry is not None and entry not in own:
        raise NbkitError(f"{run} has no entry '{entry}' of the study; there are: {', '.join(own)}")
    return own[entry] if entry is not None else next(iter(own.values()))


# ----------------------------------------------------------------------------
# Settings that several commands share.


def _settings(context: click.Context, parameter: click.Parameter, given: tuple[str, ...]) -> Mapping[str, str]:
    """Names and values of ``NAME=VALUE``."""
    for each in given:
        if "=" not in each:
            raise ParamsError(f"--set {each}: write --set NAME=VALUE, where the run file declares NAME (variables: …)")
    return {name: value for name, _, value in (each.partition("=") for each in given)}


#: The values of a run file's variables.
set_option = click.option(
    "--set", "settings", multiple=True, metavar="NAME=VALUE", callback=_settings,
    help="Value of a variable that the run file declares under `variables` (again for more).",
)  # fmt: skip


def go_offline() -> None:
    """From now on, in this process and those that it starts, no hub is asked for models or data."""
    for name in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "HF_DATASETS_OFFLINE"):
        os.environ[name] = "1"


def pipeline_for(lang: str) -> str | None:
    """The language's spaCy pipeline if it can be used, else that in ``$NBKIT_DATA/models``, else None."""
    from nbkit.languages import LanguageDataError, base_language
    from nbkit.text.parsers import check_parser, parser_for

    local = Path(os.environ.get("NBKIT_DATA", "")) / "models" / f"{base_language(lang)}_ud_sm"
    specs = [str(local)] if local.is_dir() else []
    with suppress(LanguageDataError):
        specs.insert(0, parser_for(lang))
    return next((spec for spec in specs if check_parser(spec, lang) is None), None)


# ----------------------------------------------------------------------------
# Rows for people (aligned columns) and for programs (JSON).


def aligned(rows: Sequence[Sequence[str]], indent: str = "") -> str:
    """Rows of text under each other, in columns as wide as their widest entry.

    >>> print(aligned([("bleu", "sentence BLEU-4"), ("chrf", "character n-grams")]))
    bleu  sentence BLEU-4
    chrf  character n-grams
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ("  ".join(entry.ljust(width) for entry, width in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(indent + line.rstrip() for line in lines)


def as_columns(rows: Sequence[Mapping[str, Any]], keys: Sequence[str]) -> str:
    """The entries *keys* of all rows in columns, under a line with the keys.

    >>> print(as_columns([{"name": "pud", "languages": ["en", "de"]}], ["name", "languages"]))
    name  languages
    pud   en, de
    """
    return aligned([keys, *([_text(row[key]) for key in keys] for row in rows)])


def as_json(rows: Sequence[Mapping[str, Any]]) -> str:
    """All of *rows* as JSON."""
    return json.dumps(rows, indent=2, ensure_ascii=False)


def _text(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


# ----------------------------------------------------------------------------
# The command line: `nbkit …`. Each command is a thin layer over functions that notebooks call, too.
#
# A command's module is imported when the command is used, and heavy libraries when it does its work.

#: Where each command lives: ``"module:attribute"``.
_COMMANDS = {
    "list": "nbkit.cli.listing:listing",
    "perturb": "nbkit.cli.texts:perturb",
    "translate": "nbkit.cli.texts:translate",
    "check-numbers": "nbkit.cli.texts:check_numbers",
    "train": "nbkit.cli.training:train",
    "split-idioms": "nbkit.cli.texts:split_idioms",
    "annotate": "nbkit.cli.annotate:annotate",
    "validate": "nbkit.cli.grids:validate",
    "run": "nbkit.cli.grids:run",
    "report": "nbkit.cli.grids:report",
    "outcomes": "nbkit.cli.outcomes:write",
    "doctor": "nbkit.cli.doctor:doctor",
    "init": "nbkit.cli.doctor:init",
}


#: What a system's call takes in no argument, and no file in UTF-8 holds.
_NO_ARGUMENT = re.compile(r"[\0\ud800-\udfff]")


class _LazyGroup(click.Group):
    """Commands by name, imported on use; an `NbkitError` becomes one message and exit code 2."""

    def list_commands(self, context: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in _COMMANDS:
            return None
        module, _, attribute = _COMMANDS[name].partition(":")
        return getattr(import_module(module), attribute)

    def resolve_command(self, context: click.Context, args: list[str]):
        # click looks among the commands that were added, to say what was meant; ours are not added.
        if args and not args[0].startswith("-") and args[0] not in _COMMANDS:
            from nbkit.errors import closest

            guess = closest(args[0], _COMMANDS)
            hint = f"; did you mean '{guess}'?" if guess else "."
            context.fail(f"there is no command '{args[0]}'{hint} There are: {', '.join(_COMMANDS)}")
        return super().resolve_command(context, args)

    def parse_args(self, context: click.Context, args: list[str]) -> list[str]:
        for argument in args:
            if found := _NO_ARGUMENT.search(argument):
                what = "a NUL character" if found[0] == "\0" else "bytes that are no UTF-8, or half a surrogate pair"
                context.fail(f"{argument[:80]!r} holds {what}: neither texts nor names of files may")
        return super().parse_args(context, args)

    def invoke(self, context: click.Context):
        try:
            return super().invoke(context)
        except NbkitError as error:
            return _explain(context, str(error))
        except UnicodeEncodeError as error:
            text = f"{error.object[error.start : error.start + 1]!r} cannot be written as {error.encoding}"
            return _explain(context, f"{text}: set PYTHONUTF8=1, or a locale of UTF-8")
        except MemoryError:
            return _explain(context, "there is not enough memory for this: is a file larger than it should be?")
        except OSError as error:  # a full disk, a folder that may not be written to
            from nbkit.files import REFUSALS
            from nbkit.store import cache_problem

            if error.filename is None and error.errno not in REFUSALS:
                raise
            place = error.filename or "what was to be written is cut short"
            return _explain(context, cache_problem() or f"{place}: {error.strerror}")


def _explain(context: click.Context, message: str):
    """Shows *message* alone, or the error itself where ``--debug`` asks for it."""
    if context.params.get("debug"):
        raise
    click.echo(f"nbkit: {message}", err=True)
    context.exit(2)


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, "--version", message="nbkit %(version)s")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
@click.option(
    "--plugin", "plugins", multiple=True, type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="File of Python that registers models, metrics or studies of your own (again for more).",
)  # fmt: skip
def main(debug: bool, plugins: tuple[Path, ...]) -> None:
    """Behavioural tests of translation models, as notebooks.

    \b
    Start with:  nbkit run params/demo.yaml
    """
    if plugins:
        load_plugins(*plugins)
