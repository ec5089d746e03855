"""`semsearch interactive`: search as you type. `semsearch` without a command starts it, where there is an index."""

from __future__ import annotations

import asyncio
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from semsearch.cli import options
from semsearch.cli.answer_formats import path_and_position
from semsearch.cli.asked_indexes import open_asked
from semsearch.cli.configuration import read_configuration
from semsearch.cli.find_index import all_indexes, find_index, index_folders, nearest, of_this_folder, shown
from semsearch.cli.history import earlier_queries, question_of, remember
from semsearch.errors import SemsearchError, UsageError
from semsearch.results.options import SearchOptions

if TYPE_CHECKING:
    from semsearch.cli.interactive.session import TypedAnswer


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


def interactive(
    called: typer.Context,
    text: Annotated[list[str] | None, typer.Argument(metavar="TEXT...", help="The first query.")] = None,
    *,
    k: options.KOption = 30,
    index: options.AskedIndexOption = None,
    mode: options.ModeOption = "hybrid",
    filters: options.FiltersOption = None,
    min_score: options.MinScoreOption = None,
    duplicates: options.DuplicatesOption = False,
    per_document: options.PerDocumentOption = None,
    boosts: options.BoostsOption = None,
    syntax: options.SyntaxOption = "full",
    indexes: options.IndexesOption = None,
    server: options.ServerOption = None,
    vectors: options.VectorsOption = None,
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
    search_options = SearchOptions(
        k=k,
        mode=mode,
        min_score=min_score,
        filters=filters or (),
        duplicates=duplicates,
        syntax=syntax,
        per_document=per_document,
        boosts=boosts or (),
    )
    if not index and not server:  # raises IndexNotFound before it draws
        folders = of_this_folder(indexes) or index_folders(nearest(indexes)) or [find_index(None, indexes)]
        index = [*map(shown, folders)]
    from semsearch.cli.interactive.interactive_search import (
        InteractiveSearch,  # prompt_toolkit: other commands need none
    )
    from semsearch.cli.interactive.session import TypedSearch

    def keep(answer: TypedAnswer) -> None:
        first = path_and_position(answer.hits[0]) if answer.hits else ""
        question = question_of(called, answer.query.text, hits=len(answer.hits), first=first)
        changed = ("--mode", answer.query.mode) if answer.query.mode != mode else ()
        remember(replace(question, options=(*question.options, *changed)))

    with TypedSearch(lambda: open_asked(index, indexes, server=server, vectors=vectors), search_options) as search:
        asyncio.run(InteractiveSearch(search, " ".join(text or ()), earlier_queries(), keep).run())
