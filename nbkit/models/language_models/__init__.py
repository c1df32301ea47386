"""Language models: texts in, perplexities and probabilities of words out."""
