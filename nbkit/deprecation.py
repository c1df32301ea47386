"""What has moved between releases: public names work for one release and warn, other modules say where to look."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

#: Modules that the last release's documentation and notebooks imported, without ``nbkit.``, and what replaces them; a
#: name that ends in ``*`` holds for all that begin so. Each is removed after one release.
_MODULES = {
    "align*": "nbkit.measure.aligners",
    "annotate*": "nbkit.measure.forms",
    "attacks.shrink_numbers": "nbkit.perturb.shrink_numbers",
    "attacks*": "nbkit.perturb.word_sense",
    "corpora.sandbox*": "nbkit.sandbox",
    "metrics.number_match": "nbkit.measure.numbers",
    "metrics.statistics": "nbkit.measure.statistics",
    "metrics.streaming": "nbkit.measure.statistics",
    "metrics.tokens": "nbkit.measure.bleu",
    "metrics.*": "nbkit.measure",
    "syntax*": "nbkit.text",
    **dict.fromkeys(("figures.notebook", "figures.save"), "part of nbkit.figures.panels and nbkit.figures.styles"),
    "figures.explore": "nbkit.studies.word_order.explore",
    **{
        f"figures.{prefix}*": f"part of nbkit.studies.{study}"
        for prefix, study in {
            **{name: name for name in ("word_order", "numbers", "idioms", "disambiguation")},
            "nli_": "nli_permutation",
        }.items()
    },
}


def moved(module: str, names: Mapping[str, str]) -> Callable[[str], Any]:
    """Make the ``__getattr__`` of *module* for public names that have moved: each works for one release and warns.

    names: each old name with its new place, as ``"package.module:name"``, which is imported on use.

    Warns `DeprecationWarning` with the new name; raises `AttributeError` for any other name.

    >>> import warnings
    >>> getattr_of_metrics = moved("nbkit.metrics", {"METRICS": "nbkit.measure:METRICS"})
    >>> with warnings.catch_warnings(record=True, action="always") as caught:
    ...     _ = getattr_of_metrics("METRICS")
    >>> print(caught[0].message)
    nbkit.metrics.METRICS is now nbkit.measure.METRICS; the old name goes away in the next release
    """

    def __getattr__(name: str) -> Any:
        if name not in names:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        place, _, attribute = names[name].partition(":")
        new = f"{place}.{attribute}"
        message = f"{module}.{name} is now {new}; the old name goes away in the next release"
        warnings.warn(message, DeprecationWarning, stacklevel=2)
        return getattr(import_module(place), attribute)

    return __getattr__


class _Gone:
    """Asked after all other finders, so only for modules that do not exist."""

    @classmethod
    def find_spec(cls, fullname: str, path: object = None, target: object = None) -> None:
        """Raise `ImportError` with the new place of a module of nbkit that has moved."""
        package, _, name = fullname.partition(".")
        if package != "nbkit":
            return
        for old, new in _MODULES.items():
            if name == old or (old.endswith("*") and name.startswith(old[:-1])):
                raise ImportError(
                    f"{fullname} is now {new} (see docs/api.md; `nbkit init FOLDER` writes this release's notebooks)",
                    name=fullname,
                )


def explain_moved_modules() -> None:
    """From now on, importing a module that has moved is an error that names the new one."""
    if _Gone not in sys.meta_path:
        sys.meta_path.append(_Gone)
