"""The configured values as the defaults of commands' options: what stands on the command line wins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from semsearch.cli.configuration.configuration import Configuration

ASKING = ("query", "interactive", "similar", "context")
RERANKING = ("query", "context", "serve", "mcp")
CONFIGURED = (
    *ASKING,
    "index",
    "watch",
    "serve",
    "mcp",
    "status",
    "list",
    "indexes",
    "remove",
    "refit",
    "compact",
    "verify",
)


def defaults_of(command: str, configuration: Configuration) -> dict[str, Any]:
    """The defaults of a command's options, by parameter; those that it does not have are ignored."""
    general = configuration.of("")
    found: dict[str, Any] = {}
    if "indexes" in general:
        found["indexes"] = general["indexes"]
    if command in RERANKING:
        found |= {name: general[name] for name in ("rerank", "rerank_seconds") if name in general}
    if command in ASKING:
        found |= configuration.of("search")
        found |= {key: general[name] for key, name in (("index", "ask"), ("server", "server")) if general.get(name)}
    return found
