"""How fast documents of a format are indexed, and how much of that is the reader's work.

    python tests/benchmarks/formats.py FOLDER... [--runs 3]

For each folder: files, sentences, sentences a second with one process and with two, and the share of the time with one
process that goes into reading: decoding, parsing, finding the clean text again in its source. Each kind of run is made
in turn, and medians are printed. One thread a process.
"""

from __future__ import annotations

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[_name] = "1"  # before numpy is imported

import argparse
import statistics
import tempfile
import time
from pathlib import Path

from semsearch import Index
from semsearch.errors import SourceError
from semsearch.readers.read import read_file
from semsearch.readers.registry import SUFFIXES


def reading(paths: list[Path]) -> float:
    """Seconds to read all files."""
    begun = time.perf_counter()
    for path in paths:
        try:
            read_file(path)
        except SourceError as error:
            print(error)
    return time.perf_counter() - begun


def indexing(folder: Path, processes: int) -> tuple[float, int]:
    """Seconds to index a folder from nothing, and how many sentences it has."""
    with tempfile.TemporaryDirectory() as place, Index.create(Path(place) / "index") as index:
        begun = time.perf_counter()
        report = index.sync(folder, processes=processes)
        return time.perf_counter() - begun, report.sentences


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--runs", type=int, default=3)
    arguments = parser.parse_args()
    print(f"{'folder':12} {'files':>6} {'sentences':>10} {'1 process':>10} {'2':>8} {'reading':>8}")
    for folder in arguments.folders:
        paths = [path for path in folder.rglob("*") if path.suffix in SUFFIXES]
        rounds = [(reading(paths), indexing(folder, 1), indexing(folder, 2)) for _ in range(arguments.runs)]
        sentences = rounds[0][1][1]
        read, one, two = (
            statistics.median(times)
            for times in zip(*((read, one[0], two[0]) for read, one, two in rounds), strict=True)
        )
        print(
            f"{folder.name:12} {len(paths):6,} {sentences:10,} {sentences / one:8,.0f}/s {sentences / two:6,.0f}/s "
            f"{read / one:7.0%}"
        )


if __name__ == "__main__":
    main()
