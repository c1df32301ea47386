"""The command line: `nbkit …`; one module a theme, imported when it is used."""

from nbkit.cli.commands import main

__all__ = ["main"]
