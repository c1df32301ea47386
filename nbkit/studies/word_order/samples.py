"""Which words of a perturbed text left their place: known from the order itself, not by comparing texts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise, product
from typing import TYPE_CHECKING

from nbkit.perturb import CONTROL, perturb_text
from nbkit.seeding import address
from nbkit.store import Store
from nbkit.studies.word_order import steps
from nbkit.studies.word_order.params import WordOrderParams
from nbkit.studies.word_order.steps import CHUNK, chunk_starts, perturbed_scores, read_chunk, variants
from nbkit.studies.word_order.tables import frame, in_paper_order
from nbkit.text.sentences import Order, Text

if TYPE_CHECKING:
    import pandas as pd

#: Where a stretch of characters begins, and where it ends.
Span = tuple[int, int]


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


def moved_spans(text: Text, orders: Sequence[Order | None], perturbed: str) -> tuple[Span, ...]:
    """Where the words that `moved` stand in *perturbed*, which is *text* in *orders* in any spacing; in characters.

    >>> from nbkit.text.sentences import Sentence
    >>> moved_spans(Text((Sentence(("Tom", "often", "sings", "."), "en"),)), [[2, 1, 0, 3]], "sings often Tom.")
    ((0, 5), (12, 15))
    """
    spans: list[Span] = []
    end = 0
    for sentence, order in zip(text.sentences, orders, strict=True):
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
# Sentences to read: what the perturbations do (Figure 3) and where they help (Tables 4 and 5).

_COLUMNS = ["language", "model", "pair", "perturbation", "source", "perturbed_source", "moved", "reference",
            "hypothesis", "perturbed_hypothesis", "beta", "beta1", "beta2"]  # fmt: skip


def examples(params: WordOrderParams, k: int = 1, store: Store | None = None) -> pd.DataFrame:
    """The first *k* pairs to which most perturbations apply, under each of them (Figure 3).

    Columns: language, pair, perturbation, category, side ("source" or "target"), text, perturbed, moved (where in
    the perturbed text the words stand that moved: `moved_spans`).
    """
    store, rows = store or Store(), []
    for language in params.languages:
        pairs = read_chunk(params, language, 0, store)
        by_pair: dict[int, list] = {}
        for variant in variants(params, pairs, 0):
            by_pair.setdefault(variant.pair, []).append(variant)
        chosen = sorted(by_pair, key=lambda pair: (-len(by_pair[pair]), pair))[:k]
        for pair in chosen:
            for variant in by_pair[pair]:
                if variant.perturbation == CONTROL:
                    continue
                for side, text, perturbed in (
                    ("source", pairs[pair].source, variant.perturbed_source),
                    ("target", pairs[pair].target, variant.perturbed_reference),
                ):
                    moved = _moved(params, text, variant.perturbation, perturbed)
                    rows.append((language, pair, variant.perturbation, side, text.text, perturbed, moved))
    columns = ["language", "pair", "perturbation", "side", "text", "perturbed", "moved"]
    return steps.with_category(frame(rows, columns))


def flip_samples(params: WordOrderParams, k: int = 3, store: Store | None = None) -> pd.DataFrame:
    """*k* translations a language and model that got better when the source was perturbed (Tables 4 and 5).

    Drawn with addressed randomness among the flips (β1 > β in the run's κ), no sentence twice.
    Columns: language, model, pair, perturbation, source, perturbed_source, moved (in the perturbed source, as in
    `examples`), reference, hypothesis, perturbed_hypothesis, beta, beta1, beta2.
    """
    store, frames = store or Store(), []
    for language, model in product(params.languages, params.models):
        chosen = None
        for table in _of_kappa(params, language, model, store):
            chosen = _first(params, "flips", [chosen, table[table["beta1"] > table["beta"]]], k)
        frames.append(_with_texts(params, chosen, language, model, store))
    return _together(frames)


def samples(params: WordOrderParams, k: int = 1, store: Store | None = None) -> pd.DataFrame:
    """*k* drawn sentences of every language, model and perturbation, translated.

    Columns as `flip_samples`.
    """
    import pandas as pd

    store, frames = store or Store(), []
    for language, model in product(params.languages, params.models):
        chosen: dict[str, pd.DataFrame] = {}
        for table in _of_kappa(params, language, model, store):
            for name, group in table.groupby("perturbation", sort=False, observed=True):
                chosen[str(name)] = _first(params, "samples", [chosen.get(str(name)), group], k)
        rows = pd.concat(chosen.values()) if chosen else None
        frames.append(_with_texts(params, rows, language, model, store))
    return in_paper_order(_together(frames))


def _of_kappa(params: WordOrderParams, language: str, model: str, store: Store) -> Iterator[pd.DataFrame]:
    for table in perturbed_scores(params, language, model, store):
        yield table[table["metric"] == params.kappa]


def _first(params: WordOrderParams, purpose: str, tables: list[pd.DataFrame | None], k: int) -> pd.DataFrame:
    """The *k* rows of *tables* whose addresses come first, no pair twice: the same whatever the chunks."""
    import pandas as pd

    rows = pd.concat([table for table in tables if table is not None])
    rank = [
        address(params.seed, purpose, str(language), str(model), int(pair), str(name))
        for language, model, pair, name in rows[["language", "model", "pair", "perturbation"]].itertuples(index=False)
    ]
    return rows.assign(rank=rank).sort_values("rank").drop_duplicates("pair").head(k).drop(columns="rank")


def _with_texts(
    params: WordOrderParams, rows: pd.DataFrame | None, language: str, model: str, store: Store
) -> pd.DataFrame:
    """*rows* with their texts; the translations come from the store."""
    if rows is None or rows.empty:
        return frame([], _COLUMNS)
    wanted = set(zip(rows["pair"], rows["perturbation"], strict=True))
    texts = {}
    for start in chunk_starts(int(rows["pair"].max()) + 1):
        if not any(start <= pair < start + CHUNK for pair, _ in wanted):
            continue
        pairs = read_chunk(params, language, start, store)
        for variant in variants(params, pairs, start, params.spacings[0]):
            if (variant.pair, variant.perturbation) in wanted:
                pair = pairs[variant.pair - start]
                moved = _moved(params, pair.source, variant.perturbation, variant.perturbed_source)
                texts[variant.pair, variant.perturbation] = (
                    pair.source.text, variant.perturbed_source, moved, pair.target.text,
                )  # fmt: skip
    found = [texts[key] for key in zip(rows["pair"], rows["perturbation"], strict=True)]
    sources, perturbed_sources, moves, references = (list(part) for part in zip(*found, strict=True))
    plain = steps.translate(params, model, sources, language, store)
    perturbed = steps.translate(params, model, perturbed_sources, language, store)
    return rows.assign(
        source=sources,
        perturbed_source=perturbed_sources,
        moved=moves,
        reference=references,
        hypothesis=plain,
        perturbed_hypothesis=perturbed,
    )[_COLUMNS]


def _moved(params: WordOrderParams, text: Text, perturbation: str, perturbed: str) -> tuple[Span, ...]:
    """What moved in *perturbed*, the main draw of the perturbation of *text*."""
    orders = perturb_text(text, perturbation, seed=params.seed, unit=params.unit, min_tokens=params.min_tokens)
    return () if orders is None else moved_spans(text, orders, perturbed)


def _together(frames: list[pd.DataFrame]) -> pd.DataFrame:
    import pandas as pd

    full = [table for table in frames if len(table)]
    return pd.concat(full, ignore_index=True) if full else frame([], _COLUMNS)
