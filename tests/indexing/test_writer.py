"""A write has the settings and the word vectors that hold once it has the lock, whatever held when it was asked for."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from small import small_vectors, write_articles

from semsearch.errors import IndexDamaged, VectorsMismatch
from semsearch.index import Index
from semsearch.indexing.index_writer import IndexWriter
from semsearch.readers.document import Text
from semsearch.system.locking import writer_lock
from semsearch.word_vectors.table import VectorTable

TEXTS = [Text(f"text {number}", f"The ship {number} is old. A storm came from the coast.") for number in range(30)]
WRITES: dict[str, Callable[[Index], object]] = {
    "sync": lambda index: index.sync(),
    "add": lambda index: index.add(TEXTS),
    "refit": lambda index: index.refit(),
    "rebuild": lambda index: index.rebuild(unknown="skip"),
}


def made(folder: Path, vectors: VectorTable | Path) -> Index:
    """An index of two documents; a sync would find that there are six, which is reason enough for a new fit."""
    write_articles(folder / "docs", 2)
    index = Index.create(folder / "index", vectors=vectors)
    index.sync(folder / "docs")
    write_articles(folder / "docs", 4, first=2)
    return index


@pytest.fixture
def index(tmp_path: Path) -> Index:
    return made(tmp_path, small_vectors(tmp_path).folder)


def overtaken_by(act: Callable[[Index], object], path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let another writer come first: it acts when the next one is about to take the lock."""
    waiting = [act]

    def take_second(folder: Path) -> AbstractContextManager[None]:
        if waiting:
            with Index.open(path) as other:
                waiting.pop()(other)
        return writer_lock(folder)

    monkeypatch.setattr("semsearch.indexing.index_writer.writer_lock", take_second)


def problems(path: Path) -> list[str]:
    """The problems of an index that is opened only now."""
    with Index.open(path) as opened:
        return opened.verify()


def fitted_method(index: Index) -> str:
    with index._database.reading() as db:
        return str(json.loads(db.execute("SELECT card FROM fit").fetchone()[0])["method"])


@pytest.mark.parametrize("write", WRITES)
def test_a_rebuild_committed_just_before_the_lock_decides_how_a_write_embeds(
    index: Index, write: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    overtaken_by(lambda other: other.rebuild(method="usif", adapt=False), index.path, monkeypatch)
    WRITES[write](index)
    assert (index.settings.method, index.settings.adapt, fitted_method(index)) == ("usif", False, "usif")
    assert index.settings.unknown == ("skip" if write == "rebuild" else "pieces")
    assert problems(index.path) == []


@pytest.mark.parametrize("write", WRITES)
def test_a_write_uses_the_word_vectors_of_a_rebuild_committed_just_before_the_lock(
    index: Index, write: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    others = small_vectors(tmp_path, seed=1, name="others").folder
    index.search("ship")  # by now it has opened those that it was made with
    overtaken_by(lambda other: other.rebuild(vectors=others), index.path, monkeypatch)
    WRITES[write](index)
    assert index.settings.vectors_name == "others"
    assert problems(index.path) == []
    assert index.search("ship", mode="dense") != []


def test_word_vectors_that_were_given_are_refused_once_another_has_rebuilt_with_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = made(tmp_path, small_vectors(tmp_path))
    others = small_vectors(tmp_path, seed=1, name="others").folder
    overtaken_by(lambda other: other.rebuild(vectors=others), index.path, monkeypatch)
    with pytest.raises(VectorsMismatch, match="built with the word vectors others"):
        index.sync()
    assert problems(index.path) == []
    assert index.rebuild().refitted  # with those that were given
    assert index.settings.vectors_name == "small"
    assert problems(index.path) == []


def test_a_writer_can_write_several_times_each_with_what_the_last_has_left(index: Index, tmp_path: Path) -> None:
    with IndexWriter.open(index._database, index._word_vectors) as writer:
        writer.rebuild({"method": "usif"})
        done = writer.sync([], include=[], exclude=[], prune=False, max_file_bytes=10**6, processes=1)
        assert (done.added, done.refitted) == (4, True)
        assert writer.remove([tmp_path / "docs" / "sea-0.md", "no such text"]) == 1
    assert index.settings.method == "usif"
    assert fitted_method(index) == "usif"
    assert problems(index.path) == []


def test_a_rebuild_and_a_refit_report_all_that_they_embedded(index: Index) -> None:
    status = index.status(stale=False, known_words=False)
    for done in (index.rebuild(), index.refit()):
        assert (done.passages, done.sentences, done.refitted) == (status.passages, status.sentences, True)
        assert done.seconds > 0
        assert (done.added, done.changed, done.unchanged) == (0, 0, 0)


def test_files_that_were_only_touched_need_no_word_vectors(index: Index, tmp_path: Path) -> None:
    index.sync()
    (tmp_path / "small").rename(tmp_path / "gone")
    (tmp_path / "docs" / "sea-0.md").touch()
    with Index.open(index.path) as opened:
        assert opened.sync().unchanged == 6


def test_a_lock_that_is_a_symbolic_link_is_not_followed(index: Index, tmp_path: Path) -> None:
    (index.path / "lock").unlink()
    (index.path / "lock").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(IndexDamaged, match="lock is a symbolic link"):
        index.sync()
    assert not (tmp_path / "elsewhere").exists()
