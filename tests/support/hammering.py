"""A writer or a reader of one index, for as long as it is told: helper processes of laws/test_concurrency.py.

    python hammering.py write INDEX DOCS SECONDS
    python hammering.py read INDEX SECONDS

The writer gives all documents the next version and syncs, again and again. Even versions speak of the sea, odd ones of
the kitchen, so that a row beside another generation's vector is seen by its score. The reader checks every answer, and
prints the versions it saw.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

DOCUMENTS = 5
TEXTS = {0: "The captain has a ship, a sail and an anchor.", 1: "The oven has bread, flour and butter."}


def write_version(docs: Path, version: int) -> None:
    for number in range(DOCUMENTS):
        text = f"{TEXTS[version % 2]} This is number {number} of version v{version}x.\n"
        (docs / f"{number}.txt").write_text(text, encoding="utf-8")


def write(index_path: Path, docs: Path, seconds: float) -> None:
    from semsearch.index import Index

    end, version = time.monotonic() + seconds, 1
    with Index.open(index_path) as index:
        while time.monotonic() < end:
            version += 1
            write_version(docs, version)
            report = index.sync()
            assert report.changed == DOCUMENTS, report
    print(version)


def read(index_path: Path, seconds: float) -> None:
    from semsearch.index import Index

    end, seen = time.monotonic() + seconds, [0]
    with Index.open(index_path) as index:
        while time.monotonic() < end:
            for mode in ("dense", "hybrid"):
                hits = index.search("captain ship version", mode=mode)
                assert len(hits) == DOCUMENTS, hits
                versions = {int(hit.passage.rsplit(" v", 1)[1].split("x")[0]) for hit in hits}
                assert len(versions) == 1, f"one answer shows versions {versions}"
                (version,) = versions
                for hit in hits:
                    assert hit.dense is not None
                    assert (hit.dense > 0.5) == (version % 2 == 0), f"version {version} has the score {hit.dense}"
                assert version >= seen[-1], f"version {version} after {seen[-1]}"
                if version != seen[-1]:
                    seen.append(version)
    print(*seen[1:])


if __name__ == "__main__":
    if sys.argv[1] == "write":
        write(Path(sys.argv[2]), Path(sys.argv[3]), float(sys.argv[4]))
    else:
        read(Path(sys.argv[2]), float(sys.argv[3]))
