"""What is in a folder of data, what is missing, and what that costs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from semsearch.results.codec import Record
from semsearch_research.evaluate.table import NONE, Block, Table

State = Literal["complete", "in part", "missing"]


@dataclass(frozen=True, slots=True)
class DatasetState(Record):
    """A data set in a folder."""

    name: str
    state: State
    there: int  # files that are there and whole
    of: int  # files that the papers' experiments need
    missing: tuple[str, ...]  # paths of files that are needed
    other: tuple[str, ...]  # files whose content is not what is known of them, in words
    costs: str  # what cannot be run without it
    home: str  # where its owner describes it


@dataclass(frozen=True, slots=True)
class DataReport(Record):
    """What was found in a folder of data, and what was written into it."""

    folder: str
    datasets: tuple[DatasetState, ...]
    vectors: tuple[str, ...]  # word vectors, in words
    written: tuple[str, ...]  # paths of files that were written this time
    problems: tuple[str, ...]  # originals that could not be read or used, and why


def tables(report: DataReport) -> Iterator[Block]:
    """A table of data sets; then what is missing, what that costs and where it is described; then what was written."""
    rows = []
    for one in report.datasets:
        rows.append([one.name, one.state, f"{one.there} of {one.of}", ", ".join(_short(path) for path in one.missing)])
    yield Table(["data set", "state", "files", "missing"], rows, labels=2)
    lacking = [[one.name, one.costs, one.home] for one in report.datasets if one.state != "complete"]
    if lacking:
        yield Table(["without", "is missing", "described by its owner in"], lacking)
    yield "word vectors: " + ("; ".join(report.vectors) or f"{NONE}; the papers' are GloVe, PSL (Paragram), ParaNMT")
    yield from (f"other than known: {text}" for one in report.datasets for text in one.other)
    if report.written:
        yield f"written to {report.folder}: {', '.join(report.written)}"


def _short(path: str) -> str:
    return path.rpartition("/")[2]
