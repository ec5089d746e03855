"""Counts and times: each request once, in Prometheus's text format."""

from __future__ import annotations

import re
from pathlib import Path

from serving import running

from semsearch.serve.application import METRICS_TYPE, Metrics
from semsearch.serve.open_indexes import OpenIndexes

LINE = re.compile(r'[a-z_]+(\{[a-z]+="[^"]*"(,[a-z]+="[^"]*")*\})? [0-9.]+')


def values(text: str) -> dict[str, float]:
    """The value of each name with its labels."""
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    assert all(LINE.fullmatch(line) for line in lines)
    return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines)}


def test_requests_are_counted_by_operation_and_status(folder: Path) -> None:
    with running(OpenIndexes(folder=folder / "indexes")) as asker:
        asker.get("/v1/search", index="docs", query="ship")
        asker.get("/v1/search", index="docs", query="ship")
        asker.get("/v1/search", index="docs")
        asker.get("/health", headers={"Host": "evil.example"})
        reply = asker.get("/metrics")
    assert reply.headers["content-type"] == METRICS_TYPE
    found = values(reply.body.decode())
    assert found['semsearch_requests_total{operation="search",status="200"}'] == 2
    assert found['semsearch_requests_total{operation="search",status="400"}'] == 1
    assert found['semsearch_requests_total{operation="refused",status="421"}'] == 1
    assert found['semsearch_request_seconds_count{operation="search"}'] == 3
    assert found["semsearch_requests_in_flight"] == 0


def test_a_time_is_in_its_bucket_and_in_all_above() -> None:
    metrics = Metrics()
    for seconds in (0.0005, 0.001, 0.002, 60.0):
        metrics.count("search", 200, seconds)
    found = values(metrics.text(in_flight=0).replace("+Inf", "Inf"))
    bucket = 'semsearch_request_seconds_bucket{{operation="search",le="{}"}}'
    assert [found[bucket.format(bound)] for bound in ("0.001", "0.0025", "30.0", "Inf")] == [2, 3, 3, 4]
    assert found['semsearch_request_seconds_sum{operation="search"}'] == 60.0035
