"""Attacks on word-sense disambiguation: an adjective that goes with another sense, beside the homograph or elsewhere.

In the order of the file: edits of a sentence; grammar errors by LanguageTool; which seeds and samples models and
biases keep; candidates and the constraints on them.

Source: "Detecting Word Sense Disambiguation Biases in Machine Translation for Model-Agnostic Adversarial Attacks",
§3.1 and §3.3.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from importlib.util import find_spec
from typing import Any

import numpy as np

from nbkit.corpora.homographs import Homograph
from nbkit.errors import MissingExtraError, NbkitError, install
from nbkit.store import Store
from nbkit.text.sentences import ROOT, Sentence, Text
from nbkit.yaml_text import read_own

# ----------------------------------------------------------------------------
# Edits of a `Sentence`: one word put in, or one word put in the place of another.
#
# Every other token stays as it is, and so do the heads that pointed to it: `Edited.origin` says where it was.
# Perturbations of word order insert nothing and are elsewhere (`nbkit.perturb.reorderings`).


@dataclass(frozen=True)
class Edited:
    """A sentence after an edit.

    sentence: the new sentence. origin: for each of its tokens the index of the same token in the seed, None for the
    word that is new.
    """

    sentence: Sentence
    origin: tuple[int | None, ...]

    @property
    def new(self) -> int:
        """Index of the new word."""
        return self.origin.index(None)


def insert_word(sentence: Sentence, at: int, word: str, *, head: int) -> Edited:
    """*word* put in before token *at*, as an adjective that depends on token *head* (an index before the edit).

    A space follows it. Raises `NbkitError` for places outside the sentence, and for a word with white space in it.

    >>> seed = Sentence(("She", "loves", "spring", "."), "en", (True, True, False, False), heads=(1, -1, 1, 1))
    >>> edited = insert_word(seed, 2, "hot", head=2)
    >>> edited.sentence.text, edited.sentence.heads, edited.origin
    ('She loves hot spring.', (1, -1, 3, 1, 1), (0, 1, None, 2, 3))
    """
    _check(sentence, word, at, head)
    origin = (*range(at), None, *range(at, len(sentence)))
    moved = [token + (token >= at) for token in range(len(sentence))]
    new: dict[str, Any] = {"tokens": word, "spaces": True, "deprels": "amod", **_as_adjective(word)}
    columns = _with(sentence, at, 0, new)
    if sentence.heads is not None:
        heads = [ROOT if each == ROOT else moved[each] for each in sentence.heads]
        columns["heads"] = (*heads[:at], moved[head], *heads[at:])
    return Edited(replace(sentence, **columns), origin)


def replace_word(sentence: Sentence, at: int, word: str) -> Edited:
    """*word* in the place of token *at*, with its head, its dependents and, at the beginning, its capital letter.

    Raises `NbkitError` for a place outside the sentence, and for a word with white space in it.

    >>> seed = Sentence(("New", "spring", "!"), "en", (True, False, False))
    >>> replace_word(seed, 0, "hot").sentence.text
    'Hot spring!'
    """
    _check(sentence, word, at)
    written = word[:1].upper() + word[1:] if at == 0 and sentence.tokens[0][:1].isupper() else word
    columns = _with(sentence, at, 1, {"tokens": written, **_as_adjective(word)})
    origin = tuple(None if token == at else token for token in range(len(sentence)))
    return Edited(replace(sentence, **columns), origin)


def edited_text(text: Text, sentence: int, edited: Edited) -> tuple[Text, tuple[int | None, ...]]:
    """*text* with its sentence number *sentence* edited, and the origin of each token over the whole text.

    >>> text = Text((Sentence(("Hi", "!"), "en"), Sentence(("Spring", "!"), "en")))
    >>> edited_text(text, 1, replace_word(text.sentences[1], 0, "winter"))[1]
    (0, 1, None, 3)
    """
    sentences = list(text.sentences)
    start = sum(len(each) for each in sentences[:sentence])
    end = start + len(sentences[sentence])
    sentences[sentence] = edited.sentence
    own = tuple(None if token is None else token + start for token in edited.origin)
    return Text(tuple(sentences)), (*range(start), *own, *range(end, len(text)))


def _check(sentence: Sentence, word: str, *places: int) -> None:
    for at in places:
        if not 0 <= at < len(sentence):
            raise NbkitError(f"{sentence.joined!r} has {len(sentence)} tokens, but no token {at}")
    if not word or word.split() != [word]:
        raise NbkitError(f"insert one word at a time, found {word!r}")


def _as_adjective(word: str) -> dict[str, str]:
    return {"upos": "ADJ", "lemmas": word.lower(), "feats": "Degree=Pos"}


def _with(sentence: Sentence, at: int, gone: int, new: Mapping[str, Any]) -> dict[str, Any]:
    """The columns of *sentence* that it has, with *new* values before place *at*, from which on so many are *gone*."""
    old = {name: getattr(sentence, name) for name in new}
    return {
        name: None if old[name] is None else (*old[name][:at], value, *old[name][at + gone :])
        for name, value in new.items()
    }


# ----------------------------------------------------------------------------
# Grammar errors by LanguageTool: an optional extra that needs Java, or a LanguageTool server elsewhere.
#
# Source: disambiguation paper, §3.3, which counts the samples with more errors than their seeds, as Morris et al.
# 2020 do.

#: The address of a LanguageTool server of one's own, such as http://localhost:8081; no Java is needed here then.
SERVER = "NBKIT_LANGUAGETOOL"


_CODES = {"en": "en-US", "de": "de-DE"}


_INSTALL = install("languagetool")


def grammar_problem() -> str | None:
    """Why grammar cannot be checked here, or None."""
    if not find_spec("language_tool_python"):
        return f"grammar: LanguageTool is not installed; {_INSTALL} and install Java, or name a server in {SERVER}"
    if not os.environ.get(SERVER) and not shutil.which("java"):
        return f"grammar: LanguageTool needs Java on the PATH, or a server named in {SERVER}"
    return None


def grammar_identity() -> dict[str, Any]:
    """What the numbers of errors depend on, as far as it is known here."""
    installed = version("language-tool-python") if find_spec("language_tool_python") else None
    return {"languagetool": installed, "server": os.environ.get(SERVER)}


def grammar_errors(texts: Sequence[str], lang: str, *, store: Store) -> list[int]:
    """How many errors LanguageTool finds in each text, remembered. Raises `MissingExtraError` if it cannot run."""

    def compute(missing: list[tuple[str, ...]]) -> Iterator[dict[str, int]]:
        problem = grammar_problem()
        if problem:
            raise MissingExtraError(problem)
        import language_tool_python

        tool = language_tool_python.LanguageTool(_CODES.get(lang, lang), remote_server=os.environ.get(SERVER) or None)
        try:
            for (text,) in missing:
                yield {"errors": len(tool.check(text))}
        finally:
            tool.close()

    config = {"kind": "grammar", "version": 1, "lang": lang, **grammar_identity()}
    return [record["errors"] for record in store.records(config, [(text,) for text in texts], compute)]


# ----------------------------------------------------------------------------
# Which seeds and samples of the attacks are kept, by what language models and biases say of them.
#
# Source: disambiguation paper, §3.1, "Seed sentence selection" and "Post-generation filtering".


def sense_fillers(homograph: Homograph) -> list[str]:
    """The translations of all senses, as they are asked of a masked language model, sorted; ambiguous ones are none.

    >>> from nbkit.corpora.homographs import own_homographs
    >>> sense_fillers(own_homographs().homographs["bat"])[:2]
    ['Baseballschläger', 'Fledermaus']
    """
    return sorted({word for cluster in homograph.clusters for word in cluster.translations})


def expected_sense(homograph: Homograph, fillers: Sequence[str], log_p: Sequence[float] | np.ndarray) -> str | None:
    """The name of the cluster of the most probable filler; None if the model gives none of them a probability.

    log_p: one value a filler, as `MaskedLanguageModel.masked_log_probabilities` gives them. Of equally probable
    ones the first counts.

    >>> from nbkit.corpora.homographs import own_homographs
    >>> bat = own_homographs().homographs["bat"]
    >>> expected_sense(bat, ["Fledermaus", "Schläger"], [-3.0, -1.0])
    'club'
    """
    if len(fillers) != len(log_p):
        raise NbkitError(f"'{homograph.word}': {len(fillers)} translations but {len(log_p)} probabilities")
    values = np.asarray(log_p, dtype=np.float64)
    if not len(values) or not np.isfinite(values).any():
        return None
    cluster = homograph.cluster_of(fillers[int(np.nanargmax(values))])
    return None if cluster is None else cluster.name


def least_biased(biases: Sequence[float] | np.ndarray, share: float) -> np.ndarray:
    """The seeds that remain when the *share* of them with the largest bias to a wrong sense is dropped.

    The number dropped is rounded to the nearest; of equal biases the later ones go, so that sort by address first where
    that matters. Raises `NbkitError` if *share* is not one.

    >>> least_biased([0.3, 0.1, 0.2, 0.0, 0.4], 0.2).tolist()
    [True, True, True, True, False]
    """
    if not 0 <= share < 1:
        raise NbkitError(f"the share of the seeds must be at least 0 and below 1, not {share}")
    values = np.asarray(biases, dtype=np.float64)
    dropped = round(share * len(values))
    keep = np.ones(len(values), dtype=bool)
    keep[np.argsort(values, kind="stable")[len(values) - dropped :]] = False
    return keep


def is_fluent(perplexities: np.ndarray, seeds: np.ndarray, rise: float) -> np.ndarray:
    """Whether each sample's perplexity is at most (1 + *rise*) times its seed's; False where either is unknown.

    >>> is_fluent(np.array([12.0, 12.1, np.nan]), np.array([10.0, 10.0, 10.0]), 0.2).tolist()
    [True, False, False]
    """
    limit = np.asarray(seeds, dtype=np.float64) * (1 + rise)
    return np.asarray(perplexities, dtype=np.float64) <= limit * (1 + 1e-12)


# ----------------------------------------------------------------------------
# Candidates and their constraints.
#
# A `Candidate` is one edit of one seed sentence; `CONSTRAINTS` are the rules of §3.1 that can be checked on the
# candidate alone, each by its name; `candidates` yields those that satisfy all of them. The filters that need models
# stand above.
#
# Source: disambiguation paper, §3.1.

#: The four types of perturbation, by the paper's names: what happens to which noun.
PERTURBATIONS = {
    "IH": "insertion before the homograph",
    "RH": "replacement of the homograph's adjective",
    "InH": "insertion before another noun",
    "RnH": "replacement of another noun's adjective",
}


def spelled(kind: str) -> str:
    """A type of perturbation with what it does.

    >>> spelled("IH")
    'IH: insertion before the homograph'
    """
    return f"{kind}: {PERTURBATIONS[kind]}"


_COMPOUND = ("compound", "flat", "goeswith", "nn", "nmod:desc", "fixed")


_NOUNS = ("NOUN", "PROPN")


_HYPHENS = ("-", "–", "/")


@dataclass(frozen=True)
class Attractor:
    """A word that a candidate puts in. upos, feats: as its tagger saw it (``"Degree=Cmp"``), feats "" where unknown."""

    word: str
    upos: str = "ADJ"
    feats: str = ""


@dataclass(frozen=True)
class Candidate:
    """One edit of a seed sentence.

    kind: one of `PERTURBATIONS`. seed: a parsed sentence. homograph: the homograph's token. noun: the token that the
    attractor modifies (the homograph itself in IH and RH). replaced: the adjective that goes, None for insertions.
    attested: whether the attractor was seen modifying the homograph in the seed's sense (IH, RH), or the noun.
    """

    kind: str
    seed: Sentence
    homograph: int
    noun: int
    attractor: Attractor
    attested: bool
    replaced: int | None = None

    @property
    def place(self) -> int:
        """The token that the attractor stands before, or that it replaces."""
        return self.noun if self.replaced is None else self.replaced

    @property
    def edited(self) -> Edited:
        """The sample: the seed with the attractor in it."""
        word = self.attractor.word
        if self.replaced is None:
            return insert_word(self.seed, self.noun, word, head=self.noun)
        return replace_word(self.seed, self.replaced, word)


def adjective(candidate: Candidate) -> bool:
    """The attractor is an adjective, of letters alone."""
    return candidate.attractor.upos == "ADJ" and candidate.attractor.word.isalpha()


def positive(candidate: Candidate) -> bool:
    """The attractor is neither a comparative nor a superlative.

    >>> seed = Sentence(("spring",), "en", upos=("NOUN",), heads=(-1,), deprels=("root",))
    >>> [positive(Candidate("IH", seed, 0, 0, Attractor(word, "ADJ", feats), True))
    ...  for word, feats in [("hot", "Degree=Pos"), ("hotter", "Degree=Cmp"), ("best", "")]]
    [True, False, False]
    """
    feats = candidate.attractor.feats
    compared = "Degree=Cmp" in feats or "Degree=Sup" in feats
    return not compared and candidate.attractor.word.lower() not in _words()["compared"]


def no_compound(candidate: Candidate) -> bool:
    """The noun is not part of a compound: none by its tree, no noun and no hyphen directly beside it."""
    seed, noun = candidate.seed, candidate.noun
    assert seed.deprels is not None and seed.upos is not None
    if any(seed.deprels[token].startswith(_COMPOUND) for token in (noun, *seed.children[noun])):
        return False
    beside = [token for token in (noun - 1, noun + 1) if 0 <= token < len(seed)]
    return not any(seed.upos[token] in _NOUNS or seed.tokens[token] in _HYPHENS for token in beside)


def alone(candidate: Candidate) -> bool:
    """No other adjective stands directly beside the attractor, whatever it modifies.

    For a replacement, the replaced adjective is no other one.
    """
    seed, place = candidate.seed, candidate.place
    assert seed.upos is not None
    beside = {place - 1, place if candidate.replaced is None else place + 1} & {*range(len(seed))}
    return all(seed.upos[token] != "ADJ" for token in beside)


def attested(candidate: Candidate) -> bool:
    """The attractor was seen modifying the homograph in the seed's sense, or the other noun."""
    return candidate.attested


def another_word(candidate: Candidate) -> bool:
    """The attractor is neither the homograph nor the adjective that it replaces."""
    seed, tokens = candidate.seed, [each for each in (candidate.homograph, candidate.replaced) if each is not None]
    present = {column[token].lower() for column in (seed.tokens, seed.lemmas) if column for token in tokens}
    return candidate.attractor.word.lower() not in present


def one_word(candidate: Candidate) -> bool:
    """Nothing but the one word differs from the seed: neither an article before it (*a*, *an*) nor a capital letter.

    >>> seed = Sentence(("a", "spring"), "en", upos=("DET", "NOUN"), heads=(1, -1), deprels=("det", "root"))
    >>> [one_word(Candidate("IH", seed, 1, 1, Attractor(word), True)) for word in ("hot", "old", "useful")]
    [True, False, True]
    """
    seed, place = candidate.seed, candidate.place
    if candidate.replaced is None and not any(token.isalnum() for token in seed.tokens[:place]):
        return False  # the noun begins the sentence: its capital letter would go
    before = seed.tokens[place - 1].lower() if place else ""
    return before not in ("a", "an") or before == article_of(candidate.attractor.word)


#: The rules of §3.1 by name, and that a sample is one edit of one word.
CONSTRAINTS: dict[str, Callable[[Candidate], bool]] = {
    rule.__name__: rule for rule in (adjective, positive, no_compound, alone, attested, another_word, one_word)
}


def broken(candidate: Candidate) -> list[str]:
    """The names of the constraints that a candidate breaks."""
    return [name for name, keeps in CONSTRAINTS.items() if not keeps(candidate)]


def candidates(
    seed: Sentence, homograph: int, attractors: Iterable[Attractor], modifiers: Mapping[str, Iterable[str]],
    own: Iterable[str], *, kinds: Iterable[str] = tuple(PERTURBATIONS), excluded: Iterable[int] = (),
) -> Iterator[Candidate]:  # fmt: skip
    """All candidates of a seed that keep every constraint, in the order of the kinds, of the places and of
    *attractors*.

    attractors: the adjectives that are attractors of a wrong sense. modifiers: the adjectives seen with each noun, by
    the noun's lemma. own: those seen with the homograph in the seed's sense. excluded: tokens that are no other noun
    (further homographs). Raises `NbkitError` for a seed without a tree, and for an unknown kind.

    >>> seed = Sentence(("in", "the", "spring", "we", "saw", "old", "trees"), "en",
    ...     upos=("ADP", "DET", "NOUN", "PRON", "VERB", "ADJ", "NOUN"), heads=(2, 2, 4, 4, -1, 6, 4),
    ...     deprels=("case", "det", "obl", "nsubj", "root", "amod", "obj"),
    ...     lemmas=("in", "the", "spring", "we", "see", "old", "tree"))
    >>> found = candidates(seed, 2, [Attractor("hot"), Attractor("tall")], {"tree": ["tall", "old"]}, ["hot"])
    >>> [(each.kind, each.edited.sentence.text) for each in found]
    [('IH', 'in the hot spring we saw old trees'), ('RnH', 'in the spring we saw tall trees')]
    """
    if seed.upos is None or seed.heads is None or seed.deprels is None:
        raise NbkitError(f"{seed.joined!r} has no dependency tree: parse it first")
    attractors = list(attractors)
    known = {noun: frozenset(words) for noun, words in modifiers.items()}
    of_homograph, excluded = frozenset(own), {homograph, *excluded}
    others = [token for token, tag in enumerate(seed.upos) if tag == "NOUN" and token not in excluded]
    for kind in kinds:
        if kind not in PERTURBATIONS:
            raise NbkitError(f"unknown perturbation '{kind}'; there are: {', '.join(PERTURBATIONS)}")
        for noun in [homograph] if kind in ("IH", "RH") else others:
            lemma = (seed.lemmas or seed.tokens)[noun].lower()
            seen = of_homograph if noun == homograph else known.get(lemma, frozenset())
            # Most are not seen: cheaper than the constraint of each.
            fitting = [attractor for attractor in attractors if attractor.word in seen]
            for replaced in [None] if kind in ("IH", "InH") else adjectives_of(seed, noun):
                edits = (Candidate(kind, seed, homograph, noun, each, True, replaced) for each in fitting)
                yield from (candidate for candidate in edits if not broken(candidate))


def adjectives_of(sentence: Sentence, noun: int) -> list[int]:
    """The adjectives that modify a noun from before it, from left to right."""
    assert sentence.upos is not None and sentence.deprels is not None
    return [
        child
        for child in sentence.children[noun]
        if child < noun and sentence.upos[child] == "ADJ" and sentence.deprels[child].startswith("amod")
    ]


def article_of(word: str) -> str:
    """*a* or *an*, by the first sound of an English word.

    >>> [article_of(word) for word in ("hot", "old", "honest", "useful", "European", "unhappy")]
    ['a', 'an', 'an', 'a', 'a', 'an']
    """
    word = word.lower()
    if word.startswith(tuple(_words()["vowel_sound"])):
        return "an"
    return "an" if word[:1] in "aeiou" and not word.startswith(tuple(_words()["consonant_sound"])) else "a"


@cache
def _words() -> dict[str, list[str]]:
    return read_own(files(__package__) / "english_words.yaml")
