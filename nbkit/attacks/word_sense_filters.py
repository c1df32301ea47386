"""Which seeds and samples of the word-sense attacks are kept, by what language models and biases say of them.

Source: "Detecting Word Sense Disambiguation Biases in Machine Translation for Model-Agnostic Adversarial Attacks",
§3.1, "Seed sentence selection" and "Post-generation filtering". The constraints that need no model are in
`nbkit.attacks.word_sense`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nbkit.corpora.homographs import Homograph
from nbkit.errors import NbkitError


def sense_fillers(homograph: Homograph) -> list[str]:
    """The translations of all senses, as they are asked of a masked language model, sorted; ambiguous ones are none.

    >>> from nbkit.corpora.homographs import own_homographs
    >>> sense_fillers(own_homographs().homographs["bat"])[:2]
    ['Baseballschläger', 'Fledermaus']
    """
    return sorted({word for cluster in homograph.clusters for word in cluster.translations})


def expected_sense(homograph: Homograph, fillers: Sequence[str], log_p: Sequence[float] | np.ndarray) -> str | None:
    """The name of the cluster of the most probable filler; None where the model gives none of them a probability.

    log_p: one value a filler, as `MaskedLanguageModel.masked_log_probabilities` gives them. Of equally probable
    ones the first counts.

    >>> from nbkit.corpora.homographs import own_homographs
    >>> bat = own_homographs().homographs["bat"]
    >>> expected_sense(bat, ["Fledermaus", "Schläger"], [-3.0, -1.0])
    'club'
    """
    if len(fillers) != len(log_p):
        raise NbkitError(f"'{homograph.word}': {len(fillers)} translations but {len(log_p)} probabilities")
    values = np.asarray(log_p, dtype=np.float64)
    if not len(values) or not np.isfinite(values).any():
        return None
    cluster = homograph.cluster_of(fillers[int(np.nanargmax(values))])
    return None if cluster is None else cluster.name


def least_biased(biases: Sequence[float] | np.ndarray, share: float) -> np.ndarray:
    """Which seeds are kept when the *share* of them with the largest bias to a wrong sense is dropped.

    The number dropped is rounded to the nearest; of equal biases the later ones go, so that sort by address first where
    that matters. Raises `NbkitError` where *share* is none.

    >>> least_biased([0.3, 0.1, 0.2, 0.0, 0.4], 0.2).tolist()
    [True, True, True, True, False]
    """
    if not 0 <= share < 1:
        raise NbkitError(f"a share of the seeds is at least 0 and below 1, not {share}")
    values = np.asarray(biases, dtype=np.float64)
    dropped = round(share * len(values))
    keep = np.ones(len(values), dtype=bool)
    keep[np.argsort(values, kind="stable")[len(values) - dropped :]] = False
    return keep


def is_fluent(perplexities: np.ndarray, seeds: np.ndarray, rise: float) -> np.ndarray:
    """Whether each sample's perplexity is at most (1 + *rise*) times its seed's; False where either is unknown.

    >>> is_fluent(np.array([12.0, 12.1, np.nan]), np.array([10.0, 10.0, 10.0]), 0.2).tolist()
    [True, False, False]
    """
    limit = np.asarray(seeds, dtype=np.float64) * (1 + rise)
    return np.asarray(perplexities, dtype=np.float64) <= limit * (1 + 1e-12)
