"""Whether the disambiguation study finds what the sandbox was built with: bias goes with errors, informed attacks win.

    python benchmarks/disambiguate.py [--models sandbox-wsd-marian …] [--pairs 1000]

Trains the models of the sandbox's homographs where they are not there yet, then runs the study here. Bars: the
correlation of the difference of FREQ with wrong senses is positive with p < 1e-5, and the attack challenge set wins
more often than a random set of as many samples. It ends with 1 where a model misses one of them. Everything is
remembered in the cache: a second run costs seconds.
"""

from __future__ import annotations

import argparse
import sys

from nbkit.models import label
from nbkit.studies import disambiguation as study

MODELS = ["sandbox-wsd-marian", "sandbox-wsd-lstm", "sandbox-wsd-convs2s"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="+", default=MODELS)
    parser.add_argument("--pairs", type=int, default=1000, help="test pairs that are looked at")
    parser.add_argument("--seeds", type=int, default=150, help="seed sentences that are attacked")
    options = parser.parse_args()
    params = study.DisambiguationParams(
        models=options.models, n_pairs=options.pairs, n_seeds=options.seeds, n_samples=20, attack_size=200, bleu_pairs=0
    )
    errors = study.errors(params).set_index("model")
    found = study.correlations(params)
    biases = found[found["main"] & (found["measure"] == "freq_diff")].set_index("model")
    attacks = study.attack_challenge(params).set_index(["model", "set"])["rate"]
    missed = False
    print(f"{'model':14} {'errors':>8} {'RBC':>6} {'p':>9} {'informed':>9} {'random':>7}")
    for name in map(label, options.models):
        informed, random = attacks[name, "challenge"], attacks[name, "random"]
        bias = biases.loc[name]
        missed |= not (bias["rbc"] > 0 and bias["p"] < 1e-5 and informed > random)
        rate = errors.loc[name, "rate"]
        print(f"{name:14} {rate:8.1%} {bias['rbc']:6.2f} {bias['p']:9.1e} {informed:9.1%} {random:7.1%}")
    sys.exit(int(missed))


if __name__ == "__main__":
    main()
