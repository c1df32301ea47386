"""Idioms whose translations are known, and translators that make known mistakes."""

from __future__ import annotations

import json
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from nbkit.corpora.idioms import IdiomPair, write_idiom_pairs
from nbkit.measure.bleu import cut
from nbkit.models.model import Model
from nbkit.models.names import find
from nbkit.models.probes import CONTEXTS, FOUND, PROBES, ContextProbe
from nbkit.studies import idioms
from nbkit.studies.idioms import IdiomsParams, judge, scores
from nbkit.studies.idioms.links import token_spans

#: Word by word, and as the reference says it; "kick the bucket" is four times as frequent as "hot potato".
WORDS = {"they": "ils", "kick": "cognent", "the": "le", "bucket": "seau", "a": "une", "hot": "chaude",
         "potato": "patate", "is": "est", "it": "cela", "today": "demain", "here": "ici", "there": "là",
         "again": "encore", "now": "maintenant", "soon": "bientôt"}  # fmt: skip
PLACES = ["today", "here", "there", "again", "now", "soon"]


def literally(text: str) -> str:
    return " ".join(WORDS.get(word.lower(), word) for word in cut(text, "en"))


def pairs() -> list[IdiomPair]:
    found = []
    for place in PLACES:
        source, target = f"They kick the bucket {place} .", f"Ils meurent {WORDS[place]} ."
        found.append(IdiomPair("", source, target, "kick the bucket", ((5, 20),)))
    for place in PLACES[:2]:
        source, target = f"It is a hot potato {place} .", f"Cela est gênant {WORDS[place]} ."
        found.append(IdiomPair("", source, target, "hot potato", ((8, 18),)))
    return [IdiomPair(str(i), each.source, each.target, each.idiom, each.spans) for i, each in enumerate(found, 1)]


def toy_params(tmp_path: Path) -> IdiomsParams:
    """A run over `pairs`, its files in a folder: twice two idioms in idiom-test, a dictionary, links of words."""
    files = [tmp_path / name for name in ("set.en", "set.fr", "set.spans.en")]
    write_idiom_pairs(pairs(), *files)
    known = {word: word_fr for word, word_fr in WORDS.items() if word not in ("the", "a", "is", "it")}
    (tmp_path / "words.tsv").write_text("".join(f"{a}\t{b}\n" for a, b in known.items()), encoding="utf-8")
    rows = [f"{a}\t{b}\n" for a, b in WORDS.items()] + ["kick\tmeurent\n", "potato\tgênant\n", "hot\tgênant\n"]
    (tmp_path / "links.tsv").write_text("".join(rows), encoding="utf-8")
    (tmp_path / "news.tsv").write_text("They kick .\tIls cognent .\nIt is here .\tCela est ici .\n", encoding="utf-8")
    return IdiomsParams(
        data=f"files:{tmp_path}/set", models={"random": "dummy-{condition}"}, conditions=["zero"],
        generic={"news": f"{tmp_path}/news.tsv"}, dictionary=str(tmp_path / "words.tsv"),
        aligners=[f"lexicon:{tmp_path}/links.tsv"], aligned_corpora=[], contexts=[],
    )  # fmt: skip


def of(table, model="random", **values):
    """The first row of *table* with these values."""
    for name, value in {"model": model, **values}.items():
        table = table[table[name] == value]
    return table.iloc[0]


def litter(params: IdiomsParams, value: str = "paper", model: str = "random", **values):
    """LitTER of a system by one way of counting, as pages have it."""
    found = scores.read(params)
    return of(scores.mean_over_idioms(found[found["main"]], value, interval="share"), model, **values)


def surprised(name, wanted, src, tgt, decoding, **_):
    """Probes: less context makes the reference less likely and the translation worse."""
    for pair in wanted:
        words = token_spans(pair.target, tgt)
        entropies = tuple(1.0 + place % 3 for place in range(len(words)))
        yield {
            context: ContextProbe(context, " ".join(pair.target.split()[factor - 1 :]), (-float(factor),) * len(words),
                                  entropies, words, 1)
            for factor, context in enumerate(CONTEXTS, start=1)
        }  # fmt: skip


class ProbedByRule(Model):
    """A translator in Python that is probed, with the answers of *probes*."""

    def __init__(self, probes, name, src, tgt, end_state="kept", **how):
        super().__init__(find(name, PROBES[end_state], src, tgt, **how))
        self.probes, self.name_and_languages = probes, (name, src, tgt)

    def identity(self):
        return {"probed": self.name_and_languages[0]}

    def answers(self, inputs):
        name, *languages = self.name_and_languages
        for source, reference, spans in inputs:
            pair = IdiomPair("", source, reference, "", tuple(map(tuple, json.loads(spans))))
            (found,) = self.probes(name, [pair], *languages, self.reference.decoding)
            record = dict(zip(("starts", "ends"), map(list, zip(*found["full"].offsets, strict=True)), strict=True))
            for context, probe in found.items():
                record |= {f"{context}_{part}": _plain(getattr(probe, part)) for part in FOUND}
            yield (source, reference, spans), record


def _plain(value):
    return list(value) if isinstance(value, tuple) else value


@contextmanager
def probed(probes=surprised):
    """Dummies can be probed, with these answers."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(judge, "load_probe", partial(ProbedByRule, probes))
        patch.setattr(idioms, "has_states", lambda *_: True)
        yield
