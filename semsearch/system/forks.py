"""What must be done to things when the process is forked, as `multiprocessing` does on Linux: the child has copies of
memory, but neither the threads nor the locks on files."""

from __future__ import annotations

import os
from typing import Protocol
from weakref import WeakSet


class Forked(Protocol):
    """A thing that cannot just be copied into another process."""

    def before_fork(self) -> None:
        """Give up, in the parent, what another process must not inherit."""

    def after_fork(self) -> None:
        """Begin anew in the child, where only the thread that forked goes on."""


_told: WeakSet[Forked] = WeakSet()


def tell(thing: Forked) -> None:
    """Let a thing know of forks, as long as it lives."""
    _told.add(thing)


def _before() -> None:
    for thing in list(_told):
        thing.before_fork()


def _after() -> None:
    for thing in list(_told):
        thing.after_fork()


if hasattr(os, "register_at_fork"):  # not on Windows, where nothing is forked
    os.register_at_fork(before=_before, after_in_child=_after)
