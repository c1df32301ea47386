"""The sentences of the idioms study, whatever they come from, and what of them goes into keys.

Idiom-train, idiom-test and generic test sets are the sandbox's, of files, or mined from parallel corpora.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from itertools import accumulate, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nbkit import sandbox
from nbkit.corpora.idioms import (
    IdiomPair,
    IdiomSplits,
    annotate,
    english_idioms,
    fits,
    read_idiom_pairs,
    sandbox_idiom_splits,
)
from nbkit.errors import NbkitError
from nbkit.files import expand_path, file_digest
from nbkit.languages import is_unspaced
from nbkit.measure.bleu import cut
from nbkit.measure.literal import WordDictionary
from nbkit.models.translators.texts import TextPair, corpus_texts_identity, corpus_texts_problems, text_pairs
from nbkit.seeding import address
from nbkit.studies.base import trained_by
from nbkit.studies.engine import Held
from nbkit.studies.idioms.params import IdiomsParams
from nbkit.text.parsers import Span, load_parser, parser_identity, tokens_in
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

    Columns: kind, id, source, target, idiom (of a count: the number), spans (JSON).
    """
    import pandas as pd

    fitting = [pair for pair in pairs if fits(pair.source, pair.target, src=params.source, tgt=language)]
    counts = {"pairs": len(pairs), "fitting": len(fitting), "regular": 0}
    rows = []
    for pair, text in zip(fitting, source_texts(params, [pair.source for pair in fitting]), strict=True):
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
        "parser": parser_key(params),
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
    return {"data": where, "n_test": params.n_test, "seed": params.seed, "src": params.source, "tgt": language}


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
