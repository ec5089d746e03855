"""`semsearch interactive`: search as you type. `semsearch` without a command starts it, where there is an index."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from semsearch.cli.answer_formats import path_and_position
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
from semsearch.cli.find_index import INDEXES, all_indexes, all_nearest, find_index, of_this_folder, shown
from semsearch.cli.messages import use_one_thread
from semsearch.errors import SemsearchError, UsageError
from semsearch.results.options import SearchOptions

if TYPE_CHECKING:
    from semsearch.cli.interactive.session import TypedAnswer

# -- Without a command -------------------------------------------------------------------------------------------------


def is_offered() -> bool:
    """Whether `semsearch` without a command starts the interactive search. Otherwise, and if the configuration is
    invalid, it prints the help."""
    try:
        return on_terminal() and _has_index()
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
    return bool(all_indexes(Path(given) if given else None))


# -- The command -------------------------------------------------------------------------------------------------------


def interactive(
    called: typer.Context,
    text: Annotated[list[str] | None, typer.Argument(metavar="TEXT...", help="The first query.")] = None,
    k: KOption = 30,
    index: AskedIndexOption = None,
    mode: ModeOption = "hybrid",
    filters: FiltersOption = None,
    min_score: MinScoreOption = None,
    duplicates: DuplicatesOption = False,
    per_document: PerDocumentOption = None,
    boosts: BoostsOption = None,
    syntax: SyntaxOption = "full",
    indexes: IndexesOption = INDEXES,
    server: ServerOption = None,
    vectors: VectorsOption = None,
) -> None:
    """Search as you type, on a terminal.

    Shows the hits of the text so far, and the selected hit in its context. Arrows, PgUp and PgDn select, Enter opens
    the hit as query --open does, Shift and arrows scroll its context, Tab changes the mode, Esc or Ctrl-C quits. The
    right arrow completes the text from earlier questions, Ctrl-R goes through them. All indexes of the folder are
    searched, unless --index names some.

    semsearch without a command starts it on a terminal, if there is an index.
    """
    if not on_terminal():
        raise UsageError("the interactive search needs a terminal; without one, run: semsearch query TEXT")
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
    from semsearch.cli.history import earlier_queries, question_of, remember
    from semsearch.cli.interactive.interactive_search import InteractiveSearch  # start-up time, here and below
    from semsearch.cli.interactive.session import TypedSearch

    def keep(answer: TypedAnswer) -> None:
        first = path_and_position(answer.hits[0]) if answer.hits else ""
        made = question_of(called, answer.query.text, hits=len(answer.hits), first=first)
        changed = ("--mode", answer.query.mode) if answer.query.mode != mode else ()
        remember(replace(made, options=(*made.options, *changed)))

    with TypedSearch(lambda: open_asked(named, indexes, server=server, vectors=vectors), options) as search:
        asyncio.run(InteractiveSearch(search, " ".join(text or ()), earlier_queries(), keep).run())


def _to_ask(indexes: Path | None) -> Sequence[str]:
    """The indexes of this folder, or all in the nearest folder of indexes. Raises IndexNotFound before it draws."""
    several = [*map(shown, of_this_folder(indexes))] or all_nearest(indexes)
    return several or [str(find_index(None, indexes))]
