"""`nbkit train …`: the fields of the recipe are the options."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import NoneType
from typing import Any, Literal, get_args, get_origin

import click
from click.core import ParameterSource

from nbkit.errors import ParamsError
from nbkit.models.recipes import ClassifierRecipe, LanguageModelRecipe, Recipe, TranslatorRecipe, named_recipe


@click.group()
def train() -> None:
    """Train a translator, an NLI classifier or a language model."""


class _Names(click.ParamType):
    """Names separated by commas."""

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


def _command(
    name: str, summary: str, recipe: type[Recipe], trainer: str, named: Callable[[str], dict[str, Any]] | None = None
) -> click.Command:
    """The command that trains what *recipe* describes, by the function *trainer* of `nbkit.models` ("module:function").

    named: the fields of a named recipe, if there are any.
    """
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

    if named is not None:
        text = "A recipe of recipes.yaml, such as paper-lstm or idioms-mbart; options that are given go over it."
        options.insert(0, click.Option(["--recipe", "recipe_name"], metavar="NAME", help=text))

    def train_it(output: Path, resume: bool, recipe_name: str | None = None, **values: Any) -> None:
        if output.name in ("", ".."):
            raise ParamsError(f"OUTPUT: '{output}' names no new folder; write one, such as models/mine")
        source = click.get_current_context().get_parameter_source
        given = {field: value for field, value in values.items() if source(field) != ParameterSource.DEFAULT}
        if recipe_name is not None and named is not None:
            values = {**named(recipe_name), **given}
            for field, rival in (("steps", "epochs"), ("epochs", "steps")):
                if given.get(field) is not None and rival not in given:
                    values.pop(rival, None)  # one of them says how long is to be learnt
        ignored = sorted(recipe.of_new_models & given.keys())
        if values.get("start") is not None and ignored:
            options_given = ", ".join(f"--{field.replace('_', '-')}" for field in ignored)
            raise ParamsError(f"{options_given} given, but start '{values['start']}' brings its own: leave it out")
        checked = recipe.checked(values, "options")
        module, _, function = trainer.partition(":")
        click.echo(getattr(import_module(f"nbkit.models.{module}"), function)(checked, output, resume=resume))

    return click.Command(
        name,
        callback=train_it,
        help=f"Train {summary} into the folder OUTPUT, which any program can load with `from_pretrained`."
        " A run that was stopped goes on when it is started again.",
        params=[
            click.Argument(["output"], type=click.Path(path_type=Path)),
            *options,
            click.Option(["--resume/--anew"], default=True, show_default=True, help="Go on from the last checkpoint."),
        ],
    )


_HOW = "from scratch (--architecture) or from a checkpoint on (--start)"
for arguments in (
    ("translator", f"a translator, {_HOW},", TranslatorRecipe, "translators.training:train_translator", named_recipe),
    ("classifier", f"an NLI classifier, {_HOW},", ClassifierRecipe, "classifiers.training:train_classifier"),
    ("lm", "a small language model, causal (gpt2) or masked,", LanguageModelRecipe,
     "language_models.training:train_language_model"),
):  # fmt: skip
    train.add_command(_command(*arguments))
