"""One worker beside two: how long an index of a folder takes on each, and the ratio.

    python tests/benchmarks/cluster.py FOLDER --repeat 3

Workers are processes of this machine with one thread each, as `dask worker --nthreads 1` starts them. Each run makes a
new index; runs with one worker and with two take turns, and the median of each counts. The indexes must be the same bit
for bit. Beside the total it prints the seconds of each phase, since only a part of an index is made on the workers:
reading and embedding are, topics, writing and SQLite are not. One process without a cluster is the floor.

With two workers, three processes want a core each: on a machine of two cores the ratio is that of two cores, not of two
workers.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from semsearch.cli.messages import use_one_thread

use_one_thread()  # as the command does, before NumPy is imported; Dask does the same for workers

from distributed import LocalCluster

from semsearch import Index
from semsearch.results.reports import Progress

PHASES = ("looking", "reading", "fitting", "embedding", "writing")


@dataclass
class Run:
    """The seconds of one run: in all, and of each phase; what it made."""

    seconds: float
    phases: dict[str, float]
    sentences: int
    segments: list[bytes] = field(repr=False)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    given = parser.parse_args()
    with ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        clusters: dict[str, str | None] = {"no cluster": None}
        for workers in given.workers:
            started = LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=":0")
            clusters[f"{workers} worker{'s' * (workers > 1)}"] = stack.enter_context(started).scheduler_address
        runs: dict[str, list[Run]] = {name: [] for name in clusters}
        for turn in range(given.repeat + 1):
            for name, address in clusters.items():
                done = run(scratch / f"{name} {turn}", given.folder, address)
                if turn:  # the first one opens files and imports packages
                    runs[name].append(done)
    report(runs)


def run(path: Path, folder: Path, cluster: str | None) -> Run:
    """Make an index, and note when each phase began."""
    began: dict[str, float] = {}

    def note(progress: Progress) -> None:
        now = time.perf_counter()
        began.setdefault(progress.phase, now)
        if progress.phase == "reading" and progress.files == progress.total_files:
            began.setdefault("fitting", now)

    with Index.create(path) as index:
        start = time.perf_counter()
        done = index.sync(folder, cluster=cluster, progress=note)
        end = time.perf_counter()
        segments = sorted(file.read_bytes() for file in (path / "segments").iterdir())
    times = [began.get(phase, end) for phase in PHASES] + [end]
    phases = {phase: times[number + 1] - times[number] for number, phase in enumerate(PHASES)}
    return Run(end - start, phases, done.sentences, segments)


def report(runs: dict[str, list[Run]]) -> None:
    """Print a row for each, with medians, and the ratio of the first cluster to the last. Exits if results differ."""
    first = next(iter(runs.values()))[0]
    if any(done.segments != first.segments for several in runs.values() for done in several):
        sys.exit("the indexes are not the same bit for bit")
    print(f"{first.sentences:,} sentences; the same index bit for bit in every run; seconds, medians\n")
    print(f"| {'':12} | {'all':>7} | " + " | ".join(f"{phase:>9}" for phase in PHASES) + " |")
    print("|---|---|" + "---|" * len(PHASES))
    for name, several in runs.items():
        each = [median([done.phases[phase] for done in several]) for phase in PHASES]
        total = median([done.seconds for done in several])
        print(f"| {name:12} | {total:7.2f} | " + " | ".join(f"{seconds:9.2f}" for seconds in each) + " |")
    names = list(runs)
    fewest, most = (median([done.seconds for done in runs[name]]) for name in (names[1], names[-1]))
    print(f"\n{names[-1]} are {fewest / most:.2f} times as fast as {names[1]} (target: 1.6)")


def median(values: Sequence[float]) -> float:
    return statistics.median(values)


if __name__ == "__main__":
    main()
