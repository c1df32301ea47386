"""The known answers of the sandbox's models as tables: ``python docs/known_answers.py params/sandbox.yaml``.

Everything is computed from the run file's parameters, and read from the cache where its run has been made.
"""

from __future__ import annotations

import sys
from typing import Any

import pandas as pd

from nbkit.batch.params import entries, params_of, read
from nbkit.corpora import load_pairs
from nbkit.corpora.sandbox import gold_senses
from nbkit.models import translate
from nbkit.models.translators.texts import corpus_bleu
from nbkit.studies.disambiguation import STUDY as DISAMBIGUATION
from nbkit.studies.disambiguation.pages import success_rates
from nbkit.studies.idioms import STUDY as IDIOMS
from nbkit.studies.nli_permutation import STUDY as NLI
from nbkit.studies.nli_permutation.acceptance import measures
from nbkit.studies.numbers import STUDY as NUMBERS
from nbkit.studies.summarise import summarise
from nbkit.studies.word_order import STUDY as WORD_ORDER

#: What the training sentences have: numbers of five digits at most, two of them behind the point.
TRAINED = "size < 1e5 and (fraction_digits != fraction_digits or fraction_digits <= 2)"
#: Enough senses and attacks for values to a few per cent.
SENSES = {"n_pairs": 1000, "training_pairs": 9000, "aligner_pairs": 4000, "n_seeds": 100, "n_samples": 6, "twins": {}}
LANGUAGES = ("de", "fr", "es", "it", "ru", "zh", "ja")


def bleu(models: list[str], n: int = 100) -> pd.DataFrame:
    """BLEU (beam 4) on the first plain test sentences, in each direction."""
    rows = []
    for src, tgt in [*(("en", lang) for lang in LANGUAGES), *((lang, "en") for lang in LANGUAGES)]:
        pairs = list(load_pairs("sandbox:test", src, tgt, n=n))
        for model in models:
            found = translate(model, [pair.source.text for pair in pairs], src, tgt, progress=False)
            score = corpus_bleu(found, [pair.target.text for pair in pairs], tgt)
            rows.append({"model": model, "pair": f"{src}→{tgt}", "value": score / 100})
    return pd.DataFrame(rows)


def wide(table: pd.DataFrame, row: str | list[str], column: str, value: str = "value") -> None:
    """Print *value* as a Markdown table, in per cent."""
    cells = table.set_index([*([row] if isinstance(row, str) else row), column])[value].unstack(sort=False)
    text = (100 * cells).map("{:.1f}".format).replace("nan", "–").reset_index()
    print("|", " | ".join(map(str, text.columns)), "|")
    print("|" + "---|" * len(text.columns))
    for each in text.itertuples(index=False):
        print("|", " | ".join(map(str, each)), "|")
    print()


def main(run_file: str) -> None:
    """Print the tables of a run file with an entry for each study; several of idioms are taken together."""
    run = read(run_file)
    params: dict[str, Any] = {
        study.name: params_of(run, study.name) for study in (WORD_ORDER, NUMBERS, IDIOMS, DISAMBIGUATION, NLI)
    }
    print("BLEU of plain sentences\n")
    wide(bleu(params["word_order"].models), "pair", "model")

    found = WORD_ORDER.read(params["word_order"])
    found = found[(found["metric"] == "bleu") & (found["perturbation"] != "control")]
    print("β₁ − β₂ (in hundredths), by language and by perturbation\n")
    for over, by in (("perturbation", "target_language"), ("target_language", "perturbation")):
        wide(summarise(found, "beta1 - beta2", ["model", by], average_over=over, within=(-1, 1)), by, "model")

    found = NUMBERS.read(params["numbers"])
    trained = found.assign(size=found["value"].astype(float).abs()).eval(TRAINED, engine="python")
    found = found.assign(length=trained.map({True: "as in training", False: "longer"}))
    print("Numbers carried over\n")
    rates = summarise(found, "strict", ["model", "capability", "length"], interval="share")
    wide(rates, ["capability", "length"], "model")

    found = pd.concat(IDIOMS.read(entry.params) for entry in entries(run) if entry.study is IDIOMS)
    found = found[found["main"].astype(bool)].drop_duplicates(["name", "condition", "item"])
    print("Idioms translated literally (LitTER)\n")
    wide(summarise(found, "paper", ["name", "condition"], average_over="idiom", interval="share"), "condition", "name")

    senses = params["disambiguation"]
    senses = senses.model_copy(update={"models": [*senses.models, *params["word_order"].models], **SENSES})
    found = DISAMBIGUATION.read(senses)
    [corpus] = senses.test_corpora
    contexts = {
        (f"{corpus}/{pair.id}", gold.word): "misleading" if gold.is_misleading else "fitting"
        for pair in load_pairs(corpus, senses.source, senses.target, n=senses.n_pairs)
        for gold in gold_senses(pair)
    }
    found = found.assign(context=list(map(contexts.get, zip(found["pair"], found["homograph"], strict=True))))
    print("Senses right, by what the other words point to; attacks that succeed\n")
    tables = [
        summarise(found, "right", ["model", "context"], interval="share"),
        summarise(found, "right", "model", interval="share").assign(context="all"),
        success_rates(DISAMBIGUATION.read(senses, "attacks")).assign(context="attacks that succeed"),
    ]
    wide(pd.concat(tables), "context", "model")

    pairs = NLI.read(params["nli_permutation"], "pairs", lambda rows: rows["comparison"] == "main")
    found = measures(pairs)
    entropy = summarise(pairs, "entropy", ["model", "corpus"], within=None).assign(
        measure="entropy (hundredths of nats)"
    )
    print("NLI under permuted words\n")
    wide(pd.concat([found, entropy]), ["corpus", "measure"], "model")


if __name__ == "__main__":
    main(*sys.argv[1:])
