"""The study of a suite: every test translated and judged, tests set aside that say more of the suite than of a system.

What is computed is stored, a system and chunk of tests at a time, so that a suite of any size takes the memory of one
chunk; `outcomes` are the verdicts in the shape that all studies share.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from nbkit.errors import NbkitError
from nbkit.models import label
from nbkit.store import Store
from nbkit.studies.base import Notebook, StudyParams
from nbkit.studies.behaviours import behaviour_of
from nbkit.studies.engine import TRANSLATOR, Axis, Counts, Held, Study, Use, as_table, asked_translations
from nbkit.studies.results import item_id, objects
from nbkit.studies.suite.params import SuiteParams
from nbkit.suites import EXPECTATIONS, Test, decide, quarantined, suspects, write_suite
from nbkit.suites.expectations import matches_words
from nbkit.text.parsers import load_parser

if TYPE_CHECKING:
    import pandas as pd

#: Tests that are translated, judged and held at a time.
CHUNK = 5_000
#: The measures of outcomes: verdicts, and tests that are set aside.
VERDICT, ASIDE = "suite", "quarantined"
#: What annotators choose from, with the verdict that follows.
LABELS = {"right": "pass", "wrong": "fail", "unclear": "undecided"}
#: What the tests of a suite are grouped by.
GROUPS = ("category", "phenomenon")
_COLUMNS = ("test", "cluster", "line", *GROUPS, "source", "output", "verdict", "reason", "by", "spans")


def _inputs(params: SuiteParams) -> dict[str, Any]:
    models = [params.translator_key(model, params.source, params.target) for model in params.systems]
    return {"suite": params.suite_key, "models": models, "forms": params.form_digests()}


def _uses(params: SuiteParams, system: str) -> list[Use]:
    return [Use(TRANSLATOR, system, (params.source, params.target))]


STUDY = Study(
    name="suite",
    title="A suite: does a translation have what people say it must?",
    paper="",
    params=SuiteParams,
    axes={
        "model": Axis(lambda params: params.models, label),
        "system": Axis(lambda params: params.systems, label),
        "chunk": Axis(lambda params: range(0, len(params.read), CHUNK)),
    },
    grid=("model",),
    verdict="pass: the translation is as the suite expects; undecided: its expectations say nothing or contradict "
    "each other, and people have to judge",
    behaviour=Path(__file__).with_name("behaviour.yaml"),
    check=lambda params: params.form_problems(),
    inputs=_inputs,
    uses=lambda params: [use for system in params.systems for use in _uses(params, system)],
    notebooks=(
        Notebook("suite/leaderboard", "Which system has what the suite asks for?", "grid"),
        Notebook("suite/quarantine", "Which tests say more of the suite than of a system?", "grid"),
        Notebook("suite/model_card", "Where does this system fail the suite?", "cell"),
    ),
)


#: The last chunks of tests: each system is given the same.
_TESTS = Held(size=2)


def tests_of(params: SuiteParams, system: str, chunk: int = 0, stop: int | None = None) -> list[Test]:
    """The tests of a chunk that a system is given: all, or those that its files answer."""
    suite = params.read
    key = [suite.identity, chunk, stop]
    found = _TESTS(key, lambda: list(suite.tests(chunk, chunk + CHUNK if stop is None else stop)))
    files = params.outputs(system) if params.only_answered else None
    if files is None:
        return found
    missing = set(files.missing([text for test in found for text in test.sources], params.source, params.target))
    return [test for test in found if missing.isdisjoint(test.sources)]


def _counts(params: SuiteParams, system: str, store: Store) -> Counts:
    texts = (text for test in tests_of(params, system, stop=len(params.read)) for text in test.sources)
    chunks = STUDY.axes["chunk"].values(params)  # type: ignore[union-attr]
    last = [judged.rows(params, system, chunk, store=store) for chunk in list(chunks)[-1:]]
    return asked_translations(params, system, params.source, params.target, texts, store, *last)


def _key(params: SuiteParams, system: str, chunk: int) -> dict[str, Any]:
    detects = find_spec("lingua") is not None
    asked = params.translator_key(system, params.source, params.target)
    return {**params.suite_key, **asked, "seed": params.seed, "chunk": [chunk, CHUNK], "lingua": detects}


@STUDY.step(per=("system", "chunk"), key=_key, uses=lambda params, system, chunk: _uses(params, system))
@as_table(*_COLUMNS)
def judged(params: SuiteParams, system: str, chunk: int, store: Store) -> Iterator[tuple[Any, ...]]:
    """The verdict on each test of a chunk; tests that are set aside are among them.

    Columns: test (its id), cluster, line, category, phenomenon, source, output, verdict, reason, by (the expectations
    that decided), spans (as JSON: expectation, start, end).
    """
    suite = params.read
    tests = tests_of(params, system, chunk)
    asked = list(dict.fromkeys(text for test in tests for text in test.sources))
    said = dict(zip(asked, params.translate(system, asked, params.source, params.target, store), strict=True))
    lemmas = _lemmas(params, [said[test.source] for test in tests if matches_words(test.wanted)])
    for test in tests:
        output = said[test.source]
        others = {text: said[text] for text in test.sources[1:]}
        found = decide(test, output, suite, others, lemmas.get(output))
        spans = [(name, *span) for name, span in found.spans]
        yield (test.id, test.cluster, test.line, *test.labels.values(), test.source, output, found.verdict,
               found.reason, ", ".join(found.by), json.dumps(spans))  # fmt: skip


def _lemmas(params: SuiteParams, texts: Sequence[str]) -> dict[str, Mapping[str, str]]:
    """The lemmas of the words of each text, if a parser is named for the target language."""
    if not texts or not (pipeline := params.pipeline):
        return {}
    distinct = list(dict.fromkeys(text for text in texts if text.strip()))
    parsed = load_parser(pipeline, params.target).parse(distinct)
    return {
        text: {
            token: lemma
            for sentence in read.sentences
            for token, lemma in zip(sentence.tokens, sentence.lemmas or (), strict=False)
        }
        for text, read in zip(distinct, parsed, strict=True)
    }


@STUDY.work("translate and judge {system} {source}→{target}", per=("system",), uses=_uses, counts=_counts)
def translate_and_judge(params: SuiteParams, system: str, store: Store) -> None:
    """All tests of a system, translated and judged."""
    for chunk in STUDY.axes["chunk"].values(params):  # type: ignore[union-attr]
        judged(params, system, chunk, store=store)


# ----------------------------------------------------------------------------
# What the systems of a run say of the suite.


def _in_all(params: SuiteParams, chunk: int, store: Store) -> dict[str, pd.DataFrame]:
    """The verdicts of each system on the tests of a chunk that all of them were given."""
    tables = {system: judged(params, system, chunk, store=store) for system in params.systems}
    common = set.intersection(*(set(table["test"]) for table in tables.values())) if tables else set()
    return {
        system: table[table["test"].isin(common) & ~table["category"].isin(params.without)].reset_index(drop=True)
        for system, table in tables.items()
    }


def aside(params: SuiteParams, store: Store | None = None) -> pd.DataFrame:
    """The tests in quarantine: what is linted, what the file sets aside, what the systems' answers speak against.

    Columns: test, line, category, phenomenon, source, reason, passed, failed, undecided (systems).
    """
    import pandas as pd

    suite, store = params.read, store or Store()
    reasons = suspects(suite) if params.quarantine else {}
    answers: dict[str, dict[str, tuple[str, str]]] = defaultdict(dict)
    rows: dict[str, dict[str, Any]] = {}
    for chunk in range(0, len(suite), CHUNK):
        for system, table in _in_all(params, chunk, store).items():
            shown, each = label(system), cast(Iterator[Any], table.itertuples(index=False))
            for row in each:
                answers[row.test][shown] = (row.output, row.verdict)
                rows.setdefault(row.test, {name: getattr(row, name) for name in ("line", *GROUPS, "source")})
    if params.quarantine:
        reasons = {**dict(quarantined(list(suite.tests()), answers, suite)), **reasons}
    found = []
    for test, of in rows.items():
        if test in reasons:
            said = [verdict for _, verdict in answers[test].values()]
            counts = {name: said.count(each) for name, each in (("passed", "pass"), ("failed", "fail"))}
            found.append({"test": test, **of, "reason": reasons[test], **counts, "undecided": said.count("undecided")})
    columns = ["test", "line", *GROUPS, "source", "reason", "passed", "failed", "undecided"]
    return pd.DataFrame(found, columns=columns)


def people(params: SuiteParams) -> dict[tuple[str, str], str]:
    """The verdict that most annotators gave, by source and translation; undecided where none has most."""
    found = params.judgements()
    if found is None:
        return {}
    votes: dict[tuple[str, str], list[str]] = defaultdict(list)
    for row in cast(Iterator[Any], found.itertuples(index=False)):
        votes[row.source, row.translation].append(LABELS[row.judgement])
    return {
        text: next((each for each in given if 2 * given.count(each) > len(given)), "undecided")
        for text, given in votes.items()
    }


@STUDY.outcomes(headline="nbkit.studies.suite.tables:pass_rates")
def outcomes(params: SuiteParams, store: Store, texts: bool) -> Iterator[pd.DataFrame]:
    """The verdict on each test, by people where they judged it; tests in quarantine are undecided, of another measure.

    The tests of one template are a cluster.
    """
    import pandas as pd

    set_aside = dict(aside(params, store)[["test", "reason"]].itertuples(index=False, name=None))
    by_people = people(params)
    value = {"pass": 1.0, "fail": 0.0, "undecided": float("nan")}
    for chunk in range(0, len(params.read), CHUNK):
        tables = _in_all(params, chunk, store)
        for model in params.models:
            table, rows = tables[model], []
            for row in cast(Iterator[Any], table.itertuples(index=False)):
                verdict, reason, by = row.verdict, row.reason, row.by
                if row.test in set_aside:
                    verdict, reason = "undecided", set_aside[row.test]
                elif verdict == "undecided" and (row.source, row.output) in by_people:
                    verdict = by_people[row.source, row.output]
                    reason, by = ("" if verdict == "pass" else "judged by people"), "people"
                item = item_id([params.source, params.target, row.source], {"test": row.test})
                groups = {"category": row.category, "phenomenon": row.phenomenon, "test": row.test, "by": by}
                rows.append((item, ASIDE if row.test in set_aside else VERDICT, value[verdict], verdict, reason,
                             row.cluster, groups))  # fmt: skip
            names = ["item", "measure", "value", "verdict", "reason", "cluster", "groups"]
            found = pd.DataFrame(rows, columns=names).astype({"value": float}).assign(
                system=label(model), source_language=params.source, target_language=params.target
            )  # fmt: skip
            if texts:
                spans = ([{"text": "output", "start": start, "end": end, "label": name} for name, start, end in each]
                         for each in map(json.loads, table["spans"]))  # fmt: skip
                found = found.assign(source=table["source"], output=table["output"], spans=objects(spans))
            yield found


# ----------------------------------------------------------------------------
# Any items as a suite.


def suites_of(
    found: Iterable[tuple[StudyParams, pd.DataFrame]], path: Path, every: bool = False
) -> Iterator[tuple[Path, int]]:
    """Write the items of outcomes with texts as suites, one per direction; yields each file with its number of tests.

    Tests of a suite are written as they are, templates filled in. Of other studies, the source is the text that systems
    were given; the reference is a known right translation, outputs that fail are known wrong ones, and what a study's
    `Behaviour.expects` names is expected. every: also items at which nothing failed. With several directions,
    ``-SRC-TGT`` is put into the file's name. Raises `NbkitError` if there is no item to write.
    """
    tests: dict[str, dict[str, dict[str, Any]]] = defaultdict(dict)
    data: dict[str, dict[str, str]] = defaultdict(dict)
    written: dict[int, dict[str, dict[str, Any]]] = {}  # the tests of a suite, by the parameters that name it
    for params, table in found:
        behaviour = behaviour_of(params.study)
        expects = behaviour.expects if behaviour else {}
        if isinstance(params, SuiteParams) and id(params) not in written:
            written[id(params)] = {row["id"]: row for row in params.read.rows()}
            data[f"{params.source}-{params.target}"] |= params.read.data
        for row in cast(Iterator[Any], table.itertuples(index=False)):
            source = row.changed if isinstance(row.changed, str) else row.source
            if not row.target_language or not isinstance(source, str) or not (every or row.verdict == "fail"):
                continue
            groups: Mapping[str, Any] = defaultdict(str, row.groups)
            known, own = [("right", row.reference)] + [("wrong", row.output)] * (row.verdict == "fail"), row.item
            test: dict[str, Any] = {
                "id": row.item, "source": " ".join(source.split()), "category": params.study.name,
                "phenomenon": next((str(value) for value in groups.values() if value), params.study.name),
                **{name: text.format_map(groups) for name, text in expects.items()},
            }  # fmt: skip
            if id(params) in written:  # what rules say need not be said again; what people said has to be
                own, known = groups["test"], known[1:] if groups["by"] == "people" else []
                test = dict(written[id(params)][own])
                test |= {"quarantine": row.reason} if row.measure == ASIDE else {}
            test = tests[f"{row.source_language}-{row.target_language}"].setdefault(own, test)
            for name, text in known:
                said = test.get(name, [])
                said = [said] if isinstance(said, str) else said
                if isinstance(text, str) and text.strip() and text not in said:
                    test[name] = [*said, text]
    places = {pair: path if len(tests) == 1 else path.with_stem(f"{path.stem}-{pair}") for pair in tests}
    suites = {pair: [test for test in own.values() if any(map(EXPECTATIONS.__contains__, test))]
              for pair, own in tests.items()}  # fmt: skip
    if not any(suites.values()):
        raise NbkitError("no item to write: nothing failed (--all also writes what passed), or its study has no texts")
    for pair, rows in suites.items():
        yield places[pair], write_suite(rows, places[pair], pair=pair, data=data[pair])
