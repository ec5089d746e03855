"""Word vectors: words, a vector and a probability for each. `load_vectors` opens them by name or by path."""

from semsearch.vectors.loading import load_vectors
from semsearch.vectors.table import VectorTable, WordVectors

__all__ = ["VectorTable", "WordVectors", "load_vectors"]
