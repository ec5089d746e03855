"""Whether the simulation tells the truth: real processes asked at random moments, beside the simulation of them.

    python tests/benchmarks/scale/validate.py INDEX --questions QUESTIONS.txt [--processes 2] [--seconds 30]

Each process opens the index; questions come as in simulate.py, at three rates. The service times that the simulation
draws from are those of the same processes, measured before, all of them working at once.
"""

from __future__ import annotations

import argparse
import multiprocessing
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from simulate import simulate

from semsearch import Index

SHARES = (0.3, 0.6, 0.8)


def work(place: Path, asked: Any, answered: Any) -> None:
    """Answer questions until there are no more: the times of asking and of the end."""
    with Index.open(place) as index:
        index.search("warm up")
        answered.put(None)
        for question, came in iter(asked.get, None):
            began = time.perf_counter()
            index.search(question)
            ended = time.perf_counter()
            answered.put((ended - came, ended - began))


def run(questions: Sequence[str], asked: Any, answered: Any, moments: Sequence[float]) -> np.ndarray[Any, Any]:
    """Ask at moments, in seconds from now; how long each took from its coming, and its service. (n, 2)"""
    began = time.perf_counter()
    for number, moment in enumerate(moments):
        time.sleep(max(0.0, began + moment - time.perf_counter()))
        asked.put((questions[number % len(questions)], began + moment))
    return np.array([answered.get() for _ in moments])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("index", type=Path)
    parser.add_argument("--questions", type=Path, required=True)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=30.0)
    given = parser.parse_args()
    questions = [line for line in given.questions.read_text().splitlines() if line.strip()]
    context = multiprocessing.get_context("spawn")
    asked, answered = context.Queue(), context.Queue()
    workers = [context.Process(target=work, args=(given.index, asked, answered)) for _ in range(given.processes)]
    for worker in workers:
        worker.start()
    for _ in workers:
        answered.get()
    run(questions, asked, answered, [0.0] * 200)  # warms
    service = run(questions, asked, answered, [0.0] * 600)[:, 1]
    print(f"service: median {1000 * np.median(service):.1f} ms, mean {1000 * service.mean():.1f} ms\n")
    print("| asked a second | p50, ms | simulated | p95, ms | simulated | p99, ms | simulated |\n" + "|---" * 7 + "|")
    for share in SHARES:
        rate = share * given.processes / float(service.mean())
        gaps = np.random.default_rng(1).exponential(1 / rate, max(100, int(rate * given.seconds)))
        real = run(questions, asked, answered, np.cumsum(gaps).tolist())[:, 0]
        told = simulate(service, rate=rate, processes=given.processes, network=0.0)
        pairs = zip(np.quantile(real, [0.5, 0.95, 0.99]), (told.p50, told.p95, told.p99), strict=True)
        print(
            f"| {rate:.0f} | " + " | ".join(f"{1000 * each:.1f}" for pair in pairs for each in pair) + " |", flush=True
        )
    for _ in workers:
        asked.put(None)
    for worker in workers:
        worker.join()


if __name__ == "__main__":
    main()
