"""`semsearch serve`: answer over HTTP."""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import Annotated

import typer

from semsearch.cli.index_folders import nearest
from semsearch.cli.messages import complain, tell_warnings, warn
from semsearch.cli.naming import INDEXES, find_indexes, none_in
from semsearch.cli.options import IndexesOption, RerankOption, RerankSecondsOption, VectorsOption
from semsearch.cli.reranking_choice import chosen_reranker, is_wanted
from semsearch.cli.startup import use_one_thread
from semsearch.errors import IndexNotFound
from semsearch.published.naming import LOOK_EVERY


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
    from semsearch.serve.safety.token_file import make_token, token_path  # start-up time, here and below

    if show_token:
        print(make_token(token_path()))
        return
    from semsearch.agents.protocol import AgentProtocol
    from semsearch.agents.transport.http import HttpAgents
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
