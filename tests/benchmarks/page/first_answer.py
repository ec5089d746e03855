"""How soon the page shows its first answer: from the moment the server is ready until the passages are painted.

    python tests/benchmarks/page/first_answer.py [DOCUMENTS]

Needs Chromium, whose own start does not count: it is there, with an empty tab, before the server is.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "support"))

from browsing import running_browser, visiting
from serving import running
from small import small_vectors, write_articles

from semsearch.index import Index
from semsearch.server.open_indexes import OpenIndexes

TIMES = 9
_PAINTED = "() => document.querySelector('.hit mark') !== null"


def main() -> None:
    documents = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    with tempfile.TemporaryDirectory() as name, running_browser() as browser:
        folder = Path(name)
        write_articles(folder / "docs", documents)
        with Index.create(folder / "indexes" / "docs", vectors=small_vectors(folder)) as index:
            index.sync(folder / "docs")
        taken, typed = [], []
        for _ in range(TIMES):
            served = OpenIndexes(folder=folder / "indexes")
            served.warm_up()
            with running(served) as asker, visiting(browser, asker) as visit:
                while asker.get("/health").status != 200:
                    pass
                began = time.perf_counter()
                visit.go("#/search?q=ship+in+the+storm")
                visit.page.wait_for_function(_PAINTED)
                taken.append(time.perf_counter() - began)
                typed.append(visit.page.evaluate(_TYPE))
    print(f"{documents} documents")
    print(f"first answer after {_said(taken)}; the next, from a letter to its frame, {_said(typed)}")


_TYPE = """async () => {
    const box = document.querySelector('#box'), before = document.querySelector('.hit');
    const began = performance.now();
    box.value = 'ship in the harbour';
    box.dispatchEvent(new Event('input'));
    while (document.querySelector('.hit') === before) await new Promise(requestAnimationFrame);
    return (performance.now() - began) / 1000;
}"""


def _said(seconds: list[float]) -> str:
    return f"{1000 * statistics.median(seconds):.0f} ms ({1000 * min(seconds):.0f} to {1000 * max(seconds):.0f})"


if __name__ == "__main__":
    main()
