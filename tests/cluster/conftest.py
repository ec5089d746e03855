"""One cluster for all tests that only use it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from distributed import LocalCluster
from servers.clusters import small_cluster


@pytest.fixture(scope="package")
def cluster() -> Iterator[LocalCluster]:
    with small_cluster(2) as started:
        yield started
