"""`nbkit train …`: the fields of the recipe are the options."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from types import NoneType
from typing import Any, Literal, get_args, get_origin

import click

from nbkit.models.classifier_recipe import ClassifierRecipe
from nbkit.models.recipe import Recipe, TranslatorRecipe


@click.group()
def train() -> None:
    """Train a translator or an NLI classifier."""


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
    return _option_type(kinds[0]) if kinds else annotation


def _command(name: str, summary: str, recipe: type[Recipe], trainer: str) -> click.Command:
    """The command that trains what *recipe* describes, by the function *trainer* ("module:function")."""
    options = [
        click.Option(
            [f"--{field.replace('_', '-')}"],
            type=_option_type(about.annotation),
            default=about.default,
            show_default=about.default is not None,
            help=about.description,
        )
        for field, about in recipe.model_fields.items()
    ]

    def train_it(output: Path, resume: bool, **values: Any) -> None:
        checked = recipe.checked(values, "options")
        module, _, function = trainer.partition(":")
        click.echo(getattr(import_module(module), function)(checked, output, resume=resume))

    return click.Command(
        name,
        callback=train_it,
        help=f"{summary} into the folder OUTPUT, which any program can load with `from_pretrained`."
        " A run that was stopped goes on when it is started again.",
        params=[
            click.Argument(["output"], type=click.Path(path_type=Path)),
            *options,
            click.Option(["--resume/--anew"], default=True, show_default=True, help="Go on from the last checkpoint."),
        ],
    )


train.add_command(
    _command("translator", "Train a small translator", TranslatorRecipe, "nbkit.models.training:train_translator")
)
train.add_command(
    _command(
        "classifier",
        "Train an NLI classifier, from scratch (--architecture) or from a checkpoint on (--start),",
        ClassifierRecipe,
        "nbkit.models.classifier_training:train_classifier",
    )
)
