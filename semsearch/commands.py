"""The public helpers for commands of other distributions: options, messages, progress, tables."""

from semsearch.cli.answer_formats import one_line, to_json
from semsearch.cli.command_options import IndexesOption, IndexOption, JsonOption, TableOption
from semsearch.cli.find_index import open_index
from semsearch.cli.messages import (
    PROBLEMS,
    complain,
    keep_warnings,
    tell_skipped,
    tell_warnings,
    use_one_thread,
    warn,
)
from semsearch.cli.progress import no_progress, progress, share_of
from semsearch.cli.tables import aligned, count, size

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
    "tell_skipped",
    "tell_warnings",
    "to_json",
    "use_one_thread",
    "warn",
]
