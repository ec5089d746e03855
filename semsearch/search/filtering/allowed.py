"""The passages that may answer: those of documents that pass all filters, or of records that do.

A record (a row of a table, a line of JSON) of which some columns were chosen as metadata has these besides the metadata
of its document; under the same name its own win.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from semsearch.arrays.id_ranges import IdRanges, distinct
from semsearch.search.filtering.filters import FilterChoice, parse
from semsearch.search.filtering.sql import condition, teach
from semsearch.storage.documents.record_metadata import has_record_metadata
from semsearch.system.working_folder import working_folder

if TYPE_CHECKING:
    import sqlite3

_OF_DOCUMENTS = "SELECT first_passage, passages FROM documents LEFT JOIN roots ON roots.id = documents.root_id WHERE "
_OF_RECORDS = """SELECT passages.id, 1 FROM documents JOIN passages ON passages.id >= documents.first_passage
    AND passages.id < documents.first_passage + documents.passages LEFT JOIN roots ON roots.id = documents.root_id
    LEFT JOIN record_metadata ON record_metadata.passage_id = passages.id
    WHERE documents.id IN (SELECT document_id FROM record_metadata) AND """
_NOT_OF_RECORDS = " AND documents.id NOT IN (SELECT document_id FROM record_metadata)"
_BOTH = "json_patch(documents.metadata, coalesce(record_metadata.metadata, '{}'))"


def allowed_passages(db: sqlite3.Connection, filters: Sequence[str], among: Sequence[int] | None = None) -> IdRanges:
    """Find the ids of the passages that pass all filters; with `among`, only of these passages.

    Raises UsageError for a filter that means nothing.
    """
    passing = _passing(db, filters)
    if among is None:
        return passing
    wanted = distinct(np.array(among, dtype=np.int64))
    return IdRanges.of_ids(wanted[passing.has(wanted)])


def _passing(db: sqlite3.Connection, filters: Sequence[str]) -> IdRanges:
    parsed, here = [parse(text) for text in filters], working_folder().as_posix()
    teach(db)
    where = condition(parsed, here=here)
    sql = _OF_DOCUMENTS + where.sql  # the SQL is ours, what was typed is in parameters
    if not has_record_metadata(db):
        return IdRanges.of(db.execute(sql, where.parameters))
    without_records = db.execute(sql + _NOT_OF_RECORDS, where.parameters)
    return IdRanges.of([*without_records, *_records(db, parsed, here)])


def _records(db: sqlite3.Connection, parsed: Sequence[FilterChoice], here: str) -> list[tuple[int, int]]:
    where = condition(parsed, here=here, metadata=_BOTH)
    return db.execute(_OF_RECORDS + where.sql, where.parameters).fetchall()
