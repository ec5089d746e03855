"""The public helpers for commands of other distributions: options, messages, progress, tables."""

from semsearch.cli.find_index import open_index
from semsearch.cli.options import IndexesOption, IndexOption, JsonOption
from semsearch.cli.printing import (
    PROBLEMS,
    aligned,
    complain,
    count,
    keep_warnings,
    one_line,
    progress,
    size,
    stopping_as_interrupted,
    tell_warnings,
    to_json,
    warn,
)

__all__ = [
    "PROBLEMS",
    "IndexOption",
    "IndexesOption",
    "JsonOption",
    "aligned",
    "complain",
    "count",
    "keep_warnings",
    "one_line",
    "open_index",
    "progress",
    "size",
    "stopping_as_interrupted",
    "tell_warnings",
    "to_json",
    "warn",
]
