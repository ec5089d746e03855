"""`semsearch similar`: find passages similar to a passage or a document."""

from __future__ import annotations

import re
from typing import Annotated

import typer

from semsearch.cli.answering import bring_up_to_date, choose_format, show, wants_whole
from semsearch.cli.asked_indexes import names_of, open_asked
from semsearch.cli.exit_status import NONE_FOUND
from semsearch.cli.messages import tell_warnings
from semsearch.cli.naming import INDEXES
from semsearch.cli.options import (
    AskedIndexOption,
    BoostsOption,
    ContextOption,
    DuplicatesOption,
    FiltersOption,
    FormatOption,
    IndexesOption,
    JsonFormatOption,
    JsonlOption,
    KOption,
    MinScoreOption,
    ModeOption,
    PerDocumentOption,
    RefreshOption,
    ServerOption,
    ShowOption,
    VectorsOption,
)
from semsearch.cli.output.formats import Answer
from semsearch.cli.startup import use_one_thread
from semsearch.errors import SourceError

_LINE = re.compile(r"(.+?):(\d{1,12})(?::\d*)?(?::.*)?", re.DOTALL)  # also a line of --format vimgrep


def similar(
    like: Annotated[
        str,
        typer.Argument(
            metavar="PATH[:LINE]",
            help="The document, as hits show it, and a line or a place of the passage that is meant: keys.md:10, "
            "'talk.pptx slide 3'.",
        ),
    ],
    k: KOption = 10,
    index: AskedIndexOption = None,
    indexes: IndexesOption = INDEXES,
    mode: ModeOption = "hybrid",
    min_score: MinScoreOption = None,
    filters: FiltersOption = None,
    context: ContextOption = 0,
    duplicates: DuplicatesOption = False,
    per_document: PerDocumentOption = None,
    boosts: BoostsOption = None,
    refresh: RefreshOption = False,
    shown: ShowOption = "sentence",
    server: ServerOption = None,
    format_: FormatOption = None,
    json: JsonFormatOption = False,
    jsonl: JsonlOption = False,
    vectors: VectorsOption = None,
) -> None:
    """Find passages similar to one that is in the index.

    With a line or a place, similar to the passage there; without, to the whole document, which is then left out.

    Exit status: 0 with hits, 1 without, 2 on an error.
    """
    wanted = choose_format(format_, json=json, jsonl=jsonl)
    whole = wants_whole(shown, wanted, context=context)
    use_one_thread()
    tell_warnings()
    with_line = _LINE.fullmatch(like)
    path, line = (with_line[1], int(with_line[2])) if with_line else (like, None)
    with open_asked(index, indexes, server=server, vectors=vectors) as opened:
        if refresh:
            bring_up_to_date(opened)

        def ask(path: str, line: int | None) -> Answer:
            hits = opened.similar(
                path,
                line,
                k,
                mode=mode,
                min_score=min_score,
                filters=filters or (),
                context=context,
                duplicates=duplicates,
                per_document=per_document,
                boosts=boosts or (),
            )
            return Answer(like, mode, hits, by_words=False, whole=whole, indexes=names_of(opened))

        try:
            answer = ask(path, line)
        except SourceError as error:
            try:
                answer = ask(like, None)  # a colon and digits may be part of a name
            except SourceError:
                raise error from None
        found = show([answer], wanted, opened)
    if not found:
        raise typer.Exit(NONE_FOUND)
