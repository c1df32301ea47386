"""The idioms study's steps: sentences mined, aligned, judged, probed; a language pair and system at a time, remembered.

Idiom-train, idiom-test and generic test sets are the sandbox's, of files, or mined from parallel corpora. Beside the
run's systems two are judged whose scores are known in advance: the references themselves, which have no literal error
by construction, and a copy of the source, which has a word of the target language by accident only.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache, partial
from itertools import accumulate, islice, pairwise, product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from nbkit import sandbox
from nbkit.corpora.idioms import (
    IdiomPair,
    IdiomSplits,
    annotate,
    check_leaks,
    english_idioms,
    fits,
    read_idiom_pairs,
    sandbox_idiom_splits,
    split_idioms,
    without_leaks,
    write_idiom_pairs,
)
from nbkit.errors import NbkitError
from nbkit.files import atomic_write, expand_path, file_digest
from nbkit.languages import is_unspaced
from nbkit.measure.aligners import ALIGNERS, Aligner, Alignment, TokenPair, check_aligner, linked_tokens, load_aligner
from nbkit.measure.bleu import Chrf, cut
from nbkit.measure.literal import (
    AlignedPhrase,
    LiteralJudgement,
    Litter,
    WordDictionary,
    fetch_muse,
    induced_dictionary,
    muse_problem,
    published_litter,
    published_precision,
    read_dictionary,
    score_phrases,
)
from nbkit.models.probes import (
    ContextProbe,
    has_states,
    probe_config,
    probe_key,
    probe_problem,
    probe_remembered,
    split_by_alignment,
    word_entropies,
)
from nbkit.models.translators.texts import (
    TextPair,
    corpus_bleu,
    corpus_chrf,
    corpus_texts_identity,
    corpus_texts_problems,
    score_of_sums,
    sentence_sums,
    text_pairs,
)
from nbkit.seeding import address
from nbkit.store import Store
from nbkit.studies.base import Notebook, trained_by
from nbkit.studies.engine import TRANSLATOR, Axis, Counts, Held, Point, Study, Use, as_table, asked, asked_translations
from nbkit.studies.idioms.params import CONTROL_NAMES, IdiomsParams, System
from nbkit.text.parsers import Span, load_parser, parser_identity, tokens_in
from nbkit.text.phrases import PhraseMatcher, read_phrases
from nbkit.text.sentences import Pair, Sentence, Text

if TYPE_CHECKING:
    import pandas as pd

# ----------------------------------------------------------------------------
# The sentences, and what of them goes into keys.

#: The mixture, as the sandbox calls it.
MIXTURE = "idioms"


@cache
def sandbox_splits(src: str, tgt: str) -> IdiomSplits:
    """Idiom-train and idiom-test, as the sandbox deals them. Raises `NbkitError` where the source is not English."""
    sandbox_identity(src, tgt)
    return sandbox_idiom_splits(tgt)


def sandbox_identity(src: str, tgt: str) -> dict[str, Any]:
    """The versions of the sandbox and of its mixture. Raises `NbkitError` where the source is not English."""
    if src != "en":
        raise NbkitError(f"the sandbox's idioms are English; source is '{src}'")
    return dict(sandbox.identity(src, tgt, split=sandbox.IDIOM_SPLITS[1], mixture=MIXTURE))


def sandbox_dictionary(src: str, tgt: str) -> WordDictionary:
    """The literal translations of the sandbox's words.

    >>> sandbox_dictionary("en", "fr").translations("bucket")
    ('seau',)
    """
    return WordDictionary("idioms", "sandbox", sandbox.idiom_dictionary(src, tgt))


# ----------------------------------------------------------------------------
# Idiom pairs out of parallel corpora: filtered and matched. Source: idioms paper, §3.1 and appendix A.

MINED_COLUMNS = ["kind", "id", "source", "target", "idiom", "spans"]
_TOKEN = re.compile(r"\w+(?:[-'’]\w+)*|[^\w\s]")


def phrases(params: IdiomsParams) -> tuple[str, ...]:
    """The phrase list of the run. Raises `NbkitError` for "own" with another source language than English."""
    if params.idioms != "own":
        return tuple(read_phrases(params.idioms))
    if params.source != "en":
        raise NbkitError(f"idioms 'own' are English; name a phrase list of '{params.source}' (a file) in idioms")
    return english_idioms()


def mined_pairs(params: IdiomsParams, language: str, pairs: Sequence[TextPair], matcher: PhraseMatcher) -> pd.DataFrame:
    """The idiom pairs among *pairs* and, as rows of the kind "count", how many there are, fit and are regular.

    Where voters take the place of references, targets are empty, every source fits, and none is parsed: forms are
    enough to find idioms. Columns: kind, id, source, target, idiom (of a count: the number), spans (JSON).
    """
    import pandas as pd

    if params.voters:
        fitting = [pair._replace(target="") for pair in pairs if pair.source.strip()]
        texts: Iterable[Text] = (plain_text(pair.source, params.source) for pair in fitting)
    else:
        fitting = [pair for pair in pairs if fits(pair.source, pair.target, src=params.source, tgt=language)]
        texts = source_texts(params, [pair.source for pair in fitting])
    counts = {"pairs": len(pairs), "fitting": len(fitting), "regular": 0}
    rows = []
    for pair, text in zip(fitting, texts, strict=True):
        idioms = annotate(Pair(pair.id, text, Text((Sentence((pair.target,), language),))), matcher)
        counts["regular"] += not idioms
        rows += [("idiom", each.id, each.source, each.target, each.idiom, json.dumps(each.spans)) for each in idioms]
    rows += [("count", name, "", "", str(number), "[]") for name, number in counts.items()]
    return pd.DataFrame(rows, columns=MINED_COLUMNS)


def mining_key(params: IdiomsParams, language: str, corpus: str) -> dict[str, Any]:
    """Everything beside code that can change what is found in a corpus."""
    return {
        "corpus": corpus_texts_identity(corpus, params.source, language, None),
        "phrases": hashlib.blake2b("\n".join(phrases(params)).encode(), digest_size=8).hexdigest(),
        "parser": "forms, all sources" if params.voters else parser_key(params),
    }


def parser_key(params: IdiomsParams) -> Any:
    """What cuts and parses the sources for the matcher."""
    spec = params.parsers.get(params.source)
    return parser_identity(spec, params.source) if spec else "forms"


def source_texts(params: IdiomsParams, sources: Sequence[str]) -> Iterator[Text]:
    """*sources* in tokens: parsed where the run names a parser, else cut, words known by their forms."""
    spec = params.parsers.get(params.source)
    yield from load_parser(spec, params.source).parse(sources) if spec else map(plain_text, sources)


@lru_cache(maxsize=1 << 12)
def plain_text(text: str, lang: str = "en") -> Text:
    """*text* cut into words and marks, without lemmas: enough for a matcher that knows all forms of its words.

    >>> plain_text("He kicked the bucket, didn't he?").tokens
    ('He', 'kicked', 'the', 'bucket', ',', "didn't", 'he', '?')
    """
    squeezed = " ".join(text.split())
    found = list(_TOKEN.finditer(squeezed))
    spaces = tuple(squeezed[match.end() : match.end() + 1] == " " for match in found)
    return Text((Sentence(tuple(match[0] for match in found), lang, spaces),))


# ----------------------------------------------------------------------------
# What is tested, of whatever data, and files.

FILES = "files:"


def drawn(pairs: Sequence[IdiomPair], n: int | None, seed: int) -> tuple[IdiomPair, ...]:
    """At most *n* of *pairs*: idioms take turns, so that as many as possible are among them; in the order of
    *pairs*."""
    if n is None or n >= len(pairs):
        return tuple(pairs)
    turns: dict[str, int] = {}
    ranked = []
    for place in sorted(range(len(pairs)), key=lambda i: address(seed, "idiom test", pairs[i].source, pairs[i].idiom)):
        idiom = pairs[place].idiom
        turns[idiom] = turns.get(idiom, 0) + 1
        ranked.append((turns[idiom], address(seed, "idiom", idiom), place))
    chosen = sorted(place for *_, place in sorted(ranked)[:n])
    return tuple(pairs[place] for place in chosen)


def regular_pairs(params: IdiomsParams, language: str) -> int | None:
    """On how many regular pairs the run's models were trained, where nbkit trained them; None where it did not."""
    recipes = [trained_by(system.name, params.source, language) for system in params.systems]
    return max((recipe.pairs or 0 for recipe in recipes if recipe is not None), default=0) or None


def generic_pairs(params: IdiomsParams, language: str) -> dict[str, list[TextPair]]:
    """The pairs of each generic test set, by its name."""
    return {
        name: list(text_pairs(corpus, params.source, language, params.n_generic))
        for name, corpus in params.generic.items()
    }


def data_key(params: IdiomsParams, language: str) -> dict[str, Any]:
    """Everything that can change the idiom pairs of a language pair."""
    if params.data == "sandbox-idioms":
        where: Any = sandbox_identity(params.source, language)
    elif params.data == "mined":
        where = [mining_key(params, language, corpus) for corpus in params.corpora.values()]
    else:
        where = [file_digest(path) for path in idiom_files(params.data, params.source, language)]
    tested = {"tested": "all"} if params.tested == "all" else {}
    return {
        "data": where,
        "n_test": params.n_test,
        "seed": params.seed,
        "src": params.source,
        "tgt": language,
        **tested,
    }


def generic_keys(params: IdiomsParams, language: str) -> dict[str, Any]:
    """Everything that can change the sentences of each generic test set."""
    return {
        name: corpus_texts_identity(corpus, params.source, language, params.n_generic)
        for name, corpus in params.generic.items()
    }


def data_problems(params: IdiomsParams, language: str) -> list[str]:
    """Problems of the run's texts, one message each; small files are read, no corpus is parsed."""
    found: list[str] = []
    try:
        if params.data == "sandbox-idioms":
            sandbox_identity(params.source, language)
        elif params.data == "mined":
            phrases(params)
            for corpus in params.corpora.values():
                found += corpus_texts_problems(corpus, params.source, language, None)
        else:
            pairs_of_files(params.data, params.source, language)
    except NbkitError as error:
        found.append(str(error))
    for corpus in params.generic.values():
        found += corpus_texts_problems(corpus, params.source, language, params.n_generic, "n_generic")
    return found


def idiom_files(data: str, src: str, tgt: str) -> tuple[Path, Path, Path]:
    """The files of ``files:FOLDER/NAME``: sources, references, spans.

    >>> [path.name for path in idiom_files("files:data/idioms", "en", "fr")]
    ['idioms.en', 'idioms.fr', 'idioms.spans.en']
    """
    base = expand_path(data.removeprefix(FILES), "data")
    return Path(f"{base}.{src}"), Path(f"{base}.{tgt}"), Path(f"{base}.spans.{src}")


def pairs_of_files(data: str, src: str, tgt: str) -> tuple[IdiomPair, ...]:
    """The pairs of the files, as whoever made them chose them; files that change are read again."""
    files = idiom_files(data, src, tgt)
    for path in files:
        if not path.is_file():
            raise NbkitError(f"data '{data}': there is no file {path}")
    key = [[str(path), file_digest(path)] for path in files]
    return _held_pairs(key, lambda: tuple(read_idiom_pairs(*files)))


_held_pairs = Held(size=8)


# ----------------------------------------------------------------------------
# Words of texts, those of the idioms among them. Texts are cut by `nbkit.measure.bleu.cut` on either side, whatever a
# corpus's own tokens are, so that a reference and a hypothesis are treated alike.

_STRETCH = re.compile(r"\S+")
_CHARACTER = re.compile(r"\S")


def tokens(text: str, lang: str) -> tuple[str, ...]:
    """The tokens of *text*, as in all token metrics."""
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


# ----------------------------------------------------------------------------
# The study.

#: What is judged beside the systems of a run. The names stand in tables.
REFERENCES, COPIES = (System(name, "", "") for name in CONTROL_NAMES)
CONTROLS = (REFERENCES, COPIES)


def with_states(params: IdiomsParams, language: str) -> list[System]:
    """The systems that can be probed; others are known by their outputs alone."""
    return [system for system in params.systems if has_states(system.name, params.source, language)]


def _problems(params: IdiomsParams) -> Iterator[str]:
    """Problems of this run beside its translators."""
    for language in params.languages:
        yield from data_problems(params, language)
        yield from alignment_problems(params, language)
        yield from dictionary_problems(params, language)
        if params.contexts:
            found = (probe_problem(system.name, params.source, language) for system in with_states(params, language))
            yield from (problem for problem in found if problem)


def _inputs(params: IdiomsParams) -> dict[str, Any]:
    """Digests of what the parameters stand for: sentences, dictionary, aligners, models."""
    return {
        language: {
            "data": data_key(params, language),
            "generic": generic_keys(params, language),
            "dictionary": dictionary_key(params, language),
            "aligners": [aligner_key(params, language, name) for name in params.aligners],
            "models": [params.model_key(system, language) for system in params.systems],
        }
        for language in params.languages
    }


def _uses(params: IdiomsParams, language: str, system: System) -> list[Use]:
    return [] if system in CONTROLS else [Use(TRANSLATOR, system.name, (params.source, language))]


STUDY = Study(
    name="idioms",
    title="Idioms: translated literally, and why?",
    paper="Baziotis, Mathur and Hasler (2023), Automatic Evaluation and Analysis of Idioms in Neural Machine "
    "Translation",
    params=IdiomsParams,
    axes={
        "language": Axis(lambda params: params.languages),
        "model": Axis(lambda params: params.models),
        "corpus": Axis(lambda params: params.corpora.values()),
        "system": Axis(lambda params: params.systems, lambda system: system.label, lambda system: System(*system)),
        "control": Axis(lambda params: CONTROLS, lambda control: control.label, lambda control: System(*control)),
    },
    grid=("language", "model"),
    verdict="fail: a word of the idiom is translated literally (LitTER); undecided: no word could be looked for",
    behaviour=Path(__file__).with_name("behaviour.yaml"),
    used=lambda params, store: {"n_test": sorted(_pairs_judged(params, store))},
    check=_problems,
    inputs=_inputs,
    uses=lambda params: [
        use for language in params.languages for system in params.systems for use in _uses(params, language, system)
    ],
    # In the order in which the report shows them; a test compares titles with the notebooks.
    notebooks=(
        Notebook("idioms/idiom_data", "Which idioms are there, and how often?", "grid"),
        Notebook("idioms/phrase_matcher", "How are idioms found in a text?", "grid"),
        Notebook("idioms/literal_errors", "How often are idioms translated word by word?", "grid"),
        Notebook("idioms/worked_examples", "What counts as a literal error?", "grid"),
        Notebook("idioms/accuracy", "Are idioms translated as in the reference?", "grid"),
        Notebook("idioms/global_scores", "Do idioms show in a score of the whole sentence?", "grid"),
        Notebook("idioms/context_translation", "Does the translation need the idiom's context?", "grid"),
        Notebook("idioms/context_likelihood", "How likely is the reference when the idiom loses its context?", "grid"),
        Notebook("idioms/uncertainty", "Are models less sure when they translate an idiom?", "grid"),
        Notebook("idioms/others", "Which system translates idioms literally where others do not?", "grid", "voters"),
        Notebook("idioms/model_card", "How does this model treat idioms?", "cell"),
    ),
)


# ----------------------------------------------------------------------------
# Idiom-train and idiom-test, mined a corpus at a time. Source: idioms paper, §3.1 and appendix A.

#: Pairs that are in memory together, and remembered together while the rest of their corpus is mined.
_CHUNK = 5000


@STUDY.step(per=("language", "corpus"), key=mining_key, unit="mine {corpus} {source}→{language}")
def mined(params: IdiomsParams, language: str, corpus: str, store: Store) -> pd.DataFrame:
    """The idiom pairs of one corpus and how many pairs there are, fit and are regular, as in `mined_pairs`."""
    import pandas as pd

    config = mined.config(params, language=language, corpus=corpus)
    matcher = PhraseMatcher(phrases(params))
    # One pass over the corpus, which can only be read from its beginning; what is mined already is not mined again.
    stream = text_pairs(corpus, params.source, language)
    chunks = iter(lambda: list(islice(stream, _CHUNK)), [])
    tables = [
        store.table({**config, "chunk": [number, _CHUNK]}, partial(mined_pairs, params, language, chunk, matcher))
        for number, chunk in enumerate(chunks)
    ]
    found = pd.concat(tables or [mined_pairs(params, language, [], matcher)])
    is_count = found["kind"] == "count"
    sums = found[is_count].groupby("id", sort=False)["idiom"].agg(lambda numbers: str(sum(map(int, numbers))))
    rows = [("count", name, "", "", number, "[]") for name, number in sums.items()]
    return pd.concat([found[~is_count], pd.DataFrame(rows, columns=found.columns)], ignore_index=True)


def mine(params: IdiomsParams, language: str, store: Store) -> tuple[list[IdiomPair], dict[str, int | None]]:
    """The idiom pairs of all corpora of the run, those of the same sentences once; and the pairs of each corpus, by
    name, those of all that passed the length filters ("Combined (after preprocessing)"), and of these the ones without
    an idiom ("Regular").

    Pairs fit the paper's length filters (`nbkit.corpora.idioms.fits`); what a corpus holds is remembered.
    """
    found: dict[tuple[str, str, str], IdiomPair] = {}
    sizes, fitting, regular = {}, 0, 0
    for number, (name, corpus) in enumerate(params.corpora.items(), start=1):
        table = mined(params, language, corpus, store=store)
        counts = table[table["kind"] == "count"].set_index("id")["idiom"].astype(int)
        sizes[name] = int(counts["pairs"])
        fitting += int(counts["fitting"])
        regular += int(counts["regular"])
        for row in table[table["kind"] == "idiom"].to_dict("records"):
            spans = tuple((int(start), int(end)) for start, end in json.loads(row["spans"]))
            pair = IdiomPair(f"{number}:{row['id']}", row["source"], row["target"], row["idiom"], spans)
            found.setdefault((pair.source, pair.target, pair.idiom), pair)
    return list(found.values()), {**sizes, "Combined (after preprocessing)": fitting, "Regular": regular}


def is_mined(params: IdiomsParams, language: str, store: Store) -> bool:
    """Whether what the corpora of the run hold is remembered; True where none are mined."""
    return all(mined.rows(params, language, corpus, store=store) is not None for corpus in params.corpora.values())


@dataclass(frozen=True)
class IdiomData:
    """What a language pair is tested on.

    splits: idiom-train and idiom-test, complete. test: the pairs of idiom-test that are translated.
    sizes: rows of Table 1 that are not counted from the splits, in order; None where a number is not known.
    """

    splits: IdiomSplits
    test: tuple[IdiomPair, ...]
    sizes: dict[str, int | None] = field(default_factory=dict)

    @property
    def train(self) -> tuple[IdiomPair, ...]:
        """Idiom-train."""
        return self.splits.train


def load_data(params: IdiomsParams, language: str, store: Store) -> IdiomData:
    """The idiom pairs of a language pair, split. Raises `NbkitError` where none can be tested."""
    sizes: dict[str, int | None]
    if params.data == "sandbox-idioms":
        splits, sizes = sandbox_splits(params.source, language), {"Regular": regular_pairs(params, language)}
    elif params.data == "mined":
        splits, sizes = _mined_splits(params, language, store)
    else:
        pairs = pairs_of_files(params.data, params.source, language)
        splits = _split(params, pairs)
        sizes = {"Sentences with an idiom": len({pair.id for pair in pairs}), "Regular": None}
    if not splits.test:
        few = "there twice, so none can be tested" if params.tested == "half" else "there"
        raise NbkitError(f"data '{params.data}': no idiom of {params.source}→{language} is {few}")
    return IdiomData(splits, drawn(splits.test, params.n_test, params.seed), sizes)


def _split(params: IdiomsParams, pairs: Sequence[IdiomPair]) -> IdiomSplits:
    return IdiomSplits((), tuple(pairs), ()) if params.tested == "all" else split_idioms(pairs, seed=params.seed)


def _mined_splits(params: IdiomsParams, language: str, store: Store) -> tuple[IdiomSplits, dict[str, int | None]]:
    """What was mined, split, and its sizes; read and split once by the steps of a unit of work or a page."""

    def make() -> tuple[IdiomSplits, dict[str, int | None]]:
        pairs, sizes = mine(params, language, store)
        return _split(params, pairs), sizes

    return _held_splits([store.url, list(params.corpora.items()), data_key(params, language)], make)


_held_splits = Held(size=2)


@STUDY.step(
    per=("language", "corpus", "n"),
    key=lambda params, language, corpus, n: {
        "corpus": corpus_texts_identity(corpus, params.source, language, n),
        **data_key(params, language),
    },
)
@as_table("pairs")
def leaks(params: IdiomsParams, language: str, corpus: str, n: int | None, store: Store) -> Iterator[Any]:
    """The number of pairs of a corpus that models were trained on (column pairs), of which none has a source of
    idiom-test. Raises `NbkitError` where one has."""
    count = 0

    def counted() -> Iterable[tuple[str, str]]:
        nonlocal count
        for pair in text_pairs(corpus, params.source, language, n):
            count += 1
            yield pair.source, pair.target

    check_leaks(counted(), load_data(params, language, store).splits.test)
    yield (count,)


@as_table("language", "condition", "model", "pairs")
def training_checked(params: IdiomsParams, store: Store | None = None) -> Iterator[Any]:
    """How many training pairs of each system were looked through for sentences of idiom-test; none is among them.

    Columns: language, condition, model, pairs (regular ones and idiom-train, each once; NaN of a model that nbkit did
    not train, or whose training data is not here). What was looked through is remembered, by corpus.
    Raises `NbkitError` where one is there, with how many and the first. Source: idioms paper, §3.1.
    """
    store = store or Store()
    for language, system in product(params.languages, params.systems):
        pairs, recipe = float("nan"), trained_by(system.name, params.source, language)
        if recipe is not None:
            wanted = [(recipe.train, recipe.pairs)]
            if recipe.idioms is not None and recipe.copies:
                wanted.append((recipe.idioms, recipe.idiom_pairs))
            if not any(corpus_texts_problems(corpus, params.source, language, n) for corpus, n in wanted):
                pairs = float(sum(leaks(params, language, *each, store=store)["pairs"].iloc[0] for each in wanted))
        yield language, system.condition, system.model, pairs


def write_training_data(
    params: IdiomsParams, language: str, folder: Path, store: Store | None = None
) -> dict[str, int]:
    """Write the splits of one language pair to *folder*, line-aligned; returns how many pairs each file has.

    ``regular.{en,fr}`` (mined corpora only) and ``idiom-train.{en,fr}`` are what ``nbkit train translator`` takes as
    ``--train`` and ``--idioms``; ``idiom-train.spans.en`` and ``idiom-test.*`` say where the idioms are. A file appears
    when it is complete. No sentence of idiom-test, and no idiom that was discarded, is in ``regular``.
    Source: idioms paper, §3.1.
    """
    store = store or Store()
    splits = load_data(params, language, store).splits
    folder.mkdir(parents=True, exist_ok=True)
    counts = {"regular": 0}
    if params.corpora:
        regular = without_leaks(_regular(params, language, store), splits.test)
        counts["regular"] = _write(regular, folder / f"regular.{params.source}", folder / f"regular.{language}")
    for name, pairs in (("idiom-train", splits.train), ("idiom-test", splits.test)):
        paths = (folder / f"{name}.{end}" for end in (params.source, language, f"spans.{params.source}"))
        write_idiom_pairs(pairs, *paths)
        counts[name] = len(pairs)
    return counts


def _regular(params: IdiomsParams, language: str, store: Store) -> Iterator[tuple[str, str]]:
    """The pairs of all corpora that pass the length filters and have no idiom."""
    for corpus in params.corpora.values():
        table = mined(params, language, corpus, store=store)
        with_idioms = set(table.loc[table["kind"] == "idiom", "id"])
        for pair in text_pairs(corpus, params.source, language):
            if pair.id not in with_idioms and fits(pair.source, pair.target, src=params.source, tgt=language):
                yield pair.source, pair.target


def _write(pairs: Iterable[tuple[str, str]], *paths: Path) -> int:
    """One file a side, one line per pair; each under a temporary name until all is there."""
    count = 0
    with ExitStack() as stack:
        unfinished = [stack.enter_context(atomic_write(path)) for path in paths]
        files = [stack.enter_context(path.open("w", encoding="utf-8")) for path in unfinished]
        for texts in pairs:
            count += 1
            for file, text in zip(files, texts, strict=True):
                file.write(" ".join(text.split()) + "\n")
        if not count:
            raise NbkitError(f"{paths[0]}: there is no regular pair to write")
    return count


# ----------------------------------------------------------------------------
# Word alignments to references and hypotheses.


def align_texts(
    params: IdiomsParams, language: str, aligner: str, sources: Iterable[str], targets: Iterable[str], store: Store
) -> list[Alignment]:
    """The links between each source and the target at its place, remembered as far as the aligner remembers any."""
    pairs = _in_tokens(params, language, zip(sources, targets, strict=True))
    return list(run_aligner(params, language, aligner, store).align(pairs))


def _in_tokens(params: IdiomsParams, language: str, texts: Iterable[tuple[str, str]]) -> list[TokenPair]:
    return [(tokens(source, params.source), tokens(target, language)) for source, target in texts]


def run_aligner(params: IdiomsParams, language: str, name: str, store: Store) -> Aligner:
    """An aligner of the run; a statistical one learns from `aligned_pairs`, which are read once."""
    key = [params.source, language, store.url, aligner_key(params, language, name)]
    return _held_aligners(
        key, lambda: load_aligner(name, params.source, language, **_options(params, language, name, store))
    )


# As many as the paper has; one that learns holds all that it learns from.
_held_aligners = Held(size=2)


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
    splits = load_data(params, language, store).splits
    corpora = (
        (pair.source, pair.target)
        for corpus in params.aligned_corpora
        for pair in text_pairs(corpus, params.source, language, params.n_aligned)
    )
    own = ((pair.source, pair.target) for pair in splits.train)
    return _in_tokens(params, language, dict.fromkeys([*own, *without_leaks(corpora, splits.test)]))


def alignment_problems(params: IdiomsParams, language: str) -> list[str]:
    """Problems of the run's aligners, one message each."""
    found = [check_aligner(name, params.source, language) for name in params.aligners]
    problems = [problem for problem in found if problem]
    for corpus in params.aligned_corpora:
        problems += corpus_texts_problems(corpus, params.source, language, params.n_aligned, "n_aligned")
    return problems


def _takes(name: str, option: str) -> bool:
    return option in inspect.signature(ALIGNERS.get(name.partition(":")[0])).parameters


def _options(params: IdiomsParams, language: str, name: str, store: Store | None) -> dict[str, Any]:
    known: dict[str, Any] = {"store": store, "device": params.device}
    options = {option: value for option, value in known.items() if _takes(name, option)}
    if _takes(name, "training") and store is not None:
        options["training"] = aligned_pairs(params, language, store)
    return options


# ----------------------------------------------------------------------------
# The word dictionary of a run: the sandbox's own, MUSE's, a file, or one induced from word alignments.

MUSE = "muse:"


def run_dictionaries(params: IdiomsParams, language: str, store: Store) -> tuple[WordDictionary, WordDictionary | None]:
    """The dictionary from the source language into *language*, and the one back, of the same kind; those that are
    induced are remembered.

    There is no way back in the sandbox's, which would be the same word list turned round, and in a file whose name has
    no ``{src}`` and ``{tgt}`` or that has no counterpart.
    Raises `NbkitError` and `DataError` for a file that cannot be read.
    """
    if params.dictionary == "sandbox":
        return sandbox_dictionary(params.source, language), None
    if params.dictionary == "induced":
        table = induced(params, language, store=store)
        labels = {"forward": "+".join([*params.aligned_corpora, "idiom-train"]), "reverse": "reverse"}
        words = {way: table[table["direction"] == way].groupby("word", sort=False)["translation"] for way in labels}
        forward, reverse = (
            WordDictionary(label, "induced", {str(word): tuple(found) for word, found in words[way]})
            for way, label in labels.items()
        )
        return forward, reverse
    there, back = _dictionary_files(params, language)
    if params.dictionary.startswith(MUSE):
        return fetch_muse(params.source, language, there.parent), fetch_muse(language, params.source, there.parent)
    return read_dictionary(there), read_dictionary(back) if back else None


def dictionary_key(params: IdiomsParams, language: str) -> dict[str, Any]:
    """Everything that can change the dictionaries, without making one."""
    if params.dictionary == "sandbox":
        return {"dictionary": "sandbox", **sandbox_identity(params.source, language)}
    if params.dictionary == "induced":
        aligner = aligner_key(params, language, params.aligners[0])
        return {"dictionary": "induced", "aligner": aligner, "from": training_key(params, language)}
    files = _dictionary_files(params, language)
    digests = [file_digest(each) if each and each.is_file() else None for each in files]
    return {"dictionary": files[0].name, "digest": digests[0], "reverse": digests[1]}


def dictionary_problems(params: IdiomsParams, language: str) -> list[str]:
    """Problems of the dictionary; a file is read, MUSE's is asked for and not fetched."""
    pairs = ((params.source, language), (language, params.source))
    try:
        if params.dictionary == "sandbox":
            sandbox_identity(params.source, language)
        elif params.dictionary.startswith(MUSE):
            folder = _dictionary_files(params, language)[0].parent
            return [problem for pair in pairs if (problem := muse_problem(*pair, folder))]
        elif params.dictionary != "induced":
            for path in filter(None, _dictionary_files(params, language)):
                read_dictionary(path)
    except NbkitError as error:
        return [str(error)]
    return []


def _dictionary_files(params: IdiomsParams, language: str) -> tuple[Path, Path | None]:
    """The file that the parameter names, and that of the other direction, where it names both languages and there is
    one; of MUSE's, which may have to be fetched, always both."""
    place = expand_path(params.dictionary.removeprefix(MUSE), "dictionary")
    there, back = (
        Path(place.replace("{src}", src).replace("{tgt}", tgt))
        for src, tgt in ((params.source, language), (language, params.source))
    )
    if params.dictionary.startswith(MUSE):
        return there / f"muse-{params.source}-{language}.txt", there / f"muse-{language}-{params.source}.txt"
    return there, back if "{src}" in place and "{tgt}" in place and back.is_file() else None


@STUDY.step(per=("language",), key=dictionary_key)
@as_table("direction", "word", "translation")
def induced(params: IdiomsParams, language: str, store: Store) -> Iterator[Any]:
    """The dictionaries of both directions ("forward", "reverse"), counted from the same links.

    Columns: direction, word, translation.
    """
    pairs = aligned_pairs(params, language, store)
    links = list(run_aligner(params, language, params.aligners[0], store).align(pairs))
    turned = [(target, source) for source, target in pairs], [[(b, a) for a, b in each] for each in links]
    for way, dictionary in (
        ("forward", induced_dictionary(pairs, links, "forward")),
        ("reverse", induced_dictionary(*turned, "reverse")),
    ):
        for word, translations in dictionary.entries.items():
            yield from ((way, word, translation) for translation in translations)


# ----------------------------------------------------------------------------
# Every translation judged: LitTER, APT-Eval and similarity to its reference, a pair at a time.

_JUDGED = ("id", "idiom", "source", "spans", "reference", "hypothesis", "blocklists", "triggers", "covered", "open",
           "published_covered", "published_open")  # fmt: skip
#: The settings of LitTER that each variant of our own changes.
SETTINGS: dict[str, dict[str, Any]] = {
    "inflected": {"matching": "inflected"},
    "compounds": {"matching": "compounds"},
    "accents": {"accents": "ignored"},
}


def translated(params: IdiomsParams, language: str, system: System, pairs: Sequence[Any], store: Store) -> list[str]:
    """The translations of the sources of *pairs*; of the controls, their targets or the sources themselves."""
    if system in CONTROLS:
        return [pair.target if system == REFERENCES else pair.source for pair in pairs]
    sources = [pair.source for pair in pairs]
    return params.translate(system.name, sources, params.source, language, store)


def _key(params: IdiomsParams, language: str, system: System, **more: Any) -> dict[str, Any]:
    """Everything beside code that can change a table of one system's translations of idiom-test."""
    key = {"control": system.model} if system in CONTROLS else params.model_key(system, language)
    return {**data_key(params, language), **key, **more}


@STUDY.step(
    per=("language", "system"),
    key=lambda params, language, system: _key(
        params, language, system, dictionary=dictionary_key(params, language), variants=params.variants
    ),
    uses=_uses,
)
def judged(params: IdiomsParams, language: str, system: System, store: Store) -> pd.DataFrame:
    """LitTER of one system: one row per pair of idiom-test, in its order.

    Columns: id, idiom, source, spans, reference, hypothesis, blocklists (candidates, with whether the reference leaves
    each), triggers (with their tokens in the hypothesis), covered and open (a blocklist is left), both also as
    published_covered and published_open, paper (the error of the paper's definition), published (that of the research
    code) and one per variant; lists are JSON.
    """
    import pandas as pd

    pairs = load_data(params, language, store).test
    litters = run_litters(params, language, store)
    rows = []
    for pair, hypothesis in zip(pairs, translated(params, language, system, pairs, store), strict=True):
        found = {name: each.judge_spans(pair.words, pair.target, hypothesis) for name, each in litters.items()}
        paper, published = found["paper"], found["published"]
        reach = (paper.covered, bool(paper.blocklists), published.covered, bool(published.blocklists))
        given = (pair.id, pair.idiom, pair.source, json.dumps(pair.spans), pair.target, hypothesis)
        rows.append((*given, *judged_lists(paper), *reach, *(each.error for each in found.values())))
    return pd.DataFrame(rows, columns=[*_JUDGED, *litters])


def _pairs_judged(params: IdiomsParams, store: Store) -> set[int]:
    """How many pairs of idiom-test the languages have, as far as they are judged."""
    found = (judged.rows(params, language, REFERENCES, store=store) for language in params.languages)
    return {n for n in found if n is not None}


def run_litters(params: IdiomsParams, language: str, store: Store) -> dict[str, Litter]:
    """The paper's LitTER, that of its figures and the run's variants; "aligned" is no other LitTER (see `aligned`)."""
    dictionary, reverse = run_dictionaries(params, language, store)
    paper = Litter(dictionary, params.source, language)
    published = published_litter(dictionary, reverse, params.source, language)
    variants = [name for name in params.variants if name in SETTINGS]
    return {"paper": paper, "published": published, **{name: replace(paper, **SETTINGS[name]) for name in variants}}


@STUDY.step(
    per=("language", "system", "aligner"),
    key=lambda params, language, system, aligner: _key(
        params, language, system, aligner=aligner_key(params, language, aligner)
    ),
    uses=lambda params, language, system, aligner: _uses(params, language, system),
)
@as_table(
    *("id", "idiom", "reference_words", "hypothesis_words", "hypothesis_tokens"),
    *("unigram_precision", "unigram_precision_published", "aligned_chrf"),
)
def aligned(params: IdiomsParams, language: str, system: System, aligner: str, store: Store) -> Iterator[Any]:
    """APT-Eval of one system by one aligner: one row per pair of idiom-test, in its order.

    Columns: id, idiom, reference_words, hypothesis_words (aligned to the idiom), hypothesis_tokens (their places;
    JSON), unigram_precision, unigram_precision_published (as the research code computes it), aligned_chrf.
    """
    pairs = load_data(params, language, store).test
    sources = [pair.source for pair in pairs]
    sides = []
    for texts in ([pair.target for pair in pairs], translated(params, language, system, pairs, store)):
        links = align_texts(params, language, aligner, sources, texts, store)
        sides.append([(tokens(text, language), each) for text, each in zip(texts, links, strict=True)])
    idioms = [idiom_tokens(pair, params.source) for pair in pairs]
    phrases = [AlignedPhrase.of(*each) for each in zip(idioms, *sides, strict=True)]
    places = (json.dumps(linked_tokens(links, idiom)) for idiom, (_, links) in zip(idioms, sides[1], strict=True))
    scores = score_phrases(phrases, language)
    measured = (scores.unigram_precision, published_precision(phrases), scores.chrf)
    for pair, phrase, hypothesis_tokens, *values in zip(pairs, phrases, places, *measured, strict=True):
        words = (" ".join(side) for side in (phrase.reference, phrase.hypothesis))
        yield pair.id, pair.idiom, *words, hypothesis_tokens, *values


def _test_sets(params: IdiomsParams, language: str, store: Store) -> dict[str, list[Any]]:
    """The pairs of idiom-test, those of one sentence with two idioms once, and of each generic set."""
    test = load_data(params, language, store).test
    return {
        "idiom-test": list({(pair.source, pair.target): pair for pair in test}.values()),
        **generic_pairs(params, language),
    }


def _answered(params: IdiomsParams, language: str, system: System, store: Store) -> Iterator[Any]:
    """Of each test set its name, sources, translations and references."""
    for name, pairs in _test_sets(params, language, store).items():
        found = translated(params, language, system, pairs, store)
        yield name, [pair.source for pair in pairs], found, [pair.target for pair in pairs]


def _sets_key(params: IdiomsParams, language: str, system: System) -> dict[str, Any]:
    return _key(params, language, system, generic=generic_keys(params, language))


#: What of the models' room is behind tables of scores.
_SCORES = ("nbkit/models/translators/texts.py",)


@STUDY.step(per=("language", "system"), key=_sets_key, uses=_uses, but=_SCORES)
@as_table("of", "source", "reference", "hypothesis", "bleu", "bleu_sums", "chrf", "chrf_sums")
def similar(params: IdiomsParams, language: str, system: System, store: Store) -> Iterator[Any]:
    """BLEU and chrF of each sentence of idiom-test and of each generic set, beside its reference.

    Columns: of (the test set), source, reference, hypothesis, and, for bleu (per cent) and chrf (a share): the score
    and ``…_sums`` (what the corpus score adds up, `nbkit.models.translators.texts.sentence_sums`; JSON).
    """
    import pandas as pd

    for name, sources, found, references in _answered(params, language, system, store):
        frame = pd.DataFrame({"of": name, "source": sources, "reference": references, "hypothesis": found})
        for measure, unit in UNITS.items():
            sums = sentence_sums(measure, found, references, language)
            frame[measure] = [score_of_sums(measure, [each], alone=True) / unit for each in sums]
            frame[f"{measure}_sums"] = list(map(json.dumps, sums))
        yield frame


#: What sacreBLEU's per cent are divided by: the paper prints BLEU in per cent and chrF as a share.
UNITS: dict[Literal["bleu", "chrf"], int] = {"bleu": 1, "chrf": 100}


@STUDY.step(per=("language", "system"), key=_sets_key, uses=_uses, but=_SCORES)
@as_table("of", "measure", "value", "low", "high", "n", "signature")
def scored(params: IdiomsParams, language: str, system: System, store: Store) -> Iterator[Any]:
    """Corpus BLEU and chrF of one system on idiom-test and on each generic set, with bootstrap intervals.

    Columns: of (the test set), measure ("bleu" in per cent, "chrf" as a share, as the paper prints them), value, low,
    high, n, signature. The intervals are sacreBLEU's, over sentences.
    """
    for name, _, found, references in _answered(params, language, system, store):
        scores = {"bleu": corpus_bleu(found, references, language), "chrf": corpus_chrf(found, references)}
        for measure, unit in UNITS.items():
            score = scores[measure]
            values = (value / unit for value in (score.score, score.low, score.high))
            yield name, measure, *values, score.n, score.signature


def judged_lists(judgement: LiteralJudgement) -> tuple[str, str]:
    """Word, translations, and whether the blocklist is left, of each candidate; and the triggers; both as JSON."""
    left = set(judgement.blocklists)
    blocklists = [[each.word, list(each.translations), each in left] for each in judgement.candidates]
    triggers = [list(each) for each in judgement.triggers]
    return json.dumps(blocklists, ensure_ascii=False), json.dumps(triggers, ensure_ascii=False)


# ----------------------------------------------------------------------------
# The probes of §4: translation, likelihood and uncertainty with the idiom encoded in less and less context.


def probed_pairs(params: IdiomsParams, language: str, store: Store) -> tuple[IdiomPair, ...]:
    """The pairs of idiom-test that are probed: of those that are translated, ``n_probed``."""
    return drawn(load_data(params, language, store).test, params.n_probed, params.seed)


def _probe_config(params: IdiomsParams, language: str, system: System) -> dict[str, Any]:
    return probe_config(system.name, params.source, language, params.decoding, **params.probing)


def _probes(
    params: IdiomsParams, language: str, system: System, pairs: Sequence[IdiomPair], store: Store
) -> Iterator[dict[Any, ContextProbe]]:
    how = (params.source, language, params.decoding)
    return probe_remembered(system.name, pairs, *how, store=store, **params.probing)


@STUDY.step(
    per=("language", "system"),
    key=lambda params, language, system: _key(
        params, language, system, contexts=params.contexts, n_probed=params.n_probed,
        aligner=aligner_key(params, language, params.aligners[0]), probes=_probe_config(params, language, system),
    ),
    uses=_uses,
    but=("nbkit/models/probes.py",),
)  # fmt: skip
@as_table(
    *("id", "idiom", "context", "hypothesis", "chrf", "log_probability", "subwords"),
    *("entropy_idiom", "entropy_other", "idiom_words", "other_words", "replaced"),
)
def probed(params: IdiomsParams, language: str, system: System, store: Store) -> Iterator[Any]:
    """One row per pair and context, in the order of the pairs.

    Columns: id, idiom, context, hypothesis, chrf (of the hypothesis, a share), log_probability (of the reference, in
    nats) and subwords (of it), entropy_idiom and entropy_other (means over words, in nats; NaN without any),
    idiom_words, other_words, replaced (subwords of the source).
    """
    pairs = probed_pairs(params, language, store)
    probes = list(_probes(params, language, system, pairs, store))
    # All of idiom-test is aligned, as in APT-Eval: a statistical aligner's links depend on what is beside.
    test = load_data(params, language, store).test
    texts = ([pair.source for pair in test], [pair.target for pair in test])
    links = dict(zip(test, align_texts(params, language, params.aligners[0], *texts, store), strict=True))
    for pair, found in zip(pairs, probes, strict=True):
        idiom, words = idiom_tokens(pair, params.source), token_spans(pair.target, language)
        hypotheses = [found[context].hypothesis for context in params.contexts]
        scores = Chrf().scores(hypotheses, [pair.target] * len(hypotheses), language)
        for context, hypothesis, score in zip(params.contexts, hypotheses, scores, strict=True):
            each: ContextProbe = found[context]
            likelihood = (sum(each.log_probabilities), len(each.log_probabilities))
            split = split_by_alignment(word_entropies(each, words), links[pair], idiom)
            entropies = (split.idiom, split.other, split.idiom_words, split.other_words)
            yield pair.id, pair.idiom, context, hypothesis, score, *likelihood, *entropies, each.replaced


# ----------------------------------------------------------------------------
# Units of work: mine and train, then translate, then align and judge, then probe.


@STUDY.work("align references {source}→{language}", per=("language",), after=(mined,), runs_models=True)
def align_references(params: IdiomsParams, language: str, store: Store) -> None:
    """The dictionary, what a statistical aligner learns, and its links of the references.

    These cannot be sampled twice alike: every system is judged against the ones that are sampled here.
    """
    run_dictionaries(params, language, store)
    if params.voters:
        return
    pairs = load_data(params, language, store).test
    sources, references = [pair.source for pair in pairs], [pair.target for pair in pairs]
    for name in params.aligners:
        if aligner_key(params, language, name)["learns_from"] is not None:
            align_texts(params, language, name, sources, references, store)


def _tested(params: IdiomsParams, language: str, store: Store) -> list[Any]:
    return [pair for pairs in _test_sets(params, language, store).values() for pair in pairs]


def _translations(params: IdiomsParams, language: str, system: System, store: Store) -> Counts:
    """How many texts one system translates, and how many of them are remembered; none known before mining."""
    if not is_mined(params, language, store):
        return Counts(0, 0)
    sources = [pair.source for pair in _tested(params, language, store)]
    return asked_translations(params, system.name, params.source, language, sources, store)


@STUDY.work(
    "translate {system} {source}→{language}",
    per=("language", "system"),
    after=(mined,),
    uses=_uses,
    counts=_translations,
)
def translate(params: IdiomsParams, language: str, system: System, store: Store) -> None:
    """Idiom-test and the generic sets, translated."""
    translated(params, language, system, _tested(params, language, store), store)


def _with_references(*per: str) -> Callable[[IdiomsParams], Iterable[Point]]:
    """The points of a unit that reads references: none where voters take their place."""
    return lambda params: () if params.voters else STUDY.points(params, per)


@STUDY.work(
    "align and judge {system} {source}→{language}",
    per=("language", "system"),
    after=(align_references, translate),
    points=_with_references("language", "system"),
    runs_models=True,
)
def judge(params: IdiomsParams, language: str, system: System, store: Store) -> None:
    """LitTER, APT-Eval by every aligner, BLEU and chrF of one system."""
    judged(params, language, system, store=store)
    for aligner in params.aligners:
        aligned(params, language, system, aligner, store=store)
    scored(params, language, system, store=store)
    similar(params, language, system, store=store)


@STUDY.work(
    "judge the {control} {source}→{language}",
    per=("language", "control"),
    after=(align_references,),
    points=_with_references("language", "control"),
    runs_models=True,
)
def judge_control(params: IdiomsParams, language: str, control: System, store: Store) -> None:
    """The same of what is judged beside the systems."""
    judge(params, language=language, system=control, store=store)


def _probings(params: IdiomsParams, language: str, system: System, store: Store) -> tuple[int, int]:
    """How many pairs are probed, and how many of them are remembered; none known before mining."""
    if not is_mined(params, language, store):
        return 0, 0
    keys = map(probe_key, probed_pairs(params, language, store))
    return asked(_probe_config(params, language, system), keys, store)


def _where_probed(params: IdiomsParams) -> Iterator[Point]:
    for point in STUDY.points(params, ("language", "system")) if params.contexts else ():
        if point["system"] in with_states(params, point["language"]):
            yield point


@STUDY.work(
    "probe {system} {source}→{language}",
    per=("language", "system"),
    after=(judge,),
    uses=_uses,
    counts=_probings,
    points=_where_probed,
)
def probe(params: IdiomsParams, language: str, system: System, store: Store) -> None:
    """The probes of one system."""
    probed(params, language, system, store=store)
