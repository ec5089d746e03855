"""How long an agent waits: from the start of `semsearch mcp` to its first answer, and for each call of a tool.

    python tests/benchmarks/agents.py FOLDER --index NAME [--query TEXT] [--rounds N] [--sdk]

FOLDER has the indexes. Starts are measured from before the process is made to its answer of a handshake, and calls from
before the line is sent until the answer is parsed; medians, with the nine-tenths below them. Processor time depends
less on what else the machine does. --sdk measures a server of the protocol's own package (`mcp`) that has one tool,
which does nothing, for comparison.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

HELLO = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}},
}
SDK = """
from mcp.server.mcpserver import MCPServer
server = MCPServer("nothing")
@server.tool()
def nothing() -> str:
    return ""
server.run("stdio")
"""


def call_of(tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """A request that calls a tool."""
    params = {"name": tool, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}


class Server:
    """A server that is being measured."""

    def __init__(self, command: list[str]) -> None:
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def ask(self, message: dict[str, Any]) -> Any:
        """Send a request; its answer."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def end(self) -> None:
        """Close its pipe, and wait for its end."""
        self._process.communicate()


def told(name: str, seconds: list[float]) -> None:
    """Print the median, and the nine-tenths, in milliseconds."""
    ordered = sorted(seconds)
    high = ordered[int(0.9 * (len(ordered) - 1))]
    print(f"{name:32} {1000 * statistics.median(ordered):8.1f} ms  (9 in 10 below {1000 * high:.1f})")


def waited(command: list[str], *messages: dict[str, Any]) -> tuple[list[float], float]:
    """The seconds from before a process is made until each message is answered; and its processor time, to its end."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    server = Server(command)
    seconds = []
    for message in messages:
        server.ask(message)
        seconds.append(time.perf_counter() - began)
    server.end()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def tell_waits(name: str, command: list[str], *messages: dict[str, Any], rounds: int) -> None:
    """Start a server some times, and print how long its answers took, and how much processor time."""
    waits = [waited(command, *messages) for _ in range(rounds)]
    told(name, [seconds[-1] for seconds, _ in waits])
    told("    processor time", [processor for _, processor in waits])


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--index", required=True)
    parser.add_argument("--query", default="how do I rotate the keys?")
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--sdk", action="store_true")
    given = parser.parse_args()
    command = [sys.executable, "-m", "semsearch", "mcp", "--indexes", str(given.folder)]
    search = call_of("search", {"query": given.query, "index": given.index})
    tell_waits("start to first answer", command, HELLO, rounds=15)
    tell_waits("start to first search", command, HELLO, search, rounds=7)
    if given.sdk:
        tell_waits("first answer of mcp's own server", [sys.executable, "-c", SDK], HELLO, rounds=5)
    server = Server(command)
    best = server.ask(search)["result"]["structuredContent"]["results"][0]
    server.end()
    calls: dict[str, dict[str, Any]] = {
        "search": {"query": given.query},
        "context": {"query": given.query},
        "read": {"citation": best["citation"]},
        "similar": {"citation": best["citation"]},
        "list_documents": {},
        "status": {},
    }
    _, start = waited(command, search)
    for tool, arguments in calls.items():
        message = call_of(tool, arguments | {"index": given.index})
        seconds, processor = waited(command, search, *[message] * (given.rounds + 1))
        told(tool, [after - before for before, after in pairwise(seconds[1:])])
        print(f"{'    processor time':32} {1000 * (processor - start) / (given.rounds + 1):8.1f} ms")


if __name__ == "__main__":
    main()
