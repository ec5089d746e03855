"""A store's objects from the command line: the index's name, what is said of it, and of what needs a file here."""

from __future__ import annotations

from pathlib import Path

import pytest
from console import semsearch
from memory_bucket import MemoryBucket, use_bucket
from serving import running
from small import article

from semsearch.index import Index
from semsearch.server.open_indexes import OpenIndexes
from semsearch.word_vectors.table import VectorTable

DOCS = "s3://bucket/docs"


@pytest.fixture
def bucket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small_vectors: VectorTable) -> MemoryBucket:
    """A bucket that is indexed into ./indexes, as `docs`."""
    (tmp_path / "indexes").mkdir()
    monkeypatch.chdir(tmp_path)
    made = use_bucket(monkeypatch)
    for number in range(3):
        made.put(f"guide/{number}.md", article("sea", number))
    own = ["--indexes", "indexes", "--vectors", str(small_vectors.folder)]
    first = semsearch("index", f"{DOCS}?endpoint=http://x:1", *own)
    assert (first.status, first.err) == (0, "")
    assert first.out.startswith(f"{Path('indexes/docs')}: 3 added; ")
    return made


def test_an_index_of_a_store_is_found_again_by_its_uri(bucket: MemoryBucket) -> None:
    bucket.put("guide/1.md", article("law", 1))
    bucket.delete("guide/2.md")
    assert "1 changed, 1 removed, 1 unchanged" in semsearch("index", DOCS).out
    assert "2 unchanged" in semsearch("index").out
    assert "1 unchanged" in semsearch("index", f"{DOCS}/guide/1.md", "--name", "docs").out
    one = semsearch("index", f"{DOCS}/guide/1.md", "--indexes", "indexes")
    assert one.out.startswith(f"{Path('indexes/1')}: 1 added; ")
    other = semsearch("index", "s3://elsewhere/docs")
    assert other.status == 2
    assert other.err.endswith("there is nothing at s3://elsewhere/docs; give a folder or object that exists\n")


def test_what_is_removed_may_come_back(bucket: MemoryBucket) -> None:
    assert len(bucket.objects) == 3
    removed = semsearch("remove", f"{DOCS}/guide/0.md")
    assert removed.out.endswith("1 removed\n")
    assert f"if {DOCS}/guide/0.md still exists, the next sync adds it again" in removed.err


def test_what_needs_a_file_here_says_so(bucket: MemoryBucket) -> None:
    assert bucket.objects
    watched = semsearch("watch")
    assert watched.status == 2
    assert f"object stores report no changes, so {DOCS} can only be synced" in watched.err


def test_objects_of_a_store_are_synced_and_removed_as_files_are(
    tmp_path: Path, small_vectors: VectorTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    bucket = use_bucket(monkeypatch)
    for name in ("a.md", "guide/b.md"):
        bucket.put(name, "The comet is near the planet.")
    with Index.create(tmp_path / "stored", vectors=small_vectors) as index:
        index.sync("s3://bucket/docs")
    with running(OpenIndexes(places={"stored": tmp_path / "stored"})) as asker:
        bucket.put("guide/b.md", "The judge is in the court.")
        assert asker.writer.post("/v1/sync", {"paths": ["s3://bucket/docs/guide"]}).json["changed"] == 1
        assert asker.writer.post("/v1/sync", {"paths": ["s3://bucket/docs-more"]}).status == 400
        assert asker.writer.ask("DELETE", "/v1/documents/a.md").json == {"removed": 1}
