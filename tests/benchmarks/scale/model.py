"""The cost model: what was measured at some sizes (costs.py), carried on to other sizes.

Bytes and the time to make an index grow with the sentences, as in the largest measured index. Of a question, `dense`
and `words` grow with the passages by a line through the medians of all sizes, which must be large enough for codes
(semsearch.dense.scan_plan); the other stages stay as they are.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from costs import STAGES, Costs

Float64 = npt.NDArray[np.float64]
GROWING = ("dense", "words")
KINDS = ("text", "database", "postings", "passage", "sentence")


@dataclass(frozen=True)
class Line:
    """A line: what there is at 0, and how much more for each."""

    at_0: float
    each: float

    def at(self, x: float) -> float:
        """The value at x."""
        return self.at_0 + self.each * x


@dataclass(frozen=True)
class Model:
    """What indexes cost by their size. `questions`: stages of measured ones in seconds, by question, in the largest."""

    passages_per_sentence: float
    index_seconds: Line
    bytes_of: Mapping[str, Line]
    growth: Mapping[str, Line]  # seconds by passages, of the median question
    questions: Float64  # (q, stages)

    @classmethod
    def of(cls, measured: Sequence[Costs]) -> Model:
        """The model of measured indexes, of which there must be two sizes at least."""
        costs = sorted(measured, key=lambda each: each.sentences)
        large = costs[-1]
        passages = np.array([each.passages for each in costs], dtype=np.float64)
        medians = {stage: np.array([np.median(each.stages[stage]) for each in costs]) for stage in GROWING}
        return cls(
            large.passages / large.sentences,
            Line(0.0, large.index_seconds / large.sentences),
            {kind: Line(0.0, getattr(large, f"{kind}_bytes") / large.sentences) for kind in KINDS},
            {stage: _fitted(passages, medians[stage]) for stage in GROWING},
            np.array([large.stages[stage] for stage in STAGES]).T,
        )

    def service(self, sentences: float, *, without: Sequence[str] = ()) -> Float64:
        """The seconds of each measured question in an index of so many sentences, `without` some stages. (q,)"""
        own, passages = self.questions.copy(), sentences * self.passages_per_sentence
        for column, stage in enumerate(STAGES):
            if stage in without:
                own[:, column] = 0
            elif stage in GROWING:
                median = float(np.median(self.questions[:, column]))
                own[:, column] *= self.growth[stage].at(passages) / median if median else 0.0
        return np.asarray(own.sum(axis=1))

    def stage(self, stage: str, sentences: float) -> float:
        """The seconds of a stage of the median question."""
        if stage in GROWING:
            return self.growth[stage].at(sentences * self.passages_per_sentence)
        return float(np.median(self.questions[:, STAGES.index(stage)]))

    def bytes_at(self, sentences: float, *kinds: str) -> float:
        """The bytes of some kinds of files in an index of so many sentences."""
        return sum(self.bytes_of[kind].at(sentences) for kind in kinds)


def read(path: Path) -> list[Costs]:
    """What costs.py has written."""
    found: list[dict[str, Any]] = json.loads(path.read_text())
    return [Costs(**each) for each in found]


def _fitted(x: Float64, y: Float64) -> Line:
    each, at_0 = np.polyfit(x, y, 1)
    return Line(float(at_0), float(each)) if at_0 > 0 and each >= 0 else Line(0.0, float((x @ y) / (x @ x)))
