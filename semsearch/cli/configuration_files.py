"""The configuration files: the project's semsearch.toml, looked for upwards, and the user's own."""

from __future__ import annotations

import os
from pathlib import Path

from semsearch.system.locations import config_folder, folders_above

NAME = "semsearch.toml"
_VARIABLES = tuple(
    f"SEMSEARCH_{name}" for name in ("SEARCH_", "SETTINGS_", "ASK", "SERVER", "RERANK", "MODEL_", "HISTORY_")
)


def project_file() -> Path | None:
    """The semsearch.toml of the current folder, or of the nearest folder above that has one; None without one."""
    here = Path(NAME)
    if here.is_file():
        return here.absolute()
    return next((path for path in folders_above(NAME) if path.is_file()), None)


def users_file() -> Path:
    """The user's own configuration. It need not exist."""
    return config_folder() / NAME


def is_configured() -> bool:
    """Whether there is a file or variable to read. If not, nothing more is imported."""
    return (
        any(name.startswith(_VARIABLES) for name in os.environ) or project_file() is not None or users_file().is_file()
    )
