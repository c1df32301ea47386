"""Texts in; translations, labels, likelihoods out: `load` a model by its name, and `ask` it.

Importing this package imports neither torch nor transformers; the first answer does.

>>> from nbkit.models import Decoding, check, load
>>> model = load("opus-mt", "translate", "en", "de", decoding=Decoding(beams=5), device="cpu")
>>> model.label, model.identity()["hub"]
('Helsinki-OPUS', 'Helsinki-NLP/opus-mt-en-de')
"""

from nbkit.models.answers import ask, check, label, load, missing, translate
from nbkit.models.model import Decoding
from nbkit.models.names import CATALOGUE, Entry, register

#: Named translators, NLI classifiers and language models; `register` of each adds one.
MODELS, CLASSIFIERS, LANGUAGE_MODELS = (CATALOGUE[noun] for noun in ("model", "classifier", "language model"))

__all__ = [
    "CLASSIFIERS",
    "LANGUAGE_MODELS",
    "MODELS",
    "Decoding",
    "Entry",
    "ask",
    "check",
    "label",
    "load",
    "missing",
    "register",
    "translate",
]
