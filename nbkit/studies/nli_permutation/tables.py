"""Tables of the NLI permutation study over models and sets, every value with an interval over pairs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import log
from typing import TYPE_CHECKING, Any

import numpy as np

from nbkit.corpora.nli import LABELS
from nbkit.measure.acceptance import (
    CORRECT,
    FLIPPED,
    acceptance,
    acceptance_by,
    acceptance_rates,
    accepted_entropy,
    by_group,
    example_groups,
    floors,
    omega_curve,
    p_correct_as_coded,
)
from nbkit.measure.intervals import DIFFERENCE, mean_interval, share_interval
from nbkit.models import classifier_label
from nbkit.store import Store
from nbkit.studies.nli_permutation import steps
from nbkit.studies.nli_permutation.params import HYPOTHESIS, PERMUTED, NliPermutationParams, share_of
from nbkit.studies.nli_permutation.steps import Scores

if TYPE_CHECKING:
    import pandas as pd

#: What stands in the column corpus of the rows that summarise a model.
MEAN, HARMONIC_MEAN = "Mean", "Harmonic Mean"


_INTERVAL = ["value", "low", "high", "n"]


# The range of the entropy of an answer: certain, and undecided between the labels.
_NATS = (0.0, log(len(LABELS)))


def results(params: NliPermutationParams, store: Store | None = None) -> pd.DataFrame:
    """𝒜, Ω_max, 𝒫^c, 𝒫^f and Ω_rand of every model and set (Tables 2 to 4), and their means over the sets.

    Columns: model, corpus, measure (accuracy, omega_max, p_correct, p_flipped, omega_rand, and p_correct_coded: 𝒫^c as
    the research code computes it), value, low, high, n (pairs the value is over). With several sets, rows whose corpus
    is "Mean" or "Harmonic Mean" follow each model's own, without interval; n is then the number of sets.
    """
    rows = []
    for model in params.models:
        own = [
            (classifier_label(model), corpus, measure, *interval)
            for corpus in params.corpora
            for measure, interval in _acceptance(params, corpus, model, store).items()
        ]
        rows += own
        if len(params.corpora) > 1:
            rows += _means(own)
    return frame(rows, ["model", "corpus", "measure", *_INTERVAL])


def _acceptance(params: NliPermutationParams, corpus: str, model: str, store: Store | None) -> dict[str, Any]:
    found = steps.scores(params, corpus, model, store=store)
    as_coded = p_correct_as_coded(found.accepted, found.correct)
    return acceptance(found.accepted, found.correct)._asdict() | {"p_correct_coded": as_coded}


def _means(rows: Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """The arithmetic and the harmonic mean of each measure over the sets that have a value."""
    means: list[tuple[Any, ...]] = []
    nothing = float("nan")
    for name in (MEAN, HARMONIC_MEAN):
        for measure in dict.fromkeys(row[2] for row in rows):
            values = np.array([row[3] for row in rows if row[2] == measure and not np.isnan(row[3])])
            if not len(values):
                value = nothing
            elif name == MEAN:
                value = float(values.mean())
            else:  # a set with the value 0 makes the harmonic mean 0
                value = float(len(values) / np.sum(1 / values)) if (values > 0).all() else 0.0
            means.append((rows[0][0], name, measure, value, nothing, nothing, len(values)))
    return means


def floor_table(params: NliPermutationParams, store: Store | None = None) -> pd.DataFrame:
    """What predictors that cannot read word order would get on the same pairs, beside every model.

    Columns: model, corpus, predictor ("constant", "bag of words", "chance"), measure, value. The constant predictor's
    accuracy is the share of the most frequent label among the kept pairs.
    """
    rows = []
    for model in params.models:
        for corpus in params.corpora:
            found = steps.scores(params, corpus, model, store=store)
            table = floors(found.label, found.correct, params.permutations)
            rows += [
                (classifier_label(model), corpus, predictor, measure, float(value))
                for predictor, values in table.iterrows()
                for measure, value in values.items()
            ]
    return frame(rows, ["model", "corpus", "predictor", "measure", "value"])


def control(params: NliPermutationParams, store: Store | None = None) -> pd.DataFrame:
    """What re-joining a pair from its own words, in their own order, does to accuracy: nothing, ideally.

    Columns: model, corpus, accuracy, control, difference (control − accuracy), low, high (of the difference), n.
    """
    rows = []
    for model in params.models:
        for corpus in params.corpora:
            found = steps.scores(params, corpus, model, store=store)
            shift = found.control.astype(float) - found.correct
            mean, low, high, n = mean_interval(shift, within=DIFFERENCE)
            rows.append(
                (classifier_label(model), corpus, _mean(found.correct), _mean(found.control), mean, low, high, n)
            )
    return frame(rows, ["model", "corpus", "accuracy", "control", "difference", "low", "high", "n"])


def kept(params: NliPermutationParams, store: Store | None = None) -> pd.DataFrame:
    """How many pairs each variant keeps. Columns: corpus, scheme, n, of (pairs that it could have kept), share."""
    rows = []
    for corpus in params.corpora:
        whole = steps.n_pairs(params, corpus, store)
        for scheme in params.schemes():
            if scheme == HYPOTHESIS:  # the same pairs as with both sides
                continue
            n = len(steps.properties(params, corpus, scheme, store))
            rows.append((corpus, scheme, n, whole, n / whole if whole else float("nan")))
            whole = n if scheme == PERMUTED else whole
    return frame(rows, ["corpus", "scheme", "n", "of", "share"])


def left_out(params: NliPermutationParams, store: Store | None = None) -> pd.DataFrame:
    """What was not used and why. Columns: corpus, reason, n, example."""
    rows = []
    for corpus in params.corpora:
        extent = steps.extent(params, corpus, store).iloc[0]
        rows.append((corpus, "no gold label, or malformed", int(extent["skipped"]), extent["example"]))
        table = kept(params.model_copy(update={"corpora": [corpus]}), store)
        for scheme, n, of in zip(table["scheme"], table["n"], table["of"], strict=True):
            wanted = params.n_of(scheme)
            reason = f"a side has no {wanted} derangements"
            if share_of(scheme):
                reason = f"a side has no {wanted} derangements with {share_of(scheme):.0%} of its words kept together"
            rows.append((corpus, reason, of - n, ""))
    return frame(rows, ["corpus", "reason", "n", "example"])


def thresholds(params: NliPermutationParams, store: Store | None = None) -> pd.DataFrame:
    """Ω_x for every threshold x (Figure 7). Columns: model, corpus, threshold, omega, low, high, n."""
    frames = []
    for model in params.models:
        for corpus in params.corpora:
            found = steps.scores(params, corpus, model, store=store)
            curve = omega_curve(found.accepted)
            frames.append(curve.assign(model=classifier_label(model), corpus=corpus))
    columns = ["model", "corpus", "threshold", "omega", "low", "high", "n"]
    return _concat(frames, columns)[columns]


def entropies(params: NliPermutationParams, store: Store | None = None) -> pd.DataFrame:
    """Mean entropy, in nats, of each pair's accepted permutations (Figure 1): 0 is certain, ln 3 undecided.

    Columns: model, corpus, group ("D^c", "D^f"), pair, entropy. Pairs of which none is accepted are not there.
    """
    frames = []
    for model, corpus, found in _all_scores(params, store):
        values = accepted_entropy(found.entropies, found.accepted)
        groups = example_groups(found.accepted, found.correct)
        known = ~np.isnan(values)
        columns = {"pair": found.index[known], "group": groups[known], "entropy": values[known]}
        frames.append(_frame_of(columns).assign(model=classifier_label(model), corpus=corpus))
    order = ["model", "corpus", "group", "pair", "entropy"]
    return _concat(frames, order)[order]


def control_entropies(params: NliPermutationParams, store: Store | None = None) -> pd.DataFrame:
    """The median entropy, in nats, of the pairs re-joined in their own order: that of a model blind to word order.

    Such a model, a bag of words, is as sure of every permutation as it is of the control.
    Columns: model, corpus, value.
    """
    rows = [
        (classifier_label(model), corpus, _median(found.control_entropy))
        for model, corpus, found in _all_scores(params, store)
    ]
    return frame(rows, ["model", "corpus", "value"])


def entropy_means(params: NliPermutationParams, store: Store | None = None) -> pd.DataFrame:
    """The means of `entropies` with intervals. Columns: model, corpus, group, value, low, high, n."""
    rows = []
    for model, corpus, found in _all_scores(params, store):
        values = accepted_entropy(found.entropies, found.accepted)
        groups = example_groups(found.accepted, found.correct)
        for group, interval in by_group(values, groups, within=_NATS).items():
            rows.append((classifier_label(model), corpus, group, *interval))
    return frame(rows, ["model", "corpus", "group", *_INTERVAL])


def hypothesis_only(params: NliPermutationParams, store: Store | None = None) -> pd.DataFrame:
    """Both sides permuted against the hypothesis alone (Figure 8), on the same pairs.

    Columns: model, corpus, scheme ("permuted", "hypothesis"), measure ("omega_max", "p_correct", "p_flipped",
    "acceptance": the mean share of accepted permutations over all pairs), value, low, high, n. Empty where the run does
    not permute hypotheses alone.
    """
    rows = []
    for model in params.models if params.hypothesis_only else []:
        for corpus in params.corpora:
            for scheme in (PERMUTED, HYPOTHESIS):
                found = steps.scores(params, corpus, model, scheme, store)
                values = acceptance(found.accepted, found.correct)._asdict()
                rates = acceptance_rates(found.accepted)
                values["acceptance"] = share_interval(rates)
                rows += [
                    (classifier_label(model), corpus, scheme, measure, *values[measure])
                    for measure in ("omega_max", "p_correct", "p_flipped", "acceptance")
                ]
    return frame(rows, ["model", "corpus", "scheme", "measure", *_INTERVAL])


def max_entropy(params: NliPermutationParams, store: Store | None = None) -> pd.DataFrame:
    """𝒜 and Ω_max of each model as trained usually (V) and with maximum entropy (ME) (Table 5, Figure 4).

    Columns: model (the usual one), corpus, training ("V", "ME"), measure, value, low, high, n. The measures are the
    five of `results`, and beyond the paper "entropy" and "control_entropy": the mean entropy, in nats, of the answers
    to permuted pairs, accepted or not, and to the pairs re-joined in their own order.
    Empty where the run names no model trained so (parameter max_entropy).
    """
    rows = []
    for model, twin in params.max_entropy.items():
        for corpus in params.corpora:
            for training, name in (("V", model), ("ME", twin)):
                found = steps.scores(params, corpus, name, store=store)
                values: dict[str, Any] = acceptance(found.accepted, found.correct)._asdict()
                values["entropy"] = mean_interval(found.entropies.mean(axis=1), within=_NATS)
                values["control_entropy"] = mean_interval(found.control_entropy, within=_NATS)
                label = classifier_label(model)
                rows += [(label, corpus, training, measure, *interval) for measure, interval in values.items()]
    return frame(rows, ["model", "corpus", "training", "measure", *_INTERVAL])


def accuracy_beside_majority(params: NliPermutationParams, store: Store | None = None) -> pd.DataFrame:
    """𝒜 of every model and set beside what the most frequent label gets, on the kept pairs.

    Columns: model, corpus, accuracy, low, high, majority, n.
    """
    found = results(params, store).query("measure == 'accuracy' and corpus not in [@MEAN, @HARMONIC_MEAN]")
    floor = floor_table(params, store).query("predictor == 'constant' and measure == 'accuracy'")
    merged = found.merge(floor[["model", "corpus", "value"]], on=["model", "corpus"], suffixes=("", "_majority"))
    merged = merged.rename(columns={"value": "accuracy", "value_majority": "majority"})
    return merged[["model", "corpus", "accuracy", "low", "high", "majority", "n"]]


def groups_of(found: Scores) -> dict[str, np.ndarray]:
    """Which pairs of *found* are in D^c and in D^f, as boolean arrays."""
    groups = example_groups(found.accepted, found.correct)
    return {group: groups == group for group in (CORRECT, FLIPPED)}


def _all_scores(params: NliPermutationParams, store: Store | None) -> Iterable[tuple[str, str, Scores]]:
    for model in params.models:
        for corpus in params.corpora:
            yield model, corpus, steps.scores(params, corpus, model, store=store)


def frame(rows: Sequence[Sequence[Any]], columns: list[str]) -> pd.DataFrame:
    """A table of *rows* with these *columns*, also where there are no rows."""
    import pandas as pd

    return pd.DataFrame(rows, columns=columns)


def _frame_of(columns: dict[str, np.ndarray]) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(columns)


def _concat(frames: list[pd.DataFrame], columns: list[str]) -> pd.DataFrame:
    import pandas as pd

    return pd.concat(frames, ignore_index=True) if frames else frame([], columns)


def _median(values: np.ndarray) -> float:
    return float(np.median(values)) if len(values) else float("nan")


def _mean(values: np.ndarray) -> float:
    return float(values.mean()) if len(values) else float("nan")


# ----------------------------------------------------------------------------
# What accepted permutations have in common: local order kept (Figures 2 and 9), mini-trees (3), length (5).
#
# The unit of every interval is the pair; a model's pairs of all sets are looked at together, as the paper
# does.

#: Edges of the bins of BLEU and of the mini-tree ratio.
BLEU_EDGES = np.round(np.linspace(0, 1, 21), 2)


RATIO_EDGES = np.round(np.arange(0, 2.05, 0.1), 1)


#: Bins of length hold about equally many pairs.
LENGTH_BINS = 8


_BINS = ["left", "right", "rate", "low", "high", "permutations", "examples"]


def bleu_effect(params: NliPermutationParams, store: Store | None = None) -> pd.DataFrame:
    """The share of accepted permutations by their BLEU-2 against the original (Figure 2).

    Columns: model, left, right (of the bin), rate, low, high, permutations, examples (pairs); bins without permutations
    are not there.
    """
    return _binned(params, PERMUTED, store)


def _binned(params: NliPermutationParams, scheme: str, store: Store | None) -> pd.DataFrame:
    rows = []
    for model in params.models:
        values, accepted = [], []
        for corpus in params.corpora:
            values.append(_bleu(params, corpus, scheme, 2, store))
            accepted.append(steps.scores(params, corpus, model, scheme, store).accepted)
        rows.append(
            _bins(np.vstack(values), np.vstack(accepted), BLEU_EDGES, params).assign(model=classifier_label(model))
        )
    return _stack(rows, ["model", *_BINS])


def clump_effect(params: NliPermutationParams, store: Store | None = None) -> pd.DataFrame:
    """The share of accepted permutations by their BLEU-2, -3 and -4, clumped ones and others together (Figure 9).

    Columns: model, order (2, 3, 4), left, right, rate, low, high, permutations, examples. Empty where the run
    keeps no words together.
    """
    rows = []
    for model in params.models if params.clumps else []:
        for order in steps.BLEU_ORDERS:
            values, accepted = _of_all_schemes(params, model, order, store)
            rows.append(_bins(values, accepted, BLEU_EDGES, params).assign(model=classifier_label(model), order=order))
    return _stack(rows, ["model", "order", *_BINS])


def _of_all_schemes(
    params: NliPermutationParams, model: str, order: int, store: Store | None
) -> tuple[np.ndarray, np.ndarray]:
    """BLEU and acceptance of every permutation of both sides, pairs × (permutations of all variants).

    A pair is one row, so that its permutations of all variants are resampled together; NaN where a variant dropped it.
    """
    schemes = [scheme for scheme in params.schemes() if scheme != HYPOTHESIS]
    values, accepted = [], []
    for corpus in params.corpora:
        base = steps.properties(params, corpus, PERMUTED, store)["index"].to_numpy()
        for_corpus, taken = [], []
        for scheme in schemes:
            found = steps.scores(params, corpus, model, scheme, store)
            rows = np.searchsorted(base, found.index)
            bleu = np.full((len(base), params.n_of(scheme)), np.nan)
            bleu[rows] = _bleu(params, corpus, scheme, order, store)
            right = np.zeros(bleu.shape, dtype=bool)
            right[rows] = found.accepted
            for_corpus.append(bleu)
            taken.append(right)
        values.append(np.hstack(for_corpus))
        accepted.append(np.hstack(taken))
    return np.vstack(values), np.vstack(accepted)


def clump_means(params: NliPermutationParams, store: Store | None = None) -> pd.DataFrame:
    """Mean acceptance and mean BLEU by how many of the words stay together (Appendix D).

    Columns: model, share (0: none), value (share of permutations accepted), low, high, n (pairs), bleu2, bleu3, bleu4.
    """
    rows = []
    for model in params.models if params.clumps else []:
        for scheme in params.schemes():
            if scheme == HYPOTHESIS:
                continue
            rates, bleu = [], []
            for corpus in params.corpora:
                rates.append(acceptance_rates(steps.scores(params, corpus, model, scheme, store).accepted))
                bleu.append([_bleu(params, corpus, scheme, order, store) for order in steps.BLEU_ORDERS])
            means = [float(np.mean(np.vstack(part))) if part else np.nan for part in zip(*bleu, strict=True)]
            interval = share_interval(np.concatenate(rates))
            rows.append((classifier_label(model), share_of(scheme) or 0.0, *interval, *means))
    return frame(rows, ["model", "share", "value", "low", "high", "n", *(f"bleu{n}" for n in steps.BLEU_ORDERS)])


def mini_tree_effect(params: NliPermutationParams, store: Store | None = None) -> pd.DataFrame:
    """The share of accepted permutations by their POS mini-tree overlap ratio β_Ŝ / β_S (Figure 3).

    Columns as `bleu_effect`. Empty where a set or the training corpus has no parts of speech.
    """
    rows = []
    for model in params.models if steps.has_parts_of_speech(params) else []:
        values = np.vstack([steps.ratios(params, corpus, store) for corpus in params.corpora])
        accepted = np.vstack([steps.scores(params, corpus, model, store=store).accepted for corpus in params.corpora])
        rows.append(_bins(values, accepted, RATIO_EDGES, params).assign(model=classifier_label(model)))
    return _stack(rows, ["model", *_BINS])


def length_effect(params: NliPermutationParams, store: Store | None = None) -> pd.DataFrame:
    """The share of accepted permutations by the length of the pair, for D^c and D^f apart (Figure 5).

    Columns: model, group ("D^c", "D^f"), left, right (tokens of both sides, punctuation included), rate, low, high,
    permutations, examples. Bins hold about equally many pairs of all sets; they are the same for all models.
    """
    lengths = [steps.properties(params, corpus, PERMUTED, store)["length"].to_numpy() for corpus in params.corpora]
    together = np.concatenate(lengths)
    if not len(together):
        return frame([], ["model", "group", *_BINS])
    edges = np.unique(np.quantile(together, np.linspace(0, 1, LENGTH_BINS + 1)).round())
    if len(edges) < 2:
        edges = np.array([edges[0], edges[0] + 1])
    rows = []
    for model in params.models:
        found = [steps.scores(params, corpus, model, store=store) for corpus in params.corpora]
        accepted = np.vstack([part.accepted for part in found])
        groups = [groups_of(part) for part in found]
        for group in groups[0]:
            members = np.concatenate([part[group] for part in groups])
            table = _bins(together[members, None].astype(float), accepted[members], edges, params)
            rows.append(table.assign(model=classifier_label(model), group=group))
    return _stack(rows, ["model", "group", *_BINS])


def _bleu(params: NliPermutationParams, corpus: str, scheme: str, order: int, store: Store | None) -> np.ndarray:
    table = steps.properties(params, corpus, scheme, store)
    return steps.stacked(table[f"bleu{order}"], params.n_of(scheme), np.float32)


def _bins(values: np.ndarray, accepted: np.ndarray, edges: np.ndarray, params: NliPermutationParams) -> pd.DataFrame:
    """`acceptance_by` without empty bins."""
    table = acceptance_by(values, accepted, edges)
    return table[table["permutations"] > 0]


def _stack(frames: list[pd.DataFrame], columns: list[str]) -> pd.DataFrame:
    import pandas as pd

    return pd.concat(frames, ignore_index=True)[columns] if frames else frame([], columns)
