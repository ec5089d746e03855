"""One cluster for all tests that only use it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from clusters import small_cluster
from distributed import LocalCluster


@pytest.fixture(scope="package")
def cluster() -> Iterator[LocalCluster]:
    with small_cluster(2) as started:
        yield started
