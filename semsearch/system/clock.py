"""The clocks of the machine, for code that records times and durations.

Code that waits, or has a deadline, takes a clock as an argument instead.
"""

from __future__ import annotations

import time


def now() -> float:
    """The time of day, in seconds since 1970. It jumps when it is set."""
    return time.time()


def seconds() -> float:
    """Seconds of a clock that never jumps, for differences."""
    return time.perf_counter()


_FARTHEST = 1 << 62  # nanoseconds: the years 1823 to 2116


def storable_time(nanoseconds: int) -> int:
    """The time of a file as it is kept: the nearest that SQLite's integers hold. File systems have any until 2486."""
    if -_FARTHEST <= nanoseconds <= _FARTHEST:
        return nanoseconds
    return _FARTHEST if nanoseconds > 0 else -_FARTHEST
