"""Tables of a suite: pass rates by category and phenomenon, the leaderboard with paired tests, what is set aside."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from nbkit.measure.statistics import share_interval
from nbkit.store import Store
from nbkit.studies.comparison import LEVEL, p_values
from nbkit.studies.suite.params import SuiteParams
from nbkit.studies.suite.steps import GROUPS, VERDICT, outcomes
from nbkit.suites import Fault, lint

if TYPE_CHECKING:
    import pandas as pd


def verdicts(params: SuiteParams, store: Store | None = None) -> pd.DataFrame:
    """The outcomes of the tests that count, with their texts, and the columns category, phenomenon and test."""
    import pandas as pd

    found = list(outcomes.stream(params, store or Store(), True))
    return _own(pd.concat(found, ignore_index=True) if found else pd.DataFrame(columns=["measure", "groups", "system"]))


def _own(found: pd.DataFrame) -> pd.DataFrame:
    own = found[found["measure"] == VERDICT]
    return own.assign(**{name: [groups[name] for groups in own["groups"]] for name in (*GROUPS, "test")})


def pass_rates(params: SuiteParams, store: Store | None = None) -> pd.DataFrame:
    """The pass rates of each system, by category and phenomenon.

    Columns: system, category, phenomenon ("" for all), rate, low, high, n (decided tests), undecided.
    """
    return _rates(verdicts(params, store))


@outcomes.table
def pass_rates_of_outcomes(found: pd.DataFrame) -> pd.DataFrame:
    """`pass_rates`, from outcomes alone."""
    return _rates(_own(found))


def _rates(own: pd.DataFrame) -> pd.DataFrame:
    import pandas as pd

    rows = []
    for by in ([], ["category"], list(GROUPS)):
        for (system, *place), part in own.groupby(["system", *by], sort=False):
            known = part[part["value"].notna()]
            rate, low, high, _ = share_interval(known["value"].to_numpy(float), groups=known["cluster"].tolist())
            names = [*place, "", ""][:2]
            rows.append((system, *names, rate, low, high, len(known), len(part) - len(known)))
    return pd.DataFrame(rows, columns=["system", *GROUPS, "rate", "low", "high", "n", "undecided"])


def leaderboard(params: SuiteParams, store: Store | None = None) -> pd.DataFrame:
    """The systems, the best first: pass rates and how many others each is surely better or worse than.

    Columns: system, rate, low, high, n, undecided; categories (the mean of the categories' rates), rest (the rate
    without the largest category, which is named in the column ``largest``); better, worse (systems from which it
    differs significantly on the tests that both have decided: sign flips of clusters, Holm over all pairs).
    """
    own = verdicts(params, store)
    rates = _rates(own)
    table = rates[rates["category"] == ""].drop(columns=list(GROUPS))
    if table.empty:
        return table.assign(categories=[], largest=[], rest=[], better=[], worse=[])
    parts = rates[(rates["category"] != "") & (rates["phenomenon"] == "")]
    largest = own["category"].value_counts().index[0]
    rest = own[(own["category"] != largest) & own["value"].notna()].groupby("system")["value"].mean()
    beaten = _beaten(own)
    table = table.assign(
        categories=table["system"].map(parts.groupby("system")["rate"].mean()),
        largest=largest,
        rest=table["system"].map(rest),
        better=[sum(one == system for one, _ in beaten) for system in table["system"]],
        worse=[sum(other == system for _, other in beaten) for system in table["system"]],
    )
    return table.sort_values("rate", ascending=False, kind="stable", ignore_index=True)


def _beaten(own: pd.DataFrame) -> set[tuple[str, str]]:
    """The pairs of systems of which the first is significantly better."""
    wide = own.pivot_table(index=["cluster", "test"], columns="system", values="value", aggfunc="first")
    pairs = list(combinations(wide.columns, 2))
    sums = [(wide[a] - wide[b]).dropna().groupby(level="cluster").sum().to_numpy() for a, b in pairs]
    p = p_values(sums)[1] if pairs else np.empty(0)
    sure = [(pair, each.sum()) for pair, each, holm in zip(pairs, sums, p, strict=True) if holm <= LEVEL]
    return {pair if total > 0 else pair[::-1] for pair, total in sure}


def by_category(params: SuiteParams, store: Store | None = None) -> pd.DataFrame:
    """`pass_rates` by category alone."""
    rates = pass_rates(params, store)
    return rates[(rates["category"] != "") & (rates["phenomenon"] == "")].drop(columns="phenomenon")


def by_phenomenon(params: SuiteParams, store: Store | None = None) -> pd.DataFrame:
    """`pass_rates` by phenomenon."""
    rates = pass_rates(params, store)
    return rates[rates["phenomenon"] != ""].reset_index(drop=True)


def failures(params: SuiteParams, k: int = 40, store: Store | None = None) -> pd.DataFrame:
    """Translations that failed, at most *k* of each system, the categories in turn.

    Columns: system, category, phenomenon, test, source, output, reason, spans.
    """
    own = verdicts(params, store)
    own = own[own["verdict"] == "fail"]
    turn = own.groupby(["system", "category"], sort=False).cumcount()
    chosen = own.assign(turn=turn).sort_values(["turn"], kind="stable").groupby("system", sort=False).head(k)
    columns = ["system", *GROUPS, "test", "source", "output", "reason", "spans"]
    return chosen.sort_values(["system", "category", "turn"], kind="stable")[columns].reset_index(drop=True)


def faults(params: SuiteParams) -> pd.DataFrame:
    """What `nbkit.suites.lint` says of the suite. Columns: test, line, kind, text."""
    import pandas as pd

    return pd.DataFrame(list(lint(params.read)), columns=Fault._fields).drop(columns="entry")
