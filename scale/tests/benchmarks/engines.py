"""Measure an engine of vectors beside the files of an index on one machine: writing, size, memory, questions, recall.

    python scale/tests/benchmarks/engines.py postgres://ada@localhost/search
    python scale/tests/benchmarks/engines.py postgres --vectors 100000 --index indexes/docs
    python scale/tests/benchmarks/engines.py postgres --vectors 1000000
    python scale/tests/benchmarks/engines.py lance:/tmp/measured --vectors 20000

`postgres` alone starts the server that the tests use. The vectors are made up, unit vectors around a centre for every
hundred with most of their variance in few directions, or those of the sentences of an index, which are harder to tell
apart. Questions are vectors like them that are not among them; one half is for the engine, to choose how it searches,
the other to measure. Prints a Markdown table: vectors a second until the last was taken, seconds until a segment was
finished (with its index, where it has one), bytes a vector, the memory of the server's processes at its most and after
it, milliseconds of a question for ten, and the share of the ten best, without and with a filter that allows a tenth: a
random one or, with --range, one next to the other, as the passages of a folder are.
"""

from __future__ import annotations

import argparse
import secrets
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

sys.path[:0] = [str(Path(__file__).parents[depth] / folder) for depth, folder in ((1, "support"), (3, "tests/support"))]

from semsearch.arrays.id_ranges import IdRanges
from semsearch.dense.engines import claim_store, complete, open_stores, release
from semsearch.dense.vector_store import NO_IDS, SegmentsReader, VectorStore
from semsearch.storage.database import IndexDatabase
from semsearch.storage.schema import get_address
from semsearch.storage.segments import get_segments

Float32 = npt.NDArray[np.float32]
Int64 = npt.NDArray[np.int64]

DIMENSION, QUESTIONS, K, BATCH = 256, 400, 10, 8192
COLUMNS = (
    "engine",
    "segments",
    "vectors/s in",
    "finished s",
    "bytes a vector",
    "memory MB",
    "ms (p95)",
    "recall",
    "a tenth: ms (p95)",
    "recall",
)


@dataclass(frozen=True, slots=True)
class Data:
    """Vectors (n, d), questions about them (q, d), the rows that a filter allows, and the tenth best scores of both."""

    vectors: Float32
    questions: Float32
    allowed: Int64
    last: Float32
    last_allowed: Float32


def made_up(count: int, generator: np.random.Generator) -> Float32:
    """Unit vectors in clusters. (count, DIMENSION)"""
    spread = (1 / np.sqrt(1 + np.arange(DIMENSION) / 8)).astype(np.float32)
    centres = generator.standard_normal((max(count // 100, 1), DIMENSION), dtype=np.float32)
    rows = np.empty((count, DIMENSION), np.float32)
    for first in range(0, count, BATCH):
        part = rows[first : first + BATCH]
        part[:] = centres[generator.integers(0, len(centres), len(part))]
        part += 0.8 * generator.standard_normal(part.shape, dtype=np.float32)
        part *= spread
        part /= np.linalg.norm(part, axis=1, keepdims=True)
    return rows


def of_sentences(folder: Path, count: int, generator: np.random.Generator) -> Float32:
    """The vectors of as many of an index's sentences, which lie in its folder. (≤ count, d)"""
    with IndexDatabase(folder).reading() as db:
        segments = [segment for segment in get_segments(db) if segment.kind == "sentence"]
        reader = open_stores(get_address(db), folder)["sentence"].open(segments, NO_IDS)
    ids = np.sort(np.concatenate([segment.id_ranges.all_ids() for segment in segments]))
    chosen = np.sort(generator.permutation(ids)[:count])
    return reader.fetch(chosen).by_position().rows


def data_of(rows: Float32, generator: np.random.Generator, *, is_range: bool = False) -> Data:
    """Take questions out of vectors, and find what is nearest to them by comparing all in single precision."""
    order = generator.permutation(len(rows))
    questions, vectors = rows[order[:QUESTIONS]], rows[np.sort(order[QUESTIONS:])]
    vectors = np.concatenate([part.astype(np.float16).astype(np.float32) for part in np.array_split(vectors, 64)])
    count = len(vectors)
    is_allowed = np.arange(count) // (count // 10) == 1 if is_range else generator.random(count) < 0.1
    allowed = np.flatnonzero(is_allowed)
    last, last_allowed = (_last(questions[1::2], vectors, rows) for rows in (np.arange(count), allowed))
    return Data(vectors, questions, allowed, last, last_allowed)


def _last(asked: Float32, vectors: Float32, rows: Int64) -> Float32:
    """The K-th best inner product of each question with some rows."""
    best = np.full((len(asked), K), -np.inf, dtype=np.float32)
    for part in np.array_split(rows, -(-len(rows) // BATCH)):
        best = np.partition(np.concatenate((best, asked @ vectors[part].T), axis=1), -K, axis=1)[:, -K:]
    return np.asarray(best.min(axis=1))


def measured(name: str, store: VectorStore, data: Data, memory: Callable[[], float]) -> list[str]:
    """The row of a store: it is written, and asked one question after the other."""
    most, began = Most(memory), time.perf_counter()
    with most, store.writer(1) as writer:
        for first in range(0, len(data.vectors), BATCH):
            rows = data.vectors[first : first + BATCH]
            writer.add(np.arange(first, first + len(rows)), rows)
        taken = time.perf_counter() - began
        segments = writer.finish()
    finished = time.perf_counter() - began - taken
    reader = store.open(segments, NO_IDS)
    plain = asked(reader, data, None, data.last)
    tenth = asked(reader, data, IdRanges.of_ids(data.allowed), data.last_allowed)
    return [
        name,
        str(len(segments)),
        f"{len(data.vectors) / taken:,.0f}",
        f"{finished:,.1f}",
        f"{sum(segment.size for segment in segments) / len(data.vectors):,.0f}",
        f"{most.value:,.0f}, {memory():,.0f}",
        *plain,
        *tenth,
    ]


def asked(reader: SegmentsReader, data: Data, allowed: IdRanges | None, last: Float32) -> list[str]:
    """The milliseconds of a question, the median and the 95th percentile, and the recall of the ten best.

    What has the score of the tenth is as good: there may be many with the same text.
    """
    seconds, shares = [], []
    for question, own in zip(data.questions[1::2], last.tolist(), strict=True):
        began = time.perf_counter()
        found = reader.search(question[None], K, allowed=allowed).scores[0]
        seconds.append(time.perf_counter() - began)
        shares.append(np.count_nonzero(found >= own - 1e-5) / K)
    median, late = np.quantile(seconds, (0.5, 0.95)) * 1000
    return [f"{median:.2f} ({late:.2f})", f"{np.mean(shares):.3f}"]


class Most:
    """The most of a figure while something is done. A context manager."""

    def __init__(self, figure: Callable[[], float]) -> None:
        self.value = figure()
        self._figure = figure
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def __enter__(self) -> Most:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._done.wait(0.2):
            self.value = max(self.value, self._figure())


def megabytes(process: int) -> float:
    """The memory of a process and its children, in which shared pages count for their share (PSS); 0 if it cannot be
    told.
    """
    try:
        children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    own = next((int(line.split()[1]) / 1024 for line in lines if line.startswith("Pss:")), 0.0)
    return own + sum(megabytes(int(child)) for child in children)


@contextmanager
def place(given: str, process: int | None) -> Iterator[tuple[str, Callable[[], float]]]:
    """The URI of a place to measure, and what tells the memory of its server."""
    if given != "postgres":
        yield given, (lambda: megabytes(process)) if process is not None else (lambda: 0.0)
        return
    from scale_servers.postgres_server import PostgresServer, close_connections

    server = PostgresServer(shared_buffers="1GB", max_wal_size="8GB", fsync="on", full_page_writes="on")
    try:
        yield f"{server.uri}&timeout=60", lambda: megabytes(server.process)
    finally:
        close_connections()
        server.remove()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("uri", help="the place to measure; postgres: a server of one's own")
    parser.add_argument("--vectors", type=int, default=20_000)
    parser.add_argument("--index", type=Path, help="a folder, whose sentences' vectors are taken")
    parser.add_argument("--process", type=int, help="the id of the server, whose memory is told")
    parser.add_argument("--exact", action="store_true", help="compare every vector")
    parser.add_argument("--range", action="store_true", help="the filter allows a range of rows")
    given = parser.parse_args()
    generator = np.random.default_rng(0)
    count = given.vectors + QUESTIONS
    rows = made_up(count, generator) if given.index is None else of_sentences(given.index, count, generator)
    data = data_of(rows, generator, is_range=given.range)
    print(f"{len(data.vectors):,} vectors of {data.vectors.shape[1]} numbers, {len(data.questions[1::2])} questions\n")
    print("| " + " | ".join(COLUMNS) + " |\n|" + "---|" * len(COLUMNS))
    with tempfile.TemporaryDirectory() as name, place(given.uri, given.process) as (uri, memory):
        files = open_stores(None, Path(name), exact=given.exact)["passage"]
        (Path(name) / "segments").mkdir()
        print("| " + " | ".join(measured("files", files, data, lambda: 0.0)) + " |", flush=True)
        whole = complete(uri, f"measured-{secrets.token_hex(4)}")
        assert whole is not None
        address = claim_store(whole)
        try:
            store = open_stores(address, Path(name), exact=given.exact)["passage"]
            print("| " + " | ".join(measured(whole.partition(":")[0], store, data, memory)) + " |", flush=True)
        finally:
            release(address)


if __name__ == "__main__":
    main()
