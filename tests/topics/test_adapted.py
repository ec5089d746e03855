"""An index that has learned from its own text: what it finds, what it keeps, and that it says when it is broken."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from small import small_vectors, write_articles

from semsearch.errors import IndexDamaged
from semsearch.index import Index
from semsearch.readers.document import Text
from semsearch.topics import topic_fit

INVENTED = "A frindle and a zorble.", "A zorble with a quonk.", "Every quonk, every frindle."


@pytest.fixture(autouse=True)
def _few_are_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(topic_fit, "LEAST", 20)
    monkeypatch.setattr(topic_fit, "DIMENSION", 8)


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    write_articles(tmp_path / "docs", 12)
    (tmp_path / "docs" / "invented.md").write_text("\n\n".join(f"## Part\n\n{text}" for text in INVENTED))
    return tmp_path / "docs"


@pytest.fixture
def index(tmp_path: Path, docs: Path) -> Iterator[Index]:
    with Index.create(tmp_path / "index", vectors=small_vectors(tmp_path), components=1) as made:
        made.sync(docs)
        assert made.status().adapted is not None
        yield made
        assert made.verify() == []


@pytest.fixture
def plain(tmp_path: Path, docs: Path) -> Iterator[Index]:
    (tmp_path / "plain").mkdir()
    with Index.create(tmp_path / "other", vectors=small_vectors(tmp_path / "plain"), components=1, adapt=False) as made:
        made.sync(docs)
        yield made


def test_source_code_matches_its_stored_vectors(index: Index, docs: Path) -> None:
    (docs / "harbour.py").write_text('def bakeBread(judgeAndJury):\n    """The ship sails to the harbour."""\n')
    index.sync()
    assert index.verify() == []  # the parts of identifiers are words of a passage, too


def files(index: Index) -> list[Path]:
    """The topics that the database names."""
    with index._database.reading() as db:
        named = db.execute("SELECT file FROM segments WHERE kind = 'topics'").fetchall()
    return [index.path / "segments" / file for (file,) in named]


def passage_vectors(index: Index) -> dict[int, np.ndarray]:
    with index._database.reading() as db:
        snapshot = index.searcher._current(db)
        ids = np.array([id_ for (id_,) in db.execute("SELECT id FROM passages ORDER BY id")])
        return {int(id_): snapshot.passage_vectors.fetch(ids[row : row + 1]).rows[0] for row, id_ in enumerate(ids)}


# -- asking --------------------------------------------------------------------------------------------------------


def test_a_word_of_the_corpus_finds_passages_that_speak_of_the_same_without_it(
    index: Index, plain: Index, caplog: pytest.LogCaptureFixture
) -> None:
    hits = index.search("frindle", 3, mode="dense")
    assert {hit.sentence for hit in hits} == set(INVENTED)
    assert all(hit.dense is not None and hit.dense > 0.5 for hit in hits)
    assert caplog.text == ""
    with caplog.at_level(logging.WARNING):
        assert plain.search("frindle", mode="dense") == []
    assert "the word vectors have no word of 'frindle'" in caplog.text


# -- keeping -------------------------------------------------------------------------------------------------------


def test_a_refit_learns_topics_anew_as_a_new_index_would(index: Index, docs: Path, tmp_path: Path) -> None:
    named = files(index)
    write_articles(docs, 6, first=100)
    (docs / "sea-0.md").unlink()
    assert index.sync().refitted is False
    index.refit()
    assert files(index) != named
    with Index.create(tmp_path / "fresh", vectors=tmp_path / "small", components=1) as fresh:
        fresh.sync(docs)
        expected = fresh.search("rope and frindle", 5, mode="dense")
        assert fresh.status().adapted == index.status().adapted
    found = index.search("rope and frindle", 5, mode="dense")
    assert [(hit.document, hit.sentence) for hit in found] == [(hit.document, hit.sentence) for hit in expected]
    assert [hit.score for hit in found] == pytest.approx([hit.score for hit in expected], abs=5e-3)


def test_a_small_index_that_doubles_learns_topics_anew_by_itself(tmp_path: Path) -> None:
    with Index.create(tmp_path / "index", vectors=small_vectors(tmp_path)) as index:
        write_articles(tmp_path / "docs", 3)
        index.sync(tmp_path / "docs")
        assert index.status().adapted is None
        assert index.search("moon")
        write_articles(tmp_path / "docs", 12)
        assert index.sync().refitted is True
        adapted = index.status().adapted
        assert adapted is not None
        assert (adapted.topics, adapted.passages) == (8, 36)
        assert index.verify() == []


def test_adapting_is_a_setting_that_a_rebuild_changes(index: Index) -> None:
    index.rebuild(adapt=False)
    assert (index.settings.adapt, index.status().adapted, files(index)) == (False, None, [])
    assert index.search("frindle", mode="dense") == []
    index.rebuild()
    assert index.settings.adapt is False
    index.rebuild(adapt=True)
    assert index.status().adapted is not None
    assert index.search("frindle", mode="dense")


# -- damage --------------------------------------------------------------------------------------------------------


def test_damaged_topics_are_seen_and_a_rebuild_mends_them(index: Index) -> None:
    (path,) = files(index)
    whole = path.read_bytes()
    flipped = bytearray(whole)
    flipped[-5] ^= 0xFF
    path.write_bytes(bytes(flipped))
    assert any("does not match its digest" in problem for problem in index.verify())
    index._release()
    assert index.search("moon", mode="lexical")
    index._release()
    path.write_bytes(whole[:-2])
    assert any("bytes, not" in problem for problem in index.verify())
    for ask in (lambda: index.search("moon"), index.status, lambda: index.add([Text("new", "The moon.")])):
        with pytest.raises(IndexDamaged, match="--rebuild"):
            ask()  # type: ignore[operator]
    path.unlink()
    index._release()
    assert any("is missing" in problem for problem in index.verify())
    for ask in (lambda: index.search("moon"), index.status, lambda: index.add([Text("new", "The moon.")])):
        with pytest.raises(IndexDamaged, match="--rebuild"):
            ask()  # type: ignore[operator]
    index.rebuild()
    assert index.search("moon")
