"""`semsearch serve` and `semsearch mcp`: answer browsers and programs over HTTP, and agents."""

from __future__ import annotations

import gc
import os
import sys
import threading
import webbrowser
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

from semsearch.cli.find_index import all_offered, find_indexes, index_folders, nearest, none_in
from semsearch.cli.options import (
    IndexesOption,
    RerankOption,
    RerankSecondsOption,
    VectorsOption,
    chosen_reranker,
)
from semsearch.cli.printing import complain, tell_warnings, warn
from semsearch.errors import IndexNotFound, MissingExtra
from semsearch.server.access import make_token, token_path
from semsearch.server.open_indexes import OpenIndexes
from semsearch.storage.database import description_of

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer
    from starlette.applications import Starlette

    from semsearch.rerankers.reranker import ModelReranker

_REQUEST = 30.0  # seconds that a request of an agent may take


def serve(
    *,
    index: Annotated[
        list[str] | None,
        Option("--index", "--name", "-i", metavar="INDEX", help="Serve only this index. Repeatable."),
    ] = None,
    host: Annotated[
        str, Option("--host", metavar="HOST", help="Address to listen on; others than this machine's need the token.")
    ] = "127.0.0.1",
    port: Annotated[int, Option("--port", metavar="N", min=0, max=65535, help="0: any free port.")] = 8765,
    open_page: Annotated[bool, Option("--open", help="Open the web interface in the browser.")] = False,
    show_token: Annotated[bool, Option("--show-token", help="Print the token and exit.")] = False,
    require_token: Annotated[
        bool, Option("--require-token", help="Require the token from this machine too.", rich_help_panel="Access")
    ] = False,
    allow_host: Annotated[
        list[str] | None,
        Option(
            "--allow-host",
            metavar="NAME",
            help="Another host name of the server. Repeatable.",
            rich_help_panel="Access",
        ),
    ] = None,
    rerank: RerankOption = None,
    rerank_seconds: RerankSecondsOption = None,
    indexes: IndexesOption = None,
    vectors: VectorsOption = None,
    workers: Annotated[
        int,
        Option(
            "--workers",
            metavar="N",
            min=0,
            max=64,
            help="Processes that search, for many clients at once; 0: this one.",
        ),
    ] = 0,
) -> None:
    """Serve indexes over HTTP: a web interface for people, JSON for programs, MCP at /mcp for agents.

    MCP needs the extra mcp: pip install 'semsearch[mcp]'.

    Serves all indexes of the folder, or those that --index names: by name, path or the URI of a published copy.
    Programs on this machine may read without a token; any other access needs the token, created at the first start.
    Ctrl-C stops the server. Needs the extra serve: pip install 'semsearch[serve]'.
    """
    tell_warnings()
    if show_token:
        print(make_token(token_path()))
        return
    try:  # an optional dependency
        from semsearch.server.running import RunningServer, ServerSettings, address, is_open_to_others, listen
        from semsearch.server.work_pool import Workers
    except ModuleNotFoundError as error:
        raise MissingExtra(error.name or "fastapi", "serve") from None

    settings = ServerSettings(host, port, tuple(allow_host or ()), require_token)
    places = _chosen(index, indexes)
    opened = partial(_opened, places, indexes, vectors)
    served = opened(None)
    if not served.names():
        raise IndexNotFound(none_in(indexes))
    served.reranker = chosen_reranker(rerank, rerank_seconds)
    searching = Workers(workers, partial(_reranking, opened, rerank, rerank_seconds)) if workers else None
    listening = listen(settings)
    try:
        served.warm_up()
        gc.freeze()  # modules and indexes stay: the first garbage collection would look at them for 47 ms
        server = RunningServer(
            served, settings, make_token(token_path()), listening, mcp=_for_agents(served), workers=searching
        )
        if is_open_to_others(settings):
            warn("other machines can reach this server, without encryption; see docs/developers/server.md")
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
    complain("stopped serving")


def _chosen(named: list[str] | None, indexes: Path | None) -> Mapping[str, Path | str] | None:
    """The indexes that are named, or those of this folder; None for all in the nearest folder of indexes."""
    return find_indexes(named, indexes) if named else all_offered(indexes)


def _open(url: str) -> None:
    """Open an address in the browser, in a thread: a browser on the terminal would block the server."""
    threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()


def mcp(
    *,
    index: Annotated[
        list[str] | None,
        Option("--index", "--name", "-i", metavar="INDEX", help="Offer only this index. Repeatable."),
    ] = None,
    indexes: IndexesOption = None,
    vectors: VectorsOption = None,
    rerank: RerankOption = None,
    rerank_seconds: RerankSecondsOption = None,
    timeout: Annotated[
        float, Option("--timeout", metavar="SECONDS", min=0.1, help="Time limit of each request.")
    ] = _REQUEST,
) -> None:
    """Let an agent search: an MCP server on standard input and output.

    The agent starts it, as its configuration says; docs/agents.md has recipes. It offers all indexes of the folder, or
    those that --index names, and nothing else. It only reads, and stops at the end of its input.
    """
    tell_warnings()
    places = _chosen(index, indexes)
    if places is None and not index_folders(nearest(indexes)):
        complain(none_in(indexes))  # and continues: an index that is created later is found
    if sys.stdin.isatty():
        complain("waiting for MCP messages on standard input; docs/agents.md shows how agents start this command")
    served = _opened(places, indexes, vectors, chosen_reranker(rerank, rerank_seconds))
    described = _described(places or {folder.name: folder for folder in index_folders(nearest(indexes))})
    server = _mcp_server(served, described, timeout)
    server.run("stdio")
    sys.stderr.flush()
    os._exit(0)  # a request that has timed out must not delay the end; tools only read


def _mcp_server(indexes: OpenIndexes, described: Mapping[str, str], seconds: float) -> MCPServer:
    """The server for agents. Raises MissingExtra."""
    try:  # an optional dependency
        from semsearch.mcp import make_server

        return make_server(lambda: indexes, described, seconds=seconds)
    except ModuleNotFoundError as error:
        raise MissingExtra(error.name or "mcp", "mcp") from None


def _for_agents(indexes: OpenIndexes) -> Starlette | None:
    """The application for agents; None, with a word about it, without the extra mcp."""
    try:
        server = _mcp_server(indexes, indexes.descriptions(), _REQUEST)
    except MissingExtra as error:
        complain(f"agents cannot ask this server: {error}")
        return None
    from semsearch.mcp import http_application  # of the optional dependency

    return http_application(server)


def _described(places: Mapping[str, Path | str]) -> dict[str, str]:
    return {name: description_of(place) if isinstance(place, Path) else "" for name, place in sorted(places.items())}


def _opened(
    places: Mapping[str, Path | str] | None,
    indexes: Path | None,
    vectors: str | None,
    reranker: ModelReranker | None,
) -> OpenIndexes:
    folder = None if places else nearest(indexes)
    return OpenIndexes(folder=folder, places=places, reranker=reranker, vectors=vectors)


def _reranking(
    opened: Callable[[ModelReranker | None], OpenIndexes], rerank: str | None, seconds: float | None
) -> OpenIndexes:
    """The indexes of a worker, with a reranker of its own."""
    return opened(chosen_reranker(rerank, seconds))
