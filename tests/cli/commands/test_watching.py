"""`semsearch watch`: a line for each sync that did something, until it is interrupted."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from console import index_docs, semsearch, work_in, write_docs

from semsearch.word_vectors.table import VectorTable


@pytest.fixture(autouse=True)
def _changing(tmp_path: Path, small_vectors: VectorTable, monkeypatch: pytest.MonkeyPatch) -> None:
    """An index of some documents, one of which changes once it is watched, and then Ctrl-C is pressed."""
    write_docs(tmp_path)
    index_docs(tmp_path, small_vectors)
    work_in(tmp_path, monkeypatch)

    def watch(*_: object) -> Iterator[set[Any]]:
        yield set()
        notes = tmp_path / "docs" / "more" / "notes.txt"
        notes.write_text("The comet in the sky.\n")
        (tmp_path / "docs" / "binary.txt").write_bytes(b"\x00\x01\x02\x03" * 300)
        yield {(2, str(notes)), (1, str(tmp_path / "docs" / "binary.txt"))}
        raise KeyboardInterrupt

    monkeypatch.setattr("semsearch.indexing.follow_files._watch", watch)


def test_each_sync_is_a_line_and_ctrl_c_is_a_proper_end() -> None:
    pytest.importorskip("watchfiles", reason="an optional dependency")
    found = semsearch("watch")
    assert found.status == 0
    first, second = found.lines
    assert first.startswith("indexes/docs: 2 unchanged in")
    assert second.startswith("indexes/docs: 1 changed, 1 skipped; 1 sentence in")
    assert "watching docs for indexes/docs; Ctrl-C stops it" in found.err
    assert "skipped docs/binary.txt" in found.err
    assert "stopped watching" in found.err
    assert semsearch("query", "comet").status == 0
