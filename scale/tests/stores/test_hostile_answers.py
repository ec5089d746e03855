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
from semsearch.dense.segments_reader import SegmentsReader
from semsearch.dense.vector_store import NO_IDS
from semsearch.errors import IndexDamaged
from semsearch.storage.segments import Segment
from semsearch_scale.stores.milvus_reader import Partition
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


class Milvus:
    """A server that answers each query with the same hits or rows, under the name of its collections, too."""

    name = "semsearch"

    def __init__(self, answer: Any) -> None:
        self.server, self._answer = self, answer

    def ask(self, work: Any) -> Any:
        client = SimpleNamespace(search=lambda **_: self._answer, query=lambda **_: self._answer)
        return work(client, 1.0)


def postgres(rows: Sequence[Any], data: bytes = b"") -> SegmentsReader:
    return SegmentsReader([SegmentTable(Postgres(rows, data), SEGMENT, "t", 4)], NO_IDS)  # type: ignore[arg-type]  # plays it


def milvus(answer: Any) -> SegmentsReader:
    return SegmentsReader([Partition(Milvus(answer), SEGMENT)], NO_IDS)  # type: ignore[arg-type]  # plays it


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
        milvus([[{"id": 7, "distance": 0.5}]]),
        milvus([[{"id": 100, "distance": float("nan")}]]),
        milvus([[{"id": 100, "distance": 0.5}] * 9]),
        milvus([[{"id": 100, "distance": 0.5}]] * 3),
        milvus([[{"id": "x", "distance": 0.5}]]),
        milvus([[{}]]),
        milvus(None),
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
        milvus([{"id": 100, "vector": [0.0] * 4}, {"id": 101, "vector": [float("nan")] * 4}]),
        milvus([{"id": 100, "vector": [0.0] * 4}, {"id": 101, "vector": [0.0] * 5}]),
        milvus([{"id": 100}, {}]),
        milvus([None]),
    ],
)
def test_vectors_that_cannot_be_are_damage(reader: SegmentsReader) -> None:
    with pytest.raises(IndexDamaged, match="passage-1"):
        reader.fetch(np.array([100, 101]))
