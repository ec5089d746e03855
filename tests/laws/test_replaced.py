"""An index that is deleted, moved or made anew while a program has it open, and a program that is forked with it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from small import write_articles

from semsearch.errors import IndexNotFound, UsageError
from semsearch.index import Index
from semsearch.readers.document import Text
from semsearch.results.reports import Progress
from semsearch.word_vectors.table import VectorTable

ASKED = "captain of the ship"


def make(folder: Path, vectors: VectorTable, *texts: str) -> Path:
    with Index.create(folder, vectors=vectors) as index:
        index.add([Text(f"{number}", text) for number, text in enumerate(texts)])
    return folder


def answers(index: Index) -> list[str]:
    return sorted(hit.passage for hit in index.search(ASKED))


SEA = "The captain has a ship.", "An anchor for the sailor."
OTHER = "A ship without a captain.", "The captain bakes bread."


def test_an_index_that_was_deleted_is_not_found_any_more(tmp_path: Path, small_vectors: VectorTable) -> None:
    folder = make(tmp_path / "index", small_vectors, *SEA)
    with Index.open(folder) as index:
        assert answers(index)
        shutil.rmtree(folder)
        for ask in (answers, len, Index.status, Index.facets, lambda index: index.add([Text("1", "a ship")])):
            with pytest.raises(IndexNotFound, match=r"index at .*(deleted or moved|create one)"):
                ask(index)
        assert not folder.exists()


@pytest.mark.parametrize("closed", [False, True])  # whether the file's number on the disk may be used again
def test_an_index_that_was_made_anew_answers_from_what_it_holds_now(
    tmp_path: Path, small_vectors: VectorTable, closed: bool
) -> None:
    folder = make(tmp_path / "index", small_vectors, *SEA)
    with Index.open(folder) as index:
        before, facets = index.search(ASKED), index.facets()
        if closed:
            index._database.close()
        shutil.rmtree(folder)
        make(folder, small_vectors, *OTHER, "A third ship.")
        assert index.status().generation == before[0].origin.generation  # by it they cannot be told apart
        with Index.open(folder) as new:
            assert answers(index) == answers(new)
            assert index.facets() == new.facets() != facets
            assert index.search(ASKED, mode="dense") == new.search(ASKED, mode="dense")
        with pytest.raises(UsageError, match="search again"):
            before[0].explain()
        index.add([Text("more", "The sailor of the captain.")])
        assert "The sailor of the captain." in answers(index)


def test_an_index_that_was_moved_is_found_where_it_is(tmp_path: Path, small_vectors: VectorTable) -> None:
    folder = make(tmp_path / "index", small_vectors, *SEA)
    with Index.open(folder) as index:
        before = answers(index)
        folder.rename(tmp_path / "elsewhere")
        with pytest.raises(IndexNotFound, match="deleted or moved"):
            answers(index)
        (tmp_path / "elsewhere").rename(folder)
        assert answers(index) == before


def test_a_link_that_is_turned_to_another_index_is_followed(tmp_path: Path, small_vectors: VectorTable) -> None:
    link = tmp_path / "current"
    link.symlink_to(make(tmp_path / "one", small_vectors, *SEA))
    two = make(tmp_path / "two", small_vectors, *OTHER)
    with Index.open(link) as index:
        assert answers(index)[0] in SEA
        (tmp_path / "next").symlink_to(two)
        (tmp_path / "next").rename(link)
        assert set(answers(index)) <= {*OTHER}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
def test_a_fork_asks_with_the_index_that_it_inherited(tmp_path: Path, small_vectors: VectorTable) -> None:
    docs = tmp_path / "docs"
    write_articles(docs, 12)
    with Index.create(tmp_path / "index", vectors=small_vectors) as index:
        index.sync(docs)
    script = Path(__file__).parents[1] / "support" / "processes" / "forking.py"
    done = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", str(script), str(tmp_path / "index"), str(docs)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=300,
    )
    told = json.loads(done.stdout)
    assert told["inherited"] == told["before"]
    assert told["later"] == told["parent"]
    assert {"new.md", "later"} <= {*told["later"][0]}


@pytest.mark.parametrize("phase", ["reading", "embedding", "writing"])
@pytest.mark.parametrize("is_made_anew", [False, True])
def test_a_write_to_an_index_that_is_deleted_meanwhile_is_an_error(
    tmp_path: Path, small_vectors: VectorTable, phase: str, is_made_anew: bool
) -> None:
    folder, docs = make(tmp_path / "index", small_vectors, *SEA), tmp_path / "docs"
    write_articles(docs, 3)

    def delete(progress: Progress) -> None:
        if progress.phase == phase and not (tmp_path / "gone").exists():
            shutil.move(folder, tmp_path / "gone")
            if is_made_anew:
                make(folder, small_vectors, *OTHER)

    with Index.open(folder) as index, pytest.raises(IndexNotFound, match="deleted or moved during the write"):
        index.sync(docs, progress=delete)
    assert folder.exists() == is_made_anew
    for where, texts in ((tmp_path / "gone", SEA), *([(folder, OTHER)] if is_made_anew else [])):
        with Index.open(where, trust=True) as index:
            assert {text.text for text in index.texts()} == {*texts}
            assert index.verify() == []
