"""A cache for several threads of things that are opened once."""

from __future__ import annotations

from collections.abc import Callable, Collection
from threading import RLock
from typing import Generic, TypeVar

Key = TypeVar("Key")
Thing = TypeVar("Thing")


class OpenCache(Generic[Key, Thing]):
    """Cache things by their keys. A thread that asks for a thing that another thread is opening waits for it."""

    def __init__(self) -> None:
        self._things: dict[Key, Thing] = {}
        self._opening = RLock()

    def get(self, key: Key, open: Callable[[], Thing]) -> Thing:
        """Return the thing of a key, opened on first use. If opening fails, the next call tries again."""
        thing = self._things.get(key)
        if thing is not None:
            return thing
        with self._opening:
            thing = self._things.get(key)
            if thing is None:
                thing = self._things[key] = open()
            return thing

    def keep(self, keys: Collection[Key]) -> None:
        """Drop all things but those of the given keys. Whoever holds a dropped one can go on using it."""
        with self._opening:
            self._things = {key: thing for key, thing in self._things.items() if key in keys}
