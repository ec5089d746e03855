"""`semsearch similar`: passages like a given one; `semsearch context`: passages for a language model."""

from __future__ import annotations

import re
from typing import Annotated

import typer

from semsearch.cli import options
from semsearch.cli.answer_formats import Answer
from semsearch.cli.asked_indexes import (
    names_of,
    open_asked,
    show,
    tell_if_empty,
    tell_if_stale,
    without_passages,
)
from semsearch.cli.printing import NONE_FOUND, clean, complain, tell_warnings, to_json, without_control
from semsearch.errors import SourceError
from semsearch.results.hits import FLOOR

# -- similar -----------------------------------------------------------------------------------------------------------

_LINE = re.compile(r"(.+?):(\d{1,12})(?::\d*)?(?::.*)?", re.DOTALL)  # also a line of --format vimgrep


@options.with_options("search", options.SearchArguments, without=("every", "syntax", "rerank", "rerank_seconds"))
@options.with_options("output", options.OutputArguments)
def similar(
    example: Annotated[
        str,
        typer.Argument(
            metavar="PATH[:LINE]",
            help="A document as hits show it, with a line or place of the passage: keys.md:10, 'talk.pptx slide 3'.",
        ),
    ],
    *,
    k: options.KOption = 10,
    output: options.OutputArguments,
    search: options.SearchArguments,
) -> None:
    """Find passages similar to an indexed passage or document.

    With a line or place: similar to the passage there. Without: similar to the whole document, which is left out.

    Exit status: 0 with hits, 1 without, 2 on an error.
    """
    whole = output.is_whole
    tell_warnings()
    with_line = _LINE.fullmatch(example)
    path, line = (with_line[1], int(with_line[2])) if with_line else (example, None)
    chosen = search.options(k=k, context=output.context)
    with open_asked(search) as asked:

        def answer(path: str, line: int | None) -> Answer:
            hits = asked.similar(path, line, options=chosen)
            return Answer(example, chosen.mode, hits, by_words=False, whole=whole, indexes=names_of(asked))

        try:
            similar_passages = answer(path, line)
        except SourceError as error:
            try:
                similar_passages = answer(example, None)  # a colon and digits may be part of a name
            except SourceError:
                raise error from None
        number = show([similar_passages], output.format, asked)
    if not number:
        raise SystemExit(NONE_FOUND)


# -- context -----------------------------------------------------------------------------------------------------------


@options.with_options("search", options.SearchArguments, without=("duplicates",))
def context(
    text: Annotated[list[str], typer.Argument(metavar="TEXT...", help="The query.")],
    *,
    max_words: options.MaxWordsOption = 800,
    json: Annotated[
        bool, typer.Option("--json", help="Print an object with query, mode, text, words and citations.")
    ] = False,
    search: options.SearchArguments,
) -> None:
    """Print the passages that a language model needs to answer a query.

    Prints the best passages as numbered Markdown, and a list of their sources: path, lines, heading.

    Exit status: 0 with passages, 1 without, 2 on an error.
    """
    tell_warnings()
    query = clean(" ".join(text))
    chosen = search.options(floor=0.0 if search.every else FLOOR)
    with open_asked(search) as asked:
        passages = asked.context(query, max_words=max_words, options=chosen)
        if json:
            print(to_json({"query": query, "mode": search.mode, **passages.to_dict()}))
        elif passages.text:
            print("\n".join(without_control(line).rstrip() for line in passages.text.splitlines()))
            tell_if_stale(passages.citations, asked)
        if not passages.text:
            complain(without_passages(query, passages) + ("; --all uses the nearest passages" if passages.weak else ""))
            tell_if_empty(asked)
    if not passages.text:
        raise SystemExit(NONE_FOUND)
