"""Verdicts on a paper's claims: in how many tasks one method is above another, and whether that is more than chance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from semsearch.evaluate.table import NONE
from semsearch.results.codec import Record, digits

LEVEL = 0.05  # of p, for a verdict
HOLDS, REVERSED, UNDECIDED = "holds", "reversed", "no difference shown"


@dataclass(frozen=True, slots=True)
class Held(Record):
    """The count of a claim: the tasks (or groups) in which it held, of how many, and the mean difference of figures."""

    held: int
    of: int
    difference: float = field(metadata=digits(4))

    @classmethod
    def between(cls, better: Mapping[str, float], worse: Mapping[str, float]) -> Held | None:
        """Count over the tasks for which both have a figure; None if there are none."""
        both = [(figure, worse[name]) for name, figure in better.items() if name in worse]
        if not both:
            return None
        return cls(sum(one > two for one, two in both), len(both), sum(one - two for one, two in both) / len(both))


def said_by_interval(low: float, high: float) -> str:
    """The verdict of an interval of a difference: undecided if zero lies in it."""
    return HOLDS if low > 0 else REVERSED if high < 0 else UNDECIDED


def said_by(p: float, difference: float) -> str:
    """The verdict of a test, from its p and the sign of the difference."""
    return UNDECIDED if p >= LEVEL else HOLDS if difference > 0 else REVERSED


def counted(held: Held | None) -> str:
    """Format a count: `13 of 20, +3.9`."""
    return NONE if held is None else f"{held.held} of {held.of}, {held.difference:+.1f}"
