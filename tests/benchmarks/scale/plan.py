"""What it takes to serve so many sentences: memory, disk, latency, price a month; as Markdown.

    python tests/benchmarks/scale/plan.py costs.json [--rate 20] [--engine MS,MS,...] [--neural STRINGS_PER_S]

From what costs.py measured. Machines and prices are assumptions, which options change.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from costs import STAGES, Costs
from model import GROWING, Model, read
from simulate import Latency, simulate

SIZES = (10**6, 10**7, 10**8, 10**9)
GB, MONTH = 1e9, 730.0
BUSY = 2 / 3  # of the time, that a process shall work at most: beyond, waiting grows steeply
FULL = 0.75  # of a machine's memory, that is planned for
PROCESS = 0.25e9  # bytes of a process beside what it shares: packages, word vectors, caches

Float64 = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Prices:
    """Prices in dollars a month, and of an hour of a core; and the machine that is rented."""

    core: float
    memory_gb: float
    disk_gb: float
    cores: int
    memory: float  # GB

    @property
    def machine(self) -> float:
        """A machine without its disk."""
        return self.cores * self.core + self.memory * self.memory_gb


@dataclass(frozen=True)
class Plan:
    """So many parts of the documents, each served by so many processes, which share its memory."""

    parts: int
    processes: int  # of each part, each with a core
    machines: int
    service: Float64  # seconds that measured questions take on one part
    memory: float  # bytes of all parts
    disk: float

    def price(self, prices: Prices) -> float:
        """Dollars a month."""
        return self.machines * prices.machine + self.disk / GB * prices.disk_gb

    def latency(self, rate: float) -> Latency:
        """How long questions take, of which so many come in a second."""
        return simulate(self.service, rate=rate, parts=self.parts, processes=self.processes)

    @property
    def most(self) -> float:
        """The questions a second at which all processes would work all the time."""
        return self.processes / float(self.service.mean())


def hot(model: Model, sentences: float) -> float:
    """The bytes that should be in memory: passages' vectors and postings, of which a question reads many places."""
    return model.bytes_at(sentences, "passage", "postings")


def planned(model: Model, sentences: float, rate: float, prices: Prices, target: float) -> Plan:
    """The cheapest plan whose questions take `target` seconds in the mean, and whose processes work two thirds of the
    time at most. Of equally cheap ones, that with the fewest parts."""
    plans = [_in_parts(model, sentences, parts, rate, prices) for parts in range(1, 513)]
    return min(
        (each for each in plans if each.service.mean() <= target), key=lambda each: (each.price(prices), each.parts)
    )


def _in_parts(model: Model, sentences: float, parts: int, rate: float, prices: Prices) -> Plan:
    service, own = model.service(sentences / parts), sentences / parts
    processes = max(1, int(np.ceil(rate * float(service.mean()) / BUSY)))
    memory = parts * (hot(model, own) + processes * PROCESS)
    machines = max(np.ceil(parts * processes / prices.cores), np.ceil(memory / (FULL * prices.memory * GB)))
    disk = parts * model.bytes_at(own, "database", "postings", "passage", "sentence")
    return Plan(parts, processes, int(machines), service, memory, disk)


def table(header: list[str], rows: list[list[str]]) -> str:
    """A Markdown table."""
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def shown(number: float, unit: str = "") -> str:
    """A number with three significant digits."""
    digits = max(0, 2 - int(np.floor(np.log10(abs(number))))) if number else 0
    return f"{number:,.{digits}f}{unit}"


def measured(costs: list[Costs]) -> str:
    """What was measured, from which the rest is computed: milliseconds are medians over the questions."""
    rows = []
    for each in sorted(costs, key=lambda each: each.sentences):
        stages = [shown(1000 * float(np.median(each.stages[stage]))) for stage in STAGES]
        whole = shown(1000 * float(np.median(each.totals)))
        rows.append([f"{each.sentences:,}", f"{each.passages:,}", shown(each.index_seconds), *stages, whole])
    return table(["sentences", "passages", "indexed, s", *(f"{stage}, ms" for stage in STAGES), "a question, ms"], rows)


def one_machine(model: Model) -> str:
    """What one index takes on one machine, by its size."""
    rows = [
        [
            f"{size:,}",
            shown(model.bytes_at(size, "text") / GB),
            shown(hot(model, size) / GB),
            shown(model.bytes_at(size, "database", "postings", "passage", "sentence") / GB),
            shown(model.index_seconds.at(size) / 3600),
            *(shown(1000 * model.stage(stage, size)) for stage in GROWING),
            shown(1000 * sum(model.stage(stage, size) for stage in STAGES if stage not in GROWING)),
            shown(1000 * float(model.service(size).mean())),
        ]
        for size in SIZES
    ]
    return table(
        [*"sentences|text, GB|memory, GB|disk, GB|hours to index|dense, ms|words, ms|rest, ms|mean, ms".split("|")],
        rows,
    )


def plans(model: Model, rate: float, prices: Prices, target: float) -> str:
    """The plan of each size."""
    rows = []
    for size in SIZES:
        plan = planned(model, size, rate, prices, target)
        found = plan.latency(rate)
        rows.append(
            [
                f"{size:,}",
                f"{plan.parts} × {plan.processes}",
                f"{plan.machines}",
                shown(plan.memory / GB),
                shown(plan.disk / GB),
                *(shown(1000 * each) for each in (found.p50, found.p95, found.p99)),
                f"{found.busy:.0%}",
                f"{plan.price(prices):,.0f}",
            ]
        )
    header = ["sentences", "parts × processes", "machines", "memory, GB", "disk, GB", "p50, ms", "p95, ms", "p99, ms"]
    return table([*header, "busy", "$ a month"], rows)


def loads(model: Model, sentences: float, rate: float, prices: Prices, target: float) -> str:
    """How the latency of a plan grows with the load that comes."""
    plan, rows = planned(model, sentences, rate, prices, target), []
    for share in (0.3, 0.5, 0.7, 0.8, 0.9, 0.95):
        found = plan.latency(share * plan.most)
        rows.append(
            [
                f"{share:.0%}",
                shown(share * plan.most),
                *(shown(1000 * each) for each in (found.p50, found.p95, found.p99)),
            ]
        )
    return table(["of what it can do", "questions a second", "p50, ms", "p95, ms", "p99, ms"], rows)


def neural(model: Model, strings: float, prices: Prices) -> str:
    """What embedding each passage once costs, here and by an encoder that does so many strings a second on a core."""
    rows = []
    for size in SIZES:
        ours, theirs = model.index_seconds.at(size) / 3600, size * model.passages_per_sentence / strings / 3600
        hour = prices.core / MONTH
        rows.append([f"{size:,}", shown(ours), shown(theirs), f"{ours * hour:,.2f}", f"{theirs * hour:,.2f}"])
    header = ["sentences", "ours, hours of a core", "encoder, hours of a core", "ours, $", "encoder, $"]
    return table(header, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("costs", type=Path)
    parser.add_argument("--rate", type=float, default=20.0, help="questions a second")
    parser.add_argument("--target", type=float, default=0.1, help="seconds that a question may take in the mean")
    parser.add_argument("--neural", type=float, help="passages a second that an encoder embeds on one core")
    parser.add_argument("--core", type=float, default=25.0)
    parser.add_argument("--memory-gb", type=float, default=3.0)
    parser.add_argument("--disk-gb", type=float, default=0.1)
    parser.add_argument("--cores", type=int, default=8)
    parser.add_argument("--memory", type=float, default=64.0)
    given = parser.parse_args()
    costs = read(given.costs)
    model = Model.of(costs)
    prices = Prices(given.core, given.memory_gb, given.disk_gb, given.cores, given.memory)
    print("## Measured\n\n" + measured(costs))
    print("\n## One machine\n\n" + one_machine(model))
    print(f"\n## {given.rate:g} questions a second\n\n" + plans(model, given.rate, prices, given.target))
    for size in SIZES[2:]:
        print(f"\n## {size:,} sentences, by load\n\n" + loads(model, size, given.rate, prices, given.target))
    if given.neural:
        print("\n## Beside an encoder\n\n" + neural(model, given.neural, prices))


if __name__ == "__main__":
    main()
