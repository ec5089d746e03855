"""The health of an index, its problems and its coverage are served, a part at a time."""

from __future__ import annotations

from pathlib import Path

from serving import Asker, running
from small import write_articles

from semsearch.index import Index
from semsearch.results.omissions import FileCoverage, Problem
from semsearch.results.reports import Checkup
from semsearch.server.open_indexes import OpenIndexes
from semsearch.word_vectors.table import VectorTable


def test_a_checkup_is_that_of_the_index(asker: Asker, docs: Index) -> None:
    found = Checkup.from_dict(asker.get("/v1/checkup", index="docs").json)
    assert found == docs.checkup()
    with Index.connect(asker.url, index="docs") as remote:
        assert remote.checkup() == found
    assert asker.get("/v1/checkup", index="docs", stale="false").json["status"]["stale"] is None


def test_problems_and_coverage_come_a_part_at_a_time(tmp_path: Path, small_vectors: VectorTable) -> None:
    write_articles(tmp_path / "docs", 3)
    for number in range(3):
        (tmp_path / "docs" / f"{number}.bin").write_bytes(bytes(range(256)))
    with Index.create(tmp_path / "index", vectors=small_vectors) as index:
        index.sync(tmp_path / "docs")
        problems, coverage = index.problems(), index.coverage()
        with running(OpenIndexes(places={"index": tmp_path / "index"})) as asker:
            first, second = (asker.get("/v1/problems", limit=2, offset=offset).json for offset in (0, 2))
            assert (first["total"], first["next"], second["next"]) == (3, 2, None)
            assert tuple(Problem.from_dict(each) for each in first["problems"] + second["problems"]) == problems
            first, second = (asker.get("/v1/coverage", limit=2, offset=offset).json for offset in (0, 2))
            assert (first["next"], second["next"]) == (2, None)
            assert tuple(FileCoverage.from_dict(each) for each in first["coverage"] + second["coverage"]) == coverage
