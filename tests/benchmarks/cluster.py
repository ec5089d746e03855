"""What an index costs on a cluster: processor time and bytes of each process, and what more workers would give.

    python tests/benchmarks/cluster.py FOLDER --repeat 3
    sudo python tests/benchmarks/cluster.py FOLDER --repeat 1 --workers 1 2 4 16 --slowed .05

The scheduler and the workers are processes of this machine (`dask worker --no-nanny --nthreads 1`). This process, which
is the command, shares the first core with the scheduler; all workers share the last one. Runs without a cluster and
with each number of workers take turns; the medians count. The indexes must be the same bit for bit.

A round is one passage of work over the workers: reading, contexts of words, sums, embedding. Between rounds the command
works alone, and a second thread of it learns topics. Processor time hardly depends on what else the machine does, so
the cost model is made of it, from the two smallest clusters; larger ones check it:

    worker     f + v ⌈n / N⌉ / n    n items; f for itself, such as tables of all words, and v for all items together
    round      max(command, scheduler, worker, bytes / bandwidth)
    all        Σ rounds + what the command does alone; fitting lasts at least as long as topics are learned

It supposes a core for each process and for the topics, and items of one size. It is checked in two ways. Where cores
are shared, as above, those of the processes of a core add up: so the clock of the pinned runs is predicted. `--slowed`
lets each process have only a small share of a core, so that many fit on this machine as if each had a core of its own;
the clock is multiplied by the share. It takes Linux's control groups, of version 1, and root.
"""

from __future__ import annotations

import argparse
import contextvars
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from semsearch.cli.messages import use_one_thread

use_one_thread()  # as the command does, before NumPy is imported; the processes started here inherit it

import psutil  # type: ignore[import-untyped]
from distributed import Client
from distributed.comm import tcp

from semsearch import Index
from semsearch.cluster import DaskCluster
from semsearch.indexing.generation import Generation

ROUNDS = ("reading", "contexts", "sums", "embedding")  # in the order in which they come
ALONE = "alone"
LIMIT = 60.0  # seconds for a process to start
DIRECTIONS = ("to scheduler", "from scheduler", "to workers", "from workers")
NETWORKS = (1, 10)  # Gbit/s
SIZES = (1, 2, 4, 8, 16)  # of the clusters that are computed


# -- Processes ---------------------------------------------------------------------------------------------------------


class Cores:
    """Where processes run: command and scheduler on the first core, workers on the last; or each with a small share."""

    _GROUPS = Path("/sys/fs/cgroup/cpu")
    _PERIOD = 20_000  # µs

    def __init__(self, share: float | None) -> None:
        self.share = share
        self.cores = sorted(os.sched_getaffinity(0))
        self._made: list[Path] = []

    def place(self, pid: int, *, worker: bool = False) -> None:
        """Place a process with all its threads."""
        if self.share is None:
            for thread in psutil.Process(pid).threads():
                os.sched_setaffinity(thread.id, {self.cores[-1 if worker else 0]})
        else:
            (self._group(pid) / "cgroup.procs").write_text(str(pid))

    def place_thread(self, thread: int) -> None:
        """Give a thread of this process a share of its own."""
        if self.share is not None and self._made:
            (self._group(thread) / "tasks").write_text(str(thread))

    def _group(self, number: int) -> Path:
        group = self._GROUPS / f"semsearch-{os.getpid()}-{number}"
        group.mkdir()
        self._made.append(group)
        (group / "cpu.cfs_period_us").write_text(str(self._PERIOD))
        (group / "cpu.cfs_quota_us").write_text(str(round(self._PERIOD * (self.share or 1))))
        return group

    def free(self) -> None:
        """Lift the limits: the threads that are left go back to the group above."""
        for group in self._made:
            for task in (group / "tasks").read_text().split():
                (self._GROUPS / "tasks").write_text(task)
            group.rmdir()
        self._made.clear()


@dataclass
class Started:
    """A scheduler and its workers, each a process of its own, with what they print in a file."""

    address: str
    scheduler: psutil.Process
    workers: list[psutil.Process]


@contextmanager
def started(workers: int, folder: Path, share: float | None) -> Iterator[Started]:
    """Start a scheduler and workers. Exits with their output if one does not start.

    What Dask does every few milliseconds is as much rarer as the processes are slower.
    """
    every = {"ADMIN__TICK__INTERVAL": 20, "WORKER__PROFILE__INTERVAL": 10, "WORKER__PROFILE__CYCLE": 1000}
    rarer = {f"DASK_DISTRIBUTED__{name}": f"{round(ms / (share or 1))}ms" for name, ms in every.items()}
    folder.mkdir()
    running: list[subprocess.Popen[bytes]] = []
    with ExitStack() as stack:

        def start(name: str, *words: str) -> psutil.Process:
            log = stack.enter_context((folder / f"{name}.log").open("wb"))
            command = [sys.executable, "-m", f"distributed.cli.{words[0]}", *words[1:]]
            running.append(
                subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, cwd=folder, env={**os.environ, **rarer})
            )
            return psutil.Process(running[-1].pid)

        def wait(what: str, ready: Callable[[], object]) -> None:
            end = time.monotonic() + LIMIT
            while not ready():
                if time.monotonic() > end or any(process.poll() is not None for process in running):
                    for log in folder.glob("*.log"):
                        print(f"-- {log.name}\n{log.read_text(errors='replace')}", file=sys.stderr)
                    sys.exit(f"{what} did not start within {LIMIT:g} s")
                time.sleep(0.05)

        try:
            file = folder / "scheduler.json"
            words = "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(file)
            scheduler = start("scheduler", "dask_scheduler", *words)
            wait("the scheduler", lambda: file.exists() and file.stat().st_size)
            with Client(scheduler_file=str(file), set_as_default=False, timeout=LIMIT) as client:
                address = str(client.scheduler.address)
                more = [address, "--no-nanny", "--no-dashboard", "--nthreads", "1", "--death-timeout", f"{LIMIT:g}"]
                more += ["--local-directory", str(folder)]
                processes = [start(f"worker{number}", "dask_worker", *more) for number in range(workers)]
                wait("a worker", lambda: len(client.nthreads(callback_timeout=LIMIT)) == workers)
            yield Started(address, scheduler, processes)
        finally:
            for process in reversed(running):
                process.terminate()
            for process in running:
                try:
                    process.wait(10)
                except subprocess.TimeoutExpired:
                    process.kill()


# -- What is sent ------------------------------------------------------------------------------------------------------

_peer = contextvars.ContextVar("_peer", default="")
_passed: dict[str, int] = dict.fromkeys(DIRECTIONS, 0)
_scheduler = ""  # its address


def count_bytes() -> None:
    """Count what this process sends to and gets from each kind of process, as it passes through Dask's connections."""
    read, write, decode = tcp.TCP.read, tcp.TCP.write, tcp.from_frames

    def kind(address: str) -> str:
        return "scheduler" if address == _scheduler else "workers"

    async def counted_read(self: Any, *args: Any, **named: Any) -> Any:
        _peer.set(kind(self.peer_address))
        return await read(self, *args, **named)

    async def counted_write(self: Any, *args: Any, **named: Any) -> int:
        count: int = await write(self, *args, **named)
        _passed[f"to {kind(self.peer_address)}"] += count
        return count

    def counted(frames: Any, *args: Any, **named: Any) -> Any:
        _passed[f"from {_peer.get()}"] += sum(memoryview(frame).nbytes for frame in frames)
        return decode(frames, *args, **named)

    tcp.TCP.read, tcp.TCP.write, tcp.from_frames = counted_read, counted_write, counted


# -- Runs --------------------------------------------------------------------------------------------------------------

SECONDS = ("clock", "command", "topics", "scheduler", "workers")


@dataclass
class Costs:
    """Seconds by the clock, and processor time of the command without topics, of these, of scheduler and workers."""

    clock: float = 0.0
    command: float = 0.0
    topics: float = 0.0
    scheduler: float = 0.0
    workers: float = 0.0
    passed: dict[str, int] = field(default_factory=lambda: dict.fromkeys(DIRECTIONS, 0))

    @classmethod
    def now(cls, cluster: Started | None) -> Costs:
        """What all processes have used up to now."""
        used = [sum(each.cpu_times()[:2]) for each in (cluster.workers if cluster else ())]
        scheduler = sum(cluster.scheduler.cpu_times()[:2]) if cluster else 0.0
        topics = learning.seconds()
        return cls(time.perf_counter(), time.process_time() - topics, topics, scheduler, sum(used), dict(_passed))

    def since(self, before: Costs) -> Costs:
        """The difference to an earlier state."""
        passed = {name: count - before.passed[name] for name, count in self.passed.items()}
        return Costs(**{name: getattr(self, name) - getattr(before, name) for name in SECONDS}, passed=passed)

    def __add__(self, other: Costs) -> Costs:
        passed = {name: count + other.passed[name] for name, count in self.passed.items()}
        return Costs(**{name: getattr(self, name) + getattr(other, name) for name in SECONDS}, passed=passed)


class Learning:
    """The processor time of the threads that learn topics."""

    def __init__(self) -> None:
        self._clock: int | None = None  # of the thread that is learning
        self._ended = 0.0

    def seconds(self) -> float:
        """Up to now."""
        return self._ended + (0.0 if self._clock is None else time.clock_gettime(self._clock) - self._began)

    def note(self, cores: Cores) -> None:
        """Time what learns topics from now on, and give its threads a core of their own, if they have one."""
        learn = Generation._learn_topics

        def noted(generation: Generation, *given: Any) -> Any:
            if threading.current_thread() is threading.main_thread():
                return learn(generation, *given)
            cores.place_thread(threading.get_native_id())
            self._began = time.thread_time()
            self._clock = time.pthread_getcpuclockid(threading.get_ident())
            try:
                return learn(generation, *given)
            finally:
                self._clock, self._ended = None, self._ended + time.thread_time() - self._began

        Generation._learn_topics = noted  # type: ignore[assignment,method-assign]


learning = Learning()


@dataclass
class Round(Costs):
    """What a round cost, and the number of its items."""

    items: int = 0


@dataclass
class Run:
    """What each round of a run cost, what the command did alone, and what it made."""

    rounds: dict[str, Round]
    alone: Costs
    whole: Costs
    sentences: int
    segments: list[bytes] = field(repr=False)


def run(path: Path, folder: Path, cluster: Started | None) -> Run:
    """Make an index, and note what each round cost."""
    global _scheduler  # of this run
    _scheduler = cluster.address if cluster else ""
    found: list[Round] = []
    in_order = DaskCluster.in_order

    def noted(self: DaskCluster, work: Any, items: Any) -> Iterator[Any]:
        self.connect()
        before, items_done = Costs.now(cluster), 0
        try:
            for result in in_order(self, work, items):
                items_done += 1
                yield result
        finally:  # whoever knows how many there are does not ask for more
            found.append(Round(**vars(Costs.now(cluster).since(before)), items=items_done))

    DaskCluster.in_order = noted  # type: ignore[method-assign]
    try:
        with Index.create(path) as index:
            before = Costs.now(cluster)
            done = index.sync(folder, processes=1, cluster=cluster and cluster.address)
            whole = Costs.now(cluster).since(before)
            segments = sorted(file.read_bytes() for file in (path / "segments").iterdir())
    finally:
        DaskCluster.in_order = in_order  # type: ignore[method-assign]
    rounds = dict(zip(ROUNDS, found, strict=True)) if cluster else {}
    return Run(rounds, whole.since(sum(found, Costs())), whole, done.sentences, segments)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--slowed", type=float, metavar="SHARE", help="of a core for each process, such as .1")
    given = parser.parse_args()
    cores = Cores(given.slowed)
    count_bytes()
    learning.note(cores)
    with ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        clusters: dict[int, Started | None] = {0: None}
        for workers in given.workers:
            clusters[workers] = stack.enter_context(started(workers, scratch / f"logs{workers}", given.slowed))
        runs: dict[int, list[Run]] = {workers: [] for workers in clusters}
        for turn in range(given.repeat + 1):
            for workers, cluster in clusters.items():
                if not turn:  # files are opened and packages imported
                    run(scratch / f"{workers} {turn}", given.folder, cluster)
                    continue
                if cluster or given.slowed is None:
                    cores.place(os.getpid())
                if cluster:
                    cores.place(cluster.scheduler.pid)
                    for process in cluster.workers:
                        cores.place(process.pid, worker=True)
                try:
                    runs[workers].append(run(scratch / f"{workers} {turn}", given.folder, cluster))
                finally:
                    cores.free()
    report(runs, given.slowed)


# -- Model -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Part:
    """What a round of n items costs, or what the command does alone: seconds of processor time, and megabytes."""

    command: float
    topics: float
    scheduler: float
    fixed: float = 0.0  # f, of each worker
    variable: float = 0.0  # v, of all workers together
    sent: float = 0.0
    received: float = 0.0
    items: int = 1

    def limits(self, workers: int, gigabits: float) -> dict[str, float]:
        """The seconds of each process and of the network, which work at the same time."""
        network = max(self.sent, self.received) / (125 * gigabits)
        worker = self.fixed + self.variable * -(-self.items // workers) / self.items
        return {"command": self.command, "scheduler": self.scheduler, "workers": worker, "network": network}

    def pinned(self, workers: int) -> float:
        """The seconds if command, topics and scheduler share a core, and all workers another."""
        return max(self.command + self.topics + self.scheduler, self.variable + workers * self.fixed)


@dataclass(frozen=True)
class Model:
    """The costs of each round, and of the command alone."""

    rounds: dict[str, Part]
    alone: Part

    @classmethod
    def of(cls, runs: dict[int, list[Run]]) -> Model:
        """The model of the runs with the two smallest numbers of workers."""
        few, more = sorted(workers for workers in runs if workers)[:2]

        def middle(name: str, key: str, workers: int = few) -> float:
            return median([getattr(done.rounds[name], key) for done in runs[workers]])

        def passed(name: str, way: str) -> float:
            return median([megabytes(done.rounds[name], way) for done in runs[few]])

        rounds = {}
        for name in ROUNDS:
            used = middle(name, "workers")
            fixed = max(0.0, (middle(name, "workers", more) - used) / (more - few))
            seconds = middle(name, "command"), middle(name, "topics"), middle(name, "scheduler")
            sizes = passed(name, "to"), passed(name, "from"), runs[few][0].rounds[name].items
            rounds[name] = Part(*seconds, fixed, used - few * fixed, *sizes)

        def alone(key: str) -> float:
            return median([getattr(done.alone, key) for done in runs[few]])

        return cls(rounds, Part(alone("command"), alone("topics"), alone("scheduler")))

    def seconds(self, workers: int, gigabits: float) -> float:
        """The seconds of all, with a core for each process and for the topics."""
        rounds = {name: max(part.limits(workers, gigabits).values()) for name, part in self.rounds.items()}
        topics = sum(part.topics for part in (*self.rounds.values(), self.alone))
        fitting = rounds["contexts"] + rounds["sums"]
        return self.alone.command + sum(rounds.values()) + max(0.0, topics - fitting)

    def pinned(self, workers: int) -> float:
        """The seconds of all on two cores, that of the command and that of the workers."""
        alone = self.alone.command + self.alone.topics + self.alone.scheduler
        return alone + sum(part.pinned(workers) for part in self.rounds.values())

    def limit(self, name: str, gigabits: float) -> float:
        """The number of workers from which on the command or the network is always busy, so that more do not help."""
        part = self.rounds[name]
        left = max(seconds for what, seconds in part.limits(1, gigabits).items() if what != "workers") - part.fixed
        return part.variable / left if left > 0 else float("inf")


def report(runs: dict[int, list[Run]], share: float | None) -> None:
    """Print what was measured, and what the model computes. Exits if indexes differ."""
    first = runs[0][0]
    if any(done.segments != first.segments for several in runs.values() for done in several):
        sys.exit("the indexes are not the same bit for bit")
    print(f"{first.sentences:,} sentences; the same index bit for bit in every run; medians of {len(runs[0])}\n")
    print("Measured: processor time in seconds, and megabytes\n")
    print("| workers | round | command | topics | scheduler | workers | sent | received |\n" + "|---" * 8 + "|")
    for workers, several in runs.items():
        for name in [*(ROUNDS if workers else ()), "all"]:
            each: list[Costs] = [done.whole if name == "all" else done.rounds[name] for done in several]
            seconds = (f"{median([getattr(costs, key) for costs in each]):.2f}" for key in SECONDS[1:])
            both = (median([megabytes(costs, way) for costs in each]) for way in ("to", "from"))
            print(f"| {workers} | {name} | {' | '.join(seconds)} | {' | '.join(f'{size:.1f}' for size in both)} |")
    model = Model.of(runs)
    print("\nThe model, of the two smallest clusters\n")
    print("| round | command | f of each worker | v of all | workers from which the command is the limit |")
    print("|---" * 5 + "|")
    for name, part in model.rounds.items():
        print(f"| {name} | {part.command:.2f} | {part.fixed:.2f} | {part.variable:.2f} | {model.limit(name, 10):.1f} |")
    print(f"| {ALONE} | {model.alone.command:.2f} | | | |")
    print("\nWorkers' processor time, computed and measured; the clock, likewise\n")
    print("| workers | v + N f | measured | clock, computed | measured |\n" + "|---" * 5 + "|")
    for workers, several in runs.items():
        if workers:
            work = sum(part.variable + workers * part.fixed for part in model.rounds.values())
            used = median([sum(each.workers for each in done.rounds.values()) for done in several])
            clock = median([done.whole.clock for done in several]) * (share or 1)
            computed = model.seconds(workers, 1e6) if share else model.pinned(workers)
            print(f"| {workers} | {work:.2f} | {used:.2f} | {computed:.2f} | {clock:.2f} |")
    alone = median([done.whole.command + done.whole.topics for done in runs[0]])
    print(f"\nComputed for a core each: seconds, and times as fast as one process without a cluster ({alone:.2f} s)\n")
    print("| workers |" + "".join(f" {speed} Gbit/s | |" for speed in NETWORKS) + "\n" + "|---" * 5 + "|")
    for workers in SIZES:
        computed_for = [model.seconds(workers, speed) for speed in NETWORKS]
        print(f"| {workers} |" + "".join(f" {seconds:.2f} | {alone / seconds:.2f} |" for seconds in computed_for))


def megabytes(costs: Costs, way: str) -> float:
    """What the command sent ("to") or received ("from")."""
    return sum(count for where, count in costs.passed.items() if where.startswith(way)) / 1e6


def median(values: Sequence[float]) -> float:
    return statistics.median(values)


if __name__ == "__main__":
    main()
