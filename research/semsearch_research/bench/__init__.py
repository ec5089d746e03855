"""Measuring how fast semsearch is, and how far from what the machine allows: `semsearch bench`.

    from semsearch_research.bench import bench
    for found in bench(sentences=100_000).measurements:
        print(found.name, found.median, found.ratios)

The names below are loaded when they are first used, so that a process pays only for what it needs.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from semsearch_research.bench.formats import FormatsReport, bench_formats
    from semsearch_research.bench.growth import Growth, draw
    from semsearch_research.bench.measurements import BenchReport, Measurement
    from semsearch_research.bench.running import SENTENCES, bench

__all__ = ["SENTENCES", "BenchReport", "FormatsReport", "Growth", "Measurement", "bench", "bench_formats", "draw"]

_HOMES = {
    "BenchReport": "measurements",
    "FormatsReport": "formats",
    "Growth": "growth",
    "Measurement": "measurements",
    "SENTENCES": "running",
    "bench": "running",
    "bench_formats": "formats",
    "draw": "growth",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'semsearch_research.bench' has no attribute {name!r}")
    return getattr(import_module(f"semsearch_research.bench.{_HOMES[name]}"), name)
