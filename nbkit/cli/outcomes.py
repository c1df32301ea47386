"""`nbkit outcomes`: what a run found out, one row an item, system and measure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from nbkit import studies
from nbkit.batch.params import entries, read
from nbkit.cli import offline_option, set_option
from nbkit.errors import NbkitError
from nbkit.studies.base import StudyParams
from nbkit.studies.results import FORMATS, write_outcomes


class _WithVerdicts(click.Command):
    """Whose help ends in what a verdict means, as each study says; studies are imported for that alone."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("What a verdict means"):
            formatter.write_dl([(name, studies.STUDIES.get(name).verdict or "not said") for name in studies.STUDIES])


@click.command(cls=_WithVerdicts)
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--output", type=click.Path(path_type=Path), help="Where to; by default, standard output.")
@click.option(
    "--format", "form", type=click.Choice(FORMATS), help="By default what the output's name ends in, else jsonl."
)
@click.option("--texts", is_flag=True, help="Also the texts of each item, and what to mark in them.")
@click.option("--entry", multiple=True, help="Only this entry of the run (again for more).")
@set_option
@offline_option
def outcomes(
    run: Path, output: Path | None, form: str | None, texts: bool, entry: tuple[str, ...], settings: Mapping[str, str]
) -> None:
    """Write the outcomes of a RUN file, or of a run's output folder: one row an item, system and measure.

    All studies share the columns (see `nbkit.studies.results`). What the store does not hold yet is computed.
    """
    suffix = output.suffix.removeprefix(".") if output is not None else ""
    if form is None and suffix and suffix not in FORMATS:
        raise NbkitError(f"{output}: say which format it is to have (--format {', '.join(FORMATS)})")
    form = form or suffix or "jsonl"
    if output is not None and not output.absolute().parent.is_dir():
        raise NbkitError(f"{output}: there is no folder {output.parent}; make it first")
    if output is None and form == "parquet":
        raise NbkitError("a Parquet file cannot be written to standard output: name a file with --output")
    params = _params(run, settings)
    if unknown := set(entry) - set(params):
        raise NbkitError(f"{run} has no entry '{min(unknown)}'; there are: {', '.join(params)}")
    chosen = [each for name, each in params.items() if not entry or name in entry]
    tables = (table for each in chosen for table in studies.outcomes(each, texts=texts))
    n = write_outcomes(tables, output or Path("/dev/stdout"), form)
    if output is not None:
        click.echo(f"{n:,} outcomes in {output}")


def _params(run: Path, settings: Mapping[str, str]) -> dict[str, StudyParams]:
    """The parameters of each entry of a run file, or of an output folder."""
    if run.is_dir():
        return dict(_of_folder(run))
    return {each.name: each.params for each in entries(read(run, settings))}


def _of_folder(folder: Path) -> Iterator[tuple[str, Any]]:
    try:
        record = json.loads((folder / "run.json").read_text(encoding="utf-8"))
        runs = [(each["name"], studies.STUDIES.get(each["study"]), each["params"]) for each in record["runs"]]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise NbkitError(f"{folder} is no output folder of a run: run.json cannot be read ({error})") from None
    for name, study, params in runs:
        yield name, study.params.checked(params, f"{folder}/run.json")
