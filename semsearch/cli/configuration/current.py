"""The configuration that the running command was given."""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from semsearch.cli.configuration.configuration import Configuration

_CURRENT: ContextVar[Configuration | None] = ContextVar("configuration", default=None)


def configuration_of() -> Configuration | None:
    """The configuration of the running command; None if nothing is configured, or no command runs."""
    return _CURRENT.get()


def use(configuration: Configuration | None) -> None:
    """Have the command that begins now run with a configuration."""
    _CURRENT.set(configuration)
