"""Answers of an index: hits, contexts, explanations, reports. Plain frozen data, and the `Searchable` protocol."""
