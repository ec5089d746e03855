"""Rerankers: the protocols of rerankers and of their models, and the reranker that lets a model score the first hits.

A reranker scores the first hits of an answer again. It may take its time, as a cross-encoder does, since it reads few
hits. Its scores become a part of the hits' scores (semsearch.search.searcher), and the explanation shows that part.

`ModelReranker` reads the first fifty hits, best first, a few at a time, as far as its time allows; hits that are not
read in time keep their places after the others, with a warning. An encoder's vectors of passages are kept beside the
index (semsearch.storage.passage_encodings), so the next question that finds these passages does not wait for them. They
are rounded to 16 bits before they are compared, so that a score is the same whether its vector was kept or is new.

By an encoder, similar passages support each other:

    score_i = z(cosine_i) + β Σ_j w_ij (z(score before_j) + z(cosine_j))

j are the N passages whose vectors are nearest to that of i, w_ij their cosines with it, divided by the sum of these.
Scores that are smoothed so over similar documents rank better: Diaz, Regularizing ad hoc retrieval scores (CIKM 2005).
There one system of equations is solved; here one step is made, over the few passages that were read.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple, Protocol, TypeAlias, TypeVar, runtime_checkable

import numpy as np

from semsearch import tuning
from semsearch.arrays.types import Float32, Floating
from semsearch.errors import ModelError, UsageError
from semsearch.results.hits import Hit
from semsearch.storage.passage_encodings import Encodings, PassageEncodings, encodings_in, key_of


class Readings(NamedTuple):
    """The scores of the first hits, by a reranker that has not read all. The others keep their places after them."""

    said: Sequence[float]
    model: str | None = None  # the name of the model that read them, for explanations
    alone: Sequence[float] | None = None  # the score of each by itself, where `said` has a part of its neighbours'
    notice: str | None = None  # what to tell a person, if not all were read in time


class Reranker(Protocol):
    """A function of a query and its first hits, best first, that scores each: the larger, the better.

    The scale of the numbers does not matter. Threads that share an index may call it at the same time.
    """

    def __call__(self, query: str, hits: Sequence[Hit], /) -> Sequence[float] | Readings: ...


# -- Models ------------------------------------------------------------------------------------------------------------

PROBE = "How is a text read?"  # every model reads this once when it is opened, so that one that cannot is refused then


class TextEncoder(Protocol):
    """A model that makes a vector of each text by itself (a bi-encoder), so that those of passages can be kept."""

    @property
    def name(self) -> str:
        """What explanations call it."""

    @property
    def digest(self) -> bytes:
        """The digest of all that decides its vectors: other weights, another digest. At most 64 bytes."""

    def encode_query(self, text: str) -> Float32:
        """The vector of a question, of length one. (d,)"""

    def encode_passages(self, texts: Sequence[str]) -> Float32:
        """The vectors of passages, each of length one. n texts -> (n, d)"""


@runtime_checkable
class PairScorer(Protocol):
    """A model that reads question and passage together (a cross-encoder), so that nothing of it can be kept."""

    @property
    def name(self) -> str:
        """What explanations call it."""

    def score(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """How well each text answers a question: the larger, the better, on any scale."""


RerankingModel: TypeAlias = TextEncoder | PairScorer


def probed(model: RerankingModel) -> RerankingModel:
    """Have a model read a text, and return it. Raises ModelError if that fails, or gives no numbers."""
    try:
        if isinstance(model, PairScorer):
            read = np.asarray(model.score(PROBE, [PROBE]), dtype=np.float32)
        else:
            read = np.concatenate([model.encode_passages([PROBE])[0], model.encode_query(PROBE)])
    except ModelError:
        raise
    except Exception as error:  # whatever the library makes of a model that is not as it should be
        reason = " ".join(str(error).split())[:200]
        raise ModelError(f"the model {model.name} cannot read a text: {reason}; give another one") from error
    if not read.size or not np.isfinite(read).all():
        raise ModelError(f"the model {model.name} gives no finite numbers; give another one")
    return model


# -- Scores of similar passages ----------------------------------------------------------------------------------------


NEIGHBOURS = 8  # N
SHARE = 0.5  # β


def with_those_alike(cosines: Floating, scores: Floating, vectors: Floating) -> Floating:
    """The scores of n passages, by their cosines with the question, their scores before, and their vectors.

    (n,), (n,), (n, d) -> (n,). `vectors` have length one, or zero.
    """
    alone = standardised(cosines)
    return alone + SHARE * (_weights(vectors) @ (standardised(scores) + alone))


def standardised(values: Floating) -> Floating:
    """(x - mean) / standard deviation; zeros if all are equal. (n,) -> (n,)"""
    deviation = values.std()
    return (values - values.mean()) / deviation if deviation > 0 else np.zeros_like(values)


def _weights(vectors: Floating) -> Floating:
    """w_ij, how much passage j counts for i: rows that sum to one, or are zero where nothing is alike. (n, n)"""
    alike = np.maximum(vectors @ vectors.T, 0)
    np.fill_diagonal(alike, 0)
    if len(alike) > NEIGHBOURS:
        least = np.sort(alike, axis=1)[:, -NEIGHBOURS, None]
        alike = np.where(alike >= least, alike, 0)
    sums = alike.sum(axis=1, keepdims=True)
    return np.asarray(alike / np.where(sums > 0, sums, 1))


# -- Passage text ------------------------------------------------------------------------------------------------------


def text_of(hit: Hit) -> str:
    """Write title, headings and passage of a hit as one text, each heading once."""
    heads = [head for head in dict.fromkeys((hit.title, *hit.headings)) if head]
    return "\n".join([*heads, hit.passage])


# -- Model reranker ----------------------------------------------------------------------------------------------------

logger = logging.getLogger(__name__)
Item = TypeVar("Item")
SECONDS = 10.0
_AT_ONCE = 8  # passages between two readings of the clock


def check_timeout(seconds: float) -> None:
    """Check the seconds that reranking may take for a question. Raises UsageError."""
    if not seconds > 0:
        raise UsageError(f"the rerank timeout must be positive, got {seconds:g} seconds; {SECONDS:g} is usual")


@dataclass(frozen=True, slots=True)
class ModelReranker:
    """A reranker by a model, within so many seconds for each question. Threads may share it: the model reads for one.

    `kept` are the caches of the indexes whose hits it reads, by the name that the hits have of their index, which is
    None where one index is searched. `clock` gives seconds since some moment.
    """

    model: RerankingModel
    seconds: float = SECONDS
    kept: Mapping[str | None, PassageEncodings] = field(default_factory=dict)
    clock: Callable[[], float] = field(default=time.monotonic, repr=False, compare=False)
    _reading: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_timeout(self.seconds)

    def cached_in(self, folders: Path | Mapping[str, Path]) -> ModelReranker:
        """The same reranker, with vectors of passages kept beside an index, or beside each of many, by name."""
        if isinstance(folders, Path):
            return replace(self, kept={None: encodings_in(folders)})
        return replace(self, kept={name: encodings_in(folder) for name, folder in folders.items()})

    def __call__(self, query: str, hits: Sequence[Hit]) -> Readings:
        """Read the first hits of a question, and score those that were read in time."""
        first = hits[: tuning.TUNING.reranked]
        until = self.clock() + self.seconds
        if isinstance(self.model, PairScorer):
            readings = self._by_pairs(self.model, query, first, until)
        else:
            readings = self._by_vectors(self.model, query, first, until)
        if len(readings.said) == len(first):
            return readings
        number = f"{len(readings.said)} of {len(first)} passages in its {self.seconds:g} seconds"
        return readings._replace(notice=f"the reranker read {number}; the others keep their places after them")

    def _by_pairs(self, model: PairScorer, query: str, hits: Sequence[Hit], until: float) -> Readings:
        said: list[float] = []
        for batch in self._in_time(hits, until):
            with self._reading:
                said += [float(pair_score) for pair_score in model.score(query, [text_of(hit) for hit in batch])]
        return Readings(said, model.name)

    def _by_vectors(self, model: TextEncoder, query: str, hits: Sequence[Hit], until: float) -> Readings:
        """Compare the question with the first hits, up to the first whose vector is not there in time."""
        keys = {key_of(model.digest, text_of(hit)): hit for hit in hits}  # equal texts are read once
        with self._reading:
            asked = model.encode_query(query)
        known = self._known(keys, len(asked))
        for batch in self._in_time([key for key in keys if key not in known], until):
            with self._reading:
                vectors_of_batch = model.encode_passages([text_of(keys[key]) for key in batch]).astype(np.float16)
            new = dict(zip(batch, vectors_of_batch, strict=True))
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
