"""Open word vectors: `english`, which ships with semsearch, a folder made by semsearch, or a file of another format."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from semsearch.errors import VectorsError
from semsearch.word_vectors.shipped import DEFAULT_VECTORS, shipped, shipped_names
from semsearch.word_vectors.table import VectorTable, WordVectors

__all__ = ["DEFAULT_VECTORS", "WordVectorsLike", "load_vectors", "open_vectors", "shipped_names"]

WordVectorsLike = str | Path | WordVectors


def load_vectors(
    name_or_path: str | Path = DEFAULT_VECTORS, *, progress: Callable[[int, int], None] | None = None
) -> VectorTable:
    """Open word vectors by name (shipped) or path (a folder; or a GloVe, word2vec or fastText file, converted once).

    `progress(done, total)` is called with the bytes read while a file is converted.
    Raises VectorsError if there are none, or they cannot be read.
    """
    if table := shipped(str(name_or_path)):
        return table
    path = Path(name_or_path)
    if path.is_dir():
        return VectorTable(path)
    if path.is_file():
        from semsearch.word_vectors.converted import open_converted  # start-up time: most never need it

        return open_converted(path, progress=progress)
    raise VectorsError(
        f"there are no word vectors {str(name_or_path)!r}; shipped: {', '.join(shipped_names())}; or give a path"
    )


def open_vectors(vectors: WordVectorsLike) -> WordVectors:
    """Open word vectors by name or path; a table that is open already is returned. Raises VectorsError."""
    return load_vectors(vectors) if isinstance(vectors, str | Path) else vectors
