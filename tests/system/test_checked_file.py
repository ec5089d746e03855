"""Files whose blocks are compared with their checksums, when they are read."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from semsearch.errors import IndexDamaged
from semsearch.system.durable import BLOCK, CheckedFile, block_checksums, write_durably

SIZES = [0, 1, 7, BLOCK - 1, BLOCK, BLOCK + 1, 20 * BLOCK + 5]


def some_bytes(size: int) -> np.ndarray:
    return np.random.default_rng(size).integers(0, 256, size, dtype=np.uint8)


def written(folder: Path, size: int) -> tuple[Path, bytes]:
    """A file of an index, and the checksums that it was written with."""
    (folder / "segments").mkdir()
    path = folder / "segments" / "file"
    return path, write_durably(path, lambda write: write(some_bytes(size).tobytes())).sums


@pytest.mark.parametrize("size", SIZES[1:])
def test_any_bit_that_changes_is_noticed(size: int) -> None:
    data = some_bytes(size)
    before = block_checksums(data)
    chance = np.random.default_rng(1)
    for _ in range(50):
        at, bit = int(chance.integers(size)), 1 << int(chance.integers(8))
        data[at] ^= bit
        assert np.flatnonzero(block_checksums(data) != before).tolist() == [at // BLOCK]
        data[at] ^= bit


def test_only_what_is_read_is_checked(tmp_path: Path) -> None:
    path, sums = written(tmp_path, 4 * BLOCK)
    data = bytearray(path.read_bytes())
    data[2 * BLOCK] ^= 1
    path.write_bytes(data)
    file = CheckedFile(path, sums)
    file.check(0, 2 * BLOCK)
    file.check(3 * BLOCK)
    file.check_each(np.array([5, BLOCK]), BLOCK)
    file.check(2 * BLOCK, 2 * BLOCK)  # nothing
    told = rf"file is damaged: its bytes from {2 * BLOCK} on differ from those that were written; run: semsearch index"
    for start in (2 * BLOCK - 1, 2 * BLOCK):
        with pytest.raises(IndexDamaged, match=told):
            file.check(start, start + 2)
    with pytest.raises(IndexDamaged, match=told):
        file.check_each(np.array([0, BLOCK + 1]), BLOCK)
    with pytest.raises(IndexDamaged, match=told):
        file.check()


def test_pieces_all_over_a_file_are_checked_and_the_block_that_differs_is_named(tmp_path: Path) -> None:
    path, sums = written(tmp_path, 200 * BLOCK + 100)
    whole, everywhere = bytearray(path.read_bytes()), np.arange(0, 200 * BLOCK + 90, BLOCK // 2)
    CheckedFile(path, sums).check_each(everywhere, 10)
    for block in (0, 63, 64, 131, 199, 200):
        data = bytearray(whole)
        data[block * BLOCK + 50] ^= 4
        path.write_bytes(data)
        file = CheckedFile(path, sums)
        file.check_each(everywhere[everywhere // BLOCK != block], 10)
        with pytest.raises(IndexDamaged, match=f"from {block * BLOCK} on differ"):
            file.check_each(everywhere, 10)
