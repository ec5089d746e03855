"""A progress bar for programs: a line on a terminal, an HTML bar in a notebook, nothing otherwise.

The command line draws its own (semsearch.cli.progress); this one needs no package. It goes to stderr, so that
what a program prints stays as it is.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import escape
from typing import Any, TextIO

Show = Callable[[str, int, int], None]  # the stage, the amount done, the total (0: unknown)

_EVERY = 0.1  # seconds between two drawings of the same stage
_WIDTH = 24  # characters


@contextmanager
def progress_bar(
    wanted: bool = True, *, screen: TextIO | None = None, clock: Callable[[], float] = time.monotonic
) -> Iterator[Show]:
    """Show progress while the block runs: yields a function to call, which draws nothing unless it is wanted.

    Outside a notebook it is shown on stderr, unless another screen is given. `clock` gives seconds.
    """
    display = _display(screen or sys.stderr) if wanted else None
    if display is None:
        yield lambda _stage, _done, _total: None
        return
    try:
        yield _Sparing(display.draw, clock)
    finally:
        display.close()


class _Sparing:
    """Draws the first and last of each stage, and between them only ten times a second."""

    def __init__(self, draw: Show, clock: Callable[[], float]) -> None:
        self._draw, self._clock = draw, clock
        self._stage, self._drawn = "", 0.0

    def __call__(self, stage: str, done: int, total: int) -> None:
        now = self._clock()
        if stage == self._stage and now - self._drawn < _EVERY and (done < total or not total):
            return
        self._stage, self._drawn = stage, now
        self._draw(stage, done, total)


class _Terminal:
    """One line that is redrawn, and erased at the end."""

    def __init__(self, screen: TextIO) -> None:
        self._screen = screen

    def draw(self, stage: str, done: int, total: int) -> None:
        bar = ""
        if total:
            full = _WIDTH * min(done, total) // total
            bar = f" [{'#' * full}{'.' * (_WIDTH - full)}]"
        self._screen.write(f"\r\x1b[K{stage}{bar} {_figures(done, total)}")
        self._screen.flush()

    def close(self) -> None:
        self._screen.write("\r\x1b[K")
        self._screen.flush()


class _Notebook:
    """An HTML bar below the cell, drawn in place; its last state stays there."""

    def __init__(self, display: Callable[..., Any]) -> None:
        self._display = display
        self._handle: Any = None

    def draw(self, stage: str, done: int, total: int) -> None:
        value = f' value="{min(done, total)}" max="{total}"' if total else ""
        html = f"<progress{value}></progress> {escape(stage)} {_figures(done, total)}"
        content = {"text/html": html, "text/plain": f"{stage} {_figures(done, total)}"}
        if self._handle is None:
            self._handle = self._display(content, raw=True, display_id=True)
        else:
            self._handle.update(content, raw=True)

    def close(self) -> None:
        """Leave the last state."""


def _figures(done: int, total: int) -> str:
    return f"{done:,}/{total:,}" if total else f"{done:,}" if done else ""


def _display(screen: TextIO) -> _Terminal | _Notebook | None:
    """The place to draw: the notebook that runs this program, if one does; else the screen, if it is a terminal."""
    ipython = sys.modules.get("IPython")  # loaded by the notebook itself
    shell = ipython.get_ipython() if ipython else None
    if shell is not None and getattr(shell, "kernel", None) is not None:
        from IPython.display import display  # optional: only where a notebook runs

        return _Notebook(display)
    return _Terminal(screen) if screen.isatty() else None
