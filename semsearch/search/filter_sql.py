"""Filters as SQL over `documents` and `roots`: the passages that pass, and warnings of filters that match nothing.

The SQL is ours; what was typed is in its parameters. A record (a row of a table, a line of JSON) of which some columns
were chosen as metadata has these besides the metadata of its document; under the same name its own win.

A filter matches nothing where no document has its key, or where a value or path is misspelt. Of a filter that excludes
documents, those that it would exclude are looked for. Each filter is checked once in a generation.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import numpy as np

from semsearch.arrays.id_ranges import IdRanges, distinct
from semsearch.errors import UsageError
from semsearch.results.options import SearchOptions
from semsearch.search.filters import (
    Filter,
    FilterChoice,
    metadata_matches,
    modified_matches,
    nested_values,
    parse,
    path_matches,
    positive,
    text_of,
    value_matches,
)
from semsearch.search.index_reader import IndexView
from semsearch.storage.checked_rows import has_record_metadata
from semsearch.system.locations import working_folder

if TYPE_CHECKING:
    import sqlite3

# -- Conditions in SQL -------------------------------------------------------------------------------------------------

_COLUMNS = {"title": "documents.title", "format": "documents.format"}
_FOLDER = "iif(roots.single, substr(roots.path, 1, length(roots.path) - length(documents.path) - 1), roots.path)"

_AT_ONCE = 100  # conditions that are joined without brackets around some of them
_MOST_VALUES = 5000  # comparisons: SQLite takes 32,766 parameters, and a comparison has up to six


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition in SQL, and its parameters."""

    sql: str
    parameters: tuple[str, ...]


def condition(filters: Sequence[FilterChoice], *, here: str = "", metadata: str = "documents.metadata") -> Condition:
    """Translate filters to SQL: all of them must hold. Paths may also be relative to the current folder, `here`.

    `metadata` is the SQL of what is compared by other keys than those of a column.
    """
    if (compared := sum(len(list(each.comparisons)) for each in filters)) > _MOST_VALUES:
        raise UsageError(f"the filters have {compared:,} comparisons; at most {_MOST_VALUES:,} are possible")
    return _joined(" AND ", [_choice(each, here, metadata) for each in filters])


def _choice(choice: FilterChoice, here: str, metadata: str) -> Condition:
    alternatives = [
        _joined(" AND ", [comparison(filter_, here=here, metadata=metadata) for filter_ in alternative])
        for alternative in choice.alternatives
    ]
    any_of_them = _joined(" OR ", alternatives)
    return Condition(f"NOT ({any_of_them.sql})", any_of_them.parameters) if choice.is_negated else any_of_them


def _joined(by: str, parts: Sequence[Condition]) -> Condition:
    """Join conditions by AND or OR. Many are joined half by half: SQLite takes an expression of a thousand levels."""
    if len(parts) > _AT_ONCE:
        middle = len(parts) // 2
        return _joined(by, [_joined(by, parts[:middle]), _joined(by, parts[middle:])])
    sql = by.join(f"({part.sql})" for part in parts) or "1"
    return Condition(sql, tuple(value for part in parts for value in part.parameters))


def comparison(filter_: Filter, *, here: str = "", metadata: str = "documents.metadata") -> Condition:
    """Translate one comparison to SQL."""
    wanted = (filter_.operator, filter_.value)
    key = filter_.key.casefold()
    if key == "path":
        return Condition(f"filter_path(documents.path, {_FOLDER}, ?, ?, ?)", (*wanted, here))
    if key in _COLUMNS:
        return Condition(f"filter_text({_COLUMNS[key]}, ?, ?)", wanted)
    # json() so that SQLite says of damaged metadata what it is
    if key == "modified":
        return Condition(f"filter_modified(json({metadata}), documents.mtime_ns, ?, ?)", wanted)
    return Condition(f"filter_metadata(json({metadata}), ?, ?, ?)", (key, *wanted))


FUNCTIONS: dict[str, tuple[int, Callable[..., bool]]] = {
    "filter_path": (5, path_matches),
    "filter_text": (3, value_matches),
    "filter_metadata": (4, metadata_matches),
    "filter_modified": (4, modified_matches),
}


def teach(db: sqlite3.Connection) -> None:
    """Define the functions that conditions call on a connection."""
    for name, (arguments, function) in FUNCTIONS.items():
        db.create_function(name, arguments, function, deterministic=True)


# -- Passages that pass ------------------------------------------------------------------------------------------------

_PASSAGES_OF_DOCUMENTS = (
    "SELECT first_passage, passages FROM documents LEFT JOIN roots ON roots.id = documents.root_id WHERE "
)
_PASSAGES_OF_RECORDS = """SELECT passages.id, 1 FROM documents JOIN passages ON passages.id >= documents.first_passage
    AND passages.id < documents.first_passage + documents.passages LEFT JOIN roots ON roots.id = documents.root_id
    LEFT JOIN record_metadata ON record_metadata.passage_id = passages.id
    WHERE documents.id IN (SELECT document_id FROM record_metadata) AND """
_PASSAGES_NOT_OF_RECORDS = " AND documents.id NOT IN (SELECT document_id FROM record_metadata)"
_BOTH = "json_patch(documents.metadata, coalesce(record_metadata.metadata, '{}'))"


def allowed_by_filters(index: IndexView, options: SearchOptions) -> IdRanges | None:
    """The ids of the passages that the filters and passages of a search allow; None if there are none.

    Raises UsageError for a filter that means nothing.
    """
    if not options.filters and options.passages is None:
        return None
    if options.filters:
        index.check_documents()
    allowed = _passing(index.db, options.filters)
    if options.passages is None:
        return allowed
    wanted = distinct(np.array(options.passages, dtype=np.int64))
    return IdRanges.of_ids(wanted[allowed.has(wanted)])


def _passing(db: sqlite3.Connection, filters: Sequence[str]) -> IdRanges:
    """The ids of the passages that pass all filters."""
    parsed, here = [parse(text) for text in filters], working_folder().as_posix()
    teach(db)
    where = condition(parsed, here=here)
    sql = _PASSAGES_OF_DOCUMENTS + where.sql  # the SQL is ours, what was typed is in parameters
    if not has_record_metadata(db):
        return IdRanges.of(db.execute(sql, where.parameters))
    of_records = condition(parsed, here=here, metadata=_BOTH)
    return IdRanges.of(
        [
            *db.execute(sql + _PASSAGES_NOT_OF_RECORDS, where.parameters),
            *db.execute(_PASSAGES_OF_RECORDS + of_records.sql, of_records.parameters),
        ]
    )


# -- Filters that match nothing ----------------------------------------------------------------------------------------

_OWN = ("path", "title", "format", "modified")
_MEANT = {"type": "format", "ext": "format", "extension": "format", "folder": "path", "dir": "path", "file": "path"}
_MOST_NAMES = 20_000  # names that a misspelt one is compared with
_ANY_DOCUMENT = "SELECT 1 FROM documents LEFT JOIN roots ON roots.id = root_id WHERE {} LIMIT 1"
_ANY_RECORD = "SELECT 1 FROM record_metadata WHERE {} LIMIT 1"
_METADATA = "SELECT DISTINCT metadata FROM documents UNION SELECT DISTINCT metadata FROM record_metadata"


def unmatched(filters: Iterable[str], index: IndexView) -> list[str]:
    """A notice of each comparison in filters that matches no document. Raises UsageError for one without a meaning."""
    notices = list[str]()
    checked = index.reader.memory.unmatched_filters
    for text in filters:
        if text not in checked:
            index.check_documents()
            teach(index.db)
            wanted = [replace(each, operator=positive(each.operator)) for each in parse(text).comparisons]
            checked[text] = tuple(_sentence(index.db, each) for each in wanted if not _matches_any(index.db, each))
        notices += checked[text]
    return notices


def _matches_any(db: sqlite3.Connection, wanted: Filter) -> bool:
    where = comparison(wanted, here=working_folder().as_posix())
    if db.execute(_ANY_DOCUMENT.format(where.sql), where.parameters).fetchone():
        return True
    if wanted.key.casefold() in _OWN or not has_record_metadata(db):
        return False
    where = comparison(wanted, metadata="record_metadata.metadata")
    return db.execute(_ANY_RECORD.format(where.sql), where.parameters).fetchone() is not None


def _sentence(db: sqlite3.Connection, wanted: Filter) -> str:
    """What a filter lacks, and what is perhaps meant instead."""
    key, sign = wanted.key.casefold(), "=" if wanted.operator == ".." else wanted.operator
    lacking = f"no document has {wanted.key}{sign}{wanted.value}"
    if key == "path":
        return f"no path matches {wanted.value!r}{_meant(wanted.value, _paths(db))}"
    if key in ("title", "format"):
        values = [value for (value,) in db.execute(f"SELECT DISTINCT {key} FROM documents")]  # noqa: S608
        return lacking + _meant(wanted.value, values)
    if key == "modified":
        return lacking
    values_by_key = _values_by_key(db)
    if key in values_by_key:
        return lacking + _meant(wanted.value, values_by_key[key])
    hint = f"; did you mean {_MEANT[key]}?" if key in _MEANT else _meant(key, [*_OWN, *values_by_key])
    return f"no document has the key {wanted.key!r}{hint}"


def _meant(wanted: str, names: Iterable[str]) -> str:
    """The end of a sentence: what was meant, if a name is much like what is wanted."""
    literal = wanted.removeprefix("./").strip("*/").casefold()
    near = {name.casefold(): name for name in names if abs(len(name) - len(literal)) <= 2 + len(literal) // 4}
    closest = get_close_matches(literal, list(near)[:_MOST_NAMES], 1, 0.7) if literal else []
    return f"; did you mean {near[closest[0]]}?" if closest and closest[0] != wanted.casefold() else ""


def _paths(db: sqlite3.Connection) -> Iterable[str]:
    """The paths of all documents, of the folders that they lie in, and the names of both."""
    names: dict[str, None] = {}
    for (path,) in db.execute("SELECT path FROM documents"):
        whole = PurePosixPath(path)
        folders = [f"{part}/" for folder in whole.parents[-2::-1] for part in (folder.as_posix(), folder.name)]
        names |= dict.fromkeys((*folders, path, whole.name))
    return names


def _values_by_key(db: sqlite3.Connection) -> dict[str, list[str]]:
    """The different values of each key of metadata, casefolded keys."""
    values: dict[str, dict[str, None]] = {}
    for (metadata,) in db.execute(_METADATA):
        for name, item in json.loads(metadata).items():
            for key, value in nested_values(name.casefold(), item):
                values.setdefault(key, {})[text_of(value)] = None
    return {key: list(of_key) for key, of_key in values.items()}
