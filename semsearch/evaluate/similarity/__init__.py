"""Compare similarities of sentences with gold scores: the SIF and uSIF papers' unsupervised tables."""
