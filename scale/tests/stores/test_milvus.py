"""What is to be said of Milvus without a server: what is asked under conditions on ids, addresses, what is missing.

With a server: tests/stores/test_milvus_server.py.
"""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given, strategies as st

from semsearch.arrays.id_ranges import IdRanges
from semsearch.dense.engines import claimed, complete
from semsearch.errors import IndexDamaged, MissingExtra, UsageError
from semsearch.storage.segments import Segment
from semsearch_scale.stores import milvus_reader
from semsearch_scale.stores.addresses import located_in_milvus, milvus_address
from semsearch_scale.stores.milvus_reader import Partition, PartitionDigest
from semsearch_scale.stores.milvus_server import Collections, MilvusServer

SIZE = 120


def meets(condition: str, id_: int) -> bool:
    """Whether an id meets a condition: what Milvus reads is Python too."""
    return condition == "" or bool(eval(condition, {"id": id_}))  # noqa: S307  # it was made here, of numbers


class Server(Collections):
    """A server whose vectors are the ids themselves, scored by them."""

    def __init__(self) -> None:
        super().__init__(MilvusServer(milvus_address("milvus:http://host")))
        self.server.ask = lambda work: work(self, 1.0)  # type: ignore[method-assign]

    def search(self, *, data: list[object], limit: int, filter: str, **_: object) -> list[list[dict[str, float]]]:
        best = [id_ for id_ in reversed(range(SIZE)) if meets(filter, id_)][:limit]
        return [[{"id": id_, "distance": float(id_)} for id_ in best] for _ in data]

    def query(self, *, filter: str, **_: object) -> list[dict[str, object]]:
        return [{"id": id_, "vector": [id_, 0.0]} for id_ in range(SIZE) if meets(filter, id_)]


def partition() -> Partition:
    kept = PartitionDigest("exact_2", 1, 0, "ab")
    return Partition(Server(), Segment("passage", "passage_1", 8, IdRanges.of([(0, SIZE)]), kept.text))


@given(st.sets(st.integers(0, SIZE - 1), min_size=1), st.integers(1, SIZE))
def test_the_best_allowed_rows_are_found_however_many_ranges_they_are(allowed: set[int], n: int) -> None:
    mask = np.isin(np.arange(SIZE), [*allowed])
    with pytest.MonkeyPatch.context() as small:
        for name, value in (("LISTED", 5), ("RUNS", 3), ("DEEPEST", 40), ("_FEWEST", 2)):
            small.setattr(milvus_reader, name, value)
        found = partition().scan(np.ones((2, 2), np.float32), n, allowed=mask)
        assert found.ids.tolist() == 2 * [sorted(allowed, reverse=True)[:n]]
        rows = np.array(sorted(allowed), dtype=np.int64)
        assert partition().rows(rows[::-1])[:, 0].tolist() == rows[::-1].tolist()


@pytest.mark.parametrize(
    ("uri", "message"),
    [
        ("milvus:", "not the address of a Milvus server"),
        ("milvus:folder/file.db", "not the address of a Milvus server"),
        ("milvus:tcp://host", "not the address of a Milvus server"),
        ("milvus:http://host#x", "not the address of a Milvus server"),
        ("milvus:http://host:port", "is not a valid address"),
        ("milvus:http://ada@host", "MILVUS_TOKEN"),
        ("milvus:http://host?colection=x", "'colection'"),
        ("milvus:http://host?collection=1x", "'1x' cannot be the name of a collection"),
        ("milvus:http://host?collection=", "'' cannot be the name of a collection"),
        ("milvus:http://host/a/b", "'a/b' cannot be the name of a database"),
        ("milvus:http://host?timeout=soon", "number of seconds"),
        ("milvus:http://host?timeout=0", "number of seconds"),
    ],
)
def test_what_is_no_address_is_refused(uri: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        located_in_milvus(uri, "docs")


def test_without_its_package_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pymilvus", None)
    uri = complete("milvus:http://127.0.0.1:1", "docs")
    assert uri is not None
    with pytest.raises(MissingExtra, match=r"pip install '\./scale\[milvus\]'"):
        claimed(uri)


def test_what_the_manifest_keeps_of_a_partition_is_read_again() -> None:
    kept = PartitionDigest("hnsw_256", 470643615984132455, 64, "ab12")
    ids = IdRanges.of([(1, 2)])
    assert PartitionDigest.of(Segment("passage", "passage_1", 8, ids, kept.text)) == kept
    with pytest.raises(IndexDamaged, match=r"passage_1 is not a segment of Milvus.*--rebuild"):
        PartitionDigest.of(Segment("passage", "passage_1", 8, ids, "0123"))
