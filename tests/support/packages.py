"""Packages that few tests need: a test file names them at its top, and they are imported when a test uses them.

Every process of a run reads every test file, and what these packages import would be most of that work.
"""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any

import pytest


class Later:
    """A module that is imported when something of it is used."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # pytest looks whether it is a fixture
            raise AttributeError(name)
        return getattr(importlib.import_module(self._name), name)


def needed(package: str, *, reason: str = "") -> Any:
    """A package that all tests of a file need: the file is skipped where it is not installed."""
    if importlib.util.find_spec(package) is None:
        pytest.skip(reason or f"{package} is not installed", allow_module_level=True)
    return Later(package)
