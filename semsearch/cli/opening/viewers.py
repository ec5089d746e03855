"""Open a file in the program that the system has for it: a PDF, a letter, a presentation."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from semsearch.cli.opening.running import start
from semsearch.errors import UsageError


def view(path: Path, format: str) -> bool:
    """Open a file in the system's viewer; False where there is none.

    False as well for a file whose name is not one of its format: the system goes by the name, and would run a program
    that only begins like a PDF.
    """
    if not _is_named_as(path, format):
        return False
    if sys.platform == "win32":
        try:
            os.startfile(path.absolute())
        except OSError as error:
            raise UsageError(f"{path} cannot be opened: {error.strerror}") from None
        return True
    program = _opener()
    if program is None:
        return False
    start([program, str(path.absolute())])
    return True


def _opener() -> str | None:
    """The program that opens a file in the viewer for it. Without a screen there is none."""
    if _platform() == "darwin":
        return shutil.which("open")
    if os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"):
        return shutil.which("xdg-open") or shutil.which("wslview")
    return None


def _platform() -> str:
    return sys.platform


def _is_named_as(path: Path, format: str) -> bool:
    from semsearch.readers.registry import FORMATS  # start-up time: few hits are of files without lines

    known = FORMATS.get(format)
    return known is not None and path.suffix.lower() in known.suffixes
