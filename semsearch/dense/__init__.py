"""Vectors in FAISS segments: written, scanned, looked up."""
