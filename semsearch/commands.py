"""The public helpers for commands of other distributions: options, messages, progress, tables."""

from semsearch.cli.find_index import open_index
from semsearch.cli.options import IndexesOption, IndexOption, JsonOption
from semsearch.cli.printing import (
    PROBLEMS,
    aligned,
    count,
    hide_warnings,
    one_line,
    print_stderr,
    print_warnings,
    progress,
    signals_as_interrupts,
    size,
    to_json,
    warn,
)

__all__ = [
    "PROBLEMS",
    "IndexOption",
    "IndexesOption",
    "JsonOption",
    "aligned",
    "count",
    "hide_warnings",
    "one_line",
    "open_index",
    "print_stderr",
    "print_warnings",
    "progress",
    "signals_as_interrupts",
    "size",
    "to_json",
    "warn",
]
