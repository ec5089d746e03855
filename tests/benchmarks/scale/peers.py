"""semsearch beside other packages on the same synthetic text: time, memory and disk of an index, and of answers.

    pip install . ./research lancedb vicinity hnswlib
    python tests/benchmarks/scale/peers.py FOLDER --sizes 100000,1000000,10000000

The text is that of growth.py. The unit is the passage, as semsearch makes them: each peer gets the same ones, a line
each, and the peers that only compare vectors get those of semsearch (half precision) and of its questions. Each
measurement is a process of its own with one thread for BLAS and OpenMP, at most --gigabytes of data and --seconds of
processor time; a peer that needs more has a row that says so. Texts and indexes are kept in FOLDER.

- Indexing: processor time of all threads and the resident memory at its peak, from text or vectors to files on disk.
- Disk: bytes of the files for each byte of text.
- Answers: mean processor time, all threads, of ten best for a question that was not asked before; and the resident
  memory at its peak, index and questions loaded. semsearch and Lance also fetch the text; vicinity holds it.
- Recall of what is approximate: the share of the ten best by comparing all vectors. Where a peer has a number that
  trades time for recall, it is the smallest of a series that reaches .95 on other questions.
"""

from __future__ import annotations

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[_name] = "1"  # before numpy is imported
os.environ.update(TOKENIZERS_PARALLELISM="false", LANCE_LOG="error")

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

sys.path[:0] = [str(Path(__file__).parent)]

K, WARM, TUNED, ASKED, TARGET = 10, 20, 100, 200, 0.95
BATCH = 8192
COLUMNS = (
    *("sentences", "peer", "it gets", "indexed, s", "memory, MB", "bytes a byte", "answers", "ms", "memory, MB"),
    "recall",
)

Ask = Callable[[int], Any]  # the number of a question -> ids of passages, from 0, or anything where recall is not asked


@dataclass(frozen=True)
class Corpus:
    """What all peers get: passages (n), questions, and vectors of both."""

    folder: Path

    @property
    def lines(self) -> Iterator[str]:
        """The passages."""
        with (self.folder / "passages.txt").open(encoding="utf-8") as file:
            yield from (line[:-1] for line in file)

    @property
    def questions(self) -> list[str]:
        """The questions: some to warm up, some to tune, the rest to measure."""
        every: list[str] = json.loads((self.folder.parent / "questions.json").read_text())
        return every[: WARM + TUNED + ASKED]

    @property
    def vectors(self) -> Any:
        """Those of passages, half precision, mapped. (n, d)"""
        return np.load(self.folder / "vectors.npy", mmap_mode="r")

    @property
    def ids(self) -> Any:
        """Those of passages in semsearch's index, rising. (n,)"""
        return np.load(self.folder / "ids.npy")

    @property
    def asked(self) -> Any:
        """Those of questions. (q, d)"""
        return np.load(self.folder / "questions.npy")

    @property
    def best(self) -> Any:
        """For each question the passages nearest to it, by comparing all. (q, K)"""
        return np.load(self.folder / "best.npy")


@dataclass(frozen=True)
class Answers:
    """How a peer is asked: a name, a function of a question's number; the true answers (q, K), if it is approximate."""

    name: str
    ask: Ask
    best: Any = None


@dataclass(frozen=True)
class Peer:
    """How a peer's files are written into a folder, and read."""

    gets: str
    index: Callable[[Corpus, Path], None]
    open: Callable[[Corpus, Path], list[Answers]]


# -- semsearch ---------------------------------------------------------------------------------------------------------


def semsearch_index(corpus: Corpus, out: Path) -> None:
    """Index the files themselves; the first of all peers, since the passages are those of this index."""
    options = ["--name", str(out / "index"), "--processes", "1", "--quiet"]
    os.execv(sys.executable, [sys.executable, "-m", "semsearch", "index", str(corpus.folder.parent / "text"), *options])


def semsearch_open(corpus: Corpus, out: Path) -> list[Answers]:
    """All modes, and of its parts the vector of a question and the scan of all passages' vectors."""
    from semsearch import Index

    index, questions, asked, ids = Index.open(out / "index"), corpus.questions, corpus.asked, corpus.ids

    def scan(number: int) -> Any:
        found = index.searcher.in_one_generation(
            lambda view: view.reader.passage_vectors.search(asked[number][None], K).ids[0]
        )
        return np.searchsorted(ids, found)

    return [
        *(Answers(mode, partial(_search, index, questions, mode)) for mode in ("hybrid", "dense", "lexical")),
        Answers("the vector of a question", lambda number: question_vectors(index, [questions[number]])),
        Answers("scan of vectors only", scan, corpus.best),
    ]


def _search(index: Any, questions: Sequence[str], mode: str, number: int) -> Any:
    return index.search(questions[number], K, mode=mode)


def question_vectors(index: Any, questions: Sequence[str]) -> Any:
    """The vectors of questions in an index. (q, d)"""
    from semsearch.results.options import SearchOptions
    from semsearch.search.index_reader import IndexView
    from semsearch.search.prepare_query import prepare

    def vectors(view: IndexView) -> list[Any]:
        return [prepare(each, SearchOptions(mode="dense"), view).vector for each in questions]

    return np.stack(index.searcher.in_one_generation(vectors))


def export(corpus: Corpus, out: Path) -> None:
    """Write what the other peers get, out of semsearch's index."""
    from semsearch import Index

    folder = corpus.folder
    with Index.open(out / "index") as index, sqlite3.connect(out / "index" / "index.sqlite") as db:
        with (folder / "passages.txt").open("w", encoding="utf-8") as file:
            ids = [
                (id_, file.write(" ".join(text.split()) + "\n"))[0]
                for id_, text in db.execute("SELECT id, text FROM passages ORDER BY id")
            ]
        np.save(folder / "ids.npy", ids)
        asked = question_vectors(index, corpus.questions)
        np.save(folder / "questions.npy", asked)
        shape = (len(ids), asked.shape[1])
        vectors = np.lib.format.open_memmap(folder / "vectors.npy", mode="w+", dtype=np.float16, shape=shape)

        def copy(view: Any) -> None:
            for first in range(0, len(ids), BATCH):
                wanted = np.array(ids[first : first + BATCH])
                vectors[first : first + BATCH] = view.reader.passage_vectors.fetch(wanted).by_position().rows

        index.searcher.in_one_generation(copy)
    from semsearch.arrays.top_k import TopK

    best = TopK(len(asked), K)
    for first, rows in parts(vectors):
        best.add(asked @ rows.T, np.arange(first, first + len(rows)))
    np.save(folder / "best.npy", best.best().ids)


# -- Words -------------------------------------------------------------------------------------------------------------


def bm25s_index(corpus: Corpus, out: Path) -> None:
    """English stop words and stems, as in `semsearch bench --peer bm25s`."""
    import bm25s

    retriever = bm25s.BM25(k1=1.2, b=0.75)
    retriever.index(_bm25s_tokens(list(corpus.lines)), show_progress=False)
    retriever.save(out)


def bm25s_open(corpus: Corpus, out: Path) -> list[Answers]:
    """Loaded into memory, and mapped."""
    import bm25s

    questions = corpus.questions

    def ask(retriever: Any, number: int) -> Any:
        return retriever.retrieve(_bm25s_tokens([questions[number]]), k=K, show_progress=False)

    return [Answers("BM25, mapped", partial(ask, bm25s.BM25.load(out, mmap=True)))]


def _bm25s_tokens(texts: list[str]) -> Any:
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

    db = sqlite3.connect(out / "fts5.sqlite")
    sql = f"SELECT rowid, text FROM passages WHERE passages MATCH ? ORDER BY rank LIMIT {K}"  # noqa: S608  # a number
    asked = [[word for word in words(question) if word not in STOPWORDS_EN] for question in corpus.questions]

    def ask(number: int) -> Any:
        quoted = [f'"{word}"' for word in asked[number]]
        return db.execute(sql, [" OR ".join(quoted) or '""']).fetchall()

    return [Answers("BM25", ask)]


# -- Vectors -----------------------------------------------------------------------------------------------------------


def faiss_index(factory: str, corpus: Corpus, out: Path) -> None:
    """All vectors in single precision (flat), or half of it in lists, as many as the root of their number."""
    import faiss

    vectors = corpus.vectors
    lists = int(len(vectors) ** 0.5)
    index = faiss.index_factory(vectors.shape[1], factory.format(lists=lists), faiss.METRIC_INNER_PRODUCT)
    chosen = np.sort(np.random.default_rng(0).permutation(len(vectors))[: 50 * lists])
    index.train(vectors[chosen].astype(np.float32))
    for _, rows in parts(vectors):
        index.add(rows)
    faiss.write_index(index, str(out / "vectors.faiss"))


def faiss_open(factory: str, corpus: Corpus, out: Path) -> list[Answers]:
    """Read into memory."""
    import faiss

    index: Any = faiss.read_index(str(out / "vectors.faiss"))
    asked = corpus.asked

    def ask(number: int) -> Any:
        return index.search(asked[number][None], K)[1][0]

    if factory == "Flat":
        return [Answers("exact", ask)]

    def probe(probes: int) -> None:
        index.nprobe = probes

    probes = tuned(corpus.best, ask, probe, [2**power for power in range(1, index.nlist.bit_length())])
    return [Answers(f"{probes} of {index.nlist} lists", ask, corpus.best)]


def lance_index(corpus: Corpus, out: Path) -> None:
    """A table of text and vectors, an index of words with stems, and lists of vectors in half precision."""
    import lancedb
    import pyarrow as pa
    from lancedb.index import FTS, IvfFlat

    dimension = corpus.vectors.shape[1]
    schema = pa.schema([("id", pa.int64()), ("text", pa.string()), ("vector", pa.list_(pa.float16(), dimension))])

    def batches() -> Iterator[Any]:
        lines, vectors = corpus.lines, corpus.vectors
        for first in range(0, len(vectors), BATCH):
            rows = np.ascontiguousarray(vectors[first : first + BATCH])
            ids = pa.array(np.arange(first, first + len(rows)))
            text = pa.array([next(lines) for _ in range(len(rows))])
            arrays = [ids, text, pa.FixedSizeListArray.from_arrays(pa.array(rows.ravel()), dimension)]
            yield pa.RecordBatch.from_arrays(arrays, schema=schema)

    reader = pa.RecordBatchReader.from_batches(schema, batches())
    table = lancedb.connect(out).create_table("passages", reader)
    lists = int(len(corpus.vectors) ** 0.5)
    table.create_index("vector", config=IvfFlat(distance_type="cosine", num_partitions=lists))
    table.create_index("text", config=FTS())


def lance_open(corpus: Corpus, out: Path) -> list[Answers]:
    """Vectors, words, and both fused by their ranks, as Lance has it."""
    import lancedb

    table = lancedb.connect(out).open_table("passages")
    asked, questions, probes = corpus.asked, corpus.questions, [1]

    def dense(number: int) -> Any:
        found = table.search(asked[number]).distance_type("cosine").nprobes(probes[0]).limit(K)
        return found.select(["id", "text"]).to_arrow()["id"].to_numpy()

    def lexical(number: int) -> Any:
        return table.search(questions[number], query_type="fts").limit(K).select(["id", "text"]).to_arrow()

    def both(number: int) -> Any:
        found = table.search(query_type="hybrid").vector(asked[number]).text(questions[number])
        return found.distance_type("cosine").nprobes(probes[0]).limit(K).select(["id", "text"]).to_arrow()

    def probe(value: int) -> None:
        probes[0] = value

    lists = int(len(corpus.vectors) ** 0.5)
    chosen = tuned(corpus.best, dense, probe, [2**power for power in range(1, lists.bit_length() + 1)])
    return [
        Answers(f"vectors, {chosen} of {lists} lists", dense, corpus.best),
        Answers("words", lexical),
        Answers("hybrid", both),
    ]


def vicinity_index(backend: str, corpus: Corpus, out: Path) -> None:
    """model2vec's vectors by the words, weights and vectors of semsearch (256 numbers, no components removed)."""
    from vicinity import Vicinity

    lines = list(corpus.lines)
    encode = _model2vec()
    vectors = np.concatenate([encode(lines[at : at + BATCH]) for at in range(0, len(lines), BATCH)])
    items = [[number, line] for number, line in enumerate(lines)]
    Vicinity.from_vectors_and_items(vectors, items, backend_type=backend, metric="cosine").save(out, overwrite=True)


def vicinity_open(backend: str, corpus: Corpus, out: Path) -> list[Answers]:
    """Asked by text; a graph is compared with the exact answers of the same vectors."""
    from vicinity import Vicinity

    made, encode, questions = Vicinity.load(out), _model2vec(), corpus.questions

    def ask(number: int) -> Any:
        return [id_ for (id_, _), _ in made.query(encode([questions[number]]), K)[0]]

    exact = corpus.folder / "vicinity.npy"
    if backend == "basic":
        np.save(exact, [ask(number) for number in range(len(questions))])
        return [Answers("exact", ask)]
    best = np.load(exact)
    ef = tuned(best, ask, made.backend.index.set_ef, [10 * 2**power for power in range(8)])
    return [Answers(f"graph, ef {ef}", ask, best)]


def _model2vec() -> Callable[[list[str]], Any]:
    from semsearch.word_vectors.table import open_vectors
    from semsearch_research.bench.peers import own_model2vec

    return own_model2vec(open_vectors("english"))  # type: ignore[arg-type]


# -- Measuring ---------------------------------------------------------------------------------------------------------

TEXT, VECTORS, BOTH = "text", "vectors", "text and vectors"
PEERS = {
    "semsearch": Peer(TEXT, semsearch_index, semsearch_open),
    "bm25s": Peer(TEXT, bm25s_index, bm25s_open),
    "SQLite FTS5": Peer(TEXT, fts5_index, fts5_open),
    "FAISS flat": Peer(VECTORS, partial(faiss_index, "Flat"), partial(faiss_open, "Flat")),
    "FAISS lists": Peer(VECTORS, partial(faiss_index, "IVF{lists},SQfp16"), partial(faiss_open, "IVF{lists},SQfp16")),
    "Lance": Peer(BOTH, lance_index, lance_open),
    "model2vec, vicinity basic": Peer(TEXT, partial(vicinity_index, "basic"), partial(vicinity_open, "basic")),
    "model2vec, vicinity hnsw": Peer(TEXT, partial(vicinity_index, "hnsw"), partial(vicinity_open, "hnsw")),
}


def parts(vectors: Any) -> Iterator[tuple[int, Any]]:
    """Parts of vectors in single precision, each after the number of its first."""
    for first in range(0, len(vectors), BATCH):
        yield first, np.asarray(vectors[first : first + BATCH], np.float32)


def recall(found: Sequence[Any], best: Any) -> float:
    """The share of the best that were found."""
    return float(
        np.mean([len(set(map(int, own)) & set(map(int, true))) / K for own, true in zip(found, best, strict=True)])
    )


def tuned(best: Any, ask: Ask, use: Callable[[int], Any], values: Sequence[int]) -> int:
    """Use the smallest of rising values that reaches the target on questions which are not measured."""
    numbers = range(WARM, WARM + TUNED)
    for value in values:
        use(value)
        if recall([ask(number) for number in numbers], best[WARM : WARM + TUNED]) >= TARGET:
            break
    return value


def measure(corpus: Corpus, peer: Peer, out: Path) -> list[list[str]]:
    """Ask, and return for each way of asking its name, ms and recall; then the memory at the peak in MB."""
    rows = []
    for way in peer.open(corpus, out):
        for number in range(WARM):
            way.ask(number)
        numbers = range(WARM + TUNED, len(corpus.questions))
        start = time.process_time()  # of all together: where the system counts by ticks, one is as long as an answer
        found = [way.ask(number) for number in numbers]
        ms = 1000 * (time.process_time() - start) / len(numbers)
        share = "–" if way.best is None else f"{recall(found, way.best[WARM + TUNED :]):.3f}"
        rows.append([way.name, f"{ms:.2f}", share])
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return [[name, ms, f"{peak:,.0f}", share] for name, ms, share in rows]


def in_process(given: argparse.Namespace, folder: Path, name: str, step: str) -> tuple[str, float, float]:
    """Run a step with its limits: what it printed, processor seconds, MB at the peak. Raises CalledProcessError."""

    def limit() -> None:
        size = int(given.gigabytes * 1e9)
        resource.setrlimit(resource.RLIMIT_DATA, (size, size))
        resource.setrlimit(resource.RLIMIT_CPU, (given.seconds, given.seconds))

    inner = [sys.executable, __file__, str(folder), "--peers", name, "--step", step]
    process = subprocess.Popen(inner, stdout=subprocess.PIPE, preexec_fn=limit)
    assert process.stdout is not None
    told = process.stdout.read().decode()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, inner)
    return told, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def run(given: argparse.Namespace, size: int, name: str) -> Iterator[list[str]]:
    """The rows of a peer at a size, one for each way of asking."""
    folder = given.folder / str(size)
    out, text = folder / "peers" / name, sum(path.stat().st_size for path in (folder / "text").rglob("*.txt"))
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    first = [f"{size:,}", name, PEERS[name].gets]
    try:
        _, seconds, memory = in_process(given, folder, name, "index")
        disk = sum(path.stat().st_size for path in out.rglob("*") if path.is_file()) / text
        if name == "semsearch":
            in_process(given, folder, name, "export")
        told, _, _ = in_process(given, folder, name, "ask")
    except subprocess.CalledProcessError as error:
        yield [*first, f"not within the limits ({error.returncode})", *[""] * (len(COLUMNS) - 4)]
        return
    made = [f"{seconds:,.1f}", f"{memory:,.0f}", f"{disk:.2f}"]
    for number, row in enumerate(json.loads(told.splitlines()[-1])):
        yield [*(first if not number else ["", "", ""]), *(made if not number else ["", "", ""]), *row]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sizes", default="100000,1000000")
    parser.add_argument("--peers", default=",".join(PEERS).replace(", ", "+"), help="names, with + for a comma")
    parser.add_argument("--gigabytes", type=float, default=8, help="of data, for each process")
    parser.add_argument("--seconds", type=int, default=1200, help="of the processor, for each process")
    parser.add_argument("--step", choices=("index", "export", "ask"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.step:
        corpus, peer = Corpus(given.folder / "peers"), PEERS[given.peers]
        out = corpus.folder / given.peers
        if given.step == "ask":
            print(json.dumps(measure(corpus, peer, out)))
        else:
            (peer.index if given.step == "index" else export)(corpus, out)
        return
    from growth import make_text

    print(f"| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}")
    for size in map(int, given.sizes.split(",")):
        make_text(given.folder / str(size), size)
        for name in given.peers.split(","):
            for row in run(given, size, name.replace("+", ", ")):
                print(f"| {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()
