"""Parts of a file that cannot be read: left out and told, so that the rest can be read.

One broken slide is no reason to lose a talk, one message of a mailbox none to lose the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sized
from contextlib import contextmanager

from semsearch.errors import SourceError
from semsearch.results.state.problems import Omission

_TOLD = 3


class DamagedParts:
    """Collects the errors of the parts of one file."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._errors: list[SourceError] = []

    @contextmanager
    def left_out(self) -> Iterator[None]:
        """A SourceError within ends the part that is read, and not the file."""
        try:
            yield
        except SourceError as error:
            self._errors.append(error)

    def omissions(self, blocks: Sized) -> tuple[Omission, ...]:
        """Return the omissions of a document with these blocks. Raises SourceError if no block is left."""
        if not self._errors:
            return ()
        if not len(blocks):
            raise SourceError(f"{self._name} has no part that can be read: {self._errors[0]}")
        return (Omission("damaged parts", len(self._errors), "; ".join(map(str, self._errors[:_TOLD]))),)
