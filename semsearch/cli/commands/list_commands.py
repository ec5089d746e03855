"""`semsearch list`, `describe` and `delete`: which indexes there are, and what they hold."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from semsearch import trust
from semsearch.cli import options
from semsearch.cli.find_index import (
    all_indexes,
    find_index,
    no_index_message,
    open_index,
    path_argument,
)
from semsearch.cli.printing import (
    ask_on_terminal,
    count,
    hide_warnings,
    one_line,
    plain_path,
    print_aligned,
    print_stderr,
    relative_path,
    say,
    signals_as_interrupts,
    size,
    to_json,
    warn,
)
from semsearch.errors import IndexDamaged, IndexOutdated, UsageError, index_command, rebuild_command
from semsearch.index import Index
from semsearch.maintenance.index_folders import IndexSummary, delete as delete_files, summarize
from semsearch.results.documents import DocumentInfo
from semsearch.storage.database import IndexDatabase, check
from semsearch.storage.schema import get_address
from semsearch.system.locations import shown_uri

# -- list --------------------------------------------------------------------------------------------------------------

_DAY = len("2025-01-31")


def list_(
    name: Annotated[
        str | None,
        Argument(metavar="[INDEX]", help="List the documents of this index.", autocompletion=options.complete_index),
    ] = None,
    *,
    index: Annotated[
        list[str] | None, Option("--index", "--name", "-i", metavar="NAME|PATH", help="The same.", hidden=True)
    ] = None,
    documents: Annotated[bool, Option("--documents", "-d", help="List the documents of the only index.")] = False,
    filters: options.FiltersOption = None,
    indexes: options.IndexesOption = None,
    json: options.JsonOption = False,
) -> None:
    """List all indexes, or the documents of one.

    Indexes of this folder come first, then those of folders above, your personal ones, and those that you have made
    elsewhere. If two have the same name, the name means the first; use the path of the other.

    With INDEX, --documents or --filter: documents, with passages, format, date of the file, path and title.
    """
    index = [*filter(None, [name]), *(index or [])] or None
    if not (documents or index or filters):
        summaries = [summary for folder in all_indexes(indexes) if (summary := summarize(folder)) is not None]
        if json:
            print(to_json([*map(asdict, summaries)]))
        elif summaries:
            print_aligned([_INDEXES, *map(_index_row, summaries)], left=(0, 3, 4, 5))
        else:
            print_stderr(no_index_message(indexes))
        return
    with open_index(index, indexes) as opened:
        infos = [*opened.documents(filters or ())]
    if json:
        print(to_json([info.to_dict() for info in infos]))
    elif infos:
        print_aligned([_DOCUMENTS, *map(_document_row, infos)], left=(1, 2, 3))
    else:
        print_stderr("no documents")


_INDEXES = ("index", "documents", "size", "updated", "in", "of")
_DOCUMENTS = ("passages", "format", "date", "document")


def _index_row(summary: IndexSummary) -> tuple[str, ...]:
    place = plain_path(path_argument(Path(summary.path).parent))
    if summary.problem:  # its path stands beside it, and would push what to do out of a terminal
        return summary.name, "?", "?", "", place, plain_path(summary.problem.removeprefix(f"the index {summary.path} "))
    roots = ", ".join(map(relative_path, summary.roots))
    state = f"{summary.documents:,}", size(summary.size_bytes), summary.updated[:_DAY]
    of = f"{roots}: {one_line(summary.description)}" if summary.description else roots
    return summary.name, *state, place, plain_path(of)


def _document_row(document: DocumentInfo) -> tuple[str, ...]:
    date = (document.modified or document.indexed)[:_DAY]
    title = one_line(document.title)
    path = plain_path(document.path) + (f" › {title}" if title else "")
    return f"{document.passages:,}", document.format, date, path


# -- describe, delete --------------------------------------------------------------------------------------------------

IndexArgument = Annotated[
    str, Argument(metavar="INDEX", help="By name or path.", autocompletion=options.complete_index, show_default=False)
]


def describe(
    index: IndexArgument,
    sentence: Annotated[
        str | None, Argument(metavar="[SENTENCE]", help="What it holds; '' for none; default: show it.")
    ] = None,
    indexes: options.IndexesOption = None,
) -> None:
    """Say in a sentence what an index holds.

    `semsearch list` and `status` show it, and agents read it to choose an index.
    """
    hide_warnings()
    with Index.open(find_index(index, indexes)) as opened:
        if sentence is not None:
            opened.describe(sentence)
        description = opened.status(known_words=False, stale=False).description
    if description:
        say(description)
    else:
        print_stderr(f"{path_argument(opened.path)} has no description")


def delete(index: IndexArgument, yes: options.YesOption = False, indexes: options.IndexesOption = None) -> None:
    """Delete an index; its documents are never touched.

    Nor is anything in its folder that semsearch has not put there, nor published snapshots.
    """
    folder = find_index(index, indexes)
    database = IndexDatabase(folder)
    try:
        check(database)
    except IndexOutdated:
        print_stderr(
            f"{os.path.realpath(folder)} was made by an earlier semsearch; its texts that are in no file are lost"
        )
    else:
        for line in _deletion_notes(folder, database):
            print_stderr(line)
    if not yes and not ask_on_terminal("Delete this index?"):
        raise UsageError(f"nothing was deleted; to delete it, run: {index_command('delete', index, '--yes')}")
    with signals_as_interrupts():
        foreign = delete_files(folder)
    trust.forget(database)
    say(f"deleted {path_argument(folder)}")
    if foreign:
        warn(f"{path_argument(folder)} stays, with what is not of the index: {', '.join(foreign)}")


def _deletion_notes(folder: Path, database: IndexDatabase) -> Iterator[str]:
    """Lines on what an index has, and what stays if it is deleted. Raises IndexDamaged."""
    summary = summarize(folder)
    if summary is None or summary.problem:
        raise IndexDamaged(summary.problem if summary else f"{folder} is no whole index; remove the folder yourself")
    of = f" of {', '.join(map(relative_path, summary.roots))}" if summary.roots else ""
    yield f"{os.path.realpath(folder)} has {count(summary.documents, 'document')}{of}, {size(summary.size_bytes)}"
    if summary.roots:
        yield "the files themselves are not touched"
    elif summary.documents:
        yield "its texts are in no file: semsearch export saves them"
    with closing(database), database.reading() as db:
        store = get_address(db)
    if store is not None:
        first = rebuild_command(Path(summary.path), "--store", "faiss:")
        yield f"its vectors in {shown_uri(store.uri)} stay; to delete them too, run before: {first}"
