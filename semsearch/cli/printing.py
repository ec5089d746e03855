"""Printing for all commands: messages and progress on stderr, JSON, columns; and what commands that write share."""

from __future__ import annotations

import json
import logging
import os
import re
import shutil
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.cells import cell_len, set_cell_size

from semsearch.errors import INVISIBLE
from semsearch.system.locations import working_folder
from semsearch.system.progress_bar import progress_bar

if TYPE_CHECKING:
    from semsearch.results.reports import SyncReport

NONE_FOUND = PROBLEMS = 1  # exit statuses: of commands that ask; of `verify`, `doctor` and `evaluate data`

# -- Texts that are safe to print --------------------------------------------------------------------------------------

_BLANKS = re.compile(rf"[\s\x00-\x1f\x7f-\x9f{INVISIBLE}]+")
_CONTROL = re.compile(rf"[\x00-\x1f\x7f-\x9f\u2028\u2029{INVISIBLE}]")
_UNSAFE_IN_JSON = re.compile(rf"[\x7f-\x9f\ud800-\udfff{INVISIBLE}]")


def one_line(text: str) -> str:
    """Put a text on one line: line ends, tabs and control characters become single spaces."""
    return _BLANKS.sub(" ", text).strip()


def plain_path(path: str) -> str:
    """Make a path safe to print: control characters become question marks, as `ls` shows them."""
    return _CONTROL.sub("?", path)


@lru_cache(maxsize=256)
def relative_path(path: str) -> str:
    """A path relative to the current folder, where that is shorter."""
    if not os.path.isabs(path):  # noqa: PTH117  # as text, for as little time as can be
        return path
    try:
        relative = os.path.relpath(path, working_folder()).replace(os.sep, "/")
    except ValueError:  # on another drive
        return path
    return relative if len(relative) < len(path) else path


def clean(text: str) -> str:
    """Words of the command line as valid Unicode: undecodable bytes become question marks."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace").strip("\ufeff \t\r\n")


def to_json(value: Any, *, indent: int | None = 2) -> str:
    """Write a value as readable JSON. Control and invisible characters and lone surrogates are escaped."""
    text = json.dumps(value, ensure_ascii=False, indent=indent, default=str)
    return _UNSAFE_IN_JSON.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


# -- Messages ----------------------------------------------------------------------------------------------------------


def say(*lines: str) -> None:
    """Print lines on stdout that name files or indexes, without control characters."""
    print(*map(plain_path, lines), sep="\n", flush=True)


def print_stderr(message: str) -> None:
    """Print a message on stderr: one line after the program's name, without control characters."""
    print(f"semsearch: {plain_path(' '.join(message.splitlines()))}", file=sys.stderr)


def warn(message: str) -> None:
    """Print a warning on stderr."""
    print_stderr(f"warning: {message}")


def may_ask() -> bool:
    """Whether somebody at a terminal can answer a question."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def ask_on_terminal(question: str, *, default: bool = False) -> bool:
    """Ask the user a question that can be answered by yes or no; without a terminal the answer is no."""
    return may_ask() and typer.confirm(question, default=default, err=True)


class _WarningHandler(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        warn(record.getMessage())


def print_warnings(of: str = "semsearch") -> None:
    """Print the library's logged warnings, or those of one of its modules, on stderr."""
    logger = logging.getLogger(of)
    if not any(isinstance(handler, _WarningHandler) for handler in logger.handlers):
        logger.addHandler(_WarningHandler(logging.WARNING))
        logger.propagate = False


def hide_warnings() -> None:
    """Discard the library's logged warnings, since the command prints them from its report; but not those of trust."""
    logging.getLogger("semsearch").addHandler(logging.NullHandler())
    print_warnings("semsearch.trust")


# -- Columns and numbers -----------------------------------------------------------------------------------------------


def aligned(rows: Sequence[Sequence[str]], *, left: Sequence[int]) -> list[str]:
    """Align rows in columns; columns in `left` to the left, others, which have numbers, to the right."""
    rows = [[plain_path(cell) for cell in row] for row in rows]
    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = [
            cell + " " * (width - cell_len(cell)) if column in left else " " * (width - cell_len(cell)) + cell
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return lines


def print_aligned(rows: Sequence[Sequence[str]], *, left: Sequence[int]) -> None:
    """Print rows in columns; on a terminal no line is longer than that is wide."""
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else 0
    for line in aligned(rows, left=left):
        print(line if not width or cell_len(line) <= width else set_cell_size(line, width - 1) + "…")


def count(number: int, noun: str) -> str:
    """A number with its noun: `1 file`, `2 files`, `2 queries`."""
    plural = f"{noun[:-1]}ies" if noun.endswith("ry") else f"{noun}s"
    return f"{number:,} {noun if number == 1 else plural}"


def size(number: float) -> str:
    """A number of bytes as people write it, in powers of a thousand."""
    for unit in ("bytes", "kB", "MB"):
        if number < 1000:
            return f"{number:.0f} {unit}" if unit == "bytes" or number >= 100 else f"{number:.1f} {unit}"
        number /= 1000
    return f"{number:.1f} GB"


# -- Progress ----------------------------------------------------------------------------------------------------------

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
    """Summarise a write in one line: the counts, and the rate, of which few sentences would tell nothing."""
    numbers = {name: getattr(report, name) for name in ("added", "changed", "moved", "removed", "unchanged")}
    numbers["skipped"] = len(report.skipped)
    parts = [f"{number:,} {name}" for name, number in numbers.items() if number] or [
        "nothing changed" if report.warnings else "no documents"
    ]
    rate = f" ({report.sentences / report.seconds:,.0f}/s)" if report.sentences >= 1000 and report.seconds else ""
    sentences = f"; {count(report.sentences, 'sentence')}{rate}" if report.sentences else ""
    refitted = "; refitted" if report.refitted and report.unchanged else ""
    return f"{folder}: {', '.join(parts)}{sentences}{refitted} in {report.seconds:.2f} s"


_SKIPPED = 10  # files that are named


def report_sync(report: SyncReport, *, warnings: bool = True) -> None:
    """Print the first skipped files, and every warning, a line each."""
    for item in report.skipped[:_SKIPPED]:
        reason = item.reason.removeprefix(item.path).lstrip(" :")
        print_stderr(f"skipped {relative_path(item.path)}: {reason}")
    if (more := len(report.skipped) - _SKIPPED) > 0:
        print_stderr(f"skipped {count(more, 'more file')}: semsearch status --problems lists them")
    for warning in report.warnings if warnings else ():
        warn(warning)


@contextmanager
def signals_as_interrupts() -> Iterator[None]:
    """Treat TERM (shutdown), HUP (a closed terminal) and, on Windows, BREAK as Ctrl-C during a write."""
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
