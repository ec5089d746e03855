"""Calls with a deadline, for those that may never return, as to a network disk whose server is gone."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from threading import Thread
from typing import TypeVar

Result = TypeVar("Result")


def begun(call: Callable[[], Result], *, daemon: bool = True) -> Future[Result]:
    """Begin a call in a thread of its own, which may be given up. A daemon does not keep the program from ending."""
    future: Future[Result] = Future()

    def run() -> None:
        try:
            future.set_result(call())
        except BaseException as error:
            future.set_exception(error)

    Thread(target=run, daemon=daemon, name="semsearch-deadline").start()
    return future


def result_within(seconds: float, future: Future[Result]) -> Result:
    """Return what a call returns, or raise what it raises; raise TimeoutError if that takes longer from now."""
    try:
        return future.result(seconds)
    except TimeoutError as error:
        if future.done():  # the call's own
            raise
        raise TimeoutError(f"no answer within {seconds:g} seconds") from error
