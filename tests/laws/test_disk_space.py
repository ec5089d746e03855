"""Whatever was done to an index, it takes about the room of a new one, and no reader loses what it began to read."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from small import article, small_vectors, write_articles

from semsearch.index import Index
from semsearch.indexing import segment_merging
from semsearch.readers.document import Text
from semsearch.storage import database
from semsearch.word_vectors.table import VectorTable

SCRIPT = Path(__file__).parents[1] / "support" / "processes" / "reading_slowly.py"
MANY, FEW, FACTOR = 160, 16, 1.6
VECTORS = ("passage-", "sentence-")  # what each of these writes replaces


def size(path: Path) -> int:
    return sum(file.stat().st_size for file in path.rglob("*") if file.is_file())


def texts(count: int) -> list[Text]:
    return [Text(str(number), article("sea", number), format="markdown") for number in range(count)]


def new_size(folder: Path, vectors: VectorTable, count: int) -> int:
    """The size of an index that was made of so many texts at once."""
    with Index.create(folder, vectors=vectors) as index:
        index.add(texts(count))
    return size(folder)


def remove_most(index: Index) -> None:
    index.remove(*(text.id for text in texts(MANY)[FEW:]))


def remove_bit_by_bit(index: Index) -> None:
    for first in range(FEW, MANY, FEW):
        index.remove(*(text.id for text in texts(MANY)[first : first + FEW]))


def replace_all(index: Index) -> None:
    index.add(replace(text, text=f"{text.text} ") for text in texts(MANY))


DONE: dict[str, tuple[Callable[[Index], object], int]] = {
    "rebuild twice": (lambda index: [index.rebuild(), index.rebuild()], MANY),
    "replace all": (replace_all, MANY),
    "remove most": (remove_most, FEW),
    "remove bit by bit": (remove_bit_by_bit, FEW),
    "remove and refit": (lambda index: [remove_most(index), index.refit()], FEW),
}


@pytest.mark.parametrize("action", DONE)
def test_an_index_takes_about_the_room_of_a_new_one(tmp_path: Path, action: str, small_vectors: VectorTable) -> None:
    act, left = DONE[action]
    with Index.create(tmp_path / "index", vectors=small_vectors) as index:
        index.add(texts(MANY))
        act(index)
        assert size(index.path) <= FACTOR * new_size(tmp_path / "new", small_vectors, left)
        assert index.verify() == []


def test_an_index_that_is_open_elsewhere_is_given_back_too(tmp_path: Path, small_vectors: VectorTable) -> None:
    with Index.create(tmp_path / "index", vectors=small_vectors) as index, Index.open(index.path) as other:
        index.add(texts(MANY))
        assert other.search("ship")  # its connection stays, and with it the log
        remove_most(index)
        index.refit()
        assert size(index.path) <= FACTOR * new_size(tmp_path / "new", small_vectors, FEW)
        assert other.search("ship")


@contextmanager
def slow_reader(index: Path, query: str) -> Iterator[subprocess.Popen[str]]:
    """A process with a read transaction that it has begun."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1"}
    with subprocess.Popen(
        [sys.executable, str(SCRIPT), str(index), query],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout
        assert process.stdout.readline() == "begun\n"
        yield process


def go_on(process: subprocess.Popen[str]) -> None:
    assert process.stdin
    process.stdin.write("\n")
    process.stdin.flush()


def segments(path: Path) -> set[str]:
    return {file.name for file in (path / "segments").iterdir()}


@pytest.mark.parametrize("action", ["rebuild", "refit", "remove"])
def test_a_reader_of_another_process_keeps_what_it_has_begun_to_read(
    tmp_path: Path, action: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "WAIT_SECONDS", 0.0)
    write_articles(tmp_path / "docs", 12)
    with Index.create(tmp_path / "index", vectors=small_vectors(tmp_path).folder) as index:
        index.sync(tmp_path / "docs")
        before = segments(index.path)
        expected = sorted(hit.document for hit in index.search("captain of a ship"))
        with slow_reader(index.path, "captain of a ship") as process:
            index.remove(tmp_path / "docs") if action == "remove" else getattr(index, action)()
            assert before <= segments(index.path)
            go_on(process)
            assert process.stdout
            assert process.stdout.readline().split() == expected
            index.add([])
            assert before <= segments(index.path)
            go_on(process)
            assert process.wait() == 0
        index.add([])
        assert not [name for name in before & segments(index.path) if name.startswith(VECTORS)]
        assert index.verify() == []


def test_what_cannot_be_given_back_fails_no_write(
    tmp_path: Path, small_vectors: VectorTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    with Index.create(tmp_path / "index", vectors=small_vectors) as index:
        index.add(texts(MANY))
        with monkeypatch.context() as patch:
            patch.setattr(segment_merging, "checkpoint", refuse)
            remove_most(index)
        assert index.status(stale=False).documents == FEW
        index.refit()
        assert size(index.path) <= FACTOR * new_size(tmp_path / "new", small_vectors, FEW)
