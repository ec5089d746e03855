"""Targets that come from other programs: answers of a server, records to import, notes beside an index."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import numpy as np
from small import small_vectors

from fuzzing.small_index import made_index, open_index, vectors_of
from fuzzing.target import Run, Target, text_of
from semsearch import trust
from semsearch.errors import SourceError
from semsearch.evaluate.golden import NAME as RUNS, ExpectedAnswer, GoldenFile, last_of, read_runs
from semsearch.index import Index
from semsearch.indexing.add_texts import as_texts, checked, read_records
from semsearch.indexing.reading_log import READING_LOG, ReadingLog
from semsearch.lexical.spelling import EDITS, SpelledWords, to_arrays
from semsearch.remote_index import RemoteIndex, ServerConnection
from semsearch.results.codec import to_dict
from semsearch.sources.unchanged import PresentFile
from semsearch.storage.passage_encodings import NAME as ENCODINGS, PassageEncodings, key_of
from semsearch.system import locking
from semsearch_research.evaluate.beir import read_collection
from semsearch_research.evaluate.sentence_pairs import read_tasks
from semsearch_research.train.training_texts import read_texts, without_excluded

_JSON = ('{"', '":', "[", "]", "null", "true", "1e999", "\\ud800", "-1", "9" * 30, "NaN", '"a"', ",", "{}")
_DIGEST = "0" * 64


def targets() -> Iterator[Target]:
    """All targets that come from other programs."""
    yield Target("remote-answers", _answering, _answers, (*_JSON, '"hits":[', '"next":', '"detail":', '"error":'), 8192)
    yield Target("imports", _importing, _imports, (*_JSON, '"passages":[', '"sentences":[', '"id":', '"text":'))
    yield Target("notes", _noting, _notes, (*_JSON, '"allowed":[', '"generations":'))
    yield Target("encodings", _encoding, _encodings, longest=64, grows=False)
    yield Target("reading-log", _logging, _logs, _JSON)
    yield Target("golden", _judging, _golden, (*_JSON, '"query":', '"answers":', ":1", "#p2"))
    yield Target("datasets", _measuring, _datasets, (*_JSON, '"_id":', '"text":', "\t", "\n", "1e9"))
    yield Target("spelling", lambda _: _spell, _spellings, grows=False)


# -- Answers of a server -----------------------------------------------------------------------------------------------

_CALLS: tuple[Callable[[RemoteIndex], object], ...] = (
    lambda index: [(hit.explain(), index.similar(hit)) for hit in index.search("a ship", 3)],
    lambda index: index.search(["a ship", "bread"], 3),
    lambda index: index.context("a ship"),
    lambda index: index.embed(["a ship"]),
    lambda index: list(zip(index.documents(), range(3), strict=False)),
    lambda index: index.document("a.md"),
    lambda index: index.passages("a.md"),
    lambda index: index.facets(),
    lambda index: index.status(),
    lambda index: index.problems()[:3],
    lambda index: index.checkup(),
    lambda index: index.coverage(limit=3),
    lambda index: index.map_status(),
    lambda index: index.map_passages([1]),
    lambda index: index.page("a.pdf", 1),
)


def _answering(_: Path) -> Run:
    """The first byte chooses what is asked, the second the status; the rest is the answer to the first request."""

    def run(data: bytes) -> None:
        index = RemoteIndex("http://127.0.0.1:1", index="docs")
        answers = iter([(200 if data[1:2] < b"\x80" else 400, data[2:])])
        index._server = _Server(lambda: next(answers, (404, b'{"detail": "no more", "error": "ServerError"}')))
        _CALLS[data[0] % len(_CALLS) if data else 0](index)

    return run


class _Server(ServerConnection):
    def __init__(self, answer: Callable[[], tuple[int, bytes]]) -> None:
        super().__init__("http://127.0.0.1:1", token=None, timeout=1)
        self._answer = answer

    def _sent(self, *_: object) -> tuple[int, bytes]:
        return self._answer()


def _answers() -> Iterator[bytes]:
    import tempfile

    with tempfile.TemporaryDirectory() as folder, open_index(made_index(Path(folder))) as index:
        hits = [to_dict(hit) for hit in index.search("a ship", 2)]
        status, found = to_dict(index.status()), to_dict(next(index.documents()))
        facets, context = to_dict(index.facets()), to_dict(index.context("a ship"))
        document = to_dict(index.document(found["path"]))
        checkup, problems = to_dict(index.checkup()), [to_dict(each) for each in index.problems()]
    values: list[Any] = [{"hits": hits, "warnings": ["odd"]}, {"answers": [{"hits": hits}]}, context]
    values += [{"data": [{"embedding": "AACAPwAAAAA="}]}, {"documents": [found], "next": None}, document, {}]
    values += [facets, status, {"problems": problems, "next": None}, checkup, {"coverage": [], "next": 3}, {}, {}, {}]
    for number, value in enumerate(values):
        yield bytes([number, 0]) + json.dumps(value).encode()
    for each in ("[]", "1", "null", '{"hits": {}}', '{"hits": [[]]}', '{"documents": [], "next": 0}'):
        yield from (bytes([number, 0]) + each.encode() for number in range(len(_CALLS)))
    yield b"\x00\xff" + b'{"detail": "no", "error": "UsageError"}'


# -- Records to import -------------------------------------------------------------------------------------------------

_ENDINGS = (".jsonl", ".csv", ".npz", ".parquet")


def _importing(folder: Path) -> Run:
    """The first byte chooses the ending of a file, and whether its records are added; the rest is the file."""
    vectors = small_vectors(folder)
    index = Index.create(folder / "imported", vectors=vectors)

    def run(data: bytes) -> None:
        path = folder / f"records{_ENDINGS[data[0] % len(_ENDINGS) if data else 0]}"
        path.write_bytes(data[1:])
        texts = list(checked(as_texts(read_records(path))))
        if texts:
            index.add(texts)
            for hit in index.search("a ship", 3):
                hit.to_dict()

    return run


def _imports() -> Iterator[bytes]:
    import io
    import tempfile

    with tempfile.TemporaryDirectory() as folder, open_index(made_index(Path(folder))) as index:
        index.export(Path(folder) / "all.jsonl")
        exported = (Path(folder) / "all.jsonl").read_bytes()
    for line in exported.splitlines()[:4]:
        yield b"\x00" + line[:4000] + b"\n"
    yield b'\x00{"id": "a", "text": "A ship.", "title": "Ships", "metadata": {"year": 2024}}\n{"id": 2, "text": ""}\n'
    yield b'\x00{"id":"a","passages":[{"text":"A ship.","sentences":[[0,7,0,7,1]],"places":[[0,"x"]]}],"characters":7}'
    yield b'\x01id,text,metadata\na,A ship.,"{""year"": 2024}"\n'
    file = io.BytesIO()
    np.savez(file, rows=np.frombuffer(b'{"id": "a", "text": "A ship."}\n', dtype=np.uint8))
    yield b"\x02" + file.getvalue()


# -- Notes: the user's record of trust, and small files beside an index ------------------------------------------------


def _noting(folder: Path) -> Run:
    """The first byte chooses the note, the rest is its content."""
    path = made_index(folder)
    os.environ["XDG_CONFIG_HOME"] = str(folder / "config")
    index = Index.open(path, vectors=vectors_of(path))
    database = index._database
    record = trust._file(trust._key(database))
    record.parent.mkdir(parents=True, exist_ok=True)

    def run(data: bytes) -> None:
        which, content = data[0] % 2 if data else 0, data[1:]
        if which == 0:
            record.write_bytes(content)
            trust._remembered.clear()
            for name in trust.allowed(database):
                str(name)
        else:
            (path / locking.NOTE).write_bytes(content)
            locking._holder(path).encode("utf-8", "surrogatepass")

    return run


def _notes() -> Iterator[bytes]:
    yield b'\x00{"index": "/tmp/a", "file": 12, "allowed": [["root", "/tmp/docs"], ["store", "lance:///x"]]}'
    yield b'\x01{"pid": 12, "host": "here", "since": "2026-01-01"}'
    yield from (bytes([number]) + b"[" * 3000 for number in range(2))


# -- The cache of passage vectors --------------------------------------------------------------------------------------


def _encoding(folder: Path) -> Run:
    """Three bytes say where, one how many, then those bytes; again and again."""
    path = folder / ENCODINGS
    keys = [key_of(b"model", text) for text in ("a", "b", "c")]
    PassageEncodings(path).put({key: np.ones(8, dtype=np.float16) for key in keys})
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    whole = path.read_bytes()

    def run(data: bytes) -> None:
        changed, rest = bytearray(whole), data
        while len(rest) > 4:
            start, size = int.from_bytes(rest[:3], "big") % len(whole), 1 + rest[3] % 16
            changed[start : start + len(rest[4 : 4 + size])] = rest[4 : 4 + size]
            rest = rest[4 + size :]
        for name in (ENCODINGS, f"{ENCODINGS}-wal", f"{ENCODINGS}-shm", f"{ENCODINGS}-journal"):
            path.with_name(name).unlink(missing_ok=True)
        path.write_bytes(bytes(changed[: len(whole)]))
        cache = PassageEncodings(path)
        assert all(vector.shape == (8,) for vector in cache.get(keys, 8).values()), "vectors of another length"
        cache.put({keys[0]: np.zeros(8, dtype=np.float16)})

    return run


def _encodings() -> Iterator[bytes]:
    yield b""
    for start in (16, 100, 2000, 4096, 8000):
        yield start.to_bytes(3, "big") + b"\x03\x00\x0d\xff"


# -- What an interrupted write has read --------------------------------------------------------------------------------


def _logging(folder: Path) -> Run:
    import hashlib

    present = PresentFile(0, "a.md", "/a.md", "a.md", "/a.md", 7, 1)

    def run(data: bytes) -> None:
        lines = [line.partition(b"\t")[2] for line in data.split(b"\n")[1:]]
        sealed = [hashlib.blake2b(line, digest_size=16).hexdigest().encode() + b"\t" + line for line in lines]
        (folder / READING_LOG).write_bytes(b"\n".join([data.split(b"\n")[0], *sealed]) + b"\n")
        log = ReadingLog(folder)
        log.begin(1 << 40, max_bytes=1000)
        try:
            if log.has(present):
                log.get(present)
        finally:
            log.close()

    return run


def _logs() -> Iterator[bytes]:
    from semsearch.indexing.reading_log import _FORM, _reader

    present = PresentFile(0, "a.md", "/a.md", "a.md", "/a.md", 7, 1)
    state = json.dumps(["/a.md", 7, 1, 1 << 60, _reader(present)]).encode()
    values = [*[None] * 12]
    for rest in (json.dumps([values, []]).encode(), b'[[7, 1, 2, "a", "md", "{}"], [[1, 2]]]', b"[]", b'{"bytes": 1}'):
        yield _FORM + b"\nx\t" + state + b"\t" + rest + b"\n"


# -- Questions with their answers, and the record of runs --------------------------------------------------------------


def _judging(folder: Path) -> Run:
    """The first byte chooses the file, the rest is its content."""

    def run(data: bytes) -> None:
        if data[:1] == b"\x01":
            (folder / RUNS).write_bytes(data[1:])
            runs = read_runs(folder / RUNS)
            for file in list(runs)[:3]:
                with suppress(SourceError):
                    last_of(runs, file, "hybrid")
        elif data[:1] == b"\x02":
            ExpectedAnswer.read(text_of(data[1:]))
        else:
            (folder / "golden.jsonl").write_bytes(data[1:])
            GoldenFile.read(folder / "golden.jsonl")

    return run


def _golden() -> Iterator[bytes]:
    yield b'\x00{"query": "a ship", "answers": ["docs/a.md:5", "b.pdf#p2"]}\n{"query": "b", "answers": {"a.md": 2.5}}\n'
    yield b'\x01{"golden.jsonl": {"hybrid": {"a ship": {"rank": 1, "ndcg": 0.5}, "b": {"rank": null}}}}'
    yield b"\x02docs/a.md:5"


# -- Collections and pairs of sentences to measure with ----------------------------------------------------------------

_MEASURED = ("corpus.jsonl", "queries.jsonl", "qrels/test.tsv", "a.tsv", "a.csv", "a.jsonl", "excluded.jsonl", "x.txt")
_COLLECTION = {
    "corpus.jsonl": b'{"_id": "a", "title": "Sea", "text": "A ship."}\n{"_id": 2, "text": "Bread."}\n',
    "queries.jsonl": b'{"_id": "q", "text": "What sails?"}\n',
    "qrels/test.tsv": b"query-id\tcorpus-id\tscore\nq\ta\t1\n",
}


def _measuring(folder: Path) -> Run:
    """The first byte chooses the file, the rest is its content."""
    (folder / "set" / "qrels").mkdir(parents=True, exist_ok=True)

    def run(data: bytes) -> None:
        name = _MEASURED[data[0] % len(_MEASURED) if data else 0]
        path = folder / ("set" if name in _COLLECTION else "") / name
        for each, content in _COLLECTION.items():
            (folder / "set" / each).write_bytes(content)
        path.write_bytes(data[1:])
        if name in _COLLECTION:
            read_collection(folder / "set")
        elif name.startswith("a"):
            read_tasks([path], blank_as_zero=True)
        else:
            read_texts([path]) if name.endswith(".txt") else without_excluded(["A ship."], [path])

    return run


def _datasets() -> Iterator[bytes]:
    yield from (bytes([number]) + content for number, content in enumerate(_COLLECTION.values()))
    yield b"\x03score\tsentence1\tsentence2\n3.5\tA ship.\tA boat.\n\tOne.\tTwo.\n"
    yield b'\x04sentence1,sentence2,score\n"A ship, ""odd""",A boat.,4\n'
    yield b'\x05{"sentence1": "A ship.", "sentence2": "A boat.", "score": 4}\n{"text1": "a", "label": null}'
    yield b'\x06{"a": ["A ship.", {"b": "A boat."}]}\n["x", 1]\n'
    yield b"\x07A ship.\nA boat.\n"
    yield from (bytes([number]) + b"[" * 3000 for number in range(len(_MEASURED)))


# -- Words as they are spelled -----------------------------------------------------------------------------------------

_SPELLED = tuple(word.encode() for word in ("ship", "sheep", "captain", "größe", "月の海を", "storm", "stormy"))
_COUNT = len(_SPELLED)


def _spell(data: bytes) -> None:
    """Two bytes are a typed word's length and its edits, then comes the word; the rest changes the arrays."""
    arrays, letters = to_arrays(_SPELLED, np.arange(_COUNT))
    size = data[0] % 64 if data else 0
    typed, changes = text_of(data[2 : 2 + size]), data[2 + size :]
    whole = bytearray(b"".join(each.astype("<u4").tobytes() for each in arrays) + letters.tobytes())
    for start in range(0, len(changes) - 1, 2):
        whole[changes[start] % len(whole)] = changes[start + 1]
    numbers = [
        np.frombuffer(bytes(whole[4 * _COUNT * i : 4 * _COUNT * (i + 1)]), dtype="<u4") for i in range(len(arrays))
    ]
    words = SpelledWords(numbers, np.frombuffer(bytes(whole[4 * _COUNT * len(arrays) :]), dtype=np.uint8), terms=_COUNT)
    if words.is_whole:
        words.all()
    if (
        len(typed) >= 4
        and all(letter.isalpha() for letter in typed)
        and not any("\ud800" <= c <= "\udfff" for c in typed)
    ):
        for found in words.similar(typed, 1 + data[1] % 2):
            assert 0 <= found.number < _COUNT, "a term that there is not"
            assert found.edit in EDITS


def _spellings() -> Iterator[bytes]:
    for typed in ("shiip", "cpatain", "größen", "stromy", "月の海"):
        word = typed.encode()
        yield bytes([len(word), 1]) + word
        yield bytes([len(word), 0]) + word + b"\x05\xff\x44\x01\x80\x07"
