"""Report a write to an index: a summary, skipped files and warnings."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from semsearch.cli.messages import complain, warn
from semsearch.cli.naming import from_here
from semsearch.results.state.problems import endings_in_words
from semsearch.results.state.reports import SyncReport
from semsearch.system.uris import uri_scheme


def summary(folder: Path, done: SyncReport) -> str:
    """Summarise a write in one line: the counts, and the rate."""
    counts = {name: getattr(done, name) for name in ("added", "changed", "moved", "removed", "unchanged")}
    counts["skipped"] = len(done.skipped)
    parts = [f"{count:,} {name}" for name, count in counts.items() if count] or [
        "nothing changed" if done.warnings else "no documents"
    ]
    rate = f" ({done.sentences / done.seconds:,.0f}/s)" if done.sentences and done.seconds else ""
    sentences = f"; {done.sentences:,} sentences{rate}" if done.sentences else ""
    refitted = "; all fitted anew" if done.refitted and done.unchanged else ""
    return f"{folder}: {', '.join(parts)}{sentences}{refitted} in {done.seconds:.2f} s"


def tell(done: SyncReport) -> None:
    """Every skipped file and every warning, a line each."""
    for item in done.skipped:
        reason = item.reason.removeprefix(item.path).lstrip(" :")
        complain(f"skipped {from_here(item.path)}: {reason}")
    for moved in done.moved_roots:
        kept = "1 document was kept" if moved.documents == 1 else f"{moved.documents:,} documents were kept"
        complain(f"{from_here(moved.old)} is now {from_here(moved.new)}: {kept}")
    for warning in done.warnings:
        warn(warning)


def covers(root: str, path: str) -> bool:
    """Return whether a path is a root or lies in it. Each may be the URI of a folder in a store."""
    if uri_scheme(root) or uri_scheme(path):
        return bool(uri_scheme(root)) and f"{_address(path)}/".startswith(f"{_address(root)}/")
    outer, inner = Path(os.path.realpath(root)), Path(os.path.realpath(path))
    return outer == inner or outer in inner.parents


def _address(path: str) -> str:
    if not uri_scheme(path):
        return path
    from semsearch.sources.objects.source_uri import parse_source  # start-up time: few roots lie in stores

    return parse_source(path).path


def not_read(counts: Mapping[str, int]) -> str:
    """A line that says how many files were not read, by their endings; empty where there are none."""
    return f"not read: {endings_in_words(counts)} (semsearch status --problems lists them)" if counts else ""


def nothing_to_index(paths: Sequence[str], done: SyncReport, *, chosen: bool) -> str:
    """Explain why a new index would be empty. `chosen`: whether --include or --exclude was given."""
    where = ", ".join(paths)
    if done.warnings:
        return f"nothing could be indexed: {'; '.join(done.warnings)}"
    if done.skipped:
        files = "the only file was" if len(done.skipped) == 1 else f"all {len(done.skipped):,} files were"
        return f"nothing could be indexed in {where}: {files} skipped"
    if done.not_read:
        return f"nothing to index in {where}: no reader is for its files ({endings_in_words(done.not_read)})"
    if chosen:
        return f"nothing to index in {where}: no file there is taken by --include and left by --exclude"
    return f"nothing to index in {where}: it has no files that are not hidden or ignored"
