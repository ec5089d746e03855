"""Measure in rounds: every case once, then every case again, so that other load on the machine affects all alike.

A case gives readings of one quantity or more: the same run of `semsearch index` tells seconds and memory. A quantity
names the floors that it is compared with: what the same work costs the hardware, the operating system or a library at
the least. They are quantities too, and measured in the same rounds.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

Kind = Literal["rate", "time", "bytes"]  # how people say it
Report = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Quantity:
    """A quantity to measure. Readings are seconds for `amount` of its unit, or bytes."""

    name: str
    what: str  # for people
    kind: Kind
    amount: float = 1
    unit: str = ""
    floors: tuple[str, ...] = ()
    part: str = ""  # what --only calls it; a floor is of no part


@dataclass(frozen=True, slots=True)
class Case:
    """A case: a function that measures some quantities once, and gives the readings of each."""

    quantities: tuple[Quantity, ...]
    run: Callable[[], Sequence[Sequence[float]]]


def timed(quantity: Quantity, work: Callable[[], object], *, times: int = 1) -> Case:
    """Make a case of one quantity: the seconds that some work takes."""
    return Case((quantity,), lambda: [[seconds(work) for _ in range(times)]])


def seconds(work: Callable[[], object]) -> float:
    """The seconds that some work takes."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def needed(cases: Sequence[Case], wanted: Callable[[Quantity], bool]) -> list[Case]:
    """Choose the cases of wanted quantities, of their floors, and of the floors' floors; in the order given."""
    homes = {quantity.name: quantity for case in cases for quantity in case.quantities}
    names = [quantity.name for quantity in homes.values() if wanted(quantity)]
    found: set[str] = set()
    while names:
        name = names.pop()
        if name in homes and name not in found:
            found.add(name)
            names += homes[name].floors
    return [case for case in cases if any(quantity.name in found for quantity in case.quantities)]


def measure(cases: Sequence[Case], runs: int, report: Report) -> dict[str, list[float]]:
    """Measure all cases in rounds; the readings by the names of the quantities."""
    readings: dict[str, list[float]] = {quantity.name: [] for quantity in quantities_of(cases)}
    total = runs * len(cases)
    for run in range(runs):
        for number, case in enumerate(cases):
            report(f"run {run + 1} of {runs}, {case.quantities[0].what}", run * len(cases) + number, total)
            for quantity, values in zip(case.quantities, case.run(), strict=True):
                readings[quantity.name] += values
    return readings


def quantities_of(cases: Iterable[Case]) -> list[Quantity]:
    """The quantities of all cases."""
    return [quantity for case in cases for quantity in case.quantities]
