"""Sentences to look at: worked examples of LitTER, and what the phrase matcher finds in texts."""

from __future__ import annotations

import json
from collections.abc import Collection
from functools import cache, partial
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import yaml

from nbkit.fingerprint import digest
from nbkit.measure.literal import WordDictionary, published_litter
from nbkit.seeding import address
from nbkit.store import Store
from nbkit.studies.idioms.data import data_key, load_data, phrases, plain_text
from nbkit.studies.idioms.params import IdiomsParams
from nbkit.studies.idioms.steps import judged
from nbkit.text.parsers import load_parser, parser_identity
from nbkit.text.phrases import PhraseMatch, PhraseMatcher, Variation
from nbkit.text.sentences import Text

if TYPE_CHECKING:
    import pandas as pd

_EXAMPLE = ["idiom", "source", "spans", "reference", "hypothesis", "blocklists", "triggers", "error"]


def published_examples() -> pd.DataFrame:
    """The five examples of Figures 14 and 15 with their printed blocklists, judged as the research code did.

    Columns: figure, idiom, source, spans, reference, hypothesis, blocklists and triggers (JSON, as `judged`), error,
    agrees (whether all is as printed).
    """
    import pandas as pd

    rows = []
    for example in _printed():
        lists = {word: tuple(words) for word, words in example["blocklists"].items()}
        litter = published_litter(WordDictionary("printed", "file", lists), None, "en", "fr")
        judgement = litter.judge_texts(example["idiom"], example["reference"], example["hypothesis"])
        left = [blocklist.word for blocklist in judgement.blocklists]
        found = [trigger.translation for trigger in judgement.triggers]
        agrees = left == example["surviving"] and sorted(found) == sorted(example["triggers"])
        blocklists = [[each.word, list(each.translations), each.word in left] for each in judgement.candidates]
        triggers = [list(trigger) for trigger in judgement.triggers]
        rows.append((example["name"], example["idiom"], example["source"], "[]", example["reference"],
                     example["hypothesis"], json.dumps(blocklists, ensure_ascii=False),
                     json.dumps(triggers, ensure_ascii=False), judgement.error, agrees))  # fmt: skip
    return pd.DataFrame(rows, columns=["figure", *_EXAMPLE, "agrees"])


def litter_samples(params: IdiomsParams, k: int = 3, store: Store | None = None) -> pd.DataFrame:
    """*k* pairs of each system with a literal error, and as many without one though a blocklist was left.

    Columns: language, condition, model, idiom, source, spans, reference, hypothesis, blocklists, triggers (JSON, see
    `judged`), error. Idioms take turns; which are drawn depends on the run's seed and the sentences.
    """
    import pandas as pd

    frames = []
    for language in params.languages:
        for system in params.systems:
            table = judged(params, language, system, store or Store())
            table = table.assign(error=table["paper"].astype(bool))
            rank = [address(params.seed, "litter sample", *key) for key in zip(table["source"], table["idiom"])]  # noqa: B905
            table = table.assign(rank=rank).sort_values("rank")
            table["turn"] = table.groupby(["idiom", "error"]).cumcount()
            table = table[table["open"].astype(bool)].sort_values(["turn", "rank"])
            parts = [table[table["error"] == error].head(k) for error in (True, False)]
            of = {"language": language, "condition": system.condition, "model": system.model}
            frames.append(pd.concat(parts).assign(**of))
    columns = ["language", "condition", "model", *_EXAMPLE]
    return pd.concat(frames, ignore_index=True)[columns] if frames else pd.DataFrame(columns=columns)


def find_phrases(
    texts: list[str],
    lines: list[str] | None = None,
    parser: str | None = None,
    *,
    variations: Collection[Variation] = (),
) -> list[tuple[Text, list[PhraseMatch]]]:
    """What the phrase matcher finds in English *texts*: each text in tokens, with its matches (Figures 8 and 9).

    lines: a phrase list; nbkit's own idioms where none is given. parser: a spaCy pipeline, for lemmas; without one,
    words are known by their forms. variations: "passive" and "modifier" also find wordings that the paper's rules do
    not (`nbkit.text.phrases`).

    >>> [(text, [found])] = find_phrases(["He pulled the wool over the voters' eyes."])
    >>> found.phrase, text.text[slice(*found.span)]
    ("pull the wool over someone's eyes", "pulled the wool over the voters' eyes")
    """
    matcher = PhraseMatcher(lines if lines is not None else phrases(IdiomsParams()), variations=variations)
    parsed = load_parser(parser, "en").parse(texts) if parser else map(plain_text, texts)
    return [(text, matcher.find(text)) for text in parsed]


def matcher_recall(params: IdiomsParams, store: Store | None = None) -> pd.DataFrame:
    """Whether the matcher finds the idioms of the data where the data says they are, by rules made of their own names.

    Columns: language, pairs (of idiom-train and idiom-test), spans (given), found (a match of the same idiom shares a
    word with it), exact (a match has exactly its words), extra (matches of an idiom of the list in these sentences that
    no span is given for). Sentences are cut into words without a parser unless the run names one.
    """
    import pandas as pd

    store = store or Store()
    tables = []
    for language in params.languages:
        spec = params.parsers.get(params.source)
        parser = parser_identity(spec, params.source) if spec else "forms"
        key = {
            "kind": "idioms.recall",
            "code": digest("nbkit.studies.idioms.samples"),
            **data_key(params, language),
            "parser": parser,
        }
        tables.append(store.table(key, partial(_recall, params, language, store)))
    return pd.concat(tables, ignore_index=True)


def _recall(params: IdiomsParams, language: str, store: Store) -> pd.DataFrame:
    import pandas as pd

    splits = load_data(params, language, store).splits
    pairs = [*splits.train, *splits.test, *splits.discarded]
    matcher = PhraseMatcher(sorted({pair.idiom for pair in pairs}))
    idioms: dict[str, set[str]] = {}
    for pair in pairs:
        idioms.setdefault(pair.source, set()).add(pair.idiom)
    spec = params.parsers.get(params.source)
    texts = load_parser(spec, params.source).parse(idioms) if spec else map(plain_text, idioms)
    matches = {
        source: [(match.phrase, text.text[slice(*match.span)]) for match in matcher.find_all(text)]
        for source, text in zip(idioms, texts, strict=True)
    }
    found = exact = spans = 0
    for pair in pairs:
        own = [text for name, text in matches[pair.source] if name == pair.idiom]
        for words in pair.words:
            spans += 1
            found += any(_share_a_word(text, words) for text in own)
            exact += words in own
    extra = sum(name not in idioms[source] for source, own in matches.items() for name, _ in own)
    row = (language, len(pairs), spans, found / spans, exact / spans, extra)
    return pd.DataFrame([row], columns=["language", "pairs", "spans", "found", "exact", "extra"])


def _share_a_word(one: str, other: str) -> bool:
    return not set(one.casefold().split()).isdisjoint(other.casefold().split())


@cache
def _printed() -> list[dict[str, Any]]:
    path = files("nbkit.studies.idioms") / "published" / "examples.yaml"
    return yaml.safe_load(path.read_text(encoding="utf-8"))
