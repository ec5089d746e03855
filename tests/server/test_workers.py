"""Processes that search for a server: the same answers, the dead are replaced, none is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from multiprocessing import active_children
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest
from serving import Asker, running

from semsearch.index import Index
from semsearch.readers.document import Text
from semsearch.server.open_indexes import OpenIndexes
from semsearch.server.work_pool import Workers
from semsearch.word_vectors.table import VectorTable

QUERIES = [f"a {word} in the storm" for word in ("ship", "judge", "violin", "captain", "oven")] * 4


@contextmanager
def working(served: Path, searched: Path | None = None) -> Iterator[Asker]:
    """A server of a folder of indexes, with two processes that search them, or those of another folder."""
    workers = Workers(2, partial(OpenIndexes, folder=searched or served))
    with running(OpenIndexes(folder=served), workers=workers) as asker:
        assert workers.ready.wait(120)
        yield asker


def searching() -> list[BaseProcess]:
    """The processes that search."""
    return [each for each in active_children() if each.name == "semsearch-worker"]


@pytest.fixture
def other(tmp_path: Path, small_vectors: VectorTable) -> Path:
    """A folder with an index that is called as one of the package's, but holds something else."""
    with Index.create(tmp_path / "other" / "notes", vectors=small_vectors) as notes:
        notes.add([Text("elsewhere", "A ship of another folder.")])
    return tmp_path / "other"


def paths(asker: Asker, query: str) -> list[str]:
    """The documents of the hits in the index notes."""
    reply = asker.get("/v1/search", index="notes", query=query)
    assert reply.status == 200, reply.body
    return [hit["path"] for hit in reply.json["hits"]]


def test_their_answers_are_those_of_the_server(folder: Path, asker: Asker) -> None:
    asked = [
        *({"query": query, "index": "docs", "k": 5} for query in QUERIES),
        {"query": "?!", "index": "docs"},
        {"query": "ship", "index": "nowhere"},
        {"query": "ship", "index": ["docs", "notes"], "origin": True},
        {"query": "ship zyxxyzzy", "index": "docs", "filters": ["nothing/*"]},
    ]
    alone = [asker.post("/v1/search", each) for each in asked]
    with working(folder / "indexes") as worked, ThreadPoolExecutor(len(asked)) as clients:
        replies = [*clients.map(lambda each: worked.post("/v1/search", each), asked)]
    assert [reply.status for reply in replies] == [200] * len(QUERIES) + [400, 404, 200, 200]
    assert [reply.json for reply in replies] == [reply.json for reply in alone]


def test_a_search_is_theirs_and_a_process_that_dies_is_replaced(folder: Path, other: Path) -> None:
    with working(folder / "indexes", other) as asker:
        assert paths(asker, "ship") == ["elsewhere"]
        for _ in range(2):
            for process in (died := searching()):
                process.kill()
            for process in died:
                process.join()
            assert paths(asker, "ship") == ["elsewhere"]
            assert not {each.pid for each in died} & {each.pid for each in searching()}
    assert searching() == []


def test_what_is_written_is_found_by_them(other: Path) -> None:
    with working(other) as asker, ThreadPoolExecutor(8) as clients:
        assert paths(asker, "ship") == ["elsewhere"]
        assert asker.writer.put("/v1/documents/new", {"text": "A ship in the court.", "index": "notes"}).status == 200
        assert all(clients.map(lambda query: "new" in paths(asker, query), ["ship"] * 16))


@pytest.mark.skipif(os.name == "nt", reason="signals")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_none_outlives_the_server(
    folder: Path, tmp_path: Path, number: signal.Signals, small_vectors: VectorTable
) -> None:
    """All processes hold the pipe of the messages, which ends when the last of them has ended."""
    environment = {
        **os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "XDG_CONFIG_HOME": str(tmp_path / "config"),
    }  # fmt: skip
    given = ["--indexes", str(folder / "indexes"), "--port", "0", "--vectors", str(small_vectors.folder)]
    command = [sys.executable, "-m", "semsearch", "serve", "--workers", "2", *given]
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as server:
        assert server.stdout is not None
        assert server.stderr is not None
        asker = Asker(int(server.stdout.readline().rpartition(":")[2]))
        assert paths(asker, "ship") == ["a/b c"]
        os.killpg(server.pid, number) if number != signal.SIGKILL else server.kill()
        told = server.stderr.read()
    assert "Traceback" not in told or number == signal.SIGKILL  # which may come while a process starts
    assert ("stopped serving" in told) == (number == signal.SIGINT)
