"""`semsearch status --components`."""

from __future__ import annotations

from pathlib import Path

from console import semsearch, write_docs

from semsearch import Index
from semsearch.word_vectors.table import VectorTable


def test_status_shows_what_is_taken_away(tmp_path: Path, small_vectors: VectorTable) -> None:
    write_docs(tmp_path)
    folder = tmp_path / "index"
    with Index.create(folder, vectors=small_vectors, components=2) as index:
        index.sync(tmp_path / "docs")
        directions = index.directions()
    command = ("status", "--name", folder)
    plain, result = semsearch(*command), semsearch(*command, "--components")
    assert (result.status, result.err) == (0, "")
    assert result.lines[: len(plain.lines)] == plain.lines
    assert result.lines[len(plain.lines) + 1].split()[:3] == ["direction", "variance", "removed"]
    assert result.lines[len(plain.lines) + 2].endswith(", ".join(word.word for word in directions[0].nearest))
    assert "directions" not in semsearch(*command, "--json").json
    assert semsearch(*command, "--components", "--json").json["directions"] == [one.to_dict() for one in directions]


def test_status_says_where_nothing_is_taken_away(tmp_path: Path, small_vectors: VectorTable) -> None:
    folder = tmp_path / "index"
    Index.create(folder, vectors=small_vectors, method="mean").close()
    result = semsearch("status", "--name", folder, "--components")
    assert result.lines[-1] == "no components are removed"
