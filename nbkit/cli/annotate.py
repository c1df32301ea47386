"""`nbkit annotate make` and `nbkit annotate read`: human judgements of permuted pairs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nbkit.cli.commands import aligned, go_offline, params_of, set_option
from nbkit.errors import NbkitError
from nbkit.files import as_csv, atomic_write

if TYPE_CHECKING:
    import pandas as pd


@click.group()
def annotate() -> None:
    """Forms for human annotators: make one, read filled ones."""


@annotate.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.argument("form", type=click.Path(path_type=Path))
@click.option("--n", default=200, show_default=True, help="Permuted pairs in the form.")
@click.option("--model", help="Whose accepted permutations are shown; by default the run's first.")
@click.option("--corpus", help="Which set they come from; by default the run's first.")
@click.option("--entry", help="Entry of the run file, where several are of the NLI permutation study.")
@set_option
@click.option("--offline", is_flag=True, help="Never ask the model hub.")
def make(
    run: Path, form: Path, n: int, model: str | None, corpus: str | None, entry: str | None,
    settings: Mapping[str, str], offline: bool,
) -> None:  # fmt: skip
    """Draw permuted pairs that a model accepts and write the FORM (.xlsx) and its key (.key.json).

    RUN is a run file with the NLI permutation study; what is not computed yet is computed. Half of the pairs are short,
    half long; half of them from originally correct pairs, half from flipped ones, as far as there are so many.
    Give annotators the form and never the key.
    """
    from nbkit.corpora.nli import LABELS
    from nbkit.measure.forms import make_form
    from nbkit.studies.nli_permutation import NliPermutationParams, annotation_sample

    if offline:
        go_offline()
    params = params_of(run, "nli_permutation", NliPermutationParams, entry, settings)
    sample = annotation_sample(params, n, model=model, corpus=corpus)
    provenance = {"study": "nli_permutation", "params": params.model_dump(mode="json")}
    written, key = make_form(
        sample, form, labels=LABELS, instructions=_instructions(LABELS), seed=params.seed, provenance=provenance
    )
    counts = Counter(zip(sample["length_group"], sample["stratum"], strict=True))
    click.echo(aligned([(f"{size}, {stratum}", f"{count} pairs") for (size, stratum), count in sorted(counts.items())]))
    click.echo(f"Form: {written}\nKey:  {key} (not for annotators)")


@annotate.command()
@click.argument("forms", nargs=-1, required=True, metavar="[NAME=]FORM...")
@click.option("--key", required=True, type=click.Path(path_type=Path), help="The key that was written with the form.")
@click.option("--output", type=click.Path(path_type=Path), help="Also write all judgements here (.csv).")
def read(forms: tuple[str, ...], key: Path, output: Path | None) -> None:
    """Read filled forms: accuracy, macro-F1, accuracy by stratum and length, agreement.

    NAME is the annotator; without it the file's name is. A form with an unknown label, a missing or changed row or
    another form's key is refused, with the row.
    """
    from nbkit.corpora.nli import LABELS
    from nbkit.measure.forms import accuracy_table, agreement, read_forms

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
    """Annotators and their forms. Raises `NbkitError` where two go by one name."""
    named: dict[str, str] = {}
    for form in forms:
        name, given, path = form.partition("=")
        name, path = (name, path) if given else (Path(form).stem, form)
        if name in named:
            raise NbkitError(f"two forms of annotator '{name}': {named[name]} and {path}; write NAME=FORM")
        named[name] = path
    return named


def _instructions(labels: Sequence[str]) -> str:
    from importlib import resources

    text = resources.files("nbkit.measure").joinpath("instructions.txt").read_text("utf-8")
    return text.format(labels=", ".join(labels))


# ----------------------------------------------------------------------------
# `nbkit annotate senses`: the two forms of the disambiguation study.


@annotate.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.argument("form", type=click.Path(path_type=Path))
@click.option("--n", default=100, show_default=True, help="Sentences in each form, half of them adversarial.")
@click.option("--entry", help="Entry of the run file, where several are of the disambiguation study.")
@set_option
@click.option("--offline", is_flag=True, help="Never ask the model hub.")
def senses(run: Path, form: Path, n: int, entry: str | None, settings: Mapping[str, str], offline: bool) -> None:
    """Draw sentences of both challenge sets and write two forms: FORM-senses.xlsx and FORM-naturalness.xlsx.

    RUN is a run file with the disambiguation study; what is not computed yet is computed. Each form has a key
    (.key.json), which annotators do not get. Filled forms and keys go into the parameters annotations, annotation_key,
    naturalness and naturalness_key.
    """
    from nbkit.measure.forms import make_naturalness_form, make_sense_form
    from nbkit.studies.disambiguation import DisambiguationParams, judgement_sample

    if offline:
        go_offline()
    params = params_of(run, "disambiguation", DisambiguationParams, entry, settings)
    sample = judgement_sample(params, n)
    provenance = {"study": "disambiguation", "params": params.model_dump(mode="json")}
    stem = form.with_suffix("") if form.suffix == ".xlsx" else form
    for task, make in (("senses", make_sense_form), ("naturalness", make_naturalness_form)):
        written, key = make(sample, stem.with_name(f"{stem.name}-{task}.xlsx"), seed=params.seed, provenance=provenance)
        click.echo(f"Form: {written}\nKey:  {key} (not for annotators)")
    counts = Counter(sample["set"])
    click.echo(", ".join(f"{count} {name} sentences" for name, count in sorted(counts.items())))
