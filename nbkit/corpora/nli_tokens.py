"""Tokens, and where there is a pipeline parts of speech, of premises and hypotheses.

A spaCy pipeline gives both and is the default where it is installed, as in `nbkit.corpora.load_pairs`. Without one, the
tokenizer alone will do for permutations: ``tokenizer`` stands for spaCy's rules of the language, which need no
model, and ``jieba`` for its Chinese words. Which one was used is part of the identity of the pairs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib import metadata, util
from typing import TYPE_CHECKING, Any

from nbkit.errors import MissingExtraError, NbkitError
from nbkit.languages import check_language
from nbkit.store import Store
from nbkit.syntax import check_parser, parse_remembered, parser_for, parser_identity
from nbkit.syntax.parsers import squeeze
from nbkit.text import Sentence, Text

if TYPE_CHECKING:
    from spacy.language import Language

#: spaCy's tokenizer rules of the language, without a model; Chinese is cut into characters.
TOKENIZER = "tokenizer"
#: Chinese words by the dictionary of the package jieba.
JIEBA = "jieba"


def tokenizer_for(lang: str, parsers: Mapping[str, str] | None = None) -> str:
    """What *parsers* names for *lang*; else the language's default pipeline where it is installed, or ``tokenizer``.

    >>> tokenizer_for("en", {"en": "models/en_ud_sm"})
    'models/en_ud_sm'
    """
    check_language(lang)
    if parsers and lang in parsers:
        return parsers[lang]
    try:
        spec = parser_for(lang)
    except NbkitError:  # no default pipeline for the language
        return TOKENIZER
    return TOKENIZER if check_parser(spec, lang) else spec


def has_parts_of_speech(spec: str) -> bool:
    """Whether *spec* tags parts of speech, which POS mini-trees need.

    >>> has_parts_of_speech("en_core_web_sm"), has_parts_of_speech("jieba")
    (True, False)
    """
    return spec not in (TOKENIZER, JIEBA)


def check_tokenizer(spec: str, lang: str) -> str | None:
    """Why *spec* cannot cut *lang* here, or None; loads nothing.

    >>> print(check_tokenizer("jieba", "en"))
    tokenizer 'jieba' cuts Chinese (zh), not 'en'; use 'tokenizer' or a spaCy pipeline
    """
    if spec == JIEBA and lang != "zh":
        return f"tokenizer 'jieba' cuts Chinese (zh), not '{lang}'; use 'tokenizer' or a spaCy pipeline"
    if spec == JIEBA and util.find_spec("jieba") is None:
        return "tokenizer 'jieba' needs the package jieba: pip install jieba"
    return None if spec in (TOKENIZER, JIEBA) else check_parser(spec, lang)


def tokenizer_identity(spec: str, lang: str) -> dict[str, Any]:
    """What the tokens depend on, for cache keys. Raises `NbkitError` with what `check_tokenizer` says."""
    if has_parts_of_speech(spec):
        return parser_identity(spec, lang)
    problem = check_tokenizer(spec, lang)
    if problem:
        raise MissingExtraError(problem)
    packages = ["spacy", *(["jieba"] if spec == JIEBA else [])]
    return {"tokenizer": spec, "lang": lang, **{name: metadata.version(name) for name in packages}}


def tokenised(texts: Sequence[str], spec: str, lang: str, store: Store | None = None) -> list[Text]:
    """The tokens of each of *texts*; parses are remembered, plain tokens are quicker made than read."""
    if has_parts_of_speech(spec):
        return parse_remembered(texts, spec, lang, store=store)
    problem = check_tokenizer(spec, lang)
    if problem:
        raise MissingExtraError(problem)
    nlp = _blank(spec, lang)
    return [_tokens(nlp, squeeze(text), lang) for text in texts]


@lru_cache(maxsize=4)
def _blank(spec: str, lang: str) -> Language:
    import spacy

    if spec != JIEBA:
        return spacy.blank(lang)
    import logging

    import jieba

    jieba.setLogLevel(logging.WARNING)  # it reports on its dictionary otherwise
    return spacy.blank(lang, config={"nlp": {"tokenizer": {"segmenter": JIEBA}}})


def _tokens(nlp: Language, text: str, lang: str) -> Text:
    tokens = [token for token in nlp.make_doc(text) if not token.is_space]
    spaces = tuple(bool(token.whitespace_) for token in tokens)
    return Text((Sentence(tuple(token.text for token in tokens), lang, spaces),))
