"""An index of many passages, as a user meets it: chosen by size, told by status, exact where it is asked to be."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from console import semsearch
from small import small_vectors, write_articles

from semsearch.errors import IndexDamaged, UsageError
from semsearch.index import Index
from semsearch.indexing import generation
from semsearch.indexing.generation import questions_of
from semsearch.word_vectors.table import VectorTable


@pytest.fixture(autouse=True)
def _listed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Thirty passages are many."""
    monkeypatch.setattr("semsearch.indexing.generation.LISTED", 30)


@pytest.fixture
def vectors(tmp_path: Path) -> VectorTable:
    return small_vectors(tmp_path)


@pytest.fixture
def index(tmp_path: Path, vectors: VectorTable) -> Iterator[Index]:
    """36 passages with codes."""
    write_articles(tmp_path / "docs", 12)
    with Index.create(tmp_path / "index", vectors=vectors) as made:
        made.sync(tmp_path / "docs")
        yield made
        assert made.verify() == []


def passages(index: Index, query: str, k: int = 5) -> list[int]:
    return [hit.passage_id for hit in index.search(query, k, mode="dense", duplicates=True)]


def test_status_says_what_was_chosen_and_what_it_finds(index: Index) -> None:
    (scan,) = index.status().scans
    assert scan.factory.endswith("x4fs,Refine(SQfp16)")
    assert (scan.vectors, scan.lists, scan.probes) == (36, 0, 8)
    assert scan.recall >= 0.95
    assert scan.questions == 18


def test_an_exact_index_has_no_codes_and_finds_the_same_where_it_is_easy(
    index: Index, tmp_path: Path, vectors: VectorTable
) -> None:
    with Index.create(tmp_path / "exact", vectors=vectors, exact=True) as exact:
        exact.sync(tmp_path / "docs")
        status = exact.status()
        assert (status.scans, status.target_recall) == ((), None)
        for query in ("the captain of the ship", "bread from the oven"):
            assert passages(index, query, 1) == passages(exact, query, 1)


def test_small_segments_become_one_with_codes_when_together_they_are_many(
    index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("semsearch.indexing.generation.REFIT_BELOW", 0)
    found = []
    for first in (20, 30, 40):
        write_articles(tmp_path / "docs", 7, first=first)  # 21 passages: too few for codes
        index.sync()
        found.append([scan.vectors for scan in index.status().scans])
    assert found == [[36], [36], [36, 63]]


def test_recall_is_measured_with_questions_about_the_passages_themselves(
    index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[list[int]] = []

    def watched(*arguments: Any) -> Any:
        asked.append(arguments[-1].tolist())
        return questions_of(*arguments)

    monkeypatch.setattr(generation, "questions_of", watched)
    index.refit()
    assert asked == [[*range(1, 37)]]
    index.remove(index.path.parent / "docs" / "sea-0.md")
    index.compact()
    assert asked[1:] == [[*range(1, 31), 34, 35, 36]]


def test_a_filter_is_answered_exactly(index: Index, tmp_path: Path, vectors: VectorTable) -> None:
    with Index.create(tmp_path / "exact", vectors=vectors, exact=True) as exact:
        exact.sync(tmp_path / "docs")
        for query in ("the captain of the ship", "an old star"):
            found, expected = (
                [hit.passage_id for hit in one.search(query, 9, filters=["law-*.md"], duplicates=True)]
                for one in (index, exact)
            )
            assert found == expected
            assert len(found) == 6


def test_what_is_removed_is_not_found_and_what_is_added_is(index: Index, tmp_path: Path) -> None:
    (tmp_path / "docs" / "sea-0.md").unlink()
    (tmp_path / "docs" / "new.md").write_text("# Harbour\n\nThe sailor and the anchor of the old boat.\n")
    index.sync()
    hits = index.search("sailor anchor boat", 36)
    assert all(hit.document != "sea-0.md" for hit in hits)
    assert any(hit.document == "new.md" for hit in hits)
    status = index.status()
    assert status.passages == 34
    assert [scan.vectors for scan in status.scans] == [36]


def test_a_rebuild_makes_it_exact_or_not_and_keeps_what_is_not_given(index: Index) -> None:
    index.rebuild(exact=True)
    assert index.status().scans == ()
    index.rebuild(method="usif")
    assert index.status().scans == ()
    index.rebuild(exact=False, target_recall=0.5)
    (scan,) = index.status().scans
    assert scan.factory.startswith("PQ")
    assert index.status().target_recall == 0.5


def test_what_cannot_be_meant_is_refused_before_anything_is_made(tmp_path: Path, vectors: VectorTable) -> None:
    with pytest.raises(UsageError, match="target_recall"):
        Index.create(tmp_path / "new", vectors=vectors, target_recall=2)
    assert not (tmp_path / "new").exists()


def test_a_damaged_file_is_told(index: Index, tmp_path: Path) -> None:
    (path,) = (index.path / "segments").glob("passage*")
    data = path.read_bytes()
    index._release()
    path.write_bytes(data[:100] + bytes(len(data) - 100))
    assert any("digest" in problem or "does not begin" in problem for problem in index.verify())
    path.write_bytes(b"x" * len(data))
    with pytest.raises(IndexDamaged, match="--rebuild"):
        index.search("ship", mode="dense")
    index._release()
    path.write_bytes(data)


# -- on the command line -------------------------------------------------------------------------------------------


def test_status_shows_codes_and_recall(index: Index) -> None:
    shown = semsearch("status", "--index", index.path)
    (line,) = [line for line in shown.lines if line.startswith("search")]
    assert "36 passages in PQ" in line
    assert "x4fs,Refine(SQfp16), 8 candidates for each result: " in line
    assert "recall@10 1.000, measured with 18 queries" in line
    (scan,) = semsearch("status", "--index", index.path, "--json").json["scans"]
    assert (scan["lists"], scan["probes"]) == (0, 8)


def test_index_takes_exact_and_target_and_keeps_them(tmp_path: Path, vectors: VectorTable) -> None:
    write_articles(tmp_path / "docs", 12)
    folder = tmp_path / "made"
    made = ("index", tmp_path / "docs", "--name", folder)
    assert semsearch(*made, "--vectors", vectors.folder, "--exact").status == 0
    assert "exact: all passages are scanned" in semsearch("status", "--index", folder).out
    refused = semsearch(*made, "--target-recall", "0.9")
    assert refused.status == 2
    assert "--rebuild" in refused.err
    assert "--target-recall 0.9" in refused.err
    assert semsearch(*made, "--rebuild", "--target-recall", "0.9", "--no-exact").status == 0
    status = semsearch("status", "--index", folder, "--json").json
    assert (status["target_recall"], status["scans"][0]["probes"]) == (0.9, 8)


def test_compact_says_what_it_did(index: Index, tmp_path: Path) -> None:
    (tmp_path / "docs" / "sea-0.md").write_text("# Sea\n\nThe tide.\n")
    index.sync()
    index._release()
    done = semsearch("compact", "--index", index.path)
    assert done.status == 0
    assert "6 segments became 3, without 15 vectors of removed documents, in " in done.out
    again = semsearch("compact", "--index", index.path)
    assert "already compact, with 3 segments" in again.out
    assert semsearch("compact", "--index", index.path, "-q").out == ""
