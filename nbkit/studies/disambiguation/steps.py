"""Adversarial samples: every edit of every seed that keeps the constraints and the language model's filter (§3.1)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from nbkit import models
from nbkit.corpora.homographs import HomographLexicon
from nbkit.measure.bleu import cut
from nbkit.measure.senses import MEASURES, NOT_ALIGNED, REACHES, Sense, SenseCounts, SenseFinder
from nbkit.perturb.word_sense import Attractor, Candidate, candidates, edited_text, is_fluent
from nbkit.seeding import address
from nbkit.store import Store
from nbkit.studies.disambiguation.params import DisambiguationParams
from nbkit.studies.disambiguation.pool import (
    EXPECTED,
    character_of,
    counts_without,
    hypothesis_aligner,
    lexicon_of,
    pool,
    records,
    seeds,
    sentence_of,
    source_of,
)
from nbkit.studies.disambiguation.study import CHUNK, STUDY, uses_language_models, uses_translator
from nbkit.text.parsers import parse_remembered, parser_for
from nbkit.text.sentences import Sentence, Text

if TYPE_CHECKING:
    import pandas as pd


_COLUMNS = ["sample", "key", "homograph", "sense", "kind", "attractor", "noun", "replaced", "adversarial"]


_COLUMNS += ["text", "tokens", "token", "start", "end", "freq_right", "freq_wrong", "ppmi_right", "ppmi_wrong"]


_COLUMNS += ["seed_perplexity", "perplexity", "fluent"]


def chunks(params: DisambiguationParams, store: Store | None = None) -> range:
    """Where the chunks of the seeds begin."""
    found = seeds(params, store=store)
    return range(0, int((found["fate"] == EXPECTED).sum()), CHUNK)


@STUDY.step(
    per=("start",),
    key=lambda params, start: {"start": start, "chunk": CHUNK, **params.samples_key()},
    uses=uses_language_models,
)
def generated_chunk(params: DisambiguationParams, start: int, store: Store) -> pd.DataFrame:
    """The samples of the seeds *start* … *start* + `CHUNK` − 1.

    Columns: sample (unique), key (of the seed in the pool), homograph, sense (the seed's), kind, attractor, noun (the
    word it modifies), replaced ("" for insertions), adversarial (the wrong sense that the attractor is most biased to),
    text, tokens, token (place of the homograph), start, end (characters of the attractor), freq_right, freq_wrong,
    ppmi_right, ppmi_wrong (the attractor's bias towards the seed's and the adversarial sense), seed_perplexity,
    perplexity, fluent (whether the perplexity is not too far above the seed's; True where no language model filters).
    """
    import pandas as pd

    chosen = seeds(params, store=store)
    pairs = pool(params, store)
    pairs = pairs[(chosen["fate"] == EXPECTED).to_numpy()].iloc[start : start + CHUNK]
    rows: list[dict[str, Any]] = []
    lexicon = lexicon_of(params)
    for fold, own in groupby(records(pairs), key=lambda pair: int(pair["fold"])):
        counts = counts_without(params, fold, store)
        for pair in own:
            made = list(_samples(params, pair, counts, lexicon))
            if params.n_samples is not None:
                made.sort(key=lambda row: address(params.seed, "samples", row["sample"]))
            rows += made[: params.n_samples]
    table = pd.DataFrame(rows, columns=_COLUMNS)
    return _with_perplexities(params, table, dict(zip(pairs["key"], pairs["source"], strict=True)), store)


def generated(
    params: DisambiguationParams, store: Store | None = None, columns: list[str] | None = None
) -> pd.DataFrame:
    """All `generated_chunk`s that are fluent, one below the other; *columns* alone where these are named."""
    import pandas as pd

    store = store or Store()
    wanted = columns or _COLUMNS
    parts = [
        (table := generated_chunk(params, start, store=store)).loc[table["fluent"].astype(bool), wanted]
        for start in chunks(params, store)
    ]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=wanted)


def _samples(
    params: DisambiguationParams, pair: Mapping[str, Any], counts: SenseCounts, lexicon: HomographLexicon
) -> Iterator[dict[str, Any]]:
    """The samples of one seed."""
    text = source_of(params, pair)
    number, homograph = sentence_of(text, int(pair["token"]))
    seed = text.sentences[number]
    word, sense = pair["homograph"], pair["sense"]
    wrong = [cluster.name for cluster in lexicon.homographs[word].clusters if cluster.name != sense]
    own: Mapping[str, int] = counts.sense_adjectives.get((word, sense), {})
    assert seed.lemmas is not None and seed.upos is not None
    lemmas = [lemma.lower() for lemma in seed.lemmas]
    nouns = {lemma for lemma, tag in zip(lemmas, seed.upos, strict=True) if tag == "NOUN"}
    modifiers = {noun: counts.noun_adjectives[noun] for noun in sorted(nouns) if noun in counts.noun_adjectives}
    known = sorted({*own, *(adjective for adjectives in modifiers.values() for adjective in adjectives)})
    towards = {each: _adversarial(counts, each, word, wrong) for each in known}
    attractors = [Attractor(each) for each in known if towards[each]]
    others = [place for place, lemma in enumerate(lemmas) if lemma in lexicon.homographs and place != homograph]
    for each in candidates(seed, homograph, attractors, modifiers, own, kinds=params.kinds, excluded=others):
        yield _row(pair, text, number, each, counts, towards[each.attractor.word])


def _adversarial(counts: SenseCounts, attractor: str, homograph: str, wrong: list[str]) -> str:
    """The wrong sense beside which an attractor stands most often; "" where it never stood beside one."""
    frequencies = [counts.frequency(attractor, homograph, sense) for sense in wrong]
    most = max(frequencies, default=0)
    return wrong[frequencies.index(most)] if most else ""


def _row(
    pair: Mapping[str, Any], text: Text, number: int, candidate: Candidate, counts: SenseCounts, adversarial: str
) -> dict[str, Any]:
    edited = candidate.edited
    sample, origin = edited_text(text, number, edited)
    attractor, word, sense = candidate.attractor.word, pair["homograph"], pair["sense"]
    biases = {
        f"{measure}_{side}": MEASURES[measure](counts, attractor, word, towards)
        for measure in ("freq", "ppmi")
        for side, towards in (("right", sense), ("wrong", adversarial))
    }
    start = character_of(sample, origin.index(None))
    replaced = "" if candidate.replaced is None else candidate.seed.tokens[candidate.replaced]
    name = [pair["key"], candidate.kind, attractor, candidate.noun, candidate.replaced, number]
    return {
        "sample": json.dumps(name, ensure_ascii=False, separators=(",", ":")),
        "key": pair["key"],
        "homograph": word,
        "sense": sense,
        "kind": candidate.kind,
        "attractor": attractor,
        "noun": candidate.seed.tokens[candidate.noun],
        "replaced": replaced,
        "adversarial": adversarial,
        "text": sample.text,
        "tokens": list(sample.tokens),
        "token": origin.index(int(pair["token"])),
        "start": start,
        "end": start + len(edited.sentence.tokens[edited.new]),
        **biases,
    }


def _with_perplexities(
    params: DisambiguationParams, table: pd.DataFrame, sources: Mapping[str, str], store: Store
) -> pd.DataFrame:
    texts = [*table["text"], *(sources[key] for key in table["key"])]
    if params.causal_lm is None or table.empty:
        nothing = np.full(len(table), np.nan)
        return table.assign(seed_perplexity=nothing, perplexity=nothing, fluent=np.ones(len(table), dtype=bool))
    values = models.perplexities_remembered(
        params.causal_lm, texts, lang=params.source, store=store, device=params.device, dtype=params.dtype
    )
    own, seed = values[: len(table)], values[len(table) :]
    return table.assign(seed_perplexity=seed, perplexity=own, fluent=is_fluent(own, seed, params.perplexity_rise))


# ----------------------------------------------------------------------------
# Translations of homographs and the senses they chose: of test pairs, and of adversarial samples.

#: What a translation made of a homograph.
RIGHT, WRONG, UNDECIDED = "right", "wrong", "undecided"


#: What an attack came to. Only where the seed was translated right can it succeed.
SUCCESS, KEPT, OTHER, SEED_WRONG = "success", "kept", "another sense", "seed not right"


#: Judges by the whole translation, and counts a word of several senses as right where the reference's is among them.
PUBLISHED_CODE = "published code"


class Found(NamedTuple):
    """What a translator made of one text: the whole hypothesis, the words aligned with the homograph, their sense.

    sense: "" where it cannot be told, and then *reason* says why. reached: what is found by each `Reach`.
    """

    hypothesis: str
    words: str
    sense: str
    reason: str
    reached: Mapping[str, Sense]


@STUDY.step(
    per=("model",),
    key=lambda params, model: {**params.pool_key(), **params.translation_key(model)},
    uses=uses_translator,
)
def judged(params: DisambiguationParams, model: str, store: Store) -> pd.DataFrame:
    """What *model* made of every pair of the pool: one row a pair, in the pool's order.

    Columns: key, hypothesis, words (aligned with the homograph), found (their sense, "" where it cannot be told),
    reason (why not), outcome ("right", "wrong": another sense than the reference's, "undecided"), and outcomes by the
    variants of the rule: outcome_window, outcome_translation, and "outcome_published code".
    """
    import pandas as pd

    pairs = pool(params, store)
    tokens = [source_of(params, pair).tokens for pair in records(pairs)]
    found = translated(params, model, pairs, tokens, pairs["source"].tolist(), store)
    outcome = [_judged(each.sense, sense) for each, sense in zip(found, pairs["sense"], strict=True)]
    variants = {
        f"outcome_{name}": [_judged_by(name, each, sense) for each, sense in zip(found, pairs["sense"], strict=True)]
        for name in (*REACHES[1:], PUBLISHED_CODE)
    }
    return pd.DataFrame(
        {
            "key": pairs["key"].tolist(),
            "hypothesis": [each.hypothesis for each in found],
            "words": [each.words for each in found],
            "found": [each.sense for each in found],
            "reason": [each.reason for each in found],
            "outcome": outcome,
            **variants,
        }
    )


@STUDY.step(
    per=("model", "start"),
    key=lambda params, model, start: {"start": start, **params.samples_key(), **params.translation_key(model)},
    uses=lambda params, model, start: [*uses_translator(params, model), *uses_language_models(params)],
)
def attacked_chunk(params: DisambiguationParams, model: str, start: int, store: Store) -> pd.DataFrame:
    """What *model* made of the fluent samples of one chunk: one row a sample.

    Columns: sample, hypothesis, words, found, reason, seed_hypothesis, seed_words, outcome ("success": the seed was
    right and the sample is in the adversarial sense; "kept": right both times; "another sense"; "seed not right";
    "undecided").
    """
    import pandas as pd

    samples = generated_chunk(params, start, store=store)
    samples = samples[samples["fluent"].astype(bool)].reset_index(drop=True)
    of_seed = judged(params, model, store=store).set_index("key").reindex(samples["key"])
    found = translated(params, model, samples, samples["tokens"].tolist(), samples["text"].tolist(), store)
    outcome = [
        _outcome(was, each.sense, sense, adversarial)
        for was, each, sense, adversarial in zip(
            of_seed["outcome"], found, samples["sense"], samples["adversarial"], strict=True
        )
    ]
    return pd.DataFrame(
        {
            "sample": samples["sample"].tolist(),
            "hypothesis": [each.hypothesis for each in found],
            "words": [each.words for each in found],
            "found": [each.sense for each in found],
            "reason": [each.reason for each in found],
            "seed_hypothesis": of_seed["hypothesis"].tolist(),
            "seed_words": of_seed["words"].tolist(),
            "outcome": outcome,
        }
    )


def _judged(found: str, sense: str) -> str:
    """What the reference's *sense* became: a WSD error is a different one (§2.2)."""
    return UNDECIDED if not found else RIGHT if found == sense else WRONG


def _judged_by(variant: str, found: Found, sense: str) -> str:
    """What the reference's *sense* became, by one of `REACHES` or as the published code judges."""
    told = found.reached.get("translation" if variant == PUBLISHED_CODE else variant)
    if told is None:  # an empty translation
        return UNDECIDED
    if variant == PUBLISHED_CODE and sense in told.possible:
        return RIGHT
    return _judged(told.cluster or "", sense)


def _outcome(seed: str, found: str, sense: str, adversarial: str) -> str:
    """What an attack came to, by the seed's outcome, the sense found in the sample, the seed's and the adversarial."""
    if seed != RIGHT:
        return SEED_WRONG
    if not found:
        return UNDECIDED
    return SUCCESS if found == adversarial else KEPT if found == sense else OTHER


def translated(
    params: DisambiguationParams,
    model: str,
    rows: pd.DataFrame,
    tokens: Sequence[Sequence[str]],
    texts: Sequence[str],
    store: Store,
) -> list[Found]:
    """*texts* translated, and the sense of what their homographs became. rows: with homograph and token."""
    hypotheses = models.translate_remembered(
        model, texts, params.source, params.target, params.decoding,
        store=store, device=params.device, dtype=params.dtype,
    )  # fmt: skip
    return senses_in(params, rows, tokens, hypotheses, store)


def senses_in(
    params: DisambiguationParams,
    rows: pd.DataFrame,
    tokens: Sequence[Sequence[str]],
    hypotheses: Sequence[str],
    store: Store,
) -> list[Found]:
    """The sense of what each homograph became in its *hypothesis*, by the words aligned with it."""
    finder = SenseFinder(lexicon_of(params), "parts", nouns=params.target_nouns)
    targets = read_words(params, hypotheses, store)
    pairs = [
        (tuple(source), () if target is None else target.tokens) for source, target in zip(tokens, targets, strict=True)
    ]
    links = hypothesis_aligner(params, store).align(pairs, progress=False)
    found = []
    places = zip(rows["homograph"], rows["token"], pairs, targets, links, hypotheses, strict=True)
    for homograph, token, (source, _), target, alignment, hypothesis in places:
        if target is None:
            found.append(Found(hypothesis, "", "", NOT_ALIGNED, {}))
            continue
        marked = _marked(params, source, homograph, int(token))
        reached: dict[str, Sense] = {reach: finder.senses(marked, target, alignment, reach)[0] for reach in REACHES}
        sense = reached["links"]
        words = " ".join(target.tokens[i] for i in sense.targets)
        found.append(Found(hypothesis, words, sense.cluster or "", sense.reason or "", reached))
    return found


def _marked(params: DisambiguationParams, tokens: Sequence[str], homograph: str, token: int) -> Text:
    """A source in which the homograph at *token* is the only one."""
    n = len(tokens)
    lemmas, tags = [""] * n, ["X"] * n
    lemmas[token], tags[token] = homograph, "NOUN"
    return Text((Sentence(tuple(tokens), params.source, upos=tuple(tags), lemmas=tuple(lemmas)),))


def read_words(params: DisambiguationParams, texts: Sequence[str], store: Store) -> list[Text | None]:
    """Translations with tokens and lemmas: parsed, or cut and looked up as they stand; None for an empty one."""
    if params.target_words == "forms":
        cuts = [tuple(cut(text, params.target)) for text in texts]
        return [Text((Sentence(tokens, params.target),)) if tokens else None for tokens in cuts]
    spec = parser_for(params.target, params.parsers or None)
    wanted = [text for text in dict.fromkeys(texts) if text.strip()]
    parsed = dict(zip(wanted, parse_remembered(wanted, spec, params.target, store=store), strict=True))
    return [parsed.get(text) for text in texts]
