"""Similarity of sentences against people's scores: the SIF and uSIF papers' unsupervised tables."""
