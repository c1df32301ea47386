"""From a hypothesis to a premise: what must have been said for it to follow, to be open, or to be wrong."""

from nbkit.corpora.sandbox.inference.rules import clauses, events, said
from nbkit.corpora.sandbox.inference.rules.table import RULES, Rule

__all__ = ["RULES", "Rule", "clauses", "events", "said"]
