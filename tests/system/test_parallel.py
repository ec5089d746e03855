"""Work in threads: the same results in the same order, and errors where they belong."""

from __future__ import annotations

import subprocess
import sys
import threading

import pytest

from semsearch.system.parallel import in_background, in_order


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


def test_processes_end_when_the_one_that_started_them_is_killed() -> None:
    endless = "from itertools import count; from semsearch.system.parallel import Processes\n"
    endless += "for n in Processes(2).in_order(abs, count()): print(n, flush=True)"
    with subprocess.Popen(
        [sys.executable, "-c", endless], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.kill()
        process.communicate(timeout=60)  # the workers have the pipe open, too
