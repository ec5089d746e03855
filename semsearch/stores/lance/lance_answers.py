"""Ask Lance: within the time that a question may take, with errors that say what to do. Lance is imported here."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Callable, Iterator
from concurrent.futures import Future, TimeoutError as FutureTimeout
from contextlib import contextmanager
from threading import Thread
from typing import Any, TypeVar

from semsearch.errors import IndexDamaged, MissingExtra, StorageError
from semsearch.stores.lance.place_address import LanceAddress

Result = TypeVar("Result")

_GONE = ("was not found", "Not found:", "not found: ", "No such file", "NoSuchKey")  # what Lance says of a lost file


def lance_package() -> Any:
    """Import Lance. Raises MissingExtra."""
    os.environ.setdefault("LANCE_LOG", "error")  # it warns on stderr of each request that it sends again
    try:
        import lance  # an optional package
    except ImportError as error:
        raise MissingExtra("pylance", "lance") from error
    return lance


def ask(address: LanceAddress, work: Callable[[], Result], *, name: str | None = None, times: float = 1) -> Result:
    """Do some work that asks the store, in `times` the time that a question may take on an object store.

    Lance tries again by itself, and cannot be told for how long. What it still asks then comes to its end in its
    thread, which must not be a daemon: Lance would abort a process that ends meanwhile. Errors: see `reached`.
    """
    with reached(address, name):
        if address.folder is not None:
            return work()
        answer: Future[Result] = Future()
        Thread(target=_answer, args=(answer, work), name="semsearch-lance-asking").start()
        try:
            return answer.result(address.seconds * times)
        except FutureTimeout as error:
            raise StorageError(
                f"{address.base} has not answered within {address.seconds * times:.3g} seconds; try again, "
                "or allow more with a place that ends in ?timeout=SECONDS"
            ) from error


@contextmanager
def reached(address: LanceAddress, name: str | None = None) -> Iterator[None]:
    """Translate errors of Lance: StorageError, or what is wrong with a table that is read.

    That is FileNotFoundError, with its name, if it is gone, and IndexDamaged if the operating system read it and
    Lance does not understand it.
    """
    try:
        yield
    except (OSError, ValueError, RuntimeError) as error:
        is_lost = isinstance(error, FileNotFoundError)
        if is_lost and name is None:
            raise
        said = str(error)
        is_lost = is_lost or (any(each in said for each in _GONE) and "NoSuchBucket" not in said)
        if is_lost and name is not None:
            raise FileNotFoundError(errno.ENOENT, "no such segment", name) from error
        if address.folder is not None and name is not None and "os error" not in said:
            raise IndexDamaged(
                f"{name} in {address.base} cannot be read: {_short(said)}; run: semsearch index --rebuild"
            ) from error
        what = "its disk" if address.folder is not None else "its address, the network and the credentials"
        raise StorageError(f"{address.base} cannot be read or written: {_short(said)}; look at {what}") from error


def _answer(answer: Future[Result], work: Callable[[], Result]) -> None:
    try:
        answer.set_result(work())
    except BaseException as error:
        answer.set_exception(error)


def _short(said: str) -> str:
    """The beginning of an error of Lance, without its place in Lance's source."""
    if message := re.search(r"<Message>(.*?)</Message>", said):
        return message[1]
    first = said.partition("\n")[0].partition(", /")[0].removeprefix("LanceError(IO): ")
    return first if len(first) <= 300 else f"{first[:300]}..."
