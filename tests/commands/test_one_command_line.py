"""The same thing has the same name in every command, and an old name is an error that says the new one."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator

import click
import pytest
from click.testing import CliRunner, Result

from nbkit.cli import _COMMANDS, _GROUPS, main


def nbkit(*arguments: str) -> Result:
    return CliRunner().invoke(main, list(arguments))


def commands(
    command: click.Command = main, words: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            yield from commands(command.get_command(context, name), (*words, name))
    else:
        yield words, command


ALL = dict(commands())


@pytest.mark.parametrize("words", ALL, ids=" ".join)
def test_the_help_ends_in_an_example_that_the_command_takes(words):
    """Options and the number of arguments; files need not exist."""
    *_, example = (ALL[words].help or "").split("Example: ")
    program, *arguments = shlex.split(example)
    assert (program, *arguments[: len(words)]) == ("nbkit", *words)
    # A command keeps the names of its help that it first has.
    above = click.Context(main, **main.context_settings)
    context = click.Context(ALL[words], above, info_name=" ".join(words))
    ALL[words].make_parser(context).parse_args(arguments[len(words) :])


@pytest.mark.parametrize("words", ALL, ids=" ".join)
def test_options_have_one_spelling(words):
    options = {name for parameter in ALL[words].params for name in parameter.opts}
    assert options.isdisjoint(("--from", "--to", "--src", "--tgt", "--targets", "--model", "--json"))
    assert not options & {"--systems", "--out", "--models", "--pairs-of", "--source", "--target"}


def test_every_direction_is_a_pair():
    """In each command that translates, trains a translator or reads two languages."""
    with_pair = {words for words, command in ALL.items() if "--pair" in {o for p in command.params for o in p.opts}}
    assert with_pair == {
        ("card",),
        ("import",),
        ("translate",),
        ("check-numbers",),
        ("check-outputs",),
        ("test",),
        ("train", "translator"),
    }


@pytest.mark.parametrize(
    ("pair", "message"),
    [
        ("ende", "--pair ende: write SOURCE-TARGET, two language codes, such as en-de"),
        ("en-jp", "unknown language 'jp'; did you mean 'ja' (Japanese)?"),
        ("english-german", "--pair english-german: write two language codes; did you mean en-de?"),
        ("en-german", "unknown language 'german'; did you mean 'de' (German)?"),
        ("en-pt-br", "--pair en-pt-br: write SOURCE-TARGET"),
        ("", "--pair : write SOURCE-TARGET"),
    ],
)
def test_a_pair_that_is_none_is_refused(pair, message):
    shown = nbkit("check-numbers", "a.en", "a.de", "--pair", pair)
    assert shown.exit_code == 2 and message in shown.stderr
    assert message in nbkit("train", "translator", "out", "--pair", pair or " ,").stderr or not pair


def test_help_groups_commands_by_what_is_wanted():
    shown = nbkit("--help").output
    places = [shown.index(f"\n{group}:\n") for group in ("Look", "Run", "Check", "Make")]
    assert places == sorted(places) and list(_GROUPS) == ["Look", "Run", "Check", "Make"]
    assert all(f"\n  {name} " in shown for name in _COMMANDS) and "..." not in shown[places[0] :]


def test_lists_come_in_a_format():
    assert json.loads(nbkit("list", "metrics", "--format", "json").output)[0].keys() == {"name", "summary"}
