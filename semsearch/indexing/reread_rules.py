"""Documents to read again although file and reader are the same, for packages installed since; and whether newly
chosen columns exist.

A document with a part that was not read because a package was missing is read again once that is installed; the part's
omission names the extra. One with pictures whose text is to be recognized is read again last
(semsearch.indexing.recognize_scans).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping

from semsearch.errors import UsageError
from semsearch.readers.records import NO_COLUMNS, Columns
from semsearch.readers.registry import FORMATS, PICTURE
from semsearch.results.omissions import WAITING
from semsearch.sources.roots import Root
from semsearch.storage.known_files import documents_with_omission


def readable_again(db: sqlite3.Connection) -> set[int]:
    """Find the documents of which a part was not read for lack of a package that is installed now."""
    extras = {
        kind.needs[1] for kind in FORMATS.values() if kind is not PICTURE and kind.needs and not kind.lacks_package
    }
    return documents_with_omission(db, [f"semsearch[{extra}]" for extra in extras])


def unrecognized(db: sqlite3.Connection) -> tuple[set[int], set[str]]:
    """Documents with pictures whose text can be recognized and was not, and canonical paths of such unread files."""
    if PICTURE.lacks_package:
        return set(), set()
    says = (WAITING, f"semsearch[{PICTURE.needs[1]}]" if PICTURE.needs else WAITING)
    paths = {path for text in says for (path,) in db.execute("SELECT path FROM unread WHERE instr(reason, ?)", (text,))}
    return documents_with_omission(db, says), paths


def check_columns(
    roots: Iterable[Root], before: Mapping[int, Columns], names_by_root: Mapping[int, Mapping[str, None]]
) -> None:
    """Check that newly chosen columns were found in some file of their root. `before` and names: by the root's id.

    Raises UsageError for a column that no file has.
    """
    for root in roots:
        names = names_by_root.get(root.id, {})
        if root.columns != before.get(root.id, NO_COLUMNS) and (missing := root.columns.missing(names)):
            suffixes = ", ".join(suffix for kind in FORMATS.values() if kind.has_columns for suffix in kind.suffixes)
            raise UsageError(
                f"no file in {root.path} has a column {missing[0]!r}; "
                + (f"the columns are {', '.join(names)}" if names else f"no {suffixes} file has columns")
            )
