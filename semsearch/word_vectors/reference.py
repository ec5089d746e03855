"""Word vectors by reference, for other processes and machines: what to open there, and the digest that it must have.

A table is not sent: it is opened, by memory mapping, where it is needed. So all processes of a machine share one copy.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from semsearch.errors import UsageError, VectorsError, VectorsMismatch
from semsearch.word_vectors.loading import load_vectors
from semsearch.word_vectors.shipped import shipped_name
from semsearch.word_vectors.table import VectorTable, WordVectors


@dataclass(frozen=True, slots=True)
class VectorsReference:
    """Word vectors by the name of shipped ones, or by their folder; with their own name, for people."""

    place: str
    name: str
    digest: str

    @classmethod
    def of(cls, vectors: WordVectors) -> VectorsReference:
        """The reference to opened word vectors. Raises UsageError for such as are in this process only."""
        folder = getattr(vectors, "folder", None)
        if folder is None:
            raise UsageError(
                f"the word vectors {vectors.name} are in this program only, and no other can open them; "
                "give a name or a folder"
            )
        return cls(shipped_name(Path(folder)) or str(Path(folder).resolve()), vectors.name, vectors.digest)

    def open(self) -> VectorTable:
        """Open them, once a process. Raises VectorsError if they are not there, VectorsMismatch if they are others."""
        return _opened(self)


@lru_cache(maxsize=4)
def _opened(reference: VectorsReference) -> VectorTable:
    from socket import gethostname  # start-up time: a query opens its own

    wanted = f"the word vectors {reference.name} ({reference.digest[:8]})"
    try:
        table = load_vectors(reference.place)
    except VectorsError as error:
        raise VectorsError(
            f"{gethostname()} lacks {wanted}: {error}; put them there under the same path, or in a folder that "
            "all machines share"
        ) from error
    if table.digest != reference.digest:
        raise VectorsMismatch(
            f"{reference.place} on {gethostname()} has other word vectors, {table.name} ({table.digest[:8]}), "
            f"than {wanted}; copy those there"
        )
    return table
