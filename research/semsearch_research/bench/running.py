"""Run all measurements once, in a temporary folder that is deleted afterwards."""

from __future__ import annotations

import os
import platform
import sys
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np

from semsearch import VectorTable
from semsearch.errors import UsageError
from semsearch_research.bench import floors, works
from semsearch_research.bench.bench_text import LEAST, Report, TextSample, given, made_up, take_sample, write_corpus
from semsearch_research.bench.measurements import BenchReport, measurements_of
from semsearch_research.bench.peers import available, check_peers, peer_cases
from semsearch_research.bench.processes import is_one_thread
from semsearch_research.bench.rounds import Case, Quantity, measure, needed, quantities_of
from semsearch_research.bench.site import Site
from semsearch_research.word_tables.conversion import open_vectors

SENTENCES = 100_000
RUNS = 5
PARTS = ("embed", "split", "index", "sync", "cold", "warm", "batch")
ALL_PEERS = "all"
_SAMPLE = 100_000  # sentences in memory at most


def bench(
    sentences: int = SENTENCES,
    *,
    text: str | Path | None = None,
    runs: int = RUNS,
    only: Iterable[str] = (),
    peers: Iterable[str] = (),
    vectors: str = "english",
    progress: Report | None = None,
) -> BenchReport:
    """Measure on a number of sentences of made-up text, or on the first of a file that has a paragraph a line.

    `only` some of PARTS; `peers` by name, or "all" that are installed.
    For one core, OMP_NUM_THREADS and OPENBLAS_NUM_THREADS must be 1 before NumPy is imported; processes that are
    started have it so. Raises UsageError, SourceError, MissingExtra, VectorsError, StorageError.
    """
    parts, specs = tuple(only), tuple(peers)
    _check(sentences, runs, parts, specs)
    opened = open_vectors(vectors)
    if not isinstance(opened, VectorTable):
        raise UsageError("a measurement needs word vectors by name or path")
    report: Report = progress or (lambda *_: None)
    with _temporary_folder() as folder:
        paragraphs = made_up(opened, sentences) if text is None else given(Path(text), sentences)
        corpus = write_corpus(paragraphs, Path(folder) / "text", sentences, report)
        site = Site(corpus, Path(folder), vectors)
        try:
            report("getting ready", 0, 0)
            sample = take_sample(corpus, _SAMPLE)
            cases, missing = _cases(site, sample, opened, Path(folder), parts, specs)
            readings = measure(cases, runs, report)
        finally:
            site.close()
    return BenchReport(
        text="" if text is None else str(text),
        corpus=corpus,
        sample=len(sample.sentences),
        vectors=opened.name,
        dimension=opened.dimension,
        runs=runs,
        one_thread=is_one_thread(),
        machine=_machine(),
        measurements=tuple(measurements_of(quantities_of(cases), readings)),
        missing=tuple(missing),
    )


def _temporary_folder() -> AbstractContextManager[str]:
    return tempfile.TemporaryDirectory(prefix="semsearch-bench-", ignore_cleanup_errors=True)


def _check(sentences: int, runs: int, parts: Sequence[str], peers: Sequence[str]) -> None:
    if sentences < LEAST:
        raise UsageError(f"{sentences:,} sentences are too few to measure on; give {LEAST:,} at least")
    if runs < 1:
        raise UsageError(f"there must be one run at least, not {runs}; five or more make a median")
    for part in parts:
        if part not in PARTS:
            raise UsageError(f"there is nothing to measure called {part!r}; expected one of {', '.join(PARTS)}")
    if peers != (ALL_PEERS,):
        check_peers(peers)


def _is_wanted(quantity: Quantity, parts: Sequence[str]) -> bool:
    return quantity.part == "peers" or (bool(quantity.part) and (not parts or quantity.part in parts))


def _cases(
    site: Site,
    sample: TextSample,
    vectors: VectorTable,
    folder: Path,
    parts: Sequence[str],
    specs: tuple[str, ...],
) -> tuple[list[Case], list[str]]:
    """The wanted cases with their floors; and the peers that are not installed."""
    is_whole = len(sample.paragraphs) > 0.99 * site.corpus.paragraphs  # splitting may count a few sentences more
    if specs == (ALL_PEERS,):
        others, missing = available(sample, vectors, whole=is_whole)
    else:
        others, missing = peer_cases(specs, sample, vectors, whole=is_whole), []
    known = [*_own_cases(site, sample, vectors, folder), *others]
    return needed(known, lambda quantity: _is_wanted(quantity, parts)), missing


def _own_cases(site: Site, sample: TextSample, vectors: VectorTable, folder: Path) -> list[Case]:
    """The cases of semsearch in the order of a round: an index is asked after it is built and before it is changed."""
    corpus, queries = site.corpus, sample.queries
    return [
        floors.reading_sentence_vectors(sample, vectors.dimension),
        *works.embedding(sample, vectors),
        floors.splitting_at_full_stops(sample),
        works.splitting(sample),
        floors.starting(),
        floors.the_text(corpus),
        floors.copying(corpus, folder),
        floors.inserting(corpus, folder),
        *works.indexing(site),
        works.asking_cold(site, queries),
        floors.looking_at_files(corpus),
        floors.writing_a_file(corpus, folder),
        floors.scanning(site, len(sample.many)),
        floors.selecting(sample),
        *works.asking_all_modes(site, queries),
        works.asking_many(site, sample.many),
        *works.syncing(site),
    ]


def _machine() -> dict[str, Any]:
    return {
        "system": platform.platform(),
        "processor": platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "python": sys.version.split()[0],
        "numpy": np.__version__,
    }
