"""What is to be said of Milvus without a server: conditions on ids, addresses, what is missing.

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
from semsearch_scale.stores.milvus_reader import PartitionDigest, WantedRows
from semsearch_scale.stores.milvus_server import located, parsed

IDS = st.sets(st.integers(0, 120), max_size=80)


def ranges(ids: set[int]) -> IdRanges:
    return IdRanges.of_ids(np.array(sorted(ids), dtype=np.int64))


def meets(condition: str, id_: int) -> bool:
    """Whether an id meets a condition: what Milvus reads is Python too."""
    return condition == "" or bool(eval(condition, {"id": id_}))  # noqa: S307  # it was made here, of numbers


@given(IDS, st.none() | IDS, IDS)
def test_a_condition_selects_the_held_ids_that_are_allowed_and_not_removed(
    held: set[int], allowed: set[int] | None, removed: set[int]
) -> None:
    expected = (held if allowed is None else held & allowed) - removed
    with pytest.MonkeyPatch.context() as small:
        small.setattr(milvus_reader, "LISTED", 5)
        small.setattr(milvus_reader, "RUNS", 3)
        rows = WantedRows.among(
            ranges(held), allowed=None if allowed is None else ranges(allowed), removed=ranges(removed)
        )
        assert rows.ids.tolist() == sorted(expected)
        assert len(rows) == len(expected)
        every = np.arange(130)
        assert every[rows.has(every)].tolist() == sorted(expected)
        if rows.condition is not None:
            assert {id_ for id_ in held if meets(rows.condition, id_)} == expected
        if not expected:
            return
        assert rows.cover.condition is not None
        covered = {id_ for id_ in held if meets(rows.cover.condition, id_)}
        assert expected <= covered
        assert len(covered) == len(rows.cover)
        for most in (1, 4, 1000):
            pieces = list(rows.pieces(most))
            assert [id_ for piece in pieces for id_ in piece.ids.tolist()] == sorted(expected)
            assert max(len(piece) for piece in pieces) <= most
            for piece in pieces:
                assert piece.condition is not None
                assert {id_ for id_ in held if meets(piece.condition, id_)} == {*piece.ids.tolist()}


def test_the_smallest_gaps_are_closed_first() -> None:
    wanted = {id_ for id_ in range(1000) if id_ % 10 < 8 and not 300 <= id_ < 600}
    rows = WantedRows.among(ranges({*range(1000)}), allowed=ranges(wanted), removed=ranges(set()))
    assert len(rows.cover.start) == milvus_reader.RUNS
    assert not rows.cover.has(np.arange(300, 598)).any()


def test_many_ranges_are_nested_no_deeper_than_milvus_reads() -> None:
    wanted = {id_ for id_ in range(10_000) if id_ % 600 < 300}
    rows = WantedRows.among(ranges({*range(10_000)}), allowed=ranges(wanted), removed=ranges(set()))
    assert rows.condition is None or rows.condition.count("or") < milvus_reader.RUNS
    depth = deepest = 0
    for letter in rows.cover.condition or "":
        depth += (letter == "(") - (letter == ")")
        deepest = max(deepest, depth)
    assert 0 < deepest <= 4


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("milvus:http://host", "milvus:http://host:19530?collection=semsearch_my_docs"),
        ("milvus:https://host:1/db?timeout=2.50", "milvus:https://host:1/db?collection=semsearch_my_docs&timeout=2.5"),
        ("milvus:http://[::1]:5?collection=a&timeout=10", "milvus:http://[::1]:5?collection=a"),
    ],
)
def test_an_address_is_completed(given: str, expected: str) -> None:
    assert located(given, "my-docs") == expected
    assert located(expected, "other") == expected
    assert parsed(expected).uri == expected


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
        located(uri, "docs")


def test_without_its_package_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pymilvus", None)
    uri = complete("milvus:http://127.0.0.1:1", "docs")
    assert uri is not None
    with pytest.raises(MissingExtra, match=r"pip install '\./scale\[milvus\]'"):
        claimed(uri)


def test_what_the_manifest_keeps_of_a_partition_is_read_again() -> None:
    kept = PartitionDigest("hnsw_256", 470643615984132455, 64, "ab12")
    ids = ranges({1, 2})
    assert PartitionDigest.of(Segment("passage", "passage_1", 8, ids, kept.text)) == kept
    with pytest.raises(IndexDamaged, match=r"passage_1 is not a segment of Milvus.*--rebuild"):
        PartitionDigest.of(Segment("passage", "passage_1", 8, ids, "0123"))
