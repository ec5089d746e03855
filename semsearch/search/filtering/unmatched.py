"""What is said of a filter that matches nothing: a key that no document has, a value or a path that is misspelt.

Of a filter that excludes something, what it would exclude is looked for. Each filter is looked up once in a generation.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, MutableMapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from semsearch.search.filtering.filters import Filter, parse
from semsearch.search.filtering.operators import positive
from semsearch.search.filtering.sql import comparison, teach
from semsearch.search.filtering.values import nested_values, text_of
from semsearch.search.telling import tell
from semsearch.storage.documents.record_metadata import has_record_metadata
from semsearch.system.working_folder import working_folder

if TYPE_CHECKING:
    import sqlite3

Told = MutableMapping[str, tuple[str, ...]]
_OWN = ("path", "title", "format", "modified")
_MEANT = {"type": "format", "ext": "format", "extension": "format", "folder": "path", "dir": "path", "file": "path"}
_MOST = 20_000  # names that a misspelt one is compared with
_OF_DOCUMENTS = "SELECT 1 FROM documents LEFT JOIN roots ON roots.id = root_id WHERE {} LIMIT 1"
_OF_RECORDS = "SELECT 1 FROM record_metadata WHERE {} LIMIT 1"
_METADATA = "SELECT DISTINCT metadata FROM documents UNION SELECT DISTINCT metadata FROM record_metadata"


def tell_unmatched(db: sqlite3.Connection, filters: Iterable[str], told: Told) -> None:
    """Say what there is to say of filters."""
    for warning in unmatched(db, filters, told):
        tell(warning)


def unmatched(db: sqlite3.Connection, filters: Iterable[str], told: Told) -> list[str]:
    """What there is to say of filters: one sentence for each comparison that matches no document.

    `told` remembers it, and belongs to one generation. Raises UsageError for a filter that makes no sense.
    """
    for text in filters:
        if text not in told:
            teach(db)
            told[text] = tuple(_sentences(db, text))
    return [sentence for text in filters for sentence in told[text]]


def _sentences(db: sqlite3.Connection, text: str) -> Iterator[str]:
    for each in parse(text).comparisons:
        wanted = replace(each, operator=positive(each.operator))
        if not _matches_any(db, wanted):
            yield _sentence(db, wanted)


def _matches_any(db: sqlite3.Connection, wanted: Filter) -> bool:
    where = comparison(wanted, here=working_folder().as_posix())
    if db.execute(_OF_DOCUMENTS.format(where.sql), where.parameters).fetchone():
        return True
    if wanted.key.casefold() in _OWN or not has_record_metadata(db):
        return False
    where = comparison(wanted, metadata="record_metadata.metadata")
    return db.execute(_OF_RECORDS.format(where.sql), where.parameters).fetchone() is not None


def _sentence(db: sqlite3.Connection, wanted: Filter) -> str:
    key, shown = wanted.key.casefold(), f"{wanted.key}{_sign(wanted)}{wanted.value}"
    if key == "path":
        return f"no path matches {wanted.value!r}{_meant(wanted.value, _paths(db))}"
    if key in _OWN:
        return f"no document has {shown}{_meant(wanted.value, _column(db, key))}"
    values = _values_by_key(db)
    if key not in values:
        hint = f"; did you mean {_MEANT[key]}?" if key in _MEANT else _meant(key, [*_OWN, *values])
        return f"no document has the key {wanted.key!r}{hint}"
    return f"no document has {shown}{_meant(wanted.value, values[key])}"


def _sign(wanted: Filter) -> str:
    return "=" if wanted.operator == ".." else wanted.operator


def _meant(wanted: str, names: Iterable[str]) -> str:
    """The end of a sentence: what was meant, if a name is much like what is wanted."""
    literal = wanted.removeprefix("./").strip("*/").casefold()
    near = {name.casefold(): name for name in names if abs(len(name) - len(literal)) <= 2 + len(literal) // 4}
    found = get_close_matches(literal, list(near)[:_MOST], 1, 0.7) if literal else []
    return f"; did you mean {near[found[0]]}?" if found and found[0] != wanted.casefold() else ""


def _paths(db: sqlite3.Connection) -> Iterator[str]:
    """The paths of all documents, of the folders that they lie in, and the names of both."""
    seen = set[str]()
    for (path,) in db.execute("SELECT path FROM documents"):
        whole = PurePosixPath(path)
        for each in (*reversed(whole.parents[:-1]), whole):
            for name in (each.as_posix() + ("" if each == whole else "/"), each.name + ("" if each == whole else "/")):
                if name not in seen:
                    seen.add(name)
                    yield name


def _column(db: sqlite3.Connection, key: str) -> Sequence[str]:
    if key == "modified":
        return ()
    return [value for (value,) in db.execute(f"SELECT DISTINCT {key} FROM documents")]  # noqa: S608  # title or format


def _values_by_key(db: sqlite3.Connection) -> dict[str, list[str]]:
    """The different values of each key of metadata, casefolded keys."""
    found: dict[str, dict[str, None]] = {}
    for (metadata,) in db.execute(_METADATA):
        for name, item in json.loads(metadata).items():
            for key, value in nested_values(name.casefold(), item):
                found.setdefault(key, {})[text_of(value)] = None
    return {key: list(values) for key, values in found.items()}
