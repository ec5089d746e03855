"""Documents are shown over HTTP: their passages, and the pages of a PDF with their pictures."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from operations import document
from packages import needed
from sample_files.valid_files import pdf
from serving import Asker, running

from semsearch.index import Index
from semsearch.readers import reader_process
from semsearch.results.documents import DocumentPassages, PdfPage
from semsearch.server.open_indexes import OpenIndexes
from semsearch.word_vectors.table import VectorTable

needed("pypdfium2")
needed("reportlab")


def draw(canvas: Any) -> None:
    canvas.drawString(40, 450, "The captain sails over the sea. A storm and a wave.")
    canvas.showPage()


@pytest.fixture(scope="module")
def papers(tmp_path_factory: pytest.TempPathFactory, small_vectors: VectorTable) -> Path:
    """A folder with the index papers, of a PDF."""
    folder = tmp_path_factory.mktemp("papers")
    (folder / "docs").mkdir()
    (folder / "docs" / "a paper.pdf").write_bytes(pdf(draw))
    with Index.create(folder / "indexes" / "papers", vectors=small_vectors) as index:
        index.sync(folder / "docs")
    return folder


@pytest.fixture(scope="module")
def reader(papers: Path) -> Iterator[Asker]:
    pytest.importorskip("uvicorn", reason="an optional dependency")
    with running(OpenIndexes(folder=papers / "indexes")) as asker:
        yield asker


def test_the_passages_of_a_document_come_a_part_at_a_time(asker: Asker, docs: Index) -> None:
    reply = asker.get("/v1/passages/sea-0.md", index="docs", limit=2, line=9)
    found = DocumentPassages.from_dict(reply.json)
    assert found == docs.passages("sea-0.md", limit=2, line=9)
    assert found.found is not None


def test_pages_are_shown_as_the_index_has_them(reader: Asker, papers: Path) -> None:
    with Index.open(papers / "indexes" / "papers") as index:
        page = reader.get("/v1/pages/a%20paper.pdf", page=1).json
        assert PdfPage.from_dict(page) == index.page("a paper.pdf", 1)
    assert reader.get("/v1/pictures/a%20paper.pdf", page=2).status == 400


def test_a_picture_is_a_picture(reader: Asker) -> None:
    reply = reader.get("/v1/pictures/a%20paper.pdf", page=1, width=300)
    assert (reply.status, reply.headers["content-type"]) == (200, "image/png")
    assert reply.body.startswith(b"\x89PNG")
    assert reply.headers["x-content-type-options"] == "nosniff"
    assert list(document()["paths"]["/v1/pictures/{id}"]["get"]["responses"]["200"]["content"]) == ["image/png"]


@pytest.mark.parametrize("name", ["other.pdf", "../docs/other.pdf", "%2Fetc%2Fpasswd", "%00"])
def test_only_documents_of_the_index_are_shown(reader: Asker, name: str) -> None:
    assert reader.get(f"/v1/pictures/{name}", page=1).status == 404


def test_a_file_that_has_changed_is_a_conflict(papers: Path, reader: Asker) -> None:
    path = papers / "docs" / "a paper.pdf"
    before = path.read_bytes()
    path.write_bytes(before + b"\n")
    try:
        reply = reader.get("/v1/pages/a%20paper.pdf", page=1)
        assert (reply.status, reply.json["error"]) == (409, "SourceChanged")
        assert "has changed since it was indexed" in reply.detail
        assert reader.get("/v1/passages/a%20paper.pdf").json["stale"]
    finally:
        path.write_bytes(before)


@contextmanager
def all_reader_processes() -> Iterator[None]:
    """Take the turns of all processes that read files."""
    with ExitStack() as taken:
        for _ in range(reader_process._PROCESSES):
            taken.enter_context(reader_process._processes.one("a paper.pdf"))
        yield


def test_searches_are_answered_while_pictures_wait(papers: Path) -> None:
    with running(OpenIndexes(folder=papers / "indexes")) as asker:
        replies: list[int] = []

        def look() -> None:
            replies.append(asker.get("/v1/pictures/a%20paper.pdf", page=1, width=50).status)

        threads = [threading.Thread(target=look) for _ in range(12)]
        with all_reader_processes():
            for thread in threads:
                thread.start()
            assert asker.get("/v1/search", query="a storm").status == 200
        for thread in threads:
            thread.join()
        assert replies == [200] * 12
