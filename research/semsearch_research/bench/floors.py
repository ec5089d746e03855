"""Floors: the least that the same work costs: memory read once, a file flushed, SQLite's own inserts, FAISS alone.

Each is a case that real measurements are divided by. A program that does more than this one thing cannot reach it.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import partial
from itertools import islice
from pathlib import Path

import faiss
import numpy as np
import numpy.typing as npt

from semsearch import Index
from semsearch_research.bench.bench_text import TextFiles, TextSample
from semsearch_research.bench.processes import run_python
from semsearch_research.bench.rounds import Case, Quantity, seconds, timed
from semsearch_research.bench.site import Site

Float32 = npt.NDArray[np.float32]
SCANS = 10  # readings a round of work that takes a millisecond
DEPTH = 50  # vectors that a scan is asked for
_BLOCK = 10_000  # paragraphs held at once
_COLUMNS = "id INTEGER PRIMARY KEY, text TEXT NOT NULL"


def reading_memory(size: int) -> list[float]:
    """The seconds of one pass over `size` bytes by BLAS, which multiplies each number and waits for memory."""
    array = np.ones(max(1, size // 4), dtype=np.float32)
    array.dot(array)
    return [seconds(lambda: array.dot(array)) for _ in range(SCANS)]


def reading_sentence_vectors(sample: TextSample, dimension: int) -> Case:
    """The floor of embedding: one pass over as many bytes as the vectors of the sample's sentences take."""
    size = len(sample.sentences) * dimension * 4
    return Case((Quantity("vectors", "reading sentences' vectors", "time"),), lambda: [reading_memory(size)])


def splitting_at_full_stops(sample: TextSample) -> Case:
    """The floor of sentence splitting: splitting at full stops."""
    text = "\n".join(sample.paragraphs)
    size = len(text.encode()) / 1e6
    return timed(Quantity("full stops", "splitting at '. ' alone", "rate", size, "MB"), lambda: text.split(". "))


def copying(corpus: TextFiles, folder: Path) -> Case:
    """A floor of indexing: reading all text, writing the same bytes to one file, and flushing that to the disk."""

    def work() -> None:
        with (folder / "copy").open("wb") as file:
            for source in corpus.paths():
                file.write(source.read_bytes())
            file.flush()
            os.fsync(file.fileno())

    return timed(Quantity("copy", "copying the text, flushed", "rate", corpus.bytes / 1e6, "MB"), work)


def inserting(corpus: TextFiles, folder: Path) -> Case:
    """A floor of indexing: inserting all paragraphs into a table of SQLite, in one transaction."""
    quantity = Quantity("rows", "paragraphs into SQLite", "rate", corpus.paragraphs, "rows")

    def run() -> list[list[float]]:
        database = folder / "rows.sqlite"
        _remove_database(database)
        paragraphs = enumerate(corpus.each_paragraph())
        taken = 0.0
        with closing(sqlite3.connect(database, isolation_level=None)) as db:
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA synchronous = FULL")
            db.execute(f"CREATE TABLE passages ({_COLUMNS})")
            db.execute("BEGIN")
            for block in _blocks(paragraphs):
                started = time.perf_counter()
                db.executemany("INSERT INTO passages VALUES (?, ?)", block)
                taken += time.perf_counter() - started
            taken += seconds(lambda: db.execute("COMMIT"))
        return [[taken]]

    return Case((quantity,), run)


def selecting(sample: TextSample) -> Case:
    """The floor of an answer of ten passages: fetching ten rows by their key from SQLite in memory."""
    keys = np.linspace(0, len(sample.paragraphs) - 1, num=10).astype(int).tolist()
    marks = ", ".join("?" * len(keys))
    statement = f"SELECT id, text FROM passages WHERE id IN ({marks})"  # noqa: S608  # only question marks

    def run() -> list[list[float]]:
        with closing(sqlite3.connect(":memory:")) as db:
            db.execute(f"CREATE TABLE passages ({_COLUMNS})")
            db.executemany("INSERT INTO passages VALUES (?, ?)", enumerate(sample.paragraphs))
            return [[seconds(lambda: db.execute(statement, keys).fetchall()) for _ in range(SCANS)]]

    return Case((Quantity("ten rows", "ten rows from SQLite", "time"),), run)


def looking_at_files(corpus: TextFiles) -> Case:
    """The floor of a sync without changes: asking the size and time of each file."""

    def work() -> None:
        for path in corpus.paths():
            path.stat()

    return timed(Quantity("stat", "looking at each file", "time"), work)


def writing_a_file(corpus: TextFiles, folder: Path) -> Case:
    """The floor of a sync of one file: writing and flushing its bytes."""
    data = next(corpus.paths()).read_bytes()

    def work() -> None:
        with (folder / "one").open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())

    return timed(Quantity("one file", "one file written, flushed", "time"), work)


def starting() -> Case:
    """The floor of a cold query: a process that imports NumPy and FAISS, each with one thread, and ends."""
    quantities = (
        Quantity("start", "start of numpy and faiss", "time"),
        Quantity("start memory", "their memory, at the peak", "bytes"),
    )

    def run() -> list[list[float]]:
        ran = run_python("-c", "import numpy, faiss")
        return [[ran.seconds], [] if ran.peak is None else [float(ran.peak)]]

    return Case(quantities, run)


def the_text(corpus: TextFiles) -> Case:
    """The floor of the index's size: the size of the text."""
    return Case((Quantity("text", "the text itself", "bytes"),), lambda: [[float(corpus.bytes)]])


def scanning(site: Site, batch: int) -> Case:
    """The floors of a warm query: FAISS over as many vectors as there are passages, and reading these from memory."""
    quantities = (
        Quantity("memory", "reading as many vectors", "time"),
        Quantity("scan", "FAISS scan of these", "time", 1, "queries", floors=("memory",)),
        Quantity("scan batch", "FAISS scans in a batch", "rate", batch, "queries", floors=("scan",)),
    )

    def run() -> list[list[float]]:
        with Index.open(site.ready()) as index:
            count, dimension = index.status(known_words=False, stale=False).passages, index.embed(["a"]).shape[1]
        generator = np.random.default_rng(0)
        flat = faiss.IndexFlatIP(dimension)
        flat.add(generator.standard_normal((count, dimension), dtype=np.float32))
        queries = generator.standard_normal((batch, dimension), dtype=np.float32)
        depth = min(DEPTH, count)
        flat.search(queries[:1], depth)
        singly = [seconds(partial(flat.search, queries[[row]], depth)) for row in range(SCANS)]
        return [reading_memory(4 * count * dimension), singly, [seconds(lambda: flat.search(queries, depth))]]

    return Case(quantities, run)


def _blocks(paragraphs: Iterator[tuple[int, str]]) -> Iterator[Sequence[tuple[int, str]]]:
    while block := list(islice(paragraphs, _BLOCK)):
        yield block


def _remove_database(path: Path) -> None:
    for suffix in ("", "-wal", "-shm"):
        Path(f"{path}{suffix}").unlink(missing_ok=True)
