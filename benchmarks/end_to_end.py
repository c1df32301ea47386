"""The word-order study from texts to scores, against the way of the paper's own code, by stages, in one run.

    NBKIT_DATA=… python benchmarks/end_to_end.py [--pairs 100] [--threads 1] [--repeat 3] [--quick]

Multi30k English-German under all 16 perturbations, the small real Marian model, beam 4, BLEU. The peer does, for one
perturbation after the other, what one would write first: parse every source and reference, perturb both, translate
the perturbed sources and the gold ones again in batches of 16 in corpus order, and score β, β1 and β2 with sacreBLEU's
`sentence_score`. nbkit computes the same, α and the level of chance besides, with transformers and with ``@ct2``, into
an empty store. Models and pipelines are loaded, and weights converted, before the clock starts. Both sides make the
same texts; that they do, and how many hypotheses agree, stands under the table.
"""

from __future__ import annotations

import os
import shutil
import statistics
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from reporting import Report, cpu_seconds, data_folder, in_turn, need, parse, parser

STAGES = ("parsing", "decoding", "scoring")
CORPUS = "multi30k"
MODEL = "${NBKIT_DATA}/models/m30k-{src}-{tgt}"
PARSERS = {lang: f"${{NBKIT_DATA}}/models/{lang}_ud_sm" for lang in ("en", "de")}


@dataclass
class Outcome:
    """Seconds by stage, hypotheses by text, and how many texts were decoded."""

    seconds: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    hypotheses: dict[str, str] = field(default_factory=dict)
    decoded: int = 0

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        began = cpu_seconds()
        yield
        self.seconds[name] += cpu_seconds() - began


class PapersWay:
    """Loaded pipelines and model, without anything of nbkit but the perturbations themselves."""

    def __init__(self, pairs: int):
        import sacrebleu
        import spacy

        from nbkit.corpora import Request, find_corpus
        from tests.models.by_name import load_translator

        corpus, split = find_corpus(CORPUS)
        raw = [pair for pair, _ in zip(corpus.raw_pairs(Request("en", "de", split)), range(pairs), strict=False)]
        self.texts = [(pair.source, pair.target) for pair in raw]
        self.pipelines = {lang: spacy.load(os.path.expandvars(place)) for lang, place in PARSERS.items()}
        self.translator = load_translator(MODEL, "en", "de", device="cpu")
        self.bleu = sacrebleu.BLEU(effective_order=True)

    def run(self, names: list[str], decoding: Any) -> Outcome:
        from backends import plain_loop

        from nbkit.perturb import perturb_text
        from nbkit.text.parsers import squeeze, to_text

        outcome = Outcome()
        for name in names:
            kept = []
            for source, reference in self.texts:
                with outcome.stage("parsing"):
                    sides = [
                        to_text(self.pipelines[lang](squeeze(text)), lang)
                        for lang, text in (("en", source), ("de", reference))
                    ]
                orders = [perturb_text(side, name) for side in sides]
                if None not in orders:
                    moved = [side.reorder(order) for side, order in zip(sides, orders, strict=True)]
                    kept.append((source, reference, *moved))
            given = [entry[2] for entry in kept], [entry[0] for entry in kept]
            with outcome.stage("decoding"):
                perturbed, plain = (plain_loop(self.translator, texts, decoding) for texts in given)
            outcome.decoded += sum(map(len, given))
            outcome.hypotheses |= dict(zip(given[0], perturbed, strict=True))
            with outcome.stage("scoring"):
                for (_, reference, _, moved_reference), gold, hypothesis in zip(kept, plain, perturbed, strict=True):
                    self.bleu.sentence_score(gold, [reference])
                    self.bleu.sentence_score(hypothesis, [reference])
                    self.bleu.sentence_score(hypothesis, [moved_reference])
        return outcome


def ours(params: Any, model: str) -> Outcome:
    """The study's own tables, stage by stage, into an empty store."""
    from nbkit.store import Store, cache_folder
    from nbkit.studies.word_order import STUDY

    outcome, own = Outcome(), params.model_copy(update={"models": [model]})
    shutil.rmtree(f"{cache_folder()}/store", ignore_errors=True)
    with outcome.stage("parsing"):
        items = STUDY.read(own, "items")
    texts = list(dict.fromkeys([*items["source"], *items["changed"]]))
    with outcome.stage("decoding"):
        hypotheses = own.translate(model, texts, "en", "de", Store())
    outcome.decoded += len(texts)
    outcome.hypotheses |= dict(zip(texts, hypotheses, strict=True))
    with outcome.stage("scoring"):
        STUDY.read(own)
        STUDY.read(own, "difficulty")
    return outcome


def main() -> None:
    made = parser(__doc__)
    made.add_argument("--pairs", type=int, default=100, help="sentence pairs, each under 16 perturbations")
    made.add_argument("--threads", type=int, default=1)
    options = parse(made, pairs=12)
    data_folder()
    need("spacy", "ctranslate2")
    import torch

    from nbkit.models import Decoding
    from nbkit.studies.word_order import WordOrderParams

    torch.set_num_threads(options.threads)
    report = Report(__file__, "Word order end to end, against the paper's way", options)
    systems = {"nbkit": MODEL, "nbkit @ct2": f"{MODEL}@ct2"}
    params = WordOrderParams(
        corpus=CORPUS, languages=["de"], models=list(systems.values()), n_pairs=options.pairs, metrics=["bleu"],
        parsers=PARSERS, max_new_tokens=80, device="cpu",
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as cache:
        os.environ["NBKIT_CACHE"] = cache  # what is converted here is of no use later
        papers_way = PapersWay(options.pairs)
        for model in systems.values():  # models and pipelines are loaded now, and kept in this process
            ours(params.model_copy(update={"n_pairs": 2}), model)
        decoding = Decoding(beams=4, max_new_tokens=80)
        sides = {"the paper's way": lambda: papers_way.run(params.perturbation_names, decoding)}
        sides |= {name: lambda model=model: ours(params, model) for name, model in systems.items()}
        stages: dict[str, list[dict[str, float]]] = {name: [] for name in sides}

        def noted(name: str) -> Outcome:
            outcome = sides[name]()
            stages[name].append(dict(outcome.seconds))
            return outcome

        turns = in_turn({name: lambda name=name: noted(name) for name in sides}, options.repeat)
    peer = turns["the paper's way"]
    for name in systems:
        for stage in STAGES:
            theirs, mine = (_median(stages[each], stage) for each in ("the paper's way", name))
            report.add(f"{stage}, {name}", theirs / mine, note=f"{theirs:.2f} s against {mine:.2f} s")
        bar = "≥ 10" if name == "nbkit @ct2" else ""
        seconds = f"{peer.median:.2f} s against {turns[name].median:.2f} s"
        report.add(
            f"**all, {name}**", peer.median / turns[name].median, against="the paper's way", bar=bar, note=seconds
        )
    texts = peer.result.decoded, turns["nbkit"].result.decoded
    report.add("de-duplication: texts decoded", texts[0] / texts[1], note=f"{texts[0]} against {texts[1]}")
    expected = peer.result.hypotheses
    for name in systems:
        found = turns[name].result.hypotheses
        same = sum(found[text] == hypothesis for text, hypothesis in expected.items())
        report.remark(f"{name}: {same} of {len(expected)} hypotheses of perturbed texts are the paper's way's.")
    report.write()


def _median(stages: list[dict[str, float]], name: str) -> float:
    return statistics.median(each[name] for each in stages)


if __name__ == "__main__":
    main()
