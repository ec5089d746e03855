"""The bench of formats: what it makes can be read, and its figures are those of its parts. Never how fast it is."""

from __future__ import annotations

from pathlib import Path

import pytest
from console import semsearch

from semsearch.errors import SourceError, UsageError
from semsearch.readers.read import read_bytes
from semsearch.readers.registry import SUFFIXES
from semsearch.word_vectors.table import VectorTable
from semsearch_research.bench.format_files import MAKERS
from semsearch_research.bench.formats import bench_formats
from semsearch_research.commands.format_speeds import format_lines

PARAGRAPHS = ["The ship sails at noon. It is late.", "A star & a planet meet.", "Bread rises in the oven."]


@pytest.mark.parametrize("suffix", MAKERS)
def test_a_made_file_is_of_its_format_and_says_every_word(suffix: str) -> None:
    document = read_bytes(MAKERS[suffix](PARAGRAPHS), f"made{suffix}")
    assert document.format == SUFFIXES[suffix].name
    said = " ".join(block.text for block in document.blocks).split()
    assert {word for text in PARAGRAPHS for word in text.split()} <= set(said)


def test_all_formats_are_measured_beside_their_floors(small_vectors: VectorTable) -> None:
    report = bench_formats(sentences=20, runs=2, vectors=str(small_vectors.folder))
    assert [each.sample.format for each in report.formats] == [SUFFIXES[suffix].name for suffix in MAKERS]
    assert report.missing == ()
    for each in report.formats:
        assert len(each.reading.readings) == 2
        assert each.sample.sentences >= 20
        assert (each.sample.pages > 0) == (each.sample.format == "pdf")
        assert set(each.to_dict()["ratios"]) == {"decode", "text"}
        assert each.share == pytest.approx(each.reading.median / each.indexing.median)
    assert len(list(format_lines(report))) == 4 + len(MAKERS)


def test_folders_are_read_by_format_and_what_cannot_be_is_told(tmp_path: Path, small_vectors: VectorTable) -> None:
    for name in ("a.md", "b/c.md", "d.rst"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("The ship sails. It is late.\n", encoding="utf-8")
    (tmp_path / "e.txt").write_bytes(b"\0")
    (tmp_path / "f.unknown").write_text("Not counted.", encoding="utf-8")
    report = bench_formats([tmp_path], runs=1, vectors=str(small_vectors.folder))
    assert {each.sample.format: each.sample.sentences for each in report.formats} == {"markdown": 4, "rst": 2}
    assert [reason for reason in report.missing if "e.txt looks binary" in reason] == list(report.missing) != []


def test_what_cannot_be_measured_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="does not exist"):
        bench_formats([tmp_path / "none"])
    with pytest.raises(UsageError, match="one run and one sentence at least"):
        bench_formats(runs=0)


def test_the_command_prints_a_line_a_format_or_json(tmp_path: Path, small_vectors: VectorTable) -> None:
    (tmp_path / "a.md").write_text("The ship sails.\n", encoding="utf-8")
    command = ("bench", "--formats", tmp_path, "--runs", 1, "--vectors", small_vectors.folder)
    shown = semsearch(*command)
    assert (shown.status, shown.err, shown.lines[-1].split()[:2]) == (0, "", ["markdown", "1"])
    assert semsearch(*command, "--json").json["formats"][0]["sentences"] == 1


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [(["folder"], "folders are read with --formats"), (["--formats", "--only", "cold"], "leave out --text, --only")],
)
def test_what_the_command_cannot_mean_is_one_line(arguments: list[str], reason: str) -> None:
    result = semsearch("bench", *arguments)
    assert (result.status, result.out, len(result.err.splitlines())) == (2, "", 1)
    assert reason in result.err
