"""NLI classifiers: pairs of texts in, probabilities out."""
