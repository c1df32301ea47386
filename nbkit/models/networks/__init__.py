"""The networks that are trained here from nothing, as ordinary transformers models, and their vocabularies."""
