"""Whether a folder has an index that this semsearch can read, and bringing an earlier one up to date."""

from __future__ import annotations

from pathlib import Path

from semsearch.errors import IndexDamaged, IndexNotFound
from semsearch.storage.connections import DATABASE
from semsearch.storage.database import SEGMENTS, IndexDatabase
from semsearch.storage.sums.seals import check_seals

FORMAT = "semsearch index 1"
SCHEMA = 7  # the PRAGMA user_version after all migrations


def _is_file(path: Path) -> bool:
    return path.is_file()


def has_database(folder: Path) -> bool:
    """Return whether a folder has the database of an index; False for a folder that we may not look into."""
    try:
        return _is_file(folder / DATABASE)
    except OSError:
        return False


def is_index(folder: Path) -> bool:
    """Return whether a folder has an index whose creation was completed."""
    if not has_database(folder):
        return False
    database = IndexDatabase(folder)
    try:
        check(database)
    except IndexNotFound:
        return False
    finally:
        database.close()
    return True


def check(database: IndexDatabase) -> None:
    """Check that there is an index that we can read. Raises IndexNotFound, or IndexDamaged for anything else."""
    if not has_database(database.folder):
        raise IndexNotFound(f"there is no index at {database.folder}; make one with: semsearch index PATH")
    _refuse_links(database.folder / SEGMENTS)
    with database.reading() as db:
        tables = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if tables and "meta" not in tables and "_sqlite_migrations" not in tables:
            raise IndexDamaged(f"{database.path} is a database of something else, not a semsearch index")
        row = db.execute("SELECT value FROM meta WHERE key = 'format'").fetchone() if "meta" in tables else None
    if row is None:
        raise IndexNotFound(f"the index at {database.folder} was never completed; index again to make it")
    if row[0] != FORMAT:
        raise IndexDamaged(
            f"{database.folder} is {row[0]!r}, and this semsearch reads {FORMAT!r}; use a newer semsearch"
        )


def check_given(database: IndexDatabase) -> None:
    """Compare the settings, roots and numbers of an index with their seal. Raises IndexDamaged."""
    with database.reading() as db:
        check_seals(db, derived=False)


def upgrade(database: IndexDatabase) -> None:
    """Bring the tables of a new index, or of one made by an earlier version, up to date.

    Raises IndexDamaged for one made by a later version.
    """
    if (found := database.schema()) > SCHEMA:
        raise IndexDamaged(
            f"{database.folder} has tables of version {found}, and this semsearch knows {SCHEMA}; use a newer semsearch"
        )
    if found != SCHEMA:
        from semsearch.storage.schema import migrate  # start-up time: only new and old indexes need sqlite-utils

        migrate(database.path)


def _refuse_links(folder: Path) -> None:
    """Refuse a folder of segments that is elsewhere: a writer deletes what no generation names in it."""
    if folder.is_symlink():
        raise IndexDamaged(f"{folder} is a link, and an index keeps its segments itself; move the whole index instead")
