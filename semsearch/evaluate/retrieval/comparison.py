"""Compare systems on the same queries: means with their intervals, and the differences between systems."""

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
    """The figures of a mode or a peer on one collection: means over queries; for "mean", those over collections.

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
        """The number of queries answered a second; 0 if none was timed."""
        return self.queries / self.query_seconds if self.query_seconds else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Convert to a plain dict, as for JSON."""
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
    """The figures and times of one system on a collection's q queries."""

    name: str
    figures: Float64  # (q, measures)
    query_seconds: float
    index_seconds: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """The comparison of s systems on one collection: means (s, measures), and those of B resamples (B, s, measures)."""

    collection: str
    names: Sequence[str]
    means: Float64
    draws: Float64
    queries: int
    query_seconds: Sequence[float]
    index_seconds: Sequence[float]

    @classmethod
    def of(cls, collection: str, runs: Sequence[Run], *, seed: int) -> Comparison:
        """Compare runs on a collection. The draws depend on the seed and the collection's name, not on other runs."""
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
        """Average comparisons over collections, each of them resampled by itself; queries and seconds are summed."""
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
        """The rows of the table, one for each system."""
        ndcg = MEASURES.index("ndcg@10")
        return [
            RetrievalRow(
                self.collection,
                name,
                {
                    measure: Figure.of(self.means[row, column], self.draws[:, row, column])
                    for column, measure in enumerate(MEASURES)
                },
                {
                    other: Figure.of(
                        self.means[row, ndcg] - self.means[other_row, ndcg],
                        self.draws[:, row, ndcg] - self.draws[:, other_row, ndcg],
                    )
                    for other_row, other in enumerate(self.names)
                    if other_row != row
                },
                self.queries,
                self.query_seconds[row],
                self.index_seconds[row],
            )
            for row, name in enumerate(self.names)
        ]


def _interval(figure: Figure) -> list[float]:
    return [round(figure.low, 6), round(figure.high, 6)]
