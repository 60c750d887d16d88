"""Sentence pairs: read, cleaned, packed on disk, and cut into minibatches."""
