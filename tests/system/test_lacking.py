"""What the machine lacks is no fault of a file: nothing is skipped for it, and nothing is lost."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from semsearch.errors import StorageError
from semsearch.index import Index
from semsearch.sources.walk import Folders
from semsearch.word_vectors.table import VectorTable


def test_no_document_is_skipped_for_want_of_open_files(
    tmp_path: Path, small_vectors: VectorTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "docs").mkdir()
    file = tmp_path / "docs" / "sea.md"
    file.write_text("The captain left the ship.\n")
    with Index.create(tmp_path / "index", vectors=small_vectors) as index:
        index.sync(tmp_path / "docs")
        file.write_text("The judge sold the ship.\n")

        def failing(path: Path, *_: object, **__: object) -> Any:
            assert path.name == "sea.md"
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE), str(path))

        with monkeypatch.context() as patch:
            patch.setattr("semsearch.readers.read.read_source", failing)
            with pytest.raises(StorageError, match=r"Too many open files.*the index is unchanged.*ulimit -n"):
                index.sync()
        assert "captain" in index.search("ship")[0].sentence
        index.sync()
        assert "judge" in index.search("ship")[0].sentence


@pytest.mark.parametrize("ignore", [True, False])
def test_no_folder_and_no_rules_are_passed_over_for_want_of_open_files(
    tmp_path: Path, small_vectors: VectorTable, monkeypatch: pytest.MonkeyPatch, ignore: bool
) -> None:
    folder = tmp_path / "docs" / "below"
    folder.mkdir(parents=True)
    (folder / "sea.md").write_text("The captain left the ship.\n")
    (folder / ".semsearchignore").write_text("night.md\n")
    listed, read = Folders.entries, Folders.text_of

    def lacking(name: object) -> OSError:
        return OSError(errno.EMFILE, os.strerror(errno.EMFILE), str(name))

    def listing(folders: Folders, folder: str) -> Any:
        if not ignore and "below" in folder:
            raise lacking(folder)
        return listed(folders, folder)

    def reading(folders: Folders, path: str) -> str:
        if ignore and path.endswith(".semsearchignore"):
            raise lacking(path)
        return read(folders, path)

    monkeypatch.setattr(Folders, "entries", listing)
    monkeypatch.setattr(Folders, "text_of", reading)
    with (
        Index.create(tmp_path / "index", vectors=small_vectors) as index,
        pytest.raises(StorageError, match="Too many open files"),
    ):
        index.sync(tmp_path / "docs")
