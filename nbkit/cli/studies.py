"""Commands about one study of a run file: `nbkit annotate …` (human judgements) and `nbkit split-idioms`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nbkit.batch.params import refuse_programs
from nbkit.cli import RUN_FILE, aligned, allow_commands_option, of_study, offline_option
from nbkit.corpora.nli import LABELS
from nbkit.errors import NbkitError
from nbkit.files import as_csv, atomic_write
from nbkit.measure.forms import accuracy_table, agreement, make_form, make_naturalness_form, make_sense_form, read_forms

if TYPE_CHECKING:
    import pandas as pd

    from nbkit.studies.disambiguation import DisambiguationParams
    from nbkit.studies.idioms import IdiomsParams
    from nbkit.studies.nli_permutation import NliPermutationParams

_RUN = click.argument("run_file", metavar="RUN", type=click.Path(path_type=Path))


_FORM = click.argument("form", type=click.Path(path_type=Path))


@click.group()
def annotate() -> None:
    """Forms for human annotators: make one, read filled ones."""


@annotate.command()
@_RUN
@_FORM
@click.option("--n", default=200, show_default=True, help="Permuted pairs in the form.")
@click.option("--system", metavar="NAME", help="System that accepts the pairs; by default the run's first.")
@click.option("--corpus", help="Set that they come from; by default the run's first.")
@of_study("nli_permutation", "NLI permutation")
@allow_commands_option
@offline_option
def make(params: NliPermutationParams, form: Path, n: int, system: str | None, corpus: str | None) -> None:
    """Draw permuted pairs that a model accepts and write the FORM (.xlsx) and its key (.key.json).

    RUN is a run file with the NLI permutation study; missing results are computed. Half of the pairs are short and half
    long, half from originally correct pairs and half from flipped ones, as far as there are enough.
    Give annotators the form, never the key.
    """
    from nbkit.studies.nli_permutation import annotation_sample

    refuse_programs([params])
    sample = annotation_sample(params, n, model=system, corpus=corpus)
    written, key = make_form(
        sample, form, labels=LABELS, instructions=_instructions(), seed=params.seed,
        provenance={"study": "nli_permutation", "params": params.model_dump(mode="json")},
    )  # fmt: skip
    counts = Counter(zip(sample["length_group"], sample["stratum"], strict=True))
    click.echo(aligned([(f"{size}, {stratum}", f"{count} pairs") for (size, stratum), count in sorted(counts.items())]))
    click.echo(f"Form: {written}\nKey:  {key} (not for annotators)")


@annotate.command()
@click.argument("forms", nargs=-1, required=True, metavar="[NAME=]FORM...")
@click.option("--key", required=True, type=click.Path(path_type=Path), help="Key written with the form.")
@click.option("--output", type=click.Path(path_type=Path), help="Also write all judgements to this .csv file.")
def read(forms: tuple[str, ...], key: Path, output: Path | None) -> None:
    """Read filled forms: accuracy, macro-F1, accuracy by stratum and length, agreement.

    NAME is the annotator; by default, the file's name. A form with an unknown label, a missing or changed row or
    another form's key is refused, with the row.
    """
    judgements = read_forms(_named(forms), key)
    if output is not None:
        with atomic_write(output) as unfinished:
            unfinished.write_text(as_csv(judgements), encoding="utf-8", newline="")
    by = [column for column in ("stratum", "length_group") if column in judgements]
    table = accuracy_table(judgements, labels=LABELS, by=by)
    click.echo(
        aligned([("annotator", "pairs", "N", "accuracy", "95% interval", "macro F1"), *map(_accuracy, _rows(table))])
    )
    if judgements["annotator"].nunique() > 1:
        together = map(_agreement, _rows(agreement(judgements, labels=LABELS)))
        click.echo("\n" + aligned([("agreement", "annotators", "N", "value", "95% interval"), *together]))


def _rows(table: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(name): value for name, value in row.items()} for row in table.to_dict("records")]


def _accuracy(row: Mapping[str, Any]) -> tuple[str, ...]:
    shown = f"{row['accuracy']:.3f} ± {row['half_width']:.3f}"
    return row["annotator"], row["value"] or "all", str(row["n"]), shown, _interval(row), f"{row['macro_f1']:.3f}"


def _agreement(row: Mapping[str, Any]) -> tuple[str, ...]:
    return row["measure"], row["annotators"], str(row["n"]), f"{row['value']:.3f}", _interval(row)


def _interval(row: Mapping[str, Any]) -> str:
    return f"[{row['low']:.3f}, {row['high']:.3f}]"


def _named(forms: tuple[str, ...]) -> dict[str, str]:
    """Annotators and their forms. Raises `NbkitError` if two have the same name."""
    named: dict[str, str] = {}
    for form in forms:
        name, given, path = form.partition("=")
        name, path = (name, path) if given else (Path(form).stem, form)
        if name in named:
            raise NbkitError(f"two forms of annotator '{name}': {named[name]} and {path}; write NAME=FORM")
        named[name] = path
    return named


def _instructions() -> str:
    text = resources.files("nbkit.measure").joinpath("instructions.txt").read_text("utf-8")
    return text.format(labels=", ".join(LABELS))


# ----------------------------------------------------------------------------
# `nbkit annotate senses`: the two forms of the disambiguation study.


@annotate.command()
@_RUN
@_FORM
@click.option("--n", default=100, show_default=True, help="Sentences in each form, half of them adversarial.")
@of_study("disambiguation", "disambiguation")
@allow_commands_option
@offline_option
def senses(params: DisambiguationParams, form: Path, n: int) -> None:
    """Draw sentences of both challenge sets and write two forms: FORM-senses.xlsx and FORM-naturalness.xlsx.

    RUN is a run file with the disambiguation study; missing results are computed. Each form has a key
    (.key.json), which annotators do not get. Filled forms and keys go into the parameters annotations, annotation_key,
    naturalness and naturalness_key.
    """
    from nbkit.studies.disambiguation import judgement_sample

    refuse_programs([params])
    sample = judgement_sample(params, n)
    provenance = {"study": "disambiguation", "params": params.model_dump(mode="json")}
    stem = form.with_suffix("") if form.suffix == ".xlsx" else form
    for task, make in (("senses", make_sense_form), ("naturalness", make_naturalness_form)):
        written, key = make(sample, stem.with_name(f"{stem.name}-{task}.xlsx"), seed=params.seed, provenance=provenance)
        click.echo(f"Form: {written}\nKey:  {key} (not for annotators)")
    counts = Counter(sample["set"])
    click.echo(", ".join(f"{count} {name} sentences" for name, count in sorted(counts.items())))


# ----------------------------------------------------------------------------
# `nbkit split-idioms`: the training data of the idioms study as files.


@click.command("split-idioms")
@RUN_FILE
@click.argument("folder", metavar="FOLDER", type=click.Path(path_type=Path))
@of_study("idioms", "idioms")
def split_idioms(params: IdiomsParams, folder: Path) -> None:
    """Write the training and test data of a run file's idioms study.

    For each language pair, FOLDER/en-fr gets idiom-train and idiom-test, line-aligned, and regular if the study names
    corpora; otherwise bring your own regular pairs. The splits are those that `nbkit run` tests on. Train with
    --train moses:FOLDER/en-fr/regular, --idioms moses:FOLDER/en-fr/idiom-train and --condition zero, joint or
    upsample-N.
    """
    from nbkit.studies.idioms.steps import write_training_data

    for language in params.languages:
        place = folder / f"{params.source}-{language}"
        counts = write_training_data(params, language, place)
        click.echo(f"{place}: {', '.join(f'{name} {count:,}' for name, count in counts.items())}")
