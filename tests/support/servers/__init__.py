"""Servers that tests start, what stands between them and their clients, and what watches a place."""
