"""Translators: texts in, texts out."""
