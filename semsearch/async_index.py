"""`AsyncIndex`: an index for programs of asyncio. Each call runs in a thread, and the event loop goes on meanwhile.

Its methods are made of those of `Index`, one line each: names, arguments, results and docstrings are theirs, for a type
checker too.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Generator, Iterator
from contextlib import suppress
from functools import partial, wraps
from inspect import signature
from itertools import islice
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from semsearch.index import Index

Given = ParamSpec("Given")
Item = TypeVar("Item")
Result = TypeVar("Result")

if TYPE_CHECKING:
    from semsearch.results.documents import DocumentInfo

    _Awaited = Callable[Concatenate["AsyncIndex", Given], Coroutine[Any, Any, Result]]
    _Iterated = Callable[Concatenate["AsyncIndex", Given], AsyncIterator[Item]]

_PAGE = 1000  # documents that are listed at a time


def _awaited(method: Callable[Concatenate[Index, Given], Result]) -> _Awaited[Given, Result]:
    """A method that asks, in a thread."""

    @wraps(method)
    async def awaited(self: AsyncIndex, /, *args: Given.args, **keywords: Given.kwargs) -> Result:
        return await asyncio.to_thread(method, self.index, *args, **keywords)

    return awaited


def _listed(method: Callable[Concatenate[Index, Given], Iterator[Item]]) -> _Iterated[Given, Item]:
    """A method that lists, some at a time."""

    @wraps(method)
    async def listed(self: AsyncIndex, /, *args: Given.args, **keywords: Given.kwargs) -> AsyncIterator[Item]:
        items = await asyncio.to_thread(method, self.index, *args, **keywords)
        while page := await asyncio.to_thread(lambda: list(islice(items, _PAGE))):
            for item in page:
                yield item

    return listed


def _written(method: Callable[Concatenate[Index, Given], Result]) -> _Awaited[Given, Result]:
    """A method that writes: if its task is cancelled, it stops at its next report, and the task waits for its end."""
    reports = "progress" in signature(method).parameters

    @wraps(method)
    async def written(self: AsyncIndex, /, *args: Given.args, **keywords: Given.kwargs) -> Result:
        cancelled, arguments = threading.Event(), dict[str, Any](keywords)
        if reports:
            arguments["progress"] = _reporter(arguments.get("progress"), cancelled)
        write: Callable[..., Result] = method
        return await _to_the_end(partial(write, self.index, *args, **arguments), cancelled)

    return written


def _followed(method: Callable[Concatenate[Index, Given], Iterator[Item]]) -> _Iterated[Given, Item]:
    """A method that yields until its `stop` is set: also when its task is cancelled, or its iterator closed."""

    @wraps(method)
    async def followed(self: AsyncIndex, /, *args: Given.args, **keywords: Given.kwargs) -> AsyncIterator[Item]:
        cancelled, arguments = threading.Event(), dict[str, Any](keywords)
        stop = arguments["stop"] = arguments.get("stop") or threading.Event()
        arguments["progress"] = _reporter(arguments.get("progress"), cancelled)
        follow: Callable[..., Iterator[Item]] = method
        items, end = await asyncio.to_thread(partial(follow, self.index, *args, **arguments)), object()
        try:
            while (item := await _to_the_end(partial(next, items, end), cancelled, stop)) is not end:
                yield item
        finally:
            stop.set()
            if isinstance(items, Generator):
                await asyncio.to_thread(items.close)

    return followed


def _opened(make: Callable[Given, Index]) -> Callable[Concatenate[type[AsyncIndex], Given], AsyncIndex]:
    """A way to open an index, which takes milliseconds, but for a model as the reranker, or a place far away."""

    @wraps(getattr(make, "__func__", make))  # of a class method, with its first parameter
    def opened(cls: type[AsyncIndex], /, *args: Given.args, **keywords: Given.kwargs) -> AsyncIndex:
        return cls(make(*args, **keywords))

    return opened


class AsyncIndex:
    """An index whose methods are awaited: those of `Index`, which explains them, with the same arguments and results.

    A search whose task is cancelled goes on in its thread, and its hits are dropped. A write whose task is cancelled
    stops where it is and changes nothing, unless it was done already; the task ends when the write has. `open` and
    `create` are not awaited: they take milliseconds, but for a model as the reranker, or a place that is fetched from,
    which are better opened in a thread. An async context manager, closed at its end.
    """

    def __init__(self, index: Index) -> None:
        self.index = index

    open = classmethod(_opened(Index.open))
    create = classmethod(_opened(Index.create))

    search = _awaited(Index.search)
    search_many = _awaited(Index.search_many)
    similar = _awaited(Index.similar)
    explain = _awaited(Index.explain)
    explain_hit = _awaited(Index.explain_hit)
    context = _awaited(Index.context)
    embed = _awaited(Index.embed)

    documents = _listed(Index.documents)
    document = _awaited(Index.document)
    texts = _listed(Index.texts)
    passages = _awaited(Index.passages)
    page = _awaited(Index.page)
    page_picture = _awaited(Index.page_picture)
    file = _awaited(Index.file)
    facets = _awaited(Index.facets)
    export = _awaited(Index.export)

    status = _awaited(Index.status)
    problems = _awaited(Index.problems)
    checkup = _awaited(Index.checkup)
    verify = _awaited(Index.verify)

    sync = _written(Index.sync)
    watch = _followed(Index.watch)
    add = _written(Index.add)
    load = _written(Index.load)
    remove = _written(Index.remove)
    remove_texts = _written(Index.remove_texts)
    refit = _written(Index.refit)
    compact = _written(Index.compact)
    rebuild = _written(Index.rebuild)
    describe = _written(Index.describe)
    discard = _written(Index.discard)

    map = _written(Index.map)
    map_there = _awaited(Index.map_there)
    map_status = _awaited(Index.map_status)
    map_coloured = _awaited(Index.map_coloured)
    map_passages = _awaited(Index.map_passages)

    close = _awaited(Index.close)

    def __aiter__(self) -> AsyncIterator[DocumentInfo]:
        return self.documents()

    async def __aenter__(self) -> AsyncIndex:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"AsyncIndex({str(self.index.path)!r})"


class _Stopped(BaseException):
    """A write was cancelled. No handler of errors may take it for a fault of a file."""


def _reporter(progress: Any, cancelled: threading.Event) -> Any:
    """What a write calls with its progress: the program's function, in the loop's thread; a bar is drawn as it is."""
    if isinstance(progress, bool):
        return progress
    loop = asyncio.get_running_loop()

    def report(step: Any) -> None:
        if cancelled.is_set():
            raise _Stopped
        if progress is not None:
            loop.call_soon_threadsafe(progress, step)

    return report


async def _to_the_end(work: Callable[[], Result], *stops: threading.Event) -> Result:
    """Work in a thread. If this task is cancelled, set what stops the work, and wait for its end."""
    running = asyncio.get_running_loop().run_in_executor(None, work)
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        for stop in stops:
            stop.set()
        await asyncio.wait([running])
        with suppress(BaseException):
            running.result()  # retrieved, so that asyncio does not warn of it
        raise
