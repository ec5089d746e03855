"""`semsearch query`: search an index; `similar`: passages like one of it; `context`: passages for a language model."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from typer import Argument, Option

from semsearch.cli import options
from semsearch.cli.answer_formats import EXPLAINING, Answer, safe_line
from semsearch.cli.printing import NONE_FOUND, clean, print_stderr, print_warnings, to_json
from semsearch.cli.searched_indexes import (
    no_passages_message,
    open_searched,
    show,
    warn_if_empty,
    warn_if_stale,
)
from semsearch.errors import UsageError
from semsearch.results.hits import FLOOR, NEAREST, above_threshold

_MOST_OCCURRENCES = 1000  # passages that mode exact lists


@options.with_options("search", options.SearchArguments)
@options.with_options("output", options.OutputArguments)
def query(
    text: Annotated[
        list[str] | None,
        Argument(
            metavar="[TEXT...]",
            help="The query. With --regex it may be left out.",
        ),
    ] = None,
    *,
    k: Annotated[
        int | None, Option("-k", metavar="N", help="Maximum number of hits; default: 10, of occurrences 1,000.")
    ] = None,
    explain: Annotated[bool, Option("--explain", help="Explain each score, word by word.")] = False,
    output: options.OutputArguments,
    search: options.SearchArguments,
) -> None:
    """Search an index.

    Prints the best passages, each with its best sentence. "A phrase" in quotes (within the quotes of the shell) must
    occur in them, and -word must not. Hits at the end that are unlikely to answer are left out (see --all); if
    nothing answers, the nearest three are shown as such.

    --mode exact, or --regex without a query, lists every passage with the text, in the order of the documents, and
    counts the occurrences, as ripgrep does, in all formats that semsearch reads.

    Exit status: 0 with hits (with --all also where nothing answers), 1 if nothing answers, 2 on an error.
    """
    if not text:
        if not search.regex:
            raise UsageError("give a query, or --regex to list the passages that match it")
        search = replace(search, mode="exact")
    is_exact, format = search.mode == "exact", output.format
    if explain and format not in EXPLAINING:
        raise UsageError(f"--explain does not work with the format {format}; choose {', '.join(EXPLAINING)}")
    if explain and is_exact:
        raise UsageError("--explain explains scores; mode exact counts occurrences")
    k = k if k is not None else _MOST_OCCURRENCES if is_exact else 10
    chosen = search.options(k=k, context=output.context)
    print_warnings()
    with open_searched(search) as searched:
        question = clean(" ".join(text or ()))
        ranked = searched.search(question, options=chosen)
        hits = ranked if search.show_all else above_threshold(ranked) or ranked[:NEAREST]
        answer = Answer(
            question,
            search.mode,
            hits,
            explanations=[hit.explain() for hit in hits] if explain else (),
            weak=len(ranked) - len(hits),
            show_all=search.show_all,
        )
        if not show(answer, format, searched):
            warn_if_empty(searched)
            raise SystemExit(NONE_FOUND)


# -- similar -----------------------------------------------------------------------------------------------------------


@options.with_options("search", options.SearchArguments, without=("show_all", "syntax", "rerank", "rerank_seconds"))
@options.with_options("output", options.OutputArguments)
def similar(
    example: Annotated[
        str,
        Argument(
            metavar="PATH[:LINE]",
            help="A document as hits show it, with a line or place of the passage: keys.md:10, 'talk.pptx slide 3'.",
        ),
    ],
    *,
    k: options.KOption = 10,
    same_document: Annotated[
        bool, Option("--same-document", help="Also show other sections of the passage's own document.")
    ] = False,
    output: options.OutputArguments,
    search: options.SearchArguments,
) -> None:
    """Find passages similar to an indexed passage or document.

    With a line or place: similar to the passage there. Without: similar to the whole document. It is left out itself.

    Exit status: 0 with hits, 1 without, 2 on an error.
    """
    print_warnings()
    chosen = search.options(k=k, context=output.context)
    with open_searched(search) as searched:
        hits = searched.similar(example, same_document=same_document, options=chosen)
        answer = Answer(example, chosen.mode, hits, marks_words=False)
        number = show(answer, output.format, searched)
    if not number:
        raise SystemExit(NONE_FOUND)


# -- context -----------------------------------------------------------------------------------------------------------


@options.with_options("search", options.SearchArguments, without=("duplicates",))
def context(
    text: Annotated[list[str], Argument(metavar="TEXT...", help="The query.")],
    *,
    max_words: options.MaxWordsOption = 800,
    json: options.JsonOption = False,
    search: options.SearchArguments,
) -> None:
    """Print the passages that a language model needs to answer a query.

    Prints the best passages as numbered Markdown, and a list of their sources: path, lines, heading.

    Exit status: 0 with passages, 1 without, 2 on an error.
    """
    print_warnings()
    query = clean(" ".join(text))
    chosen = search.options(floor=0.0 if search.show_all else FLOOR)
    with open_searched(search) as searched:
        passages = searched.context(query, max_words=max_words, options=chosen)
        if json:
            print(to_json({"query": query, "mode": search.mode, **passages.to_dict()}))
        elif passages.text:
            print(*map(safe_line, passages.text.splitlines()), sep="\n")
            warn_if_stale(passages.citations, searched)
        if not passages.text:
            print_stderr(
                no_passages_message(query, passages) + ("; --all uses the nearest passages" if passages.weak else "")
            )
            warn_if_empty(searched)
    if not passages.text:
        raise SystemExit(NONE_FOUND)
