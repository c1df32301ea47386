"""Names, colours (``looks.yaml``) and tables (``tables.yaml``) of the NLI permutation pages.

A table function takes a table of `nbkit.studies.nli_permutation` or `nbkit.measure.forms`; `show` shows those that need
only their entry. The ``data`` of a styled table goes into its CSV copy; a table without rows says why.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
from pandas.io.formats.style import Styler

from nbkit import provenance
from nbkit.corpora.nli import LABELS
from nbkit.figures import styles, theme
from nbkit.figures.theme import Look
from nbkit.measure.forms import accuracy_table, agreement
from nbkit.models import classifier_label
from nbkit.studies import page
from nbkit.studies.paper import Paper
from nbkit.yaml_text import read_own

if TYPE_CHECKING:
    from nbkit.studies.nli_permutation import NliPermutationParams

#: Sinha et al. 2021, "Unnatural Language Inference".
PUBLISHED = Paper(Path(__file__).parent / "published", classifier_label)

MEASURES = ("accuracy", "omega_max", "p_correct", "p_flipped", "omega_rand")
#: The same with 𝒫^c as the research code computes it, beside 𝒫^c as defined.
_RESULTS = ("accuracy", "omega_max", "p_correct", "p_correct_coded", "p_flipped", "omega_rand")
# Columns whose cells hold symbols or what the paper says, never a sentence of a set.
_SYMBOLIC = ("measure", "group", "stratum", "pairs", "note")
_PAIR = ("model", "corpus")
# A symbol as it is written in plain text: a base, ^ or _, and what is raised or lowered.
_SYMBOL = re.compile(r"(?<!\w)(?P<base>[𝒫ΩDM])(?P<mark>[\^_])(?P<index>max|rand|cor|[cfx])(?!\w)")
_RAISED = {"^": "sup", "_": "sub"}
_BASES = {"𝒫": r"\mathcal{P}", "Ω": r"\Omega"}


def footer(params: NliPermutationParams) -> provenance.Footer:
    """Where the page's results come from: parameters, what cut the texts into tokens, models, versions, device."""
    corpora = dict.fromkeys([*params.corpora, params.training_corpus])
    tokens = {f"tokens of {corpus_label(corpus)}": params.tokenizer(corpus)[0] for corpus in corpora}
    return page.footer(params, tokens, params.scored_models, params.model_key, language=params.language)


def annotator_accuracy(judged: pd.DataFrame) -> pd.DataFrame:
    """The accuracy of the annotators over all pairs, by stratum and by length. judged: `judgements`."""
    return accuracy_table(judged, labels=LABELS, by=["stratum", "length_group"])


def annotator_agreement(judged: pd.DataFrame, seed: int) -> pd.DataFrame:
    """The agreement of the annotators. judged: `judgements`."""
    return agreement(judged, labels=LABELS, seed=seed)


# ----------------------------------------------------------------------------
# How models, groups of pairs and measures appear.


@cache
def _data() -> dict[str, Any]:
    return read_own(Path(__file__).with_name("looks.yaml"))


def looks_of(kind: str) -> dict[str, Look]:
    """The looks of one kind: "groups", "strata", "schemes", "training", "where", "floors" or "ceilings"."""
    return {name: Look(**entry) for name, entry in _data()[kind].items()}


def model_looks(labels: Iterable[str]) -> dict[str, Look]:
    """Name, colour and marker of each classifier, in the order given.

    A model looks like its architecture, whatever it was trained on; the second of one architecture in the
    same figure, and a model of none of them, look as any other model does (`theme.model_looks`).

    >>> model_looks(["SICK-BART"])["SICK-BART"].colour == model_looks(["BART (large)"])["BART (large)"].colour
    True
    """
    labels, known = list(dict.fromkeys(labels)), _data()["architectures"]
    taken: dict[str, str] = {}
    for label in labels:
        # "SICK-RoBERTa" is SICK and RoBERTa, and DistilBERT is not BERT.
        words = label.replace("-", " ").replace("(", " ").split()
        architecture = next((name for name in known if name in words), None)
        if architecture is not None:
            taken.setdefault(architecture, label)
    own = {label: Look(theme.short_name(label), **known[architecture]) for architecture, label in taken.items()}
    looks = {**theme.model_looks([label for label in labels if label not in own]), **own}
    return {label: looks[label] for label in labels}


def measure(name: str, form: str = "label") -> str:
    """A measure's symbol as text ("label") or "mathtext", or in "words".

    >>> measure("omega_max"), measure("omega_max", "words")
    ('Ω_max', 'pairs with an accepted permutation')
    """
    return _data()["measures"][name][form]


def corpus_label(corpus: str) -> str:
    """A set as figures call it: the name of a file without its folders.

    >>> corpus_label("snli:dev"), corpus_label("data/mine.tsv?label=gold")
    ('snli:dev', 'mine.tsv')
    """
    return corpus if "/" not in corpus and "?" not in corpus else Path(corpus.partition("?")[0]).name


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


class _Sheets(page.Sheets):
    """Tables with symbols typeset; where the entry says ``two_lines``, intervals stand below their values."""

    def show(self, name: str, frame: pd.DataFrame, **how: Any) -> Styler:
        """As `nbkit.studies.page.Sheets.show`."""
        table = super().show(name, frame, **how)
        shown: pd.DataFrame = table.data  # type: ignore[attr-defined]
        for column in shown.columns.intersection(list(_SYMBOLIC)):
            table.format(lambda cell: as_html(str(cell)), na_rep=styles.NOTHING, subset=[column])
        if self._entries[name].get("two_lines"):
            under = [each for each in shown if shown[each].map(str).str.contains(" [", regex=False).any()]
            table.format(lambda cell: escape(str(cell)).replace(" [", "<br>["), na_rep=styles.NOTHING, subset=under)
        # The LaTeX copy asks for the heading of a column by its escaped name.
        headings = shown.attrs["headings"].items()
        shown.attrs["headings"] = {column.replace("_", r"\_"): as_latex(heading) for column, heading in headings}
        shown.attrs["caption"] = as_latex(shown.attrs["caption"])
        return table


#: The study's tables and the paper's.
TABLES = _Sheets(Path(__file__).with_name("tables.yaml"), PUBLISHED, names={"measure": measure}, typeset=as_html)
show, note = TABLES.show, TABLES.note


# ----------------------------------------------------------------------------
# This run's tables.


def results_table(results: pd.DataFrame) -> Styler:
    """𝒜, Ω_max, 𝒫^c (as defined and as coded), 𝒫^f and Ω_rand by model and set (Tables 2 to 4), the best model in bold.

    results: `nli_permutation.results`. Rows of means are not compared.
    """
    table, n = (_wide(results, value, _RESULTS) for value in ("value", "n"))
    own = _wide(results.assign(value=results["value"].where(results["low"].notna())), "value", _RESULTS)[list(_RESULTS)]
    means = own.isna().all(axis=1).any()
    best = own.groupby(table["corpus"], group_keys=False).apply(lambda models: styles.best(models, "column"))
    best = best.reindex(own.index)
    bold = "Bold: the highest of all models on a set. " if best.any(axis=None) else ""
    return show(
        "results",
        # The table has no room for more numbers of pairs; D^c has 𝒜 · N.
        table.assign(n=n["accuracy"], n_flipped=n["p_flipped"]),
        best=best,
        headings=_symbols(_RESULTS),
        bold=bold,
        sets="; of means, sets" if means else "",
        refused=_refused(results),
    )


def _refused(results: pd.DataFrame) -> str:
    """What the caption says of permutations without an answer; nothing where all are answered."""
    rows = results[results["measure"] == "refused"]
    shares = [
        f"{model} ({corpus_label(corpus)}): {share:.1%}"
        for model, corpus, share in zip(rows["model"], rows["corpus"], rows["value"], strict=True)
    ]
    return f"Permutations that a model refused to label are not accepted: {', '.join(shares)}. " if shares else ""


def results_intervals(results: pd.DataFrame) -> Styler:
    """The same with 95% intervals over pairs, without the rows of means, which have none."""
    own = results[results["low"].notna()]
    # Values with three digits, as the paper prints them, and intervals with two: five of them fit the page.
    cells = [
        f"{value:.3f} [{low:.2f}, {high:.2f}]{styles.dagger(n)}"
        for value, low, high, n in own[["value", "low", "high", "n"]].itertuples(index=False, name=None)
    ]
    shown = _wide(own.assign(cell=cells), "cell", _RESULTS).fillna(styles.NOTHING)
    return show("intervals", shown, headings=_symbols(_RESULTS))


def floors_table(floors: pd.DataFrame) -> Styler:
    """What predictors that cannot read word order get on the same pairs. floors: `nli_permutation.floor_table`.

    The constant and the random predictor are the same beside every model; the bag of words is as accurate as the model.
    """
    bags = floors["predictor"] == "bag of words"
    same = floors[~bags].drop_duplicates(["corpus", "predictor", "measure"]).assign(model="any")
    wide = _wide(pd.concat([same, floors[bags]]), "value", MEASURES, ["corpus", "predictor", "model"])
    return show("floors", wide, headings=_symbols(MEASURES))


def max_entropy_table(max_entropy: pd.DataFrame) -> Styler:
    """𝒜 and Ω_max as trained usually and with maximum entropy, with intervals (Table 5)."""
    return _both_trainings("max_entropy", max_entropy, ("accuracy", "omega_max"))


def undecided_table(max_entropy: pd.DataFrame) -> Styler:
    """𝒫^c and the entropy of the answers as trained usually and with maximum entropy, with intervals."""
    return _both_trainings("undecided", max_entropy, ("p_correct", "entropy", "control_entropy"))


def _both_trainings(name: str, max_entropy: pd.DataFrame, measures: Sequence[str]) -> Styler:
    rows = max_entropy[max_entropy["measure"].isin(measures)]
    columns = rows["measure"].map(measure) + " (" + rows["training"] + ")"
    order = [f"{measure(each)} ({training})" for each in measures for training in ("V", "ME")]
    cells = styles.cells(rows, "value", ["low", "high"], n="n")
    wide = _wide(rows.assign(cell=cells, measure=columns), "cell", order)
    return show(name, wide, headings={each: each for each in order})


def examples_table(examples: pd.DataFrame) -> Styler:
    """Originals and accepted permutations, one below the other (Table 1).

    examples: `nli_permutation.accepted_examples`, or the paper's own.
    """
    keys = [*styles.varying(examples, _PAIR), "label"]
    sides = {"original": ["premise", "hypothesis"], "permuted": ["permuted_premise", "permuted_hypothesis"]}
    rows = [
        (*(row[name] for name in keys), order, *(row[side] for side in of))
        for row in examples.to_dict("records")
        for order, of in sides.items()
    ]
    return show("examples", pd.DataFrame(rows, columns=[*keys, "order", "premise", "hypothesis"]))


def plain(table: pd.DataFrame, caption: str, why_empty: str = "") -> Styler:
    """*table* with a caption and no more; measures go by their symbols."""
    return show("plain", table, caption=caption, why=why_empty)


def left_out(table: pd.DataFrame) -> Styler:
    """What was not used and why, without the rows that count nothing. table: `nli_permutation.left_out`."""
    return plain(table[table["n"] > 0], "Excluded from this run", "Nothing was excluded.")


def human_table(accuracy: pd.DataFrame) -> Styler:
    """Accuracy of annotators, over all pairs and by stratum (Table 6). accuracy: `annotate.accuracy_table`."""
    return show("human", accuracy.assign(pairs=accuracy["value"].where(accuracy["by"] != "all", "all")))


# ----------------------------------------------------------------------------
# The paper's.


def has_printed(ours: pd.DataFrame, artefact: str, on: Sequence[str]) -> bool:
    """Whether the paper prints a number for any row of *ours*, so that there is something to show `beside` it."""
    return bool(PUBLISHED.beside(ours, artefact, on)["published"].notna().any())


def beside(ours: pd.DataFrame, artefact: str, on: Sequence[str]) -> Styler:
    """This run's numbers beside those that the paper prints, with their difference.

    ours: a table with the columns *on* and value. Only rows for which the paper prints a number are shown. Where *ours*
    has the measure p_correct_coded, it stands in separate columns beside 𝒫^c.
    """
    coded = ours[ours["measure"] == "p_correct_coded"].assign(measure="p_correct")
    if len(coded):
        ours = ours.merge(coded[[*on, "value"]].rename(columns={"value": "coded"}), on=list(on), how="left")
    return TABLES.beside(ours, artefact, on)


def as_printed(artefact: str, rows: Sequence[str]) -> Styler:
    """A whole table of the paper with its numbers as printed, *rows* × measures."""
    table = PUBLISHED.texts(artefact)
    if "model" in table:
        table = table.assign(model=table["model"].map(classifier_label))
    shown = styles.wide(table, rows, "measure", "printed").fillna(styles.NOTHING)
    symbols = _symbols(name for name in MEASURES if name in shown and artefact != "table6")
    return show("printed", shown, headings=symbols, title=PUBLISHED.title(artefact))


def _symbols(measures: Iterable[str]) -> dict[str, str]:
    return {name: measure(name) for name in measures}


def _wide(table: pd.DataFrame, value: str, names: Sequence[str], keys: Sequence[str] = _PAIR) -> pd.DataFrame:
    """*table* with a column for each of *names*, which are measures; rows in their first order."""
    return styles.wide(table, keys, "measure", value, names)
