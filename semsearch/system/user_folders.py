"""Where what can be made again is kept: the user's folder for such things, as the operating system has it."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def cache_folder(kind: str) -> Path:
    """The folder for one kind of thing. It need not exist yet."""
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "semsearch" / kind
