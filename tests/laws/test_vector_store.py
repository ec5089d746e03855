"""The contract of vector stores, held by FAISS, and by the store in memory that other tests use."""

from __future__ import annotations

from pathlib import Path

import pytest
from memory_store import MemoryStore
from vector_store_law import *  # noqa: F403
from vector_store_law import Opener, fetched, ids_of, unit_rows

from semsearch.arrays.vectors import to_bytes
from semsearch.dense.faiss_store import FaissStore
from semsearch.dense.vector_store import NO_IDS


class CodedStore(FaissStore):
    """Few vectors are many."""

    gathering = 40


EXACT: dict[str, Opener] = {
    "faiss": lambda folder: FaissStore(folder, "passage", exact=False),
    "faiss in small files": lambda folder: FaissStore(folder, "passage", exact=False, largest=7),
    "memory": lambda _: MemoryStore(),
}
APPROXIMATE: dict[str, Opener] = {
    "faiss with codes": lambda folder: CodedStore(folder, "passage"),
}


@pytest.fixture(params=[*EXACT, *APPROXIMATE], scope="module")
def opener(request: pytest.FixtureRequest) -> Opener:
    return {**EXACT, **APPROXIMATE}[request.param]


@pytest.fixture(params=[*EXACT], scope="module")
def exact_opener(request: pytest.FixtureRequest) -> Opener:
    return EXACT[request.param]


@pytest.fixture(params=[*APPROXIMATE], scope="module")
def approximate_opener(request: pytest.FixtureRequest) -> Opener:
    return APPROXIMATE[request.param]


@pytest.mark.parametrize("opened", [lambda folder: FaissStore(folder, "sentence"), lambda _: MemoryStore("sentence")])
def test_vectors_of_sentences_may_be_given_as_bytes(opened: Opener, tmp_path: Path) -> None:
    ids, rows = ids_of(range(30)), unit_rows(30)
    read = []
    for each in ("floats", "bytes"):
        (tmp_path / each).mkdir()
        store = opened(tmp_path / each)
        with store.writer(1) as writer:
            writer.add(ids, rows if each == "floats" else to_bytes(rows))
            read.append(fetched(store.open(writer.finish(), NO_IDS), ids))
    assert read[0] == read[1]
