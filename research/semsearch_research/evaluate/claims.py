"""Verdicts on a paper's claims: in how many tasks one method is above another, and whether that is significant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from semsearch.results.codec import Record, digits
from semsearch_research.evaluate.pair_bootstrap import Resampled, claimed
from semsearch_research.evaluate.published import PUBLISHED, Published, published_figures
from semsearch_research.evaluate.table import NONE

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


def verdict_of_interval(low: float, high: float) -> str:
    """The verdict of an interval of a difference: undecided if zero lies in it."""
    return HOLDS if low > 0 else REVERSED if high < 0 else UNDECIDED


def verdict_of_test(p: float, difference: float) -> str:
    """The verdict of a test, from its p and the sign of the difference."""
    return UNDECIDED if p >= LEVEL else HOLDS if difference > 0 else REVERSED


def counted(held: Held | None) -> str:
    """Format a count: `13 of 20, +3.9`."""
    return NONE if held is None else f"{held.held} of {held.of}, {held.difference:+.1f}"


# the first above the second
SIF_CLAIMS = (("w", "mean"), ("r", "mean"), ("sif", "mean"), ("sif", "tfidf"), ("sif", "w"), ("sif", "r"))
USIF_CLAIMS = (
    ("usif", "sif"),
    *((f"sif+{part}", "sif") for part in "upn"),
    *(("usif", f"usif-{part}") for part in "upn"),
)
CLAIMS = (*SIF_CLAIMS, *USIF_CLAIMS)
_ALONE = {"sif+u": "weights", "sif+p": "piecewise removal", "sif+n": "normalisation", "usif": "all"}


@dataclass(frozen=True, slots=True)
class Ordering(Record):
    """A claim that one method is above another, with some word vectors and fit. `improvement`: of the mean r, per cent.

    `low` and `high` are the 95 % interval of the mean difference. `published`: the paper's counts by the kind of word
    vectors; `published_improvement`: uSIF over SIF, section 4.3.
    """

    better: str
    worse: str
    vectors: str
    fit_on: str
    found: Held
    improvement: float
    low: float
    high: float
    published: Mapping[str, Held] = field(default_factory=dict)
    published_improvement: float | None = None

    @property
    def verdict(self) -> str:
        """The verdict on the claim."""
        return verdict_of_interval(self.low, self.high)

    def to_dict(self) -> dict[str, Any]:
        """Convert to a plain dict, as for JSON; the fields of `found` are on the same level."""
        return {
            **self.found.to_dict(),
            "better": self.better,
            "worse": self.worse,
            "vectors": self.vectors,
            "fit_on": self.fit_on,
            "improvement": round(self.improvement, 4),
            "low": round(self.low, 4),
            "high": round(self.high, 4),
            "published": {name: held.to_dict() for name, held in self.published.items()},
            "published_improvement": self.published_improvement,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Ordering:
        """Read the dict that `to_dict` made."""
        return cls(
            data["better"],
            data["worse"],
            data["vectors"],
            data["fit_on"],
            Held(data["held"], data["of"], data["difference"]),
            data["improvement"],
            data["low"],
            data["high"],
            {name: Held(**held) for name, held in data["published"].items()},
            data["published_improvement"],
        )


def orderings(by_method: Mapping[str, Mapping[str, Resampled]], *, vectors: str, fit_on: str) -> list[Ordering]:
    """Check the claims of which both methods were run. `by_method`: r × 100 by the name of a task, or SICK14, STSb."""
    found = []
    for better, worse in CLAIMS:
        one, two = by_method.get(better, {}), by_method.get(worse, {})
        difference = claimed(one, two)
        ours = Held.between(_values(one), _values(two))
        if difference is None or ours is None:
            continue
        base = sum(_values(two).values())
        interval = difference.interval
        found.append(
            Ordering(
                better,
                worse,
                vectors,
                fit_on,
                ours,
                100 * (sum(_values(one).values()) / base - 1) if base > 0 else 0.0,
                interval.low,
                interval.high,
                _published(better, worse, list(one)),
                _alone().get(better) if worse == "sif" else None,
            )
        )
    return found


def _values(figures: Mapping[str, Resampled]) -> dict[str, float]:
    return {name: figure.value for name, figure in figures.items()}


def _published(better: str, worse: str, names: Sequence[str]) -> dict[str, Held]:
    """The counts of a claim for the papers' systems, by word vectors: GloVe, PSL."""
    found = {}
    for vectors in ("GloVe", "PSL"):
        one, two = _system(better, vectors), _system(worse, vectors)
        if one is None or two is None:
            continue
        if one.tasks and two.tasks:
            held = Held.between(_tasks(one, names), _tasks(two, names))
        else:
            held = Held.between(one.figures, two.figures)
        if held is not None:
            found[vectors] = held
    return found


def _system(method: str, vectors: str) -> Published | None:
    return next((row for row in PUBLISHED if row.method == method and vectors in row.name), None)


def _tasks(system: Published, names: Sequence[str]) -> dict[str, float]:
    """The figures of a system on the tasks that were run, SICK14 and STSb among them."""
    return {name: figure for name, figure in {**system.figures, **system.tasks}.items() if name in names}


def _alone() -> dict[str, float]:
    by_row = {figure.row: figure.value for figure in published_figures("usif", "section 4.3")}
    return {method: by_row[row] for method, row in _ALONE.items()}
