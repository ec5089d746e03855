"""Kill workers of a real cluster while an index is made on it: the index must be that of one process, bit for bit.

    python scale/tests/torture/cluster.py FOLDER --times 5

Each time a fresh cluster of processes makes an index of FOLDER, and a worker, drawn by chance, is killed (SIGKILL) at a
moment drawn by chance; Dask starts another in its place. Then all workers go for good, which must be said within the
deadline and leave the index as it was; then the scheduler.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import tempfile
import threading
import time
from pathlib import Path

from distributed import Client, LocalCluster

from semsearch import Index
from semsearch.results.reports import Progress
from semsearch_scale.cluster import DEADLINE, ClusterError


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    draw = random.Random(given.seed)
    with tempfile.TemporaryDirectory() as scratch:
        began = time.perf_counter()
        expected = segments_of(Path(scratch) / "one", given.folder, None, None)
        seconds = time.perf_counter() - began
        for number in range(given.times):
            kill_one(Path(scratch) / str(number), given.folder, expected, seconds * draw.random(), given.workers, draw)
        for what in ("workers", "scheduler"):
            lose_all(Path(scratch) / what, given.folder, what, given.workers)


def segments_of(path: Path, folder: Path, cluster: str | None, progress: object) -> list[bytes]:
    with Index.create(path) as index:
        index.sync(folder, cluster=cluster, progress=progress)  # type: ignore[arg-type]
        return sorted(file.read_bytes() for file in (path / "segments").iterdir())


def kill_one(path: Path, folder: Path, expected: list[bytes], after: float, workers: int, draw: random.Random) -> None:
    """Kill one worker after some seconds, and compare the index with the expected one."""
    with LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=":0") as cluster:
        victims = pids(cluster)
        victim = draw.choice(victims)
        timer = threading.Timer(after, os.kill, (victim, signal.SIGKILL))
        phases: list[str] = []
        timer.start()
        try:
            found = segments_of(path, folder, cluster.scheduler_address, lambda done: phases.append(done.phase))
        finally:
            timer.cancel()
        hit = "before it ended" if victim not in pids(cluster) else "not at all, since it had ended"
    if found != expected:
        sys.exit(f"a worker killed after {after:.1f} s changed the index: see {path}")
    print(f"killed after {after:.1f} s ({hit}): the same index, {sum(map(len, found)):,} bytes", flush=True)


def lose_all(path: Path, folder: Path, what: str, workers: int) -> None:
    """Lose all workers, or the scheduler, while files are read: an error in time, and the index as it was."""
    with (
        LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=":0") as cluster,
        Index.create(path) as index,
    ):
        lost: list[float] = []

        def lose(progress: Progress) -> None:
            if progress.phase == "reading" and progress.files and not lost:
                lost.append(time.perf_counter())
                cluster.scale(0) if what == "workers" else cluster.close()

        try:
            index.sync(folder, cluster=cluster.scheduler_address, progress=lose)
        except ClusterError as error:
            seconds = time.perf_counter() - lost[0]
            print(f"{what} lost: said after {seconds:.1f} s: {error}", flush=True)
            if seconds > 2 * DEADLINE:
                sys.exit(f"that is more than the deadline of {DEADLINE:g} s allows")
        else:
            sys.exit(f"the {what} went, and nobody noticed")
        if len(index) or index.verify():
            sys.exit(f"the index is not as it was before the {what} went: see {path}")


def pids(cluster: LocalCluster) -> list[int]:
    with Client(cluster, set_as_default=False) as client:
        return list(client.run(os.getpid).values())


if __name__ == "__main__":
    main()
