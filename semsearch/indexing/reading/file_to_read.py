"""A file on its way to a reader, here or in another process: its path, its columns, and where its bytes come from."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from semsearch.readers.read import FileContent
from semsearch.readers.records.columns import NO_COLUMNS, Columns

if TYPE_CHECKING:
    from semsearch.sources.objects.object_store import ObjectState
    from semsearch.sources.plan import PresentFile

Opened = Callable[[], FileContent]  # reads a file; raises SourceError, and OSError if the machine lacks something


class FileToRead(NamedTuple):
    """A file by its path, and the columns that were chosen, should it be a table or records.

    An object of a store has its URI as path, and its state as the listing showed it.
    """

    path: str
    columns: Columns = NO_COLUMNS
    listed: ObjectState | None = None

    @classmethod
    def of(cls, present: PresentFile) -> FileToRead:
        """The file as a walk found it."""
        if not present.store:
            return cls(present.absolute, present.columns)
        from semsearch.sources.objects.object_store import ObjectState  # start-up time: few files lie in stores

        return cls(present.absolute, present.columns, ObjectState.of(present))
