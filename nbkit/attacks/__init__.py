"""Candidates and filters that need models. What is in this room is imported by its module: nothing loads here."""
