"""The file of a map gives back what was written, or nothing."""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np
import pytest

from semsearch.mapping.mapper import MAP, PassageMap, read_map, write_map
from semsearch.results.documents import MapRegion

MADE = PassageMap(
    7,
    np.array([3, 4, 9]),
    np.array([[0, 0.5], [-1, 1], [1, -1]], dtype=np.float32),
    (MapRegion(0.5, -0.5, ("ship", "sea"), 3, 0),),
)


def same(one: PassageMap | None, other: PassageMap) -> bool:
    return (
        one is not None
        and one.ids.tolist() == other.ids.tolist()
        and one.points.tolist() == other.points.tolist()
        and (one.generation, one.regions) == (other.generation, other.regions)
    )


def test_a_map_is_read_as_it_was_written(tmp_path: Path) -> None:
    write_map(tmp_path, 2, MADE)
    assert same(read_map(tmp_path, 2), MADE)
    assert [path.name for path in tmp_path.iterdir()] == [MAP]


def test_there_is_none_of_other_vectors(tmp_path: Path) -> None:
    write_map(tmp_path, 2, MADE)
    assert read_map(tmp_path, 3) is None


def test_a_damaged_byte_anywhere_makes_it_no_map_or_does_no_harm(tmp_path: Path) -> None:
    write_map(tmp_path, 2, MADE)
    path = tmp_path / MAP
    whole = path.read_bytes()
    outcomes = []
    for where in range(0, len(whole), 7):
        path.write_bytes(whole[:where] + bytes([whole[where] ^ 1]) + whole[where + 1 :])
        damaged = read_map(tmp_path, 2)
        assert damaged is None or same(damaged, MADE)  # such as the time of an entry of the archive
        outcomes.append(damaged)
    assert None in outcomes


@pytest.mark.parametrize("data", [b"", b"[" * 100_000, b"PK\3\4", None], ids=["empty", "brackets", "archive", "cut"])
def test_another_file_is_no_map(tmp_path: Path, data: bytes | None, caplog: pytest.LogCaptureFixture) -> None:
    write_map(tmp_path, 2, MADE)
    path = tmp_path / MAP
    path.write_bytes(path.read_bytes()[:-10] if data is None else data)
    with caplog.at_level(logging.WARNING):
        assert read_map(tmp_path, 2) is None
    assert "is not a map" in caplog.text
