"""Writes over HTTP: with the token, to documents of the index and files of its roots, and to nothing else."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from packages import needed
from serving import Asker, running
from small import write_articles

from semsearch.index import Index
from semsearch.readers.document import Text
from semsearch.results.reports import Progress, SyncReport
from semsearch.server.open_indexes import OpenIndexes
from semsearch.system.locking import writer_lock
from semsearch.word_vectors.table import VectorTable

needed("uvicorn", reason="an optional dependency")


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    write_articles(tmp_path / "docs", 3)
    return tmp_path / "docs"


@pytest.fixture
def index(tmp_path: Path, docs: Path, small_vectors: VectorTable) -> Iterator[Index]:
    with Index.create(tmp_path / "index", vectors=small_vectors) as index:
        index.sync(docs)
        yield index
        assert index.verify() == []


@pytest.fixture
def asker(index: Index) -> Iterator[Asker]:
    with running(OpenIndexes(places={"index": index.path})) as asker:
        yield asker.writer


def events(body: bytes) -> list[tuple[str, Any]]:
    """The names and data of server-sent events."""
    found = []
    for event in body.decode().split("\n\n")[:-1]:
        name, data = event.split("\n")
        found.append((name.removeprefix("event: "), json.loads(data.removeprefix("data: "))))
    return found


@pytest.mark.parametrize("name", ["tickets/17 b", "two\nlines", "ends\n", "ein schöner/Name?#%2F"])
def test_a_document_that_is_put_is_found_and_one_that_is_deleted_is_not(asker: Asker, index: Index, name: str) -> None:
    path = f"/v1/documents/{quote(name)}"
    made = SyncReport.from_dict(asker.put(path, {"text": "The comet.", "title": "Sky", "metadata": {"n": 1}}).json)
    assert (made.added, made.changed) == (1, 0)
    (hit,) = index.search("comet", 1, filters=["n=1"])
    assert (hit.document, hit.title) == (name, "Sky")
    assert asker.put(path, {"text": "The moon.", "index": "index"}).json["changed"] == 1
    assert asker.put(path, {"text": "The moon.", "index": "none"}).status == 404
    assert asker.ask("DELETE", path).json == {"removed": 1}
    assert asker.ask("DELETE", path).status == 404
    assert asker.get(path).status == 404


def test_a_file_that_is_deleted_stays_on_the_disk(asker: Asker, index: Index, docs: Path) -> None:
    assert asker.ask("DELETE", "/v1/documents/sea-0.md").json == {"removed": 1}
    assert len(list(index.documents())) == 2
    assert (docs / "sea-0.md").exists()


@pytest.mark.parametrize("name", ["docs", ".", "..", "/", "docs/more"])
def test_a_text_whose_id_names_files_is_deleted_without_them(
    name: str, tmp_path: Path, asker: Asker, index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    index.add([Text(name, "The comet.")])
    reply = asker.ask("DELETE", f"/v1/documents/{quote(name, safe='')}?index=index")
    assert reply.json == {"removed": 1}
    assert len(list(index.documents())) == 3


@pytest.mark.parametrize(
    ("given", "detail"),
    [
        ({}, "text is missing"),
        ({"text": "A ship.", "format": "nothing"}, "nothing"),
        ({"text": "A ship.", "metadata": [1]}, "metadata: Input should be a valid dictionary"),
        ({"text": "A ship.", "metadata": {"n": float("nan")}}, "cannot be stored as JSON"),
        ({"text": 3}, "text: Input should be a valid string"),
    ],
)
def test_what_makes_no_sense_is_not_taken_in(given: object, detail: str, asker: Asker, index: Index) -> None:
    reply = asker.put("/v1/documents/new", given)
    assert reply.status in (400, 422)
    assert detail in reply.detail
    assert len(list(index.documents())) == 3


def test_writing_needs_the_token(asker: Asker, index: Index) -> None:
    nobody = Asker(asker.port)
    assert nobody.put("/v1/documents/new", {"text": "A ship."}).status == 401
    assert nobody.ask("DELETE", "/v1/documents/sea-0.md").status == 401
    assert nobody.post("/v1/sync", {}).status == 401
    assert len(list(index.documents())) == 3


def test_a_sync_reports_what_it_did(asker: Asker, docs: Path) -> None:
    (docs / "new.txt").write_text("The comet.")
    (docs / "sea-0.md").unlink()
    report = SyncReport.from_dict(asker.post("/v1/sync", {}).json)
    assert (report.added, report.removed, report.unchanged) == (1, 1, 2)


def test_a_sync_leaves_no_root(
    asker: Asker, docs: Path, tmp_path: Path, index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "secret.txt").write_text("The comet.")
    (docs / "link").symlink_to(tmp_path / "other")
    beside = str(docs) + "-more"
    monkeypatch.chdir(docs)  # where a URI, taken for a path, would lie in the root
    elsewhere = "memory://docs", "s3://bucket/docs", "file:///etc", f"file://{docs}"
    paths = "/etc/passwd", str(docs / ".." / "other"), str(docs / "link"), beside, str(tmp_path), "", "a\0b", *elsewhere
    for path in paths:
        for headers in ({}, {"Accept": "text/event-stream"}):
            reply = asker.ask("POST", "/v1/sync", json.dumps({"paths": [path]}).encode(), headers=headers)
            assert (reply.status, reply.json["error"]) == (400, "UsageError")
    assert index.roots == (docs.as_posix(),)
    assert len(list(index.documents())) == 3


def test_the_progress_of_a_sync_comes_as_events(asker: Asker, docs: Path) -> None:
    (docs / "new.txt").write_text("The comet.")
    reply = asker.ask("POST", "/v1/sync", b"{}", headers={"Accept": "text/event-stream"})
    assert reply.headers["content-type"].startswith("text/event-stream")
    *progress, (name, report) = events(reply.body)
    assert progress
    assert all(Progress.from_dict(data) for name, data in progress if name == "progress")
    assert (name, SyncReport.from_dict(report).added) == ("report", 1)


def test_an_index_that_another_process_writes_to_is_a_conflict(asker: Asker, index: Index) -> None:
    with writer_lock(index.path):
        reply = asker.post("/v1/sync", {})
        assert (reply.status, reply.json["error"], reply.headers["retry-after"]) == (409, "IndexLocked", "1")
        streamed = asker.ask("POST", "/v1/sync", b"{}", headers={"Accept": "text/event-stream"})
        (name, problem) = events(streamed.body)[-1]
        assert (name, problem["status"], problem["error"]) == ("problem", 409, "IndexLocked")


def test_too_large_a_body_or_of_another_kind_is_refused(asker: Asker) -> None:
    too_large = asker.put("/v1/documents/new", {"text": "x" * 4_000_001})
    assert (too_large.status, "more than 4,000,000 bytes" in too_large.detail) == (413, True)
    announced = asker.ask("PUT", "/v1/documents/new", b"", headers={"Content-Length": "400000000"})
    assert announced.status == 413
    plain = asker.ask("PUT", "/v1/documents/new", b"text", headers={"Content-Type": "text/plain"})
    assert plain.status == 415
