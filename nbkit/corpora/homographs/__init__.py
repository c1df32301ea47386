"""Homographs, their senses, and the translations that distinguish the senses: nbkit's list and published files.

>>> lexicon = load_homographs("own")
>>> len(lexicon) >= 40, lexicon.cluster_of("spring", "Quelle").name
(True, 'water')
"""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

import yaml

from nbkit import yaml_text
from nbkit.corpora.sandbox import homograph_lexicon
from nbkit.errors import DataError, NbkitError, UnknownNameError, as_problem, closest
from nbkit.files import expand_path, read_text
from nbkit.languages import LanguageDataError, check_language
from nbkit.registry import Registry
from nbkit.yaml_text import line_of

# ----------------------------------------------------------------------------
# What a homograph lexicon is: words, their senses, and the translations that distinguish the senses.


#: What files have around some translations.
_AROUND = " \t\u00a0,;"


def translation_key(word: str) -> str:
    """A key for all spellings of a translation: it ignores case, *ß* or *ss*, and commas or blanks around it.

    >>> translation_key("Maßstab ,") == translation_key("massstab")
    True
    """
    return unicodedata.normalize("NFC", word).strip(_AROUND).casefold()


class Conflict(NamedTuple):
    """A translation that occurs in several clusters of a homograph. place: file and line of the second one."""

    homograph: str
    translation: str
    clusters: tuple[str, ...]
    place: str = ""

    def __str__(self) -> str:
        names = " and ".join(f"'{name}'" for name in self.clusters)
        found = f"'{self.translation}' translates '{self.homograph}' in the clusters {names}"
        return f"{found}: it does not identify one sense"


@dataclass(frozen=True)
class SenseCluster:
    """One sense of a homograph: translations that mean the same.

    name: unique within the homograph. translations: lemmas (published lexicons contain inflected forms too). gloss: the
    meaning of the sense, in the source language; empty if the file has none.
    """

    name: str
    translations: frozenset[str]
    gloss: str = ""

    @cached_property
    def keys(self) -> frozenset[str]:
        """The `translation_key` of each translation."""
        return frozenset(map(translation_key, self.translations))

    @property
    def label(self) -> str:
        """The name in tables: the cluster's name, or the first translation if names are numbers.

        >>> SenseCluster("3", frozenset({"Ufer", "Böschung"})).label
        'Böschung'
        """
        return min(self.translations) if self.name.isdigit() else self.name


@dataclass(frozen=True)
class Homograph:
    """A word with unrelated senses, one cluster per sense.

    word: lemma, in lower case. ambiguous: translations that are known not to distinguish the senses (*Bass* of *bass*).
    shared: the clusters that these may belong to, by their `translation_key`, if the file says so.
    Raises `NbkitError` for fewer than two clusters, two clusters of the same name, an empty one, and a translation that
    occurs in two of them.

    Source: disambiguation paper, §2.1 (homographs; sense clusters), Table 11.

    >>> door, hair = SenseCluster("door", frozenset({"Schloss"})), SenseCluster("hair", frozenset({"Locke"}))
    >>> lock = Homograph("lock", (door, hair))
    >>> lock.cluster_of("Schloß").name, lock.cluster_of("Tor")
    ('door', None)
    """

    word: str
    clusters: tuple[SenseCluster, ...]
    ambiguous: frozenset[str] = frozenset()
    shared: Mapping[str, frozenset[str]] = field(default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        names = [cluster.name for cluster in self.clusters]
        if len(names) < 2:
            raise NbkitError(f"homograph '{self.word}' has {len(names)} sense clusters; at least two are expected")
        for cluster in self.clusters:
            if names.count(cluster.name) > 1:
                raise NbkitError(f"homograph '{self.word}' has two clusters called '{cluster.name}'")
            if not cluster.translations or "" in cluster.keys:
                problem = f"the cluster '{cluster.name}' has no translation, or an empty one"
                raise NbkitError(f"homograph '{self.word}': {problem}")
        for conflict in self.conflicts():
            raise NbkitError(str(conflict))

    def conflicts(self) -> list[Conflict]:
        """The translations that occur in more than one cluster, or in one and among the ambiguous ones."""
        listed = [*((cluster.name, cluster.translations) for cluster in self.clusters), ("ambiguous", self.ambiguous)]
        return find_conflicts(self.word, listed)

    @cached_property
    def by_key(self) -> dict[str, SenseCluster]:
        """The cluster of each translation, by `translation_key`."""
        return {key: cluster for cluster in self.clusters for key in sorted(cluster.keys)}

    @cached_property
    def ambiguous_keys(self) -> frozenset[str]:
        """The `translation_key` of each ambiguous translation."""
        return frozenset(map(translation_key, self.ambiguous))

    def cluster(self, name: str) -> SenseCluster:
        """The cluster of this name. Raises `UnknownNameError`."""
        known = {cluster.name: cluster for cluster in self.clusters}
        if name not in known:
            raise UnknownNameError(f"sense of '{self.word}'", name, known)
        return known[name]

    def cluster_of(self, lemma: str) -> SenseCluster | None:
        """The cluster that has *lemma* among its translations; None if *lemma* is unknown or ambiguous."""
        return self.by_key.get(translation_key(lemma))


def find_conflicts(word: str, clusters: Iterable[tuple[str, Iterable[str]]]) -> list[Conflict]:
    """The translations that occur in more than one of (name, translations), sorted.

    >>> [conflict.translation for conflict in find_conflicts("bar", [("rod", ["Riegel"]), ("piece", ["riegel"])])]
    ['Riegel']
    """
    seen: dict[str, list[tuple[str, str]]] = {}
    for name, translations in clusters:
        for translation in sorted(translations):
            places = seen.setdefault(translation_key(translation), [])
            if name not in [place for place, _ in places]:
                places.append((name, translation))
    return [
        Conflict(word, places[0][1], tuple(name for name, _ in places))
        for _, places in sorted(seen.items())
        if len(places) > 1
    ]


@dataclass(frozen=True)
class HomographLexicon:
    """Homographs of one language with their translations into another.

    name: registered name, or file name. homographs: by word. dropped: the conflicts removed from a published file
    (``on_conflict="drop"``); their translations count as ambiguous.

    >>> lexicon = HomographLexicon("mine", "en", "de", {"lock": Homograph("lock", (
    ...     SenseCluster("door", frozenset({"Schloss"})), SenseCluster("hair", frozenset({"Locke"}))))})
    >>> lexicon.cluster_of("lock", "Locke").name, lexicon.cluster_of("lock", "Tür"), lexicon.cluster_of("key", "Taste")
    ('hair', None, None)
    """

    name: str
    src: str
    tgt: str
    homographs: Mapping[str, Homograph]
    dropped: tuple[Conflict, ...] = ()

    def __post_init__(self) -> None:
        if not self.homographs:
            raise NbkitError(f"homograph lexicon '{self.name}' contains no homograph")
        for word, homograph in self.homographs.items():
            if word != homograph.word or word != word.lower():
                problem = f"'{homograph.word}' is listed under '{word}'; expected lower case"
                raise NbkitError(f"homograph lexicon '{self.name}': {problem}")

    def __len__(self) -> int:
        return len(self.homographs)

    def cluster_of(self, word: str, lemma: str) -> SenseCluster | None:
        """The sense of the homograph *word* that *lemma* translates; None if no single one is known."""
        homograph = self.homographs.get(word)
        return None if homograph is None else homograph.cluster_of(lemma)

    @cached_property
    def digest(self) -> str:
        """Identifies languages, senses and translations in a cache key; name and glosses do not change any result."""
        content = {
            word: [[cluster.name, sorted(cluster.keys)] for cluster in homograph.clusters]
            + [["", sorted(homograph.ambiguous_keys)]]
            + [[key, sorted(names)] for key, names in sorted(homograph.shared.items())]
            for word, homograph in sorted(self.homographs.items())
        }
        text = json.dumps([self.src, self.tgt, content], ensure_ascii=False)
        return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


# ----------------------------------------------------------------------------
# Homograph lexicons in files: the project's YAML, and the JSON that the paper's authors published.
#
# YAML (see ``en-de.yaml``): ``source``, ``target`` and ``homographs``, a list of senses for each word. JSON:
# homograph → cluster number → ``[SENSES]`` (translations, inflected forms among them), ``[SOURCE GLOSSES]``
# ([text, dictionary] pairs), ``[AMBIGUOUS SENSES]`` and ``[BLACKLISTED SENSES]`` (taken out of ``[SENSES]``
# by the authors: they do not tell the sense), and keys that nothing is read from.

#: What happens to a translation in two clusters of one homograph. "raise": the file is refused. "drop": it is taken out
#: of all of them, becomes ambiguous and is listed in `HomographLexicon.dropped`.
OnConflict: TypeAlias = Literal["raise", "drop"]


_THING = "homograph lexicon"
_FILE_KEYS = ("source", "target", "homographs")


_SENSE_KEYS = ("sense", "gloss", "translations", "ambiguous")


@dataclass
class _Cluster:
    name: str
    line: int
    translations: dict[str, int] = field(default_factory=dict)  # each with its line
    gloss: str = ""


@dataclass
class _Entry:
    word: str
    line: int
    clusters: list[_Cluster] = field(default_factory=list)
    ambiguous: dict[str, int] = field(default_factory=dict)
    shared: dict[str, set[str]] = field(default_factory=dict)  # the clusters of each, where they are known

    def share(self, translation: str, cluster: str) -> None:
        self.shared.setdefault(translation_key(translation), set()).add(cluster)

    def conflicts(self, path: Path) -> list[Conflict]:
        """Translations in several clusters, each with the line of the last one."""
        listed = [*((each.name, each.translations) for each in self.clusters), ("ambiguous", self.ambiguous)]
        lines: dict[str, int] = {}
        for _, translations in listed:
            for each, line in translations.items():
                lines[translation_key(each)] = max(lines.get(translation_key(each), self.line), line)
        found = find_conflicts(self.word, listed)
        return [each._replace(place=f"{path.name}:{lines[translation_key(each.translation)]}") for each in found]

    def drop(self, conflict: Conflict) -> None:
        """Make the translation of a conflict ambiguous."""
        key = translation_key(conflict.translation)
        for cluster in self.clusters:
            cluster.translations = {
                each: line for each, line in cluster.translations.items() if translation_key(each) != key
            }
        self.ambiguous[conflict.translation] = self.line
        for name in set(conflict.clusters) - {"ambiguous"}:
            self.share(conflict.translation, name)


def read_yaml(path: Path, name: str, *, on_conflict: OnConflict = "raise") -> HomographLexicon:
    """The lexicon in a YAML file of the project's schema. Raises `DataError` with file and line."""
    root = yaml_text.compose(read_text(path, _THING), path, "invalid YAML")
    sections = _mapping(root, path, "source, target and homographs", _FILE_KEYS)
    for key in _FILE_KEYS:
        if key not in sections:
            raise DataError(f"'{key}' is missing; expected source, target and homographs", path, 1)
    src, tgt = (_scalar(sections[key], path, key) for key in ("source", "target"))
    words = _mapping(sections["homographs"], path, "homographs with their senses")
    entries = [_yaml_entry(word, node, path) for word, node in words.items()]
    return _lexicon(entries, path, name, src, tgt, on_conflict)


def _yaml_entry(word: str, node: yaml.Node, path: Path) -> _Entry:
    entry = _Entry(word, line_of(node))
    for item in _items(node, path, f"{word}: expected a list of senses"):
        values = _mapping(item, path, f"{word}: sense, gloss and translations", _SENSE_KEYS)
        if "ambiguous" in values:
            if len(values) > 1:
                raise DataError(f"{word}: write 'ambiguous' as a separate entry", path, line_of(item))
            entry.ambiguous |= _words(values["ambiguous"], path, word)
            continue
        for key in ("sense", "translations"):
            if key not in values:
                raise DataError(f"{word}: a sense lacks '{key}'", path, line_of(item))
        name = _scalar(values["sense"], path, f"{word}: sense")
        gloss = _scalar(values["gloss"], path, f"{word}: gloss") if "gloss" in values else ""
        entry.clusters.append(_Cluster(name, line_of(item), _words(values["translations"], path, word), gloss))
    return entry


def read_published(path: Path, name: str, src: str, tgt: str, *, on_conflict: OnConflict = "raise") -> HomographLexicon:
    """The lexicon in a JSON file of the paper's format. Raises `DataError` with file and line.

    ``[AMBIGUOUS SENSES]`` and ``[BLACKLISTED SENSES]`` are ambiguous here. Blanks and commas around a translation are
    stripped; repeats within a cluster count once. The published file has no language codes: pass them as *src* and
    *tgt*. It is read as the YAML that it is, whose nodes know their lines.
    """
    root = yaml_text.compose(read_text(path, _THING), path, "invalid JSON")
    entries = []
    for word, clusters in _mapping(root, path, "homographs with their clusters").items():
        entry = _Entry(word, line_of(clusters))
        for number, values in _mapping(clusters, path, f"{word}: numbered clusters").items():
            _published_cluster(entry, number, values, path)
        entries.append(entry)
    return _lexicon(entries, path, name, src, tgt, on_conflict)


def _published_cluster(entry: _Entry, number: str, node: yaml.Node, path: Path) -> None:
    thing, line = f"{entry.word}, cluster {number}", line_of(node)
    fields = _mapping(node, path, f"{thing}: an object with [SENSES]")
    if "[SENSES]" not in fields:
        raise DataError(f"{thing}: expected [SENSES], found {', '.join(fields) or 'nothing'}", path, line)
    senses, *outside = (
        _words(fields[key], path, f"{thing}, {key}") if key in fields else {}
        for key in ("[SENSES]", "[AMBIGUOUS SENSES]", "[BLACKLISTED SENSES]")
    )
    ambiguous = outside[0] | outside[1]
    entry.ambiguous |= ambiguous
    if senses:
        gloss: Any = fields.get("[SOURCE GLOSSES]")
        while isinstance(gloss, yaml.SequenceNode) and gloss.value:  # the text of the first pair
            gloss = gloss.value[0]
        text = gloss.value.strip() if isinstance(gloss, yaml.ScalarNode) else ""
        entry.clusters.append(_Cluster(number, line, senses, text))
        for word in ambiguous:
            entry.share(word, number)


class MucowItem(NamedTuple):
    """A sentence of MuCoW: the ambiguous word, and the translations of its right sense and of the others."""

    corpus: str
    word: str
    right: tuple[str, ...]
    wrong: tuple[str, ...]


def read_mucow(path: Path) -> list[MucowItem]:
    """The items of a file ``PAIR.key.txt`` of MuCoW (Raganato et al. 2019), one per line of ``PAIR.text.txt``.

    Raises `DataError` with the line.
    """
    items = []
    for number, line in enumerate(read_text(path, _THING).splitlines(), start=1):
        cells = line.split("\t")
        if len(cells) != 5 or not all(map(str.strip, cells)):
            raise DataError("id, corpus, word, right words and wrong words expected, with tabs between", path, number)
        items.append(MucowItem(cells[1], cells[2], tuple(cells[3].split()), tuple(cells[4].split())))
    return items


def mucow_homographs(
    path: Path, name: str, src: str, tgt: str, *, on_conflict: OnConflict = "raise"
) -> HomographLexicon:
    """The words of a file of MuCoW: a sense, called by its first translation, for each set of right words.

    Wrong words that are nowhere right belong to a sense "other". Raises `DataError` with file and line.
    """
    entries: dict[str, _Entry] = {}
    wrong: dict[str, dict[str, int]] = {}
    for number, item in enumerate(read_mucow(path), start=1):
        entry = entries.setdefault(item.word, _Entry(item.word, number))
        if all(each.translations.keys() != {*item.right} for each in entry.clusters):
            entry.clusters.append(_Cluster(item.right[0], number, dict.fromkeys(item.right, number)))
        wrong.setdefault(item.word, {}).update(dict.fromkeys(item.wrong, number))
    for word, entry in entries.items():
        known = {each for cluster in entry.clusters for each in cluster.translations}
        if rest := {each: line for each, line in wrong[word].items() if each not in known}:
            entry.clusters.append(_Cluster("other", entry.line, rest))
    return _lexicon(entries.values(), path, name, src, tgt, on_conflict)


def _lexicon(
    entries: Iterable[_Entry], path: Path, name: str, src: str, tgt: str, on_conflict: OnConflict
) -> HomographLexicon:
    homographs, dropped = {}, []
    for entry in entries:
        conflicts = entry.conflicts(path)
        if conflicts and on_conflict == "raise":
            raise DataError(str(conflicts[0]), path, int(conflicts[0].place.rpartition(":")[2]))
        for conflict in conflicts:
            entry.drop(conflict)
        dropped += conflicts
        if dropped:  # a sense that lost all of its translations can never be identified
            entry.clusters = [cluster for cluster in entry.clusters if cluster.translations]
        clusters = tuple(SenseCluster(each.name, frozenset(each.translations), each.gloss) for each in entry.clusters)
        shared = {key: frozenset(names) for key, names in entry.shared.items()}
        try:
            homographs[entry.word] = Homograph(entry.word, clusters, frozenset(entry.ambiguous), shared)
        except NbkitError as error:
            raise DataError(str(error), path, entry.line) from None
    try:
        return HomographLexicon(name, src, tgt, homographs, tuple(dropped))
    except NbkitError as error:
        raise DataError(str(error), path) from None


def _mapping(node: yaml.Node | None, path: Path, what: str, keys: Sequence[str] = ()) -> dict[str, yaml.Node]:
    """The values of a mapping by key. keys: those that there are; none: any."""
    if not isinstance(node, yaml.MappingNode):
        thing, colon, expected = what.rpartition(": ")
        raise DataError(f"{thing}{colon}expected {expected}", path, line_of(node) if node else 1)
    found: dict[str, yaml.Node] = {}
    for key_node, value in node.value:
        key = _scalar(key_node, path, "name")
        if keys and key not in keys:
            guess = closest(key, keys)
            way_out = f"did you mean '{guess}'?" if guess else f"there are: {', '.join(keys)}"
            raise DataError(f"unknown '{key}'; {way_out}", path, line_of(key_node))
        if key in found:
            raise DataError(f"'{key}' is listed twice", path, line_of(key_node))
        found[key] = value
    return found


def _items(node: yaml.Node, path: Path, problem: str) -> list[yaml.Node]:
    if not isinstance(node, yaml.SequenceNode):
        raise DataError(problem, path, line_of(node))
    return node.value


def _words(node: yaml.Node, path: Path, thing: str) -> dict[str, int]:
    """The translations in a list, each with its line."""
    listed = _items(node, path, f"{thing}: expected a list of translations")
    words = {_scalar(item, path, f"{thing}: translation").strip(_AROUND): line_of(item) for item in listed}
    if "" in words:
        raise DataError(f"{thing}: translation: expected text", path, words[""])
    return words


def _scalar(node: yaml.Node, path: Path, what: str) -> str:
    if not isinstance(node, yaml.ScalarNode) or not str(node.value).strip():
        raise DataError(f"{what}: expected text", path, line_of(node))
    return str(node.value).strip()


# ----------------------------------------------------------------------------
# The sandbox's homographs as a lexicon: what its sentences were made from, so that every sense is told.


def sandbox_homographs(tgt: str = "de") -> HomographLexicon:
    """The homographs of the sandbox's mixture ``homographs``. Raises `UnknownNameError` for an unknown language.

    >>> sandbox_homographs("de").cluster_of("bank", "Ufer").name
    'river'
    """
    homographs = {
        word: Homograph(word, tuple(SenseCluster(name, frozenset(words)) for name, words in clusters.items()))
        for word, clusters in homograph_lexicon(tgt).items()
    }
    return HomographLexicon("sandbox", "en", tgt, homographs)


# ----------------------------------------------------------------------------
# Lexicons that add up: words of another one, and repairs of the published one.


def joined(lexicon: HomographLexicon, other: HomographLexicon) -> HomographLexicon:
    """*lexicon* with the words that *other* alone has."""
    homographs = {**other.homographs, **lexicon.homographs}
    return replace(lexicon, homographs=dict(sorted(homographs.items())))


def repaired(lexicon: HomographLexicon, repairs: Mapping[str, Sequence[Mapping[str, Any]]]) -> HomographLexicon:
    """*lexicon* with changed senses: what nbkit adds to a published lexicon, which stays as it is.

    repairs: for each word a list. ``{sense, translations, merges}`` moves translations into a sense, which is made if
    there is none of this name, together with all those of the senses that it merges; ``{ambiguous}`` takes translations
    out of all senses. Words that *lexicon* does not have are skipped.

    >>> lexicon = HomographLexicon("mine", "en", "de", {"lock": Homograph("lock", (
    ...     SenseCluster("door", frozenset({"Schloss"})), SenseCluster("hair", frozenset({"Locke", "Riegel"}))))})
    >>> mended = repaired(lexicon, {"lock": [{"sense": "door", "translations": ["Riegel"]}]})
    >>> mended.cluster_of("lock", "Riegel").name, lexicon.cluster_of("lock", "Riegel").name
    ('door', 'hair')
    """
    homographs = dict(lexicon.homographs)
    for word in repairs.keys() & homographs.keys():
        homographs[word] = _repaired(homographs[word], repairs[word])
    return replace(lexicon, homographs=homographs)


def _repaired(homograph: Homograph, changes: Sequence[Mapping[str, Any]]) -> Homograph:
    senses: dict[str, set[str]] = {each.name: set(each.translations) for each in homograph.clusters}
    glosses = {each.name: each.gloss for each in homograph.clusters}
    ambiguous, shared = set(homograph.ambiguous), {key: set(names) for key, names in homograph.shared.items()}
    for change in changes:
        moved = {translation_key(each): each for each in change.get("translations", change.get("ambiguous", ()))}
        for name, words in senses.items():
            taken = {each for each in words if translation_key(each) in moved}
            words -= taken
            for each in taken if "ambiguous" in change else ():
                shared.setdefault(translation_key(each), set()).add(name)
        ambiguous = {each for each in ambiguous if translation_key(each) not in moved}
        if "ambiguous" in change:
            ambiguous.update(moved.values())
            continue
        sense = senses.setdefault(change["sense"], set())
        sense.update(moved.values())
        for merged in change.get("merges", ()):
            sense |= senses.pop(merged)
            for names in shared.values():
                if merged in names:
                    names.remove(merged)
                    names.add(change["sense"])
    clusters = (SenseCluster(name, frozenset(words), glosses.get(name, "")) for name, words in senses.items() if words)
    same = {key: frozenset(names) for key, names in shared.items()}
    return Homograph(homograph.word, tuple(clusters), frozenset(ambiguous), same)


# ----------------------------------------------------------------------------
# Lexicons by name or file.

#: How the files end that say what is right in MuCoW.
MUCOW = ".key.txt"
#: Names to functions of the target language.
HOMOGRAPHS: Registry[Callable[[str], HomographLexicon]] = Registry("homograph lexicon")


def load_homographs(
    spec: str, tgt: str = "de", *, src: str = "en", on_conflict: OnConflict = "raise"
) -> HomographLexicon:
    """Load a homograph lexicon by name or from a file.

    Parameters
    ----------
    spec : str
        A name of `HOMOGRAPHS` (``own``, ``sandbox``), or a path that ends in .yaml (the project's schema), .json (the
        paper's published format) or .key.txt (MuCoW), in which environment variables are filled in. ``+repairs`` behind
        it corrects the published senses (`repaired`, by ``repairs-en-de.yaml``), ``+own`` adds the words that only
        nbkit's list has.
    tgt, src : str
        Languages of the translations and of the homographs.
    on_conflict : {"raise", "drop"}
        What happens to a translation that occurs in two clusters of a homograph: "raise" rejects the file, "drop" makes
        the translation ambiguous and lists it in `HomographLexicon.dropped`. Registered lexicons have no conflicts.

    Returns
    -------
    HomographLexicon
        The homographs by word.

    Raises
    ------
    UnknownNameError
        For an unknown name.
    DataError
        For a bad entry, with file and line.
    NbkitError
        For a file that cannot be read, or that is for other languages.

    References
    ----------
    Disambiguation paper, §2.1 and Table 11.

    Examples
    --------
    >>> load_homographs("owm")
    Traceback (most recent call last):
    nbkit.errors.UnknownNameError: unknown homograph lexicon 'owm'; did you mean 'own'? There are: ...
    """
    if on_conflict not in ("raise", "drop"):
        raise UnknownNameError("on_conflict", on_conflict, ["raise", "drop"])
    base, plus, addition = spec.rpartition("+")
    if plus and addition in _ADDITIONS:
        lexicon = load_homographs(base, tgt, src=src, on_conflict=on_conflict)
        return _ADDITIONS[addition](replace(lexicon, name=f"{lexicon.name}+{addition}"))
    if spec in HOMOGRAPHS:
        return _check_languages(HOMOGRAPHS.get(spec)(tgt), spec, src, tgt)
    suffix = MUCOW if spec.endswith(MUCOW) else Path(spec).suffix.lower()
    if suffix not in (".yaml", ".yml", ".json", MUCOW):
        if "/" in spec or "$" in spec or suffix:
            raise NbkitError(f"homograph lexicon '{spec}': expected a path that ends in .yaml, .json or {MUCOW}")
        raise UnknownNameError("homograph lexicon", spec, HOMOGRAPHS.names())
    path = Path(expand_path(spec, _THING))
    if suffix == MUCOW:
        return mucow_homographs(path, path.name, src, tgt, on_conflict=on_conflict)
    if suffix == ".json":
        return read_published(path, path.name, src, tgt, on_conflict=on_conflict)
    return _check_languages(read_yaml(path, path.name, on_conflict=on_conflict), str(path), src, tgt)


def _check_languages(lexicon: HomographLexicon, shown: str, src: str, tgt: str) -> HomographLexicon:
    for kind, its, wanted in (("homographs of", lexicon.src, src), ("translations into", lexicon.tgt, tgt)):
        if its != wanted:
            raise NbkitError(f"homograph lexicon {shown} has {kind} '{its}', not '{wanted}'")
    return lexicon


@as_problem
def check_homographs(spec: str, tgt: str = "de", *, src: str = "en", on_conflict: OnConflict = "raise") -> str | None:
    """Why the lexicon cannot be used, or None.

    >>> check_homographs("own"), check_homographs("own", "ja")
    (None, 'there are no homographs with translations for Japanese (ja), only for de: ...')
    """
    load_homographs(spec, tgt, src=src, on_conflict=on_conflict)
    return None


@cache
def own_homographs(tgt: str = "de") -> HomographLexicon:
    """nbkit's own English homographs, ``en-{tgt}.yaml``. Raises `LanguageDataError` if there are none."""
    folder = files(__package__)
    known = sorted(file.name[3:-5] for file in folder.iterdir() if re.fullmatch(r"en-\w+\.yaml", file.name))
    if check_language(tgt) not in known:
        way_out = "give the run its own lexicon (lexicon: FILE, such as nbkit/corpora/homographs/en-de.yaml)"
        raise LanguageDataError("homographs with translations", tgt, known, way_out)
    with as_file(folder / f"en-{tgt}.yaml") as path:
        return read_yaml(path, "own")


@cache
def _repairs(pair: str) -> dict[str, Any]:
    place = Path(__file__).with_name(f"repairs-{pair}.yaml")
    if not place.is_file():
        raise NbkitError(f"homograph lexicon: there are no repairs for {pair}; drop '+repairs'")
    return yaml_text.load(place.read_text(encoding="utf-8"), place)[1]


#: What may stand behind a lexicon.
_ADDITIONS: dict[str, Callable[[HomographLexicon], HomographLexicon]] = {
    "own": lambda lexicon: joined(lexicon, own_homographs(lexicon.tgt)),
    "repairs": lambda lexicon: repaired(lexicon, _repairs(f"{lexicon.src}-{lexicon.tgt}")),
}

HOMOGRAPHS.register("own", own_homographs, summary="nbkit's own English noun homographs, into German")


HOMOGRAPHS.register(
    "sandbox", "nbkit.corpora.homographs:sandbox_homographs", summary="the homographs of the built-in world"
)
