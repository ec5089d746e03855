"""Processes that serve together: the same answers, the dead are replaced, what is written is found, none is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest
from serving import Asker

from semsearch.word_vectors.table import VectorTable

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals")


@contextmanager
def serving(folder: Path, config: Path, vectors: Path) -> Iterator[tuple[Asker, subprocess.Popen[str]]]:
    """A server of two processes, and its own."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "XDG_CONFIG_HOME": str(config)}
    given = ["--indexes", str(folder / "indexes"), "--port", "0", "--vectors", str(vectors)]
    command = [sys.executable, "-m", "semsearch", "serve", "--workers", "2", *given]
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as server:
        assert server.stdout is not None
        try:
            yield Asker(int(server.stdout.readline().rpartition(":")[2])), server
        finally:
            server.kill()


def paths(asker: Asker) -> list[str]:
    """The documents of the hits in the index notes."""
    reply = asker.get("/v1/search", index="notes", query="ship")
    assert reply.status == 200, reply.body
    return [hit["path"] for hit in reply.json["hits"]]


def children(server: subprocess.Popen[str]) -> set[int]:
    """The processes that a server has started and that serve; not that which looks after their resources."""
    tasks = Path(f"/proc/{server.pid}/task").iterdir()
    started = {int(pid) for task in tasks for pid in (task / "children").read_text().split()}
    return {pid for pid in started if b"resource_tracker" not in Path(f"/proc/{pid}/cmdline").read_bytes()}


def said_to_the_end(server: subprocess.Popen[str]) -> str:
    """The messages of a server: all processes hold their pipe, which ends when the last of them has ended."""
    assert server.stderr is not None
    return server.stderr.read()


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="Linux")
def test_they_answer_find_what_is_written_are_replaced_and_end_with_the_server(
    folder: Path, tmp_path: Path, small_vectors: VectorTable
) -> None:
    with serving(folder, tmp_path / "config", small_vectors.folder) as (asker, server):
        assert paths(asker) == ["a/b c"]
        token = (tmp_path / "config" / "semsearch" / "server-token").read_text().strip()
        writer = Asker(asker.port, {"Authorization": f"Bearer {token}"})
        assert writer.put("/v1/documents/new", {"text": "A ship in the court.", "index": "notes"}).status == 200
        with ThreadPoolExecutor(8) as clients:
            assert all(clients.map(lambda _: "new" in paths(asker), range(16)))
        assert writer.ask("DELETE", "/v1/documents/new?index=notes").status == 200
        died = children(server)
        assert len(died) == 2
        for pid in died:
            os.kill(pid, signal.SIGKILL)
        assert paths(asker) == ["a/b c"]  # waits until another has started
        assert not died & children(server)
        os.killpg(server.pid, signal.SIGTERM)
        told = said_to_the_end(server)
    assert "Traceback" not in told
    assert "stopped serving" in told


def test_none_outlives_a_server_that_is_killed(folder: Path, tmp_path: Path, small_vectors: VectorTable) -> None:
    with serving(folder, tmp_path / "config", small_vectors.folder) as (asker, server):
        assert paths(asker) == ["a/b c"]
        server.kill()
        assert "stopped serving" not in said_to_the_end(server)
