"""Commands on texts: `nbkit perturb`, `nbkit translate`, `nbkit check-numbers`."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeAlias

import click

from nbkit.cli import aligned, allow_commands_option, offline_option, pair_option, pipeline_for
from nbkit.errors import DataError, NbkitError
from nbkit.files import aligned_lines, atomic_write, plain_text
from nbkit.languages import LanguageDataError, check_language
from nbkit.measure.bleu import cut
from nbkit.models import Decoding
from nbkit.models.catalogue import BY_RULE
from nbkit.models.services.commands import CommandModel, allow_commands
from nbkit.models.services.names import is_remote
from nbkit.perturb import NAMES, PERTURBATIONS, perturb_all
from nbkit.store import Store
from nbkit.text.parsers import check_parser, load_parser, parser_for
from nbkit.text.sentences import Sentence, Text


@click.command()
@click.argument("text")
@click.option("--lang", default="en", show_default=True, help="Language of the text.")
@click.option("--only", multiple=True, metavar="NAME", help="A perturbation (repeatable); by default all.")
@click.option("--parser", metavar="PIPELINE", help="spaCy pipeline, by name or folder.")
@click.option("--tokenized", is_flag=True, help="TEXT is tokenised: spaces separate tokens.")
@click.option("--seed", default=0, show_default=True, help="Seed of the random perturbations.")
@click.option("--unit", type=click.Choice(["phrase", "token"]), default="phrase", show_default=True,
              help="What noun swaps move.")  # fmt: skip
@click.option("--spacing", type=click.Choice(["joined", "original"]), default="joined", show_default=True,
              help="How tokens are joined in the output.")  # fmt: skip
def perturb(
    text: str, lang: str, only: tuple[str, ...], parser: str | None, tokenized: bool, seed: int, unit, spacing
) -> None:
    """Show TEXT in every perturbed order.

    Perturbations that need a parse use the language's spaCy pipeline or one in $NBKIT_DATA/models.
    """
    check_language(lang)
    if not text.strip():
        raise NbkitError("the text is empty: there is nothing to perturb")
    names = [PERTURBATIONS.canonical(name) for name in only or NAMES]
    parsed, obstacle = _read(text, lang, parser, tokenized)
    shown = [name for name in names if obstacle is None or PERTURBATIONS.get(name).needs == "tokens"]
    if obstacle and (parser or (only and shown != names)):
        raise NbkitError(obstacle)
    rows = [("as given", parsed.joined if spacing == "joined" else parsed.text)]
    for name, orders in perturb_all(parsed, shown, seed=seed, unit=unit, min_tokens=1).items():
        rows.append((name, "(does not apply)" if orders is None else parsed.reorder(orders, spacing)))
    click.echo(aligned(rows))
    if obstacle:
        click.echo(f"\nOnly perturbations that need no parse are shown: {obstacle}", err=True)


def _read(text: str, lang: str, parser: str | None, tokenized: bool) -> tuple[Text, str | None]:
    """The parsed *text*, or only its tokens and why it could not be parsed."""
    try:
        spec = parser or pipeline_for(lang) or parser_for(lang)
        obstacle = check_parser(spec, lang)
    except LanguageDataError as error:
        obstacle = str(error)
    if obstacle:
        tokens = text.split() if tokenized else cut(text, lang)
        return Text((Sentence(tuple(tokens), lang),)), obstacle
    parsed = next(iter(load_parser(spec, lang).parse([text])))
    if tokenized and list(parsed.tokens) != text.split():
        raise NbkitError(
            f"parser '{spec}' tokenises the text differently, as {' | '.join(parsed.tokens)}: drop --tokenized, "
            "or name perturbations that need no parse (`nbkit list perturbations`)"
        )
    return parsed, None


@click.command()
@click.argument("file", metavar="FILE")
@click.option("--system", required=True, metavar="NAME", help="A name of `nbkit list models`, a hub id or a folder.")
@pair_option
@click.option(
    "--output", type=click.Path(dir_okay=False, path_type=Path), help="File to write; by default standard output."
)
@click.option("--beams", default=4, show_default=True, help="Hypotheses kept in beam search; 1 is greedy.")
@click.option(
    "--max-new-tokens", type=int, help="Longest hypothesis in tokens; by default depends on the source's length."
)
@click.option("--length-penalty", default=1.0, show_default=True, help="Exponent of the hypothesis length.")
@click.option("--device", default="auto", show_default=True, help="cpu, cuda, cuda:1 …")
@click.option("--dtype", default="auto", show_default=True, help="float32, bfloat16 …")
@allow_commands_option
@offline_option
def translate(
    file: str, system: str, pair: tuple[str, str], output: Path | None, device: str, dtype: str, **decoding: Any
) -> None:
    """Translate FILE (`-`: standard input) line by line. Translations are stored and reused.

    A program that is typed as `--system command:PROGRAM` is started; one behind a registered name needs
    --allow-commands.
    """
    from nbkit.models import translate_remembered, usage_remembered

    if system.removeprefix(BY_RULE).startswith(CommandModel.prefix):
        allow_commands()
    if output is not None and not output.absolute().parent.is_dir():  # before hours are spent
        raise NbkitError(f"--output {output}: there is no folder {output.absolute().parent}; make it first")
    asked, store = (*pair, Decoding(**decoding)), Store()
    lines = _lines(file)
    filled = [line for line in lines if line]
    found: list[str] = []
    if filled:
        found = translate_remembered(
            system, filled, *asked, store=store, device=device, dtype=dtype, progress=sys.stderr.isatty()
        )
        if is_remote(system):
            usage = usage_remembered(system, *asked, store=store, texts=filled)
            facts = ", ".join(f"{name.replace('_', ' ')} {count:,}" for name, count in usage.facts().items())
            click.echo(f"{system}: {facts}", err=True)
    hypotheses = iter(found)
    # An empty line stays one, and a hypothesis is one line, whatever the model made of it.
    translated = "".join(" ".join(next(hypotheses).split()) + "\n" if line else "\n" for line in lines)
    if output is None:
        click.echo(translated, nl=False)
        return
    with atomic_write(output) as unfinished:
        unfinished.write_text(translated, encoding="utf-8")


def _lines(file: str) -> list[str]:
    """The lines of *file* without surrounding white space. Raises `DataError` for bytes that are not UTF-8."""
    data = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    lines = []
    for number, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        try:
            lines.append(line.decode("utf-8").strip())
        except UnicodeDecodeError as error:
            raise DataError(f"not UTF-8 ({error.reason}); convert the file", file, number) from None
    return lines[:-1] if lines and not lines[-1] else lines


# ----------------------------------------------------------------------------
# `nbkit check-numbers`: a gate for translations, which fails where a number is lost.

_STANDARD_INPUT = Path("/dev/stdin")


_COLUMNS = {
    "paper": ("line", "error", "expected", "found"),
    "quantities": ("line", "error", "expected", "found", "grade", "explanation"),
}


@click.command("check-numbers")
@click.argument("source", metavar="SOURCE")
@click.argument("hypothesis", metavar="HYPOTHESIS")
@pair_option
@click.option("--rules", type=click.Choice(["quantities", "paper"]), default="quantities", show_default=True,
              help="Judge value, kind and unit; or values and notation, as the numbers study does.")  # fmt: skip
@click.option("--strict", is_flag=True, help="Accept no other notation or unit than the source's (quantities).")
@click.option("--lenient", is_flag=True, help="Accept notation that is not localised but unambiguous (paper).")
@click.option("--format", "style", type=click.Choice(["text", "tsv", "json"]), default="text", show_default=True,
              help="Text, a table, or one JSON object per line.")  # fmt: skip
@click.pass_context
def check_numbers(
    context: click.Context, source: str, hypothesis: str, pair: tuple[str, str], rules: str,
    strict: bool, lenient: bool, style: str,
) -> None:  # fmt: skip
    """Show each line of HYPOTHESIS that does not carry the numbers of the same line of SOURCE.

    Both files have one sentence per line; one of them may be `-`, standard input. The exit code is 1 if a number is
    lost, added or changed, and 2 if a file cannot be read.
    """
    from nbkit.numbers import forms

    for lang in pair:
        forms(lang)  # raises for a language without number rules, before anything is read
    if source == hypothesis == "-":
        raise NbkitError("only one of SOURCE and HYPOTHESIS can be standard input")
    if (strict and rules == "paper") or (lenient and rules == "quantities"):
        option, other = ("--strict", "quantities") if strict else ("--lenient", "paper")
        raise NbkitError(f"{option} belongs to --rules {other}")
    show = _STYLES[style]
    if style == "tsv":
        click.echo("\t".join(_COLUMNS[rules]))
    judge = _by_paper(lenient) if rules == "paper" else _by_quantities(strict)
    lines = wrong = 0
    for lines, texts in enumerate(_texts(source, hypothesis), start=1):
        rows = judge(*texts, *pair)
        wrong += bool(rows)
        for row in rows:
            click.echo(show(hypothesis, lines, row))
    click.echo(f"numbers differ in {wrong} of {lines} lines", err=True)
    context.exit(1 if wrong else 0)


_Row: TypeAlias = dict[str, Any]
_Judge: TypeAlias = Callable[[str, str, str, str], list[_Row]]


def _texts(source: str, hypothesis: str) -> Iterator[tuple[str, str]]:
    """The two sides of each line, as the files are read."""
    paths = [_STANDARD_INPUT if name == "-" else Path(name) for name in (source, hypothesis)]
    for _, (left, right) in aligned_lines(*paths):
        yield _good(left), _good(right)


def _by_paper(lenient: bool) -> _Judge:
    from nbkit.measure.numbers import compare_numbers

    def judge(source: str, hypothesis: str, src: str, tgt: str) -> list[_Row]:
        found = compare_numbers(source, hypothesis, src, tgt)
        return [asdict(finding) for finding in found if not (lenient and finding.tolerable)]

    return judge


def _by_quantities(strict: bool) -> _Judge:
    from nbkit.measure.quantities import compare_quantities

    def judge(source: str, hypothesis: str, src: str, tgt: str) -> list[_Row]:
        found = compare_quantities(source, hypothesis, src, tgt)
        return [
            {
                "error": verdict.wrong or verdict.note or verdict.grade,
                "expected": verdict.source.surface if verdict.source else "",
                "found": verdict.target.surface if verdict.target else "",
                "tolerable": verdict.grade != "wrong",
                "grade": verdict.grade,
                "explanation": str(verdict),
            }
            for verdict in found
            if verdict.grade == "wrong" or (strict and verdict.grade != "same")
        ]

    return judge


def _good(line: str | DataError) -> str:
    if isinstance(line, DataError):
        raise line
    return line


def _as_text(file: str, line: int, row: _Row) -> str:
    if "explanation" in row:
        return f"{file}:{line}: {row['explanation']}"
    parts = [f"expected '{row['expected']}'" if row["expected"] else ""]
    parts += [f"found '{row['found']}'" if row["found"] else ""]
    return f"{file}:{line}: {row['error']}: {', '.join(filter(None, parts))}"


def _as_tsv(file: str, line: int, row: _Row) -> str:
    # Numbers contain spaces of many kinds, but never a tab.
    cells = (str(line), *(row[name] for name in _COLUMNS["quantities" if "grade" in row else "paper"][1:]))
    return "\t".join(plain_text(" ".join(cell.split("\t"))) for cell in cells)


def _as_json(file: str, line: int, row: _Row) -> str:
    return json.dumps({"file": file, "line": line, **row}, ensure_ascii=False)


_STYLES: dict[str, Callable[[str, int, _Row], str]] = {"text": _as_text, "tsv": _as_tsv, "json": _as_json}
