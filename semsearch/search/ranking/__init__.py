"""Candidates to ranked passages: scores of both halves, their fusion, boosts, relevance, folding, reranking."""
