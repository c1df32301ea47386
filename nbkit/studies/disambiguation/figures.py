"""Figures of the disambiguation study: 1 to 3 of the paper, and its Tables 2, 3 and 5 drawn.

Each takes tables of `nbkit.studies.disambiguation` and returns a matplotlib figure; a table without rows gives a figure
that says why. Floors and ceilings are short vertical bars.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from nbkit.figures import panels, styles, theme
from nbkit.figures.theme import Look
from nbkit.measure.senses import REASONS
from nbkit.perturb.word_sense import spelled
from nbkit.studies.disambiguation import styled
from nbkit.studies.disambiguation.styled import TABLES, in_either, smaller_side
from nbkit.studies.disambiguation.tables import WRONG_SENSES

NO_SUCCESS = "No correlation: it needs attacks that succeeded and others that failed, and this run does not have both."
_SHARE = PercentFormatter(1.0, decimals=0, symbol="")


#: Homographs of one figure, those with the most training pairs.
_MOST = 24


def senses_figure(clusters: pd.DataFrame) -> Figure:
    """The shares of the senses of each homograph among its training pairs. clusters: `sense_clusters`."""
    seen = clusters[clusters["share"].notna()]
    if seen.empty:
        return theme.message(TABLES.why("attractors"))
    totals = seen.groupby("homograph")["pairs"].sum().sort_values(ascending=False).head(_MOST)
    with theme.style():
        figure, panel = _panel(0.8 + 0.24 * len(totals))
        for row, homograph in enumerate(totals.index):
            own = seen[seen["homograph"] == homograph].sort_values("share", ascending=False)
            starts = own["share"].cumsum() - own["share"]
            colours = styled.sense_colours(len(own))
            bars = panel.barh(row, own["share"], 0.74, left=starts, color=colours, edgecolor="white", linewidth=0.6)
            panels.lead(bars, own)
            for start, share, sense, colour in zip(starts, own["share"], own["sense"], colours, strict=True):
                if share > 0.012 * len(sense) + 0.02:
                    panel.text(
                        start + share / 2, row, sense, ha="center", va="center", fontsize=7, color=_readable(colour)
                    )
        _rows(panel, [f"{name}  ({n:,})" for name, n in totals.items()])
        panel.set(xlim=(0, 1), xlabel="share of the homograph's training pairs (%); their number in parentheses")
        panel.xaxis.set_major_formatter(_SHARE)
        panel.grid(visible=False)
    return figure


def bleu_figure(bleu: pd.DataFrame, published: pd.DataFrame) -> Figure:
    """BLEU of every model with bootstrap intervals, one panel per test corpus (Table 2).

    bleu: `disambiguation.bleu`. published: printed values of the run's domain (columns model, bleu), drawn as crosses
    where the run has a model of that name.
    """
    if bleu.empty:
        return theme.message(TABLES.why("bleu"))
    models, corpora = list(dict.fromkeys(bleu["model"])), list(dict.fromkeys(bleu["corpus"]))
    shown = theme.model_looks(models)
    with theme.style():
        figure, axes = panels.grid(1, len(corpora), theme.WIDTH, 1.1 + 0.34 * len(models), sharey=True)
        for corpus, panel in zip(corpora, axes[0], strict=True):
            own = bleu[bleu["corpus"] == corpus]
            for row, model in enumerate(models):
                panels.intervals(panel, own[own["model"] == model], [row], shown[model], "bleu", "low", "high")
                printed = published[published["model"] == model]["bleu"]
                panel.scatter(printed, [row] * len(printed), color="#8A8A8A", marker="X", s=26, zorder=2)
            _rows(panel, [theme.short_name(model) for model in models])
            panel.set(xlim=(0, 100), xlabel="BLEU")
            panel.set_title(theme.short_name(corpus, 40))
        if set(published["model"]) & set(models):
            panels.legend(figure, [styled.look("published")])
    return figure


def correlations_figure(correlations: pd.DataFrame, published: pd.DataFrame, why: str = "") -> Figure:
    """Rank-biserial correlations with 95% intervals, one row per measure (Tables 3 and 5).

    correlations: `disambiguation.correlations` (its main rows) or `disambiguation.attack_correlations`. published:
    printed values (columns measure, rbc), grey crosses. Shaded: smaller than the largest model's threshold of a
    large effect.
    """
    rows = correlations[correlations["rbc"].notna()]
    if rows.empty:
        return theme.message(why or TABLES.why("correlations"))
    measures = list(dict.fromkeys(correlations["measure"]))
    models = theme.model_looks(rows["model"])
    with theme.style():
        figure, panel = _panel(1.1 + len(measures) * max(0.34, 0.16 * len(models) + 0.12))
        limit = rows["large"].max()
        panel.axvspan(-limit, limit, color="#8A8A8A", alpha=0.12, linewidth=0, zorder=0)
        panel.axvline(0, color="#8A8A8A", linewidth=0.9, zorder=1)
        printed = published[published["measure"].isin(measures)]
        heights = [measures.index(name) for name in printed["measure"]]
        panel.scatter(printed["rbc"], heights, color="#8A8A8A", marker="X", s=20, zorder=1)
        points = rows.assign(n=smaller_side(rows), row=rows["measure"].map(measures.index))
        _dodged(panel, points, "rbc", "model", models)
        _rows(panel, [styled.measure(name) for name in measures])
        panel.set(xlim=(-1.03, 1.03), xlabel="rank-biserial correlation (RBC)")
        shaded = Look("no large effect", "#D9D9D9", "s")
        panels.legend(figure, [*models.values(), styled.look("published"), shaded])
    return figure


def error_rates_figure(challenge_errors: pd.DataFrame, errors: pd.DataFrame) -> Figure:
    """WSD error rates on the challenge set, the random one and that of rare senses, one row per model (Figure 1).

    challenge_errors: `disambiguation.challenge_errors`. errors: `disambiguation.errors`, over all test pairs, as bars.
    """
    if challenge_errors.empty or not challenge_errors["n"].sum():
        return theme.message(TABLES.why("errors") if challenge_errors.shape[0] else panels.NO_MODEL)
    marks = challenge_errors["model"].map(errors.set_index("model")["rate"])
    return _sets(challenge_errors, marks, styled.look("all"), "WSD error rate (%)")


def success_figure(attack_challenge: pd.DataFrame) -> Figure:
    """Attack success on the challenge set and on random ones, one row per model (Figure 3).

    attack_challenge: `disambiguation.attack_challenge`. Every set has its own ceiling, beside its own rate: seeds of
    the challenge set are not those of a random one.
    """
    if attack_challenge.empty or not attack_challenge["n"].sum():
        return theme.message(TABLES.why("rates_by_set") if attack_challenge.shape[0] else styled.NOT_ATTACKED)
    return _sets(attack_challenge, attack_challenge["ceiling"], styled.look("ceiling"), "attack success rate (%)")


def kinds_figure(success_by_kind: pd.DataFrame) -> Figure:
    """Attack success by perturbation type (Figure 2). success_by_kind: `disambiguation.success_by_kind`."""
    rows = success_by_kind[success_by_kind["n"] > 0] if len(success_by_kind) else success_by_kind
    if rows.empty:
        return theme.message(TABLES.why("rates_by_kind") if success_by_kind.shape[0] else styled.NOT_ATTACKED)
    kinds, models = list(dict.fromkeys(success_by_kind["kind"])), theme.model_looks(rows["model"])
    points = rows.assign(row=rows["kind"].map(kinds.index), mark=rows["ceiling"])
    names = [spelled(kind) for kind in kinds]
    return _rates(points, names, "model", models, styled.look("ceiling"), "attack success rate (%)", (0.4, 0.14))


def transfer_figure(transfer: pd.DataFrame) -> Figure:
    """Jaccard indices of the successful attacks on every two models, as a matrix (§4). transfer: `transfer`."""
    if transfer.empty:
        return theme.message(TABLES.why("transfer"))
    if transfer["jaccard"].isna().all():
        return theme.message("No attack of this run succeeded.")
    models = list(dict.fromkeys([*transfer["model_a"], *transfer["model_b"]]))
    matrix, of = np.full((2, len(models), len(models)), np.nan)
    pairs = zip(transfer["model_a"], transfer["model_b"], transfer["jaccard"], in_either(transfer), strict=True)
    for a, b, index, n in pairs:
        matrix[models.index(b), models.index(a)], of[models.index(b), models.index(a)] = 100 * index, n
    with theme.style():
        side = 0.7 + 0.62 * len(models)
        figure, panel = _panel(side, min(theme.WIDTH, side + 3.2))
        panel.imshow(matrix, cmap="Purples", vmin=0, vmax=100)
        for b, a in zip(*np.nonzero(~np.isnan(matrix)), strict=True):
            colour = "white" if matrix[b, a] > 55 else "#222222"
            mark = styles.dagger(of[b, a])
            panel.text(a, b, f"{matrix[b, a]:.1f}{mark}", ha="center", va="center", color=colour)
            if mark:
                panels.few_note(panel)
        names = [theme.short_name(model) for model in models]
        panel.set_xticks(range(len(models) - 1), names[:-1], rotation=20, ha="right")
        panel.set_yticks(range(1, len(models)), names[1:])
        panel.set(xlim=(-0.5, len(models) - 1.5), ylim=(len(models) - 0.5, 0.5))
        panel.grid(visible=False)
        what = "wrong senses" if (transfer["relation"] == WRONG_SENSES).all() else "successful attacks"
        panel.set_title(f"Jaccard index (%) of the {what}")
    return figure


def undecided_figure(undecided: pd.DataFrame) -> Figure:
    """Why the senses of translations could not be identified. undecided: `disambiguation.undecided_translations`."""
    if undecided.empty:
        return theme.message("The sense of every translation was identified.")
    models = theme.model_looks(undecided["model"])
    reasons = [reason for reason in REASONS if reason in set(undecided["reason"])]
    with theme.style():
        figure, panel = _panel(1.0 + 0.36 * len(reasons))
        width = 0.8 / len(models)
        for i, (model, look) in enumerate(models.items()):
            own = undecided[undecided["model"] == model].set_index("reason")["n"].reindex(reasons, fill_value=0)
            bars = panel.barh([place - 0.4 + (i + 0.5) * width for place in range(len(reasons))], own, width * 0.9,
                              color=look.colour)  # fmt: skip
            panels.lead(bars, pd.DataFrame({"model": model, "verdict": "undecided", "reason": reasons}))
        _rows(panel, reasons)
        panel.set_xlabel("translations")
        panels.legend(figure, models.values())
    return figure


def _sets(table: pd.DataFrame, marks: pd.Series, mark: Look, what: str) -> Figure:
    """Rates of several sets, one row per model, each with a short bar at its own value of *marks*."""
    shown = {name: look for name, look in styled.set_looks().items() if name in set(table["set"])}
    models = list(dict.fromkeys(table["model"]))
    points = table.assign(row=table["model"].map(models.index), mark=marks)
    return _rates(
        points, [theme.short_name(model) for model in models], "set", shown, mark, what, (0.5, 0.16), columns=4
    )


def _rates(
    points: pd.DataFrame, names: list[str], of: str, looks: Mapping[str, Look], mark: Look, what: str,
    room: tuple[float, float], columns: int = 5,
) -> Figure:  # fmt: skip
    """Rates with intervals and short bars, see `_dodged`, in rows with these names. room: of a row, and around it."""
    with theme.style():
        figure, panel = _panel(1.1 + len(names) * max(room[0], 0.16 * len(looks) + room[1]))
        _dodged(panel, points, "rate", of, looks, mark)
        _rows(panel, names)
        panel.set(xlim=(-0.02, 1.02), xlabel=what)
        panel.xaxis.set_major_formatter(_SHARE)
        panels.legend(figure, [*looks.values(), mark], columns=columns)
    return figure


def _dodged(
    panel: Axes, points: pd.DataFrame, value: str, of: str, looks: Mapping[str, Look], mark: Look | None = None
) -> None:
    """*value* with its interval, and a bar at the column mark, in the panel's row; side by side by the column *of*."""
    for offset, (name, look) in zip(panels.dodge(len(looks)), looks.items(), strict=True):
        own = points[points[of] == name]
        if mark is not None:
            panels.ticks(panel, own["mark"], own["row"] + offset, mark)
        panels.intervals(panel, own, own["row"] + offset, look, value, "low", "high")


def _panel(height: float, width: float = theme.WIDTH) -> tuple[Figure, Axes]:
    figure, axes = panels.grid(1, 1, width, height)
    return figure, axes[0, 0]


def _rows(panel: Axes, names: Iterable[str]) -> None:
    names = list(names)
    panel.set_yticks(range(len(names)), names)
    panel.set_ylim(len(names) - 0.5, -0.5)
    panel.tick_params(axis="y", length=0)
    panel.grid(axis="y", visible=False)


def _readable(colour: str) -> str:
    """Black or white, whichever is easier to read on *colour*."""
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return "#222222" if 0.3 * red + 0.59 * green + 0.11 * blue > 140 else "white"
