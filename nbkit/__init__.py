"""nbkit: behavioural tests of translation models, as functions and as notebooks.

Importing the package is cheap: rooms that need torch, transformers, spaCy or pandas are imported
when something in them is used.
"""

from nbkit.deprecation import explain_moved_modules

__version__ = "0.1.0"
explain_moved_modules()
