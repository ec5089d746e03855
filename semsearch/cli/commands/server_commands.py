"""`semsearch serve` and `semsearch mcp`: answer browsers and programs over HTTP, and agents.

serve. `semsearch serve`: answer over HTTP.

mcp. `semsearch mcp`: answer an agent over standard input and output.
"""

from __future__ import annotations

import os
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from semsearch.cli.command_options import (
    IndexesOption,
    RerankOption,
    RerankSecondsOption,
    VectorsOption,
    chosen_reranker,
    is_wanted,
)
from semsearch.cli.find_index import INDEXES, find_indexes, index_folders, nearest, none_in
from semsearch.cli.messages import complain, tell_warnings, use_one_thread, warn
from semsearch.errors import IndexNotFound
from semsearch.snapshots.store_uris import LOOK_EVERY

if TYPE_CHECKING:
    from semsearch.rerankers.reranker import ModelReranker
    from semsearch.serve.open_indexes import OpenIndexes

# -- serve -------------------------------------------------------------------------------------------------------------


def serve(
    index: Annotated[
        list[str] | None,
        typer.Option(
            "--index", "--name", "-i", metavar="NAME|PATH|URI", help="Serve only this index. May be repeated."
        ),
    ] = None,
    indexes: IndexesOption = INDEXES,
    host: Annotated[
        str, typer.Option(metavar="HOST", help="Where to listen. Anything but this machine's own needs the token.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(metavar="N", min=0, max=65535, help="0: any that is free.")] = 8765,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Another name that the server is called by. May be repeated."),
    ] = None,
    require_token: Annotated[
        bool, typer.Option("--require-token", help="Ask for the token always, of this machine's programs too.")
    ] = False,
    show_token: Annotated[bool, typer.Option("--show-token", help="Print the token, and exit.")] = False,
    vectors: VectorsOption = None,
    rerank: RerankOption = None,
    rerank_seconds: RerankSecondsOption = None,
    look_every: Annotated[
        float,
        typer.Option(
            metavar="SECONDS", min=0, help="How often to look for news of an index that is read from a place."
        ),
    ] = LOOK_EVERY,
    open_page: Annotated[bool, typer.Option("--open", help="Open the search page in the browser.")] = False,
) -> None:
    """Serve indexes over HTTP: a search page for people, JSON for programs, MCP at /mcp for agents.

    Serves all indexes of the folder, or those that are named, be it by the place that one is published to. Reading from
    this machine is allowed to everyone on it; anything else needs the token, which is made at the first start. Ctrl-C
    ends it. Needs the extra serve: pip install 'semsearch[serve]'.
    """
    if not is_wanted(rerank):  # a model is worth all of them
        use_one_thread()
    tell_warnings()
    from semsearch.serve.access import make_token, token_path  # start-up time, here and below

    if show_token:
        print(make_token(token_path()))
        return
    from semsearch.agents.http_transport import HttpAgents
    from semsearch.agents.protocol import AgentProtocol
    from semsearch.serve.open_indexes import OpenIndexes
    from semsearch.serve.server import RunningServer, ServerSettings, address, is_open_to_others, listen

    settings = ServerSettings(host, port, tuple(allow_host or ()), require_token)
    places = find_indexes(index, indexes) if index else None
    served = OpenIndexes(
        folder=None if places else nearest(indexes), places=places, look_every=look_every, vectors=vectors
    )
    if not served.names():
        raise IndexNotFound(none_in(indexes))
    served.reranker = chosen_reranker(rerank, rerank_seconds)
    listening = listen(settings)
    try:
        agents = HttpAgents(AgentProtocol(lambda: served, served.names))
        served.warm_up()
        server = RunningServer(served, settings, make_token(token_path()), listening, messages=[agents])
        if is_open_to_others(settings):
            warn("other machines can reach this server, and nothing is encrypted; semsearch serve --help says more")
        print(address(listening), flush=True)
        complain("open this address in a browser to search")
        if open_page:
            _open(address(listening))
        complain(f"serving {', '.join(served.names())}; the token is in {token_path()}; Ctrl-C ends it")
        with suppress(KeyboardInterrupt):  # raised once all is answered
            server.run()
    finally:
        listening.close()
        served.close()
    complain("no longer serving")


def _open(url: str) -> None:
    """Open an address in the browser, in a thread: one that takes over the terminal would keep the server from it."""
    threading.Thread(target=_show, args=(url,), daemon=True).start()


def _show(url: str) -> None:
    import webbrowser  # start-up time

    webbrowser.open(url)


# -- mcp ---------------------------------------------------------------------------------------------------------------


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
    from semsearch.agents.stdio_transport import (
        MessagePipes,  # start-up time, here and below
        StdioServer,
    )

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
