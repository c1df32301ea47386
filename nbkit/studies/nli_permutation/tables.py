"""Tables of the NLI permutation study over models and sets, every value with an interval over pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import product
from math import log
from statistics import fmean, harmonic_mean
from typing import TYPE_CHECKING, Any

import numpy as np

from nbkit.corpora.nli import LABELS
from nbkit.errors import NbkitError
from nbkit.measure.acceptance import (
    CORRECT,
    FLIPPED,
    NEITHER,
    TAGS,
    Acceptance,
    MiniTrees,
    acceptance,
    acceptance_by,
    acceptance_rates,
    accepted_entropy,
    by_group,
    example_groups,
    floors,
    neighbourhoods,
    omega_curve,
    p_correct_as_coded,
)
from nbkit.measure.statistics import DIFFERENCE, Interval, mean_interval, share_interval
from nbkit.models import classifier_label
from nbkit.seeding import address
from nbkit.store import Store
from nbkit.studies.engine import as_table
from nbkit.studies.nli_permutation import steps
from nbkit.studies.nli_permutation.params import HYPOTHESIS, PERMUTED, NliPermutationParams, share_of
from nbkit.studies.nli_permutation.steps import CHUNK, Permuted, Scores, outcomes, permute, read_chunk
from nbkit.text.sentences import Sentence

if TYPE_CHECKING:
    import pandas as pd

#: What stands in the column corpus of the rows that summarise a model.
MEAN, HARMONIC_MEAN = "Mean", "Harmonic Mean"
_AVERAGES: dict[str, Callable[[list[float]], float]] = {MEAN: fmean, HARMONIC_MEAN: harmonic_mean}

_INTERVAL = ("value", "low", "high", "n")
_RESULT = ("model", "corpus", "measure", *_INTERVAL)
_MEASURED = (*Acceptance._fields, "p_correct_coded")
# The range of the entropy of an answer: certain, and undecided between the labels.
_NATS = (0.0, log(len(LABELS)))
_NOTHING = float("nan")


@as_table(*_RESULT)
def results(params: NliPermutationParams, store: Store | None = None) -> Iterator[Any]:
    """𝒜, Ω_max, 𝒫^c, 𝒫^f and Ω_rand of every model and set (Tables 2 to 4), and their means over the sets.

    Columns: model, corpus, measure (accuracy, omega_max, p_correct, p_flipped, omega_rand, and p_correct_coded: 𝒫^c as
    the research code computes it), value, low, high, n (pairs the value is over). With several sets, rows whose corpus
    is "Mean" or "Harmonic Mean" follow each model's own, without interval; n is then the number of sets. Where a model
    refused to label permutations, which are then not accepted, the measure refused is their share.
    """
    return _results(
        (model, corpus, found.accepted, found.correct, found.answered.mean(axis=1))
        for model, corpus, found in _scored(params, store)
    )


@outcomes.table
@as_table(*_RESULT)
def results_of_outcomes(found: pd.DataFrame) -> Iterator[Any]:
    """`results`, from outcomes alone; a set of which no pair was usable is not among them."""
    names = ("corpus", "scheme", "comparison")
    rows = found.assign(**{name: [groups[name] for groups in found["groups"]] for name in names})
    rows = rows[rows["comparison"] == "main"]
    return _results(
        (str(model), str(corpus), *_matrix(own))
        for model, of_model in rows.groupby("system", sort=False)
        for corpus, own in of_model.groupby("corpus", sort=False)
    )


def _matrix(rows: pd.DataFrame) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Whether each permutation of a pair is accepted, whether its original is right, and the share of answers.

    One row per pair. A pair that the set holds twice is two rows; in which order permutations stand says nothing.
    """
    originals, permuted = (
        rows[rows["scheme"] == name].groupby("cluster", sort=False)["value"] for name in ("original", PERMUTED)
    )
    correct, copies = originals.first().to_numpy(float), originals.size()
    n = (permuted.size() / copies).astype(int).max()
    accepted = np.arange(n) < (permuted.sum() / copies).round().to_numpy()[:, None]
    answered = (permuted.count() / permuted.size()).to_numpy()
    return np.repeat(accepted, copies, axis=0), np.repeat(correct, copies), np.repeat(answered, copies)


def _results(measured: Iterable[tuple[str, str, np.ndarray, np.ndarray, np.ndarray]]) -> Iterator[Any]:
    """The rows of `results`. measured: model, set, and what `_matrix` returns."""
    rows: dict[str, dict[str, dict[str, Interval]]] = {}
    for model, corpus, accepted, correct, answered in measured:
        values = {**acceptance(accepted, correct)._asdict(), "p_correct_coded": p_correct_as_coded(accepted, correct)}
        if (answered < 1).any():
            values["refused"] = share_interval(1 - answered)
        rows.setdefault(model, {})[corpus] = values
    for model, sets in rows.items():
        yield from ((model, corpus, name, *each) for corpus, values in sets.items() for name, each in values.items())
        if len(sets) > 1:
            # A set with the value 0 makes the harmonic mean 0.
            for (label, mean), name in product(_AVERAGES.items(), _MEASURED):
                known = [float(own[name].mean) for own in sets.values() if not np.isnan(own[name].mean)]
                yield model, label, name, mean(known) if known else _NOTHING, _NOTHING, _NOTHING, len(known)


@as_table("model", "corpus", "predictor", "measure", "value")
def floor_table(params: NliPermutationParams, store: Store | None = None) -> Iterator[Any]:
    """What predictors that cannot read word order would get on the same pairs, beside every model.

    Columns: model, corpus, predictor ("constant", "bag of words", "chance"), measure, value. The constant predictor's
    accuracy is the share of the most frequent label among the kept pairs.
    """
    for model, corpus, found in _scored(params, store):
        for predictor, values in floors(found.label, found.correct, params.permutations).iterrows():
            yield from ((model, corpus, predictor, measure, float(value)) for measure, value in values.items())


@as_table("model", "corpus", "accuracy", "control", "difference", "low", "high", "n")
def control(params: NliPermutationParams, store: Store | None = None) -> Iterator[Any]:
    """What re-joining a pair from its own words, in their own order, does to accuracy: nothing, ideally.

    Columns: model, corpus, accuracy, control, difference (control − accuracy), low, high (of the difference), n (pairs
    of which the classifier answered both).
    """
    for model, corpus, found in _scored(params, store):
        shifts = found.control - found.correct
        both = (_of_known(np.mean, values[~np.isnan(shifts)]) for values in (found.correct, found.control))
        yield model, corpus, *both, *mean_interval(shifts, within=DIFFERENCE)


@as_table("corpus", "scheme", "n", "of", "share")
def kept(params: NliPermutationParams, store: Store | None = None) -> Iterator[Any]:
    """How many pairs each variant keeps. Columns: corpus, scheme, n, of (pairs that it could have kept), share."""
    for corpus in params.corpora:
        whole = steps.n_pairs(params, corpus, store)
        for scheme in _of_both_sides(params):
            n = len(steps.properties(params, corpus, scheme, store))
            yield corpus, scheme, n, whole, n / whole if whole else _NOTHING
            whole = n if scheme == PERMUTED else whole


@as_table("corpus", "reason", "n", "example")
def left_out(params: NliPermutationParams, store: Store | None = None) -> Iterator[Any]:
    """What was not used and why. Columns: corpus, reason, n, example."""
    table = kept(params, store)
    for corpus in params.corpora:
        read = steps.extent(params, corpus, store=store).iloc[0]
        yield corpus, "no gold label, or malformed", int(read["skipped"]), read["example"]
        own = table[table["corpus"] == corpus]
        for scheme, n, of in zip(own["scheme"], own["n"], own["of"], strict=True):
            share = share_of(scheme)
            together = f" with {share:.0%} of its words kept together" if share else ""
            yield corpus, f"a side has no {params.n_of(scheme)} derangements{together}", of - n, ""


@as_table("model", "corpus", "threshold", "omega", "low", "high", "n")
def thresholds(params: NliPermutationParams, store: Store | None = None) -> Iterator[Any]:
    """Ω_x for every threshold x (Figure 7). Columns: model, corpus, threshold, omega, low, high, n."""
    for model, corpus, found in _scored(params, store):
        yield omega_curve(found.accepted).assign(model=model, corpus=corpus)


@as_table("model", "corpus", "group", "pair", "entropy")
def entropies(params: NliPermutationParams, store: Store | None = None) -> Iterator[Any]:
    """Mean entropy, in nats, of each pair's accepted permutations (Figure 1): 0 is certain, ln 3 undecided.

    Columns: model, corpus, group ("D^c", "D^f"), pair, entropy. Pairs of neither group are not there.
    """
    for model, corpus, found in _scored(params, store):
        for pair, group, value in zip(found.index, *_unsure(found), strict=True):
            if group != NEITHER and not np.isnan(value):
                yield model, corpus, group, pair, value


@as_table("model", "corpus", "value")
def control_entropies(params: NliPermutationParams, store: Store | None = None) -> Iterator[Any]:
    """The median entropy, in nats, of the pairs re-joined in their own order: that of a model blind to word order.

    Such a model, a bag of words, is as sure of every permutation as it is of the control. Refusals are excluded.
    Columns: model, corpus, value (NaN where the model answered none).
    """
    for model, corpus, found in _scored(params, store):
        yield model, corpus, _of_known(np.median, found.control_entropy)


@as_table("model", "corpus", "group", *_INTERVAL)
def entropy_means(params: NliPermutationParams, store: Store | None = None) -> Iterator[Any]:
    """The means of `entropies` with intervals. Columns: model, corpus, group, value, low, high, n."""
    for model, corpus, found in _scored(params, store):
        groups, values = _unsure(found)
        yield from ((model, corpus, group, *each) for group, each in by_group(values, groups, within=_NATS).items())


def _unsure(found: Scores) -> tuple[np.ndarray, np.ndarray]:
    """Of each pair: its set, and the mean entropy of its accepted permutations."""
    return example_groups(found.accepted, found.correct), accepted_entropy(found.entropies, found.accepted)


@as_table("model", "corpus", "scheme", "measure", *_INTERVAL)
def hypothesis_only(params: NliPermutationParams, store: Store | None = None) -> Iterator[Any]:
    """Both sides permuted against the hypothesis alone (Figure 8), on the same pairs.

    Columns: model, corpus, scheme ("permuted", "hypothesis"), measure ("omega_max", "p_correct", "p_flipped",
    "acceptance": the mean share of accepted permutations over all pairs), value, low, high, n. Empty where the run does
    not permute hypotheses alone.
    """
    models = params.models if params.hypothesis_only else ()
    for model, corpus, scheme in product(models, params.corpora, (PERMUTED, HYPOTHESIS)):
        found = steps.scores(params, corpus, model, scheme, store)
        values: dict[str, Interval] = acceptance(found.accepted, found.correct)._asdict()
        values["acceptance"] = share_interval(acceptance_rates(found.accepted))
        for measure in ("omega_max", "p_correct", "p_flipped", "acceptance"):
            yield classifier_label(model), corpus, scheme, measure, *values[measure]


@as_table("model", "corpus", "training", "measure", *_INTERVAL)
def max_entropy(params: NliPermutationParams, store: Store | None = None) -> Iterator[Any]:
    """𝒜 and Ω_max of each model as trained usually (V) and with maximum entropy (ME) (Table 5, Figure 4).

    Columns: model (the usual one), corpus, training ("V", "ME"), measure, value, low, high, n. The measures are the
    five of `results`, and beyond the paper "entropy" and "control_entropy": the mean entropy, in nats, of the answers
    to permuted pairs, accepted or not, and to the pairs re-joined in their own order. Both exclude refusals.
    Empty where the run names no model trained so (parameter max_entropy).
    """
    for (model, twin), corpus in product(params.max_entropy.items(), params.corpora):
        for training, name in (("V", model), ("ME", twin)):
            found = steps.scores(params, corpus, name, store=store)
            values: dict[str, Interval] = acceptance(found.accepted, found.correct)._asdict()
            values["entropy"] = mean_interval(accepted_entropy(found.entropies, found.answered), within=_NATS)
            values["control_entropy"] = mean_interval(found.control_entropy, within=_NATS)
            for measure, interval in values.items():
                yield classifier_label(model), corpus, training, measure, *interval


def accuracy_beside_majority(params: NliPermutationParams, store: Store | None = None) -> pd.DataFrame:
    """𝒜 of every model and set beside what the most frequent label gets, on the kept pairs.

    Columns: model, corpus, accuracy, low, high, majority, n.
    """
    found = results(params, store).query("measure == 'accuracy' and corpus not in [@MEAN, @HARMONIC_MEAN]")
    floor = floor_table(params, store).query("predictor == 'constant' and measure == 'accuracy'")
    merged = found.merge(floor[["model", "corpus", "value"]], on=["model", "corpus"], suffixes=("", "_majority"))
    merged = merged.rename(columns={"value": "accuracy", "value_majority": "majority"})
    return merged[["model", "corpus", "accuracy", "low", "high", "majority", "n"]]


def _scored(params: NliPermutationParams, store: Store | None) -> Iterator[tuple[str, str, Scores]]:
    """Each model, by its label, and set with its scores on permutations of both sides."""
    for model, corpus in product(params.models, params.corpora):
        yield classifier_label(model), corpus, steps.scores(params, corpus, model, store=store)


def _of_both_sides(params: NliPermutationParams) -> list[str]:
    """The variants that permute premise and hypothesis; the other one keeps the pairs of the first."""
    return [scheme for scheme in params.schemes() if scheme != HYPOTHESIS]


def _of_known(average: Callable[..., Any], values: np.ndarray) -> float:
    known = values[~np.isnan(values)]
    return float(average(known)) if len(known) else _NOTHING


# ----------------------------------------------------------------------------
# What accepted permutations have in common: local order kept (Figures 2 and 9), mini-trees (3), length (5).
#
# The unit of every interval is the pair; a model's pairs of all sets are looked at together, as the paper does.

#: Edges of the bins of BLEU and of the mini-tree ratio.
BLEU_EDGES = np.round(np.linspace(0, 1, 21), 2)
RATIO_EDGES = np.round(np.arange(0, 2.05, 0.1), 1)
#: Bins of length hold about equally many pairs.
LENGTH_BINS = 8

_BINS = ("left", "right", "rate", "low", "high", "permutations", "examples")


@as_table("model", *_BINS)
def bleu_effect(params: NliPermutationParams, store: Store | None = None) -> Iterator[Any]:
    """The share of accepted permutations by their BLEU-2 against the original (Figure 2).

    Columns: model, left, right (of the bin), rate, low, high, permutations, examples (pairs); bins without permutations
    are not there.
    """
    return _effect(params, BLEU_EDGES, lambda corpus: _bleu(params, corpus, PERMUTED, 2, store), store)


@as_table("model", *_BINS)
def mini_tree_effect(params: NliPermutationParams, store: Store | None = None) -> Iterator[Any]:
    """The share of accepted permutations by their POS mini-tree overlap ratio β_Ŝ / β_S (Figure 3).

    Columns as `bleu_effect`. Empty where a set or the training corpus has no parts of speech.
    """
    if not steps.has_parts_of_speech(params):
        return iter(())
    return _effect(params, RATIO_EDGES, lambda corpus: steps.ratios(params, corpus, store), store)


def _effect(
    params: NliPermutationParams, edges: np.ndarray, measured: Callable[[str], np.ndarray], store: Store | None
) -> Iterator[pd.DataFrame]:
    """Acceptance by what is *measured* of each permutation of a set, a model at a time."""
    for model in params.models:
        values = np.vstack([measured(corpus) for corpus in params.corpora])
        accepted = np.vstack([found.accepted for found in _of_all_sets(params, model, PERMUTED, store)])
        yield _bins(values, accepted, edges, model=classifier_label(model))


@as_table("model", "order", *_BINS)
def clump_effect(params: NliPermutationParams, store: Store | None = None) -> Iterator[Any]:
    """The share of accepted permutations by their BLEU-2, -3 and -4, clumped ones and others together (Figure 9).

    Columns: model, order (2, 3, 4), left, right, rate, low, high, permutations, examples. Empty where the run
    keeps no words together.
    """
    for model, order in product(params.models if params.clumps else (), steps.BLEU_ORDERS):
        values, accepted = _of_all_schemes(params, model, order, store)
        yield _bins(values, accepted == 1, BLEU_EDGES, model=classifier_label(model), order=order)


def _of_all_schemes(params: NliPermutationParams, model: str, order: int, store: Store | None) -> np.ndarray:
    """BLEU and acceptance of every permutation of both sides: 2 × pairs × (permutations of all variants).

    A pair is one row, so that its permutations of all variants are resampled together; NaN where a variant dropped it.
    """
    sets = []
    for corpus in params.corpora:
        base = steps.properties(params, corpus, PERMUTED, store)["index"].to_numpy()
        of_variants = []
        for scheme in _of_both_sides(params):
            found = steps.scores(params, corpus, model, scheme, store)
            both = np.full((2, len(base), params.n_of(scheme)), np.nan)
            both[:, np.searchsorted(base, found.index)] = _bleu(params, corpus, scheme, order, store), found.accepted
            of_variants.append(both)
        sets.append(np.concatenate(of_variants, axis=2))
    return np.concatenate(sets, axis=1)


@as_table("model", "share", *_INTERVAL, *(f"bleu{order}" for order in steps.BLEU_ORDERS))
def clump_means(params: NliPermutationParams, store: Store | None = None) -> Iterator[Any]:
    """Mean acceptance and mean BLEU by how many of the words stay together (Appendix D).

    Columns: model, share (0: none), value (share of permutations accepted), low, high, n (pairs), bleu2, bleu3, bleu4.
    """
    for model, scheme in product(params.models if params.clumps else (), _of_both_sides(params)):
        rates = [acceptance_rates(found.accepted) for found in _of_all_sets(params, model, scheme, store)]
        bleu = (
            np.mean(np.vstack([_bleu(params, corpus, scheme, order, store) for corpus in params.corpora]))
            for order in steps.BLEU_ORDERS
        )
        share = share_of(scheme) or 0.0
        yield classifier_label(model), share, *share_interval(np.concatenate(rates)), *map(float, bleu)


@as_table("model", "group", *_BINS)
def length_effect(params: NliPermutationParams, store: Store | None = None) -> Iterator[Any]:
    """The share of accepted permutations by the length of the pair, for D^c and D^f apart (Figure 5).

    Columns: model, group ("D^c", "D^f"), left, right (tokens of both sides, punctuation included), rate, low, high,
    permutations, examples. Bins hold about equally many pairs of all sets; they are the same for all models.
    """
    lengths = [steps.properties(params, corpus, PERMUTED, store)["length"].to_numpy() for corpus in params.corpora]
    together = np.concatenate(lengths)
    if not len(together):
        return
    edges = np.unique(np.quantile(together, np.linspace(0, 1, LENGTH_BINS + 1)).round())
    if len(edges) < 2:
        edges = np.array([edges[0], edges[0] + 1])
    for model in params.models:
        found = _of_all_sets(params, model, PERMUTED, store)
        accepted = np.vstack([part.accepted for part in found])
        groups = np.concatenate([example_groups(part.accepted, part.correct) for part in found])
        for group in (CORRECT, FLIPPED):
            own, label = groups == group, classifier_label(model)
            yield _bins(together[own, None].astype(float), accepted[own], edges, model=label, group=group)


def _of_all_sets(params: NliPermutationParams, model: str, scheme: str, store: Store | None) -> list[Scores]:
    return [steps.scores(params, corpus, model, scheme, store) for corpus in params.corpora]


def _bleu(params: NliPermutationParams, corpus: str, scheme: str, order: int, store: Store | None) -> np.ndarray:
    table = steps.properties(params, corpus, scheme, store)
    return steps.stacked(table[f"bleu{order}"], params.n_of(scheme), np.float32)


def _bins(values: np.ndarray, accepted: np.ndarray, edges: np.ndarray, **of: Any) -> pd.DataFrame:
    """`acceptance_by` without empty bins, with the columns *of* what it is."""
    table = acceptance_by(values, accepted, edges)
    return table[table["permutations"] > 0].assign(**of)


# ----------------------------------------------------------------------------
# Pairs to read: accepted nonsense (Table 1), permutations as such, one word (Figure 6), and what human annotators are
# asked (Table 6).


@as_table(
    *("model", "corpus", "label", "pair", "premise", "hypothesis"),
    *("permuted_premise", "permuted_hypothesis", "accepted"),
)
def accepted_examples(params: NliPermutationParams, k: int = 1, store: Store | None = None) -> Iterator[Any]:
    """*k* pairs a gold label, model and set of which the original and a permutation get that label (Table 1).

    Drawn with addressed randomness among D^c. Columns: model, corpus, label, pair, premise, hypothesis,
    permuted_premise, permuted_hypothesis, accepted (share of the pair's permutations that get the label).
    """
    for model, corpus in product(params.models, params.corpora):
        found = steps.scores(params, corpus, model, store=store)
        rates = found.accepted.mean(axis=1)
        chosen: list[int] = []
        for label in LABELS:
            own = np.flatnonzero((found.label == label) & (found.correct == 1) & (rates > 0))
            chosen += _drawn(own, k, params.seed, "accepted examples", corpus, model)
        places = [(int(found.index[i]), int(found.accepted[i].argmax())) for i in chosen]
        for i, (item, *texts) in zip(chosen, _texts(params, corpus, places, store), strict=True):
            yield classifier_label(model), corpus, item.pair.label, item.pair.id, *texts, float(rates[i])


@as_table("corpus", "scheme", "label", "pair", "premise", "hypothesis")
def permutation_examples(params: NliPermutationParams, k: int = 2, store: Store | None = None) -> Iterator[Any]:
    """The first kept pair of each set under every variant, *k* permutations of each; needs no model.

    Columns: corpus, scheme ("original" too), label, pair, premise, hypothesis.
    """
    for corpus in params.corpora:
        for pair in read_chunk(params, corpus, 0, store or Store()):
            found = [(scheme, permute(params, pair, scheme)) for scheme in params.schemes()]
            texts = [(scheme, both.texts()[:k]) for scheme, both in found if both is not None]
            if len(texts) == len(found):
                yield corpus, "original", pair.label, pair.id, pair.premise.text, pair.hypothesis.text
                yield from ((corpus, scheme, pair.label, pair.id, *each) for scheme, own in texts for each in own)
                break


@as_table(
    *("premise", "hypothesis", "label", "stratum", "length_group", "length", "pair", "permutation"),
    *("original_premise", "original_hypothesis", "corpus", "model"),
)
def annotation_sample(
    params: NliPermutationParams, n: int = 200, *, model: str | None = None, corpus: str | None = None,
    store: Store | None = None,
) -> Iterator[Any]:  # fmt: skip
    """*n* permuted pairs that *model* accepts, for human annotators (§8): what `nbkit.measure.forms.make_form` takes.

    Half of them short, half long (below or above the median length of the accepted pairs); half of each from D^c and
    half from D^f, as far as there are so many; one permutation a pair, drawn with addressed randomness.
    model, corpus: by default the first of the run.

    Columns: premise, hypothesis (permuted), label (gold), stratum ("D^c", "D^f"), length_group ("short", "long"),
    length, pair, permutation (its number), original_premise, original_hypothesis, corpus, model.
    Raises `NbkitError` where the run has no model, or fewer than *n* pairs have an accepted permutation.
    """
    if model is None and not params.models:
        raise NbkitError("an annotation sample is of permutations that a model accepts: name one in models")
    model, corpus = model or params.models[0], corpus or params.corpora[0]
    found = steps.scores(params, corpus, model, store=store)
    accepted = np.flatnonzero(found.accepted.any(axis=1))
    if len(accepted) < n:
        raise NbkitError(
            f"an annotation sample of {n} pairs: '{model}' accepts a permutation of only {len(accepted)} pairs of "
            f"{corpus}; ask for fewer, or read more pairs (n_pairs)"
        )
    of = example_groups(found.accepted, found.correct)
    sizes = np.where(found.length > np.median(found.length[accepted]), "long", "short")
    strata: dict[tuple[str, str], list[int]] = {key: [] for key in product(("short", "long"), (CORRECT, FLIPPED))}
    for i in map(int, accepted):
        strata[sizes[i], of[i]].append(i)
    chosen = _balanced(strata, n, params.seed, corpus, model)
    where = (params.seed, corpus, model)
    numbers = [_drawn(np.flatnonzero(found.accepted[i]), 1, *where, i)[0] for i, _ in chosen]
    places = [(int(found.index[i]), number) for (i, _), number in zip(chosen, numbers, strict=True)]
    texts = _texts(params, corpus, places, store)
    for (i, (size, stratum)), number, (item, *originals, premise, hypothesis) in zip(
        chosen, numbers, texts, strict=True
    ):
        of_pair = (str(found.label[i]), stratum, size, int(found.length[i]), item.pair.id, number)
        yield premise, hypothesis, *of_pair, *originals, corpus, classifier_label(model)


def _balanced(
    strata: dict[tuple[str, str], list[int]], n: int, seed: int, corpus: str, model: str
) -> list[tuple[int, tuple[str, str]]]:
    """*n* members of *strata*, as equally many of each as there are; what one lacks the others give."""
    ranked = {key: _drawn(members, len(members), seed, "annotation", corpus, model) for key, members in strata.items()}
    quota = dict.fromkeys(ranked, 0)
    while sum(quota.values()) < n:
        # The stratum with the fewest chosen so far that has one left; in the order of the strata where several have.
        free = [key for key in ranked if quota[key] < len(ranked[key])]
        quota[min(free, key=lambda key: quota[key])] += 1
    return [(i, key) for key, members in ranked.items() for i in members[: quota[key]]]


def _drawn(members: Iterable[int], k: int, *where: object) -> list[int]:
    """*k* of *members*, drawn with addressed randomness."""
    return sorted((int(i) for i in members), key=lambda i: address(*where, i))[:k]


def _texts(
    params: NliPermutationParams, corpus: str, places: list[tuple[int, int]], store: Store | None
) -> list[tuple[Permuted, str, str, str, str]]:
    """The pairs at *places* (index, number of the permutation), each with its four texts."""
    items: dict[int, Permuted] = {}
    for index in sorted({index for index, _ in places}):  # chunk by chunk
        pair = read_chunk(params, corpus, index - index % CHUNK, store or Store())[index % CHUNK]
        permuted = permute(params, pair, PERMUTED)
        assert permuted is not None
        items[index] = Permuted(index, pair, permuted)
    return [(item := items[index], *item.original, *item.permuted.texts()[number]) for index, number in places]


@as_table("corpus", "word", "where", "tag", "probability", "in_top", "sentence")
def word_signature(
    params: NliPermutationParams, corpus: str | None = None, word: str | None = None, store: Store | None = None
) -> Iterator[Any]:
    """The mini-tree of one word in training, in one test sentence and in its first permutation (Figure 6).

    corpus: by default the first of the run. word: by default the noun of the first pairs that training has most often.
    Columns: corpus, word, where ("training", "original", "permuted"), tag, probability, in_top (among its k most
    probable), sentence (the text looked at, none for training).
    Empty where there are no parts of speech, or no kept pair of the first ones has the word.
    """
    store, corpus = store or Store(), corpus or params.corpora[0]
    if not steps.has_parts_of_speech(params):
        return
    trees = MiniTrees.from_frame(steps.training_trees(params, store=store))
    found = _occurrence(params, corpus, word, trees, store)
    if found is None:
        return
    name, sentence, order, place = found
    moved = neighbourhoods(_reordered(sentence, order), params.radius)[list(order).index(place)]
    learned = trees.distribution(name)
    assert learned is not None
    for where, values, text in (
        ("training", learned, ""),
        ("original", neighbourhoods(sentence, params.radius)[place], sentence.joined),
        ("permuted", moved, sentence.reorder(order)),
    ):
        top = np.argsort(-values, kind="stable")[: params.top_k]
        for i, (tag, p) in enumerate(zip(TAGS, values, strict=True)):
            yield corpus, name, where, tag, float(p), bool(i in top and p > 0), text


def _occurrence(
    params: NliPermutationParams, corpus: str, word: str | None, trees: MiniTrees, store: Store
) -> tuple[str, Sentence, np.ndarray, int] | None:
    """The word, a sentence that has it, that sentence's first permutation, and the word's place."""
    found: list[tuple[int, str, Sentence, np.ndarray, int]] = []
    for pair in read_chunk(params, corpus, 0, store):
        both = permute(params, pair, PERMUTED)
        if both is not None:
            order = both.premise_orders[0]
            assert both.premise.upos is not None and order is not None
            for place, (token, tag) in enumerate(zip(both.premise.tokens, both.premise.upos, strict=True)):
                form = token.casefold()
                wanted = tag == "NOUN" if word is None else form == word.casefold()
                if wanted and form in trees:
                    found.append((int(trees.occurrences[trees.words[form]]), form, both.premise, order, place))
    most = max(found, key=lambda each: each[0], default=None)
    return most[1:] if most and most[0] else None


def _reordered(sentence: Sentence, order: np.ndarray) -> Sentence:
    assert sentence.upos is not None
    tags = tuple(sentence.upos[i] for i in order)
    return Sentence(tuple(sentence.tokens[i] for i in order), sentence.lang, upos=tags)
