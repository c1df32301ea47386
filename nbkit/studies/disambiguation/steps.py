"""What the disambiguation study makes of its test pairs: samples, translations, senses; the units of work; outcomes.

Models are trained, corpora aligned where they have to be, biases counted; test pairs are found; they are translated,
and seeds chosen among them; samples are made (every edit of every seed that keeps the constraints and the language
model's filter, §3.1); samples are translated.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from itertools import groupby, product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nbkit import models
from nbkit.corpora.homographs import MUCOW, HomographLexicon, read_mucow
from nbkit.errors import DataError
from nbkit.files import expand_path, file_digest
from nbkit.measure.literal import lemmas
from nbkit.measure.senses import MEASURES, REACHES, SenseCounts, mucow_verdict
from nbkit.models import label
from nbkit.models.services.outputs import read_lines
from nbkit.models.translators.texts import corpus_bleu, text_pairs
from nbkit.perturb.word_sense import Attractor, Candidate, candidates, edited_text, is_fluent
from nbkit.seeding import address
from nbkit.store import Store
from nbkit.studies.disambiguation.mining import align_corpus, is_of_a_corpus, mine_shard, n_pairs, shard_starts
from nbkit.studies.disambiguation.params import DisambiguationParams
from nbkit.studies.disambiguation.pool import (
    CHUNK,
    EXPECTED,
    STUDY,
    Found,
    character_of,
    counts_without,
    found_by,
    linked,
    pair_groups,
    parts,
    pool,
    pool_shard,
    pool_starts,
    records,
    seeds,
    sentence_of,
    source_of,
    stacked,
    tested,
    training,
    translated,
    translations,
    uses_language_models,
    uses_masked,
    uses_translator,
    uses_voters,
    word_list,
)
from nbkit.studies.engine import Counts, asked_translations
from nbkit.studies.results import item_id, objects
from nbkit.text.parsers import parse_remembered, parser_for, parser_identity
from nbkit.text.sentences import Text

if TYPE_CHECKING:
    import pandas as pd

#: What tables of attacks need to know of a sample.
SAMPLE = ["sample", "key", "homograph", "sense", "kind", "attractor", "adversarial", "freq_right", "freq_wrong",
          "ppmi_right", "ppmi_wrong"]  # fmt: skip
_COLUMNS = ["sample", "key", "homograph", "sense", "kind", "attractor", "noun", "replaced", "adversarial", "text",
            "tokens", "token", "start", "end", "freq_right", "freq_wrong", "ppmi_right", "ppmi_wrong",
            "seed_perplexity", "perplexity", "fluent"]  # fmt: skip


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
    lexicon = params.homographs
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
    params: DisambiguationParams, store: Store | None = None, columns: list[str] = _COLUMNS, every: bool = False
) -> pd.DataFrame:
    """All samples of the run that are fluent, or *every* one."""
    tables = (generated_chunk(params, start, store=store) for start in chunks(params, store))
    return stacked([(table if every else _fluent(table))[columns] for table in tables], columns)


def _fluent(samples: pd.DataFrame) -> pd.DataFrame:
    return samples[samples["fluent"].astype(bool)].reset_index(drop=True)


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
    values = models.perplexities_remembered(params.causal_lm, texts, lang=params.source, store=store, **params.running)
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


@STUDY.step(
    per=("model",),
    key=lambda params, model: {**params.pool_key(), **params.translation_key(model)},
    uses=uses_translator,
)
def judged(params: DisambiguationParams, model: str, store: Store) -> pd.DataFrame:
    """What *model* made of every pair of the pool: one row per pair, in the pool's order.

    Columns: key, hypothesis, words (aligned with the homograph), found (their sense, "" where it cannot be identified),
    reason (why not), outcome ("right", "wrong": another sense than the reference's, "undecided"), and outcomes by the
    variants of the rule: outcome_window, outcome_translation, and "outcome_published code".
    """
    import pandas as pd

    pairs, found = pool(params, store), found_by(params, model, store)
    both = list(zip(found, pairs["sense"], strict=True))
    variants = {
        f"outcome_{name}": [_judged_by(name, each, sense) for each, sense in both]
        for name in (*REACHES[1:], PUBLISHED_CODE)
    }
    outcome = [_judged(each.sense, sense) for each, sense in both]
    return pd.DataFrame({"key": pairs["key"].tolist(), **_table(found), "outcome": outcome, **variants})


@STUDY.step(
    per=("model", "start"),
    key=lambda params, model, start: {"start": start, **params.samples_key(), **params.translation_key(model)},
    uses=lambda params, model, start: [*uses_translator(params, model), *uses_language_models(params)],
)
def attacked_chunk(params: DisambiguationParams, model: str, start: int, store: Store) -> pd.DataFrame:
    """What *model* made of the fluent samples of one chunk: one row per sample.

    Columns: sample, hypothesis, words, found, reason, seed_hypothesis, seed_words, outcome ("success": the seed was
    right and the sample is in the adversarial sense; "kept": right both times; "another sense"; "seed not right";
    "undecided").
    """
    import pandas as pd

    samples = _fluent(generated_chunk(params, start, store=store))
    of_seed = judged(params, model, store=store).set_index("key").reindex(samples["key"])
    found = translated(params, model, samples, store)
    outcome = [
        _outcome(was, each.sense, sense, adversarial)
        for was, each, sense, adversarial in zip(
            of_seed["outcome"], found, samples["sense"], samples["adversarial"], strict=True
        )
    ]
    return pd.DataFrame(
        {
            "sample": samples["sample"].tolist(),
            **_table(found),
            "seed_hypothesis": of_seed["hypothesis"].tolist(),
            "seed_words": of_seed["words"].tolist(),
            "outcome": outcome,
        }
    )


def attacked(params: DisambiguationParams, model: str, store: Store | None = None) -> pd.DataFrame:
    """Every fluent sample with what *model* made of it, without the sample's text.

    Columns: sample, key, homograph, sense, kind, attractor, adversarial, freq_right, freq_wrong, ppmi_right,
    ppmi_wrong, and those of `attacked_chunk`.
    """
    samples = generated(params, store, SAMPLE)
    made = ["sample", "hypothesis", "words", "found", "reason", "seed_hypothesis", "seed_words", "outcome"]
    found = stacked([attacked_chunk(params, model, start, store=store) for start in chunks(params, store)], made)
    assert samples["sample"].tolist() == found["sample"].tolist()
    return samples.assign(**found[made[1:]])


def _table(found: list[Found]) -> pd.DataFrame:
    """What was found, as columns: hypothesis, words, found, reason."""
    import pandas as pd

    return pd.DataFrame(found, columns=Found._fields).drop(columns="reached").rename(columns={"sense": "found"})


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


# ----------------------------------------------------------------------------
# What the pages need beside: sizes of the corpora, and how good the models are.


def corpus_sizes(params: DisambiguationParams, store: Store | None = None) -> pd.DataFrame:
    """Sizes of the corpora as running text (Tables 9 and 10).

    Columns: corpus, used ("training", "test"), pairs, source_words, target_words, source_length, target_length (words a
    sentence; words are what white space separates).
    """
    import pandas as pd

    store = store or Store()
    rows = []
    for corpus, limit, n in params.read:

        def compute(corpus: str = corpus, n: int | None = n) -> pd.DataFrame:
            sizes = np.zeros(3, dtype=np.int64)
            for pair in text_pairs(corpus, params.source, params.target, n, on_error=params.on_error):
                sizes += (1, len(pair.source.split()), len(pair.target.split()))
            return pd.DataFrame([sizes], columns=["pairs", "source_words", "target_words"])

        key = {"kind": "disambiguation.sizes", "version": 1, **params.corpus_key(corpus, n)}
        pairs, source, target = (int(value) for value in store.table(key, compute).iloc[0])
        used = "training" if limit == "training_pairs" else "test"
        rows.append((corpus, used, pairs, source, target, source / max(pairs, 1), target / max(pairs, 1)))
    columns = "corpus used pairs source_words target_words source_length target_length"
    return pd.DataFrame(rows, columns=columns.split())


def bleu(params: DisambiguationParams, store: Store | None = None) -> pd.DataFrame:
    """Corpus BLEU of every model on the first ``bleu_pairs`` pairs of every test corpus (Table 2).

    Columns: model, corpus, bleu, low, high (sacreBLEU's bootstrap over pairs), n, signature.
    """
    import pandas as pd

    rows = []
    for corpus in params.test_corpora if params.bleu_pairs else []:
        pairs = bleu_texts(params, corpus)
        sources, references = [source for source, _ in pairs], [target for _, target in pairs]
        for model in params.translated_by:
            hypotheses = translations(params, model, sources, store or Store())
            rows.append((label(model), corpus, *corpus_bleu(hypotheses, references, params.target)))
    return pd.DataFrame(rows, columns=["model", "corpus", "bleu", "low", "high", "n", "signature"])


def bleu_texts(params: DisambiguationParams, corpus: str) -> list[tuple[str, str]]:
    """The pairs that BLEU is computed on."""
    n = params.bleu_pairs if params.n_pairs is None else min(params.bleu_pairs, params.n_pairs)
    pairs = text_pairs(corpus, params.source, params.target, n, on_error=params.on_error)
    return [(pair.source, pair.target) for pair in pairs]


@STUDY.step(
    per=("model",),
    key=lambda params, model: {
        "lexicon": params.homographs.digest,
        "items": [file_digest(each) for each in _mucow_files(params)],
        "parser": parser_identity(parser_for(params.target, params.parsers or None), params.target),
        **params.translation_key(model),
    },
    uses=uses_translator,
)
def mucow_verdicts(params: DisambiguationParams, model: str, store: Store) -> pd.DataFrame:
    """What MuCoW's own rule says of *model*'s translation of each of its sentences.

    Columns: corpus, word, verdict ("right", "wrong", "neither").
    """
    import pandas as pd

    items = read_mucow(_mucow_files(params)[0])
    outputs = translations(params, model, mucow_sources(params), store)
    spec = parser_for(params.target, params.parsers or None)
    parsed = parse_remembered(outputs, spec, params.target, store=store)
    rows = [
        (item.corpus, item.word, mucow_verdict(item, text.tokens, lemmas(text)))
        for item, text in zip(items, parsed, strict=True)
    ]
    return pd.DataFrame(rows, columns=["corpus", "word", "verdict"])


def mucow_sources(params: DisambiguationParams) -> list[str]:
    """The sentences of MuCoW if the lexicon is its, else none. Raises `DataError` if there are not as many as items."""
    if not params.lexicon.endswith(MUCOW):
        return []
    key, text = _mucow_files(params)
    sources = read_lines(text)
    if len(sources) != (n := len(read_mucow(key))):
        raise DataError(f"{len(sources)} sentences for {n} items of {key.name}", text)
    return sources


def _mucow_files(params: DisambiguationParams) -> tuple[Path, Path]:
    key = Path(expand_path(params.lexicon, "homograph lexicon"))
    return key, key.with_name(key.name.removesuffix(MUCOW) + ".text.txt")


# ----------------------------------------------------------------------------
# Units of work.


def _training_points(params: DisambiguationParams) -> list[Mapping[str, Any]]:
    """Every shard of the training corpus; its pairs are counted here without keeping the number, as below."""
    store = Store()
    return [{"start": start} for start in shard_starts(training(params, store, keep=False), store, keep=False)]


def _test_points(params: DisambiguationParams) -> list[Mapping[str, Any]]:
    """Every shard of every test corpus."""
    starts = {corpus: pool_starts(params, corpus, Store(), keep=False) for corpus in params.corpora}
    return [{"corpus": corpus, "start": start} for corpus in starts for start in starts[corpus]]


@STUDY.work("corpora {domain}")
def read_corpora(params: DisambiguationParams, store: Store) -> None:
    """How many pairs and words the corpora have, and the word list of gold links where it is used."""
    n_pairs(params.mined, store)
    corpus_sizes(params, store)
    if params.hypothesis_aligner == "lexicon":
        word_list(params, store)


@STUDY.work("align {training_corpus}", points=lambda params: [{}] if is_of_a_corpus(params.mined) else [])
def align_training(params: DisambiguationParams, store: Store) -> None:
    """The training corpus aligned as a whole."""
    align_corpus(training(params, store), store)


@STUDY.work("count {training_corpus} {start}", points=_training_points, after=[align_training])
def count_senses(params: DisambiguationParams, start: int, store: Store) -> None:
    """Attractors and adjectives counted in the shard of the training corpus that begins at *start*."""
    mine_shard(training(params, store), start, store)


@STUDY.work(
    "align test pairs {domain}",
    points=lambda params: (
        [{}] if params.aligner != "gold" and params.hypothesis_aligner == "eflomal" and not params.voters else []
    ),
    after=[read_corpora],
)
def align_tests(params: DisambiguationParams, store: Store) -> None:
    """Each test corpus without gold links aligned as a whole, by what was learned on the training one."""
    for corpus in params.corpora:
        if not params.is_cross_fitted(corpus):
            align_corpus(linked(params, corpus, store), store)


@STUDY.work(
    "test pairs {corpus} {start}",
    points=_test_points,
    after=[count_senses, align_tests],
    uses=uses_voters,
)
def find_pairs(params: DisambiguationParams, corpus: str, start: int, store: Store) -> None:
    """The test pairs of one shard of a corpus, with their biases."""
    pool_shard(params, corpus, start, store=store)


@STUDY.work("seeds {domain}", after=[find_pairs], uses=uses_masked)
def choose_seeds(params: DisambiguationParams, store: Store) -> None:
    """What becomes of the test pairs as seeds."""
    seeds(params, store=store)


@STUDY.work("samples {domain} {part}", per=("part",), after=[choose_seeds], uses=uses_language_models)
def make_samples(params: DisambiguationParams, part: tuple[int, int], store: Store) -> None:
    """The samples of one part of the seeds."""
    for start in _chunks(params, part, store):
        generated_chunk(params, start, store=store)


def _counts(params: DisambiguationParams, translator: str, store: Store) -> Counts:
    """The texts of the pool and for BLEU, and how many are translated; of pairs not found yet, how many at most."""
    scored = params.test_corpora if params.bleu_pairs else []
    texts = {*mucow_sources(params), *(source for corpus in scored for source, _ in bleu_texts(params, corpus))}
    if found := all(pool_shard.rows(params, store=store, **at) is not None for at in _test_points(params)):
        texts.update(pool(params, store)["source"])
    rows = judged.rows(params, translator, store=store) if found else None
    known = asked_translations(params, translator, params.source, params.target, sorted(texts), store, rows)
    if found:
        return known
    corpora = (tested(params, corpus, store, keep=False) for corpus in params.corpora)
    most = sum(n_pairs(mining, store, keep=False) for mining in corpora)
    if params.n_test is not None:
        most = min(most, params.n_test + params.bleu_pairs * len(params.test_corpora))
    return Counts(most, 0, known.missing)


@STUDY.work(
    "translate {translator} {domain}",
    per=("translator",),
    after=[find_pairs],
    uses=lambda params, translator: uses_translator(params, translator),
    counts=_counts,
)
def translate_pairs(params: DisambiguationParams, translator: str, store: Store) -> None:
    """The test pairs, and those for BLEU, translated by one model and judged."""
    judged(params, translator, store=store)
    if mucow_sources(params):
        mucow_verdicts(params, translator, store=store)
    bleu(params.model_copy(update={"models": [translator], "twins": {}}), store)


@STUDY.work(
    "attack {translator} {domain} {part}",
    per=("translator", "part"),
    after=[make_samples, translate_pairs],
    uses=lambda params, translator, part: uses_translator(params, translator),
    points=lambda params: (
        {"translator": model, "part": part} for model, part in product(params.attackable, parts(params))
    ),
)
def attack(params: DisambiguationParams, translator: str, part: tuple[int, int], store: Store) -> None:
    """The samples of one part of the seeds translated by one model and judged."""
    for start in _chunks(params, part, store):
        attacked_chunk(params, translator, start, store=store)


def _chunks(params: DisambiguationParams, part: tuple[int, int], store: Store) -> range:
    number, n = part
    return chunks(params, store)[number::n]


# ----------------------------------------------------------------------------
# Outcomes.

#: What an outcome says of a test pair, and of an attack: a system fails where it takes another sense than the reference
#: has, and where an attack makes it do so.
_VERDICTS = {RIGHT: "pass", WRONG: "fail", KEPT: "pass", SUCCESS: "fail"}


#: What was done to a source by an attack, and what a test pair is one of.
_TREATMENT = ["kind", "attractor", "noun", "replaced", "homograph", "token"]
_OF_PAIR = ["corpus", "homograph", "sense"]


def _judged_words(row: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The words of the output that the homograph became, as spans; not those that stand there more than once."""
    for word in dict.fromkeys(row["words"].split()):
        places = [each.span() for each in re.finditer(rf"(?<!\w){re.escape(word)}(?!\w)", row["hypothesis"])]
        if len(places) == 1:
            yield {"text": "output", "start": places[0][0], "end": places[0][1], "label": "judged"}


def _homograph(params: DisambiguationParams, row: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Where the homograph of a test pair stands in its source, as a span."""
    end = 0
    for number, token in enumerate(source_of(params, row).tokens):
        start = row["source"].find(token, end)
        if start < 0:  # a parser that writes tokens otherwise
            return
        end = start + len(token)
        if number == row["token"]:
            yield {"text": "source", "start": start, "end": end, "label": row["homograph"]}
            return


@STUDY.outcomes(headline="nbkit.studies.disambiguation.tables:errors")
def outcomes(params: DisambiguationParams, store: Store, texts: bool) -> Iterator[pd.DataFrame]:
    """Each test pair and each attack on it, by model.

    *sense* passes where the translation of the homograph has the reference's sense, and fails where it has another;
    *attack* fails where a sample made from a pair that was right has the adversarial sense, and passes where it kept
    the right one. Undecided is what cannot be identified, with the reason; of attacks also those on pairs that were not
    right, and those that end in a third sense. *bias* is FREQ_DIFF, how much the pair's words point to a wrong sense.
    Cluster: the pair of sentences.
    """
    pairs = pool(params, store)
    by_key = pairs.set_index("key")[["corpus", "pair", "source", "reference"]]
    sides = (pairs[f"freq_{side}_{params.bias}"].to_numpy(dtype=float) for side in ("wrong", "right"))
    biases = np.subtract(*sides)
    made = ["outcome", "reason", "hypothesis", "words"]
    for model in params.models:
        of_pairs = pairs.assign(**judged(params, model, store=store)[made])
        senses = _outcomes(params, model, "sense", of_pairs, ["homograph", "token"], _OF_PAIR, texts)
        yield senses
        yield senses.assign(measure="bias", value=biases, verdict=None, reason="")
        for start in chunks(params, store) if model in params.attackable else ():
            samples = _fluent(generated_chunk(params, start, store=store)).rename(columns={"text": "changed"})
            samples = samples.join(by_key.loc[samples["key"]].reset_index(drop=True))
            found = attacked_chunk(params, model, start, store=store)[made]
            groups = [*_OF_PAIR, "kind", "adversarial"]
            yield _outcomes(params, model, "attack", samples.assign(**found), _TREATMENT, groups, texts)


def _outcomes(
    params: DisambiguationParams, model: str, measure: str, rows: pd.DataFrame, treatment: list[str], groups: list[str],
    texts: bool,
) -> pd.DataFrame:  # fmt: skip
    import pandas as pd

    given, marked, mark = (
        ("changed", "changed", "attractor") if measure == "attack" else ("source", "reference", "sense")
    )
    languages = {"source_language": params.source, "target_language": params.target}
    verdicts = rows["outcome"].map(_VERDICTS).fillna("undecided")
    reasons = rows["reason"].where(rows["outcome"] == UNDECIDED, rows["outcome"])
    treated = zip(rows[given], rows["reference"], records(rows[treatment]), strict=True)
    found = pd.DataFrame(
        {
            "item": [item_id([*languages.values(), text, reference], done) for text, reference, done in treated],
            "measure": measure,
            "value": verdicts.map({"pass": 1.0, "fail": 0.0}).astype(float),
            "verdict": verdicts,
            "reason": reasons.mask(verdicts == "pass", ""),
            "cluster": pair_groups(rows),
            "groups": records(rows[groups]),
            "system": label(model),
            **languages,
        }
    )
    if not texts:
        return found
    spans = (
        [{"text": marked, "start": int(start), "end": int(end), "label": mark}]
        for start, end in zip(rows["start"], rows["end"], strict=True)
    )
    if measure == "sense":
        spans = ([*_judged_words(row), *marks] for row, marks in zip(records(rows), spans, strict=True))
        spans = ([*_homograph(params, row), *marks] for row, marks in zip(records(rows), spans, strict=True))
    shown = rows[[column for column in ("source", "changed", "reference") if column in rows]]
    return found.assign(**shown, output=rows["hypothesis"], spans=objects(spans))
