"""Pairs to read: accepted nonsense (Table 1), permutations as such, and what human annotators are asked (Table 6)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from nbkit.corpora.nli import LABELS
from nbkit.errors import NbkitError
from nbkit.measure.acceptance import CORRECT, FLIPPED, example_groups
from nbkit.models import classifier_label
from nbkit.seeding import address
from nbkit.store import Store
from nbkit.studies.nli_permutation import steps
from nbkit.studies.nli_permutation.params import PERMUTED, NliPermutationParams
from nbkit.studies.nli_permutation.steps import CHUNK, Permuted, permute, read_chunk
from nbkit.studies.nli_permutation.tables import frame

if TYPE_CHECKING:
    import pandas as pd

_TEXTS = ["premise", "hypothesis", "permuted_premise", "permuted_hypothesis"]


def accepted_examples(params: NliPermutationParams, k: int = 1, store: Store | None = None) -> pd.DataFrame:
    """*k* pairs a gold label, model and set of which the original and a permutation get that label (Table 1).

    Drawn with addressed randomness among D^c. Columns: model, corpus, label, pair, premise, hypothesis,
    permuted_premise, permuted_hypothesis, accepted (share of the pair's permutations that get the label).
    """
    store, rows = store or Store(), []
    for model in params.models:
        for corpus in params.corpora:
            found = steps.scores(params, corpus, model, store=store)
            rates = found.accepted.mean(axis=1)
            chosen: list[int] = []
            for label in LABELS:
                own = np.flatnonzero((found.label == label) & found.correct & (rates > 0))
                chosen += _drawn(own, k, params.seed, "accepted examples", corpus, model)
            places = [(int(found.index[i]), int(found.accepted[i].argmax())) for i in chosen]
            for i, item, texts in zip(chosen, *_texts(params, corpus, places, store), strict=True):
                label = str(found.label[i])
                rows.append((classifier_label(model), corpus, label, item.pair.id, *texts, float(rates[i])))
    return frame(rows, ["model", "corpus", "label", "pair", *_TEXTS, "accepted"])


def permutation_examples(params: NliPermutationParams, k: int = 2, store: Store | None = None) -> pd.DataFrame:
    """The first kept pair of each set under every variant, *k* permutations of each; needs no model.

    Columns: corpus, scheme ("original" too), label, pair, premise, hypothesis.
    """
    store, rows = store or Store(), []
    for corpus in params.corpora:
        for pair in read_chunk(params, corpus, 0, store):
            found = {scheme: permute(params, pair, scheme) for scheme in params.schemes()}
            if any(permuted is None for permuted in found.values()):
                continue
            rows.append((corpus, "original", pair.label, pair.id, pair.premise.text, pair.hypothesis.text))
            for scheme, permuted in found.items():
                assert permuted is not None
                rows += [(corpus, scheme, pair.label, pair.id, *texts) for texts in permuted.texts()[:k]]
            break
    return frame(rows, ["corpus", "scheme", "label", "pair", "premise", "hypothesis"])


def annotation_sample(
    params: NliPermutationParams, n: int = 200, *, model: str | None = None, corpus: str | None = None,
    store: Store | None = None,
) -> pd.DataFrame:  # fmt: skip
    """*n* permuted pairs that *model* accepts, for human annotators (§8): what `nbkit.measure.forms.make_form` takes.

    Half of them short, half long (below or above the median length of the accepted pairs); half of each from D^c and
    half from D^f, as far as there are so many; one permutation a pair, drawn with addressed randomness.
    model, corpus: by default the first of the run.

    Columns: premise, hypothesis (permuted), label (gold), stratum ("D^c", "D^f"), length_group ("short", "long"),
    length, pair, permutation (its number), original_premise, original_hypothesis, corpus, model.
    Raises `NbkitError` where the run has no model, or fewer than *n* pairs have an accepted permutation.
    """
    store = store or Store()
    if model is None and not params.models:
        raise NbkitError("an annotation sample is of permutations that a model accepts: name one in models")
    model, corpus = model or params.models[0], corpus or params.corpora[0]
    found = steps.scores(params, corpus, model, store=store)
    groups = example_groups(found.accepted, found.correct)
    accepted = np.flatnonzero(found.accepted.any(axis=1))
    if len(accepted) < n:
        raise NbkitError(
            f"an annotation sample of {n} pairs: '{model}' accepts a permutation of only {len(accepted)} pairs of "
            f"{corpus}; ask for fewer, or read more pairs (n_pairs)"
        )
    median = np.median(found.length[accepted])
    strata = {
        (size, stratum): [
            int(i) for i in accepted if (found.length[i] > median) == (size == "long") and groups[i] == stratum
        ]
        for size in ("short", "long")
        for stratum in (CORRECT, FLIPPED)
    }
    chosen = _balanced(strata, n, params.seed, corpus, model)
    rows: list[tuple[Any, ...]] = []
    places = [(int(found.index[i]), _one_of(found.accepted[i], params.seed, corpus, model, i)) for i, _ in chosen]
    for (i, (size, stratum)), (_, number), item, texts in zip(
        chosen, places, *_texts(params, corpus, places, store), strict=True
    ):
        premise, hypothesis, permuted_premise, permuted_hypothesis = texts
        rows.append(
            (
                permuted_premise, permuted_hypothesis, str(found.label[i]), stratum, size, int(found.length[i]),
                item.pair.id, number, premise, hypothesis, corpus, classifier_label(model),
            )
        )  # fmt: skip
    columns = ["premise", "hypothesis", "label", "stratum", "length_group", "length", "pair", "permutation",
               "original_premise", "original_hypothesis", "corpus", "model"]  # fmt: skip
    return frame(rows, columns)


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


def _one_of(accepted: np.ndarray, *where: object) -> int:
    """The number of one accepted permutation."""
    return _drawn(np.flatnonzero(accepted), 1, *where)[0]


def _texts(
    params: NliPermutationParams, corpus: str, places: list[tuple[int, int]], store: Store
) -> tuple[list[Permuted], list[tuple[str, str, str, str]]]:
    """The pairs at *places* (index, number of the permutation), and their four texts."""
    items = dict(_items(params, corpus, {index for index, _ in places}, store))
    found = [items[index] for index, _ in places]
    texts = [(*item.original, *item.permuted.texts()[number]) for item, (_, number) in zip(found, places, strict=True)]
    return found, texts


def _items(params: NliPermutationParams, corpus: str, wanted: set[int], store: Store) -> Iterator[tuple[int, Permuted]]:
    """The pairs of which the indices are wanted, chunk by chunk."""
    for start in sorted({index - index % CHUNK for index in wanted}):
        pairs = read_chunk(params, corpus, start, store)
        for index in sorted(i for i in wanted if start <= i < start + CHUNK):
            pair = pairs[index - start]
            permuted = permute(params, pair, PERMUTED)
            assert permuted is not None
            yield index, Permuted(index, pair, permuted)
