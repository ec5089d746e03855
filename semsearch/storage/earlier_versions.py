"""An index of an earlier version, whose tables are replaced by those of this one: there are no migrations."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from semsearch.errors import UsageError, index_command
from semsearch.storage.checksums import update_digests
from semsearch.storage.connections import DATABASE, connect, connect_to_file
from semsearch.storage.meta import set_meta
from semsearch.storage.schema import FORMAT, check_plain, create_tables
from semsearch.system.durable import replace_file
from semsearch.system.locations import as_spelled, uri_scheme

_KEPT = ("created", "description", "settings", "generation", "published_to", "index_id")  # and where vectors are


def renew_database(folder: Path, renewed: Callable[[str], str]) -> None:
    """Replace the database of an earlier version by one with the same settings and roots, and no documents.

    `renewed` makes the settings of today from those of then, as JSON. Raises UsageError if the index has texts that a
    program added, which are in no file.
    """
    path, new_path = folder / DATABASE, folder / f"renewed.{DATABASE}.tmp"
    with closing(connect_to_file(path, "rw")) as old:
        check_plain(old, path, ["documents", "meta", "roots"])
        (added,) = old.execute("SELECT count(*) FROM documents WHERE root_id = 0").fetchone()
        if added:
            raise UsageError(
                f"{folder} has {added:,} texts that a program added, which are in no file; delete the index "
                f"({index_command('delete', folder)}), index its files and add the texts again"
            )
        values = dict(old.execute("SELECT key, value FROM meta"))
        rows = old.execute("SELECT id, path, single, include, exclude FROM roots").fetchall()
        old.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    columns, options = json.loads(values.get("columns", "{}")), json.loads(values.get("store_options", "{}"))
    with closing(connect(new_path, "rwc")) as db:
        create_tables(db)
        db.execute("BEGIN")
        for key, value in values.items():
            if key in _KEPT or key.startswith("vector_store"):
                set_meta(db, key, renewed(value) if key == "settings" else value)
        for id_, root, single, include, exclude in rows:
            chosen = columns.get(str(id_), {"text": [], "metadata": []})
            lists = include, exclude, json.dumps(chosen["text"]), json.dumps(chosen["metadata"])
            place = root if uri_scheme(root) else as_spelled(Path(root)).as_posix()  # they were as the user wrote them
            row = id_, place, single, *lists, options.get(str(id_), "")
            db.execute("INSERT INTO roots VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)
        set_meta(db, "format", FORMAT)
        update_digests(db)
        db.execute("COMMIT")
    replace_file(new_path, path)
