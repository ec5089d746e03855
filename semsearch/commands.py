"""The public helpers for commands of other distributions: options, messages, progress, tables, experiments."""

from semsearch.cli.answer_formats import one_line, to_json
from semsearch.cli.command_options import IndexesOption, IndexOption, JsonOption, TableOption
from semsearch.cli.commands.experiment_command import command_of
from semsearch.cli.find_index import open_index
from semsearch.cli.messages import PROBLEMS, complain, keep_warnings, tell_warnings, use_one_thread, warn
from semsearch.cli.progress import progress
from semsearch.cli.tables import aligned, count, print_blocks, size

__all__ = [
    "PROBLEMS",
    "IndexOption",
    "IndexesOption",
    "JsonOption",
    "TableOption",
    "aligned",
    "command_of",
    "complain",
    "count",
    "keep_warnings",
    "one_line",
    "open_index",
    "print_blocks",
    "progress",
    "size",
    "tell_warnings",
    "to_json",
    "use_one_thread",
    "warn",
]
