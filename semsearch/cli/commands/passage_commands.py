"""`semsearch similar` and `semsearch context`: passages like a passage or document; passages for a language model.

similar. `semsearch similar`: find passages similar to a passage or a document.

context. `semsearch context`: the passages to give a language model along with a question.
"""

from __future__ import annotations

import re
from typing import Annotated

import typer

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
from semsearch.cli.find_index import INDEXES
from semsearch.cli.messages import NONE_FOUND, complain, tell_warnings, use_one_thread
from semsearch.errors import SourceError
from semsearch.results.hits import FLOOR

# -- similar -----------------------------------------------------------------------------------------------------------

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


# -- context -----------------------------------------------------------------------------------------------------------


def context(
    text: Annotated[list[str], typer.Argument(metavar="TEXT...", help="The question.")],
    max_words: Annotated[
        int, typer.Option("--max-words", "-w", metavar="N", help="The most words in all, sources included.")
    ] = 800,
    index: AskedIndexOption = None,
    indexes: IndexesOption = INDEXES,
    mode: ModeOption = "hybrid",
    min_score: MinScoreOption = None,
    filters: FiltersOption = None,
    per_document: PerDocumentOption = None,
    boosts: BoostsOption = None,
    syntax: SyntaxOption = "full",
    every: AllOption = False,
    rerank: RerankOption = None,
    rerank_seconds: RerankSecondsOption = None,
    refresh: RefreshOption = False,
    server: ServerOption = None,
    json: Annotated[
        bool, typer.Option("--json", help="As an object with query, mode, text, words and citations.")
    ] = False,
    vectors: VectorsOption = None,
) -> None:
    """Gather the passages that a language model needs to answer a question.

    Writes the best passages as Markdown, numbered, and a list of their sources: path, lines, heading.

    Exit status: 0 with passages, 1 without, 2 on an error.
    """
    if not is_wanted(rerank):  # a model is worth all of them
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
            said = f"nothing here answers {query!r} well; --all takes what there is"
            complain(said if made.weak else f"nothing was found for {query!r}")
            tell_if_empty(opened)
    if not made.text:
        raise typer.Exit(NONE_FOUND)
