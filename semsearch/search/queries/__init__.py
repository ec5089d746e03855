"""Queries: their phrases, terms and vectors; a passage or a document in place of a query."""
