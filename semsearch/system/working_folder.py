"""The current folder of the process. Nothing else asks for it."""

from __future__ import annotations

from pathlib import Path


def working_folder() -> Path:
    """The absolute path of the current folder."""
    return Path.cwd()
