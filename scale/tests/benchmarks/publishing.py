"""What publishing costs: bytes that travel for one changed document, and the time to open a copy and to follow it.

    python scale/tests/benchmarks/publishing.py FOLDER [--documents 1000] [--block 262144] [--place PLACE]

The first documents of FOLDER, by path, are indexed and published to a place: a folder of its own, or the one that is
given. Then one document changes, ten times. On one machine no
network is measured: add a round trip for each block, of which eight travel at once, and the bytes over the speed of
the line.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path

CHANGES = 10
READING = """
import sys, time
started = time.perf_counter()
from semsearch import Index
with Index.open(sys.argv[1]) as index:
    opened = time.perf_counter()
    index.search("how is this configured")
    print(opened - started, time.perf_counter() - opened)
"""


def taken(call: Callable[[], object]) -> float:
    """The seconds that a call takes."""
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


def reading(where: object) -> str:
    """The milliseconds that a new process takes to open an index and to answer its first question."""
    done = subprocess.run([sys.executable, "-c", READING, str(where)], capture_output=True, text=True, check=True)
    opening, asking = (float(seconds) * 1000 for seconds in done.stdout.split())
    return f"{opening:.0f} ms to import and open, {asking:.0f} ms for the first question"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--documents", type=int, default=1000)
    parser.add_argument("--block", type=int, help="Bytes of a block of the database.")
    parser.add_argument("--place", help="where to publish")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        place = arguments.place or (work / "place").as_uri()
        measure(arguments.folder, arguments.documents, arguments.block, work, place)


def measure(folder: Path, documents: int, block: int | None, work: Path, place: str) -> None:
    """Print what publishing some documents of a folder costs."""
    os.environ["XDG_CACHE_HOME"] = str(work / "cache")
    from semsearch.index import Index
    from semsearch_scale.snapshots import publisher
    from semsearch_scale.snapshots.followed_database import follow
    from semsearch_scale.snapshots.publisher import publish

    if block is not None:
        vars(publisher)["DATABASE_BLOCK"] = block
    docs = work / "docs"
    docs.mkdir()
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    for number, path in enumerate(islice(files, documents)):
        shutil.copy(path, docs / f"{number:06d}{path.suffix}")
    with Index.create(work / "index") as index:
        index.sync(docs)
        first = publish(index.path, place)
        status = index.status(known_words=False, stale=False)
        print(f"{status.documents:,} documents, {status.sentences:,} sentences, {first.bytes:,} bytes to publish")
        print(f"the first time: {first.sent_blocks:,} blocks, {first.seconds:.2f} s")
        print(f"cold, all of it fetched: {reading(place)}")
        print(f"warm: {reading(place)}")
        print(f"the index itself: {reading(index.path)}")
        sent, seconds, following = [], [], []
        follower = follow(place, every=10_000)
        with Index.over(follower):
            for number in range(CHANGES):
                with sorted(docs.iterdir())[number * 7].open("a", encoding="utf-8") as file:
                    file.write("\n\nOne more sentence stands at the end of it.\n")
                index.sync()
                done = publish(index.path, place)
                sent.append(done.sent_bytes)
                seconds.append(done.seconds)
                following.append(taken(follower.look))
        print(
            f"one changed document: {statistics.median(sent):,.0f} bytes ({min(sent):,} to {max(sent):,}) of "
            f"{done.bytes:,}; published in {statistics.median(seconds):.2f} s, followed in "
            f"{statistics.median(following):.2f} s (medians of {CHANGES})"
        )


if __name__ == "__main__":
    main()
