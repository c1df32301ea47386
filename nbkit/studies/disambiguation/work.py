"""What fills the disambiguation study's store, in stages, and what the study found out, as outcomes.

Models are trained, corpora aligned where they have to be, biases counted; test pairs are found; they are translated,
and seeds chosen among them; samples are made; samples are translated.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from nbkit import models
from nbkit.models import label
from nbkit.store import Store
from nbkit.studies.disambiguation.mining import Mining, align_corpus, is_of_a_corpus, mine_shard, n_pairs, pairs_there
from nbkit.studies.disambiguation.params import DisambiguationParams
from nbkit.studies.disambiguation.pool import (
    is_cross_fitted,
    linked,
    pair_groups,
    pool,
    pool_shard,
    seeds,
    tested,
    training,
    word_list,
)
from nbkit.studies.disambiguation.steps import (
    KEPT,
    RIGHT,
    SUCCESS,
    UNDECIDED,
    WRONG,
    attacked_chunk,
    chunks,
    generated_chunk,
    judged,
)
from nbkit.studies.disambiguation.study import STUDY, uses_language_models, uses_masked, uses_translator
from nbkit.studies.disambiguation.tables import bleu, bleu_texts, corpus_sizes, error_rates
from nbkit.studies.engine import asked
from nbkit.studies.results import item_id, objects

if TYPE_CHECKING:
    import pandas as pd

#: What an outcome says of a test pair, and of an attack: a system fails where it takes another sense than the reference
#: has, and where an attack makes it do so.
_VERDICTS = {RIGHT: "pass", WRONG: "fail", KEPT: "pass", SUCCESS: "fail"}


def _mined(params: DisambiguationParams) -> tuple[Mining, int]:
    """What biases are counted on, and how many pairs that are, counted without keeping the number."""
    n = pairs_there(params.mined, Store())
    return training(params, n), n


def _test_points(params: DisambiguationParams) -> Iterator[Mapping[str, Any]]:
    """Every shard of every test corpus."""
    _, n = _mined(params)
    for corpus in params.corpora:
        mining = tested(params, corpus, n)
        for start in range(0, pairs_there(mining, Store()), mining.shard):
            yield {"corpus": corpus, "start": start}


def _training_points(params: DisambiguationParams) -> Iterator[Mapping[str, Any]]:
    mining, n = _mined(params)
    return ({"start": start} for start in range(0, n, mining.shard))


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
    align_corpus(training(params, n_pairs(params.mined, store)), store)


@STUDY.work("count {training_corpus} {start}", points=_training_points, after=[align_training])
def count_senses(params: DisambiguationParams, start: int, store: Store) -> None:
    """Attractors and adjectives counted in the shard of the training corpus that begins at *start*."""
    mine_shard(training(params, n_pairs(params.mined, store)), start, store)


@STUDY.work(
    "align test pairs {domain}",
    points=lambda params: [{}] if params.aligner != "gold" and params.hypothesis_aligner == "eflomal" else [],
    after=[read_corpora],
)
def align_tests(params: DisambiguationParams, store: Store) -> None:
    """Each test corpus without gold links aligned as a whole, by what was learned on the training one."""
    for corpus in params.corpora:
        if not is_cross_fitted(params, corpus):
            align_corpus(linked(params, corpus, store), store)


@STUDY.work("test pairs {corpus} {start}", points=_test_points, after=[count_senses, align_tests])
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


def _counts(params: DisambiguationParams, translator: str, store: Store) -> tuple[int, int]:
    """The texts of the pool and for BLEU, and how many are translated; of pairs not found yet, how many at most."""
    points = list(_test_points(params))
    if any(pool_shard.rows(params, store=store, **at) is None for at in points):
        _, n = _mined(params)
        return sum(pairs_there(tested(params, corpus, n), store) for corpus in params.corpora), 0
    texts = set(pool(params, store)["source"])
    for corpus in params.test_corpora if params.bleu_pairs else []:
        texts.update(source for source, _ in bleu_texts(params, corpus))
    settings = {"device": params.device, "dtype": params.dtype}
    config = models.translation_config(translator, params.source, params.target, params.decoding, **settings)
    return asked(config, sorted(texts), store)


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
    bleu(params.model_copy(update={"models": [translator], "twins": {}}), store)


@STUDY.work(
    "attack {translator} {domain} {part}",
    per=("translator", "part"),
    after=[make_samples, translate_pairs],
    uses=lambda params, translator, part: uses_translator(params, translator),
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


@STUDY.outcomes(headline="nbkit.studies.disambiguation.tables:errors")
def outcomes(params: DisambiguationParams, store: Store, texts: bool) -> Iterator[pd.DataFrame]:
    """Each test pair and each attack on it, by model.

    *sense* passes where the translation of the homograph has the reference's sense, and fails where it has another;
    *attack* fails where a sample made from a pair that was right has the adversarial sense, and passes where it kept
    the right one. Undecided is what cannot be told, with the reason; of attacks also those on pairs that were not
    right, and those that end in a third sense. Cluster: the pair of sentences.
    """
    pairs = pool(params, store)
    languages = [params.source, params.target]
    items = [
        item_id([*languages, source, reference], {"homograph": homograph, "token": token})
        for source, reference, homograph, token in pairs[["source", "reference", "homograph", "token"]].itertuples(
            index=False, name=None
        )
    ]
    clusters = pair_groups(pairs)
    by_key = {key: number for number, key in enumerate(pairs["key"])}
    for model in params.models:
        shared = {"system": label(model), "source_language": params.source, "target_language": params.target}
        table = judged(params, model, store=store)
        groups = [
            {"corpus": corpus, "homograph": homograph, "sense": sense}
            for corpus, homograph, sense in zip(pairs["corpus"], pairs["homograph"], pairs["sense"], strict=True)
        ]
        found = _outcomes(items, "sense", table["outcome"], table["reason"], clusters, groups).assign(**shared)
        if texts:
            spans = _spans(pairs["start"], pairs["end"], "reference", "sense")
            found = found.assign(source=pairs["source"], reference=pairs["reference"], output=table["hypothesis"],
                                 spans=spans)  # fmt: skip
        yield found
        for start in chunks(params, store):
            made = generated_chunk(params, start, store=store)
            made = made[made["fluent"].astype(bool)].reset_index(drop=True)
            yield _attacks(params, model, start, made, pairs, by_key, texts, store).assign(**shared)


def _attacks(
    params: DisambiguationParams, model: str, start: int, made: pd.DataFrame, pairs: pd.DataFrame,
    by_key: Mapping[str, int], texts: bool, store: Store,
) -> pd.DataFrame:  # fmt: skip
    table = attacked_chunk(params, model, start, store=store)
    of_pair = pairs.iloc[[by_key[key] for key in made["key"]]].reset_index(drop=True)
    treated = ["kind", "attractor", "noun", "replaced", "homograph", "token"]
    items = [
        item_id([params.source, params.target, text, reference], dict(zip(treated, values, strict=True)))
        for text, reference, *values in zip(
            made["text"], of_pair["reference"], *(made[name] for name in treated), strict=True
        )
    ]
    groups = [
        {"corpus": corpus, "homograph": homograph, "sense": sense, "kind": kind, "adversarial": adversarial}
        for corpus, homograph, sense, kind, adversarial in zip(
            of_pair["corpus"], made["homograph"], made["sense"], made["kind"], made["adversarial"], strict=True
        )
    ]
    reasons = table["reason"].where(table["outcome"] == UNDECIDED, table["outcome"])
    found = _outcomes(items, "attack", table["outcome"], reasons, pair_groups(of_pair), groups)
    if not texts:
        return found
    spans = _spans(made["start"], made["end"], "changed", "attractor")
    return found.assign(source=of_pair["source"], changed=made["text"], reference=of_pair["reference"],
                        output=table["hypothesis"], spans=spans)  # fmt: skip


def _outcomes(
    items: list[str], measure: str, outcome: pd.Series, reasons: pd.Series, clusters: Any, groups: list[dict[str, str]]
) -> pd.DataFrame:
    import pandas as pd

    verdicts = [_VERDICTS.get(each, "undecided") for each in outcome]
    said = [
        "" if verdict == "pass" else reason if verdict == "undecided" else each
        for verdict, reason, each in zip(verdicts, reasons, outcome, strict=True)
    ]
    value = [{"pass": 1.0, "fail": 0.0}.get(verdict, np.nan) for verdict in verdicts]
    return pd.DataFrame({"item": items, "measure": measure, "value": value, "verdict": verdicts, "reason": said,
                         "cluster": clusters, "groups": groups})  # fmt: skip


def _spans(starts: pd.Series, ends: pd.Series, text: str, name: str) -> np.ndarray:
    return objects(
        [{"text": text, "start": int(start), "end": int(end), "label": name}]
        for start, end in zip(starts, ends, strict=True)
    )


@outcomes.table
def errors_of_outcomes(found: pd.DataFrame) -> pd.DataFrame:
    """`errors`, from outcomes alone."""
    back = {"pass": RIGHT, "fail": WRONG, "undecided": UNDECIDED}
    own = found[found["measure"] == "sense"]
    return error_rates(
        (str(model), of_model["verdict"].map(back).to_numpy(), of_model["cluster"].to_numpy(dtype=object))
        for model, of_model in own.groupby("system", sort=False)
    )
