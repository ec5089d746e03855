"""What a command of one's own needs: how to print, warn, show progress, and make a command of an experiment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from semsearch import load_public, public_names

if TYPE_CHECKING:  # the same names for whoever checks types
    from semsearch.cli.evaluate.experiment_command import command_of as command_of
    from semsearch.cli.exit_status import PROBLEMS as PROBLEMS
    from semsearch.cli.messages import (
        complain as complain,
    )
    from semsearch.cli.messages import (
        keep_warnings as keep_warnings,
    )
    from semsearch.cli.messages import (
        tell_warnings as tell_warnings,
    )
    from semsearch.cli.messages import (
        warn as warn,
    )
    from semsearch.cli.naming import open_index as open_index
    from semsearch.cli.options import (
        IndexesOption as IndexesOption,
    )
    from semsearch.cli.options import (
        IndexOption as IndexOption,
    )
    from semsearch.cli.options import (
        JsonOption as JsonOption,
    )
    from semsearch.cli.options import (
        TableOption as TableOption,
    )
    from semsearch.cli.output.formats import one_line as one_line
    from semsearch.cli.output.formats import to_json as to_json
    from semsearch.cli.output.progress import progress as progress
    from semsearch.cli.output.tables import (
        aligned as aligned,
    )
    from semsearch.cli.output.tables import (
        count as count,
    )
    from semsearch.cli.output.tables import (
        print_blocks as print_blocks,
    )
    from semsearch.cli.output.tables import (
        size as size,
    )
    from semsearch.cli.startup import use_one_thread as use_one_thread

__all__ = sorted(public_names(__name__))


def __getattr__(name: str) -> Any:
    return load_public(__name__, name)
