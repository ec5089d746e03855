"""`semsearch similar`: passages like a given one; `semsearch context`: passages for a language model."""

from __future__ import annotations

import re
from typing import Annotated

from semsearch.cli.answer_formats import Answer, context_text, to_json
from semsearch.cli.answering import (
    bring_up_to_date,
    choose_format,
    names_of,
    open_asked,
    show,
    tell_if_empty,
    tell_if_stale,
    wants_whole,
)
from semsearch.cli.command_options import (
    AllOption,
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
    RerankOption,
    RerankSecondsOption,
    ServerOption,
    ShowOption,
    SyntaxOption,
    VectorsOption,
    is_wanted,
)
from semsearch.cli.declared import CommandArgument as Argument, CommandOption as Option
from semsearch.cli.find_index import INDEXES
from semsearch.cli.messages import NONE_FOUND, complain, tell_warnings, use_one_thread
from semsearch.errors import SourceError, quoted
from semsearch.results.hits import FLOOR

# -- similar -----------------------------------------------------------------------------------------------------------

_LINE = re.compile(r"(.+?):(\d{1,12})(?::\d*)?(?::.*)?", re.DOTALL)  # also a line of --format vimgrep


def similar(
    like: Annotated[
        str,
        Argument(
            metavar="PATH[:LINE]",
            help="A document as hits show it, with a line or place of the passage: keys.md:10, 'talk.pptx slide 3'.",
        ),
    ],
    k: KOption = 10,
    index: AskedIndexOption = None,
    mode: ModeOption = "hybrid",
    filters: FiltersOption = None,
    context: ContextOption = 0,
    shown: ShowOption = "sentence",
    refresh: RefreshOption = False,
    format_: FormatOption = None,
    json: JsonFormatOption = False,
    min_score: MinScoreOption = None,
    per_document: PerDocumentOption = None,
    duplicates: DuplicatesOption = False,
    boosts: BoostsOption = None,
    indexes: IndexesOption = INDEXES,
    server: ServerOption = None,
    vectors: VectorsOption = None,
    jsonl: JsonlOption = False,
) -> None:
    """Find passages similar to an indexed passage or document.

    With a line or place: similar to the passage there. Without: similar to the whole document, which is left out.

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
        raise SystemExit(NONE_FOUND)


def context(
    text: Annotated[list[str], Argument(metavar="TEXT...", help="The query.")],
    max_words: Annotated[
        int, Option("--max-words", "-w", metavar="N", help="Maximum number of words, sources included.")
    ] = 800,
    index: AskedIndexOption = None,
    mode: ModeOption = "hybrid",
    filters: FiltersOption = None,
    refresh: RefreshOption = False,
    json: Annotated[
        bool, Option("--json", help="Print an object with query, mode, text, words and citations.")
    ] = False,
    every: AllOption = False,
    min_score: MinScoreOption = None,
    per_document: PerDocumentOption = None,
    boosts: BoostsOption = None,
    syntax: SyntaxOption = "full",
    rerank: RerankOption = None,
    rerank_seconds: RerankSecondsOption = None,
    indexes: IndexesOption = INDEXES,
    server: ServerOption = None,
    vectors: VectorsOption = None,
) -> None:
    """Print the passages that a language model needs to answer a query.

    Prints the best passages as numbered Markdown, and a list of their sources: path, lines, heading.

    Exit status: 0 with passages, 1 without, 2 on an error.
    """
    if not is_wanted(rerank):  # a model profits from all threads
        use_one_thread()
    tell_warnings()
    query = " ".join(text).encode("utf-8", "surrogateescape").decode("utf-8", "replace").strip()
    with open_asked(
        index, indexes, server=server, vectors=vectors, rerank=rerank, rerank_seconds=rerank_seconds
    ) as opened:
        if refresh:
            bring_up_to_date(opened)
        made = opened.context(
            query,
            max_words=max_words,
            mode=mode,
            min_score=min_score,
            filters=filters or (),
            per_document=per_document,
            boosts=boosts or (),
            syntax=syntax,
            floor=0.0 if every else FLOOR,
        )
        if json:
            print(to_json({"query": query, "mode": mode, **made.to_dict()}))
        elif made.text:
            print(context_text(made))
            tell_if_stale({(cited.index or "", cited.path) for cited in made.citations if cited.stale}, opened)
        if not made.text:
            complain(
                f"nothing answers {quoted(query)}; --all uses the nearest passages"
                if made.weak
                else f"no hits for {quoted(query)}"
            )
            tell_if_empty(opened)
    if not made.text:
        raise SystemExit(NONE_FOUND)
