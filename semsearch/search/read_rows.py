"""The rows of passages and documents that answers read: each is compared with its checksum when it is read first.

Passages that may say the same are compared by their texts, and the best of them become hits, so an answer needs some
rows twice. In one generation they do not change, and so they are kept while it lasts.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from semsearch.storage.catalogue import DocumentRow, PassageRow, need_documents, passage_row
from semsearch.storage.sums.passages import PassageColumnsRead, needed_passages, text_in

if TYPE_CHECKING:
    import sqlite3

_MOST = 4096  # rows that are kept: some megabytes


class ReadRows:
    """The rows of one generation that were read lately. Threads may share it."""

    def __init__(self) -> None:
        self._kept: dict[int, PassageColumnsRead] = {}
        self._documents: dict[int, DocumentRow] = {}

    def texts(self, db: sqlite3.Connection, ids: Iterable[int]) -> dict[int, str]:
        """The texts of passages, which are all there, by id. Raises IndexDamaged."""
        return {id_: text_in(row) for id_, row in self._rows(db, ids).items()}

    def passages(self, db: sqlite3.Connection, ids: Iterable[int]) -> dict[int, PassageRow]:
        """The rows of passages, which are all there, by id. Raises IndexDamaged."""
        return {id_: passage_row(row) for id_, row in self._rows(db, ids).items()}

    def documents(self, db: sqlite3.Connection, ids: Iterable[int]) -> dict[int, DocumentRow]:
        """The rows of documents, which are all there, by id. Raises IndexDamaged."""
        kept, wanted = self._documents, dict.fromkeys(ids)
        lacking = [id_ for id_ in wanted if id_ not in kept]
        read = need_documents(db, lacking) if lacking else {}
        found = {id_: read[id_] if id_ in read else kept[id_] for id_ in wanted}
        if len(kept) + len(read) > _MOST:
            kept = self._documents = {}
        kept.update(read)
        return found

    def _rows(self, db: sqlite3.Connection, ids: Iterable[int]) -> dict[int, PassageColumnsRead]:
        kept, wanted = self._kept, dict.fromkeys(ids)
        lacking = [id_ for id_ in wanted if id_ not in kept]
        read = {row[0]: row for row in needed_passages(db, lacking)} if lacking else {}
        found = {id_: read[id_] if id_ in read else kept[id_] for id_ in wanted}
        if len(kept) + len(read) > _MOST:
            kept = self._kept = {}
        kept.update(read)
        return found
