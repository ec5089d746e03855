"""What is said about a change to an index when it is done."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from semsearch.cli.messages import complain, warn
from semsearch.cli.naming import from_here
from semsearch.results.reports import SyncReport


def summary(place: Path, done: SyncReport) -> str:
    """One line: what was done, and how fast."""
    counts = {name: getattr(done, name) for name in ("added", "changed", "moved", "removed", "unchanged")}
    counts["skipped"] = len(done.skipped)
    parts = [f"{count:,} {name}" for name, count in counts.items() if count] or [
        "nothing changed" if done.warnings else "no documents"
    ]
    rate = f" ({done.sentences / done.seconds:,.0f}/s)" if done.sentences and done.seconds else ""
    sentences = f"; {done.sentences:,} sentences{rate}" if done.sentences else ""
    refitted = "; all fitted anew" if done.refitted and done.unchanged else ""
    return f"{place}: {', '.join(parts)}{sentences}{refitted} in {done.seconds:.2f} s"


def tell(done: SyncReport) -> None:
    """Every skipped file and every warning, a line each."""
    for item in done.skipped:
        reason = item.reason.removeprefix(item.path).lstrip(" :")
        complain(f"skipped {from_here(item.path)}: {reason}")
    for warning in done.warnings:
        warn(warning)


def covers(root: str, path: str) -> bool:
    """Whether a path is a root or lies in it."""
    outer, inner = Path(os.path.realpath(root)), Path(os.path.realpath(path))
    return outer == inner or outer in inner.parents


def nothing_to_index(paths: Sequence[str], done: SyncReport, *, chosen: bool) -> str:
    """Why a new index would be empty. `chosen`: whether there were --include or --exclude."""
    from semsearch.readers.registry import SUFFIXES  # start-up time

    where = ", ".join(paths)
    if done.warnings:
        return f"nothing could be indexed: {'; '.join(done.warnings)}"
    if done.skipped:
        files = "the only file was" if len(done.skipped) == 1 else f"all {len(done.skipped):,} files were"
        return f"nothing could be indexed in {where}: {files} skipped"
    if chosen:
        return f"nothing to index in {where}: no file there is taken by --include and left by --exclude"
    kinds = ", ".join(sorted(SUFFIXES))
    return f"nothing to index in {where}: it has no {kinds} files that are not ignored (--include takes others)"
