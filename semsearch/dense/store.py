"""Where the vectors of an index are kept: the seam between an index and an engine. Ids in, ids out.

An index has two stores, one for each kind of vectors. Passages are searched: with filters, and perhaps by an
approximate method whose recall was measured. Sentences are only fetched by their ids.

What a store holds are segments, written once and never changed. A generation is a list of segments and a set of removed
ids, both named in the manifest (semsearch.storage.manifest), so that there is one commit point, which is SQLite's:

    with store.writer(8) as writer:     generation 8: its segment answers nobody yet
        writer.add(ids, vectors)
        segments = writer.finish()      durable now
    manifest: name the segments         COMMIT: from here on they answer
    store.open(segments, removed)       a reader of generation 8; those of generation 7 go on

A writer that dies before the COMMIT leaves segments that no manifest names; the next writer finds them among `names`
and drops them (semsearch.indexing.sweeping). Removed ids stay in their segments, and are told to each reader, until
`merge` writes what is left of some segments as new ones. Those that it replaces are dropped when no reader can be about
to open them. Ids are never reused, but a refit writes the same ids into new segments.

A further engine implements `VectorStore` and registers under a scheme (semsearch.dense.engines); tests/laws has the
contract that it must pass, which takes one more line there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt

from semsearch.arrays.id_ranges import Runs
from semsearch.arrays.top_k import Found
from semsearch.errors import UsageError
from semsearch.storage.segments import Segment

if TYPE_CHECKING:
    from semsearch.dense.stored import Stored

Float32 = npt.NDArray[np.float32]
Int64 = npt.NDArray[np.int64]
Questions = Callable[[Int64], Float32]  # questions about passages with these ids, as vectors, to measure recall with

NO_IDS = Runs.of(())


class VectorReader(Protocol):
    """The vectors of one generation: those in some segments, without what is removed. Threads may share it."""

    @property
    def rounding(self) -> float:
        """How far a number of a fetched vector may be from the one that was added."""

    def search(self, queries: Float32, n: int, *, allowed: Runs | None = None) -> Found:
        """The n ids whose vectors have the largest inner products with each query. (q, d) -> (q, ≤ n)

        Among the allowed ids, or all. Where there are fewer than n, the rest is none. Of equal scores at the edge, any
        may be taken. Raises UsageError for queries of another dimension.
        """

    def fetch(self, ids: Int64) -> Stored:
        """The vectors of those of the ids that are there, in any order. (n,)"""


class VectorWriter(Protocol):
    """Writes new segments. A context manager: leaving it unfinished gives up what was not yet written."""

    def add(self, ids: Int64, vectors: Float32) -> None:
        """Append vectors (n, d) with rising ids (n,).

        Raises UsageError for an id that is not above the ones before, and for vectors of another dimension.
        """

    def finish(self) -> list[Segment]:
        """The segments that were written, durable now. They answer once a manifest names them."""

    def __enter__(self) -> VectorWriter: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None: ...


class VectorStore(Protocol):
    """The vectors of one kind of an index, in segments. Threads may share it."""

    @property
    def largest(self) -> int:
        """The number of vectors up to which segments are merged."""

    @property
    def gathering(self) -> int | None:
        """The number of vectors from which a segment is searched faster: smaller ones are merged to reach it."""

    def open(self, segments: Sequence[Segment], removed: Runs) -> VectorReader:
        """A reader of some segments that does not find what is removed. What is open already is shared.

        Raises FileNotFoundError where a segment is gone, IndexDamaged where it is not what the manifest says.
        """

    def writer(self, generation: int, *, questions: Questions | None = None) -> VectorWriter:
        """A writer of segments for a generation to come."""

    def merge(
        self, segments: Sequence[Segment], removed: Runs, *, generation: int, questions: Questions | None = None
    ) -> list[Segment]:
        """New segments with what some segments hold that is not removed; the old ones stay as they are.

        An engine that cannot do it by itself leaves it to semsearch.dense.copying.
        """

    def check(self, segment: Segment) -> list[str]:
        """What is wrong with a segment, all of which is read. Raises FileNotFoundError where it is gone."""

    def names(self) -> Iterable[str]:
        """Every segment that takes up room, whole or not, named by a manifest or not: `Segment.file` of each."""

    def drop(self, name: str) -> None:
        """Delete a segment. Raises OSError where it is in use, on systems that then refuse."""


class Additions:
    """What a writer was given so far, to see that what comes next belongs to it."""

    def __init__(self) -> None:
        self._last: int | None = None
        self._dimension: int | None = None

    def check(self, ids: Int64, vectors: Float32) -> None:
        """Raises UsageError for ids that do not rise, and for vectors that are not as many, or not of one length."""
        if vectors.ndim != 2 or len(vectors) != len(ids):
            raise UsageError(f"{len(ids)} ids came with vectors of shape {vectors.shape}; give one row for each id")
        if self._dimension not in (None, vectors.shape[1]):
            raise UsageError(f"vectors of {vectors.shape[1]} numbers came after ones of {self._dimension}")
        if not len(ids):
            return
        rising = ids if self._last is None else np.concatenate(([self._last], ids))
        wrong = np.flatnonzero(np.diff(rising) <= 0)
        if len(wrong):
            before, after = rising[wrong[0] : wrong[0] + 2].tolist()
            raise UsageError(f"the id {after} came after {before}; give each id once, the lowest first")
        self._last, self._dimension = int(ids[-1]), int(vectors.shape[1])


def check_dimension(queries: Float32, dimension: int) -> None:
    """Raises UsageError for queries that cannot be compared with vectors of a dimension."""
    if queries.ndim != 2 or queries.shape[1] != dimension:
        raise UsageError(f"queries of shape {queries.shape} cannot be compared with vectors of {dimension} numbers")
