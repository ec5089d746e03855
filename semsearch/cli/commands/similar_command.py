"""`semsearch similar`: more like a passage, or like a document."""

from __future__ import annotations

import re
from typing import Annotated

import typer

from semsearch.cli.answering import NONE_FOUND, choose_format, show
from semsearch.cli.formats import Answer
from semsearch.cli.messages import tell_warnings
from semsearch.cli.naming import INDEXES, open_index
from semsearch.cli.options import (
    ContextOption,
    DuplicatesOption,
    FiltersOption,
    FormatOption,
    IndexesOption,
    IndexOption,
    JsonFormatOption,
    JsonlOption,
    KOption,
    MinScoreOption,
    ModeOption,
    VectorsOption,
)
from semsearch.cli.startup import use_one_thread
from semsearch.errors import SourceError

_LINE = re.compile(r"(.+?):(\d{1,12})(?::\d*)?(?::.*)?", re.DOTALL)  # also a line of --format vimgrep


def similar(
    like: Annotated[
        str,
        typer.Argument(
            metavar="PATH[:LINE]", help="The document, as hits show it, and a line of the passage that is meant."
        ),
    ],
    k: KOption = 10,
    index: IndexOption = None,
    indexes: IndexesOption = INDEXES,
    mode: ModeOption = "hybrid",
    min_score: MinScoreOption = None,
    filters: FiltersOption = None,
    context: ContextOption = 0,
    duplicates: DuplicatesOption = False,
    format_: FormatOption = None,
    json: JsonFormatOption = False,
    jsonl: JsonlOption = False,
    vectors: VectorsOption = None,
) -> None:
    """Find passages like one that is in the index.

    With a line, like the passage there; without, like the whole document, which is then left out.

    Exit status: 0 with hits, 1 without, 2 on an error.
    """
    wanted = choose_format(format_, json=json, jsonl=jsonl)
    use_one_thread()
    tell_warnings()
    with_line = _LINE.fullmatch(like)
    path, line = (with_line[1], int(with_line[2])) if with_line else (like, None)
    with open_index(index, indexes, vectors) as opened:

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
            )
            return Answer(like, mode, hits, by_words=False)

        try:
            answer = ask(path, line)
        except SourceError as error:
            try:
                answer = ask(like, None)  # a colon and digits may be part of a name
            except SourceError:
                raise error from None
        found = show([answer], wanted)
    if not found:
        raise typer.Exit(NONE_FOUND)
