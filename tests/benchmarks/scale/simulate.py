"""A simulation of machines that answer questions: when each question comes, waits, is answered by every part.

A question goes to every part of the documents; it is answered when the slowest part has. Each part is served by some
processes, each of which answers one question at a time, and the others wait in their order. Questions come by chance
(a Poisson process); what one takes is drawn from measured questions.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Float64 = npt.NDArray[np.float64]
NETWORK = 0.0005  # seconds there and back in one data centre: a median, from which a tenth are twice as far
SPREAD = 0.1  # of parts' times about the question's own


@dataclass(frozen=True)
class Latency:
    """How long questions take, in seconds, and the share of the time that the machines work."""

    p50: float
    p95: float
    p99: float
    busy: float


def simulate(
    service: Float64,
    *,
    rate: float,
    parts: int = 1,
    processes: int = 8,
    engine: Float64 | None = None,
    network: float = NETWORK,
    questions: int = 20_000,
    seed: int = 0,
) -> Latency:
    """Simulate so many questions a second, of parts with so many processes each. `service`: seconds of measured
    questions on one part (q,).

    `engine`: seconds that an engine takes for each of these questions or others (e,), while which the process waits.
    """
    rng = np.random.default_rng(seed)
    arrivals = np.cumsum(rng.exponential(1 / rate, questions))
    chosen = rng.integers(len(service), size=questions)
    waited = np.zeros(questions) if engine is None else engine[rng.integers(len(engine), size=questions)]
    free = [[0.0] * processes for _ in range(parts)]
    took, worked = np.empty(questions), 0.0
    for number, arrival in enumerate(arrivals.tolist()):
        far = network * rng.lognormal(0.0, 0.54, parts) if network else np.zeros(parts)
        own = (service[chosen[number]] + waited[number]) * rng.lognormal(0.0, SPREAD, parts)
        slowest = 0.0
        for part in range(parts):
            machine = free[part]
            start = max(arrival + far[part] / 2, heapq.heappop(machine))
            end = start + own[part]
            heapq.heappush(machine, end)
            worked += own[part]
            slowest = max(slowest, end + far[part] / 2)
        took[number] = slowest - arrival
    settled = took[questions // 10 :]
    p50, p95, p99 = np.quantile(settled, [0.5, 0.95, 0.99]).tolist()
    return Latency(p50, p95, p99, worked / (arrivals[-1] * parts * processes))
