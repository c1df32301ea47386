"""Words of texts, those of the idioms among them, and word alignments to references and hypotheses.

Texts are cut by `nbkit.measure.bleu.cut` on either side, whatever a corpus's own tokens are, so that a reference and
a hypothesis are treated alike.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import accumulate, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from nbkit.corpora.idioms import IdiomPair, without_leaks
from nbkit.errors import NbkitError
from nbkit.files import expand_path, file_digest
from nbkit.fingerprint import digest
from nbkit.languages import is_unspaced
from nbkit.measure.aligners import ALIGNERS, Aligner, Alignment, TokenPair, check_aligner, load_aligner
from nbkit.measure.bleu import cut
from nbkit.measure.intervals import DIFFERENCE, UNIT, Interval, mean_interval, mean_of_draws
from nbkit.measure.literal import (
    AlignedPhrase,
    LiteralJudgement,
    Litter,
    WordDictionary,
    fetch_muse,
    induced_dictionary,
    linked_tokens,
    muse_problem,
    published_litter,
    published_precision,
    read_dictionary,
    score_phrases,
)
from nbkit.measure.similarity import Chrf
from nbkit.measure.statistics import bootstrap_draws
from nbkit.models import ensure_model, translate_remembered
from nbkit.models.lifecycle import with_revision
from nbkit.models.probes import (
    ContextProbe,
    corpus_perplexity,
    probe_config,
    probe_key,
    probe_problem,
    probe_remembered,
    split_by_alignment,
    word_entropies,
)
from nbkit.models.translators.texts import (
    corpus_bleu,
    corpus_chrf,
    corpus_texts_identity,
    corpus_texts_problems,
    text_pairs,
)
from nbkit.store import Store
from nbkit.studies.idioms.data import (
    data_key,
    drawn,
    generic_key,
    generic_pairs,
    load_data,
    sandbox_dictionary,
    sandbox_identity,
)
from nbkit.studies.idioms.params import CONTROL_NAMES, IdiomsParams, System
from nbkit.text.parsers import Span, tokens_in

if TYPE_CHECKING:
    import pandas as pd

_STRETCH = re.compile(r"\S+")


_CHARACTER = re.compile(r"\S")


def tokens(text: str, lang: str) -> tuple[str, ...]:
    """The tokens of *text*, as all token metrics have them."""
    return tuple(cut(text, lang))


@lru_cache(maxsize=1 << 14)
def token_spans(text: str, lang: str) -> tuple[Span, ...]:
    """The characters of *text* that each of its `tokens` stands for.

    Tokens are composed (NFC) and without invisible characters: where a stretch of text without a space holds such, its
    tokens all stand for the whole of it.

    >>> token_spans("l'homme ", "fr")
    ((0, 1), (1, 2), (2, 7))
    """
    spans: list[Span] = []
    stretch = _CHARACTER if is_unspaced(lang) else _STRETCH
    for match in stretch.finditer(text):
        parts = tokens(match[0], lang)
        ends = [0, *accumulate(map(len, parts))]
        is_exact = "".join(parts) == match[0]
        places = pairwise(ends) if is_exact else [(0, len(match[0]))] * len(parts)
        spans += [(match.start() + start, match.start() + end) for start, end in places]
    found = len(tokens(text, lang))
    return tuple(spans) if len(spans) == found else ((0, len(text)),) * found


@lru_cache(maxsize=1 << 14)
def idiom_tokens(pair: IdiomPair, lang: str) -> tuple[int, ...]:
    """The places of the idiom's tokens among the source's; marks inside its spans count as well.

    Raises `NbkitError` for a span that no token matches.

    >>> idiom_tokens(IdiomPair("1", "That's a piece of cake.", "…", "piece of cake", ((9, 22),)), "en")
    (4, 5, 6)
    """
    return tokens_in(pair.spans, token_spans(pair.source, lang))


def align_texts(
    params: IdiomsParams, language: str, aligner: str, sources: Sequence[str], targets: Sequence[str], store: Store
) -> list[Alignment]:
    """The links between each source and the target at its place, remembered as far as the aligner remembers any."""
    pairs = [
        (tokens(source, params.source), tokens(target, language))
        for source, target in zip(sources, targets, strict=True)
    ]
    return list(run_aligner(params, language, aligner, store).align(pairs))


def run_aligner(params: IdiomsParams, language: str, name: str, store: Store) -> Aligner:
    """An aligner of the run; a statistical one learns from `aligned_pairs`, which are read once."""
    key = {"pair": [params.source, language], "store": store.url, **aligner_key(params, language, name)}
    return _loaded(_Wanted(json.dumps(key, sort_keys=True), name, params, language, store))


@dataclass(frozen=True)
class _Wanted:
    """An aligner, told apart by *key* alone: everything that can change its links, and where they are remembered."""

    key: str
    name: str
    params: IdiomsParams = field(compare=False)
    language: str = field(compare=False)
    store: Store = field(compare=False)


@lru_cache(maxsize=2)  # as many as the paper has; one that learns holds all that it learns from
def _loaded(wanted: _Wanted) -> Aligner:
    options = _options(wanted.params, wanted.language, wanted.name, wanted.store)
    return load_aligner(wanted.name, wanted.params.source, wanted.language, **options)


def aligner_key(params: IdiomsParams, language: str, name: str) -> dict[str, Any]:
    """Everything that can change the links of an aligner, without reading what it learns from."""
    options = {} if _takes(name, "training") else _options(params, language, name, None)
    identity = load_aligner(name, params.source, language, **options).identity
    return {**identity, "learns_from": training_key(params, language) if _takes(name, "training") else None}


def training_key(params: IdiomsParams, language: str) -> dict[str, Any]:
    """Everything that can change `aligned_pairs`."""
    corpora = [corpus_texts_identity(corpus, params.source, language, params.n_aligned)
               for corpus in params.aligned_corpora]  # fmt: skip
    return {"corpora": corpora, "data": {**data_key(params, language), "n_test": None}}


def aligned_pairs(params: IdiomsParams, language: str, store: Store) -> list[TokenPair]:
    """The tokens of idiom-train and of `aligned_corpora`, each pair once, without any sentence of idiom-test."""
    data = load_data(params, language, store)
    corpora = (
        (pair.source, pair.target)
        for corpus in params.aligned_corpora
        for pair in text_pairs(corpus, params.source, language, params.n_aligned)
    )
    own = ((pair.source, pair.target) for pair in data.train)
    texts = dict.fromkeys([*own, *without_leaks(corpora, data.splits.test)])
    return [(tokens(source, params.source), tokens(target, language)) for source, target in texts]


def alignment_problems(params: IdiomsParams, language: str) -> list[str]:
    """What stands in the way of the run's aligners, one message each."""
    found = [check_aligner(name, params.source, language) for name in params.aligners]
    problems = [problem for problem in found if problem]
    for corpus in params.aligned_corpora:
        problems += corpus_texts_problems(corpus, params.source, language, params.n_aligned, "n_aligned")
    return problems


def _takes(name: str, option: str) -> bool:
    return option in inspect.signature(ALIGNERS.get(name.partition(":")[0])).parameters


def _options(params: IdiomsParams, language: str, name: str, store: Store | None) -> dict[str, Any]:
    options: dict[str, Any] = {}
    if _takes(name, "store"):
        options["store"] = store
    if _takes(name, "device"):
        options["device"] = params.device
    if _takes(name, "training") and store is not None:
        options["training"] = aligned_pairs(params, language, store)
    return options


# ----------------------------------------------------------------------------
# The word dictionary of a run: the sandbox's own, MUSE's, a file, or one induced from word alignments.

MUSE = "muse:"


def run_dictionary(params: IdiomsParams, language: str, store: Store) -> WordDictionary:
    """The dictionary from the source language into *language*; an induced one is remembered.

    Raises `NbkitError` and `DataError` for a file that cannot be read.
    """
    if params.dictionary == "sandbox":
        return sandbox_dictionary(params.source, language)
    if params.dictionary == "induced":
        return _induced(params, language, store)
    if params.dictionary.startswith(MUSE):
        return fetch_muse(params.source, language, _place(params, language, MUSE))
    return read_dictionary(_place(params, language))


def reverse_dictionary(params: IdiomsParams, language: str, store: Store) -> WordDictionary | None:
    """The dictionary from *language* into the source language, of the same kind; None if there is none.

    None: the sandbox's, which is the same word list turned round, and a file whose name has no ``{src}`` and ``{tgt}``
    or that has no counterpart.
    """
    if params.dictionary == "sandbox":
        return None
    if params.dictionary == "induced":
        return _induced(params, language, store, "reverse")
    if params.dictionary.startswith(MUSE):
        return fetch_muse(language, params.source, _place(params, language, MUSE))
    path = _counterpart(params, language)
    return read_dictionary(path) if path else None


def dictionary_key(params: IdiomsParams, language: str) -> dict[str, Any]:
    """Everything that can change the dictionary, without making one."""
    if params.dictionary == "sandbox":
        return {"dictionary": "sandbox", **sandbox_identity(params.source, language)}
    if params.dictionary == "induced":
        return {
            "dictionary": "induced",
            "aligner": aligner_key(params, language, params.aligners[0]),
            "from": training_key(params, language),
        }
    muse = params.dictionary.startswith(MUSE)
    path = Path(_place(params, language, MUSE)) if muse else Path(_place(params, language))
    reverse = path / f"muse-{language}-{params.source}.txt" if muse else _counterpart(params, language)
    path = path / f"muse-{params.source}-{language}.txt" if muse else path
    digests = [file_digest(each) if each and each.is_file() else None for each in (path, reverse)]
    return {"dictionary": path.name, "digest": digests[0], "reverse": digests[1]}


def dictionary_problems(params: IdiomsParams, language: str) -> list[str]:
    """What stands in the way of the dictionary; a file is read, MUSE's is asked for and not fetched."""
    try:
        if params.dictionary == "sandbox":
            sandbox_identity(params.source, language)
        elif params.dictionary.startswith(MUSE):
            folder = _place(params, language, MUSE)
            pairs = ((params.source, language), (language, params.source))
            return [problem for pair in pairs if (problem := muse_problem(*pair, folder))]
        elif params.dictionary != "induced":
            read_dictionary(_place(params, language))
            if path := _counterpart(params, language):
                read_dictionary(path)
    except NbkitError as error:
        return [str(error)]
    return []


def _place(params: IdiomsParams, language: str, prefix: str = "") -> str:
    place = expand_path(params.dictionary.removeprefix(prefix), "dictionary")
    return place.replace("{src}", params.source).replace("{tgt}", language)


def _counterpart(params: IdiomsParams, language: str) -> Path | None:
    """The file of the other direction, where the parameter names both languages and there is such a file."""
    place = expand_path(params.dictionary, "dictionary")
    if "{src}" not in place or "{tgt}" not in place:
        return None
    path = Path(place.replace("{src}", language).replace("{tgt}", params.source))
    return path if path.is_file() else None


def _code() -> str:
    return digest("nbkit.studies.idioms.steps")


def _induced(
    params: IdiomsParams, language: str, store: Store, direction: Literal["forward", "reverse"] = "forward"
) -> WordDictionary:
    """The dictionary of one direction; both are counted from the same links."""

    def compute() -> pd.DataFrame:
        import pandas as pd

        pairs = aligned_pairs(params, language, store)
        links = list(run_aligner(params, language, params.aligners[0], store).align(pairs))
        turned = [(target, source) for source, target in pairs], [[(b, a) for a, b in each] for each in links]
        found = {
            "forward": induced_dictionary(pairs, links, name),
            "reverse": induced_dictionary(*turned, name),
        }
        rows = [
            (side, word, translation)
            for side, dictionary in found.items()
            for word, translations in dictionary.entries.items()
            for translation in translations
        ]
        return pd.DataFrame(rows, columns=["direction", "word", "translation"])

    name = "+".join([*params.aligned_corpora, "idiom-train"])
    table = store.table({"kind": "idioms.dictionary", "code": _code(), **dictionary_key(params, language)}, compute)
    groups = table[table["direction"] == direction].groupby("word", sort=False)["translation"]
    label = name if direction == "forward" else "reverse"
    return WordDictionary(label, "induced", {str(word): tuple(found) for word, found in groups})


# ----------------------------------------------------------------------------
# Every translation judged: LitTER, APT-Eval and similarity to its reference, a pair at a time, remembered.
#
# Beside the run's systems two are judged whose scores are known beforehand: the references themselves, which
# have no literal error by construction, and a copy of the source, which has a word of the target language by
# accident only.

#: What is judged beside the systems of a run. The names stand in tables.
REFERENCES, COPIES = (System(name, "", "") for name in CONTROL_NAMES)


CONTROLS = (REFERENCES, COPIES)


#: The settings of LitTER that each variant of our own changes.
SETTINGS: dict[str, dict[str, Any]] = {
    "inflected": {"matching": "inflected"},
    "compounds": {"matching": "compounds"},
    "accents": {"accents": "ignored"},
}


def hypotheses(params: IdiomsParams, language: str, system: System, store: Store) -> list[str]:
    """What *system* makes of each source of idiom-test."""
    pairs = load_data(params, language, store).test
    return translated(params, language, system, [pair.source for pair in pairs], [pair.target for pair in pairs], store)


def translated(
    params: IdiomsParams, language: str, system: System, sources: Sequence[str], references: Sequence[str], store: Store
) -> list[str]:
    """The translations of *sources*; of the controls, *references* or the sources themselves."""
    if system in CONTROLS:
        return list(references if system == REFERENCES else sources)
    return translate_remembered(
        system.name, sources, params.source, language, params.decoding,
        store=store, device=params.device, dtype=params.dtype,
    )  # fmt: skip


def judged(params: IdiomsParams, language: str, system: System, store: Store) -> pd.DataFrame:
    """LitTER of one system: a row a pair of idiom-test, in its order.

    Columns: id, idiom, source, spans, reference, hypothesis, blocklists (candidates, with whether the reference leaves
    each), triggers (with their tokens in the hypothesis), covered and open (a blocklist is left), both also as
    published_covered and published_open, paper (the error of the paper's definition), published (that of the research
    code) and one per variant; lists are JSON.
    """

    def compute() -> pd.DataFrame:
        import pandas as pd

        pairs = load_data(params, language, store).test
        litters = run_litters(params, language, store)
        rows = []
        for pair, hypothesis in zip(pairs, hypotheses(params, language, system, store), strict=True):
            found = {name: each.judge_spans(pair.words, pair.target, hypothesis) for name, each in litters.items()}
            judgement = found["paper"]
            row: list[Any] = [pair.id, pair.idiom, pair.source, json.dumps(pair.spans), pair.target, hypothesis]
            row += [json.dumps(_blocklists(judgement), ensure_ascii=False)]
            row += [json.dumps([list(each) for each in judgement.triggers], ensure_ascii=False)]
            for each in (judgement, found["published"]):
                row += [each.covered, bool(each.blocklists)]
            rows.append([*row, *(each.error for each in found.values())])
        columns = ["id", "idiom", "source", "spans", "reference", "hypothesis", "blocklists", "triggers", "covered"]
        columns += ["open", "published_covered", "published_open"]
        return pd.DataFrame(rows, columns=[*columns, *litters])

    key = {"dictionary": dictionary_key(params, language), "variants": params.variants}
    return store.table(config_of("judged", params, language, system, **key), compute)


def run_litters(params: IdiomsParams, language: str, store: Store) -> dict[str, Litter]:
    """The paper's LitTER, that of its figures and the run's variants; "aligned" is no other LitTER (see `aligned`)."""
    dictionary = run_dictionary(params, language, store)
    paper = Litter(dictionary, params.source, language)
    published = published_litter(dictionary, reverse_dictionary(params, language, store), params.source, language)
    variants = [name for name in params.variants if name in SETTINGS]
    return {"paper": paper, "published": published, **{name: replace(paper, **SETTINGS[name]) for name in variants}}


def aligned(params: IdiomsParams, language: str, system: System, aligner: str, store: Store) -> pd.DataFrame:
    """APT-Eval of one system by one aligner: a row a pair of idiom-test, in its order.

    Columns: id, idiom, reference_words, hypothesis_words (aligned to the idiom), hypothesis_tokens (their places;
    JSON), unigram_precision, unigram_precision_published (as the research code computes it), aligned_chrf.
    """

    def compute() -> pd.DataFrame:
        import pandas as pd

        pairs = load_data(params, language, store).test
        sources = [pair.source for pair in pairs]
        sides = []
        for texts in ([pair.target for pair in pairs], hypotheses(params, language, system, store)):
            links = align_texts(params, language, aligner, sources, texts, store)
            sides.append([(tokens(text, language), each) for text, each in zip(texts, links, strict=True)])
        idioms = [idiom_tokens(pair, params.source) for pair in pairs]
        phrases = [AlignedPhrase.of(*each) for each in zip(idioms, *sides, strict=True)]
        scores = score_phrases(phrases, language)
        places = [list(linked_tokens(links, idiom)) for idiom, (_, links) in zip(idioms, sides[1], strict=True)]
        return pd.DataFrame(
            {
                "id": [pair.id for pair in pairs],
                "idiom": [pair.idiom for pair in pairs],
                "reference_words": [" ".join(phrase.reference) for phrase in phrases],
                "hypothesis_words": [" ".join(phrase.hypothesis) for phrase in phrases],
                "hypothesis_tokens": list(map(json.dumps, places)),
                "unigram_precision": scores.unigram_precision,
                "unigram_precision_published": published_precision(phrases),
                "aligned_chrf": scores.chrf,
            }
        )

    key = {"aligner": aligner_key(params, language, aligner)}
    return store.table(config_of("aligned", params, language, system, **key), compute)


def global_scores_of(params: IdiomsParams, language: str, system: System, store: Store) -> pd.DataFrame:
    """Corpus BLEU and chrF of one system on idiom-test and on each generic set, with bootstrap intervals.

    Columns: of (the test set), measure ("bleu" in per cent, "chrf" as a share, as the paper prints them), value, low,
    high, n, signature. The intervals are sacreBLEU's, over sentences.
    """

    def compute() -> pd.DataFrame:
        import pandas as pd

        sets = {"idiom-test": [(pair.source, pair.target) for pair in load_data(params, language, store).test]}
        sets["idiom-test"] = list(dict.fromkeys(sets["idiom-test"]))  # a sentence with two idioms counts once
        for name, pairs in generic_pairs(params, language).items():
            sets[name] = [(pair.source, pair.target) for pair in pairs]
        rows = []
        for name, texts in sets.items():
            sources, references = ([text[side] for text in texts] for side in (0, 1))
            found = translated(params, language, system, sources, references, store)
            rows += [(name, *row) for row in _corpus_scores(found, references, language)]
        return pd.DataFrame(rows, columns=["of", "measure", "value", "low", "high", "n", "signature"])

    key = {"generic": {name: generic_key(params, language, name) for name in params.generic}}
    return store.table(config_of("global", params, language, system, **key), compute)


def _corpus_scores(texts: list[str], references: list[str], lang: str) -> list[tuple[Any, ...]]:
    rows = []
    for measure, found, unit in (
        ("bleu", corpus_bleu(texts, references, lang), 1),
        ("chrf", corpus_chrf(texts, references), 100),
    ):
        values = (value / unit for value in (found.score, found.low, found.high))
        rows.append((measure, *values, found.n, found.signature))
    return rows


def _blocklists(judgement: LiteralJudgement) -> list[list[Any]]:
    """Word, translations, and whether the blocklist is left, of each candidate."""
    left = set(judgement.blocklists)
    return [[each.word, list(each.translations), each in left] for each in judgement.candidates]


def config_of(kind: str, params: IdiomsParams, language: str, system: System, **more: Any) -> dict[str, Any]:
    """The store key of one remembered table; a hub model is downloaded first: only then its revision is known."""
    key: dict[str, Any] = {"control": system.model}
    if system not in CONTROLS:
        key = with_revision(
            lambda: params.model_key(system, language), lambda: ensure_model(system.name, params.source, language)
        )
    return {"kind": f"idioms.{kind}", "code": code(), **data_key(params, language), **key, **more}


#: What of the models' room is behind remembered tables.
_OF_MODELS = ("nbkit/models/probes.py", "nbkit/models/translators/texts.py")


def code() -> str:
    """Digest of the sources behind remembered tables."""
    return digest("nbkit.studies.idioms.steps", but=_OF_MODELS)  # which imports this module


# ----------------------------------------------------------------------------
# The probes of §4: translation, likelihood and uncertainty with the idiom encoded in less and less context.


def probed_pairs(params: IdiomsParams, language: str, store: Store) -> tuple[IdiomPair, ...]:
    """The pairs of idiom-test that are probed: of those that are translated, ``n_probed``."""
    return drawn(load_data(params, language, store).test, params.n_probed, params.seed)


def probed(params: IdiomsParams, language: str, system: System, store: Store) -> pd.DataFrame:
    """One row a pair and context, in the order of the pairs.

    Columns: id, idiom, context, hypothesis, chrf (of the hypothesis, a share), log_probability (of the reference, in
    nats) and subwords (of it), entropy_idiom and entropy_other (means over words, in nats; NaN without any),
    idiom_words, other_words, replaced (subwords of the source).
    """

    def compute() -> pd.DataFrame:
        import pandas as pd

        pairs = probed_pairs(params, language, store)
        probes = list(_probes(params, language, system, pairs, store))
        # All of idiom-test is aligned, as in APT-Eval: a statistical aligner's links depend on what is beside.
        test = load_data(params, language, store).test
        texts = ([pair.source for pair in test], [pair.target for pair in test])
        links = dict(zip(test, align_texts(params, language, params.aligners[0], *texts, store), strict=True))
        rows = []
        for pair, found in zip(pairs, probes, strict=True):
            linked = links[pair]
            idiom, words = idiom_tokens(pair, params.source), token_spans(pair.target, language)
            for context in params.contexts:
                each: ContextProbe = found[context]
                split = split_by_alignment(word_entropies(each, words), linked, idiom)
                rows.append([pair.id, pair.idiom, context, each.hypothesis, pair.target, sum(each.log_probabilities),
                             len(each.log_probabilities), split.idiom, split.other, split.idiom_words,
                             split.other_words, each.replaced])  # fmt: skip
        columns = ["id", "idiom", "context", "hypothesis", "reference", "log_probability", "subwords", "entropy_idiom",
                   "entropy_other", "idiom_words", "other_words", "replaced"]  # fmt: skip
        table = pd.DataFrame(rows, columns=columns)
        table.insert(4, "chrf", Chrf().scores(list(table["hypothesis"]), list(table["reference"]), language))
        return table.drop(columns="reference")

    key = config_of("probed", params, language, system, contexts=params.contexts, n_probed=params.n_probed)
    key["aligner"] = aligner_key(params, language, params.aligners[0])
    return store.table({**key, "probes": _probe_config(params, language, system)}, compute)


def context_effects(params: IdiomsParams, store: Store | None = None) -> pd.DataFrame:
    """What less context does to each system (Figures 5 to 7, 16, 18 and 20).

    Columns: language, condition, model, measure, context, value, low, high, change (from the context before it; NaN for
    "full"), change_low, change_high, n (pairs). Measures: chrf (a share; mean over pairs), perplexity (by subword, of
    all references together), entropy_idiom and entropy_other (nats). The unit of the intervals is the idiom, the same
    ones in every context.
    """
    import pandas as pd

    store = store or Store()
    rows = []
    for language in params.languages:
        for system in params.systems if params.contexts else ():
            table = probed(params, language, system, store)
            of = (language, system.condition, system.model)
            for measure in ("chrf", "perplexity", "entropy_idiom", "entropy_other"):
                rows += [(*of, measure, *row) for row in _by_context(table, measure, params)]
    columns = ["language", "condition", "model", "measure", "context", "value", "low", "high", "change", "change_low",
               "change_high", "n"]  # fmt: skip
    return pd.DataFrame(rows, columns=columns)


def context_examples(params: IdiomsParams, k: int = 3, store: Store | None = None) -> pd.DataFrame:
    """Pairs whose translation changes most when the idiom loses its context, *k* of each system.

    Columns: language, condition, model, idiom, source, spans (JSON), reference, and the hypothesis of each context.
    """
    import pandas as pd

    store = store or Store()
    frames = []
    for language in params.languages:
        pairs = {(pair.id, pair.idiom): pair for pair in probed_pairs(params, language, store)}
        for system in params.systems if params.contexts else ():
            table = probed(params, language, system, store)
            wide = table.pivot(index=["id", "idiom"], columns="context", values=["hypothesis", "chrf"])
            loss = (wide["chrf"]["full"] - wide["chrf"][params.contexts[-1]]).astype(float)
            chosen = loss.sort_values(ascending=False, kind="stable").head(k).index
            shown = [pairs[each] for each in chosen]
            frames.append(
                wide["hypothesis"]
                .loc[chosen]
                .reset_index()
                .assign(
                    language=language,
                    condition=system.condition,
                    model=system.model,
                    source=[pair.source for pair in shown],
                    spans=[json.dumps(pair.spans) for pair in shown],
                    reference=[pair.target for pair in shown],
                )
            )
    columns = ["language", "condition", "model", "idiom", "source", "spans", "reference", *params.contexts]
    return pd.concat(frames, ignore_index=True)[columns] if frames else pd.DataFrame(columns=columns)


def probe_problems(params: IdiomsParams, language: str) -> list[str]:
    """Why systems of the run cannot be probed, one message each."""
    if not params.contexts:
        return []
    found = [probe_problem(system.name, params.source, language) for system in params.systems]
    return [problem for problem in found if problem]


def probes_stored(params: IdiomsParams, language: str, system: System, store: Store) -> tuple[int, int]:
    """How many pairs are probed, and how many of them are remembered."""
    keys = [probe_key(pair) for pair in probed_pairs(params, language, store)]
    missing = store.missing(_probe_config(params, language, system), keys)
    return len(set(keys)), len(set(keys)) - len(missing)


def _probe_config(params: IdiomsParams, language: str, system: System) -> dict[str, Any]:
    return probe_config(
        system.name, params.source, language, params.decoding,
        end_state=params.end_state, device=params.device, dtype=params.dtype,
    )  # fmt: skip


def _probes(
    params: IdiomsParams, language: str, system: System, pairs: Sequence[IdiomPair], store: Store
) -> Iterator[dict[Any, ContextProbe]]:
    return probe_remembered(
        system.name, pairs, params.source, language, params.decoding,
        store=store, end_state=params.end_state, device=params.device, dtype=params.dtype,
    )  # fmt: skip


def _by_context(table: pd.DataFrame, measure: str, params: IdiomsParams) -> Iterator[tuple[Any, ...]]:
    """Context, value and interval, change and its interval, number of pairs, of each context."""
    before: str | None = None
    for context in params.contexts:
        own = table[table["context"] == context]
        value, change = _summary(own, None, measure, params), _NOTHING
        if before is not None:
            change = _summary(own, table[table["context"] == before], measure, params)
        yield context, value.mean, value.low, value.high, change.mean, change.low, change.high, len(own)
        before = context


_NOTHING = Interval(float("nan"), float("nan"), float("nan"), 0)


def _summary(table: pd.DataFrame, other: pd.DataFrame | None, measure: str, params: IdiomsParams) -> Interval:
    """The value of *measure* in a table, or its difference from that in *other*, of the same pairs."""
    idioms = list(table["idiom"])
    if measure != "perplexity":
        values = table[measure].to_numpy(float) - (0.0 if other is None else other[measure].to_numpy(float))
        within = None if measure != "chrf" else UNIT if other is None else DIFFERENCE
        return mean_interval(values, groups=idioms, within=within)
    sides = [table] if other is None else [table, other]
    columns = [side[name] for side in sides for name in ("log_probability", "subwords")]
    sums = np.column_stack([column.groupby(table["idiom"].to_numpy(), sort=True).sum() for column in columns])

    def perplexity(totals: np.ndarray) -> np.ndarray:
        values = [corpus_perplexity(totals[..., at], totals[..., at + 1]) for at in range(0, len(columns), 2)]
        return values[0] if other is None else values[0] - values[1]

    value, draws = float(perplexity(sums.sum(axis=0))), perplexity(bootstrap_draws(sums, seed=params.seed))
    within = (1.0, np.inf) if other is None else None
    return Interval(value, *mean_of_draws(value, draws, units=len(sums), within=within), len(sums))
