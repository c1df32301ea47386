"""`nbkit train translator`: the fields of the recipe are the options."""

from __future__ import annotations

from pathlib import Path
from types import NoneType
from typing import Any, Literal, get_args, get_origin

import click

from nbkit.models.recipe import TranslatorRecipe


@click.group()
def train() -> None:
    """Train a model from scratch."""


class _Names(click.ParamType):
    """Names with commas between them."""

    name = "names"

    def convert(self, value: Any, parameter: click.Parameter | None, context: click.Context | None) -> tuple[str, ...]:
        return value if isinstance(value, tuple) else tuple(filter(None, map(str.strip, value.split(","))))

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        return "A,B,…"


def _option_type(annotation: Any) -> click.ParamType | type:
    if get_origin(annotation) is Literal:
        return click.Choice(get_args(annotation))
    if get_origin(annotation) is tuple:
        return _Names()
    kinds = [kind for kind in get_args(annotation) if kind is not NoneType]
    return kinds[0] if kinds else annotation


def _options() -> list[click.Option]:
    options = []
    for name, field in TranslatorRecipe.model_fields.items():
        default = field.default
        options.append(
            click.Option(
                [f"--{name.replace('_', '-')}"],
                type=_option_type(field.annotation),
                default=default,
                show_default=default is not None,
                help=field.description,
            )
        )
    return options


def _train_translator(output: Path, resume: bool, **recipe: Any) -> None:
    checked = TranslatorRecipe.checked(recipe, "options")

    from nbkit.models.training import train_translator

    click.echo(train_translator(checked, output, resume=resume))


train.add_command(
    click.Command(
        "translator",
        callback=_train_translator,
        help="Train a small translator into the folder OUTPUT, which any program can load with `from_pretrained`."
        " A run that was stopped goes on when it is started again.",
        params=[
            click.Argument(["output"], type=click.Path(path_type=Path)),
            *_options(),
            click.Option(["--resume/--anew"], default=True, show_default=True, help="Go on from the last checkpoint."),
        ],
    )
)
