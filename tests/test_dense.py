"""Segments hold what was put into them, and say when they do not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from semsearch.dense import SegmentWriter, Vectors
from semsearch.durable import file_digest
from semsearch.errors import IndexDamaged
from semsearch.runs import Runs
from semsearch.segments import Segment


def unit_rows(n: int, *, seed: int = 0) -> np.ndarray:
    rows = np.random.default_rng(seed).standard_normal((n, 16)).astype(np.float32)
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


def written(folder: Path, ids: np.ndarray, rows: np.ndarray, *, largest: int = 1000) -> list[Segment]:
    writer = SegmentWriter(folder, "passage", generation=7, largest=largest)
    for first in range(0, len(ids), 10):
        writer.add(ids[first : first + 10], rows[first : first + 10])
    return writer.finish()


def test_a_segment_gives_back_its_vectors_by_id(tmp_path: Path) -> None:
    ids, rows = np.r_[5:20, 40:60].astype(np.int64), unit_rows(35)
    (segment,) = written(tmp_path, ids, rows)
    opened = Vectors(tmp_path / segment.file, segment)
    assert segment.runs.ranges == [(5, 15), (40, 20)]
    assert segment.digest == file_digest(tmp_path / segment.file)
    np.testing.assert_allclose(opened.rows(segment.runs.below(np.array([40, 5]))), rows[[15, 0]], atol=1e-3)


def test_a_scan_is_the_exact_order_by_cosine(tmp_path: Path) -> None:
    ids, rows = np.arange(100, 300, dtype=np.int64), unit_rows(200)
    (segment,) = written(tmp_path, ids, rows)
    query = unit_rows(1, seed=1)
    found = Vectors(tmp_path / segment.file, segment).scan(query, 10)
    assert found.ids[0].tolist() == (100 + np.argsort(-(rows @ query[0]))[:10]).tolist()


def test_only_allowed_rows_are_found_and_nothing_fills_the_gap(tmp_path: Path) -> None:
    (segment,) = written(tmp_path, np.arange(50, dtype=np.int64), unit_rows(50))
    allowed = np.zeros(50, dtype=np.bool_)
    allowed[[3, 33]] = True
    found = Vectors(tmp_path / segment.file, segment).scan(unit_rows(2, seed=1), 5, allowed=allowed)
    assert sorted(found.ids[0].tolist()) == [-1, -1, -1, 3, 33]


def test_a_writer_starts_a_new_file_where_one_is_full(tmp_path: Path) -> None:
    segments = written(tmp_path, np.arange(25, dtype=np.int64), unit_rows(25), largest=8)
    assert [segment.runs.ranges for segment in segments] == [[(0, 8)], [(8, 8)], [(16, 8)], [(24, 1)]]
    assert written(tmp_path, np.zeros(0, dtype=np.int64), unit_rows(0)) == []


def test_a_file_that_is_not_what_the_database_says_is_refused(tmp_path: Path) -> None:
    (segment,) = written(tmp_path, np.arange(9, dtype=np.int64), unit_rows(9))
    path = tmp_path / segment.file
    with pytest.raises(IndexDamaged, match="9 vectors, not 8"):
        Vectors(path, Segment("passage", segment.file, segment.size, Runs.of([(0, 8)]), segment.digest))
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(IndexDamaged, match="bytes"):
        Vectors(path, segment)
    path.write_bytes(b"x" * segment.size)
    with pytest.raises(IndexDamaged, match="not a vector file"):
        Vectors(path, segment)
