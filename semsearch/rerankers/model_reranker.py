"""A reranker that is a model: it reads the first fifty hits, as far as its time allows.

Hits are read best first, a few at a time. What is not read in time keeps its place after what was, and a warning says
so. Vectors of passages by an encoder are kept beside the index (semsearch.storage.files.passage_encodings), so the next
question that finds these passages does not wait for them. They are rounded to 16 bits before they are compared, so that
a score is the same whether its vector was kept or is new.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from pathlib import Path
from typing import TypeVar

import numpy as np

from semsearch import tuning
from semsearch.errors import UsageError
from semsearch.rerankers.likeness import with_those_alike
from semsearch.rerankers.models import PairScorer, RerankingModel, TextEncoder
from semsearch.rerankers.passage_text import text_of
from semsearch.results.hits import Hit
from semsearch.results.reranker import Readings
from semsearch.storage.files.passage_encodings import Encodings, PassageEncodings, encodings_in, key_of

logger = logging.getLogger(__name__)
Item = TypeVar("Item")
SECONDS = 10.0
_AT_ONCE = 8  # passages between two looks at the clock


@dataclass(frozen=True, slots=True)
class ModelReranker:
    """A reranker by a model, within so many seconds for each question. Threads may share it: the model reads for one.

    `kept` are the caches of the indexes whose hits it reads, by the name that the hits have of their index, which is
    None where one index is searched. `clock` gives seconds since some moment. `clock` gives seconds since some moment.
    """

    model: RerankingModel
    seconds: float = SECONDS
    kept: Mapping[str | None, PassageEncodings] = field(default_factory=dict)
    clock: Callable[[], float] = field(default=time.monotonic, repr=False, compare=False)
    _reading: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not self.seconds > 0:
            raise UsageError(f"a second look needs some time, not {self.seconds} seconds; {SECONDS:g} is usual")

    def cached_in(self, folders: Path | Mapping[str, Path]) -> ModelReranker:
        """The same reranker, with vectors of passages kept beside an index, or beside each of several, by name."""
        if isinstance(folders, Path):
            return replace(self, kept={None: encodings_in(folders)})
        return replace(self, kept={name: encodings_in(folder) for name, folder in folders.items()})

    def __call__(self, query: str, hits: Sequence[Hit]) -> Readings:
        """Read the first hits of a question, and score those that were read in time."""
        first = hits[: tuning.TUNING.reranked]
        until = self.clock() + self.seconds
        if isinstance(self.model, PairScorer):
            found = self._by_pairs(self.model, query, first, until)
        else:
            found = self._by_vectors(self.model, query, first, until)
        if len(found.said) < len(first):
            logger.warning(
                "the second look read %d of %d passages in its %g seconds; the others keep their places after them",
                len(found.said),
                len(first),
                self.seconds,
                extra={"query": query},
            )
        return found

    def _by_pairs(self, model: PairScorer, query: str, hits: Sequence[Hit], until: float) -> Readings:
        said: list[float] = []
        for batch in self._in_time(hits, until):
            with self._reading:
                said += [float(each) for each in model.score(query, [text_of(hit) for hit in batch])]
        return Readings(said, model.name)

    def _by_vectors(self, model: TextEncoder, query: str, hits: Sequence[Hit], until: float) -> Readings:
        """Compare the question with the first hits, up to the first whose vector is not there in time."""
        keys = {key_of(model.digest, text_of(hit)): hit for hit in hits}  # what says the same is read once
        with self._reading:
            asked = model.encode_query(query)
        known = self._known(keys, len(asked))
        for batch in self._in_time([key for key in keys if key not in known], until):
            with self._reading:
                made = model.encode_passages([text_of(keys[key]) for key in batch]).astype(np.float16)
            new = dict(zip(batch, made, strict=True))
            self._keep(new, keys)
            known |= new
        read = [*takewhile(known.__contains__, (key_of(model.digest, text_of(hit)) for hit in hits))]
        if not read:
            return Readings((), model.name)
        vectors = np.array([known[key] for key in read], dtype=np.float32)
        cosines = (vectors @ asked).astype(np.float64)
        said = with_those_alike(cosines, np.array([hit.score for hit in hits[: len(read)]]), vectors)
        return Readings(said.tolist(), model.name, cosines.tolist())

    def _known(self, keys: Mapping[bytes, Hit], dimension: int) -> Encodings:
        """The vectors of passages that are kept."""
        known: Encodings = {}
        for name, kept in self.kept.items():
            known |= kept.get([key for key, hit in keys.items() if hit.index == name], dimension)
        return known

    def _keep(self, new: Encodings, keys: Mapping[bytes, Hit]) -> None:
        for name, kept in self.kept.items():
            kept.put({key: vector for key, vector in new.items() if keys[key].index == name})

    def _in_time(self, items: Sequence[Item], until: float) -> Iterator[Sequence[Item]]:
        """Yield items, a few at a time, until the time is over; the first few in any case."""
        for first in range(0, len(items), _AT_ONCE):
            if first and self.clock() >= until:
                return
            yield items[first : first + _AT_ONCE]
