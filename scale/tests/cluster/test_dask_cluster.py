"""Work on a cluster: its results in order, and what goes wrong said clearly, in time."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scale_servers.clusters import small_cluster

from semsearch.errors import MissingExtra, SourceError
from semsearch_scale import cluster as dask_cluster
from semsearch_scale.cluster import ClusterError, DaskCluster, versions_here

if TYPE_CHECKING:
    from distributed import LocalCluster


def square(number: int) -> int:
    time.sleep(0.001 * (7 - number % 7))  # later ones are often done first
    return number * number


def fail_at_three(number: int) -> int:
    if number == 3:
        raise SourceError("three cannot be read")
    return number


class Doubles:
    """Work that counts how often it is opened."""

    opened = 0

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        return 2 * rows

    def __reduce__(self) -> tuple[Callable[[], Doubles], tuple[()]]:
        return opened_again, ()


def opened_again() -> Doubles:
    Doubles.opened += 1
    return Doubles()


def test_results_come_in_the_order_of_the_items(cluster: LocalCluster) -> None:
    spread = DaskCluster(cluster.scheduler_address)
    assert list(spread.in_order(square, range(40))) == [number * number for number in range(40)]
    assert list(spread.in_order(square, [])) == []
    spread.close()
    assert list(spread.in_order(square, [3])) == [9]  # it connects again
    spread.close()


def test_items_are_made_as_they_are_needed_and_not_all_at_once(cluster: LocalCluster) -> None:
    made = []

    def items() -> Iterator[int]:
        for number in range(100):
            made.append(number)
            yield number

    spread = DaskCluster(cluster.scheduler_address)
    results = spread.in_order(square, items())
    assert next(results) == 0
    assert len(made) < 20
    results.close()  # type: ignore[attr-defined]  # a generator
    assert len(made) < 20
    spread.close()


def test_what_the_work_raises_is_raised(cluster: LocalCluster) -> None:
    spread, got = DaskCluster(cluster.scheduler_address), []
    with pytest.raises(SourceError, match="three cannot be read"):
        got.extend(spread.in_order(fail_at_three, range(20)))
    assert got == [0, 1, 2]
    spread.close()


def test_a_worker_less_changes_no_result() -> None:
    with small_cluster(3) as shrinking:
        spread, results = DaskCluster(shrinking.scheduler_address), []
        for result in spread.in_order(square, range(60)):
            results.append(result)
            if len(results) == 5:
                shrinking.scale(1)
        assert results == [number * number for number in range(60)]
        spread.close()


def test_all_workers_lost_is_said_within_the_deadline() -> None:
    with small_cluster(1) as emptied:
        spread = DaskCluster(emptied.scheduler_address, deadline=1.0)
        results = spread.in_order(square, range(1000))
        assert next(results) == 0
        emptied.scale(0)
        with pytest.raises(
            ClusterError, match=r"the cluster inproc://.* has had no worker for 1 s; nothing was changed"
        ):
            list(results)
        spread.close()
        with pytest.raises(ClusterError, match="has no workers; start some with: dask worker inproc://"):
            spread.connect()


def test_a_scheduler_that_goes_is_said_at_once() -> None:
    closed = small_cluster(1)
    spread = DaskCluster(closed.scheduler_address, deadline=2.0)
    results = spread.in_order(square, range(1000))
    assert next(results) == 0
    closed.close()
    with pytest.raises(ClusterError, match="no longer answers; nothing was changed"):
        list(results)
    spread.close()


def test_a_scheduler_that_does_not_answer_is_said_within_the_deadline() -> None:
    with pytest.raises(ClusterError, match=r"no scheduler answers at tcp://127\.0\.0\.1:1 .*dask scheduler"):
        DaskCluster("tcp://127.0.0.1:1", deadline=0.5).connect()


def test_without_dask_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingExtra, match=r"\./scale\[cluster\]"):
        DaskCluster("tcp://127.0.0.1:1").connect()


def test_a_worker_with_other_versions_is_refused(cluster: LocalCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    here = versions_here()  # outside: the function travels to the workers, which cannot look up what is patched

    def versions_of_each() -> dict[str, str]:
        return here if threading.current_thread() is threading.main_thread() else {**here, "numpy": "1.0"}

    monkeypatch.setattr(dask_cluster, "versions_here", versions_of_each)
    with pytest.raises(ClusterError, match=r"the worker inproc://\S+ has numpy 1\.0, not .*; install"):
        DaskCluster(cluster.scheduler_address).connect()
