"""Whether one model trained on all of the sandbox behaves as the models that were each trained for one study.

    python benchmarks/one_model.py [--texts 400] [--quick]

Trains the models where they are not there yet; everything is remembered in the cache. The headline measure of each
study, of `sandbox` and of the model for that study, on the same items; where less is better, of what is left. A model's
minutes are those of its card, to be compared only if both were trained on an idle machine.
"""

from __future__ import annotations

from reporting import Report, parse, parser

from nbcards.values import estimates
from nbkit.batch.card import plan_card
from nbkit.models import label
from nbkit.studies.results import computed

#: The study, its specialised model, and the pair.
PEERS = [
    ("word_order", "sandbox-marian", ("en", "de")),
    ("numbers", "sandbox-numbers", ("en", "de")),
    ("idioms", "sandbox-idioms-joint", ("en", "fr")),
    ("disambiguation", "sandbox-wsd-marian", ("en", "de")),
]


def main() -> None:
    made = parser(__doc__, repeat=1)
    made.add_argument("--texts", type=int, default=500, help="texts that each model is asked for each study")
    options = parse(made, texts=200)
    report = Report(__file__, "One model for all of the sandbox", options)
    for study, peer, pair in PEERS:
        plan = plan_card(["sandbox", peer], pair, max_texts=options.texts)
        (planned,) = [each for each in plan.behaviours if each.study.name == study]
        assert planned.params is not None, planned.reason
        headline = planned.behaviour.headline
        values = estimates(computed(planned.params), headline).set_index("system")["value"]
        if headline.better == "lower":
            values = 1 - values
        one, other = values[label("sandbox")], values[label(peer)]
        note = f"{one:.3f} against {other:.3f}"
        report.add(f"{headline.label}, {'→'.join(pair)}", one / other, against=peer, bar="≥ 0.8", note=note)
    report.write()


if __name__ == "__main__":
    main()
