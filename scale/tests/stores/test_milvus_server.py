"""Vectors on a real Milvus server (tests/support/servers/milvus_process.py says how to give it one).

SEMSEARCH_TEST_MILVUS=wheel python -m pytest -n 0 tests/stores/test_milvus_server.py
"""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from scale_servers.milvus_process import MilvusProcess, fresh_uri, milvus_store, needed, server_of_wheel
from small import small_vectors, write_articles

from semsearch.arrays.id_ranges import IdRanges
from semsearch.dense.engines import StoreLocation
from semsearch.dense.scan_plan import ScanOptions
from semsearch.dense.vector_store import NO_IDS
from semsearch.errors import StorageError, UsageError
from semsearch.index import Index
from semsearch.readers.document import Text
from semsearch.storage.database import IndexDatabase
from semsearch.storage.segments import LARGEST, Segment, get_segments
from semsearch_scale.stores.addresses import milvus_address
from semsearch_scale.stores.milvus_server import Collections, MilvusServer, claim, release
from semsearch_scale.stores.milvus_store import MilvusStore

Float32 = npt.NDArray[np.float32]
QUESTIONS = ["the ship in the night", "a telescope and a comet", "bread and butter", "violin, roses", "the judge sails"]


def unit_rows(n: int, *, seed: int = 0) -> Float32:
    """Vectors of which no two are alike. (n, 16)"""
    rows = np.random.default_rng(seed).standard_normal((n, 16)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows.astype(np.float16).astype(np.float32))


def write(store: MilvusStore, ids: range, rows: Float32) -> list[Segment]:
    with store.writer(1) as writer:
        writer.add(np.array(ids, dtype=np.int64), rows)
        return writer.finish()


def best(rows: Float32, query: Float32, n: int, wanted: npt.NDArray[np.int64]) -> list[int]:
    """The n best of wanted rows, whose ids are their numbers, by comparing all."""
    return [int(id_) for id_ in wanted[np.argsort(-(rows[wanted] @ query), kind="stable")][:n]]


# -- an index over it ------------------------------------------------------------------------------------------------


def agree(files: Index, milvus: Index, **options: object) -> None:
    for question in QUESTIONS:
        ours, theirs = (index.search(question, 7, **options) for index in (files, milvus))  # type: ignore[arg-type]
        assert [(hit.passage_id, hit.sentence_id) for hit in ours] == [
            (hit.passage_id, hit.sentence_id) for hit in theirs
        ]
        assert [hit.score for hit in ours] == pytest.approx([hit.score for hit in theirs], abs=1e-5)


def held(index: Index) -> tuple[set[str], set[str]]:
    """The partitions that the manifest names, and those that are there."""
    with IndexDatabase(index.path).reading() as db:
        named = {segment.file for segment in get_segments(db) if segment.kind == "passage"}
    address = index.settings.store
    assert address is not None
    return named, {*Collections(MilvusServer(milvus_address(address))).partitions()}


@pytest.fixture
def both(tmp_path: Path) -> Iterator[tuple[Path, Index, Index]]:
    """A folder of documents, and two indexes of them: their vectors in files, and in Milvus."""
    uri = fresh_uri()
    small_vectors(tmp_path)
    write_articles(tmp_path / "docs", 18)
    vectors = tmp_path / "small"
    with (
        Index.create(tmp_path / "files", vectors=vectors) as files,
        Index.create(tmp_path / "milvus", vectors=vectors, store=uri) as milvus,
    ):
        for index in (files, milvus):
            index.sync(tmp_path / "docs")
        yield tmp_path / "docs", files, milvus


def test_an_index_over_milvus_gives_the_same_hits_all_its_life(both: tuple[Path, Index, Index]) -> None:
    docs, files, milvus = both
    agree(files, milvus)
    agree(files, milvus, mode="dense", filters=["night*"])
    for path in sorted(docs.glob("*"))[::5]:
        path.unlink()
    write_articles(docs, 3, first=40)
    for index in (files, milvus):
        index.sync(docs)
        index.add([Text("comet", "A comet is seen by the telescope at night.")])
    agree(files, milvus)
    for index in (files, milvus):
        assert index.compact() is True
        index.sync(docs)
    agree(files, milvus, mode="dense")
    assert milvus.verify() == []
    named, there = held(milvus)
    assert named == there


def test_what_a_killed_writer_left_is_deleted_by_the_next(both: tuple[Path, Index, Index]) -> None:
    _, _, milvus = both
    address = milvus.settings.store
    assert address is not None
    named, _ = held(milvus)
    with IndexDatabase(milvus.path).reading() as db:
        owner = db.execute("SELECT value FROM meta WHERE key = 'vector_store_owner'").fetchone()[0]
    program = (
        "import sys, numpy as np; from pathlib import Path\n"
        "from semsearch.dense.engines import StoreLocation\n"
        "from semsearch_scale.stores.milvus_store import MilvusStore\n"
        f"location = StoreLocation({address!r}, Path({str(milvus.path)!r}), 'passage', None, 9, owner={owner!r})\n"
        "store = MilvusStore(location)\n"
        "writer = store.writer(99)\n"
        "writer.add(np.arange(900, 910), np.ones((10, 8), np.float32))\n"
        "print('written', flush=True); sys.stdin.read()\n"
    )
    process = subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"written\n"
    process.kill()
    process.communicate()
    assert held(milvus)[1] > named
    milvus.add([Text("bell", "The bell of the old ship.")])
    named, there = held(milvus)
    assert named == there


# -- what is asked ---------------------------------------------------------------------------------------------------


def test_many_vectors_get_a_graph_that_reaches_the_recall(tmp_path: Path) -> None:
    store, rows = milvus_store(tmp_path, ScanOptions(listed=2000, target_recall=0.9)), unit_rows(3000)
    (segment,) = write(store, range(3000), rows)
    assert segment.scan is not None
    assert segment.scan.factory == "HNSW16"
    assert segment.scan.recall >= 0.9
    queries, reader = unit_rows(100, seed=5), store.open([segment], NO_IDS)
    found = reader.search(queries, 10).ids.tolist()
    right = [{*own} & {*best(rows, query, 10, np.arange(3000))} for own, query in zip(found, queries, strict=True)]
    assert sum(map(len, right)) / 1000 >= 0.8
    few = np.arange(0, 3000, 30)
    allowed = reader.search(queries, 10, allowed=IdRanges.of_ids(few)).ids.tolist()
    assert allowed == [best(rows, query, 10, few) for query in queries]
    assert store.check(segment) == []


# -- whose place it is -----------------------------------------------------------------------------------------------


def store_of(uri: str, owner: str) -> MilvusStore:
    return MilvusStore(StoreLocation(uri, Path("index"), "passage", None, LARGEST, owner=owner))


def test_a_place_belongs_to_one_index() -> None:
    uri = fresh_uri()
    store = store_of(uri, "ada")
    claim(uri, "ada")
    claim(uri, "ada")
    claim(uri, "bob")  # it was empty
    with pytest.raises(StorageError, match="no longer belongs to this index"):
        write(store, range(3), unit_rows(3))
    claim(uri, "ada")
    (segment,) = write(store, range(3), unit_rows(3))
    with pytest.raises(UsageError, match="belongs to another index"):
        claim(uri, "bob")
    bob = store_of(uri, "bob")
    assert {*bob.names()} == set()
    release(uri, "bob")
    assert {*store.names()} == {segment.file}
    release(uri, "ada")
    release(uri, "ada")
    claim(uri, "bob")
    assert {*bob.names()} == set()


def test_a_collection_of_another_program_is_left_alone() -> None:
    uri = fresh_uri()
    server = MilvusServer(milvus_address(uri))
    name = server.address.collection
    server.change(lambda client, seconds: client.create_collection(name, dimension=4, timeout=seconds))
    with pytest.raises(UsageError, match="another index or program"):
        claim(uri, "ada")
    release(uri, "ada")
    assert server.ask(lambda client, seconds: client.has_collection(name, timeout=seconds))


# -- when it fails ---------------------------------------------------------------------------------------------------


def test_a_server_that_is_not_there_is_told_within_the_deadline(tmp_path: Path, free_port: int) -> None:
    small_vectors(tmp_path)
    begin = time.monotonic()
    with pytest.raises(StorageError, match=r"Milvus at http://127.0.0.1:\d+ failed or did not answer"):
        claim(f"milvus:http://127.0.0.1:{free_port}?timeout=1", "ada")
    assert time.monotonic() - begin < 20  # seconds: a change has ten times as long as a question


@pytest.fixture
def free_port() -> int:
    """A port that nothing listens at."""
    import socket

    needed()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@pytest.fixture
def own() -> MilvusProcess:
    """The server, which may be killed."""
    if needed() != "wheel":
        pytest.skip("only the server of the wheel may be killed")
    return server_of_wheel()


def killed_while(server: MilvusProcess, work: Callable[[], object]) -> BaseException | None:
    """Do work, kill the server in the midst of it, and return what was raised."""
    raised: list[BaseException] = []
    began = threading.Event()

    def do() -> None:
        began.set()
        try:
            work()
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=do)
    thread.start()
    began.wait()
    time.sleep(0.3)  # any moment will do: what must hold, holds whenever it is killed
    server.kill()
    thread.join()
    return raised[0] if raised else None


def until_it_answers(index: Index) -> None:
    """Wait until the server, which was started, has read its log and loaded what it had."""
    end = time.monotonic() + 120
    while True:
        try:
            index.search("ship", mode="dense")
            return
        except StorageError:
            if time.monotonic() > end:
                raise


def test_a_server_that_is_killed_loses_nothing_and_says_so(own: MilvusProcess, tmp_path: Path) -> None:
    small_vectors(tmp_path)
    write_articles(tmp_path / "docs", 18)
    uri = fresh_uri(timeout="4")
    texts = [Text(f"t{number}", f"The judge and the ship {number} sail at night.") for number in range(300)]

    def ask() -> None:
        for _ in range(2000):
            index.search("the ship in the night", 7, mode="dense")

    with (
        Index.create(tmp_path / "files", vectors=tmp_path / "small") as files,
        Index.create(tmp_path / "milvus", vectors=tmp_path / "small", store=uri) as index,
    ):
        for each in (files, index):
            each.sync(tmp_path / "docs")
            each.add([Text("comet", "A comet is seen by the telescope at night.")])
        for work in (ask, lambda: index.add(texts), index.compact, lambda: index.rebuild(method="usif")):
            raised = killed_while(own, work)
            assert raised is None or isinstance(raised, StorageError), repr(raised)
            begin = time.monotonic()
            with pytest.raises(StorageError, match="failed or did not answer"):
                index.search("ship", mode="dense")
            assert time.monotonic() - begin < 20
            assert index.search("comet", 1, mode="lexical")[0].document == "comet"
            own.start()
            until_it_answers(index)
            if raised is None and work is not ask:
                continue  # it was done before the server was killed
            assert index.verify() == []
            agree(files, index)
            named, there = held(index)
            assert named <= there
        files.rebuild(method="usif")
        index.rebuild(method="usif")
        for each in (files, index):
            each.add(texts)
        agree(files, index)
        named, there = held(index)
        assert named == there
