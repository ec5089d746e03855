"""Targets that are files of an index folder which somebody else may have made: the database, segments, the map."""

from __future__ import annotations

import hashlib
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import numpy as np
from sealing import reseal

from fuzzing.small_index import made_index, open_index
from fuzzing.target import Run, Target
from semsearch.arrays.id_ranges import IdRanges
from semsearch.dense.faiss_store import Vectors
from semsearch.index import Index
from semsearch.lexical.postings import Postings
from semsearch.mapping.passage_map import read_map
from semsearch.results.reports import Scan
from semsearch.storage.index_files import map_path
from semsearch.storage.segments import Segment
from semsearch.topics.topic_model import Topics, open_topics, write_topics

_DATABASE = "index.sqlite"
_DIMENSION = 24
_MOST_ROWS = 1 << 20
_QUESTIONS: tuple[Callable[[Index], object], ...] = (  # what users ask of an index
    lambda index: [hit.explain() for hit in index.search("a ship in the storm", 5, context=1)],
    lambda index: index.search("captain", filters=["author=Ada", "year=2024"]),
    lambda index: [index.document(listed.path) for listed in index.documents()],
    lambda index: (index.status(), index.problems(), index.coverage(), index.facets()),
    lambda index: (index.verify(), index.checkup()),
    lambda index: index.similar("added"),
    lambda index: index.map(),
    lambda index: [index.search(query, mode=mode) for query in ("bread", '"the captain" -judge') for mode in _MODES],
)
_MODES = ("hybrid", "dense", "lexical")
_VALUES = (
    *(b"", b"i0", b"i-1", b"i9223372036854775807", b"f1e300", b"fnan", b"t[[1]]", b"tx", b"b\xff\x00", b"t{}"),
    *(b"n[", b'n{"a":', b"n9", b't{"en": 1e914}', b"t[1e914]"),
)
_DEEP = 20_000  # how often a value of the kind n is repeated: deeper than any reader of JSON goes


def targets() -> Iterator[Target]:
    """All targets that are files of an index."""
    yield Target("database-bytes", _patching, _patches, longest=64, grows=False)
    yield Target(
        "database-values", _updating, _updates, (*(value[1:].decode("latin-1") for value in _VALUES), "../"), 200
    )
    yield Target("postings", _opening_postings, partial(_segments, ".postings"), grows=False)
    yield Target("vector-segment", _opening_vectors, _vector_files, longest=8192, grows=False)
    yield Target("topics", _opening_topics, _topics, grows=False)
    yield Target("map", _opening_map, _maps, ('"regions":[', '"count":', '"words":', "1e9", "null"), grows=False)


def _patching(folder: Path) -> Run:
    """The first byte chooses what is asked; then come pieces: three bytes say where, one how many, then those bytes."""
    path = made_index(folder)
    whole = (path / _DATABASE).read_bytes()

    def run(data: bytes) -> None:
        changed, rest = bytearray(whole), data[1:]
        while len(rest) > 4:
            start, size = int.from_bytes(rest[:3], "big") % len(whole), 1 + rest[3] % 16
            piece = rest[4 : 4 + size]
            changed[start : start + len(piece)] = piece
            rest = rest[4 + size :]
        del changed[len(whole) :]
        _ask(path, bytes(changed), data)

    return run


def _patches() -> Iterator[bytes]:
    for number in range(len(_QUESTIONS)):
        yield bytes([number]) + b"\x00\x00\x10\x05ABCDEF"
        yield bytes([number]) + (4096 * number + 100).to_bytes(3, "big") + b"\x02\x00\x0d"


def _updating(folder: Path) -> Run:
    """The bytes choose what is asked, a column, one row or all; then comes a value, as in `_VALUES`."""
    path = made_index(folder)
    whole = (path / _DATABASE).read_bytes()
    with closing(sqlite3.connect(path / _DATABASE)) as db:
        tables = [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        columns = [(table, row[1]) for table in tables for row in db.execute(f"PRAGMA table_info({table})")]

    def run(data: bytes) -> None:
        if len(data) < 4:
            return
        table, column = columns[data[1] % len(columns)]
        which = f"WHERE rowid = (SELECT rowid FROM {table} LIMIT 1 OFFSET {data[2] >> 1})" if data[2] & 1 else ""  # noqa: S608  # SQLite's own names
        _put(path, whole)
        with closing(sqlite3.connect(path / _DATABASE)) as db:
            try:
                value = _value(data[3:])
                if (table, column) == ("roots", "path") and isinstance(value, str):
                    value = f"{folder}/{value.replace('..', '')}"  # an index may name any root; "/" is a large one
                db.execute(f"UPDATE {table} SET {column} = ? {which}", [value])  # noqa: S608  # likewise
                reseal(db)
            except (sqlite3.IntegrityError, sqlite3.OperationalError):
                return
            db.commit()
        _ask(path, (path / _DATABASE).read_bytes(), data)

    return run


def _value(data: bytes) -> object:
    kind, text = data[:1], data[1:].decode("utf-8", "replace")
    try:
        if kind == b"i":
            return max(-(2**63), min(2**63 - 1, int(text)))
        if kind == b"f":
            return float(text)
    except ValueError:
        return text
    if kind == b"n":
        return text[:10] * _DEEP
    return data[1:] if kind == b"b" else text if kind == b"t" else None


def _updates() -> Iterator[bytes]:
    for number in range(0, 120, 3):
        yield bytes([number, number, 0]) + _VALUES[number % len(_VALUES)]


def _ask(path: Path, database: bytes, data: bytes) -> None:
    _put(path, database)
    with open_index(path) as index:
        _QUESTIONS[data[0] % len(_QUESTIONS) if data else 0](index)


def _put(path: Path, database: bytes) -> None:
    """Give an index a database, without a log."""
    for name in (_DATABASE, f"{_DATABASE}-wal", f"{_DATABASE}-shm"):
        (path / name).unlink(missing_ok=True)  # who has it open keeps the one that was
    (path / _DATABASE).write_bytes(database)


def _opening_postings(folder: Path) -> Run:
    path = _in_segments(folder)

    def run(data: bytes) -> None:
        path.write_bytes(data)
        postings = Postings(path)
        for term in (*postings.terms[:20].tolist(), 7):
            postings.of(int(term))
        postings.check()
        positions = postings.positions(postings.terms[:20])
        postings.by_passage(positions[positions >= 0])

    return run


def _opening_vectors(folder: Path) -> Run:
    path = _in_segments(folder)
    queries = np.ones((1, _DIMENSION), dtype=np.float32)

    def run(data: bytes) -> None:
        path.write_bytes(data)
        said = int.from_bytes(data[8:16], "little") % _MOST_ROWS  # by the file; the other is what a database could say
        for count in {said, data[0] if data else 0}:
            segment = Segment(
                "passage", path.name, len(data), IdRanges.of([(0, count)]), "", Scan("", count, 0, 1, 1.0, 50), sums=b""
            )
            vectors = Vectors(path, segment)
            if vectors.dimension == _DIMENSION:
                vectors.scan(queries, 3)
                vectors.rows(np.arange(count))

    return run


def _vector_files() -> Iterator[bytes]:
    """The segments of an index, and files of other layouts."""
    import faiss

    yield from _segments(".faiss")
    rows = np.random.default_rng(0).normal(size=(40, _DIMENSION)).astype(np.float32)
    with_codes: list[bytes] = []
    for kind in ("SQfp16", f"PQ{_DIMENSION // 2}x4fs"):
        index = faiss.index_factory(_DIMENSION, kind, faiss.METRIC_INNER_PRODUCT)
        index.train(rows)
        index.add(rows)
        with_codes.append(faiss.serialize_index(index).tobytes())
    yield b"".join(with_codes)
    for kind in ("IVF4,SQfp16", "IVF4,SQ8", "SQ8"):
        index = faiss.index_factory(_DIMENSION, kind, faiss.METRIC_INNER_PRODUCT)
        has_lists = kind.startswith("IVF")
        if has_lists:
            index.cp.min_points_per_centroid = 1
        index.train(rows)
        index.add(rows)
        if has_lists:
            index.set_direct_map_type(faiss.DirectMap.Array)
        yield faiss.serialize_index(index).tobytes()


def _opening_topics(folder: Path) -> Run:
    path = _in_segments(folder)

    def run(data: bytes) -> None:
        path.write_bytes(data)
        topics = open_topics(path)
        topics.of_question("a ship in the storm")
        topics.of_passage("Ships", "A captain.")

    return run


def _opening_map(folder: Path) -> Run:
    path = map_path(folder, 1)
    path.parent.mkdir(parents=True, exist_ok=True)

    def run(data: bytes) -> None:
        path.write_bytes(data + hashlib.blake2b(data, digest_size=16).digest())
        read_map(folder, 1)

    return run


def _in_segments(folder: Path) -> Path:
    (folder / "index" / "segments").mkdir(parents=True, exist_ok=True)
    return folder / "index" / "segments" / "one"


def _segments(suffix: str) -> Iterator[bytes]:
    with tempfile.TemporaryDirectory() as folder:
        for file in sorted((made_index(Path(folder)) / "segments").glob(f"*{suffix}")):
            yield file.read_bytes()


def _topics() -> Iterator[bytes]:
    terms = np.sort(np.random.default_rng(0).integers(1, 2**63, 12).astype(np.uint64))
    topics = Topics(terms, np.ones(12, dtype=np.float32), np.ones((12, 3), dtype=np.float16), 40)
    with tempfile.TemporaryDirectory() as folder:
        yield (Path(folder) / write_topics(topics, Path(folder), generation=1).file).read_bytes()


def _maps() -> Iterator[bytes]:
    with tempfile.TemporaryDirectory() as folder:
        path = made_index(Path(folder))
        for file in path.glob("**/*map*"):
            if file.is_file():
                yield file.read_bytes()[:-16]
