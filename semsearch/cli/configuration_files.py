"""The configuration files: the project's semsearch.toml, looked for upwards, and the user's own.

They are found without platformdirs, whose import takes longer than all the rest, at every command.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from semsearch.system.locations import folders_above

NAME = "semsearch.toml"
_VARIABLES = tuple(f"SEMSEARCH_{name}" for name in ("SEARCH_", "SETTINGS_", "ASK", "SERVER", "RERANK"))


def project_file() -> Path | None:
    """The semsearch.toml of the current folder, or of the nearest folder above that has one; None without one."""
    here = Path(NAME)
    if here.is_file():
        return here.absolute()
    return next((path for path in folders_above(NAME) if path.is_file()), None)


def users_file() -> Path:
    """The user's own configuration. It need not exist."""
    return _users_folder() / NAME


def _users_folder() -> Path:
    """The folder that `semsearch.system.locations.config_folder` gives, for which a test looks."""
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or _home() / "AppData" / "Local") / "semsearch"
    if sys.platform == "darwin":
        return _home() / "Library" / "Application Support" / "semsearch"
    given = os.environ.get("XDG_CONFIG_HOME", "").strip()
    return Path(given if given else _home() / ".config") / "semsearch"


def _home() -> Path:
    """The user's home folder; a path that does not exist, for a user without one."""
    try:
        return _known_home()
    except RuntimeError:
        return Path("~")


def _known_home() -> Path:
    return Path.home()


def is_configured() -> bool:
    """Whether there is a file or variable to read. If not, nothing more is imported."""
    return (
        any(name.startswith(_VARIABLES) for name in os.environ) or project_file() is not None or users_file().is_file()
    )
