"""Readers go on while a writer works; a second writer is told who holds the lock."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hammering import write_version
from small import small_vectors, write_articles

from semsearch.errors import IndexLocked
from semsearch.index import Index
from semsearch.readers.document import Text
from semsearch.system.locking import writer_lock

SECONDS = 4


def start(*arguments: object) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1"}
    environment["OPENBLAS_NUM_THREADS"] = "1"
    script = str(Path(__file__).parents[1] / "support" / "hammering.py")
    return subprocess.Popen(
        [sys.executable, script, *map(str, arguments)],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_readers_never_see_one_generations_rows_with_anothers_vectors(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    write_version(docs, 1)
    with Index.create(tmp_path / "index", vectors=small_vectors(tmp_path)) as index:
        index.sync(docs)
    readers = [start("read", tmp_path / "index", SECONDS) for _ in range(2)]
    writer = start("write", tmp_path / "index", docs, SECONDS)
    results = [process.communicate(timeout=120) for process in (writer, *readers)]
    for process, (_, errors) in zip((writer, *readers), results, strict=True):
        assert process.returncode == 0, errors
    written = int(results[0][0])
    for output, _ in results[1:]:
        assert len(output.split()) > 3, "a reader should have seen several generations"
    assert written > 5
    with Index.open(tmp_path / "index") as index:
        assert index.verify() == []
        assert f"v{written}x" in index.search("captain ship version")[0].passage


def test_the_next_query_sees_the_new_generation(tmp_path: Path) -> None:
    write_articles(tmp_path / "docs", 2)
    vectors = small_vectors(tmp_path)
    with Index.create(tmp_path / "index", vectors=vectors) as writer, Index.open(tmp_path / "index") as reader:
        writer.sync(tmp_path / "docs")
        assert reader.search("planet", filters=["path=new"]) == []
        writer.add([Text("new", "A comet is near the planet.")])
        assert reader.search("planet")[0].document == "new"
        writer.remove("new")
        assert all(hit.document != "new" for hit in reader.search("planet"))


def test_a_second_writer_is_told_who_holds_the_lock(tmp_path: Path) -> None:
    with Index.create(tmp_path / "index", vectors=small_vectors(tmp_path)) as index:
        with writer_lock(index.path), pytest.raises(IndexLocked) as refusal:
            index.add([Text("a", "bread")])
        assert f"process {os.getpid()} on {socket.gethostname()}" in str(refusal.value)
        assert index.add([Text("a", "bread")]).added == 1


def test_a_search_does_not_wait_for_a_writer(tmp_path: Path) -> None:
    with Index.create(tmp_path / "index", vectors=small_vectors(tmp_path)) as index:
        index.add([Text("a", "bread and butter")])

        def slowly() -> object:
            yield Text("b", "bread and salt")
            with Index.open(index.path, vectors=index._vectors()) as other:  # in the middle of the write
                assert [hit.document for hit in other.search("bread")] == ["a"]

        index.add(slowly())  # type: ignore[arg-type]
        assert {hit.document for hit in index.search("bread")} == {"a", "b"}


def test_threads_may_share_an_index(tmp_path: Path) -> None:
    write_articles(tmp_path / "docs", 6)
    failures: list[BaseException] = []
    with Index.create(tmp_path / "index", vectors=small_vectors(tmp_path)) as index:
        index.sync(tmp_path / "docs")
        expected = index.search("the moon")

        def ask() -> None:
            try:
                for _ in range(20):
                    assert index.search("the moon") == expected
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert failures == []
