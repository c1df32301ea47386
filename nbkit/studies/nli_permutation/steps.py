"""The NLI permutation study's steps: pairs of a set and their permutations, chunk by chunk, and what is made of them.

*Scores* need a classifier: which label the original and each permutation get, and how sure the model is. *Properties*
and *ratios* need none: how much of the original's local order a permutation keeps, and how close its parts of speech
are to those of the training corpus. What is computed is remembered (`nbkit.studies.engine`) and never averaged here;
`outcomes` are the answers in the shape that all studies share.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import islice, product, repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nbkit import models
from nbkit.corpora.nli import LABELS, NliPair, check_nli, load_nli, raw_nli
from nbkit.errors import NbkitError
from nbkit.measure.acceptance import MiniTrees, count_mini_trees, entropy, signature_ratios
from nbkit.measure.bleu import permutation_bleu
from nbkit.models import classifier_label, iter_classified
from nbkit.models.services.names import LABEL_FILE
from nbkit.models.services.outputs import OutputsModel
from nbkit.perturb.derangements import DerangedPair, derange_pair, in_units
from nbkit.perturb.reorderings import is_punctuation
from nbkit.store import Store
from nbkit.studies.base import Notebook
from nbkit.studies.engine import CLASSIFIER, Axis, Counts, Cuts, Held, Step, Study, Use, as_table
from nbkit.studies.nli_permutation.params import HYPOTHESIS, PERMUTED, NliPermutationParams, share_of
from nbkit.studies.results import item_id, objects
from nbkit.text.parsers import Skipped
from nbkit.text.sentences import Sentence

if TYPE_CHECKING:
    import pandas as pd

#: Pairs handled, and remembered, at a time: memory grows neither with the set nor with n permutations of all of it.
CHUNK = 200
#: Chunks of one unit of work: enough to be worth sending to a process that has to load the model first.
CHUNKS_A_UNIT = 5
#: The n-gram orders of BLEU in Figures 2 and 9.
BLEU_ORDERS = (2, 3, 4)
#: The pairs of a chunk that stand for the others where it is asked how many texts are classified already.
SOME = 4
#: Permutations of a pair that are kept for whoever asks next; more would take much memory.
_FEW = 200
#: Outcomes that are in memory at a time, unless a single pair has more.
_OUTCOMES = 20_000
#: Permutations that are kept in memory once their tables are read, one page asking for them several times.
_KEPT = 50_000_000


def chunk_starts(n_pairs: int) -> range:
    """Where the chunks of a set of *n_pairs* begin.

    >>> list(chunk_starts(500))
    [0, 200, 400]
    """
    return range(0, n_pairs, CHUNK)


def _parts(params: NliPermutationParams, **_: Any) -> Sequence[int | None]:
    """Where the units that classify a set begin, as far as its size is known."""
    parts = [] if params.n_pairs is None else chunk_starts(params.n_pairs)[::CHUNKS_A_UNIT]
    return parts if len(parts) > 1 else [None]


def _starts(params: NliPermutationParams, start: int | None, store: Store, corpus: str, **_: Any) -> range:
    """The chunks of the part that begins at *start*, as far as the set reaches; all of them where *start* is None."""
    stop = n_pairs(params, corpus, store)
    return chunk_starts(stop) if start is None else range(start, min(stop, start + CHUNKS_A_UNIT * CHUNK), CHUNK)


def _problems(params: NliPermutationParams) -> Iterator[str]:
    """Problems of this run beside its models: sets, tokenizers, filled forms."""
    how: Any = {"parsers": params.parsers or None, "on_error": params.on_error}
    for corpus in params.corpora:
        yield from check_nli(corpus, params.language, n=params.n_pairs, **how)
        if params.language == "zh" and params.unit == "word" and params.tokenizer(corpus)[0] == "tokenizer":
            yield (
                "unit 'word': without a Chinese pipeline or jieba, texts are cut into characters; name one "
                "(parsers: {zh: jieba}) or choose unit: character"
            )
    if all(params.tokenizer(corpus)[1] for corpus in params.corpora):  # else there are no mini-trees
        yield from check_nli(params.training_corpus, params.language, n=params.training_pairs, **how)
    yield from params.form_problems()


def _inputs(params: NliPermutationParams) -> dict[str, Any]:
    """Digests of what the parameters stand for: sets, tokenizers, models, filled forms."""
    return {
        "corpora": {corpus: params.corpus_key(corpus) for corpus in params.corpora},
        "training": params.training_key() if has_parts_of_speech(params) else None,
        "models": {model: dict(params.model_key(model)) for model in params.scored_models},
        "annotations": params.form_digests(),
    }


def _uses(params: NliPermutationParams, classifier: str, **_: Any) -> list[Use]:
    return [Use(CLASSIFIER, classifier, (params.language,))]


STUDY = Study(
    name="nli_permutation",
    title="NLI permutation: do classifiers accept nonsense?",
    paper="Sinha, Parthasarathi, Pineau and Williams (2021), Unnatural Language Inference",
    params=NliPermutationParams,
    axes={
        "language": Axis(lambda params: [params.language]),
        "model": Axis(lambda params: params.models, classifier_label),
        "corpus": Axis(lambda params: params.corpora),
        "classifier": Axis(lambda params: params.scored_models, classifier_label),
        "start": Cuts(_parts, _starts),
    },
    grid=("language", "model"),
    verdict="pass: the classifier says the gold label; fail: another label, which is the reason; undecided: none",
    behaviour=Path(__file__).with_name("behaviour.yaml"),
    used=lambda params, store: {"n_pairs": sorted({n_pairs(params, corpus, store) for corpus in params.corpora})},
    tags=lambda params: {"corpus": ", ".join(params.corpora)},
    check=_problems,
    inputs=_inputs,
    uses=lambda params: [use for model in params.scored_models for use in _uses(params, model)],
    # In the order in which the report shows them; a test compares titles with the notebooks.
    notebooks=(
        Notebook(
            "nli_permutation/permutations", "What do the permutations look like, and which pairs have them?", "grid"
        ),
        Notebook("nli_permutation/acceptance", "Do the models accept permuted pairs?", "grid"),
        Notebook("nli_permutation/thresholds", "How many permutations of a pair are accepted?", "grid"),
        Notebook("nli_permutation/confidence", "How sure are the models of permuted pairs?", "grid"),
        Notebook("nli_permutation/local_order", "Is it the word order that is left?", "grid"),
        Notebook("nli_permutation/mini_trees", "Are accepted permutations closer to ordinary grammar?", "grid"),
        Notebook("nli_permutation/length", "Does the length of a pair matter?", "grid"),
        Notebook("nli_permutation/hypothesis_only", "Is it enough to permute the hypothesis?", "grid"),
        Notebook("nli_permutation/max_entropy", "Can a model learn to reject permuted pairs?", "grid"),
        Notebook("nli_permutation/human_evaluation", "Can people do it?", "grid"),
        Notebook("nli_permutation/model_card", "How does this model treat permuted pairs?", "cell"),
    ),
)


# ----------------------------------------------------------------------------
# Pairs and their permutations.


@STUDY.step(per=("corpus",), key=lambda params, corpus: params.read_key(corpus, params.n_pairs))
@as_table("read", "skipped", "example")
def extent(params: NliPermutationParams, corpus: str, store: Store) -> Iterator[Any]:
    """One row: read (labelled pairs), skipped (rows without a gold label, or malformed), example."""
    skipped = Skipped()
    pairs = raw_nli(corpus, params.language, n=params.n_pairs, on_error=params.on_error, skipped=skipped)
    total = sum(1 for _ in pairs)
    yield total, len(skipped), skipped.summary(3) if len(skipped) else ""


def n_pairs(params: NliPermutationParams, corpus: str, store: Store | None = None) -> int:
    """How many labelled pairs of the set are read, counted once and remembered.

    Raises `NbkitError` if there is none: nothing to study.
    """
    n = int(extent(params, corpus, store=store)["read"].iloc[0])
    if n == 0:
        raise NbkitError(f"NLI corpus '{corpus}' holds no labelled pair")
    return n


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

    def texts(self) -> list[tuple[str, str]]:
        """What is classified: the pair as written, re-joined in its own order, then every permutation."""
        return [self.original, self.permuted.control, *self.permuted.texts()]

    def mean_of_sides(self, measured: Any) -> list[Any]:
        """The mean of what ``measured(sentence, orders)`` says of premise and hypothesis, one row per permutation."""
        both, found = self.permuted, []
        for side, orders in ((both.premise, both.premise_orders), (both.hypothesis, both.hypothesis_orders)):
            own = np.arange(len(side))
            found.append(measured(side, [own if order is None else order for order in orders]))
        return np.mean(found, axis=0).astype(np.float32).T.tolist()


def read_chunk(
    params: NliPermutationParams, corpus: str, start: int, store: Store, size: int | None = None
) -> Sequence[NliPair]:
    """The pairs ``start … start + size - 1`` of the set, a whole chunk of them by default; kept for the next call."""
    size = CHUNK if size is None else size
    n = size if params.n_pairs is None else min(size, params.n_pairs - start)
    # A file that is edited while a kernel runs has the same name and other pairs.
    key = [store.url, corpus, params.language, params.parsers, start, params.read_key(corpus, n)]
    return _held_chunks(key, lambda: tuple(_read(params, corpus, n, store, start)))


_held_chunks = Held(size=4)


def _read(params: NliPermutationParams, corpus: str, n: int | None, store: Store, start: int = 0) -> Iterator[NliPair]:
    return load_nli(
        corpus, params.language, n=n, start=start, parsers=params.parsers or None,
        on_error=params.on_error, skipped=Skipped(), store=store,
    )  # fmt: skip


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


#: A chunk's permutations of both sides, which every variant, measure and classifier begins with.
_deranged = lru_cache(maxsize=CHUNK)(derange_pair)


def permute(params: NliPermutationParams, pair: NliPair, scheme: str) -> DerangedPair | None:
    """The permutations of *pair* under *scheme*, None where it is dropped."""
    sides = pair.premise, pair.hypothesis
    how: Any = {"seed": params.seed, "unit": params.unit, "punctuation": params.punctuation}
    derange = _deranged if params.permutations <= _FEW else derange_pair
    both = derange(*sides, params.permutations, **how)
    if both is None or scheme == PERMUTED:
        return both
    if scheme == HYPOTHESIS:
        return derange_pair(*sides, params.permutations, hypothesis_only=True, **how)
    share = share_of(scheme)
    assert share is not None
    return derange_pair(*sides, params.clumped_permutations, share=share, **how)


# ----------------------------------------------------------------------------
# What is known of permutations without a model.


def _chunk_key(params: NliPermutationParams, corpus: str, scheme: str, start: int, **_: Any) -> dict[str, Any]:
    variant = {"scheme": scheme, "n": params.n_of(scheme)}
    return {**params.corpus_key(corpus), **variant, "chunk": CHUNK, "start": start}


@STUDY.step(per=("corpus", "scheme", "start"), key=_chunk_key)
@as_table("index", "id", "label", "length", *(f"bleu{order}" for order in BLEU_ORDERS))
def properties_chunk(params: NliPermutationParams, corpus: str, scheme: str, start: int, store: Store) -> Iterator[Any]:
    """The kept pairs of one chunk under *scheme* and the local order that their permutations keep; needs no model.

    Columns: index, id, label, length (units of both sides), bleu2, bleu3, bleu4 (a list each, one entry a permutation:
    the mean of premise and hypothesis, without smoothing as in the paper: 0 where no n-gram is left).
    """
    bleu = partial(permutation_bleu, max_orders=BLEU_ORDERS, smoothing="none")
    for item in variants(params, read_chunk(params, corpus, start, store), start, scheme):
        yield item.index, item.pair.id, item.pair.label, item.length, *item.mean_of_sides(bleu)


def has_parts_of_speech(params: NliPermutationParams) -> bool:
    """Whether training corpus and test sets have parts of speech; without them there are no mini-trees."""
    return all(params.tokenizer(corpus)[1] for corpus in (params.training_corpus, *params.corpora))


@STUDY.step(key=lambda params: params.training_key())
def training_trees(params: NliPermutationParams, store: Store) -> pd.DataFrame:
    """The POS mini-trees of the training corpus, both sides of its pairs: what `MiniTrees.from_frame` takes."""
    pairs = _read(params, params.training_corpus, params.training_pairs, store)
    sides = (in_units(text, params.unit) for pair in pairs for text in (pair.premise, pair.hypothesis))
    return count_mini_trees(sides, params.radius).to_frame()


@STUDY.step(
    per=("corpus", "start"),
    key=lambda params, **at: {
        **_chunk_key(params, scheme=PERMUTED, **at),
        "training": params.training_key(),
        "top_k": params.top_k,
    },
)
@as_table("index", "ratio")
def ratios_chunk(params: NliPermutationParams, corpus: str, start: int, store: Store) -> Iterator[Any]:
    """β_Ŝ / β_S of every permutation of one chunk: columns index, ratio (a list: the mean of both sides)."""
    trees = MiniTrees.from_frame(training_trees(params, store=store))
    ratios = partial(signature_ratios, trees=trees, k=params.top_k)
    for item in variants(params, read_chunk(params, corpus, start, store), start):
        yield item.index, item.mean_of_sides(ratios)


@STUDY.work("texts {corpus}", per=("corpus",))
def read_texts(params: NliPermutationParams, corpus: str, store: Store) -> None:
    """One set read, tokenised and permuted; BLEU and mini-trees of its permutations."""
    tagged = has_parts_of_speech(params)
    for start in chunk_starts(n_pairs(params, corpus, store)):
        for scheme in params.schemes():
            if scheme != HYPOTHESIS:
                properties_chunk(params, corpus, scheme, start, store=store)
        if tagged:
            ratios_chunk(params, corpus, start, store=store)


# ----------------------------------------------------------------------------
# What classifiers answer.


#: The number of an answer that is no label: a chat model that did not decide. It is no gold label's.
REFUSED = -1


@STUDY.step(
    per=("corpus", "classifier", "scheme", "start"),
    key=lambda params, classifier, **at: {**_chunk_key(params, **at), "model": dict(params.model_key(classifier))},
    uses=_uses,
)
@as_table("index", "label", "length", "original", "control", "control_entropy", "answers", "entropies")
def scores_chunk(
    params: NliPermutationParams, corpus: str, classifier: str, scheme: str, start: int, store: Store
) -> Iterator[Any]:
    """What a classifier answers to one chunk under *scheme*: one row per kept pair.

    Columns: index, label, length; original and control (its answers to the pair as written and re-joined in its own
    order, as numbers of `LABELS`, or `REFUSED`), control_entropy; answers and entropies (in nats; a list each, an
    entry per permutation). Texts of several pairs are classified together, and a window of them is in memory, however
    many permutations a pair has. Each distinct text is classified once ever with these settings.
    """
    asked: deque[tuple[int, str, int, int]] = deque()

    def texts() -> Iterator[tuple[str, str]]:
        for item in variants(params, read_chunk(params, corpus, start, store), start, scheme):
            found = item.texts()
            asked.append((item.index, item.pair.label, item.length, len(found)))
            yield from found

    probabilities = iter_classified(classifier, texts(), lang=params.language, store=store, **params.running)
    for first in probabilities:
        *pair, n = asked.popleft()
        own = np.array([first, *islice(probabilities, n - 1)])
        refused = np.isnan(own).any(axis=1)
        answers = np.where(refused, REFUSED, np.nan_to_num(own).argmax(axis=1)).astype(np.int8)
        unsure = entropy(own[1:]).astype(np.float32)
        yield *pair, *answers[:2].tolist(), float(unsure[0]), answers[2:], unsure[1:]


def _counts(params: NliPermutationParams, corpus: str, classifier: str, start: int | None, store: Store) -> Counts:
    """The texts of one part of a set (of all of it where *start* is None), and how many of them are classified.

    Permuting them all to look each of them up would take minutes. What is scored has been classified; elsewhere the
    texts of the first pairs of a chunk stand for the others, and are those that a file of labels may lack.
    """
    config = models.classification_config(classifier, params.language, **params.running)
    remote = models.resolve_classifier(classifier, params.language).remote
    schemes, texts, stored, missing = params.schemes(classifier), 0, 0, list[str]()
    for each in _starts(params, start, store, corpus):
        own = sum(_n_texts(params, corpus, scheme, each, store) for scheme in schemes)
        texts += own
        scored = (scores_chunk.rows(params, corpus, classifier, scheme, each, store=store) for scheme in schemes)
        if all(rows is not None for rows in scored):
            stored += own
        elif isinstance(remote, OutputsModel) or store.has_records(config):
            pairs = read_chunk(params, corpus, each, store, SOME)
            found = (item for scheme in schemes for item in variants(params, pairs, each, scheme))
            some = list(dict.fromkeys(text for item in found for text in item.texts()))
            if isinstance(remote, OutputsModel):
                lines = [remote.asked(*pair) for pair in some]
                missing += remote.missing(lines, params.language, LABEL_FILE)
                continue
            stored += round(own * (1 - len(store.missing(config, some)) / len(some))) if some else 0
    return Counts(texts, stored, missing)


def _n_texts(params: NliPermutationParams, corpus: str, scheme: str, start: int, store: Store) -> int:
    """How many texts of one chunk are classified under *scheme*; at most so many where it was not read yet.

    The original and the control are counted with the permutations of both sides.
    """
    same = PERMUTED if scheme == HYPOTHESIS else scheme  # which keeps the same pairs
    kept = properties_chunk.rows(params, corpus, same, start, store=store)
    pairs = min(CHUNK, n_pairs(params, corpus, store) - start) if kept is None else kept
    return pairs * (params.n_of(scheme) + 2 * (scheme == PERMUTED))


@STUDY.work(
    "classify {classifier} {corpus} {start}",
    per=("corpus", "classifier", "start"),
    after=[read_texts],
    uses=_uses,
    counts=_counts,
)
def classify_texts(params: NliPermutationParams, corpus: str, classifier: str, start: int, store: Store) -> None:
    """One chunk of a set classified in every variant."""
    for scheme in params.schemes(classifier):
        scores_chunk(params, corpus, classifier, scheme, start, store=store)


# ----------------------------------------------------------------------------
# All chunks of a set.


@dataclass(frozen=True)
class Scores:
    """What a classifier made of one variant of one set; one entry (or row) a kept pair.

    index: the pair's place in the set. label: the gold label. length: units of both sides. correct: 1 where the
    original gets the gold label, 0 where it gets another, NaN where the classifier refused; control: the same of the
    re-joined original, control_entropy: how unsure the model is of that, in nats. accepted: pairs × permutations,
    whether each permutation gets the gold label. entropies: the same shape, in nats. Of a refusal they are NaN.
    """

    index: np.ndarray
    label: np.ndarray
    length: np.ndarray
    correct: np.ndarray
    control: np.ndarray
    control_entropy: np.ndarray
    accepted: np.ndarray
    entropies: np.ndarray

    @property
    def answered(self) -> np.ndarray:
        """Pairs × permutations: whether the classifier answered with a label."""
        return ~np.isnan(self.entropies)


def scores(
    params: NliPermutationParams, corpus: str, model: str, scheme: str = PERMUTED, store: Store | None = None
) -> Scores:
    """All `scores_chunk`s of one set, model and variant as arrays."""
    table = _whole(scores_chunk, params, store, corpus=corpus, classifier=model, scheme=scheme)
    gold = label_numbers(table["label"])
    width = params.n_of(scheme)
    return Scores(
        index=table["index"].to_numpy(np.int64),
        label=table["label"].to_numpy(str),
        length=table["length"].to_numpy(np.int64),
        correct=_right(table["original"].to_numpy(np.int8), gold),
        control=_right(table["control"].to_numpy(np.int8), gold),
        control_entropy=table["control_entropy"].to_numpy(np.float32),
        accepted=stacked(table["answers"], width, np.int8) == gold[:, None],
        entropies=stacked(table["entropies"], width, np.float32),
    )


def properties(
    params: NliPermutationParams, corpus: str, scheme: str = PERMUTED, store: Store | None = None
) -> pd.DataFrame:
    """All `properties_chunk`s of one set and variant."""
    return _whole(properties_chunk, params, store, corpus=corpus, scheme=scheme)


def ratios(params: NliPermutationParams, corpus: str, store: Store | None = None) -> np.ndarray:
    """All `ratios_chunk`s of one set: kept pairs × permutations, NaN where a ratio is not defined."""
    return stacked(_whole(ratios_chunk, params, store, corpus=corpus)["ratio"], params.permutations, np.float32)


def _right(answers: np.ndarray, gold: np.ndarray) -> np.ndarray:
    """1 where an answer is the gold label, 0 where it is another, NaN where there is none."""
    return np.where(answers == REFUSED, np.nan, answers == gold)


def stacked(lists: pd.Series, width: int, dtype: Any) -> np.ndarray:
    """A column of equally long lists as a matrix, also where it has no rows."""
    return np.array([np.asarray(row, dtype=dtype) for row in lists], dtype=dtype).reshape(-1, width)


def label_numbers(labels: Iterable[str]) -> np.ndarray:
    """The number of each label among `LABELS`."""
    return np.array([LABELS.index(label) for label in labels], dtype=np.int8)


_whole_tables: dict[str, tuple[int, pd.DataFrame]] = {}


def _whole(step: Step, params: NliPermutationParams, store: Store | None, **at: str) -> pd.DataFrame:
    """All chunks of a step of one set in one table; the last ones are kept for a page's next table."""
    import pandas as pd

    store = store or Store()
    starts = chunk_starts(n_pairs(params, at["corpus"], store))
    address = json.dumps([store.url, step.config(params, **at, start=0)], sort_keys=True)
    if address not in _whole_tables:
        table = pd.concat([step(params, **at, start=start, store=store) for start in starts], ignore_index=True)
        _whole_tables[address] = len(table) * params.n_of(at.get("scheme", PERMUTED)), table
        while sum(size for size, _ in _whole_tables.values()) > _KEPT:
            del _whole_tables[next(iter(_whole_tables))]
        return table.copy()
    return _whole_tables[address][1].copy()


# ----------------------------------------------------------------------------
# Outcomes.


@STUDY.outcomes(headline="nbkit.studies.nli_permutation.tables:results")
def outcomes(params: NliPermutationParams, store: Store, texts: bool) -> Iterator[pd.DataFrame]:
    """Every pair as written ("original"), re-joined in its own order ("control") and under every permutation.

    The measure "accepted" passes where the system answers with the gold label of the pair as it is written; it is
    undecided where the system refuses to answer. Of an original that is right; of a permutation it says no more than
    that the system goes by something else than the order of the words: the paper counts it as accepted nonsense. A pair
    by its texts is a cluster; the group "comparison" separates systems of the main comparison ("main") from those that
    only stand beside their usual training ("maximum entropy").
    """
    import pandas as pd

    for corpus in params.corpora if params.models else ():
        for start, scheme in product(chunk_starts(n_pairs(params, corpus, store)), params.schemes()):
            pairs = read_chunk(params, corpus, start, store)
            tables = {
                model: scores_chunk(params, corpus, model, scheme, start, store=store)
                for model in params.scored_models
                if scheme in params.schemes(model)
            }
            places = next(iter(tables.values()))["index"]
            size = max(1, _OUTCOMES // params.n_of(scheme))
            for first in range(0, len(places), size):
                part = slice(first, first + size)
                rows = (row for index in places[part] for row in _asked(params, pairs[index - start], scheme, texts))
                asked = pd.DataFrame(rows, columns=["item", "cluster", "scheme", "source", "changed"], dtype=object)
                for model, table in tables.items():
                    yield _answered(params, corpus, model, scheme, asked, table[part])


def _asked(params: NliPermutationParams, pair: NliPair, scheme: str, texts: bool) -> Iterator[tuple[Any, ...]]:
    """What is asked of one pair under one variant: item, cluster, scheme, source and changed text of each row."""
    given = [params.language, pair.premise.text, pair.hypothesis.text, pair.label]
    sides = [in_units(text, params.unit) for text in (pair.premise, pair.hypothesis)]
    # What decides how a side is permuted beside the scheme: where it is cut, and which tokens keep their places.
    cut = {"tokens": [" ".join(side.tokens) for side in sides]}
    how = {"scheme": scheme, "punctuation": params.punctuation, "fixed": [_punctuation(side) for side in sides], **cut}
    original, source = item_id(given, {}), "\n".join(given[1:3])
    if scheme == PERMUTED:
        control = item_id(given, {"scheme": "control", **cut})
        yield original, original, "original", source, None
        yield control, original, "control", source, "\n".join(side.joined for side in sides)
    permuted = permute(params, pair, scheme) if texts else None
    changed = map("\n".join, permuted.texts()) if permuted else repeat(None)
    for number, text in zip(range(params.n_of(scheme)), changed, strict=False):
        yield item_id(given, how, [params.seed, number]), original, scheme, source, text


def _punctuation(side: Sentence) -> list[int]:
    tags = side.upos or (None,) * len(side)
    return [i for i, (token, tag) in enumerate(zip(side.tokens, tags, strict=True)) if is_punctuation(token, tag)]


def _answered(
    params: NliPermutationParams, corpus: str, model: str, scheme: str, asked: pd.DataFrame, table: pd.DataFrame
) -> pd.DataFrame:
    """What was *asked* of some pairs under one variant, as one model answers."""
    answers = stacked(table["answers"], params.n_of(scheme), np.int8)
    if scheme == PERMUTED:
        answers = np.column_stack([table["original"], table["control"], answers])
    labels, lengths = (np.repeat(table[name].to_numpy(), answers.shape[1]) for name in ("label", "length"))
    accepted = _right(answers, label_numbers(table["label"])[:, None]).ravel()
    said = np.array([*LABELS, None], dtype=object)[answers.ravel()]  # the last one is REFUSED
    refused = np.isnan(accepted)
    of = {"corpus": corpus, "comparison": "main" if model in params.models else "maximum entropy"}
    groups = (
        {**of, "label": label, "length": str(length), "scheme": name}
        for label, length, name in zip(labels, lengths, asked["scheme"], strict=True)
    )
    return asked.drop(columns="scheme").assign(
        system=classifier_label(model),
        source_language=params.language,
        measure="accepted",
        value=accepted,
        verdict=np.where(refused, "undecided", np.where(accepted == 1, "pass", "fail")),
        reason=np.where(refused, "refused", np.where(accepted == 1, "", said)),
        groups=objects(groups),
        reference=labels,
        output=said,
    )
