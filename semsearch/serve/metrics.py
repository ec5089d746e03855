"""Counts and times of requests, in the text format of Prometheus."""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator

METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)  # seconds


class Metrics:
    """Requests by operation and status, and how long they took. Operations are the declared ones: few."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._requests: Counter[tuple[str, int]] = Counter()
        self._buckets: dict[str, list[int]] = {}
        self._seconds: dict[str, float] = {}

    def count(self, operation: str, status: int, seconds: float) -> None:
        """Count a request that was answered."""
        with self._lock:
            self._requests[operation, status] += 1
            buckets = self._buckets.setdefault(operation, [0] * (len(_BOUNDS) + 1))
            buckets[bisect_left(_BOUNDS, seconds)] += 1
            self._seconds[operation] = self._seconds.get(operation, 0.0) + seconds

    def text(self, *, in_flight: int) -> str:
        """All of it, for Prometheus to read."""
        with self._lock:
            return "\n".join([*self._counts(), *self._times(), *_gauge(in_flight)]) + "\n"

    def _counts(self) -> Iterator[str]:
        yield "# HELP semsearch_requests_total Requests that were answered."
        yield "# TYPE semsearch_requests_total counter"
        for (operation, status), count in sorted(self._requests.items()):
            yield f'semsearch_requests_total{{operation="{operation}",status="{status}"}} {count}'

    def _times(self) -> Iterator[str]:
        name = "semsearch_request_seconds"
        yield f"# HELP {name} How long it took to answer."
        yield f"# TYPE {name} histogram"
        for operation, buckets in sorted(self._buckets.items()):
            below = 0
            for bound, count in zip((*_BOUNDS, "+Inf"), buckets, strict=True):
                below += count
                yield f'{name}_bucket{{operation="{operation}",le="{bound}"}} {below}'
            yield f'{name}_sum{{operation="{operation}"}} {self._seconds[operation]:.6f}'
            yield f'{name}_count{{operation="{operation}"}} {below}'


def _gauge(in_flight: int) -> Iterator[str]:
    yield "# HELP semsearch_requests_in_flight Requests that are being answered, or wait."
    yield "# TYPE semsearch_requests_in_flight gauge"
    yield f"semsearch_requests_in_flight {in_flight}"
