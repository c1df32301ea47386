"""What has moved between releases: old public names work and warn; imports of other modules say where to look."""

from __future__ import annotations

import importlib
import importlib.util
import re

import pytest

from nbkit import deprecation, measure


@pytest.mark.parametrize("name", ["METRICS", "load_metric"])
def test_a_public_name_that_has_moved_works_and_warns_with_the_new_one(name):
    """`nbkit.metrics` is the only moved module whose names the last release's README used."""
    old = importlib.import_module("nbkit.metrics")
    with pytest.warns(DeprecationWarning, match=rf"^nbkit\.metrics\.{name} is now nbkit\.measure\.{name};") as caught:
        assert getattr(old, name) is getattr(measure, name)
    assert caught[0].filename == __file__


def test_any_other_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match=r"module .nbkit\.metrics. has no attribute .meaning."):
        importlib.import_module("nbkit.metrics").meaning  # noqa: B018


@pytest.mark.parametrize(
    ("old", "new"),
    {
        "nbkit.align": "nbkit.measure.aligners",
        "nbkit.annotate.senses": "nbkit.measure.forms",
        "nbkit.attacks.word_sense": "nbkit.perturb.word_sense",
        "nbkit.corpora.sandbox": "nbkit.sandbox",
        "nbkit.metrics.tokens": "nbkit.measure.bleu",
        "nbkit.syntax.phrases": "nbkit.text",
        "nbkit.figures.explore": "nbkit.studies.word_order.explore",
        "nbkit.figures.nli_tables": "nbkit.studies.nli_permutation",
    }.items(),
)
def test_importing_a_module_that_has_moved_names_the_new_one(old, new):
    with pytest.raises(ImportError, match=rf"^nbkit\.\S+ is now {re.escape(new)} "):
        importlib.import_module(old)


def test_from_imports_say_it_too():
    """As the last release's notebooks, which `nbkit init` had copied, spell them."""
    with pytest.raises(ImportError, match=r"^nbkit\.figures\.notebook is now nbkit\.studies\.page"):
        from nbkit.figures import notebook  # noqa: F401


def test_every_new_place_exists_and_no_old_one():
    for old, new in deprecation._MODULES.items():
        assert importlib.util.find_spec(f"nbkit.{new}"), new
        assert not _here(old.rstrip("*_.")) or old in ("metrics.*", "figures.numbers*"), old


def _here(name: str) -> bool:
    try:
        return importlib.util.find_spec(f"nbkit.{name}") is not None
    except ImportError:
        return False


def test_other_modules_that_do_not_exist_are_reported_as_ever():
    with pytest.raises(ModuleNotFoundError, match=r"^No module named 'nbkit\.figures\.pannels'$"):
        importlib.import_module("nbkit.figures.pannels")
    assert importlib.util.find_spec("alignment_that_nobody_has") is None
