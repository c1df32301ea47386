"""What the idioms pages have besides figures and tables: signatures and their footer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
from IPython.display import HTML

from nbkit import provenance
from nbkit.figures import styles
from nbkit.models import costs
from nbkit.store import Store

if TYPE_CHECKING:
    from nbkit.studies.idioms import IdiomsParams


def signatures(table: pd.DataFrame) -> HTML:
    """The signature of every score of *table*, once each, as a remark below it."""
    return styles.note("Signatures: " + " · ".join(dict.fromkeys(table["signature"])))


def footer(params: IdiomsParams) -> provenance.Footer:
    """Where the page's results come from: parameters, what is measured by what, models, versions."""
    names = list(dict.fromkeys(system.name for system in params.systems))
    pairs = [(params.source, language) for language in params.languages]
    charged = costs(names, pairs, params.decoding, store=Store()) if names else {}
    by = {"aligners": ", ".join(params.aligners), "dictionary": params.dictionary}
    return provenance.footer(params, signatures=by, models=names, costs=charged)
