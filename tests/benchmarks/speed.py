"""How fast it is here: medians of several runs, one core.

    python tests/benchmarks/speed.py TEXT_FOLDER [--runs 5] [--index DIR]

TEXT_FOLDER holds documents, for example plain text files. Measured are: strings to unit vectors (SIF, uSIF; batches of
10,000 sentences), a whole `semsearch index`, a sync without changes, a cold `semsearch query` (a new process, files in
the operating system's cache), a process that only imports numpy and faiss, and a warm search in Python.
"""

from __future__ import annotations

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[_name] = "1"  # before numpy is imported

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from semsearch import Index, SentenceEmbedder, load_vectors
from semsearch.passages import passages
from semsearch.readers import SUFFIXES, read_file

QUERIES = [
    "how do volcanoes form",
    "the largest city in the world",
    "who invented the telephone",
    "what do plants need to grow",
    "war between two countries over land",
    "a disease spread by mosquitoes",
    "how is a president elected",
    "music played by an orchestra",
]


def median(measure: Callable[[], float], runs: int) -> float:
    return statistics.median(measure() for _ in range(runs))


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def process(*arguments: str) -> float:
    return seconds(lambda: subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL))


def sentences_of(folder: Path, most: int) -> list[str]:
    found: list[str] = []
    for path in sorted(folder.rglob("*.*")):
        if len(found) >= most:
            break
        for passage in passages(read_file(path).document):
            found += [passage.text[sentence.start : sentence.end] for sentence in passage.sentences]
    return found[:most]


def embedding_rate(method: str, sentences: list[str], runs: int) -> float:
    embedder = SentenceEmbedder(load_vectors(), method=method, components=5).fit(sentences)
    batches = [sentences[first : first + 10_000] for first in range(0, len(sentences), 10_000)]

    def work() -> None:
        for batch in batches:
            embedder.transform(batch)

    work()
    return len(sentences) / median(lambda: seconds(work), runs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--sentences", type=int, default=200_000)
    arguments = parser.parse_args()
    runs, figures = arguments.runs, {}
    sentences = sentences_of(arguments.folder, arguments.sentences)
    figures["words a sentence"] = sum(len(sentence.split()) for sentence in sentences) / len(sentences)
    for method in ("sif", "usif"):
        figures[f"strings to vectors, {method}, sentences/s"] = embedding_rate(method, sentences, runs)
    with tempfile.TemporaryDirectory() as place:
        index_path = Path(place) / "index"

        def index_all() -> float:
            shutil.rmtree(index_path, ignore_errors=True)
            command = ["-m", "semsearch", "index", str(arguments.folder), "--indexes", place, "--name", "index"]
            return process(*command)

        taken = median(index_all, runs)
        with Index.open(index_path) as index:
            status = index.status()
            figures["sentences"] = status.sentences
            figures["whole index, sentences/s"] = status.sentences / taken
            documents = [path for path in sorted(arguments.folder.rglob("*.*")) if path.suffix in SUFFIXES]
            reading = median(lambda: seconds(lambda: [read_file(path) for path in documents]), runs)
            figures["of which reading files, share"] = reading / taken
            figures["sync without changes, s"] = median(lambda: seconds(index.sync), runs)
        query = ["-m", "semsearch", "query", "--index", str(index_path), "--format", "plain"]
        figures["cold query, s"] = median(lambda: process(*query, QUERIES[0]), runs)
        figures["process that imports numpy and faiss, s"] = median(lambda: process("-c", "import numpy, faiss"), runs)
        with Index.open(index_path) as index:
            for mode in ("dense", "lexical", "hybrid"):
                times = [
                    seconds(lambda query=query, mode=mode: index.search(query, mode=mode))
                    for query in QUERIES * (runs + 1)
                ]
                figures[f"warm search, {mode}, ms"] = 1000 * statistics.median(times[len(QUERIES) :])
    print(json.dumps({name: round(value, 4) for name, value in figures.items()}, indent=2))


if __name__ == "__main__":
    main()
