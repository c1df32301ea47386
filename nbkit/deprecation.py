"""What has moved between releases: public names work for one release and warn, other modules say where to look."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

#: Modules that the last release's documentation and notebooks imported and what replaces them, both without ``nbkit.``
#: (a digest of code follows names in full); one that ends in ``*`` holds for all that begin so. For one release.
_MODULES = {
    "align*": "measure.aligners",
    "annotate*": "measure.forms",
    "attacks.shrink_numbers": "perturb.shrink_numbers",
    "attacks*": "perturb.word_sense",
    "corpora.sandbox*": "sandbox",
    "figures.explore": "studies.word_order.explore",
    "figures.notebook": "studies.page",
    "figures.save": "figures.panels",
    "figures.word_order*": "studies.word_order",
    "figures.numbers*": "studies.numbers",
    "figures.nli_*": "studies.nli_permutation",
    "figures.idioms*": "studies.idioms",
    "figures.disambiguation*": "studies.disambiguation",
    "metrics.number_match": "measure.numbers",
    "metrics.statistics": "measure.statistics",
    "metrics.streaming": "measure.statistics",
    "metrics.tokens": "measure.bleu",
    "metrics.*": "measure",
    "syntax*": "text",
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
                way_out = "see docs/api.md; `nbkit init FOLDER` writes this release's notebooks"
                raise ImportError(f"{fullname} is now nbkit.{new} ({way_out})", name=fullname)


def explain_moved_modules() -> None:
    """From now on, importing a module that has moved is an error that names the new one."""
    if _Gone not in sys.meta_path:
        sys.meta_path.append(_Gone)
