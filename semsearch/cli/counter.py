"""One line on stderr that is written over: how far long work has come. Only on a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Stages = Callable[[str, int, int], None]  # what is being done, how much of it is done, how much there is (0: unknown)
_EVERY = 0.1  # seconds


@contextmanager
def counter() -> Iterator[Callable[[str], None] | None]:
    """What writes the line; None where nobody would see it. The line is gone at the end."""
    if not sys.stderr.isatty():
        yield None
        return
    last = 0.0

    def show(text: str) -> None:
        nonlocal last
        if (now := time.monotonic()) - last > _EVERY:
            last = now
            print(f"\r{text}\x1b[K", end="", file=sys.stderr, flush=True)

    try:
        yield show
    finally:
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)


@contextmanager
def stages() -> Iterator[Stages | None]:
    """The same for work in several stages."""
    with counter() as show:
        if show is None:
            yield None
            return
        write = show
        yield lambda stage, done, total: write(f"{stage}: {done / total:.0%}" if total else f"{stage}: {done}")
