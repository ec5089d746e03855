"""What an index of made-up text takes by its size: disk by kind of file, time, memory, answers; a row for each size.

    python tests/benchmarks/scale/growth.py FOLDER --sizes 10000,100000,1000000 [--processes 2] [--no-sentence-vectors]

Texts and indexes are kept in FOLDER, and used again by the next run: remove it afterwards. All times are processor
time of the process (indexing: with its children), since that depends least on what else the machine does; only the
first answer is measured by the clock too, as it waits for the disk: the index's files are taken out of the system's
cache before (Linux), as if they had not been read since the machine was started.
"""

from __future__ import annotations

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[_name] = "1"  # before numpy is imported

import argparse
import json
import resource
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from statistics import median

from semsearch import Index, VectorTable
from semsearch.word_vectors import open_vectors
from semsearch_research.bench.bench_text import made_up, take_sample, write_corpus

KINDS = ("sentence", "passage", "words", "topics")
MODES = ("hybrid", "dense", "lexical")
QUESTIONS = 60  # for each mode and turn
COLUMNS = (
    *("sentences", "bytes a byte of text", *KINDS, "rows", "indexed, s", "MB", "first answer, s (clock)", "MB read"),
    *("cold query, s", *(f"{mode}, ms" for mode in MODES), "hybrid again, ms", "unchanged, s", "one file changed, s"),
)


def make_text(folder: Path, sentences: int) -> None:
    """Write the text and questions about it, unless they are there."""
    if not (folder / "questions.json").exists():
        vectors = open_vectors("english")
        assert isinstance(vectors, VectorTable)
        corpus = write_corpus(made_up(vectors, sentences), folder / "text", sentences, lambda *_: None)
        (folder / "questions.json").write_text(json.dumps(take_sample(corpus, 20_000).many))


def cpu_of(command: list[str]) -> tuple[float, float]:
    """Run a command: the processor time of it and its children in seconds, and the megabytes of its largest process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, after.ru_maxrss / 1024


def evict(folder: Path) -> None:
    """Take the files of a folder out of the system's cache."""
    for path in folder.rglob("*"):
        if path.is_file():
            file = os.open(path, os.O_RDONLY)
            os.fsync(file)
            os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(file)


def asked(index: Index, questions: list[str], mode: str) -> float:
    """The median processor time of an answer, in ms."""
    times = []
    for question in questions:
        start = time.process_time()
        index.search(question, mode=mode)  # type: ignore[arg-type]
        times.append(1000 * (time.process_time() - start))
    return median(times)


def first_answer(folder: Path, question: str) -> tuple[float, float, float]:
    """Seconds by the clock and of the processor until the first answer of an opened index, and megabytes read."""
    started, cpu, read = time.perf_counter(), time.process_time(), bytes_read()
    with Index.open(folder) as index:
        index.search(question)
    return time.perf_counter() - started, time.process_time() - cpu, (bytes_read() - read) / 1e6


def bytes_read() -> int:
    lines = dict(line.split(": ") for line in Path("/proc/self/io").read_text().splitlines())
    return int(lines["read_bytes"])


def measured(folder: Path, index: Path) -> list[str]:
    """What is measured in a process of its own: the first answer, then warm ones, then syncs."""
    questions: list[str] = json.loads((folder / "questions.json").read_text())
    evict(index)
    clock, cpu, read = first_answer(index, questions[-1])
    with Index.open(index) as opened:
        for mode in MODES:
            asked(opened, questions[-40:-1], mode)
        parts = [questions[at * QUESTIONS : (at + 1) * QUESTIONS] for at in range(len(MODES))]
        warm = [asked(opened, part, mode) for part, mode in zip(parts, MODES, strict=True)]
        again = asked(opened, parts[0], "hybrid")
        syncs = []
        changing = next((folder / "text").rglob("*.txt"))
        for number in range(6):
            if number > 2:
                with changing.open("a") as file:
                    file.write(f"\nThis sentence of one file was added at {time.time_ns()}.\n")
            start = time.process_time()
            opened.sync(folder / "text")
            syncs.append(time.process_time() - start)
    cells = [f"{cpu:.2f} ({clock:.2f})", f"{read:.0f}", "", *(f"{each:.1f}" for each in warm), f"{again:.1f}"]
    return [*cells, f"{median(syncs[:3]):.2f}", f"{median(syncs[3:]):.2f}"]


def row(root: Path, sentences: int, options: list[str], processes: int) -> list[str]:
    folder = root / str(sentences)
    make_text(folder, sentences)
    text = sum(path.stat().st_size for path in (folder / "text").rglob("*.txt"))
    index = folder / "-".join(["index", *(option.strip("-") for option in options)])
    made = ["", ""]
    program = [sys.executable, "-m", "semsearch"]
    if not (index / "index.sqlite").exists():
        named = ["--name", str(index), "--processes", str(processes), "--quiet"]
        cpu, memory = cpu_of([*program, "index", str(folder / "text"), *named, *options])
        made = [f"{cpu:.1f}", f"{memory:.0f}"]
    sizes: Counter[str] = Counter()
    for path in index.rglob("*"):
        if path.is_file():
            sizes[next((kind for kind in KINDS if path.name.startswith(f"{kind}-")), "rows")] += path.stat().st_size
    disk = [f"{sum(sizes.values()) / text:.2f}", *(f"{sizes[kind] / text:.2f}" for kind in (*KINDS, "rows"))]
    inner = [sys.executable, __file__, str(folder), "--measure", str(index)]
    cells = json.loads(subprocess.run(inner, check=True, capture_output=True, text=True).stdout.splitlines()[-1])
    question = json.loads((folder / "questions.json").read_text())[200]
    cells[2] = f"{median(cpu_of([*program, 'query', question, '--index', str(index)])[0] for _ in range(5)):.2f}"
    return [f"{sentences:,}", *disk, *made, *cells]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sizes", default="10000,100000,1000000")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--no-sentence-vectors", action="store_true")
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        print(json.dumps(measured(arguments.folder, arguments.measure)))
        return
    options = ["--no-sentence-vectors"] * arguments.no_sentence_vectors
    print(f"| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}")
    for size in map(int, arguments.sizes.split(",")):
        print(f"| {' | '.join(row(arguments.folder, size, options, arguments.processes))} |", flush=True)


if __name__ == "__main__":
    main()
