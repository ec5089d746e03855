"""Things that are opened when they are first needed, once, however many threads ask for them at the same time."""

from __future__ import annotations

from collections.abc import Callable, Collection
from threading import RLock
from typing import Generic, TypeVar

Key = TypeVar("Key")
Thing = TypeVar("Thing")


class Opened(Generic[Key, Thing]):
    """Opened things by their keys. A thread that asks for one that another is opening waits for it."""

    def __init__(self) -> None:
        self._things: dict[Key, Thing] = {}
        self._opening = RLock()

    def get(self, key: Key, open: Callable[[], Thing]) -> Thing:
        """The thing of a key, opened if it was not. Where opening fails, the next one who asks tries again."""
        thing = self._things.get(key)
        if thing is not None:
            return thing
        with self._opening:
            thing = self._things.get(key)
            if thing is None:
                thing = self._things[key] = open()
            return thing

    def keep(self, keys: Collection[Key]) -> None:
        """Let go of all others. Who has one goes on with it."""
        with self._opening:
            self._things = {key: thing for key, thing in self._things.items() if key in keys}
