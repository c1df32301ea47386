"""Tables of the attacks: what samples there are, which succeed, and whether they carry over (§3 and §4 of the paper).

A success rate is over all samples of a set; its ceiling is the share of samples whose seed was translated right.
The unit of every interval is the test pair, as the samples of one seed are not independent.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from nbkit.measure.statistics import share_interval
from nbkit.models import label
from nbkit.perturb.word_sense import PERTURBATIONS, grammar_errors, grammar_problem
from nbkit.seeding import address
from nbkit.store import Store
from nbkit.studies.disambiguation.params import DisambiguationParams
from nbkit.studies.disambiguation.pool import (
    BIASED,
    CHALLENGE,
    EXPECTED,
    NOT_DRAWN,
    RANDOM,
    UNEXPECTED,
    capped,
    drawn,
    jaccard,
    lexicon_of,
    pool,
    ranked,
    records,
    seeds,
)
from nbkit.studies.disambiguation.steps import (
    SEED_WRONG,
    SUCCESS,
    UNDECIDED,
    attacked_chunk,
    chunks,
    generated,
    generated_chunk,
)
from nbkit.studies.disambiguation.tables import Strength, frame, sense_label, sets, strength, threshold_rows

if TYPE_CHECKING:
    import pandas as pd

#: The biases of Table 5, by their names in the published values.
ATTRACTOR_BIASES = ("freq_wrong", "ppmi_wrong", "freq_diff", "ppmi_diff")


#: A random set of the samples that the challenge set is chosen from: those at the homograph.
RANDOM_NEAR = "random, at the homograph"


_NEAR = ("IH", "RH")


_BIASES = ["freq_right", "freq_wrong", "ppmi_right", "ppmi_wrong"]


_SAMPLE = ["sample", "key", "homograph", "sense", "kind", "attractor", "adversarial", *_BIASES]


def seeds_left(params: DisambiguationParams, store: Store | None = None) -> pd.DataFrame:
    """How many test pairs become seeds, and what the others fail at (§3.1).

    Columns: fate (in the order of the filters; "seed" last), n, share (of the pool).
    """
    found = seeds(params, store=store)["fate"].value_counts()
    total = max(int(found.sum()), 1)
    rows = [(fate, int(found.get(fate, 0))) for fate in (UNEXPECTED, BIASED, NOT_DRAWN, EXPECTED)]
    return frame([(fate, n, n / total) for fate, n in rows], ["fate", "n", "share"])


def samples_made(params: DisambiguationParams, store: Store | None = None) -> pd.DataFrame:
    """How many samples each perturbation type makes, and how many are fluent enough.

    Columns: kind, what (in words), made, fluent, share, seeds (that a fluent sample was made of), attractors.
    """
    table = _made(params, store)
    rows = []
    for kind in params.kinds:
        own = table[table["kind"] == kind]
        fluent = own[own["fluent"].astype(bool)]
        share = len(fluent) / len(own) if len(own) else np.nan
        counts = (len(own), len(fluent), share, fluent["key"].nunique(), fluent["attractor"].nunique())
        rows.append((kind, PERTURBATIONS[kind], *counts))
    return frame(rows, ["kind", "what", "made", "fluent", "share", "seeds", "attractors"])


def perturbation_examples(params: DisambiguationParams, k: int = 1, store: Store | None = None) -> pd.DataFrame:
    """*k* samples of each perturbation type (Table 4).

    Columns: kind, homograph, text, start, end (characters of the attractor), attractor, replaced, noun,
    homograph_start, homograph_end, seed.
    """
    store = store or Store()
    table = generated(params, store)
    pairs = pool(params, store)
    sources = dict(zip(pairs["key"], pairs["source"], strict=True))
    rows = []
    for kind in params.kinds:
        own = records(table[table["kind"] == kind])
        for row in sorted(own, key=lambda row: address(params.seed, "table4", row["sample"]))[:k]:
            start, end = homograph_span(row)
            rows.append(
                (kind, row["homograph"], row["text"], row["start"], row["end"], row["attractor"], row["replaced"],
                 row["noun"], start, end, sources[row["key"]])
            )  # fmt: skip
    return frame(rows, ["kind", "homograph", "text", "start", "end", "attractor", "replaced", "noun", "homograph_start",
                        "homograph_end", "seed"])  # fmt: skip


def outcomes(params: DisambiguationParams, model: str, store: Store | None = None) -> pd.DataFrame:
    """Every fluent sample with what *model* made of it, without the texts.

    Columns: sample, key, homograph, sense, kind, attractor, adversarial, freq_right, freq_wrong, ppmi_right,
    ppmi_wrong, outcome (see `attacked_chunk`).
    """
    import pandas as pd

    store = store or Store()
    parts = []
    for start in chunks(params, store):
        made = generated_chunk(params, start, store=store)
        made = made.loc[made["fluent"].astype(bool), _SAMPLE].reset_index(drop=True)
        found = attacked_chunk(params, model, start, store=store)
        assert made["sample"].tolist() == found["sample"].tolist()
        parts.append(made.assign(outcome=found["outcome"].to_numpy()))
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=[*_SAMPLE, "outcome"])


def attack_rates(params: DisambiguationParams, store: Store | None = None) -> pd.DataFrame:
    """How often attacks succeed, over all samples of the run.

    Columns: model, n, successes, rate, low, high, ceiling (share of samples whose seed was right), another_sense,
    undecided (counts).
    """
    rows = []
    for model in params.models:
        table = outcomes(params, model, store)
        rows.append((label(model), *_success(table)))
    return frame(rows, ["model", *_RATE])


def success_by_kind(params: DisambiguationParams, store: Store | None = None) -> pd.DataFrame:
    """Success rates by perturbation type (Figure 2). Columns: model, kind and those of `attack_rates`."""
    rows = []
    for model in params.models:
        table = outcomes(params, model, store)
        for kind in params.kinds:
            rows.append((label(model), kind, *_success(table[table["kind"] == kind])))
    return frame(rows, ["model", "kind", *_RATE])


def attack_correlations(params: DisambiguationParams, store: Store | None = None) -> pd.DataFrame:
    """Rank-biserial correlations of the attractors' biases with attack success (Table 5).

    Columns: model, measure (`ATTRACTOR_BIASES`), and those of `Strength`. Over all samples; wrong is the
    adversarial sense.
    """
    rows = []
    for model in params.models:
        table = outcomes(params, model, store)
        for measure in ATTRACTOR_BIASES:
            found = strength(
                attractor_bias(table, measure),
                (table["outcome"] == SUCCESS).to_numpy(),
                table["key"].to_numpy(),
                seed=params.seed,
            )
            rows.append((label(model), measure, *found))
    return frame(rows, ["model", "measure", *Strength._fields])


def attack_thresholds(params: DisambiguationParams, store: Store | None = None) -> pd.DataFrame:
    """Effect sizes adjusted for the base rates of attack success (Table 8, equation 8). Columns as of `thresholds`."""
    return threshold_rows(attack_rates(params, store).set_index("model")["rate"])


def attack_sets(params: DisambiguationParams, store: Store | None = None) -> dict[str, np.ndarray]:
    """Places among the fluent samples of the attack challenge set and of random ones (§3.2).

    The challenge set holds the IH and RH samples whose attractors have the largest FREQ_DIFF, at most
    ``per_homograph`` of each homograph; random sets of the same size are drawn from all samples, as in the paper,
    and from IH and RH alone.
    """
    table = generated(params, store, _SAMPLE)
    names, homographs = table["sample"].tolist(), table["homograph"].tolist()
    near = table["kind"].isin(_NEAR).to_numpy()
    order = ranked(attractor_bias(table, "freq_diff"), names, params.seed)
    chosen = capped((int(i) for i in order if near[i]), homographs, params.attack_size, params.per_homograph)
    by_chance = drawn(names, params.seed, "attacks")
    return {
        CHALLENGE: chosen,
        RANDOM: by_chance[: len(chosen)],
        RANDOM_NEAR: by_chance[near[by_chance]][: len(chosen)],
    }


def attack_challenge(params: DisambiguationParams, store: Store | None = None) -> pd.DataFrame:
    """Success rates on the attack challenge set and on random ones (Figure 3).

    Columns: model, set, those of `attack_rates`, factor (the rate over that of the random set; NaN where that has
    none).
    """
    chosen = attack_sets(params, store)
    rows: list[tuple[Any, ...]] = []
    for model in params.models:
        table = outcomes(params, model, store)
        rates = {name: _success(table.iloc[places]) for name, places in chosen.items()}
        chance = rates[RANDOM][2]
        for name, rate in rates.items():
            factor = rate[2] / chance if name != RANDOM and chance > 0 else np.nan
            rows.append((label(model), name, *rate, factor))
    return frame(rows, ["model", "set", *_RATE, "factor"])


def successes(params: DisambiguationParams, k: int = 5, store: Store | None = None) -> pd.DataFrame:
    """*k* successful attacks on each model, those of the challenge set first, of as many homographs as there are
    (Tables 6 and 13 to 18).

    Columns: model, kind, homograph, seed_sense, adversarial_sense, text, start, end (of the attractor), replaced,
    homograph_start, homograph_end, seed_hypothesis, seed_words, hypothesis, words, freq_diff.
    """
    store = store or Store()
    preferred = set(attack_sets(params, store)[CHALLENGE].tolist())
    samples = {row["sample"]: {**row, "place": place} for place, row in enumerate(records(generated(params, store)))}
    rows = []
    for model in params.models:
        made = [attacked_chunk(params, model, start, store=store) for start in chunks(params, store)]
        won = [
            {**samples[each["sample"]], **each}
            for chunk in made
            for each in records(chunk[chunk["outcome"] == SUCCESS])
        ]
        won.sort(key=lambda row: (row["place"] not in preferred, address(params.seed, "success", row["sample"])))
        for row in _in_turns(won, lambda row: (row["place"] not in preferred, row["homograph"]))[:k]:
            senses = (sense_label(params, row["homograph"], row[name]) for name in ("sense", "adversarial"))
            difference = row["freq_wrong"] - row["freq_right"]
            rows.append(
                [label(model), row["kind"], row["homograph"], *senses, row["text"], row["start"], row["end"],
                 row["replaced"], *homograph_span(row), row["seed_hypothesis"], row["seed_words"], row["hypothesis"],
                 row["words"], difference]
            )  # fmt: skip
    columns = ["model", "kind", "homograph", "seed_sense", "adversarial_sense", "text", "start", "end", "replaced"]
    columns += ["homograph_start", "homograph_end", "seed_hypothesis", "seed_words", "hypothesis", "words", "freq_diff"]
    return frame(rows, columns)


def _in_turns(rows: list[dict[str, Any]], group: Callable[[dict[str, Any]], tuple[bool, str]]) -> list[dict[str, Any]]:
    """*rows* with those of each (late, name) group in turn; the late groups after all others."""
    turns: Counter[tuple[bool, str]] = Counter()
    places = []
    for row in rows:
        late, name = group(row)
        places.append((late, turns[late, name]))
        turns[late, name] += 1
    return [rows[i] for i in sorted(range(len(rows)), key=lambda i: places[i])]


def transfer(params: DisambiguationParams, store: Store | None = None) -> pd.DataFrame:
    """Jaccard indices of the successful attacks on every two models (§4).

    Columns: domain, model_a, model_b, relation ("models", or "random seed" for a model and its twin), only_a, both,
    only_b, jaccard, low, high, chance (what sets of these sizes have in common when they are drawn independently).
    """
    tables = {model: outcomes(params, model, store) for model in params.translated_by}
    rows = []
    for a, b in combinations(tables, 2):
        one, two = ((tables[model]["outcome"] == SUCCESS).to_numpy(dtype=bool) for model in (a, b))
        either, both = one | two, one & two
        keys = tables[a]["key"].to_numpy()
        interval = share_interval(both[either], groups=keys[either])
        shared = int(both.sum())
        relation = "random seed" if b in (params.twins.get(a),) or a == params.twins.get(b) else "models"
        index = jaccard(np.flatnonzero(one).tolist(), np.flatnonzero(two).tolist())
        sizes = (int(one.sum()) - shared, shared, int(two.sum()) - shared)
        chance = _chance_jaccard(int(one.sum()), int(two.sum()), len(one))
        named = (params.domain, label(a), label(b), relation)
        rows.append((*named, *sizes, index, interval.low, interval.high, chance))
    columns = [
        "domain",
        "model_a",
        "model_b",
        "relation",
        "only_a",
        "both",
        "only_b",
        "jaccard",
        "low",
        "high",
        "chance",
    ]
    return frame(rows, columns)


def attractor_bias(samples: pd.DataFrame, measure: str) -> np.ndarray:
    """One of `ATTRACTOR_BIASES` for each sample."""
    name, side = measure.split("_")
    wrong = samples[f"{name}_wrong"].to_numpy(dtype=np.float64)
    return wrong - samples[f"{name}_right"].to_numpy(dtype=np.float64) if side == "diff" else wrong


def homograph_span(sample: dict[str, Any]) -> tuple[int, int]:
    """The characters of the homograph in a sample's text: where its token number comes to stand among its tokens."""
    at, text = 0, sample["text"]
    tokens = list(sample["tokens"])
    for place, token in enumerate(tokens):
        at = text.index(token, at)
        if place == sample["token"]:
            return at, at + len(token)
        at += len(token)
    raise AssertionError(f"no token {sample['token']} in {text!r}")


_RATE = ["n", "successes", "rate", "low", "high", "ceiling", "another_sense", "undecided"]


def _success(table: pd.DataFrame) -> tuple[Any, ...]:
    """The values of `_RATE` over the samples of *table*."""
    outcome = table["outcome"].to_numpy()
    won = outcome == SUCCESS
    rate = share_interval(won, groups=table["key"].to_numpy())
    ceiling = float((outcome != SEED_WRONG).mean()) if len(outcome) else np.nan
    other = int((outcome == "another sense").sum())
    return (
        len(outcome),
        int(won.sum()),
        rate.mean,
        rate.low,
        rate.high,
        ceiling,
        other,
        int((outcome == UNDECIDED).sum()),
    )


def _chance_jaccard(a: int, b: int, n: int) -> float:
    if not n or not a + b:
        return float("nan")
    both = a * b / n
    return both / (a + b - both)


def _made(params: DisambiguationParams, store: Store | None) -> pd.DataFrame:
    import pandas as pd

    store = store or Store()
    columns = ["kind", "key", "attractor", "fluent"]
    parts = [generated_chunk(params, start, store=store)[columns] for start in chunks(params, store)]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=columns)


# ----------------------------------------------------------------------------
# Would anybody notice? Grammar of the samples, and sentences for human judges (§3.3 of the paper).

#: The two kinds of sentences that judges see.
ADVERSARIAL, REGULAR = "adversarial", "regular"


_TERMS = 5


def grammar(params: DisambiguationParams, store: Store | None = None) -> pd.DataFrame:
    """How many samples of the attack challenge set have more grammar errors than their seeds, by LanguageTool (§3.3).

    Columns: domain, n, worse, better, percent (worse), low, high. Empty where the run does not check grammar, and where
    LanguageTool cannot run here (`grammar_skipped` says why).
    """
    columns = ["domain", "n", "worse", "better", "percent", "low", "high"]
    if grammar_skipped(params):
        return frame([], columns)
    store = store or Store()
    samples = generated(params, store).iloc[attack_sets(params, store)[CHALLENGE]]
    if samples.empty:
        return frame([], columns)
    sources = pool(params, store).set_index("key")["source"]
    texts = samples["text"].tolist()
    before = grammar_errors([sources[key] for key in samples["key"]], params.source, store=store)
    rise = np.array(grammar_errors(texts, params.source, store=store)) - np.array(before)
    share = share_interval(rise > 0, groups=samples["key"].to_numpy())
    counts = (len(rise), int((rise > 0).sum()), int((rise < 0).sum()))
    return frame([(params.domain, *counts, 100 * share.mean, 100 * share.low, 100 * share.high)], columns)


def grammar_skipped(params: DisambiguationParams) -> str | None:
    """Why grammar is not checked in this run, None where it is."""
    if params.grammar == "off":
        return 'Grammar was not checked: set grammar to "languagetool" (it needs LanguageTool and Java).'
    return grammar_problem()


def judgement_sample(params: DisambiguationParams, n: int = 100, store: Store | None = None) -> pd.DataFrame:
    """*n* sentences for human judges: half adversarial samples, half regular ones, of both challenge sets (§3.3).

    Of an adversarial sample the other sense is the adversarial one, of a regular sentence a drawn one. Fewer rows where
    there are not so many; every sentence once.

    Columns: sentence, homograph, correct and other (the first terms of the two senses), set ("adversarial", "regular"),
    sense, other_sense (names), key.
    """
    store = store or Store()
    lexicon, pairs = lexicon_of(params), pool(params, store)
    samples = generated(params, store).iloc[attack_sets(params, store)[CHALLENGE]]
    regular = pairs.iloc[sets(params, store)[CHALLENGE]]
    rows: list[tuple[Any, ...]] = []
    for name, table, of in ((ADVERSARIAL, samples, n - n // 2), (REGULAR, regular, n // 2)):
        ids = table["sample" if name == ADVERSARIAL else "key"].tolist()
        seen: set[str] = set()
        for place in drawn(ids, params.seed, "judgement"):
            row = table.iloc[place]
            sentence = row["text" if name == ADVERSARIAL else "source"]
            if len(seen) == of or sentence in seen:
                continue
            seen.add(sentence)
            clusters = {cluster.name: cluster for cluster in lexicon.homographs[row["homograph"]].clusters}
            others = sorted(set(clusters) - {row["sense"]})
            drawn_one = others[address(params.seed, "other sense", row["key"]) % len(others)]
            other = row["adversarial"] if name == ADVERSARIAL else drawn_one
            terms = [", ".join(sorted(clusters[sense].translations)[:_TERMS]) for sense in (row["sense"], other)]
            rows.append((sentence, row["homograph"], *terms, name, row["sense"], other, row["key"]))
    return frame(rows, ["sentence", "homograph", "correct", "other", "set", "sense", "other_sense", "key"])
