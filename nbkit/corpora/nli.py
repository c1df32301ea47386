"""Natural language inference: labelled pairs of a premise and a hypothesis, from named sets, files and the sandbox.

In the order of the file: a pair and its label; tokens and parts of speech; pairs in files; the sandbox's pairs; the
sets by name, and `load_nli`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from importlib import metadata, resources, util
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import parse_qsl

from nbkit.corpora import sandbox
from nbkit.corpora.corpus import (
    DEFAULT_SPLIT,
    SANDBOX_SPLITS,
    Files,
    LocalPlace,
    Request,
    content_problem,
    parquet_rows,
    place_of,
    tsv_rows,
)
from nbkit.errors import DataError, MissingExtraError, NbkitError, UnknownNameError, as_problem
from nbkit.files import OnError, Skipped, json_rows, keep_good
from nbkit.languages import base_language, check_language
from nbkit.registry import Registry
from nbkit.store import Store
from nbkit.text.form import one_form
from nbkit.text.parsers import (
    check_parser,
    check_usable,
    find_pipeline,
    load_pipeline,
    parse_remembered,
    parser_identity,
    rules_for,
    settings,
    squeeze,
)
from nbkit.text.sentences import Sentence, Text
from nbkit.yaml_text import read_own

if TYPE_CHECKING:
    from spacy.language import Language

# ----------------------------------------------------------------------------
# `NliPair`: a premise and a hypothesis with their label, and the labels in the order of every matrix.

#: The three classes; columns of probabilities are in this order everywhere.
LABELS = ("entailment", "neutral", "contradiction")


@dataclass(frozen=True)
class NliPair:
    """One example of natural language inference, tokenised.

    id: unique in its corpus and the same in every run. label: one of `LABELS`.
    note: anything a reader of a sample table should know (a genre, the sandbox's rule).

    >>> from nbkit.text.sentences import Sentence
    >>> premise = Text((Sentence(("A", "dog", "sleeps", "."), "en"),))
    >>> pair = NliPair("1", premise, Text((Sentence(("Nothing", "sleeps", "."), "en"),)), "contradiction")
    >>> pair.premise.joined, pair.hypothesis.joined
    ('A dog sleeps .', 'Nothing sleeps .')
    """

    id: str
    premise: Text
    hypothesis: Text
    label: str
    note: str = ""


@dataclass(frozen=True)
class RawNli:
    """The same as running text, before any tokenizer."""

    id: str
    premise: str
    hypothesis: str
    label: str
    note: str = ""


# ----------------------------------------------------------------------------
# Tokens, and where there is a pipeline parts of speech, of premises and hypotheses.
#
# A spaCy pipeline gives both and is the default where it is installed, as in `nbkit.corpora.load_pairs`.
# Without one, the tokenizer alone will do for permutations: ``tokenizer`` stands for spaCy's rules of the
# language, which need no model, and ``jieba`` for its Chinese words. Which one was used is part of the
# identity of the pairs.

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
    default = settings()["default"].get(base_language(lang))
    return default if default and check_parser(default, lang) is None else TOKENIZER


def has_parts_of_speech(spec: str) -> bool:
    """Whether *spec* tags parts of speech, which POS mini-trees need: a pipeline that cannot be found is taken to.

    >>> has_parts_of_speech("en_core_web_sm"), has_parts_of_speech("jieba")
    (True, False)
    """
    with suppress(NbkitError):
        return spec not in (TOKENIZER, JIEBA) and "parser" in find_pipeline(spec).components
    return True


@as_problem
def check_tokenizer(spec: str, lang: str) -> str | None:
    """Why *spec* cannot tokenise *lang* here, or None; loads nothing.

    >>> print(check_tokenizer("jieba", "en"))
    tokenizer 'jieba' segments Chinese (zh), not 'en'; use 'tokenizer' or a spaCy pipeline
    """
    if spec == JIEBA and lang != "zh":
        return f"tokenizer 'jieba' segments Chinese (zh), not '{lang}'; use 'tokenizer' or a spaCy pipeline"
    if spec == JIEBA and util.find_spec("jieba") is None:
        return "tokenizer 'jieba' needs the package jieba: pip install jieba"
    if spec not in (TOKENIZER, JIEBA):
        check_usable(find_pipeline(spec), spec, lang, trees=has_parts_of_speech(spec))
    return None


def tokenizer_identity(spec: str, lang: str) -> dict[str, Any]:
    """What the tokens depend on, for cache keys. Raises `NbkitError` with what `check_tokenizer` says."""
    if spec not in (TOKENIZER, JIEBA):
        return parser_identity(spec, lang, trees=has_parts_of_speech(spec))
    problem = check_tokenizer(spec, lang)
    if problem:
        raise MissingExtraError(problem)
    packages = ["spacy", *(["jieba"] if spec == JIEBA else [])]
    known = {"tokenizer": spec, "lang": lang, **{name: metadata.version(name) for name in packages}}
    return known if (rules := rules_for(lang)) == base_language(lang) else {**known, "rules": rules}


def tokenised(texts: Sequence[str], spec: str, lang: str, store: Store | None = None) -> list[Text]:
    """The tokens of each of *texts*; parses are remembered, plain tokens are quicker made than read."""
    if has_parts_of_speech(spec):
        return parse_remembered(texts, spec, lang, store=store)
    identity = tokenizer_identity(spec, lang)
    nlp = _blank(spec, lang) if spec in (TOKENIZER, JIEBA) else load_pipeline(spec, identity)
    return [_tokens(nlp, squeeze(text), lang) for text in texts]


@lru_cache(maxsize=4)
def _blank(spec: str, lang: str) -> Language:
    import spacy

    if spec != JIEBA:
        return spacy.blank(rules_for(lang))
    import logging

    import jieba

    jieba.setLogLevel(logging.WARNING)  # it reports on its dictionary otherwise
    return spacy.blank(lang, config={"nlp": {"tokenizer": {"segmenter": JIEBA}}})


def _tokens(nlp: Language, text: str, lang: str) -> Text:
    tokens = [token for token in nlp.make_doc(text) if not token.is_space]
    spaces = tuple(bool(token.whitespace_) for token in tokens)
    return Text((Sentence(tuple(token.text for token in tokens), lang, spaces),))


# ----------------------------------------------------------------------------
# NLI pairs in files: TSV with a header, JSON lines, Parquet; here or at a pinned revision of the hub.

#: Counts up when the same files are read as other pairs, so that results on the old ones are not used.
READING = 1


Row = tuple[int, Mapping[str, Any] | DataError]


class Unlabelled(DataError):
    """A row without a gold label (annotators did not agree): skipped and counted, not an error."""


@cache
def catalogue() -> dict[str, Any]:
    """The contents of ``nli_catalogue.yaml``."""
    return read_own(resources.files("nbkit.corpora").joinpath("nli_catalogue.yaml"))


@dataclass(frozen=True)
class NliFiles(Files):
    """An NLI set in one file per split.

    columns: our name (premise, hypothesis, label, id, note) to the file's; if empty, columns are recognised by name.
    classes: the labels of integer classes, in their order. files: the file of each split, if no template covers them
    all.
    """

    format: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)
    classes: tuple[str, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    kind = "NLI corpus"
    endless = False

    def raw(self, request: Request) -> Iterator[RawNli]:
        """The requested pairs of a split as running text. Raises at once if the language, split or file does not exist.

        Malformed rows raise or are skipped, unlabelled ones are always skipped; neither counts.
        """
        rows = _labelled(self._examples(self.place.path(self._fields(request))), request.skipped)
        return islice(keep_good(rows, request.on_error, request.skipped), request.start, request.stop)

    def pairs(self, request: Request) -> Iterator[NliPair]:
        """The requested pairs of a split, tokenised."""
        spec = tokenizer_for(request.src, request.parsers)
        if problem := check_tokenizer(spec, request.src):
            raise NbkitError(problem)
        return _tokenised(self.raw(request), spec, request.src, request.store or Store())

    def identity(self, request: Request) -> dict[str, Any]:
        """Digest or revision of the file, how it is read, and the tokenizer."""
        spec = tokenizer_for(request.src, request.parsers)
        return {
            "reader": self.format,
            "version": READING,
            "columns": dict(self.columns),
            "classes": list(self.classes),
            "file": self.place.identity(self._fields(request)),
            **({"tokens": tokenizer_identity(spec, request.src)} if request.parsed else {}),
        }

    def problems(self, request: Request) -> list[str]:
        """The problems that would stop `pairs`; a local file is read as far as its first *n* pairs."""
        try:
            problem = self.place.problem(self._fields(request))
            if not problem and isinstance(self.place, LocalPlace):
                rows = _labelled(self._examples(self.place.path(self._fields(request))), None)
                problem = content_problem(rows, request.on_error, 0, request.n)
                problem = problem and f"NLI corpus {self.name}: {problem}"
        except NbkitError as error:
            problem = str(error)
        spec = tokenizer_for(request.src, request.parsers)
        return [each for each in (problem, check_tokenizer(spec, request.src)) if each]

    def _fields(self, request: Request) -> dict[str, str]:
        self.check_language(request.src)
        chosen = self.chosen_split(request.split) or ""
        return {"split": chosen, "file": self.files.get(chosen, "")}

    def _examples(self, path: Path) -> Iterator[RawNli | DataError]:
        columns: Mapping[str, str] | None = None
        for number, row in _READERS[self.format](path):
            if isinstance(row, DataError):
                yield row
                continue
            if columns is None:
                columns = self._columns(row, path, number)
            yield self._example(row, columns, path, number)

    def _columns(self, row: Mapping[str, Any], path: Path, number: int) -> Mapping[str, str]:
        """The file's name of each of our columns, from what was given or from the names that the file has."""
        known = catalogue()["columns"]
        found = {
            ours: self.columns.get(ours) or next((name for name in names if name in row), None)
            for ours, names in known.items()
        }
        for ours in ("premise", "hypothesis", "label"):
            if found[ours] is None or found[ours] not in row:
                named = f" '{found[ours]}'" if found[ours] else ""
                raise DataError(
                    f"no {ours} column{named} among {', '.join(row)}; name the columns: "
                    f"{path.name}?premise=…&hypothesis=…&label=…",
                    path, number,
                )  # fmt: skip
        return {ours: name for ours, name in found.items() if name}

    def _example(
        self, row: Mapping[str, Any], columns: Mapping[str, str], path: Path, number: int
    ) -> RawNli | DataError:
        values: dict[str, Any] = {ours: row.get(name) for ours, name in columns.items()}
        for ours in ("premise", "hypothesis"):
            if not isinstance(values[ours], str) or not one_form(values[ours]).strip():
                return DataError(f"the {ours} is empty or not text", path, number)
        label = self._label(values["label"])
        if label is None:
            return Unlabelled(f"no gold label ('{values['label']}')", path, number)
        if label not in LABELS:
            hint = ""
            if label.isdecimal():
                hint = "; list the labels of the integers, in order: "
                hint += f"{self.name}?classes=entailment,neutral,contradiction"
            return DataError(f"label '{values['label']}' is not one of {', '.join(LABELS)}{hint}", path, number)
        id_, note = values.get("id"), values.get("note")
        return RawNli(
            str(number if id_ in (None, "") else id_),
            values["premise"],
            values["hypothesis"],
            label,
            "" if note is None else str(note),
        )

    def _label(self, value: Any) -> str | None:
        """One of `LABELS`, None for an unlabelled row, or the value itself where it cannot be understood."""
        whole = isinstance(value, float) and value.is_integer()  # integers of a column with gaps
        text = "" if value is None else str(int(value) if whole else value).strip().lower()
        if text in catalogue()["unlabelled"]:
            return None
        if text.isdecimal() and int(text) < len(self.classes):
            return self.classes[int(text)]
        return next((label for label, spellings in catalogue()["labels"].items() if text in spellings), text)


def named_files(name: str, entry: Mapping[str, Any]) -> NliFiles:
    """The NLI set of a catalogue entry."""
    files = entry["files"] if isinstance(entry["files"], dict) else {}
    place = place_of(name, entry, "{file}" if files else entry["files"], "PAIRS.tsv, PAIRS.jsonl or PAIRS.parquet")
    languages, splits, classes = (tuple(entry.get(key, ())) for key in ("languages", "splits", "classes"))
    return NliFiles(name, place, languages, splits, entry["format"], entry["columns"], classes, files)


def _tsv_rows(path: Path) -> Iterator[Row]:
    """Rows by the names of the header line; quotes are part of the text, as in SNLI, MultiNLI and SICK."""
    header: list[str] | None = None
    for number, cells in tsv_rows(path):
        if isinstance(cells, DataError):
            yield number, cells
        elif header is None:
            header = cells
            if twice := next((name for name in header if header.count(name) > 1), None):
                raise DataError(f"two columns are called '{twice}'", path, number)
        else:
            yield number, dict(zip(header, cells, strict=True))


_READERS = {"tsv": _tsv_rows, "jsonl": json_rows, "parquet": parquet_rows}


# ----------------------------------------------------------------------------
# The sandbox's entailment pairs as an NLI corpus: drawn by rule, with gold tokens and parts of speech.


class NliSandbox:
    """An unbounded stream of pairs: nothing to read, nothing to parse, no malformed line."""

    name = "sandbox"
    splits = SANDBOX_SPLITS
    languages = sandbox.LANGUAGES
    endless = True

    def pairs(self, request: Request) -> Iterator[NliPair]:
        """The requested pairs of a split; there must be an *n*."""
        self.identity(request)  # an unknown language or split is an error first
        if request.n is None:
            raise NbkitError("NLI corpus sandbox is unbounded: set n")
        drawn = sandbox.entailment(request.src, n=request.n, split=request.split or DEFAULT_SPLIT, start=request.start)
        return (NliPair(id_, premise, hypothesis, label, rule) for id_, premise, hypothesis, label, rule in drawn)

    def raw(self, request: Request) -> Iterator[RawNli]:
        """The same as running text."""
        return (RawNli(each.id, each.premise.text, each.hypothesis.text, each.label) for each in self.pairs(request))

    def identity(self, request: Request) -> dict[str, Any]:
        """The version of the sandbox's entailment rules, and the split. Raises `UnknownNameError`."""
        if request.src not in self.languages:
            raise UnknownNameError("sandbox language", request.src, self.languages)
        if request.split is not None and request.split not in self.splits:
            raise UnknownNameError("split of NLI corpus sandbox", request.split, self.splits)
        known = sandbox.entailment_identity(request.src, split=request.split or DEFAULT_SPLIT)
        return {**known, **({"tokens": {}} if request.parsed else {})}

    def problems(self, request: Request) -> list[str]:
        """A language or a split that the sandbox does not have, and a missing *n*."""
        problems = [] if request.n else ["NLI corpus sandbox is unbounded: set n"]
        try:
            self.identity(request)
        except NbkitError as error:
            problems.insert(0, str(error))
        return problems


# ----------------------------------------------------------------------------
# Natural language inference: the sets by name, pairs of any of them, and what identifies these.
#
# A corpus is a name of `NLI_CORPORA` (``sick``, ``sick:train``) or a file of one's own: JSON lines, TSV with
# a header, or Parquet. Columns are recognised by their names or given behind a question mark:
# ``mine.tsv?premise=a&hypothesis=b&label=gold``; ``&classes=entailment,neutral,contradiction`` says what
# integer labels stand for.

NliCorpus: TypeAlias = NliFiles | NliSandbox


#: All NLI sets that have a name. Register your own: ``NLI_CORPORA.register("mine", named_files("mine", {…}))``.
NLI_CORPORA: Registry[NliCorpus] = Registry("NLI corpus")


#: Pairs that are tokenised at a time: a corpus of any size is read in as much memory as these need.
CHUNK = 1000


_SUFFIXES = {".jsonl": "jsonl", ".json": "jsonl", ".tsv": "tsv", ".txt": "tsv", ".parquet": "parquet"}


def load_nli(
    corpus: str,
    lang: str,
    *,
    split: str | None = None,
    n: int | None = None,
    start: int = 0,
    parsers: Mapping[str, str] | None = None,
    on_error: OnError = "raise",
    skipped: Skipped | None = None,
    store: Store | None = None,
) -> Iterator[NliPair]:
    """Yield the pairs ``start … start + n - 1`` of an NLI set (all without *n*), tokenised.

    corpus: a name, ``name:split`` or a path (see this module). lang: the language it is written in. parsers: language
    to tokenizer: a spaCy pipeline (name or folder), "tokenizer" or "jieba"; see `nbkit.corpora.nli`. The sandbox needs
    none. on_error: "raise" ends with the first malformed row, "skip" skips it and adds it to *skipped*. Rows without a
    gold label are always skipped and added to *skipped*. Neither counts towards *n* and *start*. store: where parses
    are stored (default: `Store()`).

    Raises `UnknownNameError` (corpus, split), `MissingExtraError` (parser), `DataError` (file and line), `NbkitError`
    (language, files, hub).
    """
    found, request = _found(corpus, Request(lang, lang, split, n, parsers, on_error, skipped, store, start))
    return found.pairs(request)


def raw_nli(
    corpus: str,
    lang: str,
    *,
    split: str | None = None,
    n: int | None = None,
    start: int = 0,
    on_error: OnError = "raise",
    skipped: Skipped | None = None,
) -> Iterator[tuple[str, str, str]]:
    """Premise, hypothesis and label as running text, for training: no tokenizer, no parser. Otherwise as `load_nli`."""
    found, request = _found(corpus, Request(lang, lang, split, n, None, on_error, skipped, start=start))
    return ((pair.premise, pair.hypothesis, pair.label) for pair in found.raw(request))


def nli_identity(
    corpus: str,
    lang: str,
    *,
    split: str | None = None,
    n: int | None = None,
    parsers: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """What identifies the pairs of `load_nli` in cache keys: the file's digest or pinned revision, how it is read, the
    tokenizer's identity, language and *n*. Reads files but parses nothing.
    """
    found, request = _found(corpus, Request(lang, lang, split, n, parsers))
    return {**found.identity(request), "lang": lang, "n": n}


def nli_tokenizer(corpus: str, lang: str, parsers: Mapping[str, str] | None = None) -> tuple[str, bool]:
    """What cuts the texts of *corpus* into tokens, and whether it tags parts of speech.

    >>> nli_tokenizer("sandbox", "en"), nli_tokenizer("sick", "en", {"en": "tokenizer"})
    (('gold', True), ('tokenizer', False))
    """
    spec = "gold" if isinstance(find_nli(corpus)[0], NliSandbox) else tokenizer_for(lang, parsers)
    return spec, has_parts_of_speech(spec)


def check_nli(
    corpus: str,
    lang: str,
    *,
    split: str | None = None,
    n: int | None = None,
    parsers: Mapping[str, str] | None = None,
    on_error: OnError = "raise",
) -> list[str]:
    """The problems that would stop `load_nli`, one message each.

    Local files are read as far as the first *n* pairs, and the first malformed row is named. Loads no parser.

    >>> check_nli("sik", "en", n=10)
    ["unknown NLI corpus 'sik'; did you mean 'sick'? There are: ..."]
    """
    try:
        found, request = _found(corpus, Request(lang, lang, split, n, parsers, on_error))
    except NbkitError as error:
        return [str(error)]
    return found.problems(request)


def find_nli(spec: str) -> tuple[NliCorpus, str | None]:
    """The NLI set that *spec* refers to, and the split it names.

    Raises `UnknownNameError` with the closest name, `NbkitError` for a path that cannot be a corpus.

    >>> find_nli("sick:train")[1], find_nli("snli")[0].splits
    ('train', ('test', 'dev', 'train'))
    >>> find_nli("mine.tsv?label=gold")[0].columns
    {'label': 'gold'}
    """
    path, question, query = spec.partition("?")
    suffix = next((suffix for suffix in _SUFFIXES if path.endswith(suffix)), None)
    if suffix:
        return _own_file(spec, path, _SUFFIXES[suffix], query if question else ""), None
    head, colon, split = path.partition(":")
    if head in NLI_CORPORA:
        if colon and not split:
            raise NbkitError(f"NLI corpus '{spec}' lacks the split after the colon")
        return NLI_CORPORA.get(head), split or None
    if "/" in spec:
        raise NbkitError(f"NLI corpus '{spec}' has an unknown format; its name must end in {', '.join(_SUFFIXES)}")
    raise UnknownNameError("NLI corpus", head, NLI_CORPORA.names())


def _own_file(spec: str, path: str, format_name: str, query: str) -> NliFiles:
    given = dict(parse_qsl(query.replace("+", "%2B")))  # a plus is a plus in names of columns
    classes = tuple(given.pop("classes", "").split(",")) if "classes" in given else ()
    unknown = next((name for name in given if name not in catalogue()["columns"]), None)
    if unknown:
        raise UnknownNameError(f"column of NLI corpus '{spec}'", unknown, [*catalogue()["columns"], "classes"])
    if classes and sorted(classes) != sorted(LABELS):
        raise NbkitError(
            f"NLI corpus '{spec}': classes must be {', '.join(LABELS)}, in the order of the file's integers"
        )
    return NliFiles(path, LocalPlace(path, path), format=format_name, columns=given, classes=classes)


def _found(corpus: str, request: Request) -> tuple[NliCorpus, Request]:
    """The corpus and what is asked of it, with the split that its name has, checked."""
    found, named = find_nli(corpus)
    check_language(request.src)
    if request.split and named and request.split != named:
        raise NbkitError(
            f"NLI corpus '{corpus}' names the split '{named}', but split is '{request.split}'; give only one of them"
        )
    request.check(f"NLI corpus {corpus}")
    return found, replace(request, split=request.split or named)


def _labelled(rows: Iterator[RawNli | DataError], skipped: Skipped | None) -> Iterator[RawNli | DataError]:
    """*rows* without those that have no gold label, which are counted and never an error."""
    for row in rows:
        if not isinstance(row, Unlabelled):
            yield row
        elif skipped is not None:
            skipped.append(row)


def _tokenised(raw: Iterator[RawNli], spec: str, lang: str, store: Store) -> Iterator[NliPair]:
    while chunk := list(islice(raw, CHUNK)):
        texts = tokenised([text for pair in chunk for text in (pair.premise, pair.hypothesis)], spec, lang, store)
        for pair, premise, hypothesis in zip(chunk, texts[::2], texts[1::2], strict=True):
            yield NliPair(pair.id, premise, hypothesis, pair.label, pair.note)


def _register() -> None:
    for name, entry in catalogue()["corpora"].items():
        found = named_files(name, entry) if "files" in entry else NliSandbox()
        about = {each: entry.get(each, "") for each in ("summary", "domain", "licence")}
        NLI_CORPORA.register(name, found, **about)


_register()
