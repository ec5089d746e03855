"""Postings of terms, and BM25 over them."""
