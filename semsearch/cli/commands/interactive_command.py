"""`semsearch interactive`: search as one types. Without a command, `semsearch` does this where there is an index.

Without a command. Whether `semsearch` without a command begins the interactive search: on a terminal, where there
is an
index.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from semsearch.cli.answering import open_asked
from semsearch.cli.command_options import (
    AskedIndexOption,
    BoostsOption,
    DuplicatesOption,
    FiltersOption,
    IndexesOption,
    KOption,
    MinScoreOption,
    ModeOption,
    PerDocumentOption,
    ServerOption,
    SyntaxOption,
    VectorsOption,
)
from semsearch.cli.configuration import read_configuration
from semsearch.cli.find_index import INDEXES, all_nearest, find_index, folders_of_indexes, index_folders
from semsearch.cli.messages import use_one_thread
from semsearch.errors import MissingExtra, SemsearchError, UsageError
from semsearch.results.options import SearchOptions

# -- Without a command -------------------------------------------------------------------------------------------------


def is_offered() -> bool:
    """Whether to begin. Otherwise the help is shown, also where the configuration is wrong."""
    try:
        return on_terminal() and find_spec("prompt_toolkit") is not None and _has_index()
    except SemsearchError:
        return False


def on_terminal() -> bool:
    """Whether there is a terminal that can be drawn on."""
    return sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def _has_index() -> bool:
    general = read_configuration().of("")
    if general.get("server") or general.get("ask"):
        return True
    given = general.get("indexes")
    return any(index_folders(folder) for folder in folders_of_indexes(Path(given) if given else None))


# -- The command -------------------------------------------------------------------------------------------------------


def interactive(
    text: Annotated[list[str] | None, typer.Argument(metavar="TEXT...", help="What to begin with.")] = None,
    k: KOption = 30,
    index: AskedIndexOption = None,
    indexes: IndexesOption = INDEXES,
    mode: ModeOption = "hybrid",
    min_score: MinScoreOption = None,
    filters: FiltersOption = None,
    duplicates: DuplicatesOption = False,
    per_document: PerDocumentOption = None,
    boosts: BoostsOption = None,
    syntax: SyntaxOption = "full",
    server: ServerOption = None,
    vectors: VectorsOption = None,
) -> None:
    """Search as one types, on a terminal.

    Shows the hits of what is typed so far, and the chosen one in its context. Arrows and PgUp, PgDn choose, Enter opens
    its place as query --open does, Shift and arrows read on, Tab changes the mode, Esc or Ctrl-C ends. Of several
    indexes in one folder all are searched, unless some are named.

    semsearch alone does this on a terminal where there is an index. It needs the extra tui.
    """
    if not on_terminal():
        raise UsageError("the interactive search needs a terminal; without one, use: semsearch query TEXT")
    options = SearchOptions(
        k,
        mode,
        min_score,
        filters or (),
        duplicates=duplicates,
        syntax=syntax,
        per_document=per_document,
        boosts=boosts or (),
    )
    named = index if index or server else _to_ask(indexes)
    use_one_thread()
    try:
        from semsearch.cli.interactive.interactive_search import InteractiveSearch  # an optional dependency
    except ModuleNotFoundError as error:
        raise MissingExtra("prompt_toolkit", "tui") from error
    from semsearch.cli.interactive.session import TypedSearch

    with TypedSearch(lambda: open_asked(named, indexes, server=server, vectors=vectors), options) as search:
        asyncio.run(InteractiveSearch(search, " ".join(text or ())).run())


def _to_ask(indexes: Path | None) -> Sequence[str]:
    """The only index, or all of several in the nearest folder. Raises IndexNotFound before anything is drawn."""
    several = all_nearest(indexes)
    return several or [str(find_index(None, indexes))]
