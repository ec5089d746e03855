"""The public helpers for commands of other distributions: options, messages, progress, tables, experiments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from semsearch import load_public, public_names

if TYPE_CHECKING:  # the same names for type checkers
    from semsearch.cli.answer_formats import one_line as one_line, to_json as to_json
    from semsearch.cli.command_options import (
        IndexesOption as IndexesOption,
        IndexOption as IndexOption,
        JsonOption as JsonOption,
        TableOption as TableOption,
    )
    from semsearch.cli.commands.experiment_command import command_of as command_of
    from semsearch.cli.find_index import open_index as open_index
    from semsearch.cli.messages import (
        PROBLEMS as PROBLEMS,
        complain as complain,
        keep_warnings as keep_warnings,
        tell_warnings as tell_warnings,
        use_one_thread as use_one_thread,
        warn as warn,
    )
    from semsearch.cli.progress import progress as progress
    from semsearch.cli.tables import aligned as aligned, count as count, print_blocks as print_blocks, size as size

__all__ = sorted(public_names(__name__))


def __getattr__(name: str) -> Any:
    return load_public(__name__, name)
