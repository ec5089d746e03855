"""An index that answers only after somebody else has gone on: what asks it must not hold up the others."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable
from typing import Any


class WaitingIndex:
    """Finds nothing, and not before `released` is set; asked by whoever sets it, it fails."""

    def __init__(self) -> None:
        self.released = threading.Event()

    def search(self, *_: Any, **__: Any) -> list[Any]:
        assert self.released.wait(20), "the event loop did not go on while the index was asked"
        return []

    def similar(self, *_: Any, **__: Any) -> list[Any]:
        return []


async def goes_on(answer: Awaitable[Any], released: threading.Event) -> Any:
    """Await an answer that comes only if the event loop goes on meanwhile."""
    asking = asyncio.ensure_future(answer)
    await asyncio.sleep(0)
    released.set()
    return await asking
