"""Which index is of a folder that has been moved or renamed since."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from semsearch.errors import SemsearchError
from semsearch.indexing.planning.moved_roots import find_root_moves
from semsearch.sources.roots import Root
from semsearch.storage.database import IndexDatabase
from semsearch.storage.opening import check
from semsearch.storage.roots import get_roots


def index_of_moved_folder(folder: Path, indexes: Iterable[Path]) -> Path | None:
    """Find the index of which a root has moved to a folder; None if there is none, or several."""
    if not folder.is_dir():
        return None
    asked = Root(-1, folder.resolve().as_posix())
    found = [index for index in indexes if _has_moved(index, asked)]
    return found[0] if len(found) == 1 else None


def _has_moved(index: Path, asked: Root) -> bool:
    database = IndexDatabase(index)
    try:
        check(database)
        with database.reading() as db:
            return bool(find_root_moves(db, get_roots(db), [asked]))
    except SemsearchError:  # a damaged index is not the one
        return False
    finally:
        database.close()
