"""What every notebook page of a study begins and ends with."""

from __future__ import annotations

from typing import Any

from IPython.display import HTML

from nbkit import provenance
from nbkit.figures import styles, theme
from nbkit.models import costs
from nbkit.models.python import remarked
from nbkit.store import Store
from nbkit.studies.published import Paper


def begin() -> None:
    """Show figures as SVG. Called once, in a notebook's first cell of code."""
    theme.use_vector_output()


def signatures(params: Any) -> dict[str, str]:
    """Each metric's settings by language, languages of one setting together.

    params: a study's parameters with ``kappas()``, ``source`` and ``languages``.
    """
    found: dict[str, list[str]] = {}
    for metric in params.kappas():
        for language in (params.source, *params.languages):
            found.setdefault(metric.signature(language), []).append(language)
    return {f"{signature.partition('|')[0]} ({', '.join(langs)})": signature for signature, langs in found.items()}


def kappa_signature(params: Any) -> str:
    """The settings of the metric that the main figures use, for captions; one for each way of cutting words."""
    kappa = params.kappas()[params.metrics.index(params.kappa)]
    return " and ".join(dict.fromkeys(kappa.signature(language) for language in params.languages))


def footer(params: Any) -> provenance.Footer:
    """Where the page's results come from: parameters, versions, device, metric settings."""
    pairs = [(params.source, language) for language in params.languages]
    charged = costs(params.models, pairs, params.decoding, store=Store())
    names = remarked(params.models, lambda name: [params.model_key(language, name) for language in params.languages])
    shown = {**params.model_dump(), "perturbations": params.perturbations or "all"}
    return provenance.footer(shown, signatures=signatures(params), models=names, costs=charged)


# ----------------------------------------------------------------------------
# What the code behind a paper's numbers does differently: one table, on one page of each study.

_CAPTION = (
    "The printed numbers come from the research code. Where it departs from the paper, the column nbkit says which "
    "of the two is shown here, and under which name the other. A dash: the share of what changes is not measured."
)


def research_code(paper: Paper) -> HTML | None:
    """The differences between a paper and its research code, under a heading; None, which shows nothing, without any.

    paper: its `Paper.research_code` is shown, each share with what it is a share of.
    """
    table = paper.research_code()
    if table.empty:
        return None
    shares = table["changes"].map("{:.1%}".format) + " of " + table["of"]
    shown = table[["topic", "paper", "code", "ours"]].assign(changes=shares.where(table["changes"].notna()))
    if table["note"].ne("").any():
        shown = shown.assign(note=table["note"])
    styled = styles.styled(
        shown, caption=_CAPTION, headings={"paper": "the paper", "code": "its research code", "ours": "nbkit"}
    )
    # A share is followed by words.
    styled.set_table_styles([{"selector": "td, th", "props": "text-align: left; white-space: normal"}], overwrite=False)
    return HTML(f"<h2>What the research code does differently</h2>{styled.to_html()}")
