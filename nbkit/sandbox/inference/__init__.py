"""Premises and hypotheses from the sandbox's world, with the label that follows from how they were made."""

from __future__ import annotations

from nbkit.sandbox.inference.stream import LABELS, entailment, entailment_identity

__all__ = ["LABELS", "entailment", "entailment_identity"]
