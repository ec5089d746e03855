"""The server under load: clients that search at once while a sync runs, then ten times as many.

    python tests/benchmarks/server_load.py --seconds 300

It makes up an index of --sentences sentences beside twenty documents that are changed again and again, all at once, by
`semsearch index` in a process of its own. Each change gives all twenty another number, so an answer whose hits have
several numbers would mix two generations. Then, one after the other:

- the floor: as many threads as there are cores search by the Python API, while the sync runs;
- closed: --clients clients, each of which asks again as soon as it is answered;
- paced: as many clients, each of which asks twice a second at most;
- overload: ten times as many clients; what is shed must be shed with 503 and Retry-After;
- recovered: a few clients again.

Of each: answers a second, median, 99th percentile and slowest in milliseconds, statuses, mixed answers, the server's
memory (shared pages divided among its processes) and processor time for each answer. Clients run in a process of their
own, on the same cores. --workers 0 2 does all but the floor with no processes that search, then with two; --rounds 3
does it three times, in turn. --still: no sync meanwhile.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

from semsearch import Index, load_vectors
from semsearch_research.bench.bench_text import made_up, take_sample, write_corpus

CHANGING = 20
NUMBER = re.compile(r"edition (\d+)")
SEMSEARCH = [sys.executable, "-m", "semsearch"]


@dataclass
class Tally:
    """What clients were answered."""

    seconds: list[float] = field(default_factory=list)  # of each answer
    statuses: Counter[str] = field(default_factory=Counter)
    mixed: int = 0
    untold: int = 0  # refusals without Retry-After

    def row(self, name: str, took: float, memory: str = "") -> str:
        times = sorted(self.seconds) or [0.0]
        at = [1000 * times[min(len(times) - 1, int(share * len(times)))] for share in (0.5, 0.99, 1)]
        statuses = ", ".join(f"{key}: {count:,}" for key, count in sorted(self.statuses.items()))
        return (
            f"{name:<10} {len(times) / took:7,.0f} answers/s   p50 {at[0]:6.1f} ms   p99 {at[1]:6.1f} ms   "
            f"slowest {at[2]:6.1f} ms   {statuses}   mixed {self.mixed}   without Retry-After {self.untold}   {memory}"
        )


def write_edition(folder: Path, number: int) -> None:
    """Write all changing documents anew, with a number that each of their passages names."""
    own = made_up(load_vectors(), 10 * CHANGING, seed=1)  # or they would say the same, and be one hit
    for document, paragraph in zip(range(CHANGING), own, strict=False):
        text = f"The lighthouse keeper has edition {number} of the almanac of harbour {document}. {paragraph.text}\n"
        (folder / f"{document}.txt").write_text(text)


def editions_of(texts: Sequence[str]) -> set[str]:
    """The numbers that an answer's passages name: of one generation, there is one."""
    return {found[1] for text in texts if (found := NUMBER.search(text))}


@contextmanager
def changing(folder: Path, index: Path) -> Iterator[list[float]]:
    """Change the twenty documents and sync them, again and again, while the block runs; the seconds of each sync."""
    stop, syncs = threading.Event(), list[float]()

    def go() -> None:
        number = int(time.time())
        while not stop.wait(1.0):
            number += 1
            write_edition(folder, number)
            began = time.perf_counter()
            subprocess.run([*SEMSEARCH, "index", "--index", str(index), "--quiet"], check=True)
            syncs.append(time.perf_counter() - began)

    thread = threading.Thread(target=go)
    thread.start()
    try:
        yield syncs
    finally:
        stop.set()
        thread.join()


def by_api(index: Path, queries: Sequence[str], seconds: float) -> Tally:
    """Search by the Python API in as many threads as there are cores."""
    tally, until = Tally(), time.perf_counter() + seconds
    with Index.open(index) as opened, ThreadPoolExecutor() as threads:

        def go(first: int) -> None:
            number = first
            while (began := time.perf_counter()) < until:
                hits = opened.search(queries[number % len(queries)])
                tally.seconds.append(time.perf_counter() - began)
                tally.statuses["answered"] += 1
                tally.mixed += len(editions_of([hit.passage for hit in hits])) > 1
                number += 7

        list(threads.map(go, range(os.cpu_count() or 1)))
    return tally


async def client(port: int, queries: Sequence[str], first: int, until: float, pause: float, tally: Tally) -> None:
    """Ask on one connection until the time is over."""
    await asyncio.sleep(pause * (first % 64) / 64)
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    number = first
    while (began := time.perf_counter()) < until:
        path = f"/v1/search?query={quote(queries[number % len(queries)])}"
        writer.write(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(re.search(rb"content-length: (\d+)", head, re.I)[1])  # type: ignore[index]  # a bug if missing
        body = await reader.readexactly(length)
        status = head[9:12].decode()
        tally.statuses[status] += 1
        if status == "200":
            tally.seconds.append(time.perf_counter() - began)
            tally.mixed += len(editions_of([hit["passage"] for hit in json.loads(body)["hits"]])) > 1
        else:
            tally.untold += b"retry-after" not in head.lower()
            await asyncio.sleep(0.1)
        if pause:
            await asyncio.sleep(max(0.0, pause - (time.perf_counter() - began)))
        number += 7
    writer.close()


async def crowd(port: int, queries: Sequence[str], clients: int, seconds: float, pause: float) -> Tally:
    """All clients at once."""
    tally, until = Tally(), time.perf_counter() + seconds
    await asyncio.gather(*(client(port, queries, number, until, pause, tally) for number in range(clients)))
    return tally


def by_http(port: int, queries: Path, clients: int, seconds: float, pause: float) -> Tally:
    """A crowd in a process of its own."""
    given = [str(queries), str(port), str(clients), str(seconds), str(pause)]
    done = subprocess.run([sys.executable, __file__, "--crowd", *given], capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    return Tally(found["seconds"], Counter(found["statuses"]), found["mixed"], found["untold"])


@contextmanager
def serving(index: Path, workers: int = 0) -> Iterator[tuple[int, int]]:
    """A server of an index: its port and process."""
    command = [*SEMSEARCH, "serve", "-i", str(index), "--port", "0", "--workers", str(workers)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        yield int(re.search(r":(\d+)", server.stdout.readline())[1]), server.pid  # type: ignore[index]
        server.terminate()


def processes(pid: int) -> Iterator[Path]:
    """A process and those that it has started, as folders of /proc."""
    yield Path(f"/proc/{pid}")
    for thread in Path(f"/proc/{pid}/task").iterdir():
        for child in (thread / "children").read_text().split():
            yield from processes(int(child))


def memory(pid: int) -> str:
    """The memory of a server, in megabytes."""
    found = [re.search(r"Pss:\s+(\d+) kB", (each / "smaps_rollup").read_text()) for each in processes(pid)]
    return f"{sum(int(each[1]) for each in found if each) / 1000:.0f} MB"


def processor_time(pid: int) -> float:
    """The seconds that a server has computed."""
    fields = [(each / "stat").read_text().rpartition(")")[2].split() for each in processes(pid)]
    return sum(int(each[11]) + int(each[12]) for each in fields) / os.sysconf("SC_CLK_TCK")


def prepare(folder: Path, sentences: int) -> tuple[Path, Path, Path]:
    """Make the index, the changing documents, and a file of queries."""
    corpus = write_corpus(made_up(load_vectors(), sentences), folder / "texts", sentences, lambda *_: None)
    sample = take_sample(corpus, 10_000)
    almanac = [f"which edition has the lighthouse keeper of harbour {number}" for number in range(CHANGING)]
    queries = [query for pair in zip(sample.queries[:60], almanac * 3, strict=True) for query in pair]
    (folder / "queries.json").write_text(json.dumps(queries))
    (folder / "almanac").mkdir()
    write_edition(folder / "almanac", 1)
    index = folder / "indexes" / "load"
    paths = [str(folder / "texts"), str(folder / "almanac")]
    subprocess.run([*SEMSEARCH, "index", *paths, "--index", str(index), "--quiet"], check=True)
    return index, folder / "almanac", folder / "queries.json"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sentences", type=int, default=100_000)
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=60.0, help="of the closed part; the others take a fifth")
    parser.add_argument("--workers", type=int, nargs="+", default=[0])
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--still", action="store_true")
    parser.add_argument("--crowd", nargs=5, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.crowd:
        path, port, clients, seconds, pause = given.crowd
        queries = json.loads(Path(path).read_text())
        tally = asyncio.run(crowd(int(port), queries, int(clients), float(seconds), float(pause)))
        print(json.dumps(vars(tally)))
        return
    with tempfile.TemporaryDirectory() as temporary:
        index, almanac, path = prepare(Path(temporary), given.sentences)
        queries, short = json.loads(path.read_text()), given.seconds / 5
        with nullcontext([0.0]) if given.still else changing(almanac, index) as syncs:
            for workers in [-1, *given.workers] * given.rounds:
                if workers < 0:
                    print(by_api(index, queries, short).row("floor", short), flush=True)
                    continue
                with serving(index, workers) as (port, pid):
                    by_http(port, path, 8, 5, 0)  # opens files, warms caches
                    parts = [
                        ("closed", given.clients, given.seconds, 0.0),
                        ("paced", given.clients, given.seconds, 0.5),
                        ("overload", 10 * given.clients, short, 0.0),
                        ("recovered", 4, short, 0.0),
                    ]
                    print(f"{workers} workers  {memory(pid)}")
                    for name, clients, seconds, pause in parts:
                        before = processor_time(pid)
                        tally = by_http(port, path, clients, seconds, pause)
                        each = 1000 * (processor_time(pid) - before) / max(1, len(tally.seconds))
                        print(tally.row(name, seconds, f"{memory(pid)}   {each:.2f} ms each"), flush=True)
        print(f"{len(syncs)} syncs meanwhile, {sum(syncs) / len(syncs):.2f} s each")


if __name__ == "__main__":
    main()
