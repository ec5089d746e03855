"""A writer or a reader of one index, until its standard input ends: helper processes of laws/test_concurrency.py.

    python processes/hammering.py write INDEX DOCS
    python processes/hammering.py read INDEX|PLACE
    python processes/hammering.py answer

The writer gives all documents the next version and syncs, again and again. Even versions speak of the sea, odd ones of
the kitchen, so that a row beside another generation's vector is seen by its score. The reader checks every answer. Each
prints a version, on a line of its own, when it has written it or sees it first. What answers takes a question a line,
as JSON: an index, a word, a mode and how often to ask; and prints the answers as JSON.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from semsearch.index import Index
    from semsearch.results.options import Mode

DOCUMENTS = 5
TEXTS = {0: "The captain has a ship, a sail and an anchor.", 1: "The oven has bread, flour and butter."}


def write_version(docs: Path, version: int) -> None:
    for number in range(DOCUMENTS):
        text = f"{TEXTS[version % 2]} This is number {number} of version v{version}x.\n"
        (docs / f"{number}.txt").write_text(text, encoding="utf-8")


def write(index_path: Path, docs: Path, told: threading.Event) -> None:
    from semsearch.index import Index

    version = 1
    with Index.open(index_path) as index:
        while not told.is_set():
            version += 1
            write_version(docs, version)
            report = index.sync()
            assert report.changed == DOCUMENTS, report
            print(version, flush=True)


def read(index_path: Path, told: threading.Event) -> None:
    from semsearch.index import Index

    seen = 0
    with Index.open(index_path) as index:
        while not told.is_set():
            for mode in ("dense", "hybrid"):
                hits = index.search("captain ship version", mode=mode)
                assert len(hits) == DOCUMENTS, hits
                versions = {int(hit.passage.rsplit(" v", 1)[1].split("x")[0]) for hit in hits}
                assert len(versions) == 1, f"one answer shows versions {versions}"
                (version,) = versions
                for hit in hits:
                    assert hit.dense is not None
                    assert (hit.dense > 0.5) == (version % 2 == 0), f"version {version} has the score {hit.dense}"
                assert version >= seen, f"version {version} after {seen}"
                if version != seen:
                    seen = version
                    print(version, flush=True)


def documents_of(index: Index, word: str, mode: Mode) -> list[list[str]]:
    """What an index answers to a word: the ids of documents and their passages, in the order of the ids."""
    hits = index.search(word, 100, mode=mode, duplicates=True)
    return sorted([hit.document, hit.passage] for hit in hits)


def answer() -> None:
    from semsearch.index import Index

    index: Index | None = None
    for line in sys.stdin:
        path, word, mode, times = json.loads(line)
        if index is None or str(index.path) != path:
            if index is not None:
                index.close()
            index = Index.open(path)
        print(json.dumps([documents_of(index, word, mode) for _ in range(times)]), flush=True)


def told_to_end() -> threading.Event:
    """Set when standard input ends."""
    told = threading.Event()

    def listen() -> None:
        os.read(0, 1)
        told.set()

    threading.Thread(target=listen, daemon=True).start()
    return told


if __name__ == "__main__":
    if sys.argv[1] == "write":
        write(Path(sys.argv[2]), Path(sys.argv[3]), told_to_end())
    elif sys.argv[1] == "answer":
        answer()
    else:
        read(Path(sys.argv[2]), told_to_end())
