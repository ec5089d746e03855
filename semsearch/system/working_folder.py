"""The folder in which the process works: the one place that asks for it."""

from __future__ import annotations

from pathlib import Path


def working_folder() -> Path:
    """The current folder, absolute."""
    return Path.cwd()
