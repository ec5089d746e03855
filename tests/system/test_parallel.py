"""Work in threads: the same results in the same order, and errors where they belong."""

from __future__ import annotations

import os
import threading
import time
from functools import partial
from pathlib import Path

import pytest

from semsearch.system.parallel import Processes, in_background, in_order


@pytest.mark.parametrize("threads", [1, 3])
def test_results_come_in_the_order_of_the_items(threads: int) -> None:
    assert list(in_order(lambda n: n * n, range(50), threads=threads)) == [n * n for n in range(50)]


@pytest.mark.parametrize("threads", [1, 3])
def test_an_error_comes_where_its_result_would(threads: int) -> None:
    results = in_order(lambda n: 1 // (3 - n), range(10), threads=threads)
    assert [next(results) for _ in range(3)] == [0, 0, 1]
    with pytest.raises(ZeroDivisionError):
        next(results)


def test_what_is_done_aside_is_done_meanwhile() -> None:
    begun = threading.Event()
    with in_background(begun.set, threads=2) as result:
        assert begun.wait(600)  # as long as it takes; only a thread that never begins is waited for in vain
        assert result() is None


def test_a_process_works_while_another_one_does(tmp_path: Path) -> None:
    results = list(Processes(2).in_order(partial(wait_for_other, tmp_path), range(20)))
    assert [number for number, _ in results] == list(range(20))
    assert {process for _, process in results} > {os.getpid()}


def wait_for_other(folder: Path, number: int) -> tuple[int, int]:
    """Return the number and the process; the first one only after another process has worked."""
    (folder / str(os.getpid())).touch()
    while number == 0 and len(list(folder.iterdir())) < 2:
        time.sleep(0.01)
    return number, os.getpid()
