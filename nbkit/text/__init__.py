"""Sentences and texts, and what is known of their words: trees, parsers, noun phrases, phrases."""
