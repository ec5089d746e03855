"""An engine that answers with rows which nobody wrote: damage that is said, and no other error."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from semsearch.arrays.id_ranges import IdRanges
from semsearch.arrays.types import Records
from semsearch.dense.vector_store import NO_IDS, SegmentsReader
from semsearch.errors import IndexDamaged
from semsearch.storage.segments import Segment
from semsearch_scale.stores.postgres_reader import SegmentTable, records_in, records_of

SEGMENT = Segment("passage", "passage-1", 0, IdRanges.of([(100, 4)]), "passage_4 1 0 digest")
QUERY = np.ones((1, 4), np.float32)


class Postgres:
    """A server that answers each query with the same rows."""

    def __init__(self, rows: Sequence[Any], data: bytes = b"") -> None:
        self._rows, self._data = rows, data

    def read(self, _: SegmentTable, work: Any, *_queries: int) -> Any:
        async def fetch(*_: object) -> Sequence[Any]:
            return self._rows

        return asyncio.run(work(SimpleNamespace(fetch=fetch)))

    def fetch(self, one: SegmentTable, *_: object) -> Records:
        return records_in(self._data, one.dimension)


def postgres(rows: Sequence[Any], data: bytes = b"") -> SegmentsReader:
    return SegmentsReader([SegmentTable(Postgres(rows, data), SEGMENT, "t", 4, has_graph=False)], NO_IDS)  # type: ignore[arg-type]  # plays it


@pytest.mark.parametrize(
    "reader",
    [
        postgres([(7, -0.5)]),
        postgres([(-1, -0.5)]),
        postgres([(1 << 70, -0.5)]),
        postgres([(0, float("nan"))]),
        postgres([(0, -float("inf"))]),
        postgres([(None, -0.5)]),
        postgres([(0, "x")]),
        postgres([()]),
    ],
)
def test_hits_that_cannot_be_are_damage(reader: SegmentsReader) -> None:
    with pytest.raises(IndexDamaged, match="passage-1 does not answer as semsearch wrote it"):
        reader.search(QUERY, 3)


@pytest.mark.parametrize(
    "reader",
    [
        postgres([], b"x" * 15),
        postgres([], records_of(np.arange(2), np.full((2, 4), np.nan, np.float32)).tobytes()),
    ],
)
def test_vectors_that_cannot_be_are_damage(reader: SegmentsReader) -> None:
    with pytest.raises(IndexDamaged, match="passage-1"):
        reader.fetch(np.array([100, 101]))
