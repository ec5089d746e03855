"""Systems compared on the same queries: means, how sure they are, and the differences between them."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from semsearch.evaluate.retrieval.bootstrap import Figure, resampled_means
from semsearch.evaluate.retrieval.measures import MEASURES

Float64 = npt.NDArray[np.float64]
MEAN = "mean"  # the collection that stands for all of them


@dataclass(frozen=True, slots=True)
class RetrievalRow:
    """A mode or a peer on one collection, or on all of them: the means over queries, for "mean" those over collections.

    `differences` are those of nDCG@10 to each other mode and peer, on the same queries. `queries_per_second` is one
    query after the other, ten hits each, in a process that is warm.
    """

    collection: str
    mode: str  # or the peer's name
    figures: Mapping[str, Figure]  # by the names in MEASURES
    differences: Mapping[str, Figure]
    queries: int
    query_seconds: float
    index_seconds: float

    @property
    def queries_per_second(self) -> float:
        return self.queries / self.query_seconds if self.query_seconds else 0.0

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "collection": self.collection,
            "mode": self.mode,
            **{name: round(figure.value, 6) for name, figure in self.figures.items()},
            "intervals": {name: _interval(figure) for name, figure in self.figures.items()},
            "differences": {
                other: {"ndcg@10": round(figure.value, 6), "interval": _interval(figure)}
                for other, figure in self.differences.items()
            },
            "queries": self.queries,
            "queries/s": round(self.queries_per_second, 2),
            "index_seconds": round(self.index_seconds, 3),
        }


@dataclass(frozen=True, slots=True)
class Run:
    """What one system did on a collection's q queries."""

    name: str
    figures: Float64  # (q, measures)
    query_seconds: float
    index_seconds: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """All s systems on one collection: means (s, measures), and the means of B resamples (B, s, measures)."""

    collection: str
    names: Sequence[str]
    means: Float64
    draws: Float64
    queries: int
    query_seconds: Sequence[float]
    index_seconds: Sequence[float]

    @classmethod
    def of(cls, collection: str, runs: Sequence[Run], *, seed: int) -> Comparison:
        """The draws depend on the seed and the collection's name, not on what else is run."""
        values = np.stack([run.figures for run in runs], axis=1)
        return cls(
            collection,
            [run.name for run in runs],
            values.mean(axis=0),
            resampled_means(values, seed=(seed, zlib.crc32(collection.encode()))),
            len(values),
            [run.query_seconds for run in runs],
            [run.index_seconds for run in runs],
        )

    @classmethod
    def mean(cls, results: Sequence[Comparison]) -> Comparison:
        """The mean over collections, each of them resampled by itself; queries and seconds are sums."""
        return cls(
            MEAN,
            results[0].names,
            np.mean([result.means for result in results], axis=0),
            np.mean([result.draws for result in results], axis=0),
            sum(result.queries for result in results),
            np.sum([result.query_seconds for result in results], axis=0).tolist(),
            np.sum([result.index_seconds for result in results], axis=0).tolist(),
        )

    def rows(self) -> list[RetrievalRow]:
        ndcg = MEASURES.index("ndcg@10")
        return [
            RetrievalRow(
                self.collection,
                name,
                {
                    measure: Figure.of(self.means[place, column], self.draws[:, place, column])
                    for column, measure in enumerate(MEASURES)
                },
                {
                    other: Figure.of(
                        self.means[place, ndcg] - self.means[there, ndcg],
                        self.draws[:, place, ndcg] - self.draws[:, there, ndcg],
                    )
                    for there, other in enumerate(self.names)
                    if there != place
                },
                self.queries,
                self.query_seconds[place],
                self.index_seconds[place],
            )
            for place, name in enumerate(self.names)
        ]


def _interval(figure: Figure) -> list[float]:
    return [round(figure.low, 6), round(figure.high, 6)]
