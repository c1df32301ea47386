"""The word-order study's steps: pairs and their perturbed variants, scores, sums over them; a chunk of pairs at a time.

What is computed is remembered (`nbkit.studies.engine`): of each chunk the texts, what needs no model (α, chance and
similarity) and, of each model, β, β₁ and β₂; of each language and model the sums that tables are made of.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import chain, combinations, pairwise, product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

import numpy as np

from nbkit import corpora
from nbkit.corpora import Pair, Skipped, load_pairs
from nbkit.corpora.corpus import RawCorpus
from nbkit.errors import DataError, NbkitError
from nbkit.measure import Kappa, check_metric
from nbkit.measure.displacement import carried_displacement, displacement
from nbkit.measure.statistics import StreamedBootstrap
from nbkit.models import label as model_label
from nbkit.models import resolve
from nbkit.models.services.outputs import OutputsModel
from nbkit.perturb import CONTROL, PERTURBATIONS, is_drawn, perturb_all
from nbkit.store import Store
from nbkit.studies.base import Notebook
from nbkit.studies.engine import TRANSLATOR, Axis, Counts, Cuts, Held, Point, Step, Study, Use, asked_translations
from nbkit.studies.word_order.params import WordOrderParams
from nbkit.text.sentences import Order, Spacing, Text

if TYPE_CHECKING:
    import pandas as pd

T = TypeVar("T")

#: Pairs handled, and remembered, at a time: memory does not grow with the corpus.
CHUNK = 1000
#: Texts that one unit translates at most, on average: some minutes of work, many times what loading a model takes.
PART_TEXTS = 4000
#: Chunks whose texts are parted together, so that one that stands in several is translated once.
SPAN = 16
#: Pairs of a corpus that was never read whose texts are looked up in files of translations.
_FEW = 5
#: The threshold of `flip_criteria`, read off the printed samples.
INFERRED = 0.5

#: An order of the tokens of each sentence of a text, None for a sentence that stays as it is.
Orders = Sequence[Order | None]
#: Where a stretch of characters begins, and where it ends.
Span = tuple[int, int]

_SCORE_COLUMNS = ["language", "model", "pair", "perturbation", "category", "spacing", "metric", "length",
                  "beta", "beta1", "beta2", "alpha_source", "alpha_target", "chance"]  # fmt: skip


# ----------------------------------------------------------------------------
# Pairs and their perturbed variants, chunk by chunk.


@dataclass(frozen=True)
class Variant:
    """One pair under one perturbation; both sides could be perturbed, so it is part of N.

    index: of the pair in the corpus. second_draw: the reference under an independent draw of the same perturbation,
    None where the perturbation draws nothing, or has one outcome for this reference (two verbs to swap).
    """

    index: int
    pair: Pair
    perturbation: str
    spacing: Spacing
    source_orders: Orders = ()
    reference_orders: Orders = ()
    second_orders: Orders | None = None

    @cached_property
    def source(self) -> str:
        """The perturbed source."""
        return self._written(self.pair.source, self.source_orders)

    @cached_property
    def reference(self) -> str:
        """The perturbed reference."""
        return self._written(self.pair.target, self.reference_orders)

    @cached_property
    def second_draw(self) -> str | None:
        return None if self.second_orders is None else self._written(self.pair.target, self.second_orders)

    def moved(self, side: Literal["source", "reference"]) -> tuple[Span, ...]:
        """Where the words that moved stand in the perturbed text (`moved_spans`)."""
        if side == "source":
            return moved_spans(self.pair.source, self.source_orders, self.source)
        return moved_spans(self.pair.target, self.reference_orders, self.reference)

    def _written(self, text: Text, orders: Orders) -> str:
        if orders:
            return text.reorder(orders, self.spacing)
        return text.joined if self.spacing == "joined" else text.text  # the control


@dataclass
class Chunk:
    """Pairs that follow each other in the corpus, parsed; they are perturbed once, when that is first asked for.

    start: number of the first. names: the perturbations. settings: seed, unit and min_tokens, for `perturb_all`.
    """

    start: int
    pairs: Sequence[Pair]
    names: Sequence[str]
    settings: Mapping[str, Any]

    def variants(self, spacing: Spacing = "joined") -> list[Variant]:
        """The control and every perturbation of every pair in which both sides can be perturbed.

        Source and reference are perturbed by independent draws, as in the paper (§6.1).
        """
        if spacing == "joined":
            return self._joined  # whose texts are written once for all who ask
        return [replace(variant, spacing=spacing) for variant in self._joined]

    @cached_property
    def _joined(self) -> list[Variant]:
        found = []
        drawing = [name for name in self.names if PERTURBATIONS.get(name).random]
        for index, pair in enumerate(self.pairs, self.start):
            if min(len(pair.source), len(pair.target)) < self.settings["min_tokens"]:
                continue
            found.append(Variant(index, pair, CONTROL, "joined"))
            sources, references = self._orders(pair.source, self.names), self._orders(pair.target, self.names)
            second = self._orders(pair.target, [name for name in drawing if name in references], draw=1)
            for name in [name for name, drawn in second.items() if _are_equal(drawn, references[name])]:
                if not is_drawn(pair.target, name, seed=self.settings["seed"], unit=self.settings["unit"]):
                    del second[name]
            for name in self.names:
                if name in sources and name in references:
                    orders = sources[name], references[name], second.get(name)
                    found.append(Variant(index, pair, name, "joined", *orders))
        return found

    def _orders(self, text: Text, names: Sequence[str], draw: int = 0) -> dict[str, Orders]:
        """Of the perturbations that apply to *text*."""
        orders = perturb_all(text, names, draw=draw, **self.settings)
        return {name: order for name, order in orders.items() if order is not None}


def _are_equal(one: Orders, other: Orders) -> bool:
    # Of nothing, numpy makes an array that equals itself.
    return all(np.array_equal(np.asarray(a), np.asarray(b)) for a, b in zip(one, other, strict=True))


def chunk_starts(n_pairs: int) -> range:
    """Where the chunks of a corpus of *n_pairs* begin.

    >>> list(chunk_starts(2500))
    [0, 1000, 2000]
    """
    return range(0, n_pairs, CHUNK)


def chunk_of(pair: int) -> int:
    """Where the chunk begins that has the pair of this number."""
    return pair // CHUNK * CHUNK


_held_chunks = Held(size=2)


def read_chunk(params: WordOrderParams, language: str, start: int, store: Store) -> Chunk:
    """The pairs ``start … start + CHUNK - 1`` of the corpus; kept for the next call."""
    wanted = params.pairs_wanted(language)
    stop = start + CHUNK if wanted is None else min(start + CHUNK, wanted)

    def read() -> Chunk:
        pairs = load_pairs(
            params.corpus, params.source, language, n=stop - start, start=start, parsers=params.parsers or None,
            on_error=params.on_error, skipped=Skipped(), store=store,
        )  # fmt: skip
        settings = {"seed": params.seed, "unit": params.unit, "min_tokens": params.min_tokens}
        return Chunk(start, tuple(pairs), params.perturbation_names, settings)

    # The key knows what is in files: one that is edited while a kernel runs has the same name and other pairs.
    content = params.language_key(language)
    return _held_chunks([content, params.corpus, params.parsers, start, stop, store.url], read)


def moved(order: Sequence[int]) -> list[bool]:
    """Which of the reordered tokens were taken elsewhere, and not merely pushed along by others.

    order: the token that stands at each place. Tokens that stay together count as one piece. The pieces that stay
    are those which keep their old order among each other: as many as possible whose place among the pieces is the
    old one, then as many tokens as possible. A piece that could as well have stayed as moved (two
    neighbours of the same length that changed places) has moved. Returns one value for each place of *order*.

    >>> moved([0, 3, 2, 1, 4]), moved([2, 0, 1, 3])
    ([False, True, False, True, False], [True, False, False, False])
    >>> moved([3, 2, 0, 1]), moved([1, 0])  # "The guests | left" becomes "… | left | the guests"
    ([True, False, True, True], [True, True])
    """
    starts = [place for place, token in enumerate(order) if place == 0 or order[place - 1] + 1 != token]
    lengths = [end - start for start, end in pairwise([*starts, len(order)])]
    first = [order[start] for start in starts]
    rank = {token: i for i, token in enumerate(sorted(first))}
    pieces = [rank[token] for token in first]
    weights = [(int(piece == place), length) for place, (piece, length) in enumerate(zip(pieces, lengths, strict=True))]
    before = _best_chains(pieces, weights)
    after = _best_chains([-piece for piece in reversed(pieces)], weights[::-1])[::-1]
    # A piece stays for certain where all the best chains go through it.
    through = [
        ((a[0][0] + b[0][0] - w[0], a[0][1] + b[0][1] - w[1]), a[1] * b[1])
        for a, b, w in zip(before, after, weights, strict=True)
    ]
    best = max((score for score, _ in through), default=(0, 0))
    ending = [n for (score, n), (total, _) in zip(before, through, strict=True) if score == total == best]
    stays = [score == best and n == sum(ending) for score, n in through]
    return [not stay for stay, length in zip(stays, lengths, strict=True) for _ in range(length)]


def moved_spans(text: Text, orders: Orders, perturbed: str) -> tuple[Span, ...]:
    """Where the words that `moved` stand in *perturbed*, which is *text* in *orders* in any spacing; in characters.

    >>> from nbkit.text.sentences import Sentence
    >>> moved_spans(Text((Sentence(("Tom", "often", "sings", "."), "en"),)), [[2, 1, 0, 3]], "sings often Tom.")
    ((0, 5), (12, 15))
    >>> moved_spans(Text((Sentence(("Tom", "sings"), "en"),)), [], "Tom sings")
    ()
    """
    spans: list[Span] = []
    end = 0
    for sentence, order in zip(text.sentences, orders, strict=bool(orders)):
        places = range(len(sentence)) if order is None else [int(token) for token in order]
        for token, has_moved in zip(places, moved(places), strict=True):
            start = perturbed.index(sentence.tokens[token], end)
            end = start + len(sentence.tokens[token])
            if has_moved:
                spans.append((start, end))
    return tuple(spans)


def _best_chains(pieces: Sequence[int], weights: Sequence[tuple[int, int]]) -> list[tuple[tuple[int, int], int]]:
    """The greatest weight of a rising chain of *pieces* that ends at each, and how many chains have it."""
    best: list[tuple[tuple[int, int], int]] = []
    for place, (piece, weight) in enumerate(zip(pieces, weights, strict=True)):
        top, n = (0, 0), 1
        for earlier, (score, chains) in zip(pieces[:place], best, strict=True):
            if earlier < piece and score > top:
                top, n = score, chains
            elif earlier < piece and score == top:
                n += chains
        best.append(((top[0] + weight[0], top[1] + weight[1]), n))
    return best


# ----------------------------------------------------------------------------
# How the work is cut: reading and scoring into chunks of pairs, translating into parts of the distinct texts, so that
# no two units translate the same one. Corpora are cut whose size is asked for, or can be counted without parsing.


class Part(NamedTuple):
    """One of so many parts of the texts of a span of chunks."""

    number: int
    of: int

    def __str__(self) -> str:
        return f"{self.number + 1}/{self.of}" if self.of > 1 else ""


def _size(params: WordOrderParams, language: str) -> int | None:
    """How many pairs are wanted, or else the corpus holds; None where counting takes a parser, or it cannot be read."""
    return params.pairs_wanted(language) or _raw_size(params, language)


def _raw_size(params: WordOrderParams, language: str) -> int | None:
    """How many pairs of raw text the corpus holds; None where it is none, or cannot be read."""
    try:
        found, split = corpora.find_corpus(params.corpus)
        if not isinstance(found, RawCorpus):
            return None
        request = corpora.Request(params.source, language, split)
        files = found.files_identity(request)  # a parser need not be here to count
        return _counted(params.corpus, params.source, language, json.dumps(files)) or None
    except NbkitError:  # the unit that reads it says so, with file and line
        return None


@lru_cache(maxsize=64)
def _counted(corpus: str, source: str, language: str, files: str) -> int:
    """The good pairs of a raw corpus. files: the identity of what is read."""
    found, split = corpora.find_corpus(corpus)
    assert isinstance(found, RawCorpus)
    pairs = found.raw_pairs(corpora.Request(source, language, split))
    return sum(not isinstance(pair, DataError) for pair in pairs)


def _cuts(params: WordOrderParams, language: str, **_: Any) -> list[int | None]:
    """Where the chunks of a corpus begin; None, for all of it, where it is one, or its size is not known yet."""
    size = _size(params, language)
    return [None] if size is None or size <= CHUNK else list(chunk_starts(size))


def _starts(params: WordOrderParams, start: int | None, store: Store, language: str, **_: Any) -> list[int]:
    """The chunk that begins at *start* where the corpus reaches that far; every chunk where *start* is None."""
    if start is None:
        return list(chunk_starts(n_pairs(params, language, store)))
    if is_counted(params, language, store):
        return [start] if start < n_pairs(params, language, store) else []
    there = is_scored(params, language, start, store) or read_chunk(params, language, start, store).pairs
    return [start] if there else []


def _large(*axes: str) -> Callable[[WordOrderParams], Iterator[Point]]:
    """The points of the *axes* whose languages have several chunks: of one chunk, pages are as quick as units."""
    return lambda params: (at for at in STUDY.points(params, axes) if (_size(params, at["language"]) or 0) > CHUNK)


def _parts(params: WordOrderParams) -> Iterator[Point]:
    """Spans of `SPAN` chunks, each in as many parts as leave `PART_TEXTS` at most, where every perturbation applies.

    A model of many languages stays loaded where it is: its languages come one after the other.
    """
    for at in STUDY.points(params, ("model", "language")):
        size = _size(params, at["language"])
        for start in _cuts(params, at["language"])[::SPAN]:
            most = 1 if size is None else _most_texts(params, _within(size, start, SPAN))
            parts = -(-most // PART_TEXTS)
            yield from ({**at, "start": start, "part": Part(part, parts)} for part in range(parts))


def _within(size: int, start: int | None, chunks: int = 1) -> int:
    """How many of *size* pairs lie in so many chunks from *start* on; all where *start* is None."""
    return size if start is None else max(0, min(CHUNK * chunks, size - start))


def _most_texts(params: WordOrderParams, n_pairs: int) -> int:
    """How many texts *n_pairs* are if every perturbation applies."""
    return n_pairs * (1 + len(params.spacings) * (1 + len(params.perturbation_names)))


def _unread(params: WordOrderParams, language: str, store: Store) -> int | None:
    """How many pairs a corpus has at most that was never read, without parsing it; None where it has to be, or was."""
    if is_counted(params, language, store):
        return None
    sizes = [size for size in (params.pairs_wanted(language), _raw_size(params, language)) if size is not None]
    return min(sizes, default=None)


def _pair_counts(params: WordOrderParams, language: str, start: int | None, store: Store) -> tuple[int, int]:
    """Pairs of the chunk at *start* (of all where it is None), and how many are scored as far as no model is needed."""
    if most := _unread(params, language, store):
        return _within(most, start), 0
    n = n_pairs(params, language, store)
    sizes = {each: _within(n, each) for each in _starts(params, start, store, language)}
    scored = (size for each, size in sizes.items() if is_scored(params, language, each, store))
    return sum(sizes.values()), sum(scored)


def _text_counts(
    params: WordOrderParams, model: str, language: str, start: int | None, part: Part, store: Store
) -> Counts:
    """The texts of a part, and how many are translated; of a corpus that was never read, how many they are at most.

    Files of translations are asked for the texts of the first pairs of a corpus that was never read.
    """
    if most := _unread(params, language, store):
        bound = _most_texts(params, _within(most, start, SPAN)) // part[1]
        remote = resolve(model, params.source, language).remote
        if part[0] or start or not isinstance(remote, OutputsModel):
            return Counts(bound, 0)
        few = params.model_copy(update={"n_pairs": min(_FEW, most)})
        some = _texts(few, language, None, Part(0, 1), Store("memory://nbkit-few"))
        return Counts(bound, 0, remote.missing(some, params.source, language))
    texts = _texts(params, language, start, part, store)
    return asked_translations(params, model, params.source, language, texts, store)


# ----------------------------------------------------------------------------
# The study.


def _problems(params: WordOrderParams) -> Iterator[str | None]:
    """Problems of this run here beside its models: corpora, and metrics' weights."""
    if params.n_pairs is None and _is_endless(params.corpus):
        yield f"corpus '{params.corpus}' is unbounded: set n_pairs"
    for language in params.languages:
        n, parsers = params.pairs_wanted(language), params.parsers or None
        yield from corpora.check_corpus(params.corpus, params.source, language, parsers, n=n, on_error=params.on_error)
    for name in params.metrics:
        options: Mapping[str, Any] = params.metric_options.get(name, {})
        yield check_metric(name, **options)


def _is_endless(corpus: str) -> bool:
    try:
        return corpora.is_endless(corpus)
    except NbkitError:  # `check_corpus` says what is wrong with it
        return False


def _inputs(params: WordOrderParams) -> dict[str, Any]:
    """Digests of what the parameters stand for: corpus, parsers, metrics' weights, models."""
    return {
        language: {
            "texts": params.language_key(language),
            "metrics": params.metric_key(language),
            "models": [params.model_key(language, model) for model in params.models],
        }
        for language in params.languages
    }


def uses(params: WordOrderParams, language: str, model: str, **_: Any) -> list[Use]:
    """The translator that is asked at a point of the grid."""
    return [Use(TRANSLATOR, model, (params.source, language))]


STUDY = Study(
    name="word_order",
    title="Word order: robust or faithful?",
    paper="Parthasarathi, Sinha, Pineau and Williams (2021), Sometimes We Want Ungrammatical Translations",
    params=WordOrderParams,
    axes={
        "language": Axis(lambda params: params.languages),
        "model": Axis(lambda params: params.models, model_label),
        "start": Cuts(_cuts, _starts),
    },
    grid=("language", "model"),
    verdict="fail: a flip: the scrambled source is translated better than the plain one (β₁ > β); else pass",
    behaviour=Path(__file__).with_name("behaviour.yaml"),
    used=lambda params, store: {"n_pairs": sorted({n_pairs(params, each, store) for each in params.languages})},
    tags=lambda params: {"corpus": params.corpus},
    check=_problems,
    inputs=_inputs,
    uses=lambda params: chain.from_iterable(
        uses(params, language, model) for model, language in product(params.models, params.languages)
    ),
    # In the order in which the report shows them; a test compares titles with the notebooks.
    notebooks=(
        Notebook("word_order/perturbations", "What do the perturbations do, and to how many sentences?", "grid"),
        Notebook("word_order/similarity", "How alike are the perturbations?", "grid"),
        Notebook("word_order/robust_or_faithful", "Are the models robust or faithful?", "grid"),
        Notebook("word_order/per_perturbation", "Which perturbations break which model?", "grid"),
        Notebook("word_order/length", "Does the length of a sentence matter?", "grid"),
        Notebook("word_order/correlations", "Are better translations more robust?", "grid"),
        Notebook("word_order/flips", "When does scrambling help?", "grid"),
        Notebook("word_order/model_comparison", "Which model is more robust, and is the difference real?", "grid"),
        Notebook("word_order/model_card", "How does this model treat scrambled sentences?", "cell"),
    ),
)


def _texts_key(params: WordOrderParams, language: str, **more: Any) -> dict[str, Any]:
    return {"chunk": CHUNK, **params.language_key(language), **more}


def metrics_key(params: WordOrderParams, language: str, **more: Any) -> dict[str, Any]:
    """What can change scores that need no model. more: the rest of the point."""
    return _texts_key(params, language, metrics=params.metric_key(language), **more)


def model_key(params: WordOrderParams, language: str, model: str, **more: Any) -> dict[str, Any]:
    """What can change scores of a model."""
    return metrics_key(params, language, **params.model_key(language, model), **more)


# ----------------------------------------------------------------------------
# Texts, and per-sentence scores: computed chunk by chunk, never averaged here.
#
# *Difficulty* needs no model: α on both sides and the chance level. *Behaviour* needs translations: β, β1
# (robustness), β2 (faithfulness). §3 of the paper:
#
#     β  = κ(g_o, t_o)      translation of the source against the reference
#     β1 = κ(g_o, t_o⁻)     translation of the perturbed source against the reference
#     β2 = κ(g_o⁻, t_o⁻)    ... against the equally perturbed reference
#     α  = κ(g, g⁻)         a text against itself perturbed


@STUDY.step(per=("language",), key=lambda params, language: params.language_key(language))
def extent(params: WordOrderParams, language: str, store: Store) -> pd.DataFrame:
    """Pairs used and excluded, by reason: columns n_pairs, reason, n, example."""
    import pandas as pd

    skipped, short, total = Skipped(), [], 0
    for pair in load_pairs(
        params.corpus, params.source, language, n=params.pairs_wanted(language), parsers=params.parsers or None,
        on_error=params.on_error, skipped=skipped, store=store,
    ):  # fmt: skip
        total += 1
        if min(len(pair.source), len(pair.target)) < params.min_tokens:
            short.append(pair.id)
    reasons = [
        ("malformed line skipped", len(skipped), skipped.summary() if len(skipped) else ""),
        (f"a side shorter than {params.min_tokens} tokens", len(short), ", ".join(short[:3])),
    ]
    return pd.DataFrame([(total, *reason) for reason in reasons], columns=["n_pairs", "reason", "n", "example"])


def n_pairs(params: WordOrderParams, language: str, store: Store | None = None) -> int:
    """How many usable pairs the corpus holds for *language*, counted once and remembered.

    Raises `NbkitError` where it holds none: there is nothing to study.
    """
    n = int(extent(params, language, store=store)["n_pairs"].iloc[0])
    if n == 0:
        raise NbkitError(f"corpus '{params.corpus}' holds no usable pair {params.source}-{language}")
    return n


def is_counted(params: WordOrderParams, language: str, store: Store) -> bool:
    """Whether `n_pairs` is remembered; else it reads the corpus, and may have to parse it."""
    return extent.rows(params, language, store=store) is not None


@STUDY.step(
    per=("language", "start"),
    key=lambda params, **at: _texts_key(params, **at, spacings=list(params.spacings)),
)
def texts_chunk(params: WordOrderParams, language: str, start: int, store: Store) -> pd.DataFrame:
    """The distinct texts of one chunk that each model is asked to translate: as they are, and under every variant.

    Remembered, because it is asked for first (how many are translated already) once a model. Column: text.
    """
    import pandas as pd

    chunk = read_chunk(params, language, start, store)
    texts = [pair.source.text for pair in chunk.pairs]
    for spacing in params.spacings:
        texts += [variant.source for variant in chunk.variants(spacing)]
    return pd.DataFrame({"text": list(dict.fromkeys(texts))})


@STUDY.step(per=("language", "start"), key=metrics_key)
def difficulty_chunk(params: WordOrderParams, language: str, start: int, store: Store) -> pd.DataFrame:
    """α and chance level of one chunk: one row per pair, perturbation and metric.

    Columns: pair, perturbation, metric, length (source tokens), alpha_source, alpha_target, chance
    (κ of two independent draws on the reference; NaN where the reference has one outcome, as two verbs to swap do).
    """
    import pandas as pd

    rows = read_chunk(params, language, start, store).variants()
    drawn = np.array([v.second_draw is not None for v in rows], dtype=bool)
    second = [(v.second_draw, v.reference) for v in rows if v.second_draw is not None]
    sources, targets = [v.pair.source.text for v in rows], [v.pair.target.text for v in rows]
    tables = []
    for metric in params.kappas():
        chance = np.full(len(rows), np.nan)
        chance[drawn] = metric.scores([a for a, _ in second], [b for _, b in second], language)
        tables.append(_keys(rows, metric).assign(
            length=[len(v.pair.source) for v in rows],
            alpha_source=metric.scores([v.source for v in rows], sources, params.source),
            alpha_target=metric.scores([v.reference for v in rows], targets, language),
            chance=chance,
        ))  # fmt: skip
    return pd.concat(tables, ignore_index=True)


@STUDY.step(per=("language", "start"), key=metrics_key)
def similarity_chunk(params: WordOrderParams, language: str, start: int, store: Store) -> pd.DataFrame:
    """κ between the perturbations of the same text (Figures 5 and 14), for metrics that cost little.

    Columns: pair, side ("source" or "target"), metric, perturbation_a, perturbation_b, kappa; one row each unordered
    pair of perturbations that apply to the same text.
    """
    import pandas as pd

    grouped: dict[int, list[Variant]] = {}
    for variant in read_chunk(params, language, start, store).variants():
        if variant.perturbation != CONTROL:
            grouped.setdefault(variant.index, []).append(variant)
    two = [pair for group in grouped.values() for pair in combinations(group, 2)]
    tables = []
    for side, lang in (("source", params.source), ("target", language)):
        texts = [(b.source, a.source) if side == "source" else (b.reference, a.reference) for a, b in two]
        for metric in params.kappas():
            if hasattr(metric, "problem"):  # has weights: too slow for every pair of perturbations
                continue
            table = pd.DataFrame({
                "pair": [a.index for a, _ in two],
                "side": side,
                "metric": metric.name,
                "perturbation_a": [a.perturbation for a, _ in two],
                "perturbation_b": [b.perturbation for _, b in two],
                "kappa": metric.scores([b for b, _ in texts], [a for _, a in texts], lang),
            })  # fmt: skip
            tables.append(_as_categories(table, params))
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame()


@STUDY.step(per=("language", "model", "start"), key=model_key, uses=uses)
def behaviour_chunk(params: WordOrderParams, language: str, model: str, start: int, store: Store) -> pd.DataFrame:
    """β, β1 and β2 of one chunk: one row per pair, perturbation, spacing and metric.

    Columns: pair, perturbation, spacing, metric, beta, beta1, beta2 (β2 of the control is κ against the
    re-joined reference, which every κ of nbkit scores like the reference).
    """
    import pandas as pd

    chunk = read_chunk(params, language, start, store)
    references = [pair.target.text for pair in chunk.pairs]
    plain = translate(params, model, [pair.source.text for pair in chunk.pairs], language, store)
    tables = []
    for spacing in params.spacings:
        rows = chunk.variants(spacing)
        places = [v.index - start for v in rows]
        hypotheses = translate(params, model, [v.source for v in rows], language, store)
        for metric in params.kappas():
            beta = metric.scores(plain, references, language)
            tables.append(_keys(rows, metric).assign(
                spacing=spacing,
                beta=[beta[place] for place in places],
                beta1=metric.scores(hypotheses, [references[place] for place in places], language),
                beta2=metric.scores(hypotheses, [v.reference for v in rows], language),
            ))  # fmt: skip
    return pd.concat(tables, ignore_index=True)


def _carried_key(params: WordOrderParams, language: str, model: str, **more: Any) -> dict[str, Any]:
    return _texts_key(params, language, **params.model_key(language, model), **more)


@STUDY.step(per=("language", "model", "start"), key=_carried_key, uses=uses)
def carried_chunk(params: WordOrderParams, language: str, model: str, start: int, store: Store) -> pd.DataFrame:
    """Carried displacement in one chunk (`nbkit.measure.displacement`): one row per perturbed pair and spacing.

    Columns: pair, perturbation, spacing, carried (NaN where it is not defined), chance (of words in random order).
    """
    import pandas as pd

    chunk = read_chunk(params, language, start, store)
    plain = translate(params, model, [pair.source.text for pair in chunk.pairs], language, store)
    rows = []
    for spacing in params.spacings:
        variants = [each for each in chunk.variants(spacing) if each.perturbation != CONTROL]
        outputs = translate(params, model, [each.source for each in variants], language, store)
        for each, output in zip(variants, outputs, strict=True):
            source, moved = (each.pair.source.text, each.source), (plain[each.index - start], output)
            carried = carried_displacement(source, moved, params.source, language)
            chance = 1 / displacement(*source, params.source).displacement if carried == carried else carried
            rows.append((each.index, each.perturbation, spacing, carried, chance))
    return pd.DataFrame(rows, columns=["pair", "perturbation", "spacing", "carried", "chance"])


def is_scored(params: WordOrderParams, language: str, start: int, store: Store) -> bool:
    """Whether what needs no model, `difficulty_chunk` and `similarity_chunk`, is remembered of a chunk."""
    return all(step.rows(params, language, start, store=store) is not None for step in _READ)


_READ = (difficulty_chunk, similarity_chunk)


def translate(params: WordOrderParams, model: str, texts: Sequence[str], language: str, store: Store) -> list[str]:
    """Translations of *texts*, each distinct text translated once ever with these settings."""
    return params.translate(model, texts, params.source, language, store)


def score_chunk(params: WordOrderParams, language: str, model: str, start: int, store: Store) -> pd.DataFrame:
    """Every score of one chunk under one model: the rows of `scores` that belong to it, same columns."""
    base = difficulty_chunk(params, language, start, store=store)
    ours = behaviour_chunk(params, language, model, start, store=store)
    merged = ours.merge(base, on=["pair", "perturbation", "metric"], validate="many_to_one")
    merged = merged.sort_values("pair", kind="stable")  # the same rows whatever the size of a chunk
    return _compact(merged.assign(language=language, model=model_label(model)), params)[_SCORE_COLUMNS]


def scores(params: WordOrderParams, store: Store | None = None) -> pd.DataFrame:
    """Every per-sentence score of the run: one row per language, model, pair, perturbation, spacing and metric.

    Columns: language, model, pair, perturbation, category, spacing, metric, length, beta, beta1, beta2,
    alpha_source, alpha_target, chance. It holds the whole grid, about 60 bytes per row; `score_chunk` streams.
    """
    import pandas as pd

    store = store or Store()
    frames = [
        score_chunk(params, language, model, start, store)
        for language, model in product(params.languages, params.models)
        for start in chunk_starts(n_pairs(params, language, store))
    ]
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=_SCORE_COLUMNS)


def perturbed_scores(params: WordOrderParams, language: str, model: str, store: Store) -> Iterator[pd.DataFrame]:
    """The scores that the main figures show, chunk by chunk: perturbed sentences in the first spacing of the run."""
    for start in chunk_starts(n_pairs(params, language, store)):
        table = score_chunk(params, language, model, start, store)
        yield table[(table["spacing"] == params.spacings[0]) & (table["perturbation"] != CONTROL)]


def difficulties(params: WordOrderParams, store: Store | None = None) -> pd.DataFrame:
    """Per-sentence α and chance of the run; needs no model. Columns as `difficulty_chunk`, plus language, category.

    It holds all languages; `difficulty_chunk` streams.
    """
    import pandas as pd

    store = store or Store()
    frames = [
        _compact(difficulty_chunk(params, language, start, store=store).assign(language=language), params)
        for language in params.languages
        for start in chunk_starts(n_pairs(params, language, store))
    ]
    return pd.concat(frames, ignore_index=True)


def flip_criteria(scores: pd.DataFrame) -> dict[str, pd.Series]:
    """Whether each row of *scores* (columns beta and beta1) is a flip, by both criteria.

    flip: β₁ > β, as the word-order paper words it (§7). flip_inferred: β ≤ ½ < β₁, which is inferred: the research code
    holds no criterion, all 75 printed samples have β ≤ ½ and all but one β₁ > ½, and only so are flips as rare as
    printed.
    """
    return {
        "flip": scores["beta1"] > scores["beta"],
        "flip_inferred": (scores["beta"] <= INFERRED) & (scores["beta1"] > INFERRED),
    }


def with_category(table: pd.DataFrame) -> pd.DataFrame:
    """*table* with the category (tree, pos, random, control) of its column perturbation."""
    categories = {name: category_of(name) for name in table["perturbation"].unique()}
    return table.assign(category=table["perturbation"].map(categories))


def category_of(perturbation: str) -> str:
    """The category of a perturbation, "control" for the control."""
    return CONTROL if perturbation == CONTROL else PERTURBATIONS.get(perturbation).category


def _compact(table: pd.DataFrame, params: WordOrderParams) -> pd.DataFrame:
    """*table* with its category, in a third of the memory."""
    return _as_categories(with_category(table).astype({"pair": "int32", "length": "int32"}), params)


def _as_categories(table: pd.DataFrame, params: WordOrderParams) -> pd.DataFrame:
    """*table* with names as categories that are the same in every chunk."""
    import pandas as pd

    perturbations = [CONTROL, *params.perturbation_names]
    names: dict[str, Iterable[str]] = {
        "language": params.languages,
        "model": map(model_label, params.models),
        "perturbation": perturbations,
        "perturbation_a": perturbations,
        "perturbation_b": perturbations,
        "category": dict.fromkeys(map(category_of, perturbations)),
        "spacing": params.spacings,
        "side": ["source", "target"],
        "metric": params.metrics,
    }
    types: dict[str, Any] = {column: pd.CategoricalDtype(list(values)) for column, values in names.items()}
    return table.astype({column: dtype for column, dtype in types.items() if column in table})


def _keys(rows: Sequence[Variant], metric: Kappa) -> pd.DataFrame:
    import pandas as pd

    table = pd.DataFrame({"pair": [v.index for v in rows], "perturbation": [v.perturbation for v in rows]})
    return table.assign(metric=metric.name)


# ----------------------------------------------------------------------------
# Sums of one language and model at a time, with their bootstrap resamples: what the tables are made of.
#
# A grid does not fit in memory, and neither need a corpus: the scores of a block, a language under one model,
# are read chunk by chunk, and what stays of them are sums and counts of every quantity, in every resample of
# the sentence pairs. Means, shares and what is pooled over blocks follow from them (`tables`).


@STUDY.step(per=("language",), key=metrics_key)
def difficulty_sums(params: WordOrderParams, language: str, store: Store) -> pd.DataFrame:
    """α of both sides. Quantities: metric, perturbation, score ("alpha_source", "alpha_target")."""
    scores = ["alpha_source", "alpha_target"]
    sums = Sums(params.seed, metric=params.metrics, perturbation=params.perturbation_names, score=scores)
    for start in chunk_starts(n_pairs(params, language, store)):
        table = difficulty_chunk(params, language, start, store=store)
        sums.add(table[table["perturbation"] != CONTROL], scores)
    return sums.table()


@STUDY.step(per=("language",), key=metrics_key)
def similarity_sums(params: WordOrderParams, language: str, store: Store) -> pd.DataFrame:
    """κ between perturbations. Quantities: side, metric, perturbation_a, perturbation_b (each unordered pair once)."""
    names = params.perturbation_names
    sums = Sums(
        params.seed, side=["source", "target"], metric=params.metrics, perturbation_a=names, perturbation_b=names,
        score=["kappa"],
    )  # fmt: skip
    for start in chunk_starts(n_pairs(params, language, store)):
        sums.add(similarity_chunk(params, language, start, store=store), ["kappa"])
    return sums.table().drop(columns="score")


@STUDY.step(per=("language", "model"), key=model_key, uses=uses)
def score_sums(params: WordOrderParams, language: str, model: str, store: Store) -> pd.DataFrame:
    """β, β1, β2, chance, β1 − β2 and flips. Quantities: metric, spacing, perturbation, score.

    Scores: "beta", "beta1", "beta2", "chance", "difference", "flip", "flip_inferred" (see `flip_criteria`).
    """
    scores = ["beta", "beta1", "beta2", "chance", "difference", "flip", "flip_inferred"]
    names = [CONTROL, *params.perturbation_names]
    sums = Sums(params.seed, metric=params.metrics, spacing=params.spacings, perturbation=names, score=scores)
    for start in chunk_starts(n_pairs(params, language, store)):
        table = score_chunk(params, language, model, start, store)
        flips = {name: flipped.astype(float) for name, flipped in flip_criteria(table).items()}
        sums.add(table.assign(difference=table["beta1"] - table["beta2"], **flips), scores)
    return sums.table()


@dataclass(frozen=True)
class Block:
    """The quantities of one block, and what is known of each.

    quantities: one row each, such as language, model, metric, spacing, perturbation, score.
    sums: the sum and the number of their values, of all pairs and in every resample of them: 2 × quantities ×
    (1 + resamples); resamples of blocks belong together, pair by pair.
    """

    quantities: pd.DataFrame
    sums: np.ndarray

    @classmethod
    def of(cls, table: pd.DataFrame, **labels: str) -> Block:
        """The block of a table of `Sums`. labels: columns that its quantities begin with."""
        sums = [
            np.column_stack([table[name], np.stack(table[f"{name}_draws"].to_list())])
            if len(table)
            else np.empty((0, 1))
            for name in ("total", "count")
        ]
        quantities = table.drop(columns=["total", "count", "total_draws", "count_draws"])
        names = [*labels, *quantities]
        return cls(quantities.reset_index(drop=True).assign(**labels)[names], np.stack(sums))

    def where(self, chosen: pd.Series | np.ndarray) -> Block:
        """The quantities for which *chosen* is true."""
        keep = np.asarray(chosen, dtype=bool)
        return Block(self.quantities[keep].reset_index(drop=True), self.sums[:, keep])

    def parts(self, keys: list[str], parts: np.ndarray) -> Iterator[tuple[tuple[str, ...], np.ndarray]]:
        """What the columns *keys* hold of each quantity, and what *parts*, an array like `sums`, has of it."""
        return zip(self.quantities[keys].itertuples(index=False, name=None), parts.swapaxes(0, 1), strict=True)


def blocks(step: Step, params: WordOrderParams, store: Store) -> Iterator[Block]:
    """The blocks of a step of sums, a language (and model) each, which their quantities begin with."""
    for at in STUDY.points(params, step.per):
        labels = {name: STUDY.label(name, value) for name, value in at.items()}
        yield Block.of(step(params, **at, store=store), **labels)


class Sums:
    """A `StreamedBootstrap` whose quantities are the combinations of named values, the score innermost."""

    def __init__(self, seed: int, **axes: Sequence[str]):
        self._axes = axes
        self._sizes = [len(values) for values in axes.values()]
        self._stream = StreamedBootstrap(int(np.prod(self._sizes)), seed=seed)

    def add(self, table: pd.DataFrame, scores: Sequence[str]) -> None:
        """Add the columns *scores* of *table*, which has a column pair and one for each axis but the score."""
        import pandas as pd

        if table.empty:
            return
        codes = [
            pd.Index(list(values)).get_indexer(pd.Index(table[name].astype(str)))
            for name, values in self._axes.items()
            if name != "score"
        ]
        first = np.ravel_multi_index([*codes, np.zeros(len(table), dtype=np.int64)], self._sizes)
        self._stream.add(
            np.tile(table["pair"].to_numpy(), len(scores)),
            np.concatenate([first + number for number in range(len(scores))]),
            table[list(scores)].to_numpy(dtype=float).ravel(order="F"),
        )

    def table(self) -> pd.DataFrame:
        """The quantities that have values, with their sums, as a table that the store keeps."""
        import pandas as pd

        # Single precision is far finer than what 999 resamples tell, and half the bytes.
        total_draws, count_draws = (
            list(draws.astype(np.float32)) for draws in (self._stream.total_draws, self._stream.count_draws)
        )
        names = pd.MultiIndex.from_product(list(self._axes.values()), names=list(self._axes)).to_frame(index=False)
        sums = {"total": self._stream.totals, "count": self._stream.counts}
        table = names.assign(**sums, total_draws=total_draws, count_draws=count_draws)
        return table[table["count"] > 0]


# ----------------------------------------------------------------------------
# Units of work: read texts, translate, score, sum.


@STUDY.work("texts {language} {start}", per=("language", "start"), counts=_pair_counts)
def score_texts(params: WordOrderParams, language: str, start: int, store: Store) -> int:
    """One chunk of pairs read, parsed and perturbed: α, chance, similarity, and the texts to translate.

    Returns how many pairs were not scored before, for estimates.
    """
    scored = is_scored(params, language, start, store)
    n = 0 if scored else len(read_chunk(params, language, start, store).pairs)
    for step in (*_READ, *([texts_chunk] if params.models else [])):
        step(params, language, start, store=store)
    return n


@STUDY.work("sums of texts {language}", per=("language",), after=[score_texts], points=_large("language"))
def sum_texts(params: WordOrderParams, language: str, store: Store) -> None:
    """How many pairs there are, and sums over them, from what was read before."""
    alone = params.narrowed(language)
    for step in (extent, difficulty_sums, similarity_sums):
        step(alone, language, store=store)


@STUDY.work(
    "translate {model} {language} {start} {part}", per=("model", "language"), after=[score_texts], uses=uses,
    counts=_text_counts, points=_parts,
)  # fmt: skip
def translate_texts(
    params: WordOrderParams, language: str, model: str, start: int | None, part: Part, store: Store
) -> None:
    """One part of the distinct texts of up to `SPAN` chunks translated."""
    translate(params, model, _texts(params, language, start, part, store), language, store)


@STUDY.work("score {model} {language} {start}", per=("model", "language", "start"), after=[translate_texts])
def score_translations(params: WordOrderParams, language: str, model: str, start: int, store: Store) -> None:
    """One chunk of pairs scored."""
    behaviour_chunk(params, language, model, start, store=store)
    carried_chunk(params, language, model, start, store=store)


@STUDY.work(
    "sums of {model} {language}", per=("model", "language"), after=[score_translations],
    points=_large("model", "language"),
)  # fmt: skip
def sum_scores(params: WordOrderParams, language: str, model: str, store: Store) -> None:
    """Sums of scores over the pairs, which pages would make one after the other."""
    score_sums(params.narrowed(language, model), language, model, store=store)


def _texts(params: WordOrderParams, language: str, start: int | None, part: Part, store: Store) -> list[str]:
    """The texts of one part of a span: those whose digest falls to it, wherever they stand and however often."""
    number, of = part
    starts = [start] if start is None else range(start, start + SPAN * CHUNK, CHUNK)
    texts = dict.fromkeys(
        text
        for given in starts
        for each in _starts(params, given, store, language)
        for text in texts_chunk(params, language, each, store=store)["text"]
    )
    return [text for text in texts if zlib.crc32(text.encode()) % of == number]
