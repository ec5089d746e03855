"""An index whose vectors another engine keeps: the same answers, the same life, one commit point."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from memory_store import memory_engine
from small import small_vectors, write_articles

from semsearch.dense import engines
from semsearch.dense.engines import keeps_sentences, open_stores
from semsearch.dense.vector_store import NO_IDS, VectorStore, merge_segments
from semsearch.errors import IndexDamaged, UsageError
from semsearch.index import Index
from semsearch.readers.document import Text
from semsearch.storage.database import IndexDatabase
from semsearch.storage.schema import StoreAddress, get_address
from semsearch.storage.segments import VECTORS, get_segments
from semsearch.topics import topic_fit

URI = "memory:test"
QUESTIONS = [
    f"{first} {second}"
    for first in ("the ship", "a telescope", "violin")
    for second in ("in the night", "concert, sail")
]


@pytest.fixture(autouse=True, params=[True, False], ids=["sentences kept", "sentences made"])
def _engines(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """An engine in memory is known, and 30 passages are enough to learn topics from."""
    engine, find = memory_engine(keeps_sentences=request.param), engines._find
    monkeypatch.setattr(engines, "_find", lambda uri: engine if uri.startswith("memory:") else find(uri))
    monkeypatch.setattr(topic_fit, "LEAST", 30)


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

    @property
    def close(self) -> float:
        """How far scores may be apart: the last bit of a sentence's vector that is made anew may differ."""
        return 1e-6 if keeps_sentences(address(self.memory)) else 1e-5

    def agree(self, *more: dict[str, object]) -> None:
        for options in ({}, *more):
            ours, theirs = (index.search_many(QUESTIONS, 7, **options) for index in (self.files, self.memory))
            singly = [self.memory.search(question, 7, **options) for question in QUESTIONS[:3]]
            for one, other in zip([*ours, *ours[:3]], [*theirs, *singly], strict=True):
                assert [(hit.passage_id, hit.sentence_id) for hit in one] == [
                    (hit.passage_id, hit.sentence_id) for hit in other
                ]
                assert [hit.score for hit in one] == pytest.approx([hit.score for hit in other], abs=self.close)
        hits = [index.search(QUESTIONS[0], 3)[-1] for index in (self.files, self.memory)]
        one, other = (hit.explain() for hit in hits)
        assert one.score == pytest.approx(other.score, abs=self.close)
        like = [[hit.passage_id for hit in index.similar(hits[0], k=5)] for index in (self.files, self.memory)]
        assert like[0] == like[1]


def stores(index: Index) -> dict[str, VectorStore]:
    return dict(open_stores(address(index), index.path))


def address(index: Index) -> StoreAddress | None:
    with IndexDatabase(index.path).reading() as db:
        return get_address(db)


def held(index: Index) -> set[str]:
    """The segments that the engine has for an index."""
    return {name for store in stores(index).values() for name in store.names()}


def named(index: Index) -> set[str]:
    """The segments of vectors that the manifest names."""
    with IndexDatabase(index.path).reading() as db:
        return {segment.file for segment in get_segments(db) if segment.kind in VECTORS}


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    """An index whose vectors are kept in memory."""
    small_vectors(tmp_path)
    write_articles(tmp_path / "docs", 12)
    with Index.create(tmp_path / "memory", vectors=tmp_path / "small", store=URI) as index:
        index.sync(tmp_path / "docs")
        yield index


@pytest.fixture
def twins(index: Index, tmp_path: Path) -> Iterator[Twins]:
    with Index.create(tmp_path / "files", vectors=tmp_path / "small") as files:
        files.sync(tmp_path / "docs")
        yield Twins(tmp_path / "docs", files, index)


def test_an_index_over_another_engine_gives_the_same_hits(twins: Twins) -> None:
    assert twins.files.verify() == twins.memory.verify() == []
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
        index.refit()
    twins.sync()
    twins.agree()
    for index in (twins.files, twins.memory):
        index.rebuild(method="usif")
    twins.sync()
    twins.agree()


def test_an_index_without_vectors_of_sentences_makes_them_and_lives_the_same_life(twins: Twins) -> None:
    files = twins.files

    def sentences() -> int:
        with IndexDatabase(files.path).reading() as db:
            return sum(len(segment.id_ranges) for segment in get_segments(db) if segment.kind == "sentence")

    before = sentences()
    assert before == files.status(known_words=False, stale=False).sentences
    files.rebuild(sentence_vectors=False)
    assert (files.settings.sentence_vectors, sentences()) == (False, 0)
    assert not list((files.path / "segments").glob("sentence-*"))
    twins.memory.rebuild()
    twins.agree({"mode": "dense"})
    write_articles(twins.docs, 3, first=40)
    twins.sync()
    assert sentences() == 0
    twins.agree()
    files.rebuild(sentence_vectors=True)
    twins.memory.rebuild()
    assert sentences() > before
    twins.agree()
    assert files.verify() == []


def test_until_the_commit_the_old_generation_answers_and_the_next_writer_sweeps(index: Index) -> None:
    written = named(index)
    before = [hit.passage_id for hit in index.search("the captain of the ship", 5)]
    with IndexDatabase(index.path).reading() as db:
        passages = [segment for segment in get_segments(db) if segment.kind == "passage"]
    leftover = merge_segments(
        stores(index)["passage"], passages, NO_IDS, generation=99
    )  # of a writer killed before its COMMIT
    assert held(index) == written | {segment.file for segment in leftover}
    with Index.open(index.path) as other:
        assert [hit.passage_id for hit in other.search("the captain of the ship", 5)] == before
    index.add([])
    assert held(index) == written


def test_a_write_that_fails_takes_back_what_it_put_into_the_engine(
    index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = named(index)

    def fail(*_: object) -> None:
        assert held(index) > written  # segments were written by then
        raise OSError("the power is gone")

    monkeypatch.setattr("semsearch.indexing.generation.Merger.merge", fail)
    with pytest.raises(OSError, match="power"):
        index.add([Text("comet", "A comet is seen by the telescope at night.")])
    assert held(index) == written
    assert all(hit.document != "comet" for hit in index.search("comet telescope", 20))


def test_what_was_retired_stays_while_it_is_read_and_goes_with_the_next_write(
    index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("semsearch.storage.database.WAIT_SECONDS", 0.0)
    before = named(index)
    with IndexDatabase(index.path).reading() as db:
        get_segments(db)
        index.refit()
        index.add([])
        assert held(index) == before | named(index)
    index.add([])
    assert held(index) == named(index)


def test_a_lost_or_changed_segment_is_told(index: Index) -> None:
    (passages,) = stores(index)["passage"].names()
    rows = stores(index)["passage"].held[passages]  # type: ignore[attr-defined]
    rows[0] += 1
    problems = index.verify()
    assert any(passages in problem and "digest" in problem for problem in problems)
    assert any("does not match its text" in problem for problem in problems)
    stores(index)["passage"].drop(passages)
    assert f"{passages} is missing" in index.verify()
    index._release()
    with pytest.raises(IndexDamaged, match="--rebuild"):
        index.search("ship", mode="dense")
    index.add([Text(str(number), f"The judge and the ship {number}.") for number in range(8)])
    index.rebuild()
    assert index.verify() == []


def test_an_index_moves_from_one_place_to_another_and_leaves_nothing_behind(twins: Twins) -> None:
    index, before = twins.memory, address(twins.memory)
    with pytest.raises(UsageError, match="'nowhere:x' is not the URI of a vector store"):
        index.rebuild(store="nowhere:x")
    index.rebuild(store="memory:other")
    assert address(index) != before
    assert index.settings.store == "memory:other"
    assert index.verify() == []
    assert held(index) == named(index)
    twins.agree()
    with Index.create(index.path.parent / "third", vectors=index.path.parent / "small", store=URI) as third:
        assert third.settings.store == URI  # the place is free
        with pytest.raises(UsageError, match="another index"):
            index.rebuild(store=URI)
        assert (index.settings.store, held(index)) == ("memory:other", named(index))
    index.rebuild(store="faiss:")
    assert (address(index), index.settings.store) == (None, None)
    assert len([*(index.path / "segments").glob("*.faiss")]) == 2
    twins.agree()


@pytest.mark.parametrize("uri", ["memory", "memory://ada:secret@host/x", "nowhere:5", "memory://[::1/x"])
def test_what_is_no_place_or_has_a_password_is_refused(tmp_path: Path, uri: str) -> None:
    small_vectors(tmp_path)
    with pytest.raises(UsageError, match=r"names no folder|is not the URI|password|is not a valid address"):
        Index.create(tmp_path / "index", vectors=tmp_path / "small", store=uri)
    assert not (tmp_path / "index").exists()
