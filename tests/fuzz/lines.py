"""Command lines for every command and option there is, found by walking them, and the files that they name."""

from __future__ import annotations

import atexit
import json
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import click
import yaml
from hypothesis import strategies as st

from nbkit.batch import bundled
from nbkit.cli import main
from nbkit.studies import STUDIES
from tests.fuzz import bench
from tests.fuzz.values import CONTENTS, GOOD, NASTY, NUMBERS, WORDS, mutated, nasty, numbers, odd_values

#: A command that looks at everything takes a second; a few of them say all.
SELDOM = (("doctor",),)
#: Options without which a command does not get far.
USUAL = ("steps", "pairs", "architecture", "offline")
#: Shows the error itself on purpose.
_LEFT_OUT = frozenset({"debug", "version"})


@dataclass(frozen=True)
class CommandLine:
    """files: what is changed in the working folder first; None removes a file."""

    arguments: tuple[str, ...]
    files: tuple[tuple[str, bytes | None], ...] = ()

    def write_files(self, folder: Path) -> None:
        for name, content in self.files:
            bench.write(folder / name, content)


@cache
def commands() -> dict[tuple[str, ...], click.Command]:
    """Every command of the command line by its names, those of groups included."""

    def walk(group: click.Group, names: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], click.Command]]:
        for name in group.list_commands(click.Context(group)):
            command = group.get_command(click.Context(group), name)
            assert command is not None
            if isinstance(command, click.Group):
                yield from walk(command, (*names, name))
            else:
                yield (*names, name), command

    return dict(walk(main, ()))


@st.composite
def command_lines(draw: st.DrawFn) -> CommandLine:
    """A command with its arguments and some options, up to two of them hostile, and the files that these name."""
    often = [names for names in commands() if names not in SELDOM]
    names = draw(st.sampled_from([*often * 4, *SELDOM]))
    parameters = [each for each in commands()[names].params if each.name not in _LEFT_OUT]
    optional = [each.name for each in parameters if not each.required]
    given = set(draw(st.lists(st.sampled_from(optional), max_size=3))) if optional else set()
    given |= {each.name for each in parameters if each.required or (each.name in USUAL and draw(st.integers(0, 4)))}
    hostile: set[str | None] = set()
    if parameters:
        most = draw(st.sampled_from((0, 1, 1, 2)))
        hostile = set(draw(st.lists(st.sampled_from([each.name for each in parameters]), max_size=most)))
    arguments: list[str] = []
    for parameter in parameters:
        if parameter.name in given | hostile:
            arguments += draw(_given(parameter, is_hostile=parameter.name in hostile))
    if draw(st.integers(0, 29)) == 29:  # now and then something that the command knows nothing of
        place = draw(st.integers(0, len(arguments)))
        arguments.insert(place, draw(nasty | st.sampled_from(("--help", "--none", "--n", "--offline=x", "--"))))
    return CommandLine((*names, *arguments), tuple(draw(drawn_files(arguments))))


def _given(parameter: click.Parameter, *, is_hostile: bool) -> st.SearchStrategy[list[str]]:
    """*parameter* as it stands in a command line; hostile: with a strange value, or left out where it is needed."""
    values = _strange(parameter) if is_hostile else _good(parameter)
    if isinstance(parameter, click.Argument):
        if parameter.nargs == -1:
            return st.lists(values, min_size=1, max_size=2)
        return values.map(_listed)
    assert isinstance(parameter, click.Option)
    name = parameter.opts[0]
    if parameter.is_flag:
        return st.sampled_from([[each] for each in (*parameter.opts, *parameter.secondary_opts)])
    return values.map(lambda value: [name, value])


def _listed(value: str) -> list[str]:
    return [value]


def _good(parameter: click.Parameter) -> st.SearchStrategy[str]:
    """Values that *parameter* takes: of `GOOD`, its choices, its default."""
    kind, name = parameter.type, parameter.name or ""
    if isinstance(kind, click.Choice):
        return st.sampled_from([str(choice) for choice in kind.choices])
    default = parameter.default
    if name not in GOOD and isinstance(default, int | float | str):
        return st.just(str(default))
    is_number = kind in (click.INT, click.FLOAT) or isinstance(kind, click.IntRange | click.FloatRange)
    return st.sampled_from(GOOD.get(name, ("1", "2") if is_number else WORDS))


def _strange(parameter: click.Parameter) -> st.SearchStrategy[str]:
    """Anything: numbers where *parameter* is a number, mostly."""
    is_number = parameter.type in (click.INT, click.FLOAT) or isinstance(
        parameter.type, click.IntRange | click.FloatRange
    )
    return st.one_of(numbers, numbers, nasty) if is_number else st.one_of(nasty, nasty, numbers, st.sampled_from(WORDS))


# The files that a command line names: each is drawn where it is named, by arguments or by other drawn files.


@st.composite
def drawn_files(draw: st.DrawFn, arguments: list[str]) -> list[tuple[str, bytes | None]]:
    line = " ".join(arguments)
    files: list[tuple[str, bytes | None]] = []
    if "drawn.yaml" in line:
        text = draw(run_files())
        files.append(("drawn.yaml", text))
        line += text.decode("utf-8", "replace")
    for name, strategy in _DRAWN.items():
        if name in line:
            files += draw(strategy)
    return files


@st.composite
def run_files(draw: st.DrawFn) -> bytes:
    """A run file that is wrong in a place or two, of any study, or no run file at all."""
    how = draw(st.sampled_from(("field", "field", "field", "bundled", "small", "content")))
    if how == "content":
        return draw(st.sampled_from(CONTENTS))
    if how == "field":  # of all that a study's parameters have
        base = draw(st.sampled_from([entry for _, run in _bundled() for entry in run["runs"]]))
        params = dict(base.get("params") or {})
        fields = list(STUDIES.get(base["study"]).params.model_fields)
        for field in draw(st.lists(st.sampled_from(fields), min_size=1, max_size=2)):
            params[field] = draw(_field_values())
        value: Any = {"name": "drawn", "runs": [{**base, "params": params}]}
    elif how == "bundled":
        value = draw(mutated(draw(st.sampled_from([run for _, run in _bundled()]))))
    else:
        value = draw(mutated(bench.GRID))
    return yaml.safe_dump(value).encode("utf-8", "surrogatepass")


def _field_values() -> st.SearchStrategy[Any]:
    word = st.sampled_from(WORDS) | st.sampled_from(NASTY)
    number = st.sampled_from(NUMBERS).map(yaml.safe_load)
    return st.one_of(odd_values, word, word.map(_listed), number, st.dictionaries(word, word, max_size=2))


@cache
def _bundled() -> list[tuple[str, dict[str, Any]]]:
    """The run files that come with nbkit, those that are quick to look at."""
    files = sorted(bundled("params").glob("*.yaml"))
    return [(path.name, yaml.safe_load(path.read_text(encoding="utf-8"))) for path in files]


def _content(name: str) -> st.SearchStrategy[list[tuple[str, bytes | None]]]:
    return (st.sampled_from(CONTENTS) | st.binary(max_size=30)).map(lambda content: [(name, content)])


@st.composite
def _run_folder(draw: st.DrawFn) -> list[tuple[str, bytes | None]]:
    place = draw(st.sampled_from(list(bench.RUN_FOLDER)))
    changed = mutated(bench.RUN_FOLDER[place]).map(bench.as_json)
    content = draw(st.one_of(changed, changed, changed, st.sampled_from((None, *CONTENTS))))
    return [(f"drawn-run/{place}", content)]


def _damaged(data: bytes) -> st.SearchStrategy[bytes]:
    """Bytes cut short, zeroed in a place, or with a bit turned."""
    middle = len(data) // 2
    return st.sampled_from(
        (b"", data[:middle], data[:-1], bytes(100) + data[100:], data[:middle] + bytes(64) + data[middle + 64 :],
         data[:middle] + bytes([data[middle] ^ 1] if data else b"") + data[middle + 1 :], bytes(len(data)), data * 2)
    )  # fmt: skip


@cache
def template() -> Path:
    """A working folder as it is laid out, made once a process."""
    scratch = tempfile.mkdtemp(prefix="fuzz-")
    atexit.register(shutil.rmtree, scratch, ignore_errors=True)
    bench.lay_out(Path(scratch, "bench"))
    return Path(scratch, "bench")


@st.composite
def _model_folder(draw: st.DrawFn) -> list[tuple[str, bytes | None]]:
    path = draw(st.sampled_from(sorted(each for each in (template() / "model").iterdir() if each.is_file())))
    data = path.read_bytes()
    content = _damaged(data) | st.sampled_from((None, *CONTENTS))
    if path.suffix == ".json" and len(data) < 10_000:  # a vocabulary is too long for a look at each place
        content = mutated(json.loads(data)).map(bench.as_json) | content
    return [(f"drawn-model/{path.name}", draw(content))]


@st.composite
def _form(draw: st.DrawFn) -> list[tuple[str, bytes | None]]:
    form = (template() / "form.csv").read_bytes()
    return [("drawn.csv", draw(_damaged(form) | st.sampled_from((None, *CONTENTS))))]


@st.composite
def _key(draw: st.DrawFn) -> list[tuple[str, bytes | None]]:
    key = json.loads((template() / "form.key.json").read_text(encoding="utf-8"))
    return [("drawn.json", draw(mutated(key).map(bench.as_json) | st.sampled_from(CONTENTS)))]


_DRAWN = {
    **{f"drawn.{suffix}": _content(f"drawn.{suffix}") for suffix in ("txt", "tsv", "conllu", "zip", "ipynb")},
    "drawn.json": _key(),
    "drawn.csv": _form(),
    "drawn-run": _run_folder(),
    "drawn-model": _model_folder(),
}
