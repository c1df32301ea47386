"""Word alignments of references and translations, and the dictionary of literal translations.

Texts are cut by `nbkit.measure.bleu.cut` on either side, whatever a corpus's own tokens are, so that a reference and a
translation are treated alike.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from nbkit.corpora import sandbox
from nbkit.corpora.idioms import IdiomPair, without_leaks
from nbkit.files import expand_path, file_digest
from nbkit.languages import is_unspaced
from nbkit.measure.aligners import ALIGNERS, Aligner, Alignment, TokenPair, load_aligner
from nbkit.measure.bleu import cut
from nbkit.measure.literal import WordDictionary, fetch_muse, induced_dictionary, read_dictionary
from nbkit.models.translators.texts import text_pairs
from nbkit.store import Store
from nbkit.studies.answering import Cell
from nbkit.studies.idioms.items import corpora_identity, pair_of, sandbox_identity
from nbkit.studies.idioms.params import IdiomsParams
from nbkit.text.parsers import Span, tokens_in

_STRETCH, _CHARACTER = re.compile(r"\S+"), re.compile(r"\S")
MUSE = "muse:"


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
    for match in (_CHARACTER if is_unspaced(lang) else _STRETCH).finditer(text):
        parts = tokens(match[0], lang)
        is_exact = "".join(parts) == match[0]
        places = pairwise([0, *accumulate(map(len, parts))]) if is_exact else [(0, len(match[0]))] * len(parts)
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
# Aligners.


class Learned(NamedTuple):
    """What statistical aligners learn from: idiom-train and corpora, without any sentence of idiom-test.

    known: what stands behind the names of the corpora.
    """

    langs: tuple[str, str]
    corpora: tuple[str, ...]
    n: int | None
    train: tuple[tuple[str, str], ...]
    test: tuple[IdiomPair, ...]
    known: str

    @classmethod
    def of(cls, params: IdiomsParams, cell: Cell, splits: pd.DataFrame) -> Learned:
        """What the aligners of a run learn from."""
        train, test = (splits[splits["split"] == name] for name in ("train", "test"))
        known = json.dumps(corpora_identity(cell, params.aligned_corpora, params.n_aligned), sort_keys=True)
        both = tuple(zip(train["source"], train["reference"], strict=True))
        of_test = tuple(map(pair_of, test.to_dict("records")))
        return cls(cell[:2], tuple(params.aligned_corpora), params.n_aligned, both, of_test, known)


@lru_cache(maxsize=1)
def learned_pairs(learned: Learned) -> list[TokenPair]:
    """The tokens of what aligners learn from, each pair once."""
    texts = ((pair.source, pair.target) for corpus in learned.corpora
             for pair in text_pairs(corpus, *learned.langs, learned.n))  # fmt: skip
    every = dict.fromkeys([*learned.train, *without_leaks(texts, learned.test)])
    return [(tokens(source, learned.langs[0]), tokens(target, learned.langs[1])) for source, target in every]


def _takes(name: str, option: str) -> bool:
    return option in inspect.signature(ALIGNERS.get(name.partition(":")[0])).parameters


def _aligner(params: IdiomsParams, cell: Cell, name: str, splits: pd.DataFrame) -> Aligner:
    """An aligner of the run; one that learns does it once a process."""
    known = json.dumps(_identity(params, cell, name), sort_keys=True)
    return _loaded(name, known, Learned.of(params, cell, splits), params.device, Store().url)


@lru_cache(maxsize=2)  # as many as the paper has; one that learned holds all that it learned from
def _loaded(name: str, known: str, learned: Learned, device: str, store: str) -> Aligner:
    options: dict[str, Any] = {"store": Store(store), "device": device}
    options = {option: value for option, value in options.items() if _takes(name, option)}
    if _takes(name, "training"):
        options["training"] = learned_pairs(learned)
    return load_aligner(name, *learned.langs, **options)


def align(
    params: IdiomsParams, cell: Cell, splits: pd.DataFrame, sources: Iterable[str], targets: Iterable[str]
) -> Iterator[tuple[str, list[Alignment]]]:
    """Each aligner of the run with its links between sources and targets."""
    texts = zip(sources, targets, strict=True)
    pairs = [(tokens(source, cell.source), tokens(target, cell.target)) for source, target in texts]
    for name in params.aligners:
        yield name, list(_aligner(params, cell, name, splits).align(pairs))


def links(params: IdiomsParams, cell: Cell, items: pd.DataFrame, splits: pd.DataFrame) -> pd.DataFrame:
    """The links of the references by each aligner. They cannot always be sampled twice alike: every system is judged
    against those that are sampled here."""
    found = align(params, cell, splits, items["source"], items["reference"])
    flat: dict[str, Any] = {name: [[place for link in each for place in link] for each in own] for name, own in found}
    tables = [items[["item", "unit"]].assign(aligner=name, links=own) for name, own in flat.items()]
    return pd.concat(tables, ignore_index=True).drop_duplicates(["item", "aligner"])


def aligners_identity(params: IdiomsParams, cell: Cell) -> Any:
    """What stands behind the names of aligners and of what they learn from, without reading it."""
    known = [_identity(params, cell, name) for name in params.aligners]
    return [known, corpora_identity(cell, params.aligned_corpora, params.n_aligned)]


def _identity(params: IdiomsParams, cell: Cell, name: str) -> dict[str, Any]:
    options = {"device": params.device} if _takes(name, "device") else {}
    return load_aligner(name, *cell[:2], **options).identity


# ----------------------------------------------------------------------------
# The word dictionary: the sandbox's, MUSE's, a file, or one induced from word alignments.


def dictionary(params: IdiomsParams, cell: Cell, splits: pd.DataFrame) -> pd.DataFrame:
    """The literal translations of words, there (forward) and back (reverse).

    There is no way back in the sandbox's, which would be the same word list turned round, and in a file whose name has
    no ``{src}`` and ``{tgt}`` or that has no counterpart. Raises `NbkitError` and `DataError` for a file that cannot be
    read.
    """
    ways: list[WordDictionary | None]
    if params.dictionary == "sandbox":
        ways = [WordDictionary("idioms", "sandbox", sandbox.idiom_dictionary(*cell[:2])), None]
    elif params.dictionary == "induced":
        pairs = learned_pairs(Learned.of(params, cell, splits))
        found = list(_aligner(params, cell, params.aligners[0], splits).align(pairs))
        turned = [(b, a) for a, b in pairs], [[(b, a) for a, b in each] for each in found]
        name = "+".join([*params.aligned_corpora, "idiom-train"])
        ways = [induced_dictionary(pairs, found, name), induced_dictionary(*turned, "reverse")]
    else:
        there, back = dictionary_files(params, cell)
        if params.dictionary.startswith(MUSE):
            ways = [fetch_muse(*cell[:2], there.parent), fetch_muse(*cell[1::-1], there.parent)]
        else:
            ways = [read_dictionary(there), read_dictionary(back) if back else None]
    rows = [
        (way, own.name, own.kind, word, list(each))
        for way, own in zip(("forward", "reverse"), ways, strict=True)
        if own is not None
        for word, each in own.entries.items()
    ]
    return pd.DataFrame(rows, columns=["way", "name", "kind", "word", "translations"])


def dictionaries(table: pd.DataFrame) -> tuple[WordDictionary, WordDictionary | None]:
    """The dictionaries of a table, there and back; an empty one if there is none."""
    found = []
    for way in ("forward", "reverse"):
        own = table[table["way"] == way]
        entries = dict(zip(own["word"], map(tuple, own["translations"]), strict=True))
        name, kind = (own[each].iloc[0] if len(own) else "" for each in ("name", "kind"))
        found.append(WordDictionary(str(name), kind, entries) if len(own) else None)  # type: ignore[arg-type]
    return found[0] or WordDictionary("empty", "file", {}), found[1]


def dictionary_files(params: IdiomsParams, cell: Cell) -> tuple[Path, Path | None]:
    """The file that the parameter names, and that of the other direction, where it names both languages and there is
    one; of MUSE's, which may have to be fetched, always both."""
    place = expand_path(params.dictionary.removeprefix(MUSE), "dictionary")
    there, back = (Path(place.replace("{src}", a).replace("{tgt}", b)) for a, b in (cell[:2], cell[1::-1]))
    if params.dictionary.startswith(MUSE):
        return there / f"muse-{cell.source}-{cell.target}.txt", there / f"muse-{cell.target}-{cell.source}.txt"
    return there, back if "{src}" in place and "{tgt}" in place and back.is_file() else None


def dictionary_identity(params: IdiomsParams, cell: Cell) -> Any:
    """What stands behind the name of the dictionary."""
    if params.dictionary == "sandbox":
        return sandbox_identity(cell)
    if params.dictionary == "induced":
        return aligners_identity(params, cell)
    files = dictionary_files(params, cell)
    return [files[0].name, *(file_digest(each) if each and each.is_file() else None for each in files)]
