"""The report on questions with answers: figures of each mode, and what has changed since the last run.

hit@k     the share of questions of which an answer is among the first k hits
mrr@10    1 / rank of the first answer, 0 beyond the tenth; the mean over questions
ndcg@10   the grades of the answers that are found, discounted by log2(rank + 1), over the best possible
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from semsearch.evaluate.golden.expected_answers import ExpectedAnswer
from semsearch.results.hits import Hit, Mode

DEPTH = 10  # hits that are looked at
HITS_AT = (1, 3, 5, 10)
MEASURES = (*(f"hit@{k}" for k in HITS_AT), "mrr@10", "ndcg@10")


@dataclass(frozen=True, slots=True)
class AnsweredQuestion:
    """A question as it was answered: the rank of the first hit that answers, None if none of the first ten does."""

    query: str
    line: int  # of the file
    rank: int | None
    ndcg: float

    @classmethod
    def of(
        cls, query: str, line: int, answers: Mapping[ExpectedAnswer, float], hits: Sequence[Hit]
    ) -> AnsweredQuestion:
        """Look for the answers among hits, each by the first hit that is it."""
        gains = dict[int, float]()  # by rank: a hit may be several answers, and counts as the best of them
        for answer, grade in answers.items():
            rank = next((rank for rank, hit in enumerate(hits[:DEPTH], start=1) if answer.is_in(hit)), None)
            if rank is not None:
                gains[rank] = max(grade, gains.get(rank, 0.0))
        ideal = sorted(answers.values(), reverse=True)[:DEPTH]
        best = sum(grade / math.log2(rank + 1) for rank, grade in enumerate(ideal, start=1))
        found = sum(grade / math.log2(rank + 1) for rank, grade in gains.items())
        return cls(query, line, min(gains, default=None), found / best)


@dataclass(frozen=True, slots=True)
class ChangedQuestion:
    """A question whose first answer has another rank than in the last run; None: not among the first ten."""

    query: str
    rank: int | None
    was: int | None

    @property
    def is_better(self) -> bool:
        """Whether its answer comes earlier now."""
        return (self.rank or math.inf) < (self.was or math.inf)


@dataclass(frozen=True, slots=True)
class GoldenMode:
    """The figures of a mode, and each question; those of its last run, if there was one, and what they have gained.

    `last` and `gained` are of the questions that both runs have asked.
    """

    mode: Mode
    figures: Mapping[str, float]  # by the names in MEASURES; ndcg@10 only where there are grades
    last: Mapping[str, float] | None
    gained: Mapping[str, float] | None
    changed: Sequence[ChangedQuestion]
    questions: Sequence[AnsweredQuestion]

    def to_dict(self) -> dict[str, Any]:
        """Convert to a plain dict, as for JSON."""
        changed = [{"query": each.query, "rank": each.rank, "was": each.was} for each in self.changed]
        better = [each.is_better for each in self.changed]
        return {
            "mode": self.mode,
            **{name: round(value, 6) for name, value in self.figures.items()},
            "last": _rounded(self.last),
            "gained": _rounded(self.gained),
            "better": [each for each, is_better in zip(changed, better, strict=True) if is_better],
            "worse": [each for each, is_better in zip(changed, better, strict=True) if not is_better],
            "questions": [{"query": each.query, "line": each.line, "rank": each.rank} for each in self.questions],
        }


@dataclass(frozen=True, slots=True)
class GoldenReport:
    """The report on a file of questions."""

    path: str
    modes: Sequence[GoldenMode]
    warnings: Sequence[str]  # such as an answer that no document of the index has the name of

    def to_dict(self) -> dict[str, Any]:
        """Convert to a plain dict, as for JSON."""
        return {"file": self.path, "modes": [mode.to_dict() for mode in self.modes], "warnings": [*self.warnings]}


def figures_of(ranks: Sequence[int | None], ndcg: Sequence[float] | None) -> dict[str, float]:
    """The figures of questions by the ranks of their answers, and by their nDCG where there are grades."""
    found = {f"hit@{k}": _mean([float(rank is not None and rank <= k) for rank in ranks]) for k in HITS_AT}
    found["mrr@10"] = _mean([1 / rank if rank else 0.0 for rank in ranks])
    return found if ndcg is None else {**found, "ndcg@10": _mean(ndcg)}


def _rounded(figures: Mapping[str, float] | None) -> dict[str, float] | None:
    return None if figures is None else {name: round(value, 6) for name, value in figures.items()}


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
