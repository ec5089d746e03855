"""An index whose vectors another engine keeps: the same answers, the same life, one commit point."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from memory_store import memory_engine
from small import small_vectors, write_articles

from semsearch.dense import engines
from semsearch.dense.engines import ENGINE, StoreLocation, open_stores, register
from semsearch.dense.faiss_store import FaissStore
from semsearch.dense.store import NO_IDS, VectorStore
from semsearch.errors import IndexDamaged
from semsearch.index import Index
from semsearch.readers.document import Text
from semsearch.storage.database import IndexDatabase
from semsearch.storage.manifest import get_segments
from semsearch.storage.meta import set_meta
from semsearch.storage.segments import VECTORS
from semsearch.topics.fit import fit_topics

URI = "memory:test"
QUESTIONS = [
    f"{first} {second}"
    for first in ("the ship", "a telescope", "bread and butter", "violin", "roses", "a comet")
    for second in ("in the night", "captain sleeps", "of old", "and soil", "judge", "concert, sail")
]


@pytest.fixture(autouse=True)
def _engines(monkeypatch: pytest.MonkeyPatch) -> None:
    """An engine in memory is known, and 30 passages are enough to learn topics from."""
    monkeypatch.setattr(engines, "_ENGINES", dict(engines._ENGINES))
    register("memory", memory_engine())
    assert fit_topics.__kwdefaults__ is not None
    monkeypatch.setitem(fit_topics.__kwdefaults__, "least", 30)


@dataclass
class Twins:
    """Two indexes of the same documents: their vectors in files, and in memory."""

    docs: Path
    files: Index
    memory: Index

    def sync(self) -> None:
        for index in (self.files, self.memory):
            index.sync(self.docs)
            assert index.verify() == []

    def agree(self, *more: dict[str, object]) -> None:
        for options in ({}, *more):
            ours, theirs = (index.search_many(QUESTIONS, 7, **options) for index in (self.files, self.memory))
            singly = [self.memory.search(question, 7, **options) for question in QUESTIONS[:5]]
            for one, other in zip([*ours, *ours[:5]], [*theirs, *singly], strict=True):
                assert [(hit.passage_id, hit.sentence_id) for hit in one] == [
                    (hit.passage_id, hit.sentence_id) for hit in other
                ]
                assert [hit.score for hit in one] == pytest.approx([hit.score for hit in other], abs=1e-6)
        hits = [index.search(QUESTIONS[0], 3)[-1] for index in (self.files, self.memory)]
        one, other = (hit.explain() for hit in hits)
        assert one.score == pytest.approx(other.score, abs=1e-6)
        like = [[hit.passage_id for hit in index.similar(hits[0], k=5)] for index in (self.files, self.memory)]
        assert like[0] == like[1]


def stores(index: Index) -> dict[str, VectorStore]:
    return dict(open_stores(URI, index.path))


def held(index: Index) -> set[str]:
    """The segments that the engine has for an index."""
    return {name for store in stores(index).values() for name in store.names()}


def named(index: Index) -> set[str]:
    """The segments of vectors that the manifest names."""
    with IndexDatabase(index.path).reading() as db:
        return {segment.file for segment in get_segments(db) if segment.kind in VECTORS}


def kept_in_memory(folder: Path) -> Index:
    index = Index.create(folder, vectors=folder.parent / "small")
    with IndexDatabase(folder).writing() as db:
        set_meta(db, ENGINE, URI)
    return index


@pytest.fixture
def twins(tmp_path: Path) -> Iterator[Twins]:
    small_vectors(tmp_path)
    write_articles(tmp_path / "docs", 18)
    memory = kept_in_memory(tmp_path / "memory")
    with Index.create(tmp_path / "files", vectors=tmp_path / "small") as files, memory:
        made = Twins(tmp_path / "docs", files, memory)
        made.sync()
        yield made


def test_an_index_over_another_engine_gives_the_same_hits(twins: Twins) -> None:
    twins.agree({"mode": "dense"}, {"filters": ["night*"]}, {"duplicates": True, "min_score": 0.2})
    assert not list((twins.memory.path / "segments").glob("*.faiss"))
    assert held(twins.memory) == named(twins.memory)


def test_it_lives_the_same_life(twins: Twins) -> None:
    for path in sorted(twins.docs.glob("*"))[::5]:
        path.unlink()
    write_articles(twins.docs, 3, first=40)
    twins.sync()
    twins.agree()
    for index in (twins.files, twins.memory):
        index.add([Text("comet", "A comet is seen by the telescope at night.")])
        assert index.compact() is True
    twins.sync()
    twins.agree()
    for index in (twins.files, twins.memory):
        index.refit()
    twins.sync()
    twins.agree()
    for index in (twins.files, twins.memory):
        index.rebuild(method="usif")
    twins.sync()
    twins.agree()


def test_status_counts_what_lies_elsewhere(twins: Twins) -> None:
    ours, theirs = (index.status(drift=False, stale=False) for index in (twins.files, twins.memory))
    assert (ours.vectors, ours.removed, ours.segments) == (theirs.vectors, theirs.removed, theirs.segments)
    with IndexDatabase(twins.memory.path).reading() as db:
        elsewhere = sum(segment.size for segment in get_segments(db) if segment.kind in VECTORS)
    on_disk = sum(path.stat().st_size for path in twins.memory.path.rglob("*") if path.is_file())
    assert theirs.size_bytes == on_disk + elsewhere
    assert elsewhere > 0


def test_until_the_commit_the_old_generation_answers_and_the_next_writer_sweeps(twins: Twins) -> None:
    index, written = twins.memory, named(twins.memory)
    before = [hit.passage_id for hit in index.search("the captain of the ship", 5)]
    with IndexDatabase(index.path).reading() as db:
        passages = [segment for segment in get_segments(db) if segment.kind == "passage"]
    leftover = stores(index)["passage"].merge(passages, NO_IDS, generation=99)  # of a writer killed before its COMMIT
    assert held(index) == written | {segment.file for segment in leftover}
    with Index.open(index.path) as other:
        assert [hit.passage_id for hit in other.search("the captain of the ship", 5)] == before
    index.add([])
    assert held(index) == written


def test_a_write_that_fails_takes_back_what_it_put_into_the_engine(
    twins: Twins, monkeypatch: pytest.MonkeyPatch
) -> None:
    index, written = twins.memory, named(twins.memory)

    def fail(*_: object) -> None:
        assert held(index) > written  # segments were written by then
        raise OSError("the power is gone")

    monkeypatch.setattr("semsearch.indexing.vectors.generation.save_today", fail)
    with pytest.raises(OSError, match="power"):
        index.add([Text("comet", "A comet is seen by the telescope at night.")])
    assert held(index) == written
    assert all(hit.document != "comet" for hit in index.search("comet telescope", 20))


def test_what_was_retired_goes_at_once_where_nobody_reads_it(twins: Twins) -> None:
    index, before = twins.memory, named(twins.memory)
    index.refit()
    assert held(index) == named(index)
    assert not before & named(index)


def test_what_was_retired_stays_while_it_is_read_and_goes_after_the_longest_time(
    twins: Twins, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("semsearch.indexing.giving_back.WAIT_SECONDS", 0.0)
    index, before = twins.memory, named(twins.memory)
    with IndexDatabase(index.path).reading() as db:
        get_segments(db)
        index.refit()
        index.add([])
        assert held(index) == before | named(index)
        monkeypatch.setattr("semsearch.indexing.giving_back.LONGEST_SECONDS", -1.0)
        index.add([])
        assert held(index) == named(index)


def test_a_lost_or_changed_segment_is_told(twins: Twins) -> None:
    index = twins.memory
    (passages,) = stores(index)["passage"].names()
    rows = stores(index)["passage"].held[passages]  # type: ignore[attr-defined]
    rows[0] += 1
    problems = index.verify()
    assert any(passages in problem and "digest" in problem for problem in problems)
    assert any("is not that of its text" in problem for problem in problems)
    stores(index)["passage"].drop(passages)
    assert f"{passages} is missing" in index.verify()
    index.close()
    with pytest.raises(IndexDamaged, match="--rebuild"):
        index.search("ship", mode="dense")
    index.add([Text(str(number), f"The judge and the ship {number}.") for number in range(8)])
    with pytest.raises(IndexDamaged, match=r"passage.*is missing; run: .*--rebuild"):
        index.compact()
    index.rebuild()
    assert index.verify() == []


def test_an_engine_that_is_not_known_is_named_with_those_that_are(tmp_path: Path) -> None:
    with pytest.raises(IndexDamaged, match=r"'nowhere:5'.*faiss"):
        open_stores("nowhere:5", tmp_path)
    assert isinstance(open_stores(None, tmp_path)["passage"], FaissStore)


def test_an_engine_is_told_what_it_is_to_keep(tmp_path: Path) -> None:
    asked: list[StoreLocation] = []

    def engine(location: StoreLocation) -> VectorStore:
        asked.append(location)
        return memory_engine()(location)

    register("told", engine)
    open_stores("told:x", tmp_path, largest=5)
    assert [(location.uri, location.folder, location.kind, location.largest) for location in asked] == [
        ("told:x", tmp_path, kind, 5) for kind in VECTORS
    ]
