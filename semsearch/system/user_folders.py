"""The user's folders, where the operating system has them: for files that can be made again, and for settings."""

from __future__ import annotations

import os
from pathlib import Path


def cache_folder(kind: str) -> Path:
    """The cache folder for one kind of file. It need not exist yet."""
    from platformdirs import user_cache_path  # start-up time: 50 ms, and few runs keep anything

    return user_cache_path("semsearch", appauthor=False, opinion=False) / kind


def config_folder() -> Path:
    """The folder for what the user has decided, or what was decided once for all. It need not exist yet."""
    from platformdirs import user_config_path  # start-up time, as above

    return user_config_path("semsearch", appauthor=False)


def data_folder() -> Path:
    """The folder for what the user keeps and no project has: $SEMSEARCH_HOME, if it is set. It need not exist yet."""
    if home := os.environ.get("SEMSEARCH_HOME"):
        return Path(home).expanduser()
    from platformdirs import user_data_path  # start-up time, as above

    return user_data_path("semsearch", appauthor=False)
