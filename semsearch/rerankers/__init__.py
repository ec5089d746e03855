"""Reranking by a model: sentence encoders and cross-encoders of sentence-transformers."""
