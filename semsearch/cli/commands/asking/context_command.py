"""`semsearch context`: the passages to give a language model along with a question."""

from __future__ import annotations

from typing import Annotated

import typer

from semsearch.cli.answering import bring_up_to_date, tell_if_empty, tell_if_stale
from semsearch.cli.asked_indexes import open_asked
from semsearch.cli.exit_status import NONE_FOUND
from semsearch.cli.messages import complain, tell_warnings
from semsearch.cli.naming import INDEXES
from semsearch.cli.options import (
    AllOption,
    AskedIndexOption,
    BoostsOption,
    FiltersOption,
    IndexesOption,
    MinScoreOption,
    ModeOption,
    PerDocumentOption,
    RefreshOption,
    RerankOption,
    RerankSecondsOption,
    ServerOption,
    SyntaxOption,
    VectorsOption,
)
from semsearch.cli.output.formats import context_text, to_json
from semsearch.cli.reranking_choice import is_wanted
from semsearch.cli.startup import use_one_thread
from semsearch.results.floor import FLOOR


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
