"""`semsearch watch`, `remove` and `refit`: keep an index up to date."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from semsearch.cli import options
from semsearch.cli.index_files import target_of
from semsearch.cli.printing import complain, from_here, keep_warnings, to_json, warn
from semsearch.cli.progress import covers, report_sync, stopping_as_interrupted, summary
from semsearch.errors import IndexNotFound, UsageError, index_command
from semsearch.system.locations import local_path, uri_scheme


@options.with_options("chosen", options.OneIndex)
def watch(
    path: Annotated[str | None, Argument(metavar="[FOLDER]", help="Keep the index of this folder up to date.")] = None,
    *,
    max_file_size: options.MaxFileSizeOption = 100,
    processes: options.ProcessesOption = 0,
    json: Annotated[bool, Option("--json", help="Print a line of JSON per sync.")] = False,
    quiet: options.QuietOption = False,
    chosen: options.OneIndex,
) -> None:
    """Keep an index up to date as its files change.

    Brings the whole index up to date first, then follows changes within two seconds, and prints a line for each sync
    that changed something. Ctrl-C stops it. Needs the extra `watch`.
    """
    keep_warnings()
    if path is not None and not chosen.index:
        target = target_of([local_path(path)], None, chosen.indexes)
        if target.is_new:
            raise IndexNotFound(f"no index is of {path}; make one first: {index_command('index', path)}")
        chosen = replace(chosen, index=[str(target.folder.absolute())])
    with stopping_as_interrupted(), chosen.open() as opened:
        reports = opened.watch(max_file_bytes=options.bytes_of(max_file_size), processes=processes)
        if not quiet:
            folders = [from_here(root) for root in opened.roots if not uri_scheme(root)]
            complain(f"watching {', '.join(folders)} for {opened.path}; Ctrl-C stops it")
        try:
            for report in reports:
                report_sync(report)
                if json:
                    print(to_json({"index": str(opened.path), **report.to_dict()}, indent=None), flush=True)
                elif not quiet:
                    print(summary(opened.path, report), flush=True)
        except KeyboardInterrupt:
            if not quiet:
                complain("stopped watching")


@options.with_options("chosen", options.OneIndex)
def remove(
    paths: Annotated[list[str], Argument(metavar="PATH...", help="Files, folders, or ids of added texts.")],
    *,
    chosen: options.OneIndex,
) -> None:
    """Remove documents from an index; the files are not touched."""
    keep_warnings()
    paths = [local_path(path) for path in paths]
    with chosen.open() as opened:
        number = opened.remove(*paths)
        if not number:
            missing = f"the index {opened.path} has no document at {', '.join(paths)}"
            raise UsageError(f"{missing}; nothing was removed (semsearch delete INDEX deletes a whole index)")
        print(f"{opened.path}: {number:,} removed")
        for path in paths:
            if any(covers(root, path) for root in opened.roots) and (uri_scheme(path) or Path(path).exists()):
                still = f"if {path} still exists," if uri_scheme(path) else f"{path} still exists;"
                warn(f"{still} the next sync adds it again, unless .semsearchignore names it")


@options.with_options("chosen", options.OneIndex)
def refit(quiet: options.QuietOption = False, *, chosen: options.OneIndex) -> None:
    """Fit the embedding of an index to its current text.

    Useful when `semsearch status` says that it has outgrown its fit.
    """
    keep_warnings()
    started = time.perf_counter()
    with chosen.open() as opened:
        opened.refit(progress=not quiet)
    if not quiet:
        print(f"{opened.path}: fitted to its text in {time.perf_counter() - started:.2f} s")
