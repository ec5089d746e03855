"""The clocks of the machine, for the code that says when a thing happened or how long it took.

Whoever waits, or reads within a time, takes a clock as an argument instead.
"""

from __future__ import annotations

import time


def now() -> float:
    """The time of day, in seconds since 1970. It may jump, where somebody sets it."""
    return time.time()


def seconds() -> float:
    """Seconds since some moment, by a clock that never jumps: for differences."""
    return time.perf_counter()
