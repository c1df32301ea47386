"""One sentence's homograph: what its words lean to, which sense its translation has, and what one adjective changes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from itertools import islice

import pandas as pd

from nbkit.corpora import Pair, load_pairs
from nbkit.corpora.homographs import Homograph
from nbkit.errors import NbkitError, UnknownNameError
from nbkit.figures import styles
from nbkit.measure.literal import lemmas
from nbkit.measure.senses import SenseCounts, SenseFinder, bias_towards, freq, ppmi
from nbkit.perturb.word_sense import Attractor, Candidate, broken, edited_text, insert_word
from nbkit.studies.answering import Cell
from nbkit.studies.disambiguation.mining import fold_counts
from nbkit.studies.disambiguation.senses import place_of, senses_of, sentence_of
from nbkit.studies.explore import Asked, Choice, Probe, Shown, lines, said
from nbkit.text.phrases import english_bases
from nbkit.text.sentences import Sentence, Text

_SENSE = 'mark style="background-color: #cfe4f5"'
_LISTED = 8  # adjectives of a sense


@dataclass(frozen=True)
class Found:
    """A translation, the words aligned with the homograph, their sense ("" if undecided) and why there is none."""

    hypothesis: str
    words: str
    sense: str
    reason: str


@dataclass(frozen=True)
class Attack:
    """A text with an attractor before its homograph, at *token*; broken: constraints of the study that this breaks."""

    text: Text
    token: int
    found: Found
    broken: tuple[str, ...]


@dataclass(frozen=True)
class Probed:
    """A homograph in a sentence.

    token: its place. found: what the translation shows. sense: the reference's, "" if there is none. biases: one
    row per word that was seen with a sense. means: the sentence's mean FREQ towards each sense (equation 3).
    adjectives: those seen with the homograph, by sense. others: further homographs of the sentence.
    """

    text: Text
    homograph: Homograph
    token: int
    found: Found
    sense: str
    biases: pd.DataFrame
    means: dict[str, float]
    adjectives: dict[str, list[tuple[str, int]]]
    others: tuple[str, ...] = ()
    attack: Attack | None = None


def probe(asked: Asked) -> Probed:
    """The sentence's homograph, translated as it is and with an attractor before it.

    Raises `NbkitError` for a sentence without a homograph, and for an attractor that is not one word.
    """
    params, pair = asked.params, asked.known
    finder = SenseFinder(params.homographs, "parts", nouns=params.target_nouns)
    seen = fold_counts(params.study.read(params, "senses"))(-1)
    text = pair.source if pair else _with_lemmas(asked.text, finder, seen)
    places = finder.occurrences(text)
    if not places:
        known = ", ".join(sorted(params.homographs.homographs)[:12])
        raise NbkitError(f"The lexicon has no homograph of this sentence; it has {known} …")
    wanted = asked.options["homograph"].strip().lower() or places[0][0]
    if wanted not in dict(places):
        raise UnknownNameError("homograph of this sentence", wanted, dict(places))
    word, token = next(place for place in places if place[0] == wanted)
    homograph = params.homographs.homographs[word]
    senses = [cluster.name for cluster in homograph.clusters if seen.pairs[word, cluster.name]]
    adjectives = {sense: seen.sense_adjectives.get((word, sense), Counter()) for sense in senses}
    texts, tokens, faults = [text], [token], list[str]()
    if attractor := asked.options["attractor"].strip():
        attested = any(found[attractor] for found in adjectives.values())
        sample, place, faults = _attacked(text, token, attractor, attested)
        texts.append(sample)
        tokens.append(place)
    rows = pd.DataFrame(
        {
            "homograph": word,
            "token": tokens,
        }
    )
    cell = Cell(params.source, params.target, asked.system)
    hypotheses = params.translate(asked.system, [each.text for each in texts], *cell[:2], asked.store)
    links = params.study.read(params, "links")
    judged = senses_of(params, cell, [each.tokens for each in texts], rows, hypotheses, links)
    found = [Found(*row) for row in zip(hypotheses, judged["words"], judged["found"], judged["reason"], strict=True)]
    return Probed(
        text,
        homograph,
        token,
        found[0],
        _reference_sense(finder, pair, token) if pair else "",
        _biases(lemmas(text), seen, word, senses),
        {sense: bias_towards(lemmas(text), seen, word, sense) for sense in senses},
        {sense: found.most_common(_LISTED) for sense, found in adjectives.items()},
        tuple(dict.fromkeys(name for name, _ in places if name != word)),
        Attack(texts[1], tokens[1], found[1], tuple(faults)) if attractor else None,
    )


def _with_lemmas(text: Text, finder: SenseFinder, seen: SenseCounts) -> Text:
    """*text* with lemmas; where no parser gave them, the known word that a form can be of, homographs first."""

    def lemma(token: str, lang: str) -> str:
        form = token.lower()
        bases = sorted(english_bases(form)) if lang == "en" else []
        known = [base for base in bases if base in finder.lexicon.homographs]
        return next(iter([*known, *(base for base in (form, *bases) if seen.of_word[base])]), form)

    def read(sentence: Sentence) -> Sentence:
        if sentence.lemmas is not None and sentence.upos is not None:
            return sentence
        found = tuple(lemma(token, sentence.lang) for token in sentence.tokens)
        tags = tuple("NOUN" if each in finder.lexicon.homographs else "X" for each in found)
        return replace(sentence, lemmas=found, upos=tags)

    return Text(tuple(map(read, text.sentences)))


def _attacked(text: Text, token: int, attractor: str, attested: bool) -> tuple[Text, int, list[str]]:
    """*text* with *attractor* before its *token*, the place of that token, and the constraints that this breaks."""
    number, at = sentence_of(text, token)
    seed = text.sentences[number]
    faults: list[str] = []
    if seed.heads is not None and seed.deprels is not None:
        faults = broken(Candidate("IH", seed, at, at, Attractor(attractor), attested))
    sample, origin = edited_text(text, number, insert_word(seed, at, attractor, head=at))
    return sample, origin.index(token), faults


def _reference_sense(finder: SenseFinder, pair: Pair, token: int) -> str:
    senses = finder.pair_senses(pair.source, pair.target, pair.alignment or ())
    return next((sense.cluster or "" for sense in senses if sense.token == token), "")


def _biases(words: list[str], seen: SenseCounts, homograph: str, senses: list[str]) -> pd.DataFrame:
    """FREQ and PPMI of each word towards each of *senses*, those seen in training."""
    rows = [
        {"word": word}
        | {f"FREQ {sense}": int(freq(seen, word, homograph, sense)) for sense in senses}
        | {f"PPMI {sense}": ppmi(seen, word, homograph, sense) for sense in senses}
        for word in dict.fromkeys(words)
    ]
    return pd.DataFrame([row for row in rows if any(row[f"FREQ {sense}"] for sense in senses)])


def as_html(result: Probed) -> str:
    """The homograph marked, both translations with their senses, its clusters and what the words lean to."""
    word = result.homograph.word
    expected = f" (sense {result.sense})" if result.sense else ""
    texts = {"source": _marked(result.text, result.token), f"translation{expected}": _translation(result.found)}
    if (attack := result.attack) is not None:
        texts |= {
            "attacked": _marked(attack.text, attack.token),
            "translation of the attacked": _translation(attack.found),
        }
    parts = [lines(texts)]
    if attack is not None:
        parts.append(said(_outcome(result.found.sense, attack)))
    if result.others:
        parts.append(said(f"Also homographs: {', '.join(result.others)}."))
    clusters = pd.DataFrame(
        [
            (cluster.name, ", ".join(sorted(cluster.translations)),
             ", ".join(f"{each} {n}" for each, n in result.adjectives.get(cluster.name, [])))
            for cluster in result.homograph.clusters
        ],
        columns=["sense", "translations", "adjectives in training, with counts"],
    )  # fmt: skip
    parts.append(styles.styled(clusters, caption=f"Senses of {word}").to_html())
    if result.biases.empty:
        parts.append(said("None of its words was seen with this homograph in training."))
    else:
        caption = "How often words occur with each sense in training (FREQ), and how far above chance (PPMI)"
        parts.append(styles.styled(result.biases, caption=caption).to_html())
        means = ", ".join(f"{mean:.1f} towards {sense}" for sense, mean in result.means.items())
        parts.append(said(f"Bias of the sentence, the mean FREQ of its words: {means}."))
    return "".join(parts)


def _outcome(plain: str, attack: Attack) -> str:
    attacked = attack.found.sense
    if not (plain and attacked):
        outcome = "The senses cannot be compared."
    elif plain == attacked:
        outcome = f"The attractor changes nothing: {plain} both times."
    else:
        outcome = f"The attractor changes the sense from {plain} to {attacked}."
    rules = ", ".join(attack.broken)
    return outcome + (f" The study would not use this attack; it breaks: {rules}." if rules else "")


def _marked(text: Text, token: int) -> str:
    place = place_of(text, token)
    return styles.marked(text.text, [(place["start"], place["end"])])


def _translation(found: Found) -> str:
    """A translation with the words that are aligned with the homograph, and their sense or why there is none."""
    spans, end = [], 0
    for word in found.words.split():
        if (start := found.hypothesis.find(word, end)) >= 0:
            end = start + len(word)
            spans.append((start, end))
    verdict = f"sense {found.sense}" if found.sense else f"undecided: {found.reason}"
    return f"{styles.marked(found.hypothesis, spans, _SENSE)} <i>{styles.breakable(verdict)}</i>"


def _shown(asked: Asked) -> Shown:
    result = probe(asked)
    adjectives = [each for found in result.adjectives.values() for each, _ in found]
    suggested = {"attractor": adjectives, "homograph": [result.homograph.word, *result.others]}
    return Shown(as_html(result), result, suggested)


def _examples(asked: Asked, n: int) -> dict[str, Pair]:
    """Test sentences with a homograph, of different ones first."""
    params = asked.params
    finder = SenseFinder(params.homographs, "parts", nouns=params.target_nouns)
    pairs = load_pairs(params.corpora[0], asked.source, asked.target, n=params.n_pairs, parsers=params.parsers or None,
                       on_error=params.on_error, store=asked.store)  # fmt: skip
    found = ((finder.occurrences(pair.source), pair) for pair in pairs)
    some = list(islice(((places[0][0], pair) for places, pair in found if places), 10 * n))
    firsts = dict(reversed(some))
    ordered = {pair.source.text: pair for pair in [*reversed(firsts.values()), *(pair for _, pair in some)]}
    return dict(islice(ordered.items(), n))


PROBE = Probe(_shown, _examples, (Choice("homograph", "Homograph"), Choice("attractor", "Attractor")))
