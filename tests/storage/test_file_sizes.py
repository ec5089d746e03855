"""The sizes of an index's files while a writer deletes some."""

from __future__ import annotations

from pathlib import Path

from semsearch.storage.index_files import file_sizes


def test_the_sizes_of_all_files(tmp_path: Path) -> None:
    (tmp_path / "segments").mkdir()
    (tmp_path / "index.sqlite").write_bytes(b"123")
    (tmp_path / "segments" / "words").write_bytes(b"12345")
    assert sorted(file_sizes(tmp_path)) == [("index.sqlite", 3), ("words", 5)]


def test_a_file_that_is_deleted_while_they_are_counted_has_gone(tmp_path: Path) -> None:
    (tmp_path / "words").write_bytes(b"12345")
    (tmp_path / "segments").mkdir()
    (tmp_path / "segments" / "deleted").write_bytes(b"1")
    sizes = file_sizes(tmp_path)
    found = next(sizes)  # the folder was listed
    (tmp_path / "segments" / "deleted").unlink()
    assert [found, *sizes] == [("words", 5)]
    (tmp_path / "gone").symlink_to("nowhere")  # as a name that was listed, of a file that was deleted then
    assert list(file_sizes(tmp_path)) == [("words", 5)]
    assert not list(file_sizes(tmp_path / "none"))
