"""`semsearch watch`, `remove`, `refit`, `import` and `export`: keep an index up to date, and exchange its documents."""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal

from typer import Argument, Option

from semsearch.cli import options
from semsearch.cli.find_index import contains, folder_of, folder_of_new, open_index
from semsearch.cli.index_files import IndexTarget, opened_target, target_of
from semsearch.cli.printing import (
    count,
    hide_warnings,
    print_stderr,
    relative_path,
    report_sync,
    say,
    signals_as_interrupts,
    summary,
    to_json,
    warn,
)
from semsearch.errors import IndexNotFound, UsageError, index_command
from semsearch.storage.database import is_index
from semsearch.system.locations import local_path, uri_scheme


@options.with_options("chosen", options.IndexArguments)
def watch(
    path: Annotated[str | None, Argument(metavar="[FOLDER]", help="Keep the index of this folder up to date.")] = None,
    *,
    max_file_size: options.MaxFileSizeOption = 100,
    processes: options.ProcessesOption = 0,
    json: Annotated[bool, Option("--json", help="Print a line of JSON per sync.")] = False,
    quiet: options.QuietOption = False,
    chosen: options.IndexArguments,
) -> None:
    """Keep an index up to date as its files change.

    Brings the whole index up to date first, then follows changes within two seconds, and prints a line for each sync
    that changed something. Ctrl-C stops it. Needs the extra `watch`.
    """
    hide_warnings()
    if path is not None and not chosen.index:
        target = target_of([local_path(path)], None, chosen.indexes)
        if target.is_new:
            raise IndexNotFound(f"no index is of {path}; make one first: {index_command('index', path)}")
        chosen = replace(chosen, index=[str(target.folder.absolute())])
    with signals_as_interrupts(), chosen.open() as opened:
        reports = opened.watch(max_file_bytes=options.bytes_of(max_file_size), processes=processes)
        if not quiet:
            folders = [relative_path(root) for root in opened.roots if not uri_scheme(root)]
            print_stderr(f"watching {', '.join(folders)} for {opened.path}; Ctrl-C stops it")
        try:
            for report in reports:
                report_sync(report)
                if json:
                    print(to_json({"index": str(opened.path), **report.to_dict()}, indent=None), flush=True)
                elif not quiet:
                    say(summary(opened.path, report))
        except KeyboardInterrupt:
            if not quiet:
                print_stderr("stopped watching")


@options.with_options("chosen", options.IndexArguments)
def remove(
    paths: Annotated[list[str], Argument(metavar="PATH...", help="Files, folders, or ids of added texts.")],
    *,
    chosen: options.IndexArguments,
) -> None:
    """Remove documents from an index; the files are not touched."""
    hide_warnings()
    paths = [local_path(path) for path in paths]
    with chosen.open() as opened:
        number = opened.remove(*paths)
        if not number:
            missing = f"the index {opened.path} has no document at {', '.join(paths)}"
            raise UsageError(f"{missing}; nothing was removed (semsearch delete INDEX deletes a whole index)")
        say(f"{opened.path}: {number:,} removed")
        for path in paths:
            if any(contains(root, path) for root in opened.roots) and (uri_scheme(path) or Path(path).exists()):
                still = f"if {path} still exists," if uri_scheme(path) else f"{path} still exists;"
                warn(f"{still} the next sync adds it again, unless .semsearchignore names it")


@options.with_options("chosen", options.IndexArguments)
def refit(quiet: options.QuietOption = False, *, chosen: options.IndexArguments) -> None:
    """Fit the embedding of an index to its current text.

    Useful when `semsearch status` says that it has outgrown its fit.
    """
    hide_warnings()
    started = time.perf_counter()
    with chosen.open() as opened:
        opened.refit(progress=not quiet)
    if not quiet:
        say(f"{opened.path}: fitted to its text in {time.perf_counter() - started:.2f} s")


# -- import and export -------------------------------------------------------------------------------------------------


def import_(
    files: Annotated[list[str], Argument(metavar="FILE...", help="JSON Lines; - is standard input.")],
    *,
    name: Annotated[str, Option("--name", "--index", "-i", metavar="NAME|PATH", help="The index to add to.")],
    indexes: options.IndexesOption = None,
    id_key: Annotated[str, Option(metavar="KEY", help="Key of a document's id.")] = "id",
    text_key: Annotated[str, Option(metavar="KEY", help="Key of its text.")] = "text",
    vectors: options.VectorsOption = None,
    quiet: options.QuietOption = False,
) -> None:
    """Add documents from files with one document per row.

    Creates the index if it does not exist. Rows written by semsearch export keep their passages and give the same
    answers. In other rows, all keys but id, text, title and format are metadata. A document replaces an earlier one of
    the same id.
    """
    hide_warnings()
    folder = folder_of(name, indexes) or folder_of_new(name, ["."], indexes)
    target = IndexTarget(folder, is_new=not is_index(folder))
    with opened_target(target, options.SettingsArguments(vectors=vectors), rebuild=False) as opened:
        done = opened.load(*files, id_key=id_key, text_key=text_key, progress=not quiet)
        if not quiet:
            say(
                f"{opened.path}: {done.added:,} added, {done.changed:,} changed, {done.unchanged:,} unchanged; "
                f"{count(done.sentences, 'sentence')} in {done.seconds:.2f} s"
            )


Unit = Literal["documents", "passages", "sentences"]


def export(
    output: Annotated[
        Path, Argument(metavar="[FILE]", help="The file to write; default: standard output.", allow_dash=True)
    ] = Path("-"),
    *,
    index: options.IndexOption = None,
    indexes: options.IndexesOption = None,
    unit: Annotated[Unit, Option("--of", help="What a row holds.", show_choices=True)] = "documents",
    vectors: Annotated[bool, Option("--vectors", help="Include vectors.")] = False,
    filters: options.FiltersOption = None,
) -> None:
    """Export documents, passages or sentences as JSON Lines, optionally with vectors.

    Documents include their text and passages: semsearch import makes an index with the same answers from them.
    """
    to_stdout = str(output) in ("-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")
    with open_index(index, indexes) as opened:
        target = sys.stdout.buffer if to_stdout else output
        done = opened.export(target, unit=unit, vectors=vectors, filters=filters or ())
    if not to_stdout:
        say(f"{output}: {count(done, unit[:-1])}")
