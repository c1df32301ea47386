"""`nbkit test`: a suite that people wrote, linted and run on any systems."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from nbkit.batch.params import refuse_programs
from nbkit.cli import aligned, allow_commands_option, offline_option
from nbkit.errors import NbkitError
from nbkit.files import plain_text
from nbkit.languages import LanguageDataError, split_pair
from nbkit.measure.forms import key_path, make_form
from nbkit.models.services.commands import allow_commands
from nbkit.studies import outcomes, write_outcomes
from nbkit.studies.results import FORMATS
from nbkit.studies.suite import LABELS, SuiteParams
from nbkit.studies.suite.steps import ASIDE, VERDICT
from nbkit.studies.suite.tables import pass_rates_of_outcomes
from nbkit.suites import Fault, Suite, lint, read_suite
from nbkit.suites.expectations import matches_words
from nbkit.suites.suite import DEMO
from nbkit.text.parsers import check_parser, parser_for

if TYPE_CHECKING:
    import pandas as pd

#: Faults of a suite that are listed beside its results.
_FAULTS = 5
_FORM_TEXTS = ("source", "translation")
_INSTRUCTIONS = """Each row has a source and a translation that the suite could not judge.
Choose right, wrong or unclear: is the translation right in what the source says and in how it is said?
Leave no row empty."""


@click.command("test")
@click.argument("suite")
@click.option("--systems", multiple=True, metavar="SYSTEM…", help="What translates, as everywhere (docs/systems.md).")
@click.argument("more", nargs=-1, metavar="")
@click.option("--pair", metavar="SRC-TGT", default="", help="Languages, for a file that does not name them.")
@click.option("--strict", is_flag=True, help="Fail, too, for what people have to judge or is in quarantine.")
@click.option("--no-quarantine", is_flag=True, help="Judge all tests, those with faults, too.")
@click.option("--only-answered", is_flag=True, help="Skip sentences that a system of files (outputs:) lacks.")
@click.option("--parser", metavar="PIPELINE", help="spaCy pipeline of the target language; by default a known one.")
@click.option("--show", default=5, show_default=True, type=click.IntRange(0), help="Failures shown per system.")
@click.option("--output", type=click.Path(path_type=Path), help="Outcomes with texts (.parquet, .jsonl, .csv).")
@click.option("--form", type=click.Path(path_type=Path), help="Write what people have to judge to this form (.xlsx).")
@click.option("--judged", multiple=True, metavar="[NAME=]FORM", help="A filled form (repeatable).")
@click.option("--key", type=click.Path(path_type=Path), help="Its key; by default the one beside the first form.")
@allow_commands_option
@offline_option
@click.pass_context
def test(
    context: click.Context, suite: str, systems: tuple[str, ...], more: tuple[str, ...], pair: str, strict: bool,
    no_quarantine: bool, only_answered: bool, parser: str | None, show: int, output: Path | None, form: Path | None,
    judged: tuple[str, ...], key: Path | None,
) -> None:  # fmt: skip
    """Test systems with a SUITE: sentences with what must and must not be in their translations (docs/suites.md).

    Without --systems, the suite alone is checked. The exit code is 0 if nothing fails, 1 if a translation fails, and 2
    if something is wrong with the suite.
    """
    place = str(DEMO) if suite == "demo" else suite
    read = read_suite(place, pair="-".join(split_pair(pair)) if pair else "")
    names = [*systems, *more]
    faults = list(lint(read))
    if not names:
        _show_faults(read, faults, len(faults))
        click.echo(f"{suite}: {len(read):,} tests in {read.src}-{read.tgt}, {len(faults)} faults")
        context.exit(2 if faults else 0)
    if any(name.startswith("command:") for name in names):
        allow_commands()
    pipeline = parser or (_pipeline(read.tgt) if any(matches_words(each.wanted) for each in read.entries) else None)
    params = SuiteParams(
        suite=suite, source=read.src, target=read.tgt, models=names, quarantine=not no_quarantine,
        only_answered=only_answered, parsers={read.tgt: pipeline} if pipeline else {}, **_forms(judged, key),
    )  # fmt: skip
    if problems := params.study.problems(params):
        raise NbkitError("\n".join(problems))
    refuse_programs([params])
    import pandas as pd

    found = pd.concat(list(outcomes(params, texts=True)), ignore_index=True)
    _show_faults(read, faults, _FAULTS)
    _show(found, show)
    if output is not None:
        suffix = output.suffix.removeprefix(".")
        if suffix not in FORMATS:
            raise NbkitError(f"{output}: outcomes are written as {', '.join(FORMATS)}")
        click.echo(f"{write_outcomes([found], output, suffix):,} outcomes in {output}")
    open_ = found[(found["measure"] == VERDICT) & (found["verdict"] == "undecided")]
    if form is not None:
        _write_form(open_, form, params)
    failed = (found["verdict"] == "fail").any()
    context.exit(int(failed or (strict and (found["verdict"] == "undecided").any())))


def _pipeline(lang: str) -> str | None:
    """What parses *lang* here; None if nothing does."""
    with suppress(LanguageDataError):
        spec = parser_for(lang)
        return spec if check_parser(spec, lang) is None else None
    return None


def _forms(judged: Sequence[str], key: Path | None) -> dict[str, Any]:
    if not judged:
        return {}
    pairs = [each.rpartition("=") for each in judged]
    forms = {name or Path(path).stem: path for name, _, path in pairs}
    return {"annotations": forms, "annotation_key": str(key or key_path(next(iter(forms.values()))))}


def _show_faults(suite: Suite, faults: Sequence[Fault], most: int) -> None:
    for fault in faults[:most]:
        click.echo(f"{suite.path}:{fault.line}: {fault.kind} ({fault.test}): {fault.text}", err=True)
    if len(faults) > most:
        click.echo(f"… and {len(faults) - most} more faults: nbkit test {suite.path}", err=True)


def _show(found: pd.DataFrame, shown: int) -> None:
    rates = pass_rates_of_outcomes(found)
    rows = [("system", "category", "passed", "95% interval", "decided", "for people")]
    several = rates["category"].nunique() > 2
    for row in cast(Iterator[Any], rates[rates["phenomenon"] == ""].itertuples()):
        if row.category == "" or several:
            interval = f"[{row.low:.1%}, {row.high:.1%}]" if row.n else ""
            rate = f"{row.rate:.1%}" if row.n else "–"
            rows.append((row.system, row.category or "all", rate, interval, f"{row.n:,}", f"{row.undecided:,}"))
    click.echo(aligned(rows))
    aside = found[found["measure"] == ASIDE].drop_duplicates("item")
    if len(aside):
        reasons = Counter(reason.partition(":")[0] for reason in aside["reason"])
        click.echo(
            f"In quarantine: {len(aside):,} tests ({', '.join(f'{n} {why}' for why, n in reasons.most_common())})"
        )
    for system, own in found[found["verdict"] == "fail"].groupby("system", sort=False):
        for row in cast(Iterator[Any], own.head(shown).itertuples()):
            texts = f"{plain_text(row.source)} → {plain_text(row.output)}"
            click.echo(f"failed ({row.groups['test']}) {system}: {plain_text(row.reason)}\n  {texts}")
        if len(own) > shown:
            click.echo(f"  … and {len(own) - shown:,} more failures of {system}")


def _write_form(rows: pd.DataFrame, form: Path, params: SuiteParams) -> None:
    if rows.empty:
        click.echo("Nothing is left for people to judge: no form was written")
        return
    table = rows.rename(columns={"output": "translation"}).drop_duplicates(list(_FORM_TEXTS))
    table = table.assign(label="unclear", test=[groups["test"] for groups in table["groups"]])
    written, key = make_form(
        table[[*_FORM_TEXTS, "label", "test", "reason"]], form, labels=list(LABELS), instructions=_INSTRUCTIONS,
        texts=_FORM_TEXTS, provenance={"study": "suite", "params": params.model_dump(mode="json")},
    )  # fmt: skip
    click.echo(f"Form: {written} ({len(table):,} translations)\nKey:  {key} (not for annotators)")
