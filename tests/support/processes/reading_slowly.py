"""A reader that begins on one generation and opens its files only later: a helper process of laws/test_disk_space.py.

    python processes/reading_slowly.py INDEX QUERY

It says "begun" when its transaction sees the generation of that moment. Told to go on by a line on standard input, it
prints the documents that answer the query, and waits to be told again before its transaction ends.
"""

from __future__ import annotations

import sys
from pathlib import Path

from semsearch.index import Index

if __name__ == "__main__":
    with Index.open(Path(sys.argv[1])) as index, index._database.reading() as db:
        db.execute("SELECT count(*) FROM documents").fetchone()
        print("begun", flush=True)
        sys.stdin.readline()
        print(*sorted(hit.document for hit in index.search(sys.argv[2])), flush=True)
        sys.stdin.readline()
