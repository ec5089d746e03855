"""`semsearch describe`, `rename` and `delete`: what an index is called and what is said of it, and its end."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from semsearch.cli.find_index import find_index, from_here, remember, shown, without_separators
from semsearch.cli.options import IndexesOption, complete_index
from semsearch.cli.printing import complain, count, keep_warnings, size, warn
from semsearch.cli.writing import stopping_as_interrupted
from semsearch.errors import IndexDamaged, UsageError, index_command, rebuild_command
from semsearch.storage.database import IndexDatabase, check
from semsearch.system.locations import shown_uri

if TYPE_CHECKING:
    from semsearch.maintenance.listing import IndexSummary

IndexArgument = Annotated[
    str, typer.Argument(metavar="INDEX", help="By name or path.", autocompletion=complete_index, show_default=False)
]


def describe(
    index: IndexArgument,
    sentence: Annotated[
        str | None, typer.Argument(metavar="[SENTENCE]", help="What it holds; '' for none; default: show it.")
    ] = None,
    indexes: IndexesOption = None,
) -> None:
    """Say in a sentence what an index holds.

    `semsearch list` and `status` show it, and agents read it to choose an index.
    """
    keep_warnings()
    from semsearch.index import Index  # start-up time: an index that is missing is reported before

    with Index.open(find_index(index, indexes)) as opened:
        if sentence is not None:
            opened.describe(sentence)
        said = opened.status(drift=False, stale=False).description
    print(said) if said else complain(f"{shown(opened.path)} has no description")


def rename(
    index: IndexArgument,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Its new name.")],
    indexes: IndexesOption = None,
) -> None:
    """Rename an index. It stays in its folder of indexes; to move it elsewhere, move its folder."""
    from semsearch.maintenance.create_index import move  # start-up time, here and below

    folder = find_index(index, indexes)
    target = folder.with_name(without_separators(name))
    move(folder, target)
    remember(target)
    print(f"{shown(folder)} is now {shown(target)}")


def delete(
    index: IndexArgument,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Delete it without asking.")] = False,
    indexes: IndexesOption = None,
) -> None:
    """Delete an index. The documents that it was made from are never touched.

    Nor is anything in its folder that semsearch has not put there, nor published snapshots.
    """
    from semsearch.maintenance.create_index import delete as delete_files
    from semsearch.maintenance.listing import summarize
    from semsearch.trust import forget as distrust

    folder = find_index(index, indexes)
    database = IndexDatabase(folder)
    found = summarize(folder)
    if found is None or found.problem:
        check(database)
        raise IndexDamaged(found.problem if found else f"{folder} is no whole index; remove the folder yourself")
    of = f" of {', '.join(map(from_here, found.roots))}" if found.roots else ""
    complain(f"{os.path.realpath(folder)} has {count(found.documents, 'document')}{of}, {size(found.size_bytes)}")
    for kept in _kept(found, database):
        complain(kept)
    if not yes and not (sys.stdin.isatty() and typer.confirm("Delete this index?", err=True)):
        raise UsageError(f"nothing was deleted; to delete it, run: {index_command('delete', index, '--yes')}")
    with stopping_as_interrupted():
        foreign = delete_files(folder)
    distrust(database)
    print(f"deleted {shown(folder)}")
    if foreign:
        warn(f"{shown(folder)} stays, with what is not of the index: {', '.join(foreign)}")


def _kept(found: IndexSummary, database: IndexDatabase) -> Iterator[str]:
    """What a deletion leaves, and what it does not."""
    from semsearch.dense.engines import get_address

    if found.roots:
        yield "the files themselves are not touched"
    elif found.documents:
        yield "its texts are in no file: semsearch export saves them"
    with closing(database), database.reading() as db:
        store = get_address(db)
    if store is not None:
        first = rebuild_command(Path(found.path), "--store", "faiss:")
        yield f"its vectors in {shown_uri(store.uri)} stay; to delete them too, run before: {first}"
