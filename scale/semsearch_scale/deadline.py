"""Calls with a deadline, for those that may never return, as to a network disk whose server is gone."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

Result = TypeVar("Result")


class Begun(Generic[Result]):
    """A call that runs in a thread of its own, which may be given up, and does not keep the program from ending."""

    def __init__(self, call: Callable[[], Result]) -> None:
        self._returned: list[Result] = []
        self._raised: list[BaseException] = []
        self._call = call
        self._thread = threading.Thread(target=self._run, daemon=True, name="semsearch-deadline")
        self._thread.start()

    def _run(self) -> None:
        try:
            self._returned.append(self._call())
        except BaseException as error:
            self._raised.append(error)

    def result(self, seconds: float | None = None) -> Result:
        """Return what the call returns, or raise what it raises; raise TimeoutError if that takes longer from now.

        Without a number of seconds, as long as it takes.
        """
        self._thread.join(seconds)
        if self._returned:
            return self._returned[0]
        if self._raised:
            raise self._raised[0]
        raise TimeoutError(f"no answer within {seconds:g} seconds")


def call_within(seconds: float, call: Callable[[], Result]) -> Result:
    """Return what a call returns, or raise what it raises; raise TimeoutError if that takes longer than this."""
    return Begun(call).result(seconds)
