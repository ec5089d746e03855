"""A deadline for calls that may never return, such as those to a network disk whose server has gone."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")


def within(seconds: float, call: Callable[[], Result]) -> Result:
    """Return what a call returns, or raise what it raises; raise TimeoutError if that takes longer than this.

    The call has a thread of its own, which is given up then, and does not keep the program from ending.
    """
    returned: list[Result] = []
    raised: list[BaseException] = []

    def run() -> None:
        try:
            returned.append(call())
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=run, daemon=True, name="semsearch-deadline")
    thread.start()
    thread.join(seconds)
    if returned:
        return returned[0]
    if raised:
        raise raised[0]
    raise TimeoutError(f"no answer within {seconds:g} seconds")
