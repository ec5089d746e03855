"""The works that a user waits for: embedding, splitting, indexing, syncing, querying; each with its floors."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import cycle

from semsearch import Mode, SentenceEmbedder, VectorTable
from semsearch.text.sentences import sentence_spans
from semsearch_research.bench.bench_text import TextSample
from semsearch_research.bench.rounds import Case, Quantity, seconds, timed
from semsearch_research.bench.site import Site

_BATCH = 10_000  # sentences embedded at once
_QUIET = 3  # readings a round of a sync that does nothing


def embedding(sample: TextSample, vectors: VectorTable) -> list[Case]:
    """Embedding strings as unit vectors, after a fit on the same sentences that is not counted."""
    return [_embedding(sample.sentences, vectors, method) for method in ("sif", "usif")]


def _embedding(sentences: Sequence[str], vectors: VectorTable, method: str) -> Case:
    fitted: list[SentenceEmbedder] = []

    def transform() -> None:
        for first in range(0, len(sentences), _BATCH):
            fitted[0].transform(sentences[first : first + _BATCH])

    def run() -> list[list[float]]:
        if not fitted:
            fitted.append(SentenceEmbedder(vectors, method=method).fit(sentences))
            transform()  # tables are folded by the first texts
        return [[seconds(transform)]]

    shown = {"sif": "SIF", "usif": "uSIF"}[method]
    what = f"strings to vectors, {shown}"
    quantity = Quantity(f"embed {method}", what, "rate", len(sentences), "sentences", floors=("vectors",), part="embed")
    return Case((quantity,), run)


def splitting(sample: TextSample) -> Case:
    """Splitting paragraphs into sentences, by their offsets."""
    size = sum(len(paragraph.encode()) for paragraph in sample.paragraphs) / 1e6
    quantity = Quantity("split", "sentence splitting", "rate", size, "MB", floors=("full stops",), part="split")
    return timed(quantity, lambda: [sentence_spans(paragraph) for paragraph in sample.paragraphs])


def indexing(site: Site) -> list[Case]:
    """Running `semsearch index` as a process, from nothing: its time, memory and disk space.

    With two processes first, so that the index that is asked afterwards was made by one.
    """
    count, floors = site.corpus.sentences, ("copy", "rows")
    whole = (
        Quantity("index", "semsearch index", "rate", count, "sentences", floors=floors, part="index"),
        Quantity("index memory", "its memory, at the peak", "bytes", floors=("start memory", "text"), part="index"),
        Quantity("index disk", "its files", "bytes", floors=("text",), part="index"),
    )

    def run() -> list[list[float]]:
        ran = site.build()
        return [[ran.seconds], [] if ran.peak is None else [float(ran.peak)], [float(site.disk())]]

    shared = Quantity("index 2", "the same, 2 processes", "rate", count, "sentences", floors=floors, part="index")
    return [Case((shared,), lambda: [[site.build(processes=2).seconds]]), Case(whole, run)]


def syncing(site: Site) -> list[Case]:
    """Bringing an opened index up to date: with nothing changed, and with a sentence more in one file."""

    def changed() -> list[list[float]]:
        index = site.index
        site.change_a_file()
        return [[seconds(index.sync)]]

    def unchanged() -> list[list[float]]:
        site.index.sync()  # what an earlier round has changed
        return [[seconds(site.index.sync) for _ in range(_QUIET)]]

    return [
        Case((Quantity("sync", "sync, nothing changed", "time", floors=("stat",), part="sync"),), unchanged),
        Case((Quantity("sync one", "sync, one file changed", "time", floors=("one file",), part="sync"),), changed),
    ]


def asking_cold(site: Site, queries: Sequence[str]) -> Case:
    """`semsearch query` as a process; its files are in the operating system's cache."""
    questions = cycle(queries)
    quantity = Quantity("cold", "cold query, a process", "time", 1, "queries", floors=("start",), part="cold")
    return Case((quantity,), lambda: [[site.ask_in_a_process(next(questions)).seconds]])


def asking_warm(site: Site, queries: Sequence[str], mode: Mode) -> Case:
    """Answering queries one by one, from an opened index that has answered one before."""

    def run() -> list[list[float]]:
        index = site.index
        index.search(queries[0], mode=mode)
        return [[seconds(partial(index.search, query, mode=mode)) for query in queries]]

    floors = ("ten rows",) if mode == "lexical" else ("scan",)
    return Case(
        (Quantity(f"warm {mode}", f"warm query, {mode}", "time", 1, "queries", floors=floors, part="warm"),), run
    )


def asking_all_modes(site: Site, queries: Sequence[str]) -> list[Case]:
    """Answering queries one by one in every mode."""
    return [asking_warm(site, queries, mode) for mode in ("hybrid", "dense", "lexical")]


def asking_many(site: Site, queries: Sequence[str]) -> Case:
    """Answering all queries at once."""
    count = len(queries)
    quantity = Quantity(
        "batch", f"{count:,} queries at once, hybrid", "rate", count, "queries", floors=("scan batch",), part="batch"
    )

    def run() -> list[list[float]]:
        index = site.index
        index.search(queries[0])
        return [[seconds(lambda: index.search_many(queries))]]

    return Case((quantity,), run)
