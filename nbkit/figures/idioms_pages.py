"""What the idioms pages have besides figures and tables: signatures and their footer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
from IPython.display import HTML

from nbkit import provenance
from nbkit.figures import styles
from nbkit.models import costs
from nbkit.store import Store
from nbkit.studies.idioms import PUBLISHED

if TYPE_CHECKING:
    from nbkit.studies.idioms import IdiomsParams


def signatures(table: pd.DataFrame) -> HTML:
    """The signature of every score of *table*, once each, as a remark below it."""
    return styles.note("Signatures: " + " · ".join(dict.fromkeys(table["signature"])))


def not_printed(*names: str, more: str = "") -> HTML:
    """A remark that the paper only draws these figures. more: what else there is to say of them.

    >>> not_printed("fig5", "fig16").data.partition(">")[2]
    'Published values: not printed; the paper only draws Figure 5 and Figure 16.</p>'
    """
    figures = " and ".join(PUBLISHED.title(name).partition(":")[0] for name in names)
    return styles.note(f"Published values: not printed; the paper only draws {figures}. {more}".strip())


def training_checked(checked: pd.DataFrame) -> HTML:
    """A remark on whose training data no sentence of idiom-test is in. checked: `idioms.training_checked`."""
    known = checked[checked["pairs"].notna()]
    parts = []
    if len(known):
        sizes = sorted({int(pairs) for pairs in known["pairs"]})
        most = f"{sizes[0]:,} to {sizes[-1]:,}" if len(sizes) > 1 else f"{sizes[0]:,}"
        parts.append(f"Looked through: what {len(known)} of {len(checked)} models were trained on, {most} pairs each; "
                     "no sentence of idiom-test is in it.")  # fmt: skip
    if len(known) < len(checked):
        others = checked.loc[checked["pairs"].isna(), "model"]
        parts.append(f"Not known: what {', '.join(dict.fromkeys(others))} saw in training.")
    return styles.note(" ".join(parts) or "No model in this run, so no training data was looked through.")


def footer(params: IdiomsParams) -> provenance.Footer:
    """Where the page's results come from: parameters, what is measured by what, models, versions."""
    names = list(dict.fromkeys(system.name for system in params.systems))
    pairs = [(params.source, language) for language in params.languages]
    charged = costs(names, pairs, params.decoding, store=Store()) if names else {}
    by = {"aligners": ", ".join(params.aligners), "dictionary": params.dictionary}
    return provenance.footer(params, signatures=by, models=names, costs=charged)
