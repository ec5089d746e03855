"""Files that are whole or not there."""

from __future__ import annotations

from pathlib import Path

import pytest

from semsearch.system.durable import Write, file_digest, write_durably


def test_a_file_is_there_with_the_size_and_digest_that_were_told(tmp_path: Path) -> None:
    def fill(write: Write) -> None:
        write(b"two ")
        write(memoryview(b"parts"))

    written = write_durably(tmp_path / "a", fill)
    assert (tmp_path / "a").read_bytes() == b"two parts"
    assert (written.size, written.digest) == (9, file_digest(tmp_path / "a"))


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    def fill(write: Write) -> None:
        write(b"half of the new")
        raise OSError("the disk is full")

    (tmp_path / "a").write_bytes(b"old")
    with pytest.raises(OSError, match="full"):
        write_durably(tmp_path / "a", fill)
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("a", b"old")]
