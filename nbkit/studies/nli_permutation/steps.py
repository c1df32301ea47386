"""Pairs of one NLI set and their permutations, chunk by chunk."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from nbkit.corpora.nli import LABELS, NliPair, load_nli, nli_identity, raw_nli
from nbkit.errors import NbkitError
from nbkit.fingerprint import digest
from nbkit.measure.acceptance import TAGS, MiniTrees, count_mini_trees, entropy, neighbourhoods, signature_ratios
from nbkit.measure.bleu import permutation_bleu
from nbkit.models import ensure_classifier, iter_classified
from nbkit.models.lifecycle import with_revision
from nbkit.perturb.derangements import DerangedPair, clump_pair, derange_hypothesis, derange_pair, in_units
from nbkit.store import Store
from nbkit.studies.nli_permutation.params import HYPOTHESIS, PERMUTED, NliPermutationParams, share_of
from nbkit.text.parsers import OnError, Skipped
from nbkit.text.sentences import Sentence

if TYPE_CHECKING:
    import pandas as pd

#: Pairs handled, and remembered, at a time: memory grows neither with the set nor with n permutations of all of it.
CHUNK = 200


@dataclass(frozen=True)
class Permuted:
    """One pair under one variant. index: its place in the set."""

    index: int
    pair: NliPair
    permuted: DerangedPair

    @property
    def original(self) -> tuple[str, str]:
        """Premise and hypothesis as they are written."""
        return self.pair.premise.text, self.pair.hypothesis.text

    @property
    def length(self) -> int:
        """Units of both sides, punctuation included."""
        return len(self.permuted.premise) + len(self.permuted.hypothesis)


def chunk_starts(n_pairs: int) -> range:
    """Where the chunks of a set of *n_pairs* begin.

    >>> list(chunk_starts(500))
    [0, 200, 400]
    """
    return range(0, n_pairs, CHUNK)


def read_chunk(
    params: NliPermutationParams, corpus: str, start: int, store: Store, size: int | None = None
) -> Sequence[NliPair]:
    """The pairs ``start … start + size - 1`` of the set, a whole chunk of them by default; kept for the next call."""
    size = CHUNK if size is None else size
    stop = start + size if params.n_pairs is None else min(start + size, params.n_pairs)
    parsers = tuple(sorted(params.parsers.items()))
    # A file that is edited while a kernel runs has the same name and other pairs.
    content = json.dumps(nli_identity(corpus, params.language, parsers=params.parsers or None))
    return _read(corpus, params.language, parsers, params.on_error, start, stop, store.url, content)


@lru_cache(maxsize=4)
def _read(
    corpus: str, language: str, parsers: tuple[tuple[str, str], ...], on_error: OnError,
    start: int, stop: int, store_url: str, content: str,
) -> tuple[NliPair, ...]:  # fmt: skip
    pairs = load_nli(
        corpus, language, n=stop - start, start=start, parsers=dict(parsers) or None,
        on_error=on_error, skipped=Skipped(), store=Store(store_url),
    )  # fmt: skip
    return tuple(pairs)


def variants(
    params: NliPermutationParams, pairs: Sequence[NliPair], start: int, scheme: str = PERMUTED
) -> Iterator[Permuted]:
    """Every pair that has all n permutations on both sides, under *scheme*.

    Pairs without them are dropped from every variant, so that variants are compared on the same pairs; a clumped
    variant drops further ones, which have too few clumped permutations.
    """
    for index, pair in enumerate(pairs, start):
        permuted = permute(params, pair, scheme)
        if permuted is not None:
            yield Permuted(index, pair, permuted)


def permute(params: NliPermutationParams, pair: NliPair, scheme: str) -> DerangedPair | None:
    """The permutations of *pair* under *scheme*, None where it is dropped."""
    both = derange_pair(
        pair.premise, pair.hypothesis, params.permutations,
        seed=params.seed, unit=params.unit, punctuation=params.punctuation,
    )  # fmt: skip
    if both is None or scheme == PERMUTED:
        return both
    if scheme == HYPOTHESIS:
        return derange_hypothesis(
            pair.premise, pair.hypothesis, params.permutations,
            seed=params.seed, unit=params.unit, punctuation=params.punctuation,
        )  # fmt: skip
    share = share_of(scheme)
    assert share is not None
    return clump_pair(
        pair.premise, pair.hypothesis, params.clumped_permutations, share,
        seed=params.seed, unit=params.unit, punctuation=params.punctuation,
    )  # fmt: skip


# ----------------------------------------------------------------------------
# Per-pair results of the NLI permutation study: computed chunk by chunk, remembered, never averaged here.
#
# *Scores* need a classifier: whether the original and each permutation get the gold label, and how sure the
# model is. *Properties* need none: how much of the original's local order each permutation keeps (BLEU;
# `mini_trees` has the rest).

#: The n-gram orders of BLEU in Figures 2 and 9.
BLEU_ORDERS = (2, 3, 4)


#: The pairs of a chunk that stand for the others where it is asked how many texts are classified already.
SOME = 4


@dataclass(frozen=True)
class Scores:
    """What a classifier made of one variant of one set; one entry (or row) a kept pair.

    index: the pair's place in the set. label: the gold label. length: units of both sides. correct: whether the
    original gets the gold label; control: whether the re-joined original does, control_entropy: how unsure the model is
    of that, in nats. accepted: pairs × permutations, whether each permutation does. entropies: the same shape, in nats.
    """

    index: np.ndarray
    label: np.ndarray
    length: np.ndarray
    correct: np.ndarray
    control: np.ndarray
    control_entropy: np.ndarray
    accepted: np.ndarray
    entropies: np.ndarray

    def __len__(self) -> int:
        return len(self.index)


def n_pairs(params: NliPermutationParams, corpus: str, store: Store | None = None) -> int:
    """How many labelled pairs of the set are read, counted once and remembered.

    Raises `NbkitError` where there is none: nothing to study.
    """
    n = int(extent(params, corpus, store)["read"].iloc[0])
    if n == 0:
        raise NbkitError(f"NLI corpus '{corpus}' holds no labelled pair")
    return n


def extent(params: NliPermutationParams, corpus: str, store: Store | None = None) -> pd.DataFrame:
    """One row: read (labelled pairs), skipped (rows without a gold label, or malformed), example."""
    store = store or Store()

    def compute() -> pd.DataFrame:
        import pandas as pd

        skipped = Skipped()
        total = sum(
            1 for _ in raw_nli(corpus, params.language, n=params.n_pairs, on_error=params.on_error, skipped=skipped)
        )
        example = skipped.summary(3) if len(skipped) else ""
        return pd.DataFrame([(total, len(skipped), example)], columns=["read", "skipped", "example"])

    return store.table(_config("extent", params, corpus), compute)


def properties_chunk(params: NliPermutationParams, corpus: str, scheme: str, start: int, store: Store) -> pd.DataFrame:
    """The kept pairs of one chunk under *scheme* and the local order that their permutations keep; needs no model.

    Columns: index, id, label, length (units of both sides), bleu2, bleu3, bleu4 (a list each, one entry a permutation:
    the mean of premise and hypothesis, without smoothing as in the paper: 0 where no n-gram is left).
    """

    def compute() -> pd.DataFrame:
        import pandas as pd

        rows = []
        for item in variants(params, read_chunk(params, corpus, start, store), start, scheme):
            both = item.permuted
            sides = [
                permutation_bleu(sentence, orders_of(sentence, orders), BLEU_ORDERS, smoothing="none")
                for sentence, orders in (
                    (both.premise, both.premise_orders),
                    (both.hypothesis, both.hypothesis_orders),
                )
            ]
            bleu = np.mean(sides, axis=0).astype(np.float32)
            rows.append((item.index, item.pair.id, item.pair.label, item.length, *bleu.T.tolist()))
        return pd.DataFrame(rows, columns=["index", "id", "label", "length", *(f"bleu{n}" for n in BLEU_ORDERS)])

    return store.table(_properties_key(params, corpus, scheme, start), compute)


def _properties_key(params: NliPermutationParams, corpus: str, scheme: str, start: int) -> dict[str, Any]:
    return _config("properties", params, corpus, start=start, **params.scheme_key(scheme))


def scores_chunk(
    params: NliPermutationParams, corpus: str, model: str, scheme: str, start: int, store: Store
) -> pd.DataFrame:
    """What *model* makes of one chunk under *scheme*: one row a kept pair, the columns as `Scores` has them."""

    def compute() -> pd.DataFrame:
        import pandas as pd

        rows = []
        for item, own in classified(params, model, corpus, scheme, start, store):
            right = own.argmax(axis=1) == LABELS.index(item.label)
            unsure = entropy(own[1:]).astype(np.float32)
            rows.append(
                (item.place, item.label, item.length, *right[:2].tolist(), float(unsure[0]), right[2:], unsure[1:])
            )
        return pd.DataFrame(rows, columns=_SCORES)

    key = _model_key(params, model)
    return store.table(_scores_key(params, corpus, scheme, start, key), compute)


def _scores_key(
    params: NliPermutationParams, corpus: str, scheme: str, start: int, model: Mapping[str, Any]
) -> dict[str, Any]:
    return _config("scores", params, corpus, start=start, **params.scheme_key(scheme), model=dict(model))


def is_scored(params: NliPermutationParams, corpus: str, model: str, scheme: str, start: int, store: Store) -> bool:
    """Whether `scores_chunk` is remembered."""
    return store.table_rows(_scores_key(params, corpus, scheme, start, params.model_key(model))) is not None


def n_texts(params: NliPermutationParams, corpus: str, scheme: str, start: int, store: Store) -> int:
    """How many texts of one chunk are classified under *scheme*; at most so many where it was not read yet.

    The original and the control are counted with the permutations of both sides.
    """
    same = PERMUTED if scheme == HYPOTHESIS else scheme  # which keeps the same pairs
    kept = store.table_rows(_properties_key(params, corpus, same, start))
    pairs = min(CHUNK, n_pairs(params, corpus, store) - start) if kept is None else kept
    return pairs * (params.n_of(scheme) + 2 * (scheme == PERMUTED))


def some_texts(
    params: NliPermutationParams, corpus: str, model: str, start: int, store: Store
) -> list[tuple[str, str]]:
    """The distinct texts of the first `SOME` pairs of one chunk, under all schemes that *model* is tested on."""
    pairs = read_chunk(params, corpus, start, store, SOME)
    found = (item for scheme in params.schemes(model) for item in variants(params, pairs, start, scheme))
    return list(dict.fromkeys(text for item in found for text in texts_of(item)))


def texts_of(item: Permuted) -> list[tuple[str, str]]:
    """What is classified of one pair: as written, re-joined in its own order, then every permutation."""
    return [item.original, item.permuted.control, *item.permuted.texts()]


def scores(
    params: NliPermutationParams, corpus: str, model: str, scheme: str = PERMUTED, store: Store | None = None
) -> Scores:
    """All `scores_chunk`s of one set, model and variant as arrays."""
    import pandas as pd

    store = store or Store()
    chunks = [
        scores_chunk(params, corpus, model, scheme, start, store)
        for start in chunk_starts(n_pairs(params, corpus, store))
    ]
    table = pd.concat(chunks, ignore_index=True)
    width = params.n_of(scheme)
    return Scores(
        index=table["index"].to_numpy(np.int64),
        label=table["label"].to_numpy(str),
        length=table["length"].to_numpy(np.int64),
        correct=table["correct"].to_numpy(bool),
        control=table["control"].to_numpy(bool),
        control_entropy=table["control_entropy"].to_numpy(np.float32),
        accepted=stacked(table["accepted"], width, bool),
        entropies=stacked(table["entropies"], width, np.float32),
    )


def properties(
    params: NliPermutationParams, corpus: str, scheme: str = PERMUTED, store: Store | None = None
) -> pd.DataFrame:
    """All `properties_chunk`s of one set and variant."""
    import pandas as pd

    store = store or Store()
    starts = chunk_starts(n_pairs(params, corpus, store))
    return pd.concat([properties_chunk(params, corpus, scheme, start, store) for start in starts], ignore_index=True)


def stacked(lists: pd.Series, width: int, dtype: Any) -> np.ndarray:
    """A column of equally long lists as a matrix, also where it has no rows."""
    return np.array([np.asarray(row, dtype=dtype) for row in lists], dtype=dtype).reshape(-1, width)


class Asked(NamedTuple):
    """A kept pair whose texts were handed on to a classifier: its place in the set, and how many texts these are."""

    place: int
    label: str
    length: int
    texts: int


def classified(
    params: NliPermutationParams, model: str, corpus: str, scheme: str, start: int, store: Store
) -> Iterator[tuple[Asked, np.ndarray]]:
    """Each kept pair of a chunk with the label probabilities of its texts (texts × 3), in the order of `texts_of`.

    Texts of several pairs are classified together, and a window of them is in memory, however many permutations a
    pair has. Each distinct text is classified once ever with these settings.
    """
    asked: deque[Asked] = deque()

    def texts() -> Iterator[tuple[str, str]]:
        for item in variants(params, read_chunk(params, corpus, start, store), start, scheme):
            found = texts_of(item)
            asked.append(Asked(item.index, item.pair.label, item.length, len(found)))
            yield from found

    answers = iter_classified(
        model, texts(), lang=params.language, store=store, device=params.device, dtype=params.dtype
    )
    for first in answers:
        item = asked.popleft()
        yield item, np.array([first, *islice(answers, item.texts - 1)])


_SCORES = ["index", "label", "length", "correct", "control", "control_entropy", "accepted", "entropies"]


def orders_of(sentence: Any, orders: Sequence[Any]) -> list[Any]:
    """Orders with the sentence's own one in the place of None."""
    return [np.arange(len(sentence)) if order is None else order for order in orders]


def _model_key(params: NliPermutationParams, model: str) -> dict[str, Any]:
    """The model's part of a key; one of the hub's is downloaded first, as only then its revision is known."""
    found = with_revision(lambda: {"model": params.model_key(model)}, lambda: ensure_classifier(model, params.language))
    return dict(found["model"])


def _config(kind: str, params: NliPermutationParams, corpus: str, **more: Any) -> dict[str, Any]:
    """The store key of one remembered table."""
    return {
        "kind": f"nli_permutation.{kind}",
        "code": code_digest(),
        "chunk": CHUNK,
        **params.corpus_key(corpus),
        **more,
    }


def code_digest() -> str:
    """Digest of the sources behind these tables, so that tables of older definitions are not taken for these."""
    return digest("nbkit.perturb.derangements", "nbkit.studies.nli_permutation.steps")


# ----------------------------------------------------------------------------
# POS mini-trees of the study: counted on the training corpus, compared with every permutation (Figures 3 and
# 6).


def has_parts_of_speech(params: NliPermutationParams) -> bool:
    """Whether training corpus and test sets have parts of speech; without them there are no mini-trees."""
    return all(params.tokenizer(corpus)[1] for corpus in (params.training_corpus, *params.corpora))


def training_trees(params: NliPermutationParams, store: Store | None = None) -> MiniTrees:
    """The mini-trees of the training corpus, both sides of its pairs, counted once and remembered."""
    store = store or Store()

    def compute() -> pd.DataFrame:
        pairs = load_nli(
            params.training_corpus, params.language, n=params.training_pairs, parsers=params.parsers or None,
            on_error=params.on_error, skipped=Skipped(), store=store,
        )  # fmt: skip
        sides = (in_units(text, params.unit) for pair in pairs for text in (pair.premise, pair.hypothesis))
        return count_mini_trees(sides, params.radius).to_frame()

    config = {"kind": "nli_permutation.training_trees", "code": code_digest(), **params.training_key()}
    return MiniTrees.from_frame(store.table(config, compute))


def ratios_chunk(params: NliPermutationParams, corpus: str, start: int, store: Store) -> pd.DataFrame:
    """β_Ŝ / β_S of every permutation of one chunk: columns index, ratio (a list: the mean of both sides)."""

    def compute() -> pd.DataFrame:
        import pandas as pd

        trees = training_trees(params, store)
        rows = [
            (item.index, _ratios(item.permuted, trees, params.top_k).astype(np.float32).tolist())
            for item in variants(params, read_chunk(params, corpus, start, store), start)
        ]
        return pd.DataFrame(rows, columns=["index", "ratio"])

    config = {
        "kind": "nli_permutation.mini_trees",
        "code": code_digest(),
        **params.corpus_key(corpus),
        "start": start,
        "training": params.training_key(),
        "top_k": params.top_k,
    }
    return store.table(config, compute)


def ratios(params: NliPermutationParams, corpus: str, store: Store | None = None) -> np.ndarray:
    """All `ratios_chunk`s of one set: kept pairs × permutations, NaN where a ratio is not defined."""
    import pandas as pd

    store = store or Store()
    starts = chunk_starts(n_pairs(params, corpus, store))
    table = pd.concat([ratios_chunk(params, corpus, start, store) for start in starts], ignore_index=True)
    return stacked(table["ratio"], params.permutations, np.float32)


def word_signature(
    params: NliPermutationParams, corpus: str | None = None, word: str | None = None, store: Store | None = None
) -> pd.DataFrame:
    """The mini-tree of one word in training, in one test sentence and in its first permutation (Figure 6).

    corpus: by default the first of the run. word: by default the noun of the first pairs that training has most often.
    Columns: corpus, word, where ("training", "original", "permuted"), tag, probability, in_top (among its k most
    probable), sentence (the text looked at, none for training).
    Empty where there are no parts of speech, or no kept pair of the first ones has the word.
    """
    import pandas as pd

    columns = ["corpus", "word", "where", "tag", "probability", "in_top", "sentence"]
    store, corpus = store or Store(), corpus or params.corpora[0]
    if not has_parts_of_speech(params):
        return pd.DataFrame([], columns=columns)
    trees = training_trees(params, store)
    found = _occurrence(params, corpus, word, trees, store)
    if found is None:
        return pd.DataFrame([], columns=columns)
    name, sentence, order, place = found
    moved = neighbourhoods(_reordered(sentence, order), params.radius)[list(order).index(place)]
    learned = trees.distribution(name)
    assert learned is not None
    rows = []
    for where, values, text in (
        ("training", learned, ""),
        ("original", neighbourhoods(sentence, params.radius)[place], sentence.joined),
        ("permuted", moved, sentence.reorder(order)),
    ):
        top = np.argsort(-values, kind="stable")[: params.top_k]
        rows += [
            (corpus, name, where, tag, float(p), bool(i in top and p > 0), text)
            for i, (tag, p) in enumerate(zip(TAGS, values, strict=True))
        ]
    return pd.DataFrame(rows, columns=columns)


def _occurrence(
    params: NliPermutationParams, corpus: str, word: str | None, trees: MiniTrees, store: Store
) -> tuple[str, Sentence, np.ndarray, int] | None:
    """The word, a sentence that has it, that sentence's first permutation, and the word's place."""
    best: tuple[int, str, Sentence, np.ndarray, int] | None = None
    for pair in read_chunk(params, corpus, 0, store):
        both = permute(params, pair, PERMUTED)
        if both is None:
            continue
        order = both.premise_orders[0]
        assert both.premise.upos is not None and order is not None
        for place, (token, tag) in enumerate(zip(both.premise.tokens, both.premise.upos, strict=True)):
            form = token.casefold()
            wanted = tag == "NOUN" if word is None else form == word.casefold()
            count = int(trees.occurrences[trees.words[form]]) if form in trees else 0
            if wanted and count and (best is None or count > best[0]):
                best = (count, form, both.premise, order, place)
    return best[1:] if best else None


def _reordered(sentence: Sentence, order: np.ndarray) -> Sentence:
    assert sentence.upos is not None
    tags = tuple(sentence.upos[i] for i in order)
    return Sentence(tuple(sentence.tokens[i] for i in order), sentence.lang, upos=tags)


def _ratios(both: DerangedPair, trees: MiniTrees, k: int) -> np.ndarray:
    sides = [
        signature_ratios(sentence, orders_of(sentence, orders), trees, k=k)
        for sentence, orders in ((both.premise, both.premise_orders), (both.hypothesis, both.hypothesis_orders))
    ]
    return np.mean(sides, axis=0)
