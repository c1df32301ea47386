"""`nbkit init`, `nbkit validate`, `nbkit run` and `nbkit report`: run files and their output folders."""

from __future__ import annotations

import shlex
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nbkit.batch.params import entries, listing, not_remembered, read
from nbkit.batch.params import validate as problems_of
from nbkit.bundle import lay_out
from nbkit.cli import RUN_FILE, aligned, offline_option, set_option, size_text
from nbkit.studies.results import outdated

if TYPE_CHECKING:
    from nbkit.batch.run import RunSummary

_SHOWN = 4  # names that were not timed yet
_MUCH = 10 * 2**20  # bytes in the store that nothing reads: worth a line


@click.command()
@RUN_FILE
@set_option
@offline_option
@click.pass_context
def validate(context: click.Context, run_file: Path, settings: Mapping[str, str]) -> None:
    """Check a run file: parameters, languages, files, parsers and models; nothing is loaded or run."""
    grid = read(run_file, settings)
    problems = problems_of(grid)
    if problems:
        click.echo(listing(problems), err=True)
        click.echo(f"{run_file}: {len(problems)} problem{'s' * (len(problems) != 1)}", err=True)
        context.exit(1)
    for name in not_remembered(grid):
        click.echo(f"model '{name}' is not remembered: register an identity")
    click.echo(f"{run_file}: ready to run")


@click.command()
@RUN_FILE
@click.option(
    "--workers",
    type=click.IntRange(min=1),
    help="Processes, or workers of a cluster, at a time; by default one a core, at most 8.",
)
@click.option(
    "--executor",
    type=click.Choice(["processes", "dask", "slurm", "pbs", "lsf"]),
    default="processes",
    help="Who does the units of work: processes of this machine, or a cluster's workers (docs/cluster.md).",
)
@click.option(
    "--address", metavar="tcp://HOST:PORT", help="Of a Dask scheduler that is running (with --executor dask)."
)
@click.option("--force", is_flag=True, help="Execute notebooks again that are finished and unchanged.")
@click.option("--dry-run", is_flag=True, help="Say what would be done, and for how long.")
@click.option("--output", type=click.Path(path_type=Path), help="Folder of the results; by default outputs/<name>.")
@set_option
@offline_option
@click.pass_context
def run(
    context: click.Context, run_file: Path, settings: Mapping[str, str], executor: str, address: str | None,
    dry_run: bool, **options: Any,
) -> None:  # fmt: skip
    """Run the grid of a run file and write its report.

    A run that was stopped goes on where it was; what is finished and unchanged is not done again.
    The exit code is 1 where a part of it failed.
    """
    from nbkit.batch.run import dry_run as plan
    from nbkit.batch.run import run as run_grid

    if address is not None and executor != "dask":
        raise click.UsageError("--address is a Dask scheduler's: it goes with --executor dask")
    grid = read(run_file, settings)
    if dry_run:
        _show_plan(plan(grid, **options))
        return
    old = sum(block.size for block in outdated(entry.study for entry in entries(grid)))
    if old > _MUCH:
        click.echo(
            f"The store holds {size_text(old)} that other code made and nothing reads: nbkit store --clear", err=True
        )
    # Schedulers send SIGTERM before they kill: it ends a run in order, too.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        summary = run_grid(grid, executor=executor, address=address, **options)
    except KeyboardInterrupt:
        click.echo("\nStopped. What is finished is kept; the same command goes on from there.", err=True)
        context.exit(130)
    _show_summary(summary)
    context.exit(summary.exit_code)


def _show_plan(summary: RunSummary) -> None:
    rows = [
        ("output", str(summary.output)),
        ("cells", str(summary.cells)),
        ("notebooks", f"{len(summary.executed)} to execute, {len(summary.skipped)} finished and unchanged"),
        ("units of work", str(summary.units)),
        ("texts", f"{summary.texts} to handle, {summary.stored} of them remembered"),
    ]
    if summary.not_remembered:
        rows.append(("not remembered", f"{', '.join(summary.not_remembered)}: register an identity"))
    if summary.estimate is not None:
        rows.append(("time", f"about {_minutes(summary.estimate)} ({_basis(summary.untimed)})"))
    click.echo(aligned(rows))


def _basis(untimed: tuple[str, ...]) -> str:
    if not untimed:
        return "as measured in earlier runs"
    named = ", ".join(untimed[:_SHOWN]) + (f" and {len(untimed) - _SHOWN} more" if len(untimed) > _SHOWN else "")
    return f"a guess: not timed here yet: {named}"


def _show_summary(summary: RunSummary) -> None:
    for failure in summary.failures:
        click.echo(f"failed: {failure.label}: {failure.error}", err=True)
    click.echo(
        f"{summary.name}: {len(summary.executed)} notebooks executed, {len(summary.skipped)} unchanged, "
        f"{len(summary.failures)} failures, {_minutes(summary.seconds)}"
    )
    if summary.report:
        click.echo(f"Report: {summary.report}")


def _minutes(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


@click.command()
@click.argument("folder", metavar="OUTPUTS/RUN", type=click.Path(path_type=Path))
@click.option("--zip", "as_zip", is_flag=True, help="Also pack pages, figures and tables into one file.")
@click.option("--no-text", is_flag=True, help="Pack without the sentences of the corpus (implies --zip).")
def report(folder: Path, as_zip: bool, no_text: bool) -> None:
    """Make the report of an output folder anew, and pack it for an e-mail."""
    from nbkit.batch.folder import OutputFolder
    from nbkit.report.site import archive, archive_without_text, build

    if no_text:
        click.echo(archive_without_text(folder))
    elif as_zip:
        click.echo(archive(folder))
    else:
        click.echo(build(folder))
    status = OutputFolder(folder).read_run().get("status")
    if status in ("running", "interrupted"):
        click.echo(f"nbkit: the run in {folder} is not finished: the report shows what is there", err=True)


# ----------------------------------------------------------------------------
# `nbkit init`.


@click.command()
@click.argument("folder", default=".", type=click.Path(path_type=Path))
def init(folder: Path) -> None:
    """Lay the notebooks and run files out in FOLDER (by default here). No file is overwritten."""
    written = lay_out(folder)
    click.echo(f"{len(written)} files in {folder / 'notebooks'} and {folder / 'params'}")
    click.echo(f"Next: {'' if folder == Path() else f'cd {shlex.quote(str(folder))} && '}nbkit run params/demo.yaml")
