"""Run another program on this terminal: no shell, and Ctrl-C is the program's own while it runs."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import threading
from collections.abc import Iterator, Sequence

from semsearch.errors import UsageError


def run(command: Sequence[str], *, text: str | None = None) -> int:
    """Run a program until it ends, with a text on its standard input if one is given; its exit status.

    A program that does not read all of the text, as a pager that is left, is no error. Raises UsageError for one that
    cannot be started.
    """
    given = None if text is None else text.encode("utf-8", "replace")
    with _interrupts_left_to_it():
        try:
            done = subprocess.run(command, input=given, check=False)
        except OSError as error:
            raise UsageError(f"{command[0]} cannot be started: {error.strerror or error}") from None
    return done.returncode


def start(command: Sequence[str]) -> None:
    """Start a program with a window of its own, and do not wait for it."""
    nothing = subprocess.DEVNULL
    try:
        process = subprocess.Popen(command, stdin=nothing, stdout=nothing, stderr=nothing, start_new_session=True)
    except OSError as error:
        raise UsageError(f"{command[0]} cannot be started: {error.strerror or error}") from None
    threading.Thread(target=process.wait, daemon=True).start()  # so that no ended process is left over


@contextlib.contextmanager
def _interrupts_left_to_it() -> Iterator[None]:
    """Let Ctrl-C do nothing here. Not SIG_IGN, which the program would inherit."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
