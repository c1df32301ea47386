"""Whether the disambiguation study finds what the sandbox was built with: bias goes with errors, informed attacks win.

    python benchmarks/disambiguate.py [--models sandbox-wsd-marian …] [--pairs 1000] [--quick]

Trains the models of the sandbox's homographs where they are not there yet, then runs the study here. Bars: the
correlation of the difference of FREQ with wrong senses is positive with p < 1e-5, and the attack challenge set wins
more often than a random set of as many samples. Everything is
remembered in the cache: a second run costs seconds.
"""

from __future__ import annotations

from reporting import Report, parse, parser

from nbkit.models import label
from nbkit.studies.disambiguation import DisambiguationParams, pages
from nbkit.studies.disambiguation.sets import attack_sets

MODELS = ["sandbox-wsd-marian", "sandbox-wsd-lstm", "sandbox-wsd-convs2s"]


def main() -> None:
    made = parser(__doc__, repeat=1)
    made.add_argument("--models", nargs="+", default=MODELS)
    made.add_argument("--pairs", type=int, default=1000, help="test pairs that are looked at")
    made.add_argument("--seeds", type=int, default=150, help="seed sentences that are attacked")
    options = parse(made, models=MODELS[:1], pairs=600, seeds=80)
    report = Report(__file__, "Disambiguation on the sandbox: bias goes with errors, informed attacks win", options)
    params = DisambiguationParams(
        models=options.models, n_pairs=options.pairs, n_seeds=options.seeds, n_samples=20, attack_size=200, bleu_pairs=0
    )
    outcomes, attacks = pages.read(params), pages.read(params, "attacks")
    errors = pages.error_rates(outcomes).set_index("model")
    found = pages.bias_strengths(params, outcomes)
    biases = found[found["main"] & (found["measure"] == "freq_diff")].set_index("model")
    sets = attack_sets(params, attacks.drop_duplicates("item"))
    rates = pages.rates_of_sets(pages.success_rates, attacks, sets).set_index(["model", "set"])["value"]
    for name in map(label, options.models):
        informed, random = rates[name, "challenge"], rates[name, "random"]
        bias = biases.loc[name]
        rate = errors.loc[name, "value"]
        report.add(f"{name}: wrong senses", 100 * rate, "%")
        report.add(f"{name}: RBC of the difference of FREQ", bias["value"], "", bar="≥ 0")
        report.add(f"{name}: p of that", bias["p"], "", bar="≤ 1e-5")
        report.add(f"{name}: attacks that win", 100 * informed, "%", against="random ones", bar=f"≥ {100 * random:.3g}")
    report.write()


if __name__ == "__main__":
    main()
