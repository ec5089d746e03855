"""What an index of made-up text takes by its size: disk by kind of file, time, memory, answers; a column for each size.

    python tests/benchmarks/scale/growth.py FOLDER --sizes 10000,100000,1000000 [--processes 2] [--set KEY=VALUE]
    python tests/benchmarks/scale/growth.py FOLDER --sizes "" --plot growth.svg     # of what was measured before

Texts, indexes and figures (growth.json) are kept in FOLDER, and used again by the next run: an index that is there is
not made again, and keeps its figures of indexing. Remove the folder afterwards. All times are processor time of the
process (indexing: with its children), since that depends least on what else the machine does; only the first answer is
measured by the clock too, as it waits for the disk: the index's files are taken out of the system's cache before
(Linux), as if they had not been read since the machine was started. Memory is what is resident at the peak, pages of
mapped files included.
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
from collections.abc import Mapping
from pathlib import Path
from statistics import median

from semsearch import Index, VectorTable
from semsearch.word_vectors.table import open_vectors
from semsearch_research.bench.bench_text import made_up, take_sample, write_corpus
from semsearch_research.evaluate.plots import new_figure, save, style

KINDS = ("sentence", "passage", "words", "topics")
MODES = ("hybrid", "dense", "lexical")
QUESTIONS = 60  # for each mode and turn
LINES: Mapping[str, tuple[str, int]] = {  # what is measured: its name in the table, digits after the point
    "bytes": ("bytes for each byte of text", 1),
    "sentence": ("– vectors of sentences", 1),
    "passage": ("– vectors of passages", 1),
    "words": ("– words", 1),
    "topics": ("– topics", 1),
    "rows": ("– database", 1),
    "indexed": ("indexed, s", 1),
    "memory": ("– memory, MB", 0),
    "first clock": ("first answer by the clock, s", 2),
    "first": ("– of the processor, s", 2),
    "read": ("– it reads, MB", 0),
    "cold": ("`semsearch query`, s", 2),
    "hybrid": ("hybrid, ms", 1),
    "dense": ("dense, ms", 1),
    "lexical": ("lexical, ms", 1),
    "again": ("hybrid, asked again, ms", 1),
    "asking": ("– memory, MB", 0),
    "unchanged": ("sync, no file changed, s", 2),
    "changed": ("sync, one changed, s", 2),
}
PLOTS = {  # a picture of each
    "indexing, s": ("indexed",),
    "memory, MB": ("memory", "asking"),
    "disk, MB": ("disk",),
    "a new question, ms": MODES,
    "first answer, s": ("first clock", "first"),
    "sync, s": ("unchanged", "changed"),
}
CURVES = {
    "memory": "to index",
    "asking": "to ask",
    "first clock": "by the clock",
    "first": "of the processor",
    "unchanged": "no file changed",
    "changed": "one changed",
}

Figures = dict[str, float]


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


def measured(folder: Path, index: Path) -> Figures:
    """What is measured in a process of its own: the first answer, then warm ones, then syncs."""
    questions: list[str] = json.loads((folder / "questions.json").read_text())
    evict(index)
    figures = dict(zip(("first clock", "first", "read"), first_answer(index, questions[-1]), strict=True))
    with Index.open(index) as opened:
        for mode in MODES:
            asked(opened, questions[-40:-1], mode)
        parts = [questions[at * QUESTIONS : (at + 1) * QUESTIONS] for at in range(len(MODES))]
        figures |= {mode: asked(opened, part, mode) for part, mode in zip(parts, MODES, strict=True)}
        figures["again"] = asked(opened, parts[0], "hybrid")
        figures["asking"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        syncs = []
        changing = next((folder / "text").rglob("*.txt"))
        for number in range(6):
            if number > 2:
                with changing.open("a") as file:
                    file.write(f"\nThis sentence of one file was added at {time.time_ns()}.\n")
            start = time.process_time()
            opened.sync(folder / "text")
            syncs.append(time.process_time() - start)
    return {**figures, "unchanged": median(syncs[:3]), "changed": median(syncs[3:])}


def figures_of(folder: Path, sentences: int, options: list[str], processes: int, known: Figures) -> Figures:
    """All figures of a size; `known` are those that were measured before."""
    make_text(folder, sentences)
    text = sum(path.stat().st_size for path in (folder / "text").rglob("*.txt"))
    index = folder / "-".join(["index", *(option.strip("-") for option in options)])
    made = {name: value for name, value in known.items() if name in ("indexed", "memory")}
    program = [sys.executable, "-m", "semsearch"]
    if not (index / "index.sqlite").exists():
        named = ["--name", str(index), "--processes", str(processes), "--quiet"]
        cpu, memory = cpu_of([*program, "index", str(folder / "text"), *named, *options])
        made = {"indexed": cpu, "memory": memory}
    sizes: Counter[str] = Counter()
    for path in index.rglob("*"):
        if path.is_file():
            sizes[next((kind for kind in KINDS if path.name.startswith(f"{kind}-")), "rows")] += path.stat().st_size
    disk = {"bytes": sum(sizes.values()) / text, "disk": sum(sizes.values()) / 1e6}
    inner = [sys.executable, __file__, str(folder), "--measure", str(index)]
    answers = json.loads(subprocess.run(inner, check=True, capture_output=True, text=True).stdout.splitlines()[-1])
    question = json.loads((folder / "questions.json").read_text())[200]
    cold = median(cpu_of([*program, "query", question, "--index", str(index)])[0] for _ in range(5))
    return {**disk, **{kind: sizes[kind] / text for kind in (*KINDS, "rows")}, **made, **answers, "cold": cold}


def table(columns: Mapping[str, Figures]) -> str:
    """A Markdown table: a line for each figure, a column for each size."""
    columns = dict(sorted(columns.items(), key=lambda each: (int(_parted(each[0])[0]), each[0])))
    lines = [["sentences", *(f"{int(size):,}{', ' * bool(rest)}{rest}" for size, _, rest in map(_parted, columns))]]
    for name, (label, digits) in LINES.items():
        lines.append([label, *(f"{own[name]:,.{digits}f}" if name in own else "" for own in columns.values())])
    return "\n".join(f"| {' | '.join(line)} |" for line in [lines[0], ["---"] * len(lines[0]), *lines[1:]])


def plot(columns: Mapping[str, Figures], path: Path) -> None:
    """Draw the figures of indexes with all parts against the sentences, on logarithmic axes."""
    import matplotlib
    from matplotlib.ticker import LogLocator, NullFormatter

    sizes = sorted(int(name) for name in columns if name.isdigit())
    figure, first = new_figure(8.4, 4.6)
    figure.delaxes(first)
    for number, (title, names) in enumerate(PLOTS.items()):
        axes = figure.add_subplot(2, 3, number + 1)
        style(axes)
        for name in names:
            axes.plot(sizes, [columns[str(size)][name] for size in sizes], label=CURVES.get(name, name), markersize=4)
        axes.set_title(title, loc="left", fontsize=10)
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xticks(sizes)
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.yaxis.set_major_formatter("{x:,.10g}")
        axes.yaxis.set_minor_formatter(NullFormatter())
        axes.minorticks_off()
        if len(names) > 1:
            axes.legend(frameon=False, fontsize=8)
    figure.supxlabel("sentences", fontsize=10)
    with matplotlib.rc_context({"svg.fonttype": "none"}):  # text, not outlines: smaller, and can be searched
        save(figure, path)


def _parted(name: str) -> tuple[str, str, str]:
    return name.partition(" ")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sizes", default="10000,100000,1000000")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw all figures of FOLDER: .svg, .png or .pdf")
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure:
        print(json.dumps(measured(given.folder, given.measure)))
        return
    options = [word for setting in given.set for word in ("--set", setting)]
    kept = given.folder / "growth.json"
    columns: dict[str, Figures] = json.loads(kept.read_text()) if kept.exists() else {}
    for size in map(int, filter(None, given.sizes.split(","))):
        name = " ".join([str(size), *(option.strip("-").replace("-", " ") for option in options)])
        columns[name] = figures_of(given.folder / str(size), size, options, given.processes, columns.get(name, {}))
        kept.write_text(json.dumps(columns, indent=1))
    print(table(columns))
    if given.plot:
        plot(columns, given.plot)


if __name__ == "__main__":
    main()
