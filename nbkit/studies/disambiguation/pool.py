"""The disambiguation study as it declares itself, and what is tested: pairs with biases, seeds, challenge sets."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from nbkit import models
from nbkit.corpora import Pair, check_corpus, find_corpus, is_endless, load_pairs
from nbkit.corpora.corpus import FileCorpus, RawCorpus
from nbkit.corpora.homographs import HomographLexicon, check_homographs
from nbkit.errors import NbkitError
from nbkit.languages import base_language
from nbkit.measure.aligners import Aligner, check_aligner, load_aligner
from nbkit.measure.bleu import cut
from nbkit.measure.literal import lemmas
from nbkit.measure.senses import (
    AGGREGATES,
    MEASURES,
    NOT_ALIGNED,
    REACHES,
    Sense,
    SenseCounts,
    SenseFinder,
    majority_sense,
    sentence_bias,
)
from nbkit.models import label
from nbkit.models.translators.texts import text_pairs
from nbkit.perturb.word_sense import expected_sense, grammar_identity, grammar_problem, least_biased, sense_fillers
from nbkit.seeding import address
from nbkit.store import Store
from nbkit.studies.base import Notebook
from nbkit.studies.disambiguation.mining import (
    ByContent,
    Mining,
    aligned_pairs,
    mine,
    mine_shard,
    n_pairs,
    shard_pairs,
    shard_starts,
)
from nbkit.studies.disambiguation.params import DisambiguationParams
from nbkit.studies.engine import LANGUAGE_MODEL, TRANSLATOR, Axis, Study, Use
from nbkit.studies.results import objects
from nbkit.text.parsers import check_parser, from_record, parse_remembered, parser_for, to_record
from nbkit.text.phrases import english_forms
from nbkit.text.sentences import Sentence, Text

if TYPE_CHECKING:
    import pandas as pd

#: Seeds whose samples are made, kept and translated together: memory does not grow with their number.
CHUNK = 200
#: Parts that seeds are handled in at most, each a unit of work.
MOST_PARTS = 16


def uses_translator(params: DisambiguationParams, model: str, **_: Any) -> list[Use]:
    """The translator of one point of the grid."""
    return [Use(TRANSLATOR, model, (params.source, params.target))]


def uses_masked(params: DisambiguationParams, **_: Any) -> list[Use]:
    """The language model that seeds are filtered by."""
    found = params.masked_lm
    return [] if found is None else [Use(LANGUAGE_MODEL, found, (params.target,), "masked")]


def uses_language_models(params: DisambiguationParams, **_: Any) -> list[Use]:
    """The language models that samples are filtered by."""
    own = [] if params.causal_lm is None else [Use(LANGUAGE_MODEL, params.causal_lm, (params.source,))]
    return [*uses_masked(params), *own]


def parts(params: DisambiguationParams) -> list[tuple[int, int]]:
    """In which parts seeds are handled: number and how many. How many seeds there are is known when test pairs are
    found, but for the limit.
    """
    n = MOST_PARTS if params.n_seeds is None else min(MOST_PARTS, -(-params.n_seeds // CHUNK))
    return [(part, n) for part in range(n)]


def _problems(params: DisambiguationParams) -> Iterator[str | None]:
    """Problems of this run beside its models; loads none."""
    source, target, parsers = params.source, params.target, params.parsers or None
    for corpus, limit, n in params.read:
        yield from check_corpus(corpus, source, target, parsers, n=n, on_error=params.on_error)
        with suppress(NbkitError):  # `check_corpus` says what is wrong with it
            if n is None and is_endless(corpus):
                yield f"corpus '{corpus}' is unbounded: set {limit}"
    yield check_homographs(params.lexicon, target, src=source, on_conflict=params.on_conflict)
    yield from _link_problems(params)
    yield check_aligner(params.hypothesis_aligner, source, target)
    if params.target_words == "lemmas":
        yield check_parser(parser_for(target, parsers), target)
    yield from params.form_problems()


def _link_problems(params: DisambiguationParams) -> Iterator[str | None]:
    """What is wrong with the links of the corpora; gold ones have to be there in all of them."""
    if params.aligner != "gold":
        problem = check_aligner(params.aligner, params.source, params.target)
        try:
            if problem is None:
                params.mined.aligner_key()  # malformed lines that may be left out move the places of a file's links
        except NbkitError as error:
            problem = str(error)
        yield problem
        return
    for corpus, *_ in params.read:
        with suppress(NbkitError):
            if not _has_links(params, corpus):
                yield f"corpus '{corpus}' has no gold links: name what is to link its pairs (aligner: eflomal)"


def _has_links(params: DisambiguationParams, corpus: str) -> bool:
    """Whether a corpus has gold links: one in files has none, of another one the first pair tells."""
    if isinstance(find_corpus(corpus)[0], FileCorpus):
        return False
    first = next(load_pairs(corpus, params.source, params.target, n=1, parsers=params.parsers or None), None)
    return first is None or first.alignment is not None


def _inputs(params: DisambiguationParams) -> dict[str, Any]:
    """Digests of what the parameters stand for: corpora, sense clusters, models, filled forms."""
    return {
        "samples": params.samples_key(),
        "models": {model: params.translation_key(model) for model in params.translated_by},
        "grammar": None if params.grammar == "off" else [grammar_identity(), grammar_problem()],
        "annotations": params.form_digests(),
    }


STUDY = Study(
    name="disambiguation",
    title="Disambiguation: can wrong senses be predicted and provoked?",
    paper="Emelin, Titov and Sennrich (2020), Detecting Word Sense Disambiguation Biases in Machine Translation for "
    "Model-Agnostic Adversarial Attacks",
    params=DisambiguationParams,
    verdict="pass: the sense of the gold translation; fail: another; undecided: no sense shows, or several do",
    behaviour=Path(__file__).with_name("behaviour.yaml"),
    axes={
        "corpus": Axis(lambda params: [params.domain]),
        "model": Axis(lambda params: params.models, label),
        "translator": Axis(lambda params: params.translated_by, label),
        "part": Axis(parts, lambda part: f"{part[0] + 1}/{part[1]}" if part[1] > 1 else "", tuple),
    },
    grid=("corpus", "model"),
    used=lambda params, store: _used(params, store),
    tags=lambda params: {"language": params.target},
    check=_problems,
    inputs=_inputs,
    uses=lambda params: [
        *(use for model in params.asked for use in uses_translator(params, model)),
        *uses_language_models(params),
    ],
    # In the order in which the report shows them; a test compares titles with the notebooks.
    notebooks=(
        Notebook("disambiguation/attractors", "Which words go with which sense?", "grid"),
        Notebook("disambiguation/models", "How good are the models?", "grid"),
        Notebook("disambiguation/error_prediction", "Can wrong senses be predicted?", "grid"),
        Notebook("disambiguation/challenge_sets", "Are biased sentences harder?", "grid"),
        Notebook("disambiguation/attack_samples", "What do the attacks look like?", "grid"),
        Notebook("disambiguation/attack_success", "Which attacks succeed?", "grid"),
        Notebook("disambiguation/transferability", "Do attacks carry over to other models?", "grid"),
        Notebook("disambiguation/sample_quality", "Would a reader notice the attack?", "grid"),
        Notebook("disambiguation/model_card", "How does this model choose between senses?", "cell"),
    ),
)


# ----------------------------------------------------------------------------
# Where tokens stand in running text.


def character_of(text: Text, token: int) -> int:
    """Where in its running text a token begins, counted in characters. Raises `NbkitError` if there is none.

    >>> from nbkit.text.sentences import Sentence
    >>> character_of(Text((Sentence(("I", "'m", "in"), "en", (False, True, False)),)), 2)
    4
    """
    number, at = sentence_of(text, token)
    sentence = text.sentences[number]
    before = sum(len(each.text) + len(each.separator) for each in text.sentences[:number])
    spaces = sentence.spaces or (bool(sentence.separator),) * len(sentence)
    return before + sum(len(sentence.tokens[i]) + spaces[i] for i in range(at))


def sentence_of(text: Text, token: int) -> tuple[int, int]:
    """The number of the sentence that a token of a text is in, and its place there. Raises `NbkitError`.

    >>> from nbkit.text.sentences import Sentence
    >>> sentence_of(Text((Sentence(("Hi", "!"), "en"), Sentence(("Well", "."), "en"))), 2)
    (1, 0)
    """
    at = token
    for number, sentence in enumerate(text.sentences):
        if 0 <= at < len(sentence):
            return number, at
        at -= len(sentence)
    raise NbkitError(f"there is no token {token} in {text.text!r}")


# ----------------------------------------------------------------------------
# The test pairs: pairs whose reference tells the sense of a homograph, with the bias of their sources.
#
# A pair is in the pool once for each homograph that stands in it once and is translated in exactly one sense
# (§2.2). Biases come from the training corpus; where that is cross-fitted, from the parts that the pair is
# not in.

#: Pairs of a corpus that are read, aligned and counted together.
SHARD, LARGE_SHARD, LARGE = 10_000, 100_000, 1_000_000


#: Why a pair, or a homograph in it, is not in the pool, besides the reasons of `sense_decision`.
SHORT, REPEATED = "shorter than min_tokens", "homograph stands there more than once"


#: The biases of a pair: measure, aggregate and side.
BIASES = tuple(f"{measure}_{side}_{how}" for measure in MEASURES for side in ("right", "wrong") for how in AGGREGATES)


_PAIR = ["key", "corpus", "pair", "homograph", "token", "sense", "word", "source", "reference", "start", "end",
         "length", "fold", "wrong_sense"]  # fmt: skip


COLUMNS = [*_PAIR, *BIASES, "parse", "left_out", "n"]
#: Which of them are whole numbers.
_WHOLE = ["token", "start", "end", "length", "fold"]


def _run(params: DisambiguationParams, store: Store) -> ByContent:
    """What is learned from the training corpus, to be remembered by."""
    content = json.dumps([params.learned_key(), store.url], sort_keys=True)
    return ByContent(content, (params, store.url))


def training(params: DisambiguationParams, store: Store, *, keep: bool = True) -> Mining:
    """What biases are counted on, in shards; those of a cross-fitted corpus are its folds. keep: as of `n_pairs`."""
    n = n_pairs(params.mined, store, keep=keep)
    if params.folds:
        return replace(params.mined, shard=max(1, -(-n // params.folds)))
    return replace(params.mined, shard=LARGE_SHARD if n > LARGE else SHARD)


def tested(params: DisambiguationParams, corpus: str, store: Store, *, keep: bool = True) -> Mining:
    """The pairs of a test corpus in shards, with the links of the training corpus. keep: as of `n_pairs`."""
    if params.is_cross_fitted(corpus):
        return training(params, store, keep=keep)
    return replace(params.mined, corpus=corpus, n=params.n_pairs, shard=SHARD)


def linked(params: DisambiguationParams, corpus: str, store: Store) -> Mining:
    """As `tested`, with its own links: gold ones where the training corpus has them."""
    mining = tested(params, corpus, store)
    if params.aligner == "gold" or params.is_cross_fitted(corpus):
        return mining
    return replace(mining, aligner=hypothesis_aligner(params, store))


def hypothesis_aligner(params: DisambiguationParams, store: Store) -> Aligner:
    """What links sources with their translations, loaded once a run: a statistical aligner learns from the training
    corpus first, and a lexicon is that of its gold links.
    """
    return _hypothesis_aligner(_run(params, store))


@lru_cache(maxsize=1)
def _hypothesis_aligner(run: ByContent) -> Aligner:
    params, store = run.of[0], Store(run.of[1])
    options: dict[str, Any] = {}
    if params.hypothesis_aligner == "eflomal":
        pairs = _training_pairs(params, store)
        options = {"training": [(pair.source.tokens, pair.target.tokens) for pair in pairs], "store": store}
    elif params.hypothesis_aligner == "lexicon":
        options = {"entries": word_list(params, store)}
    return load_aligner(params.hypothesis_aligner, params.source, params.target, **options)


@STUDY.step(key=lambda params: {"n": params.aligner_pairs, **params.counts_key()})
def linked_words(params: DisambiguationParams, store: Store) -> pd.DataFrame:
    """How often gold links of the training corpus, the first ``aligner_pairs`` pairs, link two forms.

    Columns: source, target, n.
    """
    import pandas as pd

    links: Counter[tuple[str, str]] = Counter()
    for pair in _training_pairs(params, store):
        source, target = pair.source.tokens, pair.target.tokens
        links.update((source[i].casefold(), target[j].casefold()) for i, j in pair.alignment or ())
    rows = [(*words, n) for words, n in sorted(links.items())]
    return pd.DataFrame(rows, columns=["source", "target", "n"])


def word_list(params: DisambiguationParams, store: Store) -> dict[tuple[str, str], float]:
    """`linked_words` as a word list."""
    table = linked_words(params, store=store)
    return {(source, target): float(n) for source, target, n in table.itertuples(index=False, name=None)}


def _training_pairs(params: DisambiguationParams, store: Store) -> Iterator[Pair]:
    limits = [n for n in (params.aligner_pairs, params.training_pairs) if n is not None]
    return load_pairs(
        params.training_corpus, params.source, params.target, n=min(limits, default=None),
        parsers=params.parsers or None, on_error=params.on_error, store=store,
    )  # fmt: skip


def counts(params: DisambiguationParams, store: Store | None = None, *, fold: int = -1) -> SenseCounts:
    """The counts over the training corpus: over all of it, or without its part number *fold*."""
    return counts_without(params, fold, store or Store())


def counts_without(params: DisambiguationParams, fold: int, store: Store) -> SenseCounts:
    """The counts over the training corpus without its part number *fold*; over all of it where that is −1."""
    return _counts(_run(params, store), fold)


@lru_cache(maxsize=12)
def _counts(run: ByContent, fold: int) -> SenseCounts:
    params, store = run.of[0], Store(run.of[1])
    mining = training(params, store)
    if fold < 0:
        return mine(mining, store)
    return _counts(run, -1) - mine_shard(mining, shard_starts(mining, store)[fold], store)


# ----------------------------------------------------------------------------
# Senses in translations: of one system's, and of all systems', whose majority tells the sense without a reference.


class Found(NamedTuple):
    """What a translator made of one text: the whole hypothesis, the words aligned with the homograph, their sense.

    sense: "" where it cannot be identified, and then *reason* says why. reached: what is found by each `Reach`.
    """

    hypothesis: str
    words: str
    sense: str
    reason: str
    reached: Mapping[str, Sense]


def translations(
    params: DisambiguationParams, model: str, texts: Sequence[str], store: Store | None = None
) -> list[str]:
    """*texts* as *model* translates them."""
    return params.translate(model, texts, params.source, params.target, store or Store())


def translated(params: DisambiguationParams, model: str, rows: pd.DataFrame, store: Store) -> list[Found]:
    """Texts translated, and the sense of what their homographs became, by the words aligned with them.

    rows: with text, tokens, homograph and token (its place).
    """
    hypotheses = translations(params, model, rows["text"].tolist(), store)
    return [found for found, _ in _senses(params, rows, hypotheses, store)]


def _senses(
    params: DisambiguationParams, rows: pd.DataFrame, hypotheses: Sequence[str], store: Store
) -> Iterator[tuple[Found, Text | None]]:
    """What the homograph of each row became in its hypothesis, which is parsed, too; None for an empty one."""
    finder = SenseFinder(params.homographs, "parts", nouns=params.target_nouns)
    targets = read_words(params, hypotheses, store)
    both = zip(rows["tokens"], targets, strict=True)
    pairs = [(tuple(source), () if target is None else target.tokens) for source, target in both]
    links = hypothesis_aligner(params, store).align(pairs, progress=False)
    places = zip(rows["homograph"], rows["token"], pairs, targets, links, hypotheses, strict=True)
    for homograph, token, (source, _), target, alignment, hypothesis in places:
        if target is None:
            yield Found(hypothesis, "", "", NOT_ALIGNED, {}), None
            continue
        marked = _marked(params, source, homograph, int(token))
        reached: dict[str, Sense] = {reach: finder.senses(marked, target, alignment, reach)[0] for reach in REACHES}
        sense = reached[params.reach]
        words = " ".join(target.tokens[i] for i in sense.targets)
        yield Found(hypothesis, words, sense.cluster or "", sense.reason or "", reached), target


def _marked(params: DisambiguationParams, tokens: Sequence[str], homograph: str, token: int) -> Text:
    """A source in which the homograph at *token* is the only one."""
    n = len(tokens)
    lemmas, tags = [""] * n, ["X"] * n
    lemmas[token], tags[token] = homograph, "NOUN"
    return Text((Sentence(tuple(tokens), params.source, upos=tuple(tags), lemmas=tuple(lemmas)),))


def read_words(params: DisambiguationParams, texts: Sequence[str], store: Store) -> list[Text | None]:
    """Translations with tokens and lemmas: parsed, or cut and looked up unchanged; None for an empty one."""
    if params.target_words == "forms":
        cuts = [tuple(cut(text, params.target)) for text in texts]
        return [Text((Sentence(tokens, params.target),)) if tokens else None for tokens in cuts]
    spec = parser_for(params.target, params.parsers or None)
    wanted = [text for text in dict.fromkeys(texts) if text.strip()]
    parsed = dict(zip(wanted, parse_remembered(wanted, spec, params.target, store=store), strict=True))
    return [parsed.get(text) for text in texts]


#: Why an occurrence without a reference is not in the pool.
SEEN, NAME, NO_MAJORITY = "source seen before", "written as a name", "no majority of the other systems"
_OCCURRENCE = ["key", "pair", "homograph", "token", "length", "source"]
_VOTES = [*_OCCURRENCE, "parse", "model", "hypothesis", "words", "found", "reason", "reached", "word", "start", "end",
          "left_out", "n"]  # fmt: skip


def uses_voters(params: DisambiguationParams, **_: Any) -> list[Use]:
    """The translators whose majority identifies the senses of test pairs; none where references do."""
    return [use for model in params.voters for use in uses_translator(params, model)]


@STUDY.step(
    per=("corpus", "start"),
    key=lambda params, corpus, start: {"corpus": corpus, "start": start, **params.pool_key()},
    uses=uses_voters,
)
def votes(params: DisambiguationParams, corpus: str, start: int, store: Store) -> pd.DataFrame:
    """What every system made of the homographs in one shard of a test corpus, whose target side is not read.

    Columns: key, pair, homograph, token, length, source, parse (in the rows of the first model alone), model,
    hypothesis, words (aligned), found (sense), reason, reached (sense and possible senses by each `Reach`, JSON), word,
    start, end (the word that shows the sense); left_out ("" for these rows, else why occurrences do not count), n.
    """
    import pandas as pd

    left_out: Counter[str] = Counter()
    occurrences = list(_occurrences(params, corpus, start, store, left_out))
    asked = pd.DataFrame(occurrences, columns=[*_OCCURRENCE, "text"])
    asked["tokens"] = objects(text.tokens for text in asked["text"])
    both = pd.concat([asked.assign(model=model) for model in params.voters], ignore_index=True)
    sources = asked["source"].tolist()
    hypotheses = [line for model in params.voters for line in translations(params, model, sources, store)]
    rows = []
    for row, (found, target) in zip(records(both), _senses(params, both, hypotheses, store), strict=True):
        reached = {reach: [sense.cluster, sorted(sense.possible)] for reach, sense in found.reached.items()}
        rows.append({
            **{name: row[name] for name in (*_OCCURRENCE, "model")},
            "parse": _parse(row["text"]) if row["model"] == params.voters[0] else "",
            **dict(zip(("hypothesis", "words", "found", "reason"), found[:4], strict=True)),
            "reached": json.dumps(reached, separators=(",", ":")),
            **(_word(target, found.reached[params.reach].indicating[0]) if target and found.sense else _NO_WORD),
            "left_out": "",
            "n": 1,
        })  # fmt: skip
    rows += [{"left_out": reason, "n": n} for reason, n in sorted(left_out.items())]
    return pd.DataFrame(rows, columns=_VOTES).astype(dict.fromkeys(["token", "length", "start", "end"], "Int64"))


def _occurrences(
    params: DisambiguationParams, corpus: str, start: int, store: Store, left_out: Counter[str]
) -> Iterator[tuple[Any, ...]]:
    """Each homograph that counts in the sources of a shard, as in `_OCCURRENCE`, with its parsed source."""
    finder = SenseFinder(params.homographs, "parts", nouns=params.target_nouns)
    for pair, text in _sources(params, corpus, start, store, left_out):
        found = finder.occurrences(text)
        times = Counter(homograph for homograph, _ in found)
        for homograph, token in found:
            if len(text) < params.min_tokens:
                left_out[SHORT] += 1
            elif times[homograph] > 1:
                left_out[REPEATED] += 1
            elif text.tokens[token][:1].isupper() and sentence_of(text, token)[1] > 0:
                left_out[NAME] += 1
            else:
                yield f"{corpus}/{pair}/{homograph}", pair, homograph, token, len(text), text.text, text


def _sources(
    params: DisambiguationParams, corpus: str, start: int, store: Store, left_out: Counter[str]
) -> Iterator[tuple[str, Text]]:
    """The distinct sources of a shard that may have a homograph, with their pairs' names; only these are parsed."""
    mining = tested(params, corpus, store)
    if not isinstance(find_corpus(corpus)[0], RawCorpus):
        for pair in shard_pairs(mining, start, store):
            left_out["pairs read"] += 1
            yield pair.id, pair.source
        return
    spec, seen = parser_for(params.source, params.parsers or None), set()
    forms = {form for word in params.homographs.homographs for form in english_forms(word)}
    raw: dict[str, str] = {}
    lines = text_pairs(corpus, params.source, params.target, mining.n, on_error=params.on_error)
    for number, line in enumerate(islice(lines, start + mining.shard)):
        if number >= start:
            left_out["pairs read"] += 1
            words = re.findall(r"[^\W\d_]+", line.source.lower())
            if base_language(params.source) != "en" or not forms.isdisjoint(words):
                if line.source in seen:
                    left_out[SEEN] += 1
                else:
                    raw[line.id] = line.source
        seen.add(line.source)
    yield from zip(raw, parse_remembered([*raw.values()], spec, params.source, store=store), strict=True)


_NO_WORD = {"word": "", "start": -1, "end": -1}


def _parse(text: Text) -> str:
    return json.dumps(to_record(text), ensure_ascii=False, separators=(",", ":"))


def _word(target: Text, place: int) -> dict[str, Any]:
    """A word of a target with its place in running text, for a row of the pool."""
    start = character_of(target, place)
    return {"word": target.tokens[place], "start": start, "end": start + len(target.tokens[place])}


def _by_majority(params: DisambiguationParams, corpus: str, start: int, store: Store) -> tuple[list[Any], Counter[str]]:
    """The rows of the pool from one shard, by the majority of the systems, and what was excluded."""
    cast = votes(params, corpus, start, store=store)
    counted = cast[cast["left_out"] != ""]
    left_out = Counter(dict(zip(counted["left_out"], counted["n"].astype(int), strict=True)))
    known, rows = counts_without(params, -1, store), []
    for key, own in cast[cast["left_out"] == ""].groupby("key", sort=False):
        sense = majority_sense(own["found"])
        if sense is None:
            left_out[NO_MAJORITY] += 1
            continue
        first, shown = own.iloc[0].to_dict(), own[own["found"] == sense].iloc[0]
        given = {name: first[name] for name in ("pair", "homograph", "token", "length", "source", "parse")}
        at = {name: shown[name] for name in ("word", "start", "end")}
        context = lemmas(from_record(json.loads(first["parse"]), params.source))
        biases = _biases(context, known, params.homographs, first["homograph"], sense)
        rows.append({"key": key, **given, **at, "sense": sense, "reference": shown["hypothesis"], "corpus": corpus,
                     "fold": -1, **biases})  # fmt: skip
    return rows, left_out


def found_by(params: DisambiguationParams, model: str, store: Store) -> list[Found]:
    """What *model* made of every pair of the pool, in the pool's order."""
    pairs = pool(params, store)
    if model not in params.voters:
        tokens = objects(source_of(params, pair).tokens for pair in records(pairs))
        return translated(params, model, pairs.assign(tokens=tokens, text=pairs["source"]), store)
    starts = ((corpus, start) for corpus in params.corpora for start in pool_starts(params, corpus, store))
    tables = (votes(params, *at, store=store) for at in starts)
    cast = stacked([table[table["model"] == model] for table in tables], _VOTES).set_index("key").loc[pairs["key"]]
    found = []
    for row in records(cast):
        reached = {
            reach: Sense(row["homograph"], row["token"], cluster, None, possible=frozenset(possible))
            for reach, (cluster, possible) in json.loads(row["reached"]).items()
        }
        found.append(Found(row["hypothesis"], row["words"], row["found"], row["reason"], reached))
    return found


# ----------------------------------------------------------------------------
# The pool.


@STUDY.step(
    per=("corpus", "start"),
    key=lambda params, corpus, start: {"corpus": corpus, "start": start, **params.pool_key()},
    uses=uses_voters,
)
def pool_shard(params: DisambiguationParams, corpus: str, start: int, store: Store) -> pd.DataFrame:
    """The pool's rows from one shard of a test corpus, and what was excluded from it.

    Columns: those of `pool`, and left_out ("" for rows of the pool, else why) with n (how many).
    """
    if params.voters:
        rows, left_out = _by_majority(params, corpus, start, store)
        return _pool_table(rows, left_out)
    mining = linked(params, corpus, store)
    fold = start // mining.shard if params.is_cross_fitted(corpus) else -1
    known = counts_without(params, fold, store)
    finder = SenseFinder(params.homographs, "compounds", nouns=params.target_nouns)
    left_out, rows = Counter(), []
    for pair, links in aligned_pairs(mining, start, store):
        left_out["pairs read"] += 1
        for row in _rows(params, pair, finder, links, left_out):
            biases = _biases(lemmas(pair.source), known, finder.lexicon, row["homograph"], row["sense"])
            rows.append({**row, "key": f"{corpus}/{row['key']}", "corpus": corpus, "fold": fold, **biases})
    return _pool_table(rows, left_out)


def _pool_table(rows: Iterable[Mapping[str, Any]], left_out: Mapping[str, int]) -> pd.DataFrame:
    """The table of `pool_shard`."""
    import pandas as pd

    counted = [{"left_out": reason, "n": n} for reason, n in sorted(left_out.items())]
    return _typed(pd.DataFrame([*({**row, "left_out": "", "n": 1} for row in rows), *counted], columns=COLUMNS))


def pool_starts(params: DisambiguationParams, corpus: str, store: Store, *, keep: bool = True) -> list[int]:
    """Where the shards of a test corpus begin. keep: as of `n_pairs`."""
    return shard_starts(tested(params, corpus, store, keep=keep), store, keep=keep)


def pool(params: DisambiguationParams, store: Store | None = None) -> pd.DataFrame:
    """All test pairs of the run, one row per pair and homograph; of more than `n_test`, as many as are drawn.

    Columns: key (unique), corpus, pair, homograph, token (its place in the source), sense (the reference's), word (that
    the homograph is linked to), source, reference, start, end (characters of that word), length (tokens of the source),
    fold (part of the training corpus, −1 for other corpora), wrong_sense (the one of the largest FREQ), biases
    ``{measure}_{side}_{how}``: one of `MEASURES`; right or wrong; mean or sum; parse (of the source, JSON).
    """
    table = _shards(params, params.corpora, store or Store())
    table = table[table["left_out"] == ""].drop(columns=["left_out", "n"])
    if params.n_test is not None and len(table) > params.n_test:
        drawn = sorted(table.index, key=lambda row: address(params.seed, "test pair", table.at[row, "key"]))
        table = table.loc[sorted(drawn[: params.n_test])]
    return table.reset_index(drop=True).astype(dict.fromkeys(_WHOLE, "int64"))


def pool_left_out(params: DisambiguationParams, store: Store | None = None) -> pd.DataFrame:
    """What is not in the pool, and why. Columns: corpus, reason ("pairs read" for all that were looked at), n."""
    import pandas as pd

    store = store or Store()
    drawn = pool(params, store)["corpus"].value_counts()
    rows: list[tuple[str, str, int]] = []
    for corpus in params.corpora:
        table = _shards(params, [corpus], store)
        summed = table[table["left_out"] != ""].groupby("left_out", sort=False)["n"].sum()
        rows += [(corpus, str(reason), int(n)) for reason, n in summed.items()]
        n = int(drawn.get(corpus, 0))
        rows += [(corpus, "not drawn", more)] if (more := int((table["left_out"] == "").sum()) - n) else []
        rows.append((corpus, "in the pool", n))
    return pd.DataFrame(rows, columns=["corpus", "reason", "n"])


def _used(params: DisambiguationParams, store: Store) -> dict[str, list[int]]:
    """How many pairs the test corpora had, and how many test pairs were found; nothing before all were looked for."""
    starts = ((corpus, start) for corpus in params.corpora for start in pool_starts(params, corpus, store, keep=False))
    if any(pool_shard.rows(params, *at, store=store) is None for at in starts):
        return {}
    table = pool_left_out(params, store).set_index("reason")["n"]
    return {
        "n_pairs": sorted(set(table.loc[["pairs read"]].tolist())),
        "n_test": [int(table.loc[["in the pool"]].sum())],
    }


def pair_groups(pairs: pd.DataFrame) -> np.ndarray:
    """The unit of each row of the pool: a pair with two homographs stands there twice."""
    return (pairs["corpus"].astype(str) + "/" + pairs["pair"].astype(str)).to_numpy(dtype=object)


def records(table: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows of a table as dictionaries."""
    return [{str(name): value for name, value in row.items()} for row in table.to_dict("records")]


def source_of(params: DisambiguationParams, pair: Mapping[str, Any]) -> Text:
    """The parsed source of a row of the pool."""
    return from_record(json.loads(pair["parse"]), params.source)


def stacked(tables: Sequence[pd.DataFrame], columns: list[str]) -> pd.DataFrame:
    """*tables* one below the other, with these columns also if there is none."""
    import pandas as pd

    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=columns)


def _shards(params: DisambiguationParams, corpora: Iterable[str], store: Store) -> pd.DataFrame:
    starts = [(corpus, start) for corpus in corpora for start in pool_starts(params, corpus, store)]
    return _typed(stacked([pool_shard(params, *at, store=store) for at in starts], COLUMNS))


def _typed(table: pd.DataFrame) -> pd.DataFrame:
    return table.astype(dict.fromkeys([*_WHOLE, "n"], "Int64") | dict.fromkeys(BIASES, "float64"))


def _rows(
    params: DisambiguationParams, pair: Pair, finder: SenseFinder, links: Any, left_out: Counter[str]
) -> Iterator[dict[str, Any]]:
    senses = finder.pair_senses(pair.source, pair.target, links)
    if not senses:
        return
    if len(pair.source) < params.min_tokens:
        left_out[SHORT] += len(senses)
        return
    times = Counter(sense.homograph for sense in senses)
    for sense in senses:
        reason = REPEATED if times[sense.homograph] > 1 else sense.reason
        if reason is None:
            yield _row(pair, sense)
        else:
            left_out[reason] += 1


def _row(pair: Pair, sense: Sense) -> dict[str, Any]:
    target = pair.target
    # Of several linked words (an article, a particle) the first that indicates the sense.
    return {
        "key": f"{pair.id}/{sense.homograph}",
        "pair": pair.id,
        "homograph": sense.homograph,
        "token": sense.token,
        "sense": sense.cluster,
        **_word(target, sense.indicating[0]),
        "source": pair.source.text,
        "reference": target.text,
        "length": len(pair.source),
        "parse": _parse(pair.source),
    }


def _biases(
    words: list[str], known: SenseCounts, lexicon: HomographLexicon, homograph: str, right: str
) -> dict[str, Any]:
    senses = [cluster.name for cluster in lexicon.homographs[homograph].clusters]
    found: dict[str, Any] = {}
    for name in MEASURES:
        for how in AGGREGATES:
            bias = sentence_bias(words, known, homograph, right, senses, measure=name, aggregate=how)
            found[f"{name}_right_{how}"], found[f"{name}_wrong_{how}"] = bias.right, bias.wrong
            if name == "freq" and how == "mean":
                found["wrong_sense"] = bias.wrong_sense
    return found


# ----------------------------------------------------------------------------
# Seed sentences: the test pairs that are attacked, after the filters of §3.1.

#: What becomes of a test pair, in the order of the filters.
EXPECTED, UNEXPECTED, BIASED, NOT_DRAWN = "seed", "another sense expected", "most biased", "not drawn"


@STUDY.step(key=lambda params: params.seeds_key(), uses=uses_masked)
def seeds(params: DisambiguationParams, store: Store) -> pd.DataFrame:
    """What becomes of each pair of the pool as a seed: one row per pair, in the pool's order.

    Columns: key, expected (the sense that the masked language model expects; "" without one), fate ("seed", "another
    sense expected", "most biased", "not drawn").
    """
    import pandas as pd

    pairs = pool(params, store)
    expected = _expected(params, pairs, store)
    fate = np.full(len(pairs), EXPECTED, dtype=object)
    if params.masked_lm is not None:
        fate[expected != pairs["sense"].to_numpy()] = UNEXPECTED
    keys = pairs["key"].tolist()
    in_order = drawn(keys, params.seed, "seeds")
    left = in_order[fate[in_order] == EXPECTED]
    biases = pairs[f"freq_wrong_{params.bias}"].to_numpy()[left]
    keep = least_biased(biases, params.most_biased)
    fate[left[~keep]] = BIASED
    fate[left[keep][params.n_seeds :] if params.n_seeds is not None else []] = NOT_DRAWN
    return pd.DataFrame({"key": keys, "expected": expected, "fate": fate.astype(str)})


def _expected(params: DisambiguationParams, pairs: pd.DataFrame, store: Store) -> np.ndarray:
    """The sense of the most probable translation in the place of the reference's, for each pair."""
    if params.masked_lm is None or pairs.empty:
        return np.full(len(pairs), "", dtype=object)
    lexicon: HomographLexicon = params.homographs
    fillers = {word: sense_fillers(homograph) for word, homograph in lexicon.homographs.items()}
    found = models.masked_remembered(
        params.masked_lm,
        pairs["reference"].tolist(),
        list(zip(pairs["start"].tolist(), pairs["end"].tolist(), strict=True)),
        [fillers[homograph] for homograph in pairs["homograph"]],
        lang=params.target,
        store=store,
        **params.running,
    )
    senses = [
        expected_sense(lexicon.homographs[homograph], fillers[homograph], log_p) or ""
        for homograph, log_p in zip(pairs["homograph"], found, strict=True)
    ]
    return np.array(senses, dtype=object)


# ----------------------------------------------------------------------------
# Challenge sets: the most biased test pairs, those of rare senses, random ones; and how much sets have in
# common.

#: The sets by what their members were chosen for.
CHALLENGE, RANDOM, RARE = "challenge", "random", "rare sense"


def ranked(scores: Sequence[float] | np.ndarray, keys: Sequence[object], *where: object) -> np.ndarray:
    """Places in the order of *scores*, the largest first; equal ones in an order drawn by their *keys*.

    >>> ranked([0.1, 0.5, 0.1], ["a", "b", "c"]).tolist()[0]
    1
    """
    drawn = np.array([address("tie", *where, key) for key in keys], dtype=np.uint64)
    return np.lexsort((drawn, -np.asarray(scores, dtype=np.float64)))


def drawn(keys: Sequence[object], *where: object) -> np.ndarray:
    """All places in an order drawn by their *keys*: the first n are a random sample, and part of that of n + 1."""
    return np.argsort(np.array([address("random", *where, key) for key in keys], dtype=np.uint64), kind="stable")


def rarity(homographs: Sequence[str], clusters: Sequence[str], counts: Mapping[tuple[str, str], int]) -> np.ndarray:
    """How rare the sense of each pair is: 1 − its share of the homograph's training pairs where it is the homograph's
    rarest (or as rare as that), minus its share elsewhere. Pairs in a rarest sense come first, the rarest of all ahead.

    counts: training pairs by (homograph, cluster), zeros included: a sense that was never seen is the rarest there is.
    Of a homograph that was never seen no sense is known to be rare: −1.

    >>> rarity(["bat"] * 2, ["animal", "club"], {("bat", "animal"): 3, ("bat", "club"): 1}).tolist()
    [-0.75, 0.75]
    """
    totals: Counter[str] = Counter()
    rarest: dict[str, int] = {}
    for (homograph, _), count in counts.items():
        totals[homograph] += count
        rarest[homograph] = min(count, rarest.get(homograph, count))

    def value(homograph: str, count: int) -> float:
        if not totals[homograph]:
            return -1.0
        share = count / totals[homograph]
        return 1 - share if count == rarest[homograph] else -share

    found = zip(homographs, clusters, strict=True)
    return np.array([value(homograph, counts[homograph, cluster]) for homograph, cluster in found], dtype=np.float64)


def capped(order: Iterable[int], groups: Sequence[object], size: int, per_group: int) -> np.ndarray:
    """The first *size* places of *order*, at most *per_group* of each group.

    >>> capped([3, 2, 1, 0], ["a", "b", "a", "a"], size=3, per_group=2).tolist()
    [3, 2, 1]
    """
    import pandas as pd

    places = np.fromiter(order, dtype=np.int64)
    before = pd.Series(places).groupby([groups[place] for place in places]).cumcount().to_numpy()
    return places[before < per_group][:size]


def overlap(a: Iterable[int], b: Iterable[int]) -> float:
    """The share of the members of the smaller set that the other one has too; NaN where one is empty.

    >>> overlap([1, 2, 3], [2, 3, 4]), overlap([], [1])
    (0.666..., nan)
    """
    left, right = set(a), set(b)
    smaller = min(len(left), len(right))
    return len(left & right) / smaller if smaller else float("nan")


def jaccard(a: Iterable[int], b: Iterable[int]) -> float:
    """|A ∩ B| / |A ∪ B|; NaN where both are empty (§4 of the paper).

    >>> jaccard([1, 2, 3], [2, 3, 4])
    0.5
    """
    left, right = set(a), set(b)
    union = len(left | right)
    return len(left & right) / union if union else float("nan")
