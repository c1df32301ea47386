"""What the sandbox's mixture of idioms is to the study: idiom-train, idiom-test, and the dictionary of its words."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cache, lru_cache, partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nbkit import sandbox
from nbkit.corpora.idioms import (
    IdiomPair,
    IdiomSplits,
    annotate,
    check_leaks,
    english_idioms,
    fits,
    read_idiom_pairs,
    split_idioms,
    without_leaks,
    write_idiom_pairs,
)
from nbkit.corpora.load import sandbox_idiom_splits
from nbkit.errors import NbkitError
from nbkit.files import atomic_write, expand_path, file_digest
from nbkit.fingerprint import digest
from nbkit.measure.literal import WordDictionary
from nbkit.models.translators.texts import TextPair, corpus_texts_identity, corpus_texts_problems, text_pairs
from nbkit.seeding import address
from nbkit.store import Store
from nbkit.studies.base import trained_by
from nbkit.studies.idioms.params import IdiomsParams
from nbkit.text.parsers import load_parser, parser_identity
from nbkit.text.phrases import PhraseMatcher, read_phrases
from nbkit.text.sentences import Pair, Sentence, Text

if TYPE_CHECKING:
    import pandas as pd

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


def sandbox_problems(src: str, tgt: str) -> list[str]:
    """A language that the sandbox's idioms do not have."""
    try:
        sandbox_identity(src, tgt)
    except NbkitError as error:
        return [str(error)]
    return []


# ----------------------------------------------------------------------------
# Idiom pairs out of parallel corpora: filtered, matched, split; remembered a corpus at a time.
#
# Source: idioms paper, §3.1 and appendix A.

#: Changes when this module mines the same corpus otherwise; of what it calls, the keys carry a digest.
VERSION = 2


_CALLED = ("nbkit.corpora.idioms", "nbkit.corpora.idioms", "nbkit.text.phrases")


#: Pairs that are in memory together, and remembered together while the rest of their corpus is mined.
_CHUNK = 5000


_TOKEN = re.compile(r"\w+(?:[-'’]\w+)*|[^\w\s]")


@dataclass(frozen=True)
class Mined:
    """What was found in corpora. sizes: all pairs of each corpus. fitting: pairs that passed the length filters.

    regular: of these, the ones without an idiom.
    """

    pairs: tuple[IdiomPair, ...]
    sizes: dict[str, int]
    fitting: int
    regular: int


def phrases(params: IdiomsParams) -> tuple[str, ...]:
    """The phrase list of the run. Raises `NbkitError` for "own" with another source language than English."""
    if params.idioms != "own":
        return tuple(read_phrases(params.idioms))
    if params.source != "en":
        raise NbkitError(f"idioms 'own' are English; name a phrase list of '{params.source}' (a file) in idioms")
    return english_idioms()


def mine(params: IdiomsParams, language: str, store: Store) -> Mined:
    """The idiom pairs of all corpora of the run, those of the same sentences once.

    Pairs fit the paper's length filters (`nbkit.corpora.idioms.fits`); what a corpus holds is remembered.
    """
    found: dict[tuple[str, str, str], IdiomPair] = {}
    sizes, fitting, regular = {}, 0, 0
    for number, (name, corpus) in enumerate(params.corpora.items(), start=1):
        table = mined_corpus(params, language, corpus, store)
        counts = table[table["kind"] == "count"].set_index("id")["idiom"].astype(int)
        sizes[name] = int(counts["pairs"])
        fitting += int(counts["fitting"])
        regular += int(counts["regular"])
        for row in table[table["kind"] == "idiom"].to_dict("records"):
            spans = tuple((int(start), int(end)) for start, end in json.loads(row["spans"]))
            pair = IdiomPair(f"{number}:{row['id']}", row["source"], row["target"], row["idiom"], spans)
            found.setdefault((pair.source, pair.target, pair.idiom), pair)
    return Mined(tuple(found.values()), sizes, fitting, regular)


def mined_corpus(params: IdiomsParams, language: str, corpus: str, store: Store) -> pd.DataFrame:
    """The idiom pairs of one corpus and, as rows of the kind "count", how many pairs there are, fit and are regular.

    Columns: kind, id, source, target, idiom (of a count: the number), spans (JSON).
    """

    config = _config(params, language, corpus)

    def compute() -> pd.DataFrame:
        import pandas as pd

        matcher = PhraseMatcher(phrases(params))
        stream = text_pairs(corpus, params.source, language)
        chunks = iter(lambda: list(islice(stream, _CHUNK)), [])
        tables = [
            store.table({**config, "chunk": [number, _CHUNK]}, partial(_mined_chunk, params, language, chunk, matcher))
            for number, chunk in enumerate(chunks)
        ]
        found = pd.concat(tables or [_mined_chunk(params, language, [], matcher)])
        is_count = found["kind"] == "count"
        sums = found[is_count].groupby("id", sort=False)["idiom"].agg(lambda numbers: str(sum(map(int, numbers))))
        rows = [("count", name, "", "", number, "[]") for name, number in sums.items()]
        return pd.concat([found[~is_count], pd.DataFrame(rows, columns=_COLUMNS)], ignore_index=True)

    return store.table(config, compute)


_COLUMNS = ["kind", "id", "source", "target", "idiom", "spans"]


def _mined_chunk(
    params: IdiomsParams, language: str, chunk: Sequence[TextPair], matcher: PhraseMatcher
) -> pd.DataFrame:
    """As `mined_corpus`, of some pairs of a corpus."""
    import pandas as pd

    fitting = [pair for pair in chunk if fits(pair.source, pair.target, src=params.source, tgt=language)]
    counts = {"pairs": len(chunk), "fitting": len(fitting), "regular": 0}
    rows = []
    for pair in _texts(params, fitting, language):
        idioms = annotate(pair, matcher)
        counts["regular"] += not idioms
        rows += [("idiom", each.id, each.source, each.target, each.idiom, json.dumps(each.spans)) for each in idioms]
    rows += [("count", name, "", "", str(number), "[]") for name, number in counts.items()]
    return pd.DataFrame(rows, columns=_COLUMNS)


def is_mined(params: IdiomsParams, language: str, store: Store) -> bool:
    """Whether what the corpora of the run hold is remembered; True where none are mined."""
    return all(store.table_rows(_config(params, language, corpus)) is not None for corpus in params.corpora.values())


def _config(params: IdiomsParams, language: str, corpus: str) -> dict[str, Any]:
    return {"kind": "idioms.mined", **mining_key(params, language, corpus)}


def mining_key(params: IdiomsParams, language: str, corpus: str) -> dict[str, Any]:
    """Everything that can change what is found in a corpus."""
    spec = params.parsers.get(params.source)
    return {
        "version": VERSION,
        "code": digest(*_CALLED),
        "corpus": corpus_texts_identity(corpus, params.source, language, None),
        "phrases": hashlib.blake2b("\n".join(phrases(params)).encode(), digest_size=8).hexdigest(),
        "parser": parser_identity(spec, params.source) if spec else "forms",
    }


def mining_problems(params: IdiomsParams, language: str) -> list[str]:
    """What stands in the way of mining, one message each."""
    try:
        phrases(params)
    except NbkitError as error:
        return [str(error)]
    return [
        problem
        for corpus in params.corpora.values()
        for problem in corpus_texts_problems(corpus, params.source, language, None)
    ]


def _texts(params: IdiomsParams, pairs: Sequence[TextPair], language: str) -> Iterator[Pair]:
    """*pairs* with their sources in tokens: parsed where the run names a parser, else cut, words known by their
    forms."""
    spec = params.parsers.get(params.source)
    sources = [pair.source for pair in pairs]
    texts = load_parser(spec, params.source).parse(sources) if spec else map(plain_text, sources)
    for pair, text in zip(pairs, texts, strict=True):
        yield Pair(pair.id, text, Text((Sentence((pair.target,), language),)))


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
# The sentences of the study: idiom-train, idiom-test and generic test sets, wherever they come from.

FILES = "files:"


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
    """The idiom pairs of a language pair, split. Raises `NbkitError` where no idiom is there twice."""
    if params.data == "sandbox-idioms":
        splits, sizes = sandbox_splits(params.source, language), {"Regular": regular_pairs(params, language)}
    elif params.data == "mined":
        found = mine(params, language, store)
        splits = split_idioms(found.pairs, seed=params.seed)
        sizes = {**found.sizes, "Combined (after preprocessing)": found.fitting, "Regular": found.regular}
    else:
        pairs = _of_files(params.data, params.source, language)
        splits = split_idioms(pairs, seed=params.seed)
        kept = len({pair.id for pair in pairs})
        sizes = {"Sentences with an idiom": kept, "Regular": None}
    if not splits.test:
        raise NbkitError(
            f"data '{params.data}': no idiom of {params.source}→{language} is there twice, so none can be tested"
        )
    return IdiomData(splits, drawn(splits.test, params.n_test, params.seed), sizes)


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
    return {"data": where, "n_test": params.n_test, "seed": params.seed, "src": params.source, "tgt": language}


def generic_key(params: IdiomsParams, language: str, name: str) -> dict[str, Any]:
    """Everything that can change the sentences of a generic test set."""
    return corpus_texts_identity(params.generic[name], params.source, language, params.n_generic)


def data_problems(params: IdiomsParams, language: str) -> list[str]:
    """What stands in the way of the run's texts, one message each; small files are read, no corpus is parsed."""
    found: list[str] = []
    if params.data == "sandbox-idioms":
        found += sandbox_problems(params.source, language)
    elif params.data == "mined":
        found += mining_problems(params, language)
    else:
        try:
            _of_files(params.data, params.source, language)
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


def _of_files(data: str, src: str, tgt: str) -> tuple[IdiomPair, ...]:
    """The pairs of the files, as whoever made them chose them; files that change are read again."""
    files = idiom_files(data, src, tgt)
    for path in files:
        if not path.is_file():
            raise NbkitError(f"data '{data}': there is no file {path}")
    return _read(*files, tuple(map(file_digest, files)))


@lru_cache(maxsize=8)
def _read(source: Path, target: Path, spans: Path, digests: tuple[str, ...]) -> tuple[IdiomPair, ...]:
    return tuple(read_idiom_pairs(source, target, spans))


# ----------------------------------------------------------------------------
# Whether a sentence of idiom-test is in what the run's models were trained on, where that is known.


def training_checked(params: IdiomsParams, store: Store | None = None) -> pd.DataFrame:
    """How many training pairs of each system were looked through for sentences of idiom-test; none is among them.

    Columns: language, condition, model, pairs (regular ones and idiom-train, each once; NaN of a model that nbkit did
    not train, or whose training data is not here). What was looked through is remembered, by corpus.
    Raises `NbkitError` where one is there, with how many and the first. Source: idioms paper, §3.1.
    """
    import pandas as pd

    store = store or Store()
    rows = []
    for language in params.languages:
        for system in params.systems:
            recipe = trained_by(system.name, params.source, language)
            pairs = None
            if recipe is not None:
                wanted = [(recipe.train, recipe.pairs)]
                if recipe.idioms is not None and recipe.copies:
                    wanted.append((recipe.idioms, recipe.idiom_pairs))
                if not any(corpus_texts_problems(corpus, params.source, language, n) for corpus, n in wanted):
                    pairs = sum(_looked_through(params, language, *each, store) for each in wanted)
            rows.append((language, system.condition, system.model, float("nan") if pairs is None else float(pairs)))
    return pd.DataFrame(rows, columns=["language", "condition", "model", "pairs"])


def _looked_through(params: IdiomsParams, language: str, corpus: str, n: int | None, store: Store) -> int:
    """The number of pairs of a corpus that models were trained on, none of whose sources is one of idiom-test."""

    def compute() -> pd.DataFrame:
        import pandas as pd

        count = 0

        def counted() -> Iterable[tuple[str, str]]:
            nonlocal count
            for pair in text_pairs(corpus, params.source, language, n):
                count += 1
                yield pair.source, pair.target

        check_leaks(counted(), load_data(params, language, store).splits.test)
        return pd.DataFrame({"pairs": [count]})

    key = {"corpus": corpus_texts_identity(corpus, params.source, language, n), **data_key(params, language)}
    config = {"kind": "idioms.leaks", "code": digest("nbkit.corpora.idioms"), **key}
    return int(store.table(config, compute)["pairs"].iloc[0])


# ----------------------------------------------------------------------------
# What the models of the study are trained on, as files: regular pairs and idiom-train, with idiom-test beside
# them.


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
    data = load_data(params, language, store)
    folder.mkdir(parents=True, exist_ok=True)
    counts = {"regular": 0}
    if params.corpora:
        regular = without_leaks(_regular(params, language, store), data.splits.test)
        counts["regular"] = _write(regular, folder / f"regular.{params.source}", folder / f"regular.{language}")
    for name, pairs in (("idiom-train", data.splits.train), ("idiom-test", data.splits.test)):
        paths = (folder / f"{name}.{end}" for end in (params.source, language, f"spans.{params.source}"))
        write_idiom_pairs(pairs, *paths)
        counts[name] = len(pairs)
    return counts


def _regular(params: IdiomsParams, language: str, store: Store) -> Iterator[tuple[str, str]]:
    """The pairs of all corpora that pass the length filters and have no idiom."""
    for corpus in params.corpora.values():
        table = mined_corpus(params, language, corpus, store)
        with_idioms = set(table.loc[table["kind"] == "idiom", "id"])
        for pair in text_pairs(corpus, params.source, language):
            if pair.id not in with_idioms and fits(pair.source, pair.target, src=params.source, tgt=language):
                yield pair.source, pair.target


def _write(pairs: Iterable[tuple[str, str]], *paths: Path) -> int:
    """One file a side, a line a pair; each under a temporary name until all is there."""
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
