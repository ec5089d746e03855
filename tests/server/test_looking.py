"""Indexes, documents, status and health are served; addresses at which there is nothing answer 404."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

import pytest
from serving import Asker, running

from semsearch.index import Index
from semsearch.results.documents import DocumentInfo
from semsearch.server.open_indexes import OpenIndexes
from semsearch.word_vectors.table import VectorTable


def test_all_indexes_are_listed_also_one_that_is_damaged(asker: Asker, folder: Path, tmp_path: Path) -> None:
    docs, notes = asker.get("/v1/indexes").json["indexes"]
    assert (docs["name"], docs["documents"], docs["problem"]) == ("docs", 13, "")
    assert docs["roots"] == [(folder / "docs").as_posix()]
    assert (notes["name"], notes["documents"], notes["roots"]) == ("notes", 1, [])
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "index.sqlite").write_bytes(b"not a database" * 100)
    with running(OpenIndexes(folder=tmp_path)) as other:
        (broken,) = other.get("/v1/indexes").json["indexes"]
        assert (broken["name"], broken["documents"]) == ("broken", 0)
        assert broken["problem"]


def test_an_index_that_comes_later_is_served_too(tmp_path: Path, small_vectors: VectorTable) -> None:
    with running(OpenIndexes(folder=tmp_path / "indexes")) as asker:
        assert asker.get("/v1/indexes").json == {"indexes": []}
        assert asker.get("/v1/status").status == 404
        Index.create(tmp_path / "indexes" / "new", vectors=small_vectors).close()
        assert asker.get("/v1/status").json["documents"] == 0


def test_documents_come_a_page_at_a_time(asker: Asker, docs: Index) -> None:
    found, offset = [], 0
    while offset is not None:
        page = asker.get("/v1/documents", index="docs", limit=5, offset=offset).json
        assert len(page["documents"]) <= 5
        found += page["documents"]
        offset = page["next"]
    assert [DocumentInfo.from_dict(one) for one in found] == list(docs.documents())


def test_an_id_may_have_slashes_and_blanks(asker: Asker, folder: Path) -> None:
    assert asker.get(f"/v1/documents/{quote('a/b c')}", index="notes").json["document"] == "a/b c"
    whole = (folder / "docs" / "sea-0.md").as_posix()
    assert asker.get(f"/v1/documents/{quote(whole)}", index="docs").json["document"] == "sea-0.md"


@pytest.mark.parametrize("name", ["no", "../../../etc/passwd", "/etc/passwd", "%00", "", "%ff", "a" * 4000])
def test_what_is_not_in_the_index_is_a_404_whatever_is_on_the_disk(name: str, asker: Asker) -> None:
    reply = asker.get(f"/v1/documents/{name}", index="docs")
    assert (reply.status, reply.json["error"]) == (404, "SourceError")
