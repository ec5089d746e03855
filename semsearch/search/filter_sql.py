"""Filters as SQL over `documents` and `roots`.

The SQL is ours; what was typed is in its parameters. A record (a row of a table, a line of JSON) of which some columns
were chosen as metadata has these besides the metadata of its document; under the same name its own win.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from semsearch.errors import UsageError
from semsearch.search.filters import (
    Filter,
    FilterChoice,
    metadata_matches,
    modified_matches,
    path_matches,
    value_matches,
)

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
