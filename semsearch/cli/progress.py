"""Progress of long work on a terminal's stderr, erased at the end; what commands that write to an index share."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from semsearch.cli.printing import complain, count, from_here, one_line, warn
from semsearch.system.locations import as_spelled, divided, uri_scheme
from semsearch.system.progress_bar import progress_bar

if TYPE_CHECKING:
    from semsearch.results.reports import SyncReport

Stages = Callable[[str, int, int], None]  # name of the stage, amount done, total (0: unknown)


@contextmanager
def progress() -> Iterator[Stages | None]:
    """Show progress in several stages: yields a function to call, or None if there is no terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    with progress_bar() as show:
        yield lambda stage, done, total: show(one_line(stage), done, total)


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


def report_sync(report: SyncReport, *, warnings: bool = True) -> None:
    """Print every skipped file and warning, a line each."""
    for item in report.skipped:
        reason = item.reason.removeprefix(item.path).lstrip(" :")
        complain(f"skipped {from_here(item.path)}: {reason}")
    for warning in report.warnings if warnings else ():
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
