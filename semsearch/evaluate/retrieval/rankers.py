"""Rankers, which answer the queries of a collection with documents: our modes here, peers in peer_rankers.

A document's rank is that of its best passage.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from semsearch.index import Index
from semsearch.readers.document import Text
from semsearch.results.hits import Mode
from semsearch.text.tokens import words
from semsearch.word_vectors.loading import WordVectorsLike

if TYPE_CHECKING:
    from semsearch.rerankers.model_reranker import ModelReranker


class Ranker(Protocol):
    """The protocol of one system on one collection."""

    @property
    def name(self) -> str:
        """The name of the system in tables."""

    @property
    def index_seconds(self) -> float:
        """The seconds that indexing the collection took."""

    def ask(self, query: str) -> None:
        """Answer as for a user, with ten hits. This is timed."""

    def rank(self, query: str, depth: int) -> list[str]:
        """The ids of the best `depth` documents, best first; fewer if there are fewer."""


@dataclass(frozen=True, slots=True)
class ModeRanker:
    """A mode of one index."""

    name: Mode
    index: Index
    index_seconds: float

    def ask(self, query: str) -> None:
        """Search once with the default number of hits."""
        self.index.search(query, mode=self.name, syntax="plain")  # peers read quotes and hyphens as text, too

    def rank(self, query: str, depth: int) -> list[str]:
        """The ids of the best documents: ask for more and more passages, until they are of `depth` documents.

        Passages that say the same count each: they may be of documents that were judged apart. A query without words
        finds nothing.
        """
        if not words(query):
            return []
        k = 2 * depth
        while True:
            hits = self.index.search(query, k, mode=self.name, duplicates=True, syntax="plain")
            documents = list(dict.fromkeys(hit.document for hit in hits))
            if len(documents) >= depth or len(hits) < k:
                return documents[:depth]
            k *= 4


@dataclass(frozen=True, slots=True)
class RerankedRanker:
    """A mode whose first hits a model reads again."""

    name: str
    by_mode: ModeRanker

    @property
    def index_seconds(self) -> float:
        """The seconds that indexing took: the model reads nothing before it is asked."""
        return self.by_mode.index_seconds

    def ask(self, query: str) -> None:
        """Search once with the default number of hits. Passages that no question has found before are encoded."""
        self.by_mode.ask(query)

    def rank(self, query: str, depth: int) -> list[str]:
        """The ids of the best documents."""
        return self.by_mode.rank(query, depth)


@contextmanager
def mode_rankers(
    documents: Sequence[Text],
    modes: Sequence[Mode],
    *,
    vectors: WordVectorsLike,
    method: str,
    a: float | None,
    components: int | None,
    reranker: ModelReranker | None = None,
) -> Iterator[list[ModeRanker | RerankedRanker]]:
    """Index documents in a temporary folder; a ranker for each mode, and one of the first mode for the reranker."""
    with tempfile.TemporaryDirectory(prefix="semsearch-") as folder:
        started = time.perf_counter()
        with Index.create(Path(folder) / "index", vectors=vectors, method=method, a=a, components=components) as index:
            index.add(documents)
            seconds = time.perf_counter() - started
            rankers = [ModeRanker(mode, index, seconds) for mode in modes]
            if reranker is None:
                yield [*rankers]
                return
            with Index.open(index.path, vectors=vectors, reranker=reranker) as reread:
                by_mode = replace(rankers[0], index=reread)
                yield [*rankers, RerankedRanker(reranked_name(modes, reranker.model.name), by_mode)]


def reranked_name(modes: Sequence[Mode], model: str) -> str:
    """The name of the row of a model that reads the hits of the first mode again."""
    return f"{modes[0]}+{model}"
