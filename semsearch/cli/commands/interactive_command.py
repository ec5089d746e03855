"""`semsearch interactive`: search as you type. `semsearch` without a command starts it, where there is an index."""

from __future__ import annotations

import asyncio
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from typer import Argument

from semsearch.cli import options
from semsearch.cli.asked_indexes import open_asked
from semsearch.cli.configuration import configuration_of, read_configuration
from semsearch.cli.find_index import all_indexes, find_index, index_folders, nearest, of_this_folder, shown
from semsearch.errors import SemsearchError, UsageError
from semsearch.system.locations import data_folder


def interactive_is_offered() -> bool:
    """Whether `semsearch` without a command starts the interactive search: there is a terminal, and an index."""
    try:
        general = read_configuration().of("") if on_terminal() else None
    except SemsearchError:
        return False
    if general is None:
        return False
    folder = general.get("indexes")
    return bool(general.get("server") or general.get("ask") or all_indexes(Path(folder) if folder else None))


def on_terminal() -> bool:
    """Whether there is a terminal that can be drawn on."""
    return sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


@options.with_options(
    "search", options.SearchArguments, without=("every", "refresh", "index_first", "rerank", "rerank_seconds")
)
def interactive(
    text: Annotated[list[str] | None, Argument(metavar="TEXT...", help="The first query.")] = None,
    *,
    k: options.KOption = 30,
    search: options.SearchArguments,
) -> None:
    """Search as you type, on a terminal.

    Shows the hits of the text so far, and the passage of the selected hit. Arrows, PgUp and PgDn select, Enter opens
    the hit as query --open does, Shift and arrows scroll its passage, Tab changes the mode, Esc or Ctrl-C quits. The
    right arrow completes the text from earlier questions, Ctrl-R goes through them. All indexes of the folder are
    searched, unless --index names some.

    semsearch without a command starts it on a terminal, if there is an index.
    """
    if not on_terminal():
        raise UsageError("the interactive search needs a terminal; without one, run: semsearch query TEXT")
    chosen, names = search.options(k=k), search.index
    if not names and not search.server:  # raises IndexNotFound before it draws
        folders = [*of_this_folder(search.indexes)] or index_folders(nearest(search.indexes))
        names = [*map(shown, folders or [find_index(None, search.indexes)])]
    from semsearch.cli.interactive import InteractiveSearch  # loads prompt_toolkit

    is_kept = configuration_of().values.get("history.enabled") is not False
    history = data_folder() / "questions" if is_kept else None
    with InteractiveSearch(
        lambda: open_asked(replace(search, index=names)), chosen, " ".join(text or ()), history
    ) as interactive_search:
        asyncio.run(interactive_search.run())
