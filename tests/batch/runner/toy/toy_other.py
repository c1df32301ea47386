"""What `toy_study` does not import."""
