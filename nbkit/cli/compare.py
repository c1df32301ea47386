"""`nbkit compare`: two systems, item by item, and the gates of a build."""

from __future__ import annotations

import os
from pathlib import Path

import click

from nbkit.cli import allow_commands_option, offline_option


@click.command()
@click.argument("a", metavar="A")
@click.argument("b", metavar="B")
@click.option(
    "--in", "run", metavar="RUN", type=click.Path(path_type=Path), help="The run whose systems have the labels A and B."
)
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    help="Folder for compare.html and compare.json; by default outputs/compare-A-vs-B.",
)
@click.option(
    "--fail-if",
    "conditions",
    multiple=True,
    metavar="CONDITION",
    help="Exit with 1 if this is true, such as 'numbers.strict < -0.01' (repeatable; docs/ci.md).",
)
@click.option("--junit", "junit_file", type=click.Path(path_type=Path), help="Also write the gates as JUnit XML.")
@allow_commands_option
@offline_option
@click.pass_context
def compare(
    context: click.Context, a: str, b: str, run: Path | None, output: Path | None,
    conditions: tuple[str, ...], junit_file: Path | None,
) -> None:  # fmt: skip
    """Compare two systems item by item: what changed, and how sure is that?

    A and B are output folders of runs, cards, or files of outcomes. Items are paired by id; items that only one side
    has are excluded.
    """
    from nbkit.batch.gate import annotation, check, junit
    from nbkit.files import atomic_write, check_folder
    from nbkit.report.compare import compare as comparison_of
    from nbkit.report.compare import default_folder

    if junit_file is not None and not conditions:
        raise click.UsageError("--junit requires --fail-if")
    output = output or default_folder(a, b, run)
    check_folder(output, "compare.html")
    found = comparison_of(a, b, run=run)
    checks = check(conditions, found)
    page = found.write(output, checks)
    if junit_file is not None:
        with atomic_write(junit_file) as unfinished:
            Path(unfinished).write_bytes(junit(checks, f"{found.a} and {found.b}"))
    click.echo(found.answer)
    for block in found.blocks():
        click.echo(
            f"  {block['pair']}{f' {systems}' if (systems := block['whole']['systems']) else ''}: {block['sentence']}"
        )
    for alone in found.alone():
        click.echo(f"  not compared: {alone}")
    for each in checks:
        if each.broken:
            click.echo(f"gate broken ({each.condition}): {each.name}: {each.message}", err=True)
            if os.environ.get("GITHUB_ACTIONS") == "true":
                click.echo(annotation(each))
    if checks:
        click.echo(f"{sum(each.broken for each in checks)} of {len(checks)} gates broken")
    click.echo(f"Page: {page}")
    context.exit(int(any(each.broken for each in checks)))
