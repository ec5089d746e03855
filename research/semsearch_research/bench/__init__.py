"""Measuring how fast semsearch is, and how far from what the machine allows: `semsearch bench`.

from semsearch_research.bench.running import bench
for measurement in bench(sentences=100_000).measurements:
    print(measurement.name, measurement.median, measurement.ratios)
"""
