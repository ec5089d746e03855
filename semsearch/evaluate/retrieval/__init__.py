"""Retrieval on collections in BEIR's layout."""
