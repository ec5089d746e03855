"""The token of the user's servers: made at the first start, in the configuration folder, for nobody else to read."""

from __future__ import annotations

import os
import secrets
import stat
from pathlib import Path

from semsearch.errors import StorageError
from semsearch.system.user_folders import config_folder

_BYTES = 32
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def token_path() -> Path:
    """The path of the file that holds the token."""
    return config_folder() / "server-token"


def read_token(path: Path) -> str | None:
    """Read the token; None if there is none. Raises StorageError if others may read the file, or it cannot be read."""
    try:
        if os.name != "nt" and path.stat().st_mode & _OTHERS:
            raise StorageError(f"others can read {path}, which holds the server's token; delete it: a new one is made")
        token = path.read_text(encoding="ascii").strip()
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise StorageError(f"{path} cannot be read ({error}); delete it: a new one is made") from error
    if len(token) < _BYTES:
        raise StorageError(f"{path} holds no token; delete it: a new one is made")
    return token


def make_token(path: Path) -> str:
    """Return the token, made now if there is none. Of two processes that make one, both get the same."""
    token = read_token(path)
    if token is not None:
        return token
    from filelock import FileLock  # start-up time

    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with FileLock(path.with_name(path.name + ".lock")):
            return read_token(path) or _written(path)
    except OSError as error:
        raise StorageError(f"the server's token cannot be written to {path} ({error.strerror})") from error


def _written(path: Path) -> str:
    """Write a new token. The file is the user's alone from its first moment, and whole when it has its name."""
    token = secrets.token_urlsafe(_BYTES)
    temporary = path.with_name(path.name + ".tmp")
    temporary.unlink(missing_ok=True)
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(token + "\n")
    temporary.replace(path)
    return token
