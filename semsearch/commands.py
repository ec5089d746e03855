"""The public helpers for commands of other distributions: options, messages, progress, tables."""

from semsearch.cli.find_index import open_index
from semsearch.cli.options import IndexesOption, IndexOption, JsonOption, TableOption
from semsearch.cli.printing import (
    PROBLEMS,
    aligned,
    complain,
    count,
    keep_warnings,
    one_line,
    size,
    tell_skipped,
    tell_warnings,
    to_json,
    warn,
)
from semsearch.cli.progress import no_progress, progress, share_of, stopping_as_interrupted

__all__ = [
    "PROBLEMS",
    "IndexOption",
    "IndexesOption",
    "JsonOption",
    "TableOption",
    "aligned",
    "complain",
    "count",
    "keep_warnings",
    "no_progress",
    "one_line",
    "open_index",
    "progress",
    "share_of",
    "size",
    "stopping_as_interrupted",
    "tell_skipped",
    "tell_warnings",
    "to_json",
    "warn",
]
