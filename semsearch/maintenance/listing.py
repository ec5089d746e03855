"""The indexes in a folder of indexes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from semsearch.errors import IndexNotFound, SemsearchError
from semsearch.storage.catalogue import get_roots
from semsearch.storage.database import IndexDatabase, check, has_database
from semsearch.storage.index_files import file_sizes
from semsearch.storage.meta import DESCRIPTION, get_meta


@dataclass(frozen=True, slots=True)
class IndexSummary:
    """An entry in the list of a folder's indexes. `problem` says why the rest is not known."""

    name: str
    path: str
    documents: int = 0
    passages: int = 0
    sentences: int = 0
    size_bytes: int = 0  # of all files
    roots: tuple[str, ...] = ()  # the folders and files that it indexes
    problem: str = ""  # empty if there is none
    updated: str = ""  # date and time of the newest document in it; empty if there is none
    description: str = ""  # the sentence that `semsearch describe` has given it; empty if there is none


def list_indexes(folder: str | Path) -> list[IndexSummary]:
    """List all indexes in a folder, by name, damaged ones with their problem; none if the folder does not exist."""
    try:
        paths = sorted(path for path in Path(folder).iterdir() if has_database(path))
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise IndexNotFound(f"{folder} cannot be listed ({error.strerror})") from error
    return [summary for path in paths if (summary := summarize(path)) is not None]


def summarize(folder: Path) -> IndexSummary | None:
    """What the list says of an index; None for one whose creation was interrupted: the next `index` completes it."""
    try:
        return _summary(folder)
    except IndexNotFound:
        return None
    except SemsearchError as error:
        return IndexSummary(folder.name, str(folder), problem=str(error))


def _summary(folder: Path) -> IndexSummary:
    database = IndexDatabase(folder)
    try:
        check(database)
        with database.reading() as db:
            documents, passages, sentences, updated = db.execute(
                "SELECT count(*), coalesce(sum(passages), 0), coalesce(sum(sentences), 0), "
                "coalesce(max(indexed_at), '') FROM documents"
            ).fetchone()
            roots = tuple(root.path for root in get_roots(db))
            description = get_meta(db, DESCRIPTION) or ""
    finally:
        database.close()
    size = sum(size for _, size in file_sizes(folder))
    return IndexSummary(
        folder.name, str(folder), documents, passages, sentences, size, roots, updated=updated, description=description
    )
