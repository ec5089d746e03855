"""The least that the same work costs: memory read once, a file flushed, SQLite's own inserts, FAISS alone.

Each is a case that the real ones are divided by. None is reached by a program that does more than this one thing.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path

import numpy as np
import numpy.typing as npt

from semsearch.bench.bench_text import TextFiles, TextSample
from semsearch.bench.processes import run_python
from semsearch.bench.rounds import Case, Quantity, seconds, timed
from semsearch.bench.site import Site
from semsearch.dense.faiss_segment import Vectors
from semsearch.storage.database import SEGMENTS, Store
from semsearch.storage.manifest import get_segments
from semsearch.storage.segments import Segment

Float32 = npt.NDArray[np.float32]
SCANS = 10  # readings a round of what takes a millisecond
DEPTH = 50  # vectors that a scan is asked for
_BLOCK = 10_000  # paragraphs held at once
_COLUMNS = "id INTEGER PRIMARY KEY, text TEXT NOT NULL"


def reading_memory(size: int) -> list[float]:
    """Seconds of one pass over so many bytes by BLAS, which multiplies each number and waits for memory."""
    array = np.ones(max(1, size // 4), dtype=np.float32)
    array.dot(array)
    return [seconds(lambda: array.dot(array)) for _ in range(SCANS)]


def reading_sentence_vectors(sample: TextSample, dimension: int) -> Case:
    """One pass over as many bytes as the vectors of the sample's sentences take."""
    size = len(sample.sentences) * dimension * 4
    return Case((Quantity("vectors", "reading sentences' vectors", "time"),), lambda: [reading_memory(size)])


def splitting_at_full_stops(sample: TextSample) -> Case:
    """What sentence splitting costs that knows nothing."""
    text = "\n".join(sample.paragraphs)
    size = len(text.encode()) / 1e6
    return timed(Quantity("full stops", "splitting at '. ' alone", "rate", size, "MB"), lambda: text.split(". "))


def copying(corpus: TextFiles, place: Path) -> Case:
    """Reading all text, writing the same bytes to one file, and flushing that to the disk."""

    def work() -> None:
        with (place / "copy").open("wb") as file:
            for source in corpus.places():
                file.write(source.read_bytes())
            file.flush()
            os.fsync(file.fileno())

    return timed(Quantity("copy", "copying the text, flushed", "rate", corpus.bytes / 1e6, "MB"), work)


def inserting(corpus: TextFiles, place: Path) -> Case:
    """All paragraphs into a table of SQLite by executemany, in one transaction. Reading them is not counted."""
    quantity = Quantity("rows", "paragraphs into SQLite", "rate", corpus.paragraphs, "rows")

    def run() -> list[list[float]]:
        database = place / "rows.sqlite"
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
    """Ten rows by their key from SQLite in memory: what any answer of ten passages has to fetch."""
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
    """The size and time of each file."""

    def work() -> None:
        for place in corpus.places():
            place.stat()

    return timed(Quantity("stat", "looking at each file", "time"), work)


def writing_a_file(corpus: TextFiles, place: Path) -> Case:
    """The bytes of one file of the corpus, written and flushed."""
    data = next(corpus.places()).read_bytes()

    def work() -> None:
        with (place / "one").open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())

    return timed(Quantity("one file", "one file written, flushed", "time"), work)


def starting() -> Case:
    """A process that imports NumPy and FAISS, each with one thread, and ends."""
    quantities = (
        Quantity("start", "start of numpy and faiss", "time"),
        Quantity("start memory", "their memory, at the peak", "bytes"),
    )

    def run() -> list[list[float]]:
        ran = run_python("-c", "import numpy, faiss")
        return [[ran.seconds], [] if ran.peak is None else [float(ran.peak)]]

    return Case(quantities, run)


def the_text(corpus: TextFiles) -> Case:
    """How large the text is."""
    return Case((Quantity("text", "the text itself", "bytes"),), lambda: [[float(corpus.bytes)]])


def scanning(site: Site, batch: int) -> Case:
    """FAISS over the index's own passage vectors, for one query at a time and for a batch; and their bytes, once."""
    quantities = (
        Quantity("memory", "reading passages' vectors", "time"),
        Quantity("scan", "FAISS scan of these", "time", 1, "queries", floors=("memory",)),
        Quantity("scan batch", "FAISS scans in a batch", "rate", batch, "queries", floors=("scan",)),
    )

    def run() -> list[list[float]]:
        segments = _passage_segments(site)
        opened = [Vectors(site.path / SEGMENTS / segment.file, segment) for segment in segments]
        queries = np.random.default_rng(0).standard_normal((batch, opened[0].dimension)).astype(np.float32)
        queries /= np.linalg.norm(queries, axis=1, keepdims=True)

        def scan(some: Float32) -> None:
            for vectors in opened:
                vectors.scan(some, min(DEPTH, len(vectors.segment.runs)))

        scan(queries[:1])  # reads what was only mapped
        singly = [seconds(lambda query=queries[[row]]: scan(query)) for row in range(SCANS)]  # type: ignore[misc]
        return [reading_memory(sum(segment.size for segment in segments)), singly, [seconds(lambda: scan(queries))]]

    return Case(quantities, run)


def _passage_segments(site: Site) -> list[Segment]:
    """The files that hold the vectors of passages."""
    store = Store(site.ready())
    try:
        with store.reading() as db:
            return [segment for segment in get_segments(db) if segment.kind == "passage"]
    finally:
        store.close()


def _blocks(paragraphs: Iterator[tuple[int, str]]) -> Iterator[Sequence[tuple[int, str]]]:
    while block := list(islice(paragraphs, _BLOCK)):
        yield block


def _remove_database(place: Path) -> None:
    for suffix in ("", "-wal", "-shm"):
        Path(f"{place}{suffix}").unlink(missing_ok=True)
