"""What it takes to look at pages of a PDF of an index: time for a picture and for its sentences, and memory after them.

Run: python tests/benchmarks/pdf_pictures.py INDEX DOCUMENT [PAGES]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

from semsearch import Index


def resident() -> float:
    """Megabytes of this process in memory. Linux only."""
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * 4096 / 1e6


def measure(name: str, look: Callable[[int], object], pages: int, times: int) -> None:
    """Look at pages in turn, and print what each took."""
    for page in range(min(pages, 10)):  # what is loaded once
        look(1 + page)
    before, began = resident(), time.perf_counter()
    for number in range(times):
        look(1 + number % pages)
    took = 1000 * (time.perf_counter() - began) / times
    print(f"{name}: {took:.1f} ms each, in another process; {before:.0f} MB before, {resident():.0f} MB after {times}")


if __name__ == "__main__":
    folder, document, times = sys.argv[1], sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 200
    with Index.open(folder) as index:
        count = index.page(document, 1).pages
        measure("picture, 1,000 pixels wide", lambda page: index.page_picture(document, page), count, times)
        measure("sentences", lambda page: index.page(document, page), count, times)
