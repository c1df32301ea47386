"""`nbkit init`: notebooks and run files in a folder of one's own."""

from __future__ import annotations

import shlex
from pathlib import Path

import click


@click.command()
@click.argument("folder", default=".", type=click.Path(path_type=Path))
def init(folder: Path) -> None:
    """Lay the notebooks and run files out in FOLDER (by default here). No file is overwritten."""
    from nbkit.bundle import lay_out

    written = lay_out(folder)
    click.echo(f"{len(written)} files in {folder / 'notebooks'} and {folder / 'params'}")
    click.echo(f"Next: {'' if folder == Path() else f'cd {shlex.quote(str(folder))} && '}nbkit run params/demo.yaml")
