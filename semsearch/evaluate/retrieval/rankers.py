"""Whatever answers the queries of a collection with documents: our modes here, the peers in `peers`.

A document's rank is that of its best passage.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from semsearch.index import Index
from semsearch.readers.document import Text
from semsearch.results.hits import Mode
from semsearch.settings import WordVectorsLike
from semsearch.text.tokens import words


class Ranker(Protocol):
    """One system on one collection."""

    @property
    def name(self) -> str: ...

    @property
    def index_seconds(self) -> float: ...

    def ask(self, query: str) -> None:
        """Answer as for a user: ten hits. What the clock measures."""

    def rank(self, query: str, depth: int) -> list[str]:
        """The ids of the best `depth` documents, best first; fewer where there are fewer."""


@dataclass(frozen=True, slots=True)
class ModeRanker:
    """A mode of one index."""

    name: Mode
    index: Index
    index_seconds: float

    def ask(self, query: str) -> None:
        """One search with the default number of hits."""
        self.index.search(query, mode=self.name)

    def rank(self, query: str, depth: int) -> list[str]:
        """Asks for more and more passages, until they are of `depth` documents or no more come.

        Passages that say the same count each: they may be of documents that were judged apart. A query without words
        finds nothing.
        """
        if not words(query):
            return []
        k = 2 * depth
        while True:
            hits = self.index.search(query, k, mode=self.name, duplicates=True)
            documents = list(dict.fromkeys(hit.document for hit in hits))
            if len(documents) >= depth or len(hits) < k:
                return documents[:depth]
            k *= 4


@contextmanager
def mode_rankers(
    documents: Sequence[Text],
    modes: Sequence[Mode],
    *,
    vectors: WordVectorsLike,
    method: str,
    a: float | None,
    components: int | None,
) -> Iterator[list[ModeRanker]]:
    """The modes of an index of the documents, in a temporary folder."""
    with tempfile.TemporaryDirectory(prefix="semsearch-") as folder:
        started = time.perf_counter()
        with Index.create(Path(folder) / "index", vectors=vectors, method=method, a=a, components=components) as index:
            index.add(documents)
            seconds = time.perf_counter() - started
            yield [ModeRanker(mode, index, seconds) for mode in modes]
