"""Classify sentences into groups of the same meaning, by their vectors: White et al. 2015."""
