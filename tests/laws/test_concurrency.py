"""Readers go on while a writer works; a second writer is told who holds the lock."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from contextlib import ExitStack
from itertools import islice
from pathlib import Path

import pytest
from processes.hammering import write_version
from small import small_vectors, write_articles

from semsearch.errors import IndexLocked
from semsearch.index import Index
from semsearch.readers.document import Text
from semsearch.system.locking import writer_lock


def start(*arguments: object) -> subprocess.Popen[str]:
    """A helper process, which goes on until its standard input is closed."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1"}
    environment["OPENBLAS_NUM_THREADS"] = "1"
    script = str(Path(__file__).parents[1] / "support" / "processes" / "hammering.py")
    return subprocess.Popen(
        [sys.executable, script, *map(str, arguments)],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def end(process: subprocess.Popen[str]) -> tuple[list[str], str]:
    """Tell a helper process to end, and wait for it: the lines that it had left to say, and its errors."""
    assert process.stdin
    assert process.stdout
    assert process.stderr
    process.stdin.close()
    rest, errors = process.stdout.readlines(), process.stderr.read()
    process.wait()
    return rest, errors


def test_readers_never_see_one_generations_rows_with_anothers_vectors(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    write_version(docs, 1)
    with Index.create(tmp_path / "index", vectors=small_vectors(tmp_path)) as index:
        index.sync(docs)
    tasks = [("write", tmp_path / "index", docs), ("read", tmp_path / "index"), ("read", tmp_path / "index")]
    with ExitStack() as running:
        processes = [running.enter_context(start(*task)) for task in tasks]
        said = [[*islice(process.stdout or (), 4)] for process in processes]  # until each has had four generations
        for process, lines in zip(processes, said, strict=True):
            rest, errors = end(process)
            assert process.returncode == 0, errors
            lines += rest
    assert min(map(len, said)) >= 4
    written = int(said[0][-1])
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
