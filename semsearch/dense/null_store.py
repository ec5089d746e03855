"""The store of vectors that are not kept: those of sentences, where an engine has only the passages'."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from semsearch.arrays.id_ranges import IdRanges
from semsearch.arrays.top_k import TopKResult, nothing_found
from semsearch.arrays.types import Float32, Int64
from semsearch.dense.vector_store import Questions
from semsearch.storage.segments import LARGEST, Segment

if TYPE_CHECKING:
    from semsearch.dense.stored_vectors import StoredVectors


class NullStore:
    """A store that discards what is written to it; also its own reader and writer."""

    largest = LARGEST
    gathering = None
    rounding = 0.0

    def open(self, segments: Sequence[Segment], removed: IdRanges) -> NullStore:
        """Open a reader, which finds nothing."""
        del segments, removed
        return self

    def writer(self, generation: int, *, questions: Questions | None = None) -> NullStore:
        """Make a writer, which keeps nothing."""
        del generation, questions
        return self

    def check(self, segment: Segment) -> list[str]:
        """Check nothing: a segment here belongs to an index that kept its vectors elsewhere."""
        return [f"{segment.file} is not kept"]

    def names(self) -> Iterable[str]:
        """The names of no segment."""
        return ()

    def drop(self, name: str) -> None:
        """Drop nothing."""

    def search(self, queries: Float32, n: int, *, allowed: IdRanges | None = None) -> TopKResult:
        """Find nothing. (q, d) -> (q, 0)"""
        del n, allowed
        return nothing_found(len(queries))

    def fetch(self, ids: Int64) -> StoredVectors:
        """Fetch nothing. (n,)"""
        from semsearch.dense.stored_vectors import nothing_stored  # loads FAISS, which words alone do not need

        return nothing_stored(len(ids))

    def release(self) -> None:
        """Nothing is in memory."""

    def add(self, ids: Int64, vectors: npt.NDArray[Any]) -> None:
        """Forget vectors."""

    def finish(self) -> list[Segment]:
        """Make no segment."""
        return []

    def __enter__(self) -> NullStore:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        """Nothing was written."""
