"""Show the progress of long work on a terminal's stderr, erased at the end; and report a write to an index."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from semsearch.cli.answer_formats import one_line
from semsearch.cli.find_index import from_here
from semsearch.cli.messages import complain, warn
from semsearch.cli.tables import count
from semsearch.results.omissions import endings_in_words
from semsearch.system.locations import as_spelled, divided, uri_scheme

if TYPE_CHECKING:
    from semsearch.results.reports import Progress, SyncReport

# -- Progress ----------------------------------------------------------------------------------------------------------

Stages = Callable[[str, int, int], None]  # name of the stage, amount done, total (0: unknown)
_OPEN: list[Bar] = []
_EVERY = 0.05  # seconds between two updates of a stage


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
    """Remove the progress from the screen while the block prints lines that stay."""
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
                by_files = found.phase in ("reading", "recognizing")
                done = (found.files, found.total_files) if by_files else (found.sentences, found.total_sentences)
                bar.show(found.phase, *done, _figures(found, seconds))

        yield show


def _figures(found: Progress, seconds: float) -> str:
    if found.phase in ("looking", "writing"):
        return ""
    if found.phase == "recognizing":
        return f"{found.files:,}/{found.total_files:,} files with scans  {Path(found.path).name}"
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


# -- The report of a write ---------------------------------------------------------------------------------------------


def summary(folder: Path, done: SyncReport) -> str:
    """Summarise a write in one line: the counts, and the rate."""
    numbers = {name: getattr(done, name) for name in ("added", "changed", "moved", "removed", "unchanged")}
    numbers["skipped"] = len(done.skipped)
    parts = [f"{number:,} {name}" for name, number in numbers.items() if number] or [
        "nothing changed" if done.warnings else "no documents"
    ]
    rate = f" ({done.sentences / done.seconds:,.0f}/s)" if done.sentences and done.seconds else ""
    sentences = f"; {count(done.sentences, 'sentence')}{rate}" if done.sentences else ""
    refitted = "; refitted" if done.refitted and done.unchanged else ""
    return f"{folder}: {', '.join(parts)}{sentences}{refitted} in {done.seconds:.2f} s"


def report_sync(done: SyncReport) -> None:
    """Every skipped file and every warning, a line each."""
    for item in done.skipped:
        reason = item.reason.removeprefix(item.path).lstrip(" :")
        complain(f"skipped {from_here(item.path)}: {reason}")
    for moved in done.moved_roots:
        kept = "1 document was kept" if moved.documents == 1 else f"{moved.documents:,} documents were kept"
        complain(f"{from_here(moved.old)} is now {from_here(moved.new)}: {kept}")
    for warning in done.warnings:
        warn(warning)


def covers(root: str, path: str) -> bool:
    """Return whether a path is a root or lies in it. Each may be the URI of a folder in a store."""
    if uri_scheme(root) or uri_scheme(path):
        whole, part = (divided(uri)[0].rstrip("/") for uri in (root, path))  # without their options
        return bool(uri_scheme(root)) and f"{part}/".startswith(f"{whole}/")
    outer, inner = (as_spelled(Path(os.path.realpath(each))) for each in (root, path))
    return outer == inner or outer in inner.parents


def not_read(counts: Mapping[str, int]) -> str:
    """A line with the number of unread files, by suffix; empty if there are none."""
    return f"not read: {endings_in_words(counts)} (semsearch status --problems lists them)" if counts else ""


def nothing_to_index(paths: Sequence[str], done: SyncReport, *, chosen: bool) -> str:
    """Explain why a new index would be empty. `chosen`: whether --include or --exclude was given."""
    where = ", ".join(paths)
    if done.warnings:
        return f"nothing could be indexed: {'; '.join(done.warnings)}"
    if done.skipped:
        files = "the only file was" if len(done.skipped) == 1 else f"all {len(done.skipped):,} files were"
        return f"nothing could be indexed in {where}: {files} skipped"
    if done.not_read:
        return f"nothing to index in {where}: no reader for its files ({endings_in_words(done.not_read)})"
    if chosen:
        return f"nothing to index in {where}: no file passes --include and --exclude"
    return f"nothing to index in {where}: all files are hidden or ignored, or there are none"
