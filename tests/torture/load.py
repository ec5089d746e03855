"""The server under mixed traffic while files change: no wrong answer, memory and open files stay, overload is shed.

    python tests/torture/load.py --minutes 60

Twenty documents are changed again and again, all at once, and synced by `semsearch index` in a process of its own; each
change gives all of them another number. Meanwhile clients ask the server everything that it can be asked, and add and
remove documents; every minute a crowd comes, of more than there is room for. Looked at is

- each answer to a search: all its hits are of one change, one that was not overtaken before the question was asked;
- each other answer: no failure of the server, and no refusal of a crowd without Retry-After;
- the server's memory, open files and threads: in the last third of the time about as many as in the second. Segments of
  the index are not counted, which come with each change and go when they are merged, unless they have been deleted.

Prints what it saw; the exit status is 1 if anything was not so.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

sys.path[:0] = [str(Path(__file__).parents[1] / "benchmarks"), str(Path(__file__).parents[1] / "support")]

from operations import Operation, operations
from server_load import SEMSEARCH, editions_of, prepare, serving, write_edition

from semsearch.server.access import make_token, token_path

_CROWD = 400  # clients at once, more than there is room for
_GROWTH = 1.1  # of memory, from the second third of the time to the last
_PAUSE = 0.1  # seconds between two questions of a client
_ALLOWED = frozenset({200, 400, 404, 409, 503, 422, 501})  # what is no failure


@dataclass
class Editions:
    """The numbers that documents had: the last that a sync had finished with, and the last that one had begun with."""

    finished: int = 1
    begun: int = 1


@dataclass
class Traffic:
    """What was asked and answered."""

    statuses: dict[str, Counter[int]] = field(default_factory=dict)
    seconds: list[float] = field(default_factory=list)  # of each answer outside of a crowd
    checked: int = 0  # searches whose hits were compared with what was written
    wrong: list[str] = field(default_factory=list)
    syncs: int = 0

    def count(self, name: str, status: int) -> None:
        self.statuses.setdefault(name, Counter())[status] += 1


@dataclass(frozen=True, slots=True)
class Sample:
    """The server at one moment."""

    megabytes: float
    files: int
    threads: int


async def change(folder: Path, index: Path, editions: Editions, traffic: Traffic, until: float) -> None:
    """Change the twenty documents and sync them, again and again."""
    while time.monotonic() < until:
        editions.begun += 1
        write_edition(folder, editions.begun)
        sync = await asyncio.create_subprocess_exec(*SEMSEARCH, "index", "--index", str(index), "--quiet")
        if await sync.wait() == 0:  # else another writer had the index; the next round brings it up to date
            editions.finished = editions.begun
            traffic.syncs += 1
        await asyncio.sleep(1.0)


async def ask(port: int, method: str, path: str, body: bytes | None, token: str = "") -> tuple[int, str, bytes]:
    """Send a request on a connection of its own: status, head and body of the answer."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        kind = f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n" if body is not None else ""
        allowed = f"Authorization: Bearer {token}\r\n" if token else ""
        head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n{kind}{allowed}\r\n"
        writer.write(head.encode() + (body or b""))
        answer = await reader.read()
    finally:
        writer.close()
    found, _, content = answer.partition(b"\r\n\r\n")
    return int(found[9:12]), found.decode("latin-1").lower(), content


def request_of(operation: Operation, values: Mapping[str, Any]) -> tuple[str, str, bytes | None]:
    """Method, address and body of an operation's request."""
    given, path = dict(values), operation.path
    if operation.in_path:
        path = path.replace("{id}", quote(str(given.pop("id")), safe=""))
    if operation.has_body:
        return operation.method, path, json.dumps(given).encode()
    return operation.method, f"{path}?{urlencode(given, doseq=True)}" if given else path, None


async def client(port: int, number: int, editions: Editions, traffic: Traffic, until: float) -> None:
    """Ask: half of it searches whose answers are known, half anything else."""
    chance, token = random.Random(number), make_token(token_path())
    await asyncio.sleep(number * _PAUSE / 10)
    while time.monotonic() < until:
        began = time.monotonic()
        if chance.random() < 0.5:
            await search(port, chance.randrange(20), editions, traffic)
        else:
            operation = chance.choice(_OPERATIONS)
            method, path, body = request_of(operation, _values(operation, number))
            status, head, content = await ask(port, method, path, body, token if operation.is_write else "")
            traffic.count(operation.name, status)
            if status not in _ALLOWED or (status == 503 and "retry-after" not in head):
                traffic.wrong.append(f"{operation.name}: {status} {content[:200]!r}")
        traffic.seconds.append(time.monotonic() - began)
        await asyncio.sleep(_PAUSE)


_ASKED: dict[str, Any] = {
    "query": "how do I rotate the keys?",
    "queries": ["how do I rotate the keys?", "why does the printer jam?"],
    "ids": [17, 18],
    "input": ["how do I rotate the keys?"],
    "text": "The printer jams.",
    "page": 1,
}
_LONG = ("sync", "make_map", "get_health", "explain")
_OPERATIONS = [one for one in operations() if one.name not in _LONG]


def _values(operation: Operation, number: int) -> dict[str, Any]:
    """What an operation is asked: a document that is there, or may be written by this client."""
    values = {name: _ASKED[name] for name in operation.required}
    document = f"note {number}" if operation.is_write else f"{number}.txt"
    if "similar" in operation.name:
        return values | {"path": document}
    return values | ({"id": document} if operation.in_path else {})


async def search(port: int, harbour: int, editions: Editions, traffic: Traffic) -> None:
    """Ask for what every change changes; the hits must be of one change, and none that was over before."""
    least = editions.finished
    query = quote(f"which edition has the lighthouse keeper of harbour {harbour}")
    status, head, body = await ask(port, "GET", f"/v1/search?query={query}", None)
    traffic.count("search", status)
    if status != 200:
        if status != 503 or "retry-after" not in head:
            traffic.wrong.append(f"search: {status} {body[:200]!r}")
        return
    found = editions_of([hit["passage"] for hit in json.loads(body)["hits"]])
    traffic.checked += 1
    if len(found) != 1 or not least <= int(found.pop()) <= editions.begun:
        traffic.wrong.append(f"search: hits of {found}, when {least} to {editions.begun} were there")


async def crowds(port: int, editions: Editions, traffic: Traffic, until: float) -> None:
    """Each minute more clients at once than there is room for."""
    while time.monotonic() < until - 30:
        await asyncio.sleep(30)
        await asyncio.gather(*(search(port, number % 20, editions, traffic) for number in range(_CROWD)))
        await asyncio.sleep(30)


async def watch(pid: int, samples: list[Sample], until: float) -> None:
    """Look at the server every five seconds."""
    while time.monotonic() < until:
        samples.append(look_at(pid))
        await asyncio.sleep(5)


def look_at(pid: int) -> Sample:
    """A process's memory, open files and threads, as Linux tells them."""
    status = Path(f"/proc/{pid}/status").read_text()
    numbers = dict(re.findall(r"(VmRSS|Threads):\s+(\d+)", status))
    files = [target for path in Path(f"/proc/{pid}/fd").iterdir() if (target := _target(path))]
    held = [target for target in files if "/segments/" not in target or target.endswith("(deleted)")]
    return Sample(int(numbers["VmRSS"]) / 1000, len(held), int(numbers["Threads"]))


def _target(path: Path) -> str:
    try:
        return str(path.readlink())
    except OSError:  # closed meanwhile
        return ""


def grown(samples: Sequence[Sample]) -> list[str]:
    """What has grown from the second third of the time to the last."""
    third = len(samples) // 3
    middle, last = samples[third : 2 * third], samples[2 * third :]
    found = []
    for name in ("megabytes", "files", "threads"):
        before, after = (sorted(getattr(one, name) for one in part)[len(part) // 2] for part in (middle, last))
        print(f"{name:<10} median {before:,.0f} in the second third, {after:,.0f} in the last")
        if after > _GROWTH * before + 5:
            found.append(f"{name} grew from {before:,.0f} to {after:,.0f}")
    return found


async def run(port: int, pid: int, index: Path, almanac: Path, given: argparse.Namespace) -> list[str]:
    """All of it at once; what was not as it must be."""
    editions, traffic, samples = Editions(), Traffic(), list[Sample]()
    until = time.monotonic() + 60 * given.minutes
    clients = (client(port, number, editions, traffic, until) for number in range(given.clients))
    beside = (change(almanac, index, editions, traffic, until), crowds(port, editions, traffic, until))
    await asyncio.gather(*clients, *beside, watch(pid, samples, until))
    for name, statuses in sorted(traffic.statuses.items()):
        print(f"{name:<18}" + ", ".join(f"{status}: {count:,}" for status, count in sorted(statuses.items())))
    times = sorted(traffic.seconds)
    print(f"{len(times):,} answers to clients, median {1000 * times[len(times) // 2]:.0f} ms, ", end="")
    print(f"99th percentile {1000 * times[int(0.99 * len(times))]:.0f} ms; {traffic.syncs:,} syncs meanwhile")
    print(f"{traffic.checked:,} searches compared with what was written; {len(traffic.wrong):,} wrong answers")
    return [*traffic.wrong[:20], *grown(samples)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--clients", type=int, default=12)
    parser.add_argument("--sentences", type=int, default=20_000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        index, almanac, _ = prepare(Path(temporary), given.sentences)
        subprocess.run([*SEMSEARCH, "map", "--index", str(index), "--quiet"], check=False, capture_output=True)
        with serving(index) as (port, pid):
            wrong = asyncio.run(run(port, pid, index, almanac, given))
    for line in wrong:
        print(line)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
