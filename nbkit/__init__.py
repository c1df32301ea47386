"""nbkit: behavioural tests of translation models, as functions and as notebooks.

Importing the package is cheap: rooms that need torch, transformers, spaCy or pandas are imported
when something in them is used.
"""

__version__ = "0.1.0"
