"""Where what can be made again is kept: the user's folder for such things, as the operating system has it."""

from __future__ import annotations

from pathlib import Path


def cache_folder(kind: str) -> Path:
    """The folder for one kind of thing. It need not exist yet."""
    from platformdirs import user_cache_path  # start-up time: 50 ms, and few runs keep anything

    return user_cache_path("semsearch", appauthor=False, opinion=False) / kind
