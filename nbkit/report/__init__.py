"""The report of a run: executed notebooks as clean pages of one static site."""
