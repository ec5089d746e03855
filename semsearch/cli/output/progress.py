"""Show the progress of long work: one display for all commands, on a terminal's stderr, gone when the work is done."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from semsearch.cli.output.formats import one_line
from semsearch.results.state.reports import Progress

Stages = Callable[[str, int, int], None]  # name of the stage, how much of it is done, how much there is (0: unknown)
_OPEN: list[Bar] = []
_EVERY = 0.05  # seconds between two looks at the same stage


class Bar:
    """A line with the stage, a bar if the total is known, figures, and the remaining time."""

    def __init__(self, screen: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        from rich import progress as bars  # start-up time: nothing else of a command needs it
        from rich.console import Console

        console = Console(file=screen, highlight=False)
        console.width -= 3  # room for the ^C that a terminal echoes: it must not begin another line
        self._display = bars.Progress(
            bars.SpinnerColumn(),
            bars.TextColumn("{task.description}", markup=False),
            bars.BarColumn(bar_width=20),
            bars.TextColumn("{task.fields[figures]}"),
            bars.TimeRemainingColumn(compact=True),
            console=console,
            transient=True,
        )
        self._task = self._display.add_task("", total=None, figures="")
        self._stage = ""
        self._shown = 0.0
        self._clock = clock
        self.open()

    def show(self, stage: str, done: int, total: int, figures: str | None = None) -> None:
        """Show progress; `figures` are by default the share that is done, or the amount if the total is not known."""
        now = self._clock()
        if stage != self._stage:
            self._stage = stage
            self._display.reset(self._task, description=one_line(stage), figures="")
        elif now - self._shown < _EVERY:
            return
        self._shown = now
        if figures is None:
            figures = f"{done / total:.0%}" if total else f"{done:,}" if done else ""
        self._display.update(self._task, completed=done, total=total or None, figures=figures)

    def open(self) -> None:
        """Draw the bar on the screen, again if it was removed."""
        self._display.start()

    def close(self) -> None:
        """Remove the bar from the screen."""
        self._display.stop()


@contextmanager
def no_progress() -> Iterator[None]:
    """Take the progress from the screen while the block prints something that stays there."""
    for bar in _OPEN:
        bar.close()
    try:
        yield
    finally:
        for bar in _OPEN:
            bar.open()


@contextmanager
def progress(screen: TextIO | None = None) -> Iterator[Stages | None]:
    """Show progress in several stages: yields a function to call, or None if there is no terminal.

    It is shown on stderr, unless another screen is given.
    """
    with _bar(screen, quiet=False) as bar:
        yield None if bar is None else bar.show


@contextmanager
def share_of(stage: str) -> Iterator[Callable[[int, int], None] | None]:
    """Show progress in one stage: yields a function to call, or None if there is no terminal."""
    with progress() as show:
        yield None if show is None else lambda done, total: show(stage, done, total)


@contextmanager
def sync_progress(*, quiet: bool) -> Iterator[Callable[[Progress], None]]:
    """Show the progress of a write to an index: files, then sentences, with their rate."""
    with _bar(None, quiet=quiet) as bar:
        begun: dict[str, float] = {}

        def show(found: Progress) -> None:
            if bar is not None:
                seconds = time.monotonic() - begun.setdefault(found.phase, time.monotonic())
                by_files = found.phase == "reading"
                done = (found.files, found.total_files) if by_files else (found.sentences, found.total_sentences)
                bar.show(found.phase, *done, _figures(found, seconds))

        yield show


def _figures(found: Progress, seconds: float) -> str:
    if found.phase in ("looking", "writing"):
        return ""
    files = f"{found.files:,}/{found.total_files:,} files  " if found.phase == "reading" else ""
    return f"{files}{found.sentences:,} sentences  {found.sentences / max(seconds, 1e-3):,.0f}/s"


@contextmanager
def _bar(screen: TextIO | None, *, quiet: bool) -> Iterator[Bar | None]:
    """Open a bar if there is a terminal to draw it on; else yield None."""
    screen = screen or sys.stderr
    if quiet or not screen.isatty():
        yield None
        return
    bar = Bar(screen)
    _OPEN.append(bar)
    try:
        yield bar
    finally:
        _OPEN.remove(bar)
        bar.close()
