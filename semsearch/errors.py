"""Everything that can go wrong and is not a bug, as one tree: each class below is a `SemsearchError`.

Each message says what was found, what was expected and what to do. The command line prints it on one line and exits 2.
"""

from __future__ import annotations

import errno
import os
import shlex
import sys
from pathlib import Path


class SemsearchError(Exception):
    """The root of all errors that a user can cause or fix."""


class UsageError(SemsearchError, ValueError):
    """An invalid argument, such as k = 0."""


class SourceError(SemsearchError):
    """A path that cannot be read as a document."""

    digest = ""  # of the file's content, if that was read


class SourceChanged(SourceError):
    """A file is no longer what was indexed, where only that may be shown."""


class IndexNotFound(SemsearchError):
    """No index at a path, or several and none was named."""


class IndexExists(SemsearchError):
    """An index is there already."""


class IndexDamaged(SemsearchError):
    """A folder that is not an index, or whose parts disagree."""


class IndexOutdated(IndexDamaged):
    """An index of an earlier version, to be made again from its files."""


class IndexLocked(SemsearchError):
    """Another process is writing to the index."""


class IndexNotTrusted(SemsearchError):
    """An index names folders, stores or files that this user has not allowed it on this machine."""


class StorageError(SemsearchError):
    """The disk is full, read-only or failing; or a store cannot be reached."""


class VectorsError(SemsearchError):
    """Word vectors that cannot be found or read."""


class ModelError(SemsearchError):
    """A reranking model cannot be found or read."""


class VectorsMismatch(SemsearchError):
    """An index opened with other word vectors than it was built with."""


class FitError(SemsearchError):
    """Embedders that are not fitted, or that do not belong together."""


class ServerError(SemsearchError):
    """A server cannot be reached, or refuses: the token is wrong, or a limit is exceeded."""


RELEASED = False  # whether a package registry has semsearch; else it is installed from a checkout of its repository


def install_command(extra: str = "", *, distribution: str = ".") -> str:
    """The command that installs semsearch, or another distribution of its repository, with an extra.

    It is that of the program by which semsearch itself was installed: pip, pipx or uv.
    """
    parts, whole = Path(sys.prefix).parts, "semsearch" if RELEASED else "."
    if distribution == ".":
        program = (
            "pipx install --force" if "pipx" in parts else "uv tool install --force" if "uv" in parts else "pip install"
        )
        distribution = whole
    else:
        of_uv = f"uv tool install --force {whole} --with"
        program = "pipx inject semsearch" if "pipx" in parts else of_uv if "uv" in parts else "pip install"
        distribution = distribution.replace("./", "semsearch-") if RELEASED else distribution
    return f"{program} '{distribution}[{extra}]'" if extra else f"{program} {distribution}"


class MissingExtra(SemsearchError):
    """A package that a feature needs is not installed; without an extra, one that semsearch itself asks for."""

    def __init__(self, package: str, extra: str = "", *, distribution: str = ".") -> None:
        where = "" if RELEASED else " in a checkout of semsearch"
        missing = (
            f"the extra {extra} is not installed (it brings {package})" if extra else f"{package} is not installed"
        )
        super().__init__(f"{missing}; run{where}: {install_command(extra, distribution=distribution)}")


_REPEATED = 80  # characters
INVISIBLE = "\u061c\u200b\u200e\u200f\u2060-\u2064\u202a-\u202e\u2066-\u2069\ufeff"  # for [...]: hides or turns text


def quoted(question: object) -> str:
    """A question as messages repeat it: its beginning, if it is long."""
    if isinstance(question, str) and len(question) > _REPEATED:
        return f"{question[:_REPEATED].rstrip()!r}…"
    return repr(question)


def rebuild_command(folder: Path, *options: str) -> str:
    """The command that rebuilds an index, for error messages."""
    return index_command("index", "--rebuild", "--name", folder, *options)


def index_command(*words: str | Path) -> str:
    """A command of semsearch, for error messages. A bare folder name gets `./`, so that it is a path."""
    shown = [word if isinstance(word, str) else _shown(word) for word in ("semsearch", *words)]
    if os.name == "nt":
        from subprocess import list2cmdline  # which each start of a command would pay for

        return list2cmdline(shown)
    return shlex.join(shown)


def _shown(folder: Path) -> str:
    return folder.as_posix() if len(folder.parts) > 1 else f"./{folder.name}"


EXHAUSTED = {  # error numbers that blame the machine, not a file: it has too little of something; and what to do
    errno.ENOSPC: "make room and try again",
    errno.EMFILE: "raise the limit with ulimit -n",
    errno.ENFILE: "close other programs",
    errno.ENOMEM: "close other programs, or raise the limit with ulimit -v",
}


def is_resource_exhaustion(error: OSError) -> bool:
    """Return whether a resource of the machine is exhausted: then no file is to blame, and none may be skipped."""
    return error.errno in EXHAUSTED
