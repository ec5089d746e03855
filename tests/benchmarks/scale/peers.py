"""semsearch beside bm25s, SQLite FTS5 and FAISS on the same synthetic text: time, memory and disk, and answers.

    pip install . ./research
    python tests/benchmarks/scale/peers.py FOLDER --sizes 100000,1000000,10000000

The text is that of growth.py. The unit is the passage, as semsearch makes them: bm25s and FTS5 get the same ones, a
line each, FAISS gets semsearch's vectors of them (half precision) and of the questions. Each step is a process of its
own with one thread for BLAS and OpenMP, at most --gigabytes of data and --seconds of processor time; a peer that needs
more has a row that says so. Texts and indexes are kept in FOLDER; other peers than semsearch need its run before.

- Indexing: processor time of all threads and the resident memory at its peak, from text or vectors to files on disk.
- Disk: bytes of the files for each byte of text.
- Answers: mean processor time, all threads, of the ten best for a question that was not asked before; and the resident
  memory at its peak, index and questions loaded. semsearch and FTS5 also fetch the text.
- Recall of what is approximate: the share of the ten best by comparing all vectors. FAISS searches the smallest number
  of lists, of a series, that reaches .95 on other questions.
"""

from __future__ import annotations

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[_name] = "1"  # before numpy is imported

import argparse
import json
import resource
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

# imports within functions: a process has no more in memory than its peer needs

K, WARM, TUNED, ASKED, TARGET = 10, 20, 100, 200, 0.95
BATCH = 8192
COLUMNS = "sentences|peer|it gets|indexed, s|memory, MB|bytes a byte|answers|ms|memory, MB|recall".split("|")

Ask = Callable[[int], Any]  # the number of a question -> ids of passages, from 0; anything where recall is not asked


@dataclass(frozen=True)
class Corpus:
    """What all peers get: passages (n), questions, and vectors of both; files of a folder."""

    folder: Path

    @property
    def lines(self) -> Iterator[str]:
        """The passages."""
        with (self.folder / "passages.txt").open(encoding="utf-8") as file:
            yield from (line[:-1] for line in file)

    @property
    def questions(self) -> list[str]:
        """The questions: some to warm up, some to tune, the rest to measure."""
        questions: list[str] = json.loads((self.folder.parent / "questions.json").read_text())
        return questions[: WARM + TUNED + ASKED]

    def array(self, name: str) -> Any:
        """`vectors` (n, d) and `ids` (n,) of semsearch's passages, `questions` (q, d), their `best` passages (q, K)."""
        return np.load(self.folder / f"{name}.npy", mmap_mode="r" if name == "vectors" else None)


@dataclass(frozen=True)
class Answers:
    """How a peer is asked: a name, a function of a question's number; whether it is approximate."""

    name: str
    ask: Ask
    approximate: bool = False


# -- semsearch ---------------------------------------------------------------------------------------------------------


def semsearch_index(corpus: Corpus, out: Path) -> None:
    """Index the files themselves; the first of all peers, since the passages are those of this index."""
    options = ["--name", str(out / "index"), "--processes", "1", "--quiet"]
    os.execv(sys.executable, [sys.executable, "-m", "semsearch", "index", str(corpus.folder.parent / "text"), *options])


def semsearch_open(corpus: Corpus, out: Path) -> list[Answers]:
    """All modes, and the scan of all passages' vectors alone."""
    from semsearch import Index

    index, questions = Index.open(out / "index"), corpus.questions
    asked, ids = corpus.array("questions"), corpus.array("ids")

    def search(mode: Any, number: int) -> Any:
        return index.search(questions[number], K, mode=mode)

    def scan(number: int) -> Any:
        nearest = index.searcher.in_one_generation(
            lambda view: view.reader.passage_vectors.search(asked[number][None], K).ids[0]
        )
        return np.searchsorted(ids, nearest)

    modes = [Answers(mode, partial(search, mode)) for mode in ("hybrid", "dense", "lexical")]
    return [*modes, Answers("scan of vectors only", scan, approximate=True)]


def export(corpus: Corpus, out: Path) -> None:
    """Write what the other peers get, out of semsearch's index."""
    from semsearch import Index
    from semsearch.results.options import SearchOptions
    from semsearch.search.prepare_query import prepare

    folder, dense = corpus.folder, SearchOptions(mode="dense")
    with sqlite3.connect(out / "index" / "index.sqlite") as db, (folder / "passages.txt").open("w") as file:
        ids = []
        for id_, text in db.execute("SELECT id, text FROM passages ORDER BY id"):
            ids.append(id_)
            file.write(" ".join(text.split()) + "\n")

    def copy(view: Any) -> None:
        asked: Any = np.array([prepare(question, dense, view).vector for question in corpus.questions])
        shape = (len(ids), asked.shape[1])
        vectors = np.lib.format.open_memmap(folder / "vectors.npy", mode="w+", dtype=np.float16, shape=shape)
        best, scores = np.full((len(asked), K), -1), np.full((len(asked), K), -np.inf)
        for first in range(0, len(ids), BATCH):
            rows = view.reader.passage_vectors.fetch(np.array(ids[first : first + BATCH])).by_position().rows
            vectors[first : first + BATCH] = rows
            numbers = np.broadcast_to(np.arange(first, first + len(rows)), (len(asked), len(rows)))
            together, scores = np.concatenate((best, numbers), axis=1), np.concatenate((scores, asked @ rows.T), axis=1)
            columns = np.argsort(-scores, axis=1, kind="stable")[:, :K]
            best, scores = (np.take_along_axis(array, columns, axis=1) for array in (together, scores))
        for name, array in (("ids", np.array(ids)), ("questions", asked), ("best", best)):
            np.save(folder / f"{name}.npy", array)

    with Index.open(out / "index") as index:
        index.searcher.in_one_generation(copy)


# -- Words -------------------------------------------------------------------------------------------------------------


def bm25s_index(corpus: Corpus, out: Path) -> None:
    """English stop words and stems, as in `semsearch bench --peer bm25s`."""
    import bm25s

    retriever = bm25s.BM25(k1=1.2, b=0.75)
    retriever.index(bm25s_tokens(list(corpus.lines)), show_progress=False)
    retriever.save(out)


def bm25s_open(corpus: Corpus, out: Path) -> list[Answers]:
    """Mapped into memory."""
    import bm25s

    retriever, questions = bm25s.BM25.load(out, mmap=True), corpus.questions

    def ask(number: int) -> Any:
        return retriever.retrieve(bm25s_tokens([questions[number]]), k=K, show_progress=False)

    return [Answers("BM25, mapped", ask)]


def bm25s_tokens(texts: list[str]) -> Any:
    import bm25s
    import Stemmer

    return bm25s.tokenize(texts, stopwords="en", stemmer=Stemmer.Stemmer("english"), show_progress=False)


def fts5_index(corpus: Corpus, out: Path) -> None:
    """Words and stems; the text is in the table."""
    with sqlite3.connect(out / "fts5.sqlite") as db:
        db.execute("CREATE VIRTUAL TABLE passages USING fts5(text, tokenize='porter unicode61')")
        db.executemany("INSERT INTO passages (rowid, text) VALUES (?, ?)", enumerate(corpus.lines))
        db.execute("INSERT INTO passages (passages) VALUES ('optimize')")


def fts5_open(corpus: Corpus, out: Path) -> list[Answers]:
    """Any of a question's words that is no stop word; all words with stop words would take many times as long."""
    from bm25s.stopwords import STOPWORDS_EN

    from semsearch.text.tokens import words

    db, questions = sqlite3.connect(out / "fts5.sqlite"), corpus.questions
    sql = f"SELECT rowid, text FROM passages WHERE passages MATCH ? ORDER BY rank LIMIT {K}"  # noqa: S608  # a number

    def ask(number: int) -> Any:
        quoted = [f'"{word}"' for word in words(questions[number]) if word not in STOPWORDS_EN]
        return db.execute(sql, [" OR ".join(quoted) or '""']).fetchall()

    return [Answers("BM25", ask)]


# -- Vectors -----------------------------------------------------------------------------------------------------------


def faiss_index(factory: str, corpus: Corpus, out: Path) -> None:
    """All vectors in single precision (flat), or half of it in lists, as many as the root of their number."""
    import faiss

    vectors = corpus.array("vectors")
    lists = int(len(vectors) ** 0.5)
    index = faiss.index_factory(vectors.shape[1], factory.format(lists=lists), faiss.METRIC_INNER_PRODUCT)
    chosen = np.sort(np.random.default_rng(0).permutation(len(vectors))[: 50 * lists])
    index.train(vectors[chosen].astype(np.float32))
    for first in range(0, len(vectors), BATCH):
        index.add(vectors[first : first + BATCH].astype(np.float32))
    faiss.write_index(index, str(out / "vectors.faiss"))


def faiss_open(corpus: Corpus, out: Path) -> list[Answers]:
    """Read into memory; of lists as many are searched as reach the target."""
    import faiss

    index: Any = faiss.read_index(str(out / "vectors.faiss"))
    asked, best = corpus.array("questions"), corpus.array("best")

    def ask(number: int) -> Any:
        return index.search(asked[number][None], K)[1][0]

    if not isinstance(index, faiss.IndexIVF):
        return [Answers("exact", ask)]
    tuning = range(WARM, WARM + TUNED)
    for power in range(1, index.nlist.bit_length() + 1):
        index.nprobe = min(2**power, index.nlist)
        if recall([ask(number) for number in tuning], best[WARM : WARM + TUNED]) >= TARGET:
            break
    return [Answers(f"{index.nprobe} of {index.nlist} lists", ask, approximate=True)]


# -- Measuring ---------------------------------------------------------------------------------------------------------

PEERS: dict[str, tuple[str, Callable[[Corpus, Path], None], Callable[[Corpus, Path], list[Answers]]]] = {
    "semsearch": ("text", semsearch_index, semsearch_open),
    "bm25s": ("text", bm25s_index, bm25s_open),
    "SQLite FTS5": ("text", fts5_index, fts5_open),
    "FAISS flat": ("vectors", partial(faiss_index, "Flat"), faiss_open),
    "FAISS lists": ("vectors", partial(faiss_index, "IVF{lists},SQfp16"), faiss_open),
}


def recall(answers: Sequence[Any], best: Any) -> float:
    """The share of the best that are among the answers."""
    return float(np.mean([np.isin(true, answer).mean() for answer, true in zip(answers, best, strict=True)]))


def measure(corpus: Corpus, out: Path) -> None:
    """Print for each way of asking its name, ms, the memory of the process at the peak in MB, and recall."""
    rows = []
    for way in PEERS[out.name][2](corpus, out):
        for number in range(WARM):
            way.ask(number)
        numbers = range(WARM + TUNED, len(corpus.questions))
        start = time.process_time()  # of all together: where the system counts by ticks, one is as long as an answer
        answers = [way.ask(number) for number in numbers]
        ms = 1000 * (time.process_time() - start) / len(numbers)
        share = f"{recall(answers, corpus.array('best')[WARM + TUNED :]):.3f}" if way.approximate else "–"
        rows.append((way.name, f"{ms:.2f}", share))
    peak = f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f}"
    print(json.dumps([[name, ms, peak, share] for name, ms, share in rows]))


def in_process(arguments: argparse.Namespace, folder: Path, name: str, step: str) -> tuple[str, float, float]:
    """Run a step with its limits: what it printed, processor seconds, MB at the peak. Raises CalledProcessError."""

    def limit() -> None:
        size = int(arguments.gigabytes * 1e9)
        resource.setrlimit(resource.RLIMIT_DATA, (size, size))
        resource.setrlimit(resource.RLIMIT_CPU, (arguments.seconds, arguments.seconds))

    command = [sys.executable, __file__, str(folder), "--peers", name, "--step", step]
    with subprocess.Popen(command, stdout=subprocess.PIPE, preexec_fn=limit, text=True) as process:
        assert process.stdout is not None
        output = process.stdout.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return output, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def run(arguments: argparse.Namespace, size: int, name: str) -> Iterator[list[str]]:
    """The rows of a peer at a size, one for each way of asking."""
    folder = arguments.folder / str(size)
    out, text = folder / "peers" / name, sum(path.stat().st_size for path in (folder / "text").rglob("*.txt"))
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    first = [f"{size:,}", name, PEERS[name][0]]
    try:
        _, seconds, memory = in_process(arguments, folder, name, "index")
        disk = sum(path.stat().st_size for path in out.rglob("*") if path.is_file()) / text
        if name == "semsearch":
            in_process(arguments, folder, name, "export")
        output, _, _ = in_process(arguments, folder, name, "ask")
    except subprocess.CalledProcessError as error:
        yield [*first, f"not within the limits ({error.returncode})", *[""] * (len(COLUMNS) - 4)]
        return
    first += [f"{seconds:,.1f}", f"{memory:,.0f}", f"{disk:.2f}"]
    for number, row in enumerate(json.loads(output.splitlines()[-1])):
        yield [*([""] * len(first) if number else first), *row]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sizes", default="100000,1000000")
    parser.add_argument("--peers", default=",".join(PEERS))
    parser.add_argument("--gigabytes", type=float, default=8, help="of data, for each process")
    parser.add_argument("--seconds", type=int, default=1200, help="of the processor, for each process")
    parser.add_argument("--step", choices=("index", "export", "ask"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.step:
        corpus, name = Corpus(arguments.folder / "peers"), arguments.peers
        {"index": PEERS[name][1], "export": export, "ask": measure}[arguments.step](corpus, corpus.folder / name)
        return
    from growth import make_text

    print(f"| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}")
    for size in map(int, arguments.sizes.split(",")):
        make_text(arguments.folder / str(size), size)
        for name in arguments.peers.split(","):
            for row in run(arguments, size, name):
                print(f"| {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()
