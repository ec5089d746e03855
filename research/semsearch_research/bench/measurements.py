"""The measurements of a run: medians with their spread, and their ratios to the floors."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from semsearch_research.bench.bench_text import TextFiles
from semsearch_research.bench.rounds import Kind, Quantity

ENOUGH = 20  # readings, for a 95th percentile to mean anything


@dataclass(frozen=True, slots=True)
class Measurement:
    """The measurement of one quantity. Readings are seconds for `amount` units (once, if it has no unit), or bytes."""

    name: str
    what: str
    kind: Kind
    amount: float
    unit: str
    readings: tuple[float, ...]
    is_floor: bool
    ratios: Mapping[str, float] = field(default_factory=dict)  # floor's name -> how many times its cost

    @property
    def median(self) -> float:
        """The median of the readings."""
        return statistics.median(self.readings)

    @property
    def p95(self) -> float | None:
        """The 95th percentile of the readings; None if there are too few."""
        if len(self.readings) < ENOUGH:
            return None
        return statistics.quantiles(self.readings, n=20, method="inclusive")[-1]

    @property
    def rate(self) -> float | None:
        """Units a second; None for a quantity without units."""
        return self.amount / self.median if self.unit and self.median else None

    def to_dict(self) -> dict[str, Any]:
        """Convert to a plain dict, as for JSON: seconds (for `amount` units) or bytes, with their spread."""
        spread = {"median": self.median, "min": min(self.readings), "max": max(self.readings)}
        if self.p95 is not None:
            spread["p95"] = self.p95
        return {
            "name": self.name,
            "what": self.what,
            "floor": self.is_floor,
            "bytes" if self.kind == "bytes" else "seconds": spread,
            "amount": self.amount,
            "unit": self.unit,
            "rate": self.rate,
            "readings": len(self.readings),
            "ratios": dict(self.ratios),
        }


@dataclass(frozen=True, slots=True)
class BenchReport:
    """All measurements of a run, with the text, word vectors and machine that they were made on."""

    text: str  # the file, or "" for text that was made up
    corpus: TextFiles  # its folder is gone
    sample: int  # sentences that strings-to-vectors was measured on
    vectors: str
    dimension: int
    runs: int
    one_thread: bool
    machine: Mapping[str, Any]
    measurements: tuple[Measurement, ...]
    missing: tuple[str, ...] = ()  # peers that were not run, and why

    def __getitem__(self, name: str) -> Measurement:
        """The measurement with a name. Raises KeyError."""
        return {found.name: found for found in self.measurements}[name]

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        counts = ("sentences", "words", "paragraphs", "files", "bytes")
        return {
            "text": self.text,
            **{name: getattr(self.corpus, name) for name in counts},
            **{name: getattr(self, name) for name in ("sample", "vectors", "dimension", "runs")},
            "one_thread": self.one_thread,
            "machine": dict(self.machine),
            "measurements": [found.to_dict() for found in self.measurements],
            "missing": list(self.missing),
        }


def measurements_of(quantities: Sequence[Quantity], readings: Mapping[str, Sequence[float]]) -> list[Measurement]:
    """Make measurements of all quantities that have readings, with ratios to floors that were measured too."""
    known = {quantity.name: quantity for quantity in quantities if readings.get(quantity.name)}
    return [
        Measurement(
            name,
            quantity.what,
            quantity.kind,
            quantity.amount,
            quantity.unit,
            tuple(readings[name]),
            not quantity.part,
            {floor: _ratio(quantity, known[floor], readings) for floor in quantity.floors if floor in known},
        )
        for name, quantity in known.items()
    ]


def _ratio(quantity: Quantity, floor: Quantity, readings: Mapping[str, Sequence[float]]) -> float:
    """The ratio of a quantity's cost to its floor's: for a unit, if both have the same, else for the whole work."""
    cost = statistics.median(readings[quantity.name])
    least = statistics.median(readings[floor.name])
    if quantity.unit and quantity.unit == floor.unit:
        cost, least = cost / quantity.amount, least / floor.amount
    return cost / least if least else float("inf")
