"""How long an agent waits: from the start of `semsearch mcp` to its first answer, and for each call of a tool.

    python tests/benchmarks/agents.py FOLDER --index NAME [--query TEXT] [--rounds N]

FOLDER has the indexes. The client is that of the protocol's own package. Medians, with the nine-tenths below them; the
characters of the definitions, which every conversation of a model begins with, and those of each answer.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from pathlib import Path
from typing import Any

import anyio
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client


def told(name: str, seconds: list[float], characters: int = 0) -> None:
    """Print the median and the nine-tenths, in milliseconds."""
    ordered = sorted(seconds)
    high = ordered[int(0.9 * (len(ordered) - 1))]
    size = f"  {characters:6,} characters" if characters else ""
    print(f"{name:24} {1000 * statistics.median(ordered):8.1f} ms  (9 in 10 below {1000 * high:.1f}){size}")


async def starts(server: StdioServerParameters, rounds: int) -> list[float]:
    """The seconds from before a process is made until a client has shaken its hand."""
    seconds = []
    for _ in range(rounds):
        began = time.perf_counter()
        async with Client(stdio_client(server)):
            seconds.append(time.perf_counter() - began)
    return seconds


async def called(client: Client, tool: str, **arguments: Any) -> str:
    """The text that a tool answers."""
    result: Any = await client.call_tool(tool, arguments)
    return str(result.content[0].text)


async def measure(server: StdioServerParameters, index: str, query: str, rounds: int) -> None:
    """Measure, and print."""
    told("start", await starts(server, 5))
    async with Client(stdio_client(server)) as client:
        tools = (await client.list_tools()).model_dump(mode="json", by_alias=True, exclude_none=True)["tools"]
        print(f"{'definitions':24} {len(json.dumps(tools, separators=(',', ':'))):,} characters")
        first = json.loads(await called(client, "search", query=query, index=index))
        citation = first["results"][0]["citation"]
        calls: dict[str, dict[str, Any]] = {
            "search": {"query": query},
            "read": {"citation": citation},
            "similar": {"citation": citation},
            "list_documents": {},
            "status": {},
        }
        for tool, arguments in calls.items():
            seconds, text = [], ""
            for _ in range(rounds + 1):
                began = time.perf_counter()
                text = await called(client, tool, index=index, **arguments)
                seconds.append(time.perf_counter() - began)
            told(tool, seconds[1:], len(text))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--index", required=True)
    parser.add_argument("--query", default="how do I rotate the keys?")
    parser.add_argument("--rounds", type=int, default=100)
    options = parser.parse_args()
    args = ["-m", "semsearch", "mcp", "--indexes", str(options.folder)]
    server = StdioServerParameters(command=sys.executable, args=args)
    anyio.run(measure, server, options.index, options.query, options.rounds)


if __name__ == "__main__":
    main()
