"""`semsearch bench --formats`: how fast files of each format are read, as a table or as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from semsearch.commands import aligned, count, one_line, progress, size, to_json, warn

if TYPE_CHECKING:
    from semsearch_research.bench.formats import FormatSpeed, FormatsReport

_HEAD = ("", "files", "size", "MB/s", "sentences/s", "pages/s", "× decoding", "× as text", "of indexing")
_TOLD = 5  # files that could not be read


def show_format_speeds(folders: Sequence[Path], sentences: int | None, runs: int, vectors: str, json: bool) -> None:
    """Measure how fast files are read, and print the table or JSON. Raises as `bench_formats` does."""
    from semsearch_research.bench.formats import FORMAT_SENTENCES, bench_formats  # start-up time: it imports numpy

    with progress() as report:
        found = bench_formats(
            folders,
            sentences=FORMAT_SENTENCES if sentences is None else sentences,
            runs=runs,
            vectors=vectors,
            progress=report,
        )
    for reason in found.missing[:_TOLD]:
        warn(f"not read: {reason}")
    if len(found.missing) > _TOLD:
        warn(f"not read: {count(len(found.missing) - _TOLD, 'file')} more")
    for line in [to_json(found.to_dict())] if json else format_lines(found):
        print(line)


def format_lines(found: FormatsReport) -> Iterator[str]:
    """The lines of the report: the files measured on, and a line for each format."""
    yield f"files of {', '.join(map(one_line, found.folders))}" if found.folders else "files of made-up text"
    runs = "one run" if found.runs == 1 else f"medians of {found.runs} runs"
    yield f"{runs}, in a processor's seconds; word vectors {one_line(found.vectors)}; one thread"
    yield ""
    yield from aligned([_HEAD, *map(_row, found.formats)], left=(0,))


def _row(speed: FormatSpeed) -> tuple[str, ...]:
    figures = speed.to_dict()
    pages = figures["pages_per_second"]
    ratios = [_times(figures["ratios"][name]) for name in ("decode", "text")]
    return (
        figures["format"],
        f"{figures['files']:,}",
        size(figures["bytes"]),
        f"{figures['bytes_per_second'] / 1e6:.2f}",
        f"{figures['sentences_per_second']:,.0f}",
        "" if pages is None else f"{pages:,.0f}",
        *ratios,
        f"{figures['share_of_indexing']:.0%}",
    )


def _times(ratio: float) -> str:
    return f"{ratio:,.0f}" if ratio >= 10 else f"{ratio:.1f}"
