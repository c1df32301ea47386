"""Idiom probes: what an encoder-decoder makes of an idiom that is encoded in less and less context.

The source is encoded as it is, and the states of the idiom's subwords are replaced, before the decoder sees
them, by those that the same subwords have

    full      in the whole source: nothing is replaced
    phrase    in the idiom alone (each of its places in the source by itself)
    word      in each of its words alone

The paper leaves open how that is done exactly. Here the subwords are those of the whole source: a part of
it is not cut anew, so that states replace states one to one. A part is encoded as any text of the model's
is: from the first position on, between the special tokens that stand around the source (language code or
mark, end), whose own states stay those of the whole source. A word is what stands between white space, in a
language written without it each subword; a subword of two words goes with the first. Every subword that
shares a character with the idiom is replaced.

The research code also replaces the states of the special tokens after the source. That is a variant
(`EndState` "replaced"): they become those of the last part that is encoded by itself.

Source: idioms paper, §4 and appendix D, Figures 4 to 7 and 16 to 21.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike

from nbkit.corpora.idioms import IdiomPair
from nbkit.errors import ModelError, NbkitError
from nbkit.models.backends import TRANSFORMERS
from nbkit.models.catalogue import BY_RULE, resolve
from nbkit.models.decoding import DEFAULT, Decoding
from nbkit.models.lifecycle import with_revision
from nbkit.models.translators.lifecycle import TRANSLATOR, check_model, ensure_model, model_identity
from nbkit.store import Store
from nbkit.text.parsers import Span

if TYPE_CHECKING:
    from nbkit.models.translators.seq2seq import Seq2SeqTranslator

Context: TypeAlias = Literal["full", "phrase", "word"]
#: Whether the states of the special tokens after the source are "kept", as the paper words it, or "replaced", as its
#: research code does.
EndState: TypeAlias = Literal["kept", "replaced"]
#: From the most context to the least, the order of the paper's bars.
CONTEXTS: tuple[Context, ...] = get_args(Context)
#: Changes when the algorithm changes so that a result can.
VERSION = 1
#: Pairs that are probed before any of them is remembered.
_SHARD = 500


@dataclass(frozen=True)
class ContextProbe:
    """What a model makes of one sentence pair whose idiom is encoded in one context.

    hypothesis: what the search finds from these encoder states H. log_probabilities: ln p(y_t | y_<t, H) of each
    subword of the reference, its end included. entropies: of the distributions that these are taken from, in nats.
    offsets: the characters of the reference that each stands for, (0, 0) for its end. replaced: subwords of the source
    whose states are not those of the whole source, special tokens after it among them where they are replaced.

    >>> probe = ContextProbe("word", "du gâteau", (-1.0, -3.0), (0.5, 1.0), ((0, 9), (0, 0)), 3)
    >>> round(probe.perplexity, 3)
    7.389
    """

    context: Context
    hypothesis: str
    log_probabilities: tuple[float, ...] = field(repr=False)
    entropies: tuple[float, ...] = field(repr=False)
    offsets: tuple[Span, ...] = field(repr=False)
    replaced: int

    @property
    def perplexity(self) -> float:
        """Of the reference, by subword: exp(−1/|y| · Σ_t ln p(y_t | y_<t, H)). Source: idioms paper, §4.2."""
        return float(np.exp(-np.mean(self.log_probabilities)))


def probe_problem(name: str, src: str, tgt: str) -> str | None:
    """Why a model cannot be probed for a pair, in one message; None where nothing stands against it. Loads nothing.

    >>> probe_problem("openai:gpt-4o", "en", "fr")
    "model 'openai:gpt-4o' cannot be probed: ..."
    """
    try:
        _check_name(name, src, tgt)
    except NbkitError as error:
        return str(error)
    return check_model(name, src, tgt)


def probe_config(
    name: str,
    src: str,
    tgt: str,
    decoding: Decoding = DEFAULT,
    *,
    end_state: EndState = "kept",
    device: str = "auto",
    dtype: str = "auto",
) -> dict[str, Any]:
    """The store's address of a model's probes, for `Store.missing` in estimates (with `probe_key` of each pair)."""
    model = model_identity(name, src, tgt, device=device, dtype=dtype)
    return {
        "kind": "idiom-probe",
        "version": VERSION,
        "model": model,
        "src": src,
        "tgt": tgt,
        "decoding": decoding.identity(),
        **({} if end_state == "kept" else {"end_state": end_state}),  # probes of before there was a choice stay known
    }


def probe_key(pair: IdiomPair) -> tuple[str, str, str]:
    """What of a pair can change its probes: source, reference and the idiom's places.

    >>> probe_key(IdiomPair("7", "a piece of cake", "du gâteau", "piece of cake", ((2, 15),)))
    ('a piece of cake', 'du gâteau', '[[2, 15]]')
    """
    return pair.source, pair.target, json.dumps(pair.spans)


def probe_remembered(
    name: str,
    pairs: Iterable[IdiomPair],
    src: str,
    tgt: str,
    decoding: Decoding = DEFAULT,
    *,
    store: Store,
    end_state: EndState = "kept",
    device: str = "auto",
    dtype: str = "auto",
    progress: bool = True,
) -> Iterator[dict[Context, ContextProbe]]:
    """The probes of each pair, by context, in order: from *store* where they are known, else made now and kept.

    pairs: may be a stream; some thousands are in memory at a time. Where nothing is missing, no model is loaded.
    Raises what `load_translator` and `probe` raise, but only where something is missing.
    Source: idioms paper, §4 (beam search of 5 there: ``Decoding(beams=5)``).
    """
    _check_name(name, src, tgt)
    config = with_revision(
        lambda: probe_config(name, src, tgt, decoding, end_state=end_state, device=device, dtype=dtype),
        lambda: ensure_model(name, src, tgt),
    )

    def compute(missing: list[tuple[str, ...]]) -> Iterator[dict[str, Any]]:
        translator: Any = TRANSLATOR.kept(config["model"], name, src, tgt, device=device, dtype=dtype)
        wanted = [
            IdiomPair("", source, reference, "", tuple((start, end) for start, end in json.loads(spans)))
            for source, reference, spans in missing
        ]
        return map(_record, probe(translator, wanted, src, tgt, decoding, end_state=end_state, progress=progress))

    return map(_read, store.iter_records(config, map(probe_key, pairs), compute, shard=_SHARD))


def probe(
    translator: Seq2SeqTranslator,
    pairs: Sequence[IdiomPair],
    src: str,
    tgt: str,
    decoding: Decoding = DEFAULT,
    *,
    end_state: EndState = "kept",
    progress: bool = True,
) -> list[dict[Context, ContextProbe]]:
    """The probes of each pair, by context, in order. They depend on the pair alone, as far as float arithmetic allows.

    Sources and references that are longer than the model's positions are cut, with a warning.
    end_state: see `EndState`.
    Raises `ModelError` for a tokenizer without offsets and for a language that the model does not speak, and
    `NbkitError` for an idiom without a subword (its place was cut off) and for an empty reference.
    """
    from nbkit.models.probes_network import probed

    return [
        {
            context: ContextProbe(context, *outcome, offsets, replaced)
            for context, outcome, replaced in zip(CONTEXTS, outcomes, counts, strict=True)
        }
        for outcomes, counts, offsets in probed(translator, pairs, src, tgt, decoding, end_state, progress=progress)
    ]


#: What of a `ContextProbe` a record holds by context; offsets are those of the reference in every context.
_RECORDED = ("hypothesis", "log_probabilities", "entropies", "replaced")


def _record(probes: Mapping[Context, ContextProbe]) -> dict[str, Any]:
    """A pair's probes as a flat record of the store."""
    starts, ends = zip(*probes["full"].offsets, strict=True)
    record: dict[str, Any] = {"starts": list(starts), "ends": list(ends)}
    for context, each in probes.items():
        for name in _RECORDED:
            value = getattr(each, name)
            record[f"{context}_{name}"] = list(value) if isinstance(value, tuple) else value
    return record


def _read(record: Mapping[str, Any]) -> dict[Context, ContextProbe]:
    offsets = tuple((int(start), int(end)) for start, end in zip(record["starts"], record["ends"], strict=True))
    probes: dict[Context, ContextProbe] = {}
    for context in CONTEXTS:
        hypothesis, *rows, replaced = (record[f"{context}_{name}"] for name in _RECORDED)
        log_probabilities, entropies = (tuple(map(float, row)) for row in rows)
        probes[context] = ContextProbe(context, hypothesis, log_probabilities, entropies, offsets, replaced)
    return probes


def _check_name(name: str, src: str, tgt: str) -> None:
    """Raises `ModelError` for a model whose encoder nobody here can look into."""
    reference = resolve(name, src, tgt)
    reason = None
    if name.startswith(BY_RULE):
        reason = "numbers are put in by rule: probe the model by its own name"
    elif reference.remote is not None:
        reason = "it runs behind a service, and its encoder's states are not to be had"
    elif reference.entry.python is not None:
        reason = "it is Python code, and its encoder's states are not to be had"
    elif reference.backend != TRANSFORMERS:
        reason = (
            f"its encoder runs in {reference.backend.label or reference.backend.suffix}: probe it without the suffix"
        )
    if reason:
        raise ModelError(f"model '{name}' cannot be probed: {reason}")


# ----------------------------------------------------------------------------
# From subwords to words: how uncertain a decoder is about the words that translate an idiom, and about the others.
#
# Pure functions of what a probe measured.
#
# Source: idioms paper, §4.3 and appendix D.3, Figures 7, 20 and 21.


@dataclass(frozen=True)
class SplitEntropy:
    """Mean entropies of a reference's words in nats, NaN where there are none, and how many words these are.

    idiom: words that are aligned to a word of the idiom. other: those aligned to other words of the source alone.
    Words that are aligned to nothing are in neither.
    """

    idiom: float
    other: float
    idiom_words: int
    other_words: int


def word_entropies(probe: ContextProbe, words: Sequence[Span]) -> np.ndarray:
    """The entropy of each word in nats: the mean over its subwords, NaN where none shares a character with it.

    H(w) = 1/|w| Σ_{t in w} H(p(· | y_<t, H))

    words: characters of the reference. A subword of two words (*word.*) counts for both; the reference's end is no
    word. The paper says that it maps subwords to words, not how; the mean keeps a word of many subwords comparable.
    Source: idioms paper, §4.3 and footnote 7.

    >>> probe = ContextProbe("full", "", (-1.0,) * 4, (0.5, 1.0, 2.0, 9.0), ((0, 2), (3, 5), (5, 9), (0, 0)), 0)
    >>> word_entropies(probe, [(0, 2), (3, 9), (10, 11)]).tolist()
    [0.5, 1.5, nan]
    """
    means = []
    for start, end in words:
        inside = [
            entropy
            for entropy, (first, last) in zip(probe.entropies, probe.offsets, strict=True)
            if first < end and start < last
        ]
        means.append(np.mean(inside) if inside else np.nan)
    return np.array(means, dtype=np.float64)


def split_by_alignment(
    entropies: Sequence[float] | np.ndarray, links: Iterable[tuple[int, int]], idiom: Collection[int]
) -> SplitEntropy:
    """Mean entropies of the words of a reference that translate an idiom, and of those that translate other words.

    entropies: of each word; NaN values are left out. links: (source word, reference word). idiom: its source words. A
    word that is linked to the idiom and to another word is one of the idiom's.
    Raises `NbkitError` for an idiom without words and for a link outside the reference. Source: idioms paper, §4.3.

    >>> split_by_alignment([3.0, 2.0, 0.5, 0.1], [(0, 2), (1, 0), (2, 1), (0, 1)], {1, 2})
    SplitEntropy(idiom=2.5, other=0.5, idiom_words=2, other_words=1)
    """
    values = np.asarray(entropies, dtype=np.float64)
    if not idiom:
        raise NbkitError("entropies: the idiom has no words in the source")
    of_idiom, linked = set(), set()
    for source, target in links:
        if not 0 <= target < len(values):
            raise NbkitError(f"entropies: link {source}-{target} is outside a reference of {len(values)} words")
        linked.add(target)
        if source in idiom:
            of_idiom.add(target)
    parts = []
    for places in (of_idiom, linked - of_idiom):
        found = values[sorted(places)]
        found = found[~np.isnan(found)]
        parts.append((float(found.mean()) if found.size else float("nan"), int(found.size)))
    (idiom_mean, idiom_words), (other_mean, other_words) = parts
    return SplitEntropy(idiom_mean, other_mean, idiom_words, other_words)


def corpus_perplexity(log_probability: ArrayLike, subwords: ArrayLike) -> np.ndarray:
    """The perplexity of several references together, by subword: exp(−Σ ln p / Σ |y|); NaN without subwords.

    log_probability: Σ ln p in nats. subwords: Σ |y|. Of arrays, element by element: one entry a set of references.
    A mean of `ContextProbe.perplexity` counts each pair once in place of each subword.

    >>> corpus_perplexity([-8.0, 0.0], [4, 0]).round(3).tolist()
    [7.389, nan]
    """
    with np.errstate(invalid="ignore"):
        return np.exp(-np.asarray(log_probability, dtype=np.float64) / np.asarray(subwords))
