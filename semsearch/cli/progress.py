"""Progress of long work on a terminal's stderr, erased at the end; what commands that write to an index share."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from semsearch.cli.find_index import from_here
from semsearch.cli.printing import complain, count, one_line, warn
from semsearch.system.locations import as_spelled, divided, uri_scheme

if TYPE_CHECKING:
    from rich.progress import Progress as Display

    from semsearch.results.reports import Progress, SyncReport

Stages = Callable[[str, int, int], None]  # name of the stage, amount done, total (0: unknown)
_OPEN: list[Display] = []  # what is on the screen


@contextmanager
def progress() -> Iterator[Stages | None]:
    """Show progress in several stages: yields a function to call, or None if there is no terminal."""
    with _bar() as show:
        yield None if show is None else lambda stage, done, total: show(stage, done, total, None)


@contextmanager
def share_of(stage: str) -> Iterator[Callable[[int, int], None] | None]:
    """Show progress in one stage: yields a function to call, or None if there is no terminal."""
    with progress() as show:
        yield None if show is None else lambda done, total: show(stage, done, total)


@contextmanager
def sync_progress(*, quiet: bool) -> Iterator[Callable[[Progress], None] | None]:
    """Show the progress of a write to an index: files, then sentences, with their rate."""
    started: dict[str, float] = {}

    def report(state: Progress) -> None:
        seconds = time.monotonic() - started.setdefault(state.phase, time.monotonic())
        by_files = state.phase in ("reading", "recognizing")
        done = (state.files, state.total_files) if by_files else (state.sentences, state.total_sentences)
        if show is not None:
            show(state.phase, *done, _figures(state, seconds))

    with _bar(quiet=quiet) as show:
        yield None if show is None else report


def _figures(state: Progress, seconds: float) -> str:
    if state.phase in ("looking", "writing"):
        return ""
    if state.phase == "recognizing":
        return f"{state.files:,}/{state.total_files:,} files with scans  {Path(state.path).name}"
    files = f"{state.files:,}/{state.total_files:,} files  " if state.phase == "reading" else ""
    return f"{files}{state.sentences:,} sentences  {state.sentences / max(seconds, 1e-3):,.0f}/s"


@contextmanager
def no_progress() -> Iterator[None]:
    """Remove the progress from the screen while the block prints lines that stay."""
    for display in _OPEN:
        display.stop()
    try:
        yield
    finally:
        for display in _OPEN:
            display.start()


@contextmanager
def _bar(*, quiet: bool = False) -> Iterator[Callable[[str, int, int, str | None], None] | None]:
    """A line with the stage, a bar if the total is known, figures and the remaining time; None without a terminal."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich import progress as bars  # a pipe needs none of it
    from rich.console import Console

    console = Console(stderr=True, highlight=False)
    console.width -= 3  # room for the ^C that a terminal echoes: it must not begin another line
    display = bars.Progress(
        bars.SpinnerColumn(),
        bars.TextColumn("{task.description}", markup=False),
        bars.BarColumn(bar_width=20),
        bars.TextColumn("{task.fields[figures]}"),
        bars.TimeRemainingColumn(compact=True),
        console=console,
        transient=True,
    )
    task = display.add_task("", total=None, figures="")
    current = ""

    def show(stage: str, done: int, total: int, figures: str | None) -> None:
        nonlocal current
        if stage != current:
            current = stage
            display.reset(task, description=one_line(stage), figures="")
        if figures is None:
            figures = f"{done / total:.0%}" if total else f"{done:,}" if done else ""
        display.update(task, completed=done, total=total or None, figures=figures)

    _OPEN.append(display)
    try:
        with display:
            yield show
    finally:
        _OPEN.remove(display)


# -- Writes ------------------------------------------------------------------------------------------------------------


def summary(folder: Path, report: SyncReport) -> str:
    """Summarise a write in one line: the counts, and the rate."""
    numbers = {name: getattr(report, name) for name in ("added", "changed", "moved", "removed", "unchanged")}
    numbers["skipped"] = len(report.skipped)
    parts = [f"{number:,} {name}" for name, number in numbers.items() if number] or [
        "nothing changed" if report.warnings else "no documents"
    ]
    rate = f" ({report.sentences / report.seconds:,.0f}/s)" if report.sentences and report.seconds else ""
    sentences = f"; {count(report.sentences, 'sentence')}{rate}" if report.sentences else ""
    refitted = "; refitted" if report.refitted and report.unchanged else ""
    return f"{folder}: {', '.join(parts)}{sentences}{refitted} in {report.seconds:.2f} s"


def report_sync(report: SyncReport) -> None:
    """Print every skipped file, moved root and warning, a line each."""
    for item in report.skipped:
        reason = item.reason.removeprefix(item.path).lstrip(" :")
        complain(f"skipped {from_here(item.path)}: {reason}")
    for moved in report.moved_roots:
        kept = "1 document was kept" if moved.documents == 1 else f"{moved.documents:,} documents were kept"
        complain(f"{from_here(moved.old)} is now {from_here(moved.new)}: {kept}")
    for warning in report.warnings:
        warn(warning)


def covers(root: str, path: str) -> bool:
    """Return whether a path is a root or lies in it. Each may be the URI of a folder in a store."""
    if uri_scheme(root) or uri_scheme(path):
        whole, part = (divided(uri)[0].rstrip("/") for uri in (root, path))  # without their options
        return bool(uri_scheme(root)) and f"{part}/".startswith(f"{whole}/")
    outer, inner = (as_spelled(Path(os.path.realpath(place))) for place in (root, path))
    return outer == inner or outer in inner.parents


@contextmanager
def stopping_as_interrupted() -> Iterator[None]:
    """Let a write stop as by Ctrl-C if the system shuts down (TERM) or the terminal closes (HUP; Windows: BREAK)."""
    names = ("SIGTERM", "SIGHUP", "SIGBREAK")
    numbers = [getattr(signal, name) for name in names if hasattr(signal, name)]
    if threading.current_thread() is not threading.main_thread():  # where no signal arrives
        numbers = []
    before = {number: signal.signal(number, signal.default_int_handler) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
