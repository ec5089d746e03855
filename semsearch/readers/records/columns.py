"""The columns of tables and records that are text, and those that are metadata, as chosen for a root.

A chosen name means the column of that name, whatever its case, and in JSON everything in the value of that name.
Without text columns, all that are not metadata are text; `*` means that too. A file that has none of the text columns
(or of the metadata columns, if only those were chosen) is another kind of table, and is read as if none were chosen.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

ALL = "*"


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns that are searched, and those that are kept as metadata of each record. False where none is chosen."""

    text: tuple[str, ...] = ()
    metadata: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.text or self.metadata)

    @property
    def has_all_text(self) -> bool:
        """Return whether all columns are text, but for the metadata."""
        return not self.text or ALL in self.text

    def is_text(self, name: str) -> bool:
        """Return whether a column of this name is searched."""
        return not self.is_metadata(name) if self.has_all_text else self.text_rank(name) < len(self.text)

    def text_rank(self, name: str) -> int:
        """Return where a column of this name stands among the text columns; after all of them if it is none."""
        return next((rank for rank, column in enumerate(self.text) if _means(column, name)), len(self.text))

    def is_metadata(self, name: str) -> bool:
        """Return whether a column of this name is metadata."""
        return any(_means(column, name) for column in self.metadata)

    def are_of(self, names: Iterable[str]) -> bool:
        """Return whether a file with columns of these names is one that the columns were chosen for."""
        wanted = self.metadata if self.has_all_text else self.text
        return any(_means(column, name) for name in names for column in wanted)

    def missing(self, names: Iterable[str]) -> list[str]:
        """Return the chosen columns that are not among these names."""
        there = [*names]
        chosen = [column for column in (*self.text, *self.metadata) if column != ALL]
        return [column for column in chosen if not any(_means(column, name) for name in there)]


NO_COLUMNS = Columns()


def _means(column: str, name: str) -> bool:
    column, name = column.casefold(), name.casefold()
    return name == column or name.startswith(column + ".")
