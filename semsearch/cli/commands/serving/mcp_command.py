"""`semsearch mcp`: answer an agent over standard input and output."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from semsearch.cli.index_folders import index_folders, nearest
from semsearch.cli.messages import complain, tell_warnings
from semsearch.cli.naming import INDEXES, find_indexes, none_in
from semsearch.cli.options import IndexesOption, RerankOption, RerankSecondsOption, VectorsOption
from semsearch.cli.reranking_choice import chosen_reranker, is_wanted
from semsearch.cli.startup import use_one_thread

if TYPE_CHECKING:
    from semsearch.rerankers.model_reranker import ModelReranker
    from semsearch.serve.open_indexes import OpenIndexes


def mcp(
    index: Annotated[
        list[str] | None,
        typer.Option(
            "--index", "--name", "-i", metavar="NAME|PATH", help="Let only this index be asked. May be repeated."
        ),
    ] = None,
    indexes: IndexesOption = INDEXES,
    vectors: VectorsOption = None,
    rerank: RerankOption = None,
    rerank_seconds: RerankSecondsOption = None,
    timeout: Annotated[
        float, typer.Option(metavar="SECONDS", min=0.1, help="Within which each request is answered.")
    ] = 30,
) -> None:
    """Let an agent search: an MCP server on standard input and output.

    An agent starts it, as its configuration says; docs/agents.md has recipes. All indexes of the folder can
    be asked, or those that are named, and nothing else. It only reads, and ends when its input does.
    """
    from semsearch.agents.protocol import AgentProtocol
    from semsearch.agents.transport.pipes import MessagePipes  # start-up time, here and below
    from semsearch.agents.transport.stdio import StdioServer

    if not is_wanted(rerank):  # a model is worth all of them
        use_one_thread()
    tell_warnings()
    places = find_indexes(index, indexes) if index else None
    if places is None and not index_folders(nearest(indexes)):
        complain(none_in(indexes))  # and goes on: an index that is made later is found
    if sys.stdin.isatty():
        complain("waiting for an agent's messages on standard input; docs/agents.md says how agents start this")
    reranker = chosen_reranker(rerank, rerank_seconds)
    protocol = AgentProtocol(
        lambda: _opened(places, indexes, vectors, reranker),
        lambda: sorted(places) if places else [each.name for each in index_folders(nearest(indexes))],
    )
    server = StdioServer(protocol, MessagePipes.of_this_process(), seconds=timeout)
    try:
        server.run()
    finally:
        if server.is_busy:  # an answer that nobody waits for any more must not hold up the end
            sys.stderr.flush()
            os._exit(0)
        protocol.close()


def _opened(
    places: dict[str, Path | str] | None, indexes: Path | None, vectors: str | None, reranker: ModelReranker | None
) -> OpenIndexes:
    from semsearch.serve.open_indexes import OpenIndexes  # start-up time: it imports what searches

    folder = None if places else nearest(indexes)
    return OpenIndexes(folder=folder, places=places, reranker=reranker, vectors=vectors)
