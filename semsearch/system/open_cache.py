"""Caches for several threads: of things that are opened once, and of values that are read when first asked for."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from threading import RLock
from typing import Generic, TypeVar

Key = TypeVar("Key")
Thing = TypeVar("Thing")
Value = TypeVar("Value")


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


class ReadCache(Generic[Key, Value]):
    """Values by their keys, read when first asked for; all are forgotten before there are too many.

    Threads may share it: at worst, two read the same.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: dict[Key, Value] = {}

    def of(self, keys: Iterable[Key], read: Callable[[list[Key]], Mapping[Key, Value]]) -> dict[Key, Value]:
        """The value of each different key, in order. What `read` is asked for and does not give is left out."""
        values, wanted = self._values, dict.fromkeys(keys)
        lacking = [key for key in wanted if key not in values]
        if not lacking:
            return {key: values[key] for key in wanted}
        new = read(lacking)
        result = {key: new[key] if key in new else values[key] for key in wanted if key in new or key in values}
        if len(values) + len(new) > self._most:
            values = self._values = {}
        values.update(new)
        return result
