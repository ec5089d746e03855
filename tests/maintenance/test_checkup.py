"""A checkup says what there is to do about an index, each with its command, and what takes its room."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from small import write_articles

from semsearch.index import Index
from semsearch.maintenance.status import findings
from semsearch.readers.document import Text
from semsearch.results.reports import Checkup, Status
from semsearch.word_vectors.table import VectorTable


@pytest.fixture
def index(tmp_path: Path, small_vectors: VectorTable) -> Iterator[Index]:
    write_articles(tmp_path / "docs", 3)
    (tmp_path / "docs" / "notes.txt").write_text("A ship.", encoding="utf-8")
    with Index.create(tmp_path / "index", vectors=small_vectors) as index:
        index.sync(tmp_path / "docs")
        yield index


def test_an_index_that_is_well_has_nothing_to_do(index: Index) -> None:
    found = index.checkup()
    assert {each.level for each in found.findings} == {"good"}
    assert not any(each.command for each in found.findings)
    assert found.formats == {"markdown": 3, "text": 1}
    assert found.known_words is not None
    assert found.known_words > 0.8  # all but those of the headings
    assert Checkup.from_dict(found.to_dict()) == found


def test_the_parts_on_the_disk_are_all_of_it(index: Index) -> None:
    found = index.checkup()
    assert sum(found.disk.values()) == found.status.size_bytes
    assert {"text and tables", "words", "vectors of passages", "vectors of sentences"} <= found.disk.keys()


def test_changed_files_come_first_with_the_command_that_syncs(index: Index, tmp_path: Path) -> None:
    (tmp_path / "docs" / "notes.txt").unlink()
    first = index.checkup().findings[0]
    assert (first.about, first.level, first.command) == ("files", "warning", f"semsearch index --name {index.path}")
    assert "1 file added, changed or removed" in first.says
    assert "files" not in [each.about for each in index.checkup(stale=False).findings]


def test_words_of_another_language_are_told(tmp_path: Path, small_vectors: VectorTable) -> None:
    with Index.create(tmp_path / "index", vectors=small_vectors) as index:
        assert index.checkup().findings[0].about == "content"
        index.add([Text("a", "Ein Schiff fährt bei Sturm in einen fremden Hafen.")])
        found = index.checkup()
    assert found.known_words is not None
    assert found.known_words < 0.5
    assert [each.about for each in found.findings if each.level == "warning"] == ["words"]


def of(index: Index, **changes: object) -> dict[str, tuple[str, str]]:
    """Level and command of each finding about an index whose status is another."""
    status: Status = replace(index.status(), **changes)  # type: ignore[arg-type]  # fields of a status
    return {each.about: (each.level, each.command.partition(" --")[0]) for each in findings(status, 0.99)}


def test_each_trouble_has_its_command(index: Index) -> None:
    assert of(index, fitted_sentences=1)["fit"] == ("warning", "semsearch refit")
    assert of(index, not_read={".bin": 2})["reading"] == ("notice", "semsearch status")
    assert of(index, partly_read=1)["reading"] == ("notice", "semsearch status")
