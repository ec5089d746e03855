"""The indexes in a folder of indexes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from semsearch.errors import IndexNotFound, SemsearchError
from semsearch.storage.database import Store, check, has_database
from semsearch.storage.roots import get_roots


@dataclass(frozen=True, slots=True)
class IndexSummary:
    """An index in a list. `problem` says why the rest is not known."""

    name: str
    path: str
    documents: int = 0
    passages: int = 0
    sentences: int = 0
    size_bytes: int = 0  # of all files
    roots: tuple[str, ...] = ()  # the folders and files that it is of
    problem: str = ""  # empty where there is none


def list_indexes(folder: str | Path) -> list[IndexSummary]:
    """All indexes in a folder, by name, damaged ones with their problem; none where there is no such folder."""
    try:
        places = sorted(path for path in Path(folder).iterdir() if has_database(path))
    except (FileNotFoundError, NotADirectoryError):
        return []
    found: list[IndexSummary] = []
    for place in places:
        try:
            found.append(_summary(place))
        except IndexNotFound:
            continue  # its creation was interrupted: the next `index` makes it
        except SemsearchError as error:
            found.append(IndexSummary(place.name, str(place), problem=str(error)))
    return found


def _summary(place: Path) -> IndexSummary:
    store = Store(place)
    try:
        check(store)
        with store.reading() as db:
            documents, passages, sentences = db.execute(
                "SELECT count(*), coalesce(sum(passages), 0), coalesce(sum(sentences), 0) FROM documents"
            ).fetchone()
            roots = tuple(root.path for root in get_roots(db))
    finally:
        store.close()
    size = sum(path.stat().st_size for path in place.rglob("*") if path.is_file())
    return IndexSummary(place.name, str(place), documents, passages, sentences, size, roots)
