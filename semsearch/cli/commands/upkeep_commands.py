"""`semsearch watch`, `remove`, `refit`, `compact` and `map`: keep an index up to date and small, and make its map."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from semsearch.cli.commands.index_command import target_of
from semsearch.cli.find_index import find_index, from_here, open_index
from semsearch.cli.options import (
    IndexesOption,
    IndexOption,
    MaxFileSizeOption,
    ProcessesOption,
    QuietOption,
    VectorsOption,
    bytes_of,
)
from semsearch.cli.printing import complain, count, keep_warnings, to_json, warn
from semsearch.cli.progress import progress, sync_progress
from semsearch.cli.writing import covers, report_sync, stopping_as_interrupted, summary
from semsearch.errors import IndexNotFound, SemsearchError, StorageError, UsageError, index_command
from semsearch.system.locations import local_path, uri_scheme


def watch(
    path: Annotated[
        str | None, typer.Argument(metavar="[FOLDER]", help="Keep the index of this folder up to date.")
    ] = None,
    index: IndexOption = None,
    indexes: IndexesOption = None,
    vectors: VectorsOption = None,
    max_file_size: MaxFileSizeOption = 100,
    processes: ProcessesOption = 0,
    json: Annotated[bool, typer.Option("--json", help="Print a line of JSON per sync.")] = False,
    quiet: QuietOption = False,
) -> None:
    """Keep an index up to date as its files change.

    Brings the whole index up to date first, then follows changes within two seconds, and prints a line for each sync
    that changed something. Ctrl-C stops it. Needs the extra watch: pip install 'semsearch[watch]'.
    """
    keep_warnings()
    with stopping_as_interrupted(), open_index(_index_of(path, index, indexes), indexes, vectors) as opened:
        reports = opened.watch(max_file_bytes=bytes_of(max_file_size), processes=processes)
        if not quiet:
            watched = [from_here(root) for root in opened.roots if not uri_scheme(root)]
            complain(f"watching {', '.join(watched)} for {opened.path}; Ctrl-C stops it")
        try:
            for done in reports:
                report_sync(done)
                if json:
                    print(to_json({"index": str(opened.path), **done.to_dict()}, indent=None), flush=True)
                elif not quiet:
                    print(summary(opened.path, done), flush=True)
        except KeyboardInterrupt:
            if not quiet:
                complain("stopped watching")


def _index_of(path: str | None, named: list[str] | None, indexes: Path | None) -> list[str] | None:
    """The index that is named, or that has a path as a root. Raises IndexNotFound if there is no such index."""
    if path is None or named:
        return named
    target = target_of([local_path(path)], None, indexes)
    if target.is_new:
        raise IndexNotFound(f"no index is of {path}; make one first: {index_command('index', path)}")
    return [str(target.folder.absolute())]


def remove(
    paths: Annotated[list[str], typer.Argument(metavar="PATH...", help="Files, folders, or ids of added texts.")],
    index: IndexOption = None,
    indexes: IndexesOption = None,
    vectors: VectorsOption = None,
) -> None:
    """Remove documents from an index. The files themselves are not touched."""
    keep_warnings()
    paths = [local_path(path) for path in paths]
    with open_index(index, indexes, vectors) as opened:
        count = opened.remove(*paths)
        if not count:
            missing = f"the index {opened.path} has no document at {', '.join(paths)}; nothing was removed"
            raise UsageError(missing + _hint(paths, indexes))
        print(f"{opened.path}: {count:,} removed")
        try:
            roots = opened.roots
        except SemsearchError:  # the documents are removed; only a warning is lost
            return
        for path in paths:
            if not any(covers(root, path) for root in roots):
                continue
            if uri_scheme(path):
                warn(f"if {path} still exists, the next sync adds it again, unless .semsearchignore names it")
            elif Path(path).exists():
                warn(f"{path} still exists; the next sync adds it again, unless .semsearchignore names it")


def _hint(paths: list[str], indexes: Path | None) -> str:
    """How to delete an index, if one was named instead of documents."""
    try:
        find_index(paths[0], indexes)
    except SemsearchError:
        return ""
    return f"; to delete the whole index: {index_command('delete', paths[0])}"


def refit(
    index: IndexOption = None,
    indexes: IndexesOption = None,
    vectors: VectorsOption = None,
    quiet: QuietOption = False,
) -> None:
    """Fit the embedding of an index to its current text.

    Useful when `semsearch status` reports drift.
    """
    keep_warnings()
    started = time.perf_counter()
    with open_index(index, indexes, vectors) as opened:
        drift = opened.status(stale=False).drift
        with sync_progress(quiet=quiet) as report:
            opened.refit(progress=report)
        sentences = count(opened.status(drift=False, stale=False).sentences, "sentence")
        if not quiet:
            seconds = time.perf_counter() - started
            before = "" if drift is None else f" (drift was {drift:.1f}°)"
            print(f"{opened.path}: fitted to {sentences} in {seconds:.2f} s{before}")


def compact(
    index: IndexOption = None,
    indexes: IndexesOption = None,
    vectors: VectorsOption = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print no summary.")] = False,
) -> None:
    """Merge the segments of an index and drop removed vectors.

    Nothing is embedded again, and answers stay the same. A sync compacts by itself as far as it pays.
    """
    keep_warnings()
    started = time.perf_counter()
    with open_index(index, indexes, vectors) as opened:
        before = opened.status(drift=False, stale=False)
        done = opened.compact()
        after = opened.status(drift=False, stale=False)
    if quiet:
        return
    if not done:
        print(f"{opened.path}: already compact, with {count(after.segments, 'segment')}")
        return
    gone = f", without {count(before.removed, 'vector')} of removed documents" if before.removed else ""
    seconds = time.perf_counter() - started
    print(f"{opened.path}: {count(before.segments, 'segment')} became {after.segments:,}{gone}, in {seconds:.2f} s")


def map_(
    index: IndexOption = None,
    indexes: IndexesOption = None,
    vectors: VectorsOption = None,
    anew: Annotated[bool, typer.Option("--anew", help="Compute the whole map again.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the regions and their words as JSON.")] = False,
    quiet: QuietOption = False,
) -> None:
    """Compute the map of an index: its passages as points, similar ones near each other.

    semsearch serve shows the map, and computes it if it is missing; this command computes it in advance, in a minute or
    two for 100,000 passages. New passages are later placed beside similar ones. The map is a file in the index's folder
    and may be deleted.
    """
    keep_warnings()
    started = time.perf_counter()
    with open_index(index, indexes, vectors) as opened:
        with progress() as show:
            made = opened.map(
                anew=anew, progress=None if show is None or quiet else lambda now: show(now.phase, now.done, now.total)
            )
        if made and opened.map_status().state == "absent":
            raise StorageError(f"the map cannot be saved in {opened.path}, which is read-only or full")
        if json:
            fields = {"index": str(opened.path), "generation": made.generation, "passages": len(made)}
            print(to_json({**fields, "regions": [region.to_dict() for region in made.regions]}))
        elif not quiet:
            seconds = time.perf_counter() - started
            print(
                f"{opened.path}: a map of {count(len(made), 'passage')}, in {seconds:.1f} s; semsearch serve shows it"
            )
