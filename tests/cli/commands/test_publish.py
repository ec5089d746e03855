"""`semsearch publish`, and the commands that read what it has published."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from console import index_docs, semsearch, work_in, write_docs

from semsearch.word_vectors.table import VectorTable


@pytest.fixture
def place(tmp_path: Path, small_vectors: VectorTable, monkeypatch: pytest.MonkeyPatch) -> str:
    """The place of an index, which was published to once."""
    write_docs(tmp_path)
    index_docs(tmp_path, small_vectors)
    work_in(tmp_path, monkeypatch)
    done = semsearch("publish", "place")
    assert done.status == 0
    assert done.out.startswith(f"published generation 1 to {(tmp_path / 'place').as_uri()}: ")
    return (tmp_path / "place").as_uri()


def test_readers_are_answered_as_the_index_answers(place: str) -> None:
    for named in (place, "place"):
        found = semsearch("query", "--index", named, "--json", "a ship in the storm")
        assert found.json == semsearch("query", "--json", "a ship in the storm").json
    status = semsearch("status", "--index", place, "--json").json
    assert status["path"] == status["published"]["place"] == place
    assert status["stale"] is None
    several = semsearch("query", "--index", place, "--index", "indexes/docs", "--jsonl", "ship")
    assert {json.loads(line)["index"] for line in several.lines} <= {"place", "docs"}


def test_each_sync_publishes(place: str) -> None:
    Path("docs/new.md").write_text("# New\n\nA comet is near the planet.\n")
    assert semsearch("index", "docs").status == 0
    assert "generation 2 at" in semsearch("status", "--index", place).out
    assert "generation 2 at" in semsearch("status").out
    again = semsearch("publish")
    assert again.out == f"generation 2 is already published at {place}\n"
    assert semsearch("publish", "--whole", "--json").json["sent_blocks"] > 0


def test_a_failed_publication_says_so_and_the_exit_status_too(place: str) -> None:
    Path("place").rename("elsewhere")
    Path("docs/new.md").write_text("# New\n\nA comet is near the planet.\n")
    failed = semsearch("index", "docs")
    assert failed.status == 2
    assert "generation 2 is written, but could not be published" in failed.err
    assert semsearch("query", "--json", "comet").json["hits"]
    asked = semsearch("query", "--index", place, "--json", "ship")
    assert asked.status == 2, "nothing was fetched before"
    Path("elsewhere").rename("place")
    assert semsearch("index").status == 0
    assert semsearch("query", "--index", place, "--json", "comet").json["hits"]


def test_what_is_switched_off_is_published_no_more(place: str) -> None:
    assert semsearch("publish", "--off").err == f"semsearch: {Path('indexes/docs')} is no longer published\n"
    Path("docs/new.md").write_text("# New\n\nA comet is near the planet.\n")
    assert semsearch("index", "docs").status == 0
    assert "generation 1 at" in semsearch("status", "--index", place).out
    assert semsearch("publish", "--off").err == f"semsearch: {Path('indexes/docs')} was not published\n"
    assert semsearch("publish", "--off", "place").status == 2


@pytest.mark.parametrize(
    "command",
    [
        ["remove", "--index", "PLACE", "docs"],
        ["refit", "--index", "PLACE"],
        ["compact", "--index", "PLACE"],
        ["publish", "--index", "PLACE", "other"],
        ["query", "--index", "PLACE", "--refresh", "ship"],
    ],
)
def test_writing_is_refused_with_the_place_where_it_is_done(command: list[str], place: str) -> None:
    done = semsearch(*(place if each == "PLACE" else each for each in command))
    assert done.status == 2
    assert "which is read-only; the index is written at" in done.err


@pytest.mark.parametrize("command", [["index", "docs"], ["import", "rows.jsonl"], ["merge", "docs"]])
def test_a_place_is_no_index_to_make(command: list[str], place: str) -> None:
    done = semsearch(*command, "--name", place)
    assert done.status == 2
    assert "is a snapshot store, which is read-only; name a local index" in done.err
    assert not list(Path().glob("file*"))


def test_what_is_no_place_is_an_error_without_a_traceback(place: str) -> None:
    for uri in ("nowhere://bucket/docs", f"{place}/none", "file://other/docs"):
        done = semsearch("query", "--index", uri, "ship")
        assert done.status == 2
        assert done.err.startswith("semsearch: ")
        assert len(done.err.splitlines()) == 1
