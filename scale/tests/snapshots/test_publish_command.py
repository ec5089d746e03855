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
    assert status["path"] == place
    assert status["stale"] is None
    several = semsearch("query", "--index", place, "--index", "indexes/docs", "--jsonl", "ship")
    assert {json.loads(line)["index"] for line in several.lines} <= {"place", "docs"}


def generation(*named: str) -> int:
    found: int = semsearch("status", *named, "--json").json["generation"]
    return found


def test_what_was_written_meanwhile_is_published_next_time(place: str) -> None:
    Path("docs/new.md").write_text("# New\n\nA comet is near the planet.\n")
    assert semsearch("index", "docs").status == 0
    assert (generation(), generation("--index", place)) == (2, 1)
    assert semsearch("publish", "place").out.startswith("published generation 2 to ")
    assert generation("--index", place) == 2
    assert semsearch("publish", "place").out == f"generation 2 is already published at {place}\n"
    assert semsearch("publish", "place", "--whole", "--json").json["sent_blocks"] > 0


def test_it_goes_on_publishing_over_failures(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def between(seconds: float) -> None:
        assert seconds == 30
        steps.pop(0)()

    def write() -> None:
        Path("docs/new.md").write_text("# New\n\nA comet is near the planet.\n")
        assert semsearch("index", "docs").status == 0

    def stop() -> None:
        raise KeyboardInterrupt

    elsewhere = Path("elsewhere")
    steps = [lambda: None, lambda: Path("place").rename(elsewhere), write, lambda: elsewhere.rename("place"), stop]
    monkeypatch.setattr("semsearch_scale.commands.sleep", between)
    done = semsearch("publish", "place", "--every", "30")
    assert [line.split(" to ")[0] for line in done.lines] == [
        "generation 1 is already published at " + place,
        "published generation 2",
    ]
    assert "is it mounted" in done.err


def test_what_is_no_place_is_an_error_without_a_traceback(place: str) -> None:
    for uri in ("nowhere://bucket/docs", f"{place}/none", "file://other/docs"):
        done = semsearch("query", "--index", uri, "ship")
        assert done.status == 2
        assert done.err.startswith("semsearch: ")
        assert len(done.err.splitlines()) == 1
