"""A limit of memory is an error in one line that says what to do, and changes nothing; never a crash of a library."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from small import write_articles

from semsearch.dense.faiss_store import faiss
from semsearch.errors import StorageError
from semsearch.index import Index
from semsearch.system import memory
from semsearch.word_vectors.table import VectorTable

_FAILED = 2
_limits = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems do not keep to ulimit -v")


def limited(megabytes: int, *arguments: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run Python in a shell with so much address space, and without settings of threads."""
    environment = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    shell = ["sh", "-c", f'ulimit -v {megabytes * 1024}; exec "$@"', "sh", sys.executable]
    return subprocess.run([*shell, *arguments], cwd=cwd, capture_output=True, text=True, env=environment, check=False)


@pytest.fixture
def world(tmp_path: Path, small_vectors: VectorTable) -> Path:
    """A folder with documents and an index of them."""
    write_articles(tmp_path / "docs", 3)
    with Index.create(tmp_path / "index", vectors=small_vectors) as index:
        index.sync(tmp_path / "docs")
    (tmp_path / "docs" / "new.md").write_text("The captain left the ship.\n")
    return tmp_path


@_limits
@pytest.mark.parametrize(
    ("command", "megabytes"),
    [("query", 60), ("query", 300), ("index", 240), ("index", 420), ("refit", 300)],
)
def test_too_little_memory_is_said_in_one_line(world: Path, megabytes: int, command: str) -> None:
    given = {"query": ["ship"], "index": ["docs"]}.get(command, [])
    done = limited(megabytes, "-m", "semsearch", command, *given, "--name", "index", cwd=world)
    if done.returncode:  # a command that reads may do with less than one that writes
        assert done.returncode == _FAILED, done.stderr
        assert done.stderr.startswith("semsearch: "), done.stderr
        assert "memory" in done.stderr
        assert done.stderr.count("\n") == 1, done.stderr
    assert done.returncode or (command == "query")
    with Index.open(world / "index") as index:
        assert index.status().documents == 3
        assert index.search("ship")
    assert not list((world / "index").glob("**/*.tmp"))


@_limits
def test_a_new_index_that_cannot_be_filled_is_not_left(world: Path) -> None:
    done = limited(500, "-m", "semsearch", "index", "docs", "--name", "indexes/new", cwd=world)
    assert (done.returncode, (world / "indexes" / "new").exists()) == (_FAILED, False), done.stderr


@_limits
def test_a_program_gets_an_error_instead_of_a_crash(world: Path) -> None:
    program = "from semsearch import Index\nIndex.open('index').search('ship')"
    done = limited(260, "-c", program, cwd=world)
    assert done.stderr.splitlines()[-1].startswith("semsearch.errors.StorageError: too little memory"), done.stderr


def test_where_memory_is_scarce_faiss_uses_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr(memory, "_can_have", lambda megabytes: megabytes < 1000)
    memory.require_memory(10, "to test")
    assert ("OMP_NUM_THREADS" in os.environ) == (10 + memory.THREAD * (os.cpu_count() or 1) >= 1000)
    memory.require_memory(999, "to test")
    assert os.environ["OMP_NUM_THREADS"] == "1"
    with pytest.raises(StorageError, match=r"too little memory to test.*1000 MB.*ulimit -v"):
        memory.require_memory(1000, "to test")


def test_vectors_that_cannot_be_mapped_are_not_said_to_be_damaged(world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: object) -> Any:
        raise RuntimeError("Error in faiss::MmappedFileMappingOwner: could not mmap(): Cannot allocate memory")

    monkeypatch.setattr(faiss, "read_index", failing)
    with Index.open(world / "index") as index, pytest.raises(StorageError, match=r"Cannot allocate memory.*ulimit -v"):
        index.search("ship")
