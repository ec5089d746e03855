"""An index that is open when its process is forked: a helper process of laws/test_replaced.py.

    python processes/forking.py INDEX DOCS

The child asks with the index that it inherited, the parent writes, and the child asks again, one question and many at
once, which FAISS would share among threads that the child does not have. Prints what both found, as JSON.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from semsearch.index import Index
from semsearch.readers.document import Text

MANY = ["the captain of a ship", "an oven for bread"] * 20


def found(index: Index) -> list[object]:
    return [
        sorted({Path(hit.path).name for hit in index.search("captain harbour ship", 20)}),
        [len(hits) for hits in index.search_many(MANY, 3, duplicates=True)],
    ]


def main(index_path: str, docs: str) -> None:
    (from_child, to_parent), (from_parent, to_child) = os.pipe(), os.pipe()
    with Index.open(index_path) as index:
        before = found(index)
        child = os.fork()
        if not child:
            os.write(to_parent, json.dumps(found(index)).encode() + b"\n")
            os.read(from_parent, 1)
            os.write(to_parent, json.dumps(found(index)).encode() + b"\n")
            os._exit(0)
        with os.fdopen(from_child) as answers:
            inherited = json.loads(answers.readline())
            index.add([Text("later", "one more harbour for the captain of a ship")])
            (Path(docs) / "new.md").write_text("A captain, a harbour, a ship, and an anchor.\n", encoding="utf-8")
            index.sync()
            os.write(to_child, b".")
            later = json.loads(answers.readline())
        os.waitpid(child, 0)
        print(json.dumps({"before": before, "inherited": inherited, "later": later, "parent": found(index)}))


if __name__ == "__main__":
    main(*sys.argv[1:])
