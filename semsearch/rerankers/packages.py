"""Import the packages that run models. They are optional, and take long: nothing else loads them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from semsearch.errors import MissingExtra

RERANK = "rerank"  # the extra with sentence-transformers and PyTorch
RERANK_ONNX = "rerank-onnx"  # the extra with ONNX Runtime alone


def imported(module: str) -> Any | None:
    """Import an optional module; None where it is not installed."""
    try:
        return import_module(module)
    except ImportError:
        return None


def needed(module: str, *, package: str, extra: str) -> Any:
    """Import an optional module that cannot be done without. Raises MissingExtra, which names the extra to install."""
    found = imported(module)
    if found is None:
        raise MissingExtra(package, extra)
    return found
