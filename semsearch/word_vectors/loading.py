"""Open word vectors: `english`, which ships with semsearch, or a folder. semsearch-research makes such folders.

Other processes and machines get a reference: what to open there, and the digest that it must have. A table is not sent
but opened there, by memory mapping, so all processes of a machine share one copy.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from socket import gethostname

from semsearch.errors import UsageError, VectorsError, VectorsMismatch
from semsearch.word_vectors.table import DEFAULT_VECTORS, VectorTable, WordVectors, shipped, shipped_name, shipped_names

__all__ = ["DEFAULT_VECTORS", "WordVectorsLike", "load_vectors", "open_vectors", "shipped_names"]

WordVectorsLike = str | Path | WordVectors


def load_vectors(name_or_path: str | Path = DEFAULT_VECTORS) -> VectorTable:
    """Open word vectors by name (shipped), or by the path of their folder.

    For a GloVe, word2vec or fastText file, the folder beside it that `semsearch vectors import` has made is opened.
    Raises VectorsError if there are none, or they cannot be read.
    """
    if table := shipped(str(name_or_path)):
        return table
    path = Path(name_or_path)
    if path.is_file():
        folder = path.with_name(f"{path.name}.semsearch")
        if not folder.is_dir():
            raise VectorsError(f"{path} is a file, not a folder of word vectors; run: semsearch vectors import {path}")
        path = folder
    if path.is_dir():
        return VectorTable(path)
    raise VectorsError(
        f"there are no word vectors {str(name_or_path)!r}; expected {', '.join(shipped_names())}, or a path"
    )


def open_vectors(vectors: WordVectorsLike) -> WordVectors:
    """Open word vectors by name or path, as `load_vectors`; a table that is open already is returned."""
    return load_vectors(vectors) if isinstance(vectors, str | Path) else vectors


@dataclass(frozen=True, slots=True)
class VectorsReference:
    """Word vectors by the name of shipped ones, or by their folder; with their own name, for people."""

    place: str
    name: str
    digest: str

    @classmethod
    def of(cls, vectors: WordVectors) -> VectorsReference:
        """The reference to opened word vectors. Raises UsageError for vectors without a folder."""
        folder = getattr(vectors, "folder", None)
        if folder is None:
            raise UsageError(
                f"other processes cannot open the word vectors {vectors.name}, which only this program holds; "
                "give a name or a folder"
            )
        return cls(shipped_name(Path(folder)) or str(Path(folder).resolve()), vectors.name, vectors.digest)

    def open(self) -> VectorTable:
        """Open them, once a process. Raises VectorsError if they are not there, VectorsMismatch if others are."""
        return _opened(self)


@lru_cache(maxsize=4)
def _opened(reference: VectorsReference) -> VectorTable:
    wanted = f"the word vectors {reference.name} ({reference.digest[:8]})"
    try:
        table = load_vectors(reference.place)
    except VectorsError as error:
        raise VectorsError(
            f"{gethostname()} does not have {wanted}: {error}; copy them to the same path there, or to a "
            "folder that all machines share"
        ) from error
    if table.digest != reference.digest:
        raise VectorsMismatch(
            f"{reference.place} on {gethostname()} contains {table.name} ({table.digest[:8]}), "
            f"expected {wanted}; copy those there"
        )
    return table
