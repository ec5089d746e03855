"""Dask clusters in the threads of this process, for tests."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from distributed import LocalCluster


def small_cluster(workers: int) -> LocalCluster:
    """A scheduler and some workers in this process: they share nothing with the driver but what it sends, pickled."""
    from distributed import LocalCluster  # start-up time: every process that collects the tests would import it

    gc.collect()  # clients of other tests that could not connect are closed now, not while the loop starts
    return LocalCluster(n_workers=workers, threads_per_worker=1, processes=False, dashboard_address=":0")
