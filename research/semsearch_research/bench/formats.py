"""Measure how fast files of each format are read, and the least that the same bytes cost: `semsearch bench --formats`.

Readings are of processor time, so that other programs on the machine count for little. A format's floors are the
decoding of its bytes, and the plain text reader on the text that it says. What is read is then indexed too, in this
process: reading is a share of that.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from semsearch import Index, VectorTable
from semsearch.errors import MissingExtra, SourceError, UsageError
from semsearch.readers.document import Document
from semsearch.readers.read import read_bytes
from semsearch.readers.reader_process import end_reader_processes
from semsearch.readers.registry import format_of
from semsearch.text.passages import each_passage
from semsearch.word_vectors.loading import open_vectors
from semsearch_research.bench.bench_text import Report, made_up
from semsearch_research.bench.format_files import MAKERS
from semsearch_research.bench.measurements import Measurement, measurements_of
from semsearch_research.bench.rounds import Case, Quantity, measure, quantities_of
from semsearch_research.plain_text import plain_text_reader

FORMAT_SENTENCES = 10_000
_FILE = 200  # sentences of a file that is made, about


@dataclass(frozen=True, slots=True)
class FormatSample:
    """Files of one format, with their size and contents."""

    format: str
    files: tuple[Path, ...]
    bytes: int
    sentences: int
    pages: int  # 0 where a format has none


@dataclass(frozen=True, slots=True)
class FormatSpeed:
    """The measurements of one format. Seconds are processor time, and medians."""

    sample: FormatSample
    reading: Measurement
    indexing: Measurement

    @property
    def share(self) -> float:
        """The share of reading in the time that indexing takes."""
        return self.reading.median / self.indexing.median if self.indexing.median else 0.0

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        sample, seconds = self.sample, self.reading.median or float("inf")
        return {
            "format": sample.format,
            "files": len(sample.files),
            **{name: getattr(sample, name) for name in ("bytes", "sentences", "pages")},
            "bytes_per_second": sample.bytes / seconds,
            "sentences_per_second": sample.sentences / seconds,
            "pages_per_second": sample.pages / seconds if sample.pages else None,
            "ratios": {name.partition(" ")[0]: ratio for name, ratio in self.reading.ratios.items()},
            "share_of_indexing": self.share,
            "reading": self.reading.to_dict(),
            "indexing": self.indexing.to_dict(),
        }


@dataclass(frozen=True, slots=True)
class FormatsReport:
    """The measurements of all formats in a run."""

    folders: tuple[str, ...]  # none: files were made
    vectors: str
    runs: int
    formats: tuple[FormatSpeed, ...]
    missing: tuple[str, ...] = ()  # what was not read, and why

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "folders": list(self.folders),
            "vectors": self.vectors,
            "runs": self.runs,
            "formats": [found.to_dict() for found in self.formats],
            "missing": list(self.missing),
        }


def bench_formats(
    folders: Iterable[str | Path] = (),
    *,
    sentences: int = FORMAT_SENTENCES,
    runs: int = 5,
    vectors: str = "english",
    progress: Report | None = None,
) -> FormatsReport:
    """Measure the readers of the files below some folders; without any, of files made here, of so many sentences each.

    Raises UsageError, SourceError, VectorsError, StorageError.
    """
    if runs < 1 or sentences < 1:
        raise UsageError(f"there must be one run and one sentence at least, not {runs} and {sentences:,}")
    opened = open_vectors(vectors)
    if not isinstance(opened, VectorTable):
        raise UsageError("a measurement needs word vectors by name or path")
    paths = [Path(folder) for folder in folders]
    with tempfile.TemporaryDirectory(prefix="semsearch-bench-", ignore_cleanup_errors=True) as folder:
        files = _given(paths) if paths else _made(opened, sentences, Path(folder) / "made")
        missing: list[str] = []
        samples = list(_samples(files, missing))
        cases = [case for sample in samples for case in _cases(sample, opened, Path(folder))]
        readings = measure(cases, runs, progress or (lambda *_: None))
    found = {each.name: each for each in measurements_of(quantities_of(cases), readings)}
    speeds = [FormatSpeed(each, found[f"read {each.format}"], found[f"index {each.format}"]) for each in samples]
    return FormatsReport(tuple(map(str, paths)), opened.name, runs, tuple(speeds), tuple(missing))


def _given(folders: Sequence[Path]) -> Iterator[Path]:
    for folder in folders:
        if not folder.exists():
            raise SourceError(f"{folder} does not exist; give a folder of files, or none, and files are made")
        yield from (path for path in sorted(folder.rglob("*")) if path.is_file() and format_of(path.name))


def _made(vectors: VectorTable, sentences: int, parent: Path) -> Iterator[Path]:
    paragraphs = list(made_up(vectors, sentences))
    texts = [paragraph.text for paragraph in paragraphs]
    count = max(1, sentences // _FILE)
    for suffix, make in MAKERS.items():
        folder = parent / suffix[1:]
        folder.mkdir(parents=True)
        for number in range(count):
            path = folder / f"{number:06}{suffix}"
            path.write_bytes(make(texts[number::count]))
            yield path


def _samples(files: Iterable[Path], missing: list[str]) -> Iterator[FormatSample]:
    """The files that can be read, by format; `missing` gets the reasons why others cannot."""
    groups: dict[str, list[tuple[Path, Document]]] = {}
    for path in files:
        try:
            document = read_bytes(path.read_bytes(), str(path))
        except (SourceError, MissingExtra, OSError) as error:
            missing.append(str(error))
        else:
            groups.setdefault(document.format, []).append((path, document))
    for name, group in groups.items():
        yield FormatSample(
            name,
            tuple(path for path, _ in group),
            sum(path.stat().st_size for path, _ in group),
            sum(len(passage.sentences) for _, document in group for passage in each_passage(document)),
            sum(len({block.page for block in document.blocks} - {None}) for _, document in group),
        )


def _cases(sample: FormatSample, vectors: VectorTable, folder: Path) -> list[Case]:
    """The cases of one format: decoding, reading as plain text, reading, indexing."""
    name = sample.format
    contents = [(path.read_bytes(), str(path)) for path in sample.files]
    sources = [(read_bytes(*content).source, content[1]) for content in contents]
    floors, read = (f"decode {name}", f"text {name}"), plain_text_reader()
    works: list[tuple[Quantity, Callable[[], object]]] = [
        (
            Quantity(floors[0], "decoding the bytes", "time"),
            lambda: [data.decode(errors="replace") for data, _ in contents],
        ),
        (Quantity(floors[1], "reading it as plain text", "time"), lambda: [read(*source) for source in sources]),
        (
            Quantity(f"read {name}", f"reading {name}", "rate", sample.bytes / 1e6, "MB", floors, "formats"),
            lambda: [read_bytes(*content) for content in contents],
        ),
        (
            Quantity(f"index {name}", f"indexing {name}", "time", part="formats"),
            partial(_index, sample, vectors, folder / "index"),
        ),
    ]
    return [Case((quantity,), partial(_processor_seconds, work)) for quantity, work in works]


def _processor_seconds(work: Callable[[], object]) -> list[list[float]]:
    """Of this process and of those that it starts to read files, with their start."""
    end_reader_processes()
    started = _spent()
    work()
    end_reader_processes()
    return [[_spent() - started]]


def _spent() -> float:
    others = os.times()
    return time.process_time() + others.children_user + others.children_system


def _index(sample: FormatSample, vectors: VectorTable, folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    with Index.create(folder, vectors=vectors) as index:
        index.sync(*sample.files)
