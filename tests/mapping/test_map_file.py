"""The file of a map gives back what was written, or nothing."""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np
import pytest

from semsearch.mapping import passage_map
from semsearch.mapping.passage_map import PassageMap, read_map, write_map
from semsearch.results.documents import MapRegion
from semsearch.storage.index_files import map_path

MADE = PassageMap(
    7,
    np.array([3, 4, 9]),
    np.array([[0, 0.5], [-1, 1], [1, -1]], dtype=np.float32),
    (MapRegion(0.5, -0.5, ("ship", "sea"), 3, 0),),
    arranged=3,
    added=1,
)


def same(one: PassageMap | None, other: PassageMap) -> bool:
    return (
        one is not None
        and one.ids.tolist() == other.ids.tolist()
        and one.points.tolist() == other.points.tolist()
        and (one.generation, one.regions, one.arranged, one.added)
        == (other.generation, other.regions, other.arranged, other.added)
    )


def test_a_map_is_read_as_it_was_written(tmp_path: Path) -> None:
    write_map(tmp_path, 2, MADE)
    assert same(read_map(tmp_path, 2), MADE)
    assert [path.name for path in tmp_path.iterdir()] == ["map-00000002.points"]


def test_there_is_none_of_other_vectors(tmp_path: Path) -> None:
    write_map(tmp_path, 2, MADE)
    assert read_map(tmp_path, 3) is None


@pytest.mark.parametrize("where", [0, 20, 40, 80, -1])
def test_a_damaged_byte_anywhere_makes_it_no_map(tmp_path: Path, where: int, caplog: pytest.LogCaptureFixture) -> None:
    write_map(tmp_path, 2, MADE)
    path = map_path(tmp_path, 2)
    data = bytearray(path.read_bytes())
    data[where] ^= 1
    path.write_bytes(data)
    with caplog.at_level(logging.WARNING):
        assert read_map(tmp_path, 2) is None
    assert "is not a map" in caplog.text


@pytest.mark.parametrize("length", [0, 10, 30, -1])
def test_a_shortened_file_is_no_map(tmp_path: Path, length: int) -> None:
    write_map(tmp_path, 2, MADE)
    path = map_path(tmp_path, 2)
    path.write_bytes(path.read_bytes()[:length])
    assert read_map(tmp_path, 2) is None


@pytest.mark.parametrize("header", [b'{"count": 1e914}', b"[" * 100_000, b'{"count": 0, "regions": 1}', b"[]"])
def test_a_made_up_header_is_that_of_no_map(tmp_path: Path, header: bytes) -> None:
    write_map(tmp_path, 2, MADE)
    path = map_path(tmp_path, 2)
    body = path.read_bytes().partition(b"\n")[0] + b"\n" + len(header).to_bytes(8, "little") + header
    path.write_bytes(body + passage_map._digest(body))
    assert read_map(tmp_path, 2) is None
