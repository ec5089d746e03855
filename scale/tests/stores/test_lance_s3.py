"""Tables of Lance on an object store: an emulator of S3, behind a proxy that cuts, silences and delays.

They wait half a minute until a silent store is given up, and moto takes a hundred megabytes, so they are run by hand:

    pip install 'moto[s3]' flask flask-cors
    python -m pytest scale/tests/stores/test_lance_s3.py
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from packages import needed
from scale_servers.s3_emulator import emulator_behind_proxy
from scale_servers.tcp_proxy import TcpProxy
from small import small_vectors, write_articles

from semsearch.dense.vector_store import NO_IDS, SegmentsReader, merge_segments
from semsearch.errors import StorageError, UsageError
from semsearch.index import Index
from semsearch.readers.document import Text
from semsearch.storage.segments import Segment
from semsearch_scale.stores.lance_store import LanceStore, claim, owner_of, release
from semsearch_scale.stores.lance_tables import LancePlace

needed("lance", reason="pylance is not installed: pip install './scale[lance]'")
pytestmark = pytest.mark.filterwarnings("ignore")  # of the emulator

Float32 = npt.NDArray[np.float32]
SECONDS = 3.0  # for a question


@pytest.fixture
def proxy() -> Iterator[TcpProxy]:
    with emulator_behind_proxy() as proxy:
        yield proxy


@pytest.fixture
def uri(proxy: TcpProxy, tmp_path: Path) -> str:
    return f"lance:s3://bucket/{tmp_path.name}?endpoint=http://127.0.0.1:{proxy.port}&region=x&timeout={SECONDS}"


def store_in(uri: str) -> LanceStore:
    return LanceStore(LancePlace(uri), "passage")


def unit_rows(n: int, *, seed: int = 0) -> Float32:
    rows = np.random.default_rng(seed).standard_normal((n, 16)).astype(np.float32)
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


def write(store: LanceStore, count: int, *, first: int = 1) -> list[Segment]:
    with store.writer(1) as writer:
        writer.add(np.arange(first, first + count), unit_rows(count, seed=first))
        return writer.finish()


def found(reader: SegmentsReader, queries: Float32) -> list[list[int]]:
    ids: list[list[int]] = reader.search(queries, 10).ids.tolist()
    return ids


def test_an_index_on_an_object_store_lives_the_same_life_as_one_of_files(uri: str, tmp_path: Path) -> None:
    small_vectors(tmp_path)
    write_articles(tmp_path / "docs", 12)
    with (
        Index.create(tmp_path / "files", vectors=tmp_path / "small") as files,
        Index.create(tmp_path / "tables", vectors=tmp_path / "small", store=uri) as tables,
    ):
        for index in (files, tables):
            index.sync(tmp_path / "docs")
            index.add([Text("comet", "A comet is seen by the telescope at night.")])
            (tmp_path / "docs").joinpath("none").unlink(missing_ok=True)
            index.refit()
            assert index.verify() == []
        for question in ("the captain of the ship", "a telescope at night", "bread and butter"):
            one, other = (index.search(question, 7) for index in (files, tables))
            assert [hit.passage_id for hit in one] == [hit.passage_id for hit in other]
        with pytest.raises(UsageError, match="another index"):
            Index.create(tmp_path / "third", vectors=tmp_path / "small", store=uri)
        tables.rebuild(store="faiss:")
    assert LancePlace(uri).entries() == set()


def test_of_many_that_claim_a_place_at_once_one_gets_it(uri: str) -> None:
    refused: list[UsageError] = []
    together = threading.Barrier(4, timeout=60)

    def try_it(owner: str) -> None:
        together.wait()
        try:
            claim(uri, owner)
        except UsageError as error:
            refused.append(error)

    threads = [threading.Thread(target=try_it, args=(str(number),)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(refused) == 3
    owner = owner_of(LancePlace(uri))
    assert owner is not None
    release(uri, owner)
    assert LancePlace(uri).entries() == set()


def test_a_silent_store_is_told_in_time_and_the_next_question_finds_the_same(uri: str, proxy: TcpProxy) -> None:
    store, queries = store_in(uri), unit_rows(2, seed=9)
    segments = write(store, 1000) + write(store, 100, first=2000)
    expected = found(store.open(segments, NO_IDS), queries)
    reader, cold = store_in(uri).open(segments, NO_IDS), store_in(uri)
    proxy.silence()
    for work in (
        lambda: cold.open(segments, NO_IDS),
        lambda: write(store, 30, first=3000),
        lambda: merge_segments(store, segments, NO_IDS, generation=4),
        lambda: store.names(),
        lambda: claim(uri, "me"),
    ):
        began = time.monotonic()
        with pytest.raises(StorageError, match="s3://bucket"):
            work()
        assert time.monotonic() - began < 4 * SECONDS
    assert found(reader, queries) == expected  # what was read stays in memory
    proxy.mend()
    assert found(cold.open(segments, NO_IDS), queries) == expected
    merged = merge_segments(store, segments, NO_IDS, generation=5)
    assert found(store.open(merged, NO_IDS), queries)[0][0] == expected[0][0]
    assert {segment.file for segment in (*segments, *merged)} <= {*store.names()}
