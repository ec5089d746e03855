"""Whether `semsearch` without a command begins the interactive search: on a terminal, where there is an index."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from pathlib import Path

from semsearch.cli.configuration.configuration import read_configuration
from semsearch.cli.index_folders import folders_of_indexes, index_folders
from semsearch.errors import SemsearchError


def is_offered() -> bool:
    """Whether to begin. Otherwise the help is shown, also where the configuration is wrong."""
    try:
        return on_terminal() and find_spec("prompt_toolkit") is not None and _has_index()
    except SemsearchError:
        return False


def on_terminal() -> bool:
    """Whether there is a terminal that can be drawn on."""
    return sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def _has_index() -> bool:
    general = read_configuration().of("")
    if general.get("server") or general.get("ask"):
        return True
    given = general.get("indexes")
    return any(index_folders(folder) for folder in folders_of_indexes(Path(given) if given else None))
