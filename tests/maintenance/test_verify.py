"""verify() sees each way in which the parts of an index can disagree."""

from __future__ import annotations

from pathlib import Path

import pytest
from sealing import change
from small import small_vectors, write_articles

from semsearch.errors import IndexDamaged
from semsearch.index import Index


@pytest.fixture
def path(tmp_path: Path) -> Path:
    write_articles(tmp_path / "docs", 6)
    with Index.create(tmp_path / "index", vectors=small_vectors(tmp_path)) as index:
        index.sync(tmp_path / "docs")
        (tmp_path / "docs" / "sea-0.md").write_text("# Sea\n\nThe tide.\n")
        index.sync()
        assert index.verify() == []
    return tmp_path / "index"


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("DELETE FROM passages WHERE id = 5", "have a wrong number of passages"),
        ("DELETE FROM documents WHERE id = 3", "belong to no document"),
        ("DELETE FROM segments WHERE kind = 'sentence' AND count < 10", "sentences have no sentence vectors"),
        ("DELETE FROM segments WHERE kind = 'passage'", "passages have no passage vectors"),
        ("DELETE FROM removed", "belong to no row"),
        ("INSERT INTO removed VALUES (5, 1, 1000, 1, 1)", "marked as removed"),
        ("DELETE FROM fit", "no fitted embedder"),
        ("DELETE FROM segments WHERE kind = 'words'", "passages have no lexical entries"),
        ("DELETE FROM removed", "lexical entries belong to no row"),
        ("UPDATE passages SET text = replace(text, 'a', 'moon ')", "lexical entries of passage"),
        ("UPDATE passages SET text = replace(text, 'a', 'moon ')", "does not match its text"),
        (
            "INSERT INTO segments SELECT id + 100, kind, file, size, count, runs, digest, sums, 1 FROM segments",
            "twice",
        ),
    ],
)
def test_rows_and_vectors_that_disagree_are_seen(path: Path, statement: str, said: str) -> None:
    change(path, statement)
    with Index.open(path) as index:
        assert any(said in problem for problem in index.verify())


def test_damaged_and_missing_files_are_seen_and_a_rebuild_mends_them(path: Path) -> None:
    first, second, *_ = sorted((path / "segments").glob("passage*"))
    data = bytearray(first.read_bytes())
    data[-5] ^= 0xFF
    first.write_bytes(bytes(data))
    second.unlink()
    with Index.open(path) as index:
        problems = index.verify()
        assert any("does not match its digest" in problem for problem in problems)
        assert any("is missing" in problem for problem in problems)
        with pytest.raises(IndexDamaged, match="--rebuild"):
            index.search("ship")
        index.rebuild()
        assert index.verify() == []
        assert index.search("ship")
