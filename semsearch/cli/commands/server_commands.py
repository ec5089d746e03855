"""`semsearch serve` and `semsearch mcp`: answer browsers and programs over HTTP, and agents."""

from __future__ import annotations

import gc
import os
import shutil
import sys
import threading
import webbrowser
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from semsearch.cli import options
from semsearch.cli.find_index import LOCAL_FOLDER, indexes_to_serve, locate_indexes, no_index_message
from semsearch.cli.printing import print_stderr, print_warnings, to_json, warn
from semsearch.errors import IndexNotFound, MissingExtra
from semsearch.server.access import make_token, token_path
from semsearch.server.open_indexes import OpenIndexes

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer
    from starlette.applications import Starlette

    from semsearch.server.application import Guarded
    from semsearch.server.running import ServerSettings

_REQUEST = 30.0  # seconds that a request of an agent may take
in_access = partial(Option, rich_help_panel="Access")


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedIndexes:
    """The indexes that are served, and how they are opened. Processes that search get it, and open their own."""

    index: Annotated[list[str] | None, options.index_option("Serve only this index. Repeatable.")] = None
    indexes: options.IndexesOption = None
    vectors: options.VectorsOption = None
    rerank: options.RerankOption = None
    rerank_seconds: options.RerankSecondsOption = None

    def places(self) -> dict[str, Any] | None:
        """The named indexes, or those of this folder; None for all in the folder of indexes."""
        return locate_indexes(self.index, self.indexes) if self.index else indexes_to_serve(self.indexes)

    def open(self, *, is_reranked: bool = True) -> OpenIndexes:
        """Open them."""
        places = self.places()
        return OpenIndexes(
            folder=None if places else self.indexes or LOCAL_FOLDER,
            places=places,
            reranker=options.chosen_reranker(self.rerank, self.rerank_seconds) if is_reranked else None,
            vectors=self.vectors,
        )

    def as_options(self) -> list[str]:
        """The same as options of the command line, for a program that starts elsewhere."""
        places = self.places()
        chosen = ["--indexes", str((self.indexes or LOCAL_FOLDER).absolute())] if places is None else list[str]()
        for place in (places or {}).values():
            chosen += ["-i", str(place.absolute() if isinstance(place, Path) else place)]
        chosen += ["--vectors", self.vectors] if self.vectors else []
        return chosen + (["--rerank", self.rerank] if self.rerank else [])


@options.with_options("served", ServedIndexes)
def serve(
    *,
    host: Annotated[
        str, Option(metavar="HOST", help="Address to listen on; others than this machine's need the token.")
    ] = "127.0.0.1",
    port: Annotated[int, Option(metavar="N", min=0, max=65535, help="0: any free port.")] = 8765,
    open_page: Annotated[bool, Option("--open", help="Open the web interface in the browser.")] = False,
    show_token: Annotated[bool, Option("--show-token", help="Print the token and exit.")] = False,
    require_token: Annotated[
        bool, in_access("--require-token", help="Require the token from this machine too.")
    ] = False,
    allow_host: Annotated[
        list[str] | None, in_access(metavar="NAME", help="Another host name of the server. Repeatable.")
    ] = None,
    workers: Annotated[
        int, Option(metavar="N", min=0, max=64, help="Processes that serve, for many clients at once; 0: this one.")
    ] = 0,
    served: ServedIndexes,
) -> None:
    """Serve indexes over HTTP: a web interface, JSON for programs, MCP for agents.

    Serves all indexes of the folder, or those that --index names: by name, path or the URI of a published copy.
    Programs on this machine may read without a token; any other access needs the token, created at the first start.
    Ctrl-C stops the server. Needs the extra `serve`, and for MCP (at /mcp) `mcp`.
    """
    print_warnings()
    if show_token:
        print(make_token(token_path()))
        return
    try:
        from semsearch.server.running import ServerSettings  # an optional dependency
    except ModuleNotFoundError as error:
        raise MissingExtra(error.name or "fastapi", "serve") from None

    opened = served.open(is_reranked=False)
    if not opened.names():
        raise IndexNotFound(no_index_message(served.indexes))
    opened.reranker = options.chosen_reranker(served.rerank, served.rerank_seconds)
    with closing(opened):
        _run(
            served,
            opened,
            ServerSettings(host, port, tuple(allow_host or ()), require_token),
            workers=workers,
            open_page=open_page,
        )
    print_stderr("stopped serving")


def _run(
    served: ServedIndexes, opened: OpenIndexes, settings: ServerSettings, *, workers: int, open_page: bool
) -> None:
    """Serve until Ctrl-C."""
    from semsearch.server.running import RunningServer, address, is_open_to_others, listen, run_processes  # optional

    token = make_token(token_path())
    with listen(settings) as listening:
        if not workers:
            gc.freeze()  # modules stay: no garbage collection needs to look at them
            server = RunningServer(opened, settings, token, listening, mcp=_for_agents(opened))
        if is_open_to_others(settings):
            warn("other machines can reach this server, without encryption; see docs/developers/server.md")
        url = address(listening)
        print(url, flush=True)
        print_stderr("open this address in a browser to search")
        if open_page:  # in a thread: a browser on the terminal would block the server
            threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()
        print_stderr(f"serving {', '.join(opened.names())}; the token is in {token_path()}; Ctrl-C ends it")
        with suppress(KeyboardInterrupt):  # raised once all is answered
            if workers:
                run_processes(partial(_application, served, settings, token), listening, workers)
            else:
                server.run()


def _application(served: ServedIndexes, settings: ServerSettings, token: str) -> Guarded:
    """The application of a process that was started to serve."""
    from semsearch.server.running import end_with_parent, make_application  # of the optional dependency

    end_with_parent()
    opened = served.open()
    return make_application(opened, settings, token, mcp=_for_agents(opened))


@options.with_options("served", ServedIndexes)
def mcp(
    *,
    only_print: Annotated[
        bool, Option("--print", help="Print the entry for an agent's configuration, with these options, and exit.")
    ] = False,
    timeout: Annotated[float, Option(metavar="SECONDS", min=0.1, help="Time limit of each request.")] = _REQUEST,
    served: ServedIndexes,
) -> None:
    """Let an agent search: an MCP server on standard input and output.

    The agent starts it, as its configuration says; docs/agents.md has recipes. It offers all indexes of the folder, or
    those that --index names, and nothing else. It only reads, and stops at the end of its input.
    """
    print_warnings()
    if only_print:
        program = shutil.which("semsearch")
        command = [program, "mcp"] if program else [sys.executable, "-m", "semsearch", "mcp"]
        entry = {"command": command[0], "args": [*command[1:], *served.as_options()]}
        print(to_json({"mcpServers": {"semsearch": entry}}))
        return
    opened = served.open()
    if not opened.names():
        print_stderr(no_index_message(served.indexes))  # and continues: an index that is created later is found
    server = _mcp_server(opened, timeout)
    if sys.stdin.isatty():
        print_stderr("waiting for MCP messages on standard input; docs/agents.md shows how agents start this command")
    server.run("stdio")
    sys.stderr.flush()
    os._exit(0)  # a request that has timed out must not delay the end; tools only read


def _mcp_server(indexes: OpenIndexes, seconds: float) -> MCPServer:
    """The server for agents. Raises MissingExtra."""
    try:  # an optional dependency
        from semsearch.mcp import make_server

        return make_server(lambda: indexes, indexes.descriptions(), seconds=seconds)
    except ModuleNotFoundError:
        raise MissingExtra("mcp", "mcp") from None


def _for_agents(indexes: OpenIndexes) -> Starlette | None:
    """The application for agents; None, with a word about it, without the extra mcp."""
    try:
        server = _mcp_server(indexes, _REQUEST)
    except MissingExtra as error:
        print_stderr(f"agents cannot ask this server: {error}")
        return None
    from semsearch.mcp import http_application  # of the optional dependency

    return http_application(server)
