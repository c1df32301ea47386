"""Tables of the NLI permutation study, styled: Tables 1 to 6 of the paper; and what else its pages have.

Each takes a table of `nbkit.studies.nli_permutation` or `nbkit.measure.forms` and returns a pandas Styler; its ``data``
is what a CSV copy holds. A table without rows says why.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
from IPython.display import HTML
from pandas.io.formats.style import Styler

from nbkit import provenance
from nbkit.figures import styles
from nbkit.files import expand_path
from nbkit.measure.forms import read_forms
from nbkit.models import classifier_label
from nbkit.studies import page
from nbkit.studies.nli_permutation.figures import NO_MODEL, NO_TWIN, corpus_label, measure
from nbkit.studies.paper import Paper

if TYPE_CHECKING:
    from nbkit.studies.nli_permutation import NliPermutationParams

#: Sinha et al. 2021, "Unnatural Language Inference".
PUBLISHED = Paper(Path(__file__).parent / "published", classifier_label)

MEASURES = ("accuracy", "omega_max", "p_correct", "p_flipped", "omega_rand")
#: The same with 𝒫^c as the research code computes it, beside 𝒫^c as defined.
_RESULTS = ("accuracy", "omega_max", "p_correct", "p_correct_coded", "p_flipped", "omega_rand")
# Elsewhere a hypothesis is a translation.
_TEXTS = {"hypothesis": "hypothesis"}
# Columns whose cells hold symbols or what the paper says, never a sentence of a set.
_SYMBOLIC = ("measure", "group", "stratum", "pairs", "note")
_CONTROL = "the pair re-joined from its own words in their own order"
_AGREEMENT = {
    "share": "raw agreement",
    "cohen": "Cohen's κ",
    "fleiss": "Fleiss' κ",
    "krippendorff": "Krippendorff's α",
}
# A symbol as it is written in plain text: a base, ^ or _, and what is raised or lowered.
_SYMBOL = re.compile(r"(?<!\w)(?P<base>[𝒫ΩDM])(?P<mark>[\^_])(?P<index>max|rand|cor|[cfx])(?!\w)")
_RAISED = {"^": "sup", "_": "sub"}
_BASES = {"𝒫": r"\mathcal{P}", "Ω": r"\Omega"}


def footer(params: NliPermutationParams) -> provenance.Footer:
    """Where the page's results come from: parameters, what cut the texts into tokens, models, versions, device."""
    corpora = dict.fromkeys([*params.corpora, params.training_corpus])
    tokens = {f"tokens of {corpus_label(corpus)}": params.tokenizer(corpus)[0] for corpus in corpora}
    return page.footer(params, tokens, params.scored_models, params.model_key)


def judgements(params: NliPermutationParams) -> pd.DataFrame | None:
    """The filled forms that the parameters name, or None where they name none. Raises as `read_forms` does."""
    if not params.annotations or params.annotation_key is None:
        return None
    forms = {name: expand_path(path, "annotations") for name, path in params.annotations.items()}
    return read_forms(forms, expand_path(params.annotation_key, "annotation_key"))


def note(text: str) -> HTML:
    """A remark below a table or figure; *text* is plain, its symbols are typeset."""
    return HTML(styles.note(text).data.replace(escape(text), as_html(text)))


# ----------------------------------------------------------------------------
# This run's tables.


def results_table(results: pd.DataFrame) -> Styler:
    """𝒜, Ω_max, 𝒫^c (as defined and as coded), 𝒫^f and Ω_rand by model and set (Tables 2 to 4), the highest in bold.

    results: `nli_permutation.results`. Rows of means are not compared.
    """
    if results.empty:
        return _empty(NO_MODEL)
    wide, n = _wide(results, "value", _RESULTS), _wide(results, "n", _RESULTS)
    own = _wide(results.assign(value=results["value"].where(results["low"].notna())), "value", _RESULTS)[list(_RESULTS)]
    best = own.eq(own.max()) & (len(own) > 1)
    means = len(own.dropna(how="all")) < len(own)
    bold = f"Bold: the highest of a column{', means apart' if means else ''}. " if best.any(axis=None) else ""
    counted = {"n": "accuracy", "n_flipped": "p_flipped"}  # the table has no room for more; D^c has 𝒜 · N pairs
    return _styled(
        wide.assign(**{name: n[measured] for name, measured in counted.items()}),
        caption=f"Permutation acceptance. {bold}N: pairs kept{'; of means, sets' if means else ''}. 𝒫^c as "
        "coded, a mean over those pairs of D^c that have an accepted permutation, is what the paper prints",
        best=best.reindex(columns=[*wide, *counted], fill_value=False),
        headings=_symbols(_RESULTS) | {"n_flipped": "N of 𝒫^f"},
    )


def results_intervals(results: pd.DataFrame) -> Styler:
    """The same with 95% intervals over pairs, without the rows of means, which have none."""
    own = results[results["low"].notna()]
    if own.empty:
        return _empty(NO_MODEL)
    # Values with three digits, as the paper prints them, and intervals with two: five of them fit the page.
    cells = [
        f"{value:.3f} [{low:.2f}, {high:.2f}]{styles.dagger(n)}"
        for value, low, high, n in own[["value", "low", "high", "n"]].itertuples(index=False, name=None)
    ]
    return _styled(
        _wide(own.assign(cell=cells), "cell", _RESULTS).fillna(styles.NOTHING),
        caption="Permutation acceptance with 95% intervals over pairs",
        headings=_symbols(_RESULTS),
        two_lines=_RESULTS,
    )


def floors_table(floors: pd.DataFrame) -> Styler:
    """What predictors that cannot read word order get on the same pairs. floors: `nli_permutation.floor_table`.

    The constant and the random predictor are the same beside every model; the bag of words is as accurate as the model.
    """
    if floors.empty:
        return _empty(NO_MODEL)
    bags = floors["predictor"] == "bag of words"
    same = floors[~bags].drop_duplicates(["corpus", "predictor", "measure"]).assign(model="any")
    wide = _wide(pd.concat([same, floors[bags]]), "value", MEASURES, ["corpus", "predictor", "model"])
    return _styled(wide, "Floors: what is reached without reading word order", _symbols(MEASURES))


def control_table(control: pd.DataFrame) -> Styler:
    """Accuracy on the originals and on the control. control: `nli_permutation.control`."""
    if control.empty:
        return _empty(NO_MODEL)
    interval = _with_intervals(control, "difference")
    return _styled(
        control[["model", "corpus", "accuracy", "control"]].assign(difference=interval, n=control["n"]),
        caption=f"The control: {_CONTROL}",
        headings={"accuracy": "𝒜 as written", "control": "𝒜 of the control", "difference": "control − as written"},
    )


def max_entropy_table(max_entropy: pd.DataFrame) -> Styler:
    """𝒜 and Ω_max as trained usually and with maximum entropy, with intervals (Table 5)."""
    caption = "Usual training (V) and maximum-entropy training (ME), 95% intervals"
    return _both_trainings(max_entropy, ("accuracy", "omega_max"), caption)


def undecided_table(max_entropy: pd.DataFrame) -> Styler:
    """𝒫^c and the entropy of the answers as trained usually and with maximum entropy, with intervals."""
    caption = "H: mean entropy of the answers in nats (undecided: ln 3 = 1.099), 95% intervals"
    return _both_trainings(max_entropy, ("p_correct", "entropy", "control_entropy"), caption)


def _both_trainings(max_entropy: pd.DataFrame, measures: Sequence[str], caption: str) -> Styler:
    if max_entropy.empty:
        return _empty(NO_TWIN)
    rows = max_entropy[max_entropy["measure"].isin(measures)]
    cells = [styles.with_interval(a, b, c, n=n) for a, b, c, n in rows[["value", "low", "high", "n"]].values]
    columns = rows["measure"].map(measure) + " (" + rows["training"] + ")"
    order = [f"{measure(name)} ({training})" for name in measures for training in ("V", "ME")]
    wide = _wide(rows.assign(cell=cells, measure=columns), "cell", order)
    return _styled(wide, caption, {name: name for name in order}, two_lines=order)


def examples_table(examples: pd.DataFrame) -> Styler:
    """Originals and accepted permutations, one below the other (Table 1).

    examples: `nli_permutation.accepted_examples`, or the paper's own.
    """
    if examples.empty:
        return _empty("No pair of this run has an accepted permutation.")
    keys = [*styles.varying(examples, ["model", "corpus"]), "label"]
    sides = {"original": ["premise", "hypothesis"], "permuted": ["permuted_premise", "permuted_hypothesis"]}
    rows = [
        (*(row[name] for name in keys), order, *(row[side] for side in of))
        for row in examples.to_dict("records")
        for order, of in sides.items()
    ]
    return _styled(
        pd.DataFrame(rows, columns=[*keys, "order", "premise", "hypothesis"]),
        caption="Original and permuted pairs that get the same, correct label",
        headings={"label": "gold label and answer", **_TEXTS},
    )


def permutations_table(examples: pd.DataFrame) -> Styler:
    """One pair of each set under every variant. examples: `nli_permutation.permutation_examples`."""
    if examples.empty:
        return _empty("No pair of this run has all its permutations.")
    return _styled(examples.drop(columns="pair"), "A pair and its permutations", {"scheme": "order", **_TEXTS})


def plain(table: pd.DataFrame, caption: str, why_empty: str = NO_MODEL) -> Styler:
    """*table* with a caption and no more; measures go by their symbols."""
    return _empty(why_empty) if table.empty else _styled(_symbolic(table), caption)


def left_out(table: pd.DataFrame) -> Styler:
    """What was not used and why, without the rows that count nothing. table: `nli_permutation.left_out`."""
    return plain(table[table["n"] > 0], "Left out of this run", "Nothing was left out.")


def human_table(accuracy: pd.DataFrame) -> Styler:
    """Accuracy of annotators, over all pairs and by stratum (Table 6). accuracy: `annotate.accuracy_table`."""
    part = accuracy["value"].where(accuracy["by"] != "all", "all")
    shown = accuracy[["annotator"]].assign(pairs=part, accuracy=_with_intervals(accuracy, "accuracy"))
    return _styled(
        shown.join(accuracy[["half_width", "macro_f1", "n"]]),
        caption="Accuracy of the annotators with 95% interval (Wilson); chance is 0.333",
        headings={"half_width": "± (as printed in the paper)", "macro_f1": "macro F1"},
    )


def agreement_table(agreement: pd.DataFrame) -> Styler:
    """How far annotators agree beyond chance, 1 is full agreement. agreement: `annotate.agreement`."""
    shown = agreement[["measure", "annotators"]].assign(value=_with_intervals(agreement, "value"), n=agreement["n"])
    return _styled(
        shown.assign(measure=shown["measure"].map(_AGREEMENT)),
        caption="Agreement of the annotators with 95% intervals over pairs",
    )


# ----------------------------------------------------------------------------
# The paper's.


def has_printed(ours: pd.DataFrame, artefact: str, on: Sequence[str]) -> bool:
    """Whether the paper prints a number for any row of *ours*, so that there is something to show `beside` it."""
    return bool(PUBLISHED.beside(ours, artefact, on)["published"].notna().any())


def beside(ours: pd.DataFrame, artefact: str, on: Sequence[str]) -> Styler:
    """This run's numbers beside those that the paper prints, with their difference.

    ours: a table with the columns *on* and value. Only rows for which the paper prints a number are shown. Where *ours*
    has the measure p_correct_coded, it stands in columns of its own beside 𝒫^c.
    """
    joined = PUBLISHED.beside(ours, artefact, on)
    known = joined[joined["published"].notna()]
    if known.empty:
        why = PUBLISHED.note(artefact)
        if PUBLISHED.is_printed(artefact):
            why = "The paper prints no number for any of these rows: it tested other models or other sets."
        return _empty(why, PUBLISHED.title(artefact))
    coded = ours[ours["measure"] == "p_correct_coded"].assign(measure="p_correct") if "measure" in ours else ours[:0]
    added = ["coded", "coded_difference"] if len(coded) else []
    if added:
        known = known.merge(coded[[*on, "value"]].rename(columns={"value": "coded"}), on=on, how="left")
        known = known.assign(coded_difference=known["coded"] - known["published"])
    noted = ["note"] if known["note"].ne("").any() else []
    return _styled(
        _symbolic(known[[*on, "value", "printed", "difference", *added, *noted]]),
        caption=PUBLISHED.title(artefact),
        headings={
            "value": "this run, as defined" if added else "this run",
            "printed": "paper",
            "difference": "as defined − paper" if added else "this run − paper",
            "coded": "this run, as coded",
            "coded_difference": "as coded − paper",
        },
    )


def as_printed(artefact: str, rows: Sequence[str], columns: str = "measure") -> Styler:
    """A whole table of the paper with its numbers as printed, *rows* × *columns*."""
    table = PUBLISHED.texts(artefact)
    if "model" in table:
        table = table.assign(model=table["model"].map(classifier_label))
    names = list(dict.fromkeys(table[columns]))
    wide = _wide(table, "printed", names, rows, columns).fillna(styles.NOTHING)
    symbols = _symbols(name for name in names if name in MEASURES and artefact != "table6")
    title = f"As printed in the paper. {PUBLISHED.title(artefact)}"
    return _styled(wide, title, {"macro_f1": "macro F1", **symbols})


# ----------------------------------------------------------------------------
# How they are shown.


def as_html(text: str) -> str:
    """Plain *text* as HTML: escaped, the symbols of the study typeset.

    >>> as_html("𝒫^c > Ω_max in a_max")
    '𝒫<sup>c</sup> &gt; Ω<sub>max</sub> in a_max'
    """

    def typeset(found: re.Match[str]) -> str:
        tag = _RAISED[found["mark"]]
        return f"{found['base']}<{tag}>{found['index']}</{tag}>"

    return _SYMBOL.sub(typeset, escape(text))


def as_latex(text: str) -> str:
    """A plain heading as LaTeX: the symbols of the study typeset, a per cent sign escaped.

    >>> print(as_latex("𝒫^c, 95% from"))
    $\\mathcal{P}^{\\mathrm{c}}$, 95\\% from
    """

    def typeset(found: re.Match[str]) -> str:
        base = _BASES.get(found["base"], found["base"])
        return rf"${base}{found['mark']}{{\mathrm{{{found['index']}}}}}$"

    return _SYMBOL.sub(typeset, text.replace("%", r"\%"))


def _symbols(measures: Iterable[str]) -> dict[str, str]:
    return {name: measure(name) for name in measures}


def _symbolic(table: pd.DataFrame) -> pd.DataFrame:
    """*table* with measures by their symbols."""
    return table.assign(measure=table["measure"].map(measure)) if "measure" in table else table


def _with_intervals(table: pd.DataFrame, column: str) -> list[str]:
    return list(map(styles.with_interval, table[column], table["low"], table["high"]))


def _wide(
    table: pd.DataFrame, value: str, names: Sequence[str], keys: Sequence[str] = ("model", "corpus"),
    columns: str = "measure",
) -> pd.DataFrame:  # fmt: skip
    """*table* with a column for each of *names*, by default measures; rows in their first order."""
    wide = table.pivot(index=list(keys), columns=columns, values=value)
    rows = pd.MultiIndex.from_frame(table[list(keys)].drop_duplicates())
    return wide.reindex(index=rows, columns=list(names)).rename_axis(columns=None).reset_index()


def _styled(
    frame: pd.DataFrame,
    caption: str = "",
    headings: Mapping[str, str] | None = None,
    *,
    best: pd.DataFrame | None = None,
    two_lines: Sequence[str] = (),
) -> Styler:
    """As `styles.styled`, with symbols typeset; in the columns *two_lines*, intervals stand below their values."""
    names = {"low": "95% from", **(headings or {})}
    table = styles.styled(frame, caption=caption, best=best, headings=names, typeset=as_html)
    for name in (*(name for name in _SYMBOLIC if name in frame), *two_lines):
        show = _two_lines if name in two_lines else _typeset
        table.format(show, na_rep=styles.NOTHING, subset=[name])
    # The LaTeX copy asks for the heading of a column by its escaped name.
    in_latex = {name.replace("_", r"\_"): as_latex(heading) for name, heading in names.items()}
    table.data.attrs["headings"] = in_latex  # type: ignore[attr-defined]
    return table


def _typeset(cell: object) -> str:
    return as_html(str(cell))


def _two_lines(cell: object) -> str:
    return escape(str(cell)).replace(" [", "<br>[")


def _empty(why: str, caption: str = "") -> Styler:
    """A table that says, in words, why there is nothing in it."""
    return styles.empty(why, caption, typeset=as_html)
