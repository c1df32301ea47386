"""The command line: `nbkit …`. Each command is a thin layer over functions that notebooks call, too.

A command's module is imported when the command is used, and heavy libraries when it does its work.
"""

from __future__ import annotations

from importlib import import_module

import click

from nbkit import __version__
from nbkit.errors import NbkitError

#: Where each command lives: ``"module:attribute"``.
_COMMANDS = {
    "list": "nbkit.commands.listing:listing",
    "perturb": "nbkit.commands.texts:perturb",
    "translate": "nbkit.commands.texts:translate",
    "check-numbers": "nbkit.commands.numbers:check_numbers",
    "train": "nbkit.commands.training:train",
    "split-idioms": "nbkit.commands.idioms:split_idioms",
    "annotate": "nbkit.commands.annotate:annotate",
    "validate": "nbkit.commands.grids:validate",
    "run": "nbkit.commands.grids:run",
    "report": "nbkit.commands.grids:report",
    "doctor": "nbkit.commands.doctor:doctor",
    "init": "nbkit.commands.setup:init",
}


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

    def invoke(self, context: click.Context):
        try:
            return super().invoke(context)
        except NbkitError as error:
            return _explain(context, str(error))
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
def main(debug: bool) -> None:
    """Behavioural tests of translation models, as notebooks.

    \b
    Start with:  nbkit run params/demo.yaml
    """
