"""`semsearch bench`: how fast it is on this machine, and how far from what the machine allows."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from semsearch.commands import (
    aligned,
    hide_warnings,
    one_line,
    print_stderr,
    progress,
    signals_as_interrupts,
    size,
    to_json,
    warn,
)
from semsearch.errors import UsageError
from semsearch_research.bench.processes import ONE_THREAD
from semsearch_research.command_line import TableOption

if TYPE_CHECKING:
    from semsearch_research.bench.measurements import BenchReport, Measurement

_SECONDS = ((1.0, "s"), (1e3, "ms"), (1e6, "µs"))
_BYTES = ((1e-9, "GB"), (1e-6, "MB"), (1e-3, "kB"), (1.0, "bytes"))


def bench(
    sentences: Annotated[int, typer.Option(metavar="N", help="Sentences of text, from 1,000 on.")] = 100_000,
    text: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Text to measure on, a paragraph a line; else it is made up.")
    ] = None,
    runs: Annotated[int, typer.Option(metavar="N", help="How often to measure; medians are shown.")] = 5,
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Repeated: embed, split, index, sync, cold, warm, batch. By default all."),
    ] = None,
    peer: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Repeated: loop, model2vec, model2vec:PATH, minilm, minilm:PATH, bm25s, to compare with.",
        ),
    ] = None,
    peers: Annotated[bool, typer.Option("--peers", help="All peers that are installed.")] = False,
    vectors: TableOption = "english",
    json: Annotated[bool, typer.Option("--json", help="As JSON, with the spread of all readings.")] = False,
) -> None:
    """Measure how fast semsearch is on this machine, with one thread, and compare with the least the work must cost.

    Runs are interleaved, so that other load on the machine affects all of them alike. Everything is made in a temporary
    folder (TMPDIR) that is deleted afterwards. The peer minilm needs the extra `train`.
    """
    if peers and peer:
        raise UsageError("--peers are all of them; leave out --peer, or name only those you want")
    hide_warnings()
    os.environ.update(ONE_THREAD)  # before numpy is imported
    from semsearch_research.bench.running import bench as measure  # it imports numpy

    with signals_as_interrupts(), progress() as report:
        found = measure(
            sentences,
            text=text,
            runs=runs,
            only=only or (),
            peers=("all",) if peers else peer or (),
            vectors=vectors,
            progress=report or _tell,
        )
    for reason in found.missing:
        warn(f"not measured: {reason}")
    for line in [to_json(found.to_dict())] if json else report_lines(found):
        print(line)


def _tell(stage: str, done: int, total: int) -> None:
    """Show progress where there is no terminal: some twenty lines of each stage on stderr."""
    if total and done % max(1, total // 20) == 0:
        print_stderr(f"{stage} ({done:,} of {total:,})")


def report_lines(found: BenchReport) -> Iterator[str]:
    """The lines of the report: the text measured on; a line for each measurement, and for each floor."""
    source = one_line(Path(found.text).name) if found.text else "made-up text"
    threads = "one thread" if found.one_thread else "any number of threads"
    corpus = found.corpus
    yield f"{corpus.sentences:,} sentences, {size(corpus.bytes)} of {source} in {corpus.files:,} files"
    vectors = f"word vectors {one_line(found.vectors)} of {found.dimension} dimensions"
    yield f"{vectors}; {'one run' if found.runs == 1 else f'medians of {found.runs} runs'}; {threads}"
    yield ""
    whats = {each.name: each.what for each in found.measurements}
    measured = [_row(each, whats) for each in found.measurements if not each.is_floor]
    floors = [_row(each, whats) for each in found.measurements if each.is_floor]
    head = ("", "median", "least", "most", "p95", "", "so many times the cost of")
    lines = aligned([head, *measured, *floors], left=(0, 5, 6))
    yield from lines[: len(measured) + 1]
    yield ""
    yield from lines[len(measured) + 1 :]


def _row(each: Measurement, whats: dict[str, str]) -> tuple[str, ...]:
    scale, unit = _unit(each)
    readings = [_in_unit(each, reading, scale) for reading in each.readings]
    p95 = "" if each.p95 is None or each.kind != "time" else _figure(_in_unit(each, each.p95, scale))
    ratios = "; ".join(f"{_figure(ratio)} × {whats[name]}" for name, ratio in each.ratios.items())
    spread = (_in_unit(each, each.median, scale), min(readings), max(readings))
    return each.what, *map(_figure, spread), p95, unit, ratios


def _unit(each: Measurement) -> tuple[float, str]:
    """The factor and unit that make a measurement's median easy to read."""
    if each.kind == "rate":
        return 1, f"{each.unit}/s"
    steps = _BYTES if each.kind == "bytes" else _SECONDS
    return next(((scale, name) for scale, name in steps if each.median * scale >= 1), steps[-1])


def _in_unit(each: Measurement, reading: float, scale: float) -> float:
    return (each.amount / reading if each.kind == "rate" else reading) * scale


def _figure(number: float) -> str:
    """A number with three significant figures, or all figures before the point."""
    if number >= 100:
        return f"{float(f'{number:.3g}'):,.0f}"
    return f"{number:.1f}" if number >= 10 else f"{number:.2f}"
