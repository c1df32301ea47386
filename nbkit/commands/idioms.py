"""`nbkit split-idioms`: the training data of the idioms study as files."""

from __future__ import annotations

from pathlib import Path

import click

from nbkit.bundle import find_params


@click.command("split-idioms")
@click.argument("run_file", metavar="PARAMS.YAML", type=click.Path(path_type=Path))
@click.argument("folder", metavar="FOLDER", type=click.Path(path_type=Path))
def split_idioms(run_file: Path, folder: Path) -> None:
    """Write what the models of a run file's idioms study are trained and tested on.

    Of each language pair, FOLDER/en-fr holds regular, idiom-train and idiom-test, line-aligned. The splits are those
    that `nbkit run` tests on. Train with --train moses:FOLDER/en-fr/regular, --idioms moses:FOLDER/en-fr/idiom-train
    and --condition zero, joint or upsample-N.
    """
    from nbkit.batch.params import entries, read
    from nbkit.errors import NbkitError
    from nbkit.studies.idioms import IdiomsParams
    from nbkit.studies.idioms.export import write_training_data

    found = [entry.params for entry in entries(read(find_params(run_file))) if isinstance(entry.params, IdiomsParams)]
    if not found:
        raise NbkitError(f"{run_file}: there is no idioms study in this run file")
    for params in found:
        for language in params.languages:
            place = folder / f"{params.source}-{language}"
            counts = write_training_data(params, language, place)
            click.echo(f"{place}: {', '.join(f'{name} {count:,}' for name, count in counts.items())}")
