"""Measure word vectors by their use: similarity of sentences, retrieval by meaning alone, and known words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from semsearch.errors import UsageError
from semsearch.results.codec import Record, digits
from semsearch.text.tokens import hash_words
from semsearch.word_vectors.table import WordVectors, WordVectorsLike
from semsearch_research.evaluate.beir import collection_folders, read_collection
from semsearch_research.evaluate.retrieval import RetrievalRow, evaluate_retrieval
from semsearch_research.evaluate.sentence_pairs import read_tasks
from semsearch_research.evaluate.sts import evaluate_sts
from semsearch_research.evaluate.sts_scores import StsAverage
from semsearch_research.word_tables.conversion import open_vectors

STS_METHODS = ("sif", "usif")
_BATCH = 8192


@dataclass(frozen=True, slots=True)
class VectorsReport(Record):
    """The results for word vectors. `coverage`: for "sts" and each collection, the share of known running words."""

    vectors: str
    digest: str
    words: int
    dimension: int
    coverage: dict[str, float] = field(metadata=digits(6))
    sts: tuple[StsAverage, ...]
    retrieval: tuple[RetrievalRow, ...]


def evaluate_vectors(
    vectors: WordVectorsLike,
    *,
    sts: Sequence[str | Path] = (),
    retrieval: Sequence[str | Path] = (),
    progress: Callable[[str, int, int], None] | None = None,
) -> VectorsReport:
    """Measure SIF and uSIF on sentence pairs (`evaluate_sts`), and mode "dense" of an index on collections.

    Raises UsageError if there is nothing to measure on; else as `evaluate_sts` and `evaluate_retrieval`.
    """
    if not sts and not retrieval:
        raise UsageError("there is nothing to measure on; give files of sentence pairs (sts), collections (retrieval)")
    opened = open_vectors(vectors)
    coverage: dict[str, float] = {}
    averages: tuple[StsAverage, ...] = ()
    rows: list[RetrievalRow] = []
    if sts:
        coverage["sts"] = known_share(opened, (text for task in read_tasks(map(Path, sts)) for text in task.sentences))
        averages = evaluate_sts(sts, methods=STS_METHODS, vectors=opened).averages
    if retrieval:
        for folder in collection_folders(map(Path, retrieval)):
            collection = read_collection(folder)
            documents = (f"{document.title}\n{document.text}" for document in collection.documents)
            coverage[collection.name] = known_share(opened, [*documents, *collection.queries.values()])
        rows = evaluate_retrieval(retrieval, modes=["dense"], vectors=opened, progress=progress)
    return VectorsReport(opened.name, opened.digest, len(opened), opened.dimension, coverage, averages, tuple(rows))


def known_share(vectors: WordVectors, texts: Iterable[str]) -> float:
    """The share of the running words of texts that have a vector; 0 if there are no words."""
    known = total = 0
    given = list(texts)
    for first in range(0, len(given), _BATCH):
        ids = vectors.lookup(hash_words(given[first : first + _BATCH]).hashes)
        known += int(np.count_nonzero(ids >= 0))
        total += len(ids)
    return known / total if total else 0.0
