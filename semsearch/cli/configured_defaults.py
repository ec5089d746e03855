"""The configuration of the running command; its values are defaults of options, which the command line overrides."""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from semsearch.cli.configuration import Configuration

# -- The current configuration -----------------------------------------------------------------------------------------

_CURRENT: ContextVar[Configuration | None] = ContextVar("configuration", default=None)


def configuration_of() -> Configuration | None:
    """The configuration of the running command; None if nothing is configured, or no command runs."""
    return _CURRENT.get()


def use(configuration: Configuration | None) -> None:
    """Have the command that begins now run with a configuration."""
    _CURRENT.set(configuration)


# -- Defaults of options -----------------------------------------------------------------------------------------------

ASKING = ("query", "interactive", "similar", "context", "ask")
RERANKING = ("query", "context", "ask", "serve", "mcp")
CONFIGURED = (
    *ASKING,
    "history",
    "index",
    "watch",
    "serve",
    "mcp",
    "status",
    "list",
    "describe",
    "rename",
    "delete",
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
