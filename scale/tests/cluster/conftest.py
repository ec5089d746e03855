"""One cluster for all tests that only use it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from scale_servers.clusters import small_cluster

if TYPE_CHECKING:
    from distributed import LocalCluster


@pytest.fixture(scope="package")
def cluster() -> Iterator[LocalCluster]:
    with small_cluster(2) as started:
        yield started
