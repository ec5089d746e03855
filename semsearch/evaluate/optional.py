"""Import optional packages that only measuring needs: the scorer and the peers."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from semsearch.errors import MissingExtra


def import_extra(module: str, *, package: str, extra: str = "evaluate", distribution: str = "semsearch") -> Any:
    """Import an optional package's module. Raises MissingExtra, which names the extra to install."""
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingExtra(package, extra, distribution=distribution) from error
