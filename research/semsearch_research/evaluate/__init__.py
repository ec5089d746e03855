"""Measurements on public collections: retrieval (BEIR's layout), similarity of sentences (STS), word vectors."""
