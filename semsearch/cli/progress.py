"""Show the progress of long work on a terminal's stderr, erased at the end."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from semsearch.cli.printing import one_line

if TYPE_CHECKING:
    from rich.progress import Progress as Display

    from semsearch.results.reports import Progress

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
