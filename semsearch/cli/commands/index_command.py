"""`semsearch index`: make an index, or bring it up to date, or list what would be read."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Argument, Option

from semsearch.cli import options
from semsearch.cli.find_index import name_or_path, single_name
from semsearch.cli.index_files import IndexTarget, ReadingOptions, index_paths, target_of
from semsearch.cli.options import SettingsArguments
from semsearch.cli.printing import count, hide_warnings, relative_path, say, size, summary, to_json
from semsearch.errors import UsageError, index_command
from semsearch.indexing.changes import is_missing, requested_roots
from semsearch.indexing.read_files import why_refused
from semsearch.results.reports import SyncReport, endings_in_words
from semsearch.sources.root_files import present_files
from semsearch.sources.roots import Root
from semsearch.sources.walk import find_files
from semsearch.storage.database import IndexDatabase
from semsearch.system.locations import local_path, uri_scheme, working_folder

NOTHING_INDEXED = 2


@options.with_options("settings", SettingsArguments)
@options.with_options("reading", ReadingOptions)
def index(
    paths: Annotated[
        list[str] | None,
        Argument(
            metavar="[PATH]...",
            help="Files, folders, s3://bucket/folder and the like; default: all that the index already covers.",
        ),
    ] = None,
    *,
    index: Annotated[list[str] | None, options.index_option("Name or path; default: the first folder's name.")] = None,
    dry_run: Annotated[
        bool, Option("--dry-run", help="List what would be read, and what is left out by which rule.")
    ] = False,
    rebuild: Annotated[bool, Option("--rebuild", help="Rebuild from the stored text and new settings.")] = False,
    json: options.JsonOption = False,
    quiet: options.QuietOption = False,
    indexes: options.IndexesOption = None,
    reading: ReadingOptions,
    settings: SettingsArguments,
) -> None:
    """Index files and folders, or bring an index up to date.

    A repeated run processes only files that were added, changed, moved or removed. Files that .gitignore or
    .semsearchignore names are left out. Exit status: 0, or 2 if nothing could be indexed.
    """
    hide_warnings()
    local_paths = [local_path(path) for path in paths or ()]
    target = target_of(local_paths, single_name(index), indexes)
    if dry_run:
        _print_plan(target, local_paths, reading, json=json)
        return
    report = index_paths(target, local_paths, reading, settings, rebuild=rebuild, quiet=quiet or json)
    if json:
        print(to_json({"index": str(target.folder), **report.to_dict()}))
    elif not quiet:
        _print_report(target, report, local_paths)
    seen = report.added + report.changed + report.moved + report.removed + report.unchanged
    if not seen and (report.not_read or report.skipped or report.warnings):
        raise typer.Exit(NOTHING_INDEXED)


def _print_report(target: IndexTarget, report: SyncReport, paths: Sequence[str]) -> None:
    say(summary(target.folder, report))
    if report.not_read:
        print(f"not read: {endings_in_words(report.not_read)} (semsearch status --problems lists them)")
    if target.is_new:
        command = index_command("query", "--index", name_or_path(target.folder))
        of_paths = f" of {', '.join(paths)}" if len(paths) > 1 else ""
        say(f'new index{of_paths} in {os.path.realpath(target.folder)}; ask it from anywhere: {command} "..."')


# -- What would be read ------------------------------------------------------------------------------------------------


def _print_plan(target: IndexTarget, paths: Sequence[str], reading: ReadingOptions, *, json: bool) -> None:
    """Print which files would be read, and what is left out by which rule."""
    read, limit = list[tuple[str, int]](), options.bytes_of(reading.max_file_size)
    not_read: dict[str, str] = {}

    def leave_out(path: str, reason: str) -> None:
        not_read[relative_path(path) + "/" * path.endswith("/")] = reason.removeprefix(f"{working_folder()}/")

    for root, parts in _roots_to_read(target, paths, reading):
        where: dict[str, Any] = {"include": root.include, "exclude": root.exclude, "skipped": leave_out}
        where["left_out"] = leave_out
        files = find_files(Path(root.path), parts or None, **where)
        for file in present_files(root, files):
            reason = "" if file.has_reader else why_refused(file)
            if file.has_reader and file.size > limit:
                reason = f"{file.size:,} bytes, more than the limit of {limit:,}"
            if reason:
                leave_out(file.absolute, reason)
            else:
                read.append((relative_path(file.absolute), file.size))
    total = sum(file_size for _, file_size in read)
    if json:
        left_out = [{"path": path, "reason": reason} for path, reason in not_read.items()]
        files_read = [{"path": path, "bytes": file_size} for path, file_size in read]
        print(to_json({"index": str(target.folder), "read": files_read, "left_out": left_out}))
        return
    for path, file_size in read:
        say(f"read      {path}  ({size(file_size)})")
    for path, reason in not_read.items():
        say(f"left out  {path}  ({reason})")
    say(f"{count(len(read), 'file')} ({size(total)}) would be read into {target.folder}; {len(not_read):,} left out")


def _roots_to_read(
    target: IndexTarget, paths: Sequence[str], reading: ReadingOptions
) -> Iterator[tuple[Root, Sequence[str]]]:
    """The roots that a run would read, each with the parts of it, none for all of it."""
    if any(map(uri_scheme, paths)):
        raise UsageError("--dry-run works with files of this machine only")
    if target.is_new:
        for path in paths:
            root = Root(-1, Path(path).resolve().as_posix(), Path(path).is_file())
            yield root._replace(include=tuple(reading.include or ()), exclude=reading.excluded), ()
        return
    with closing(IndexDatabase(target.folder)) as database, database.reading() as db:
        plan = requested_roots(db, paths, include=reading.include or (), exclude=reading.excluded)
    for root in plan.wanted:
        if not root.is_remote and not is_missing(root.path):
            yield root, ()
    for part in plan.parts:
        yield part.root, [part.path]
