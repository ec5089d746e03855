"""`AsyncIndex`: an index for programs of asyncio. Each call runs in a thread, and the event loop goes on meanwhile."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, Unpack

from semsearch.index import Index
from semsearch.indexing.progress_reports import Report, Reporting, reporting
from semsearch.results.context import Context
from semsearch.results.floor import FLOOR
from semsearch.results.hit_list import Hits
from semsearch.results.hits import Hit, Mode
from semsearch.results.options import SearchKeywords, SearchOptions, Syntax
from semsearch.results.state.reports import Progress, Status, SyncReport
from semsearch.word_vectors.loading import WordVectorsLike

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from distributed import Client

    from semsearch.indexing.reading.given_texts import DataTable, Given
    from semsearch.results.contents.documents import DocumentInfo, DocumentText
    from semsearch.results.explanation import Explanation
    from semsearch.results.reranker import Reranker

Result = TypeVar("Result")

_PAGE = 1000  # documents that are listed at a time


class AsyncIndex:
    """An index whose methods are awaited: those of `Index`, which explains them, with the same arguments and results.

    A search whose task is cancelled goes on in its thread, and nobody sees its hits. A write whose task is cancelled
    stops where it is and changes nothing, unless it was done already; the task ends when the write has. An async
    context manager, closed at its end.
    """

    def __init__(self, index: Index) -> None:
        self.index = index

    @classmethod
    def open(
        cls,
        path: str | Path,
        *,
        vectors: WordVectorsLike | None = None,
        reranker: Reranker | str | None = None,
        create: bool = False,
    ) -> AsyncIndex:
        """Open an existing index, or make one with `create`, as `Index.open` does.

        It takes milliseconds, but for a model as the reranker, which is better opened before, in a thread.
        """
        return cls(Index.open(path, vectors=vectors, reranker=reranker, create=create))

    # -- asking --------------------------------------------------------------------------------------------------

    async def search(
        self,
        query: str,
        k: int | None = None,
        *,
        options: SearchOptions | None = None,
        **keywords: Unpack[SearchKeywords],
    ) -> Hits:
        """Find the k passages that answer a query best, best first."""
        return await asyncio.to_thread(partial(self.index.search, query, k, options=options, **keywords))

    async def search_many(
        self,
        queries: Iterable[str],
        k: int | None = None,
        *,
        options: SearchOptions | None = None,
        **keywords: Unpack[SearchKeywords],
    ) -> list[Hits]:
        """Find the hits of each of several queries."""
        return await asyncio.to_thread(partial(self.index.search_many, queries, k, options=options, **keywords))

    async def similar(
        self,
        like: Hit | str | Path,
        line: int | None = None,
        k: int | None = None,
        *,
        options: SearchOptions | None = None,
        **keywords: Unpack[SearchKeywords],
    ) -> Hits:
        """Find the k passages most similar to a passage or document of the index."""
        return await asyncio.to_thread(partial(self.index.similar, like, line, k, options=options, **keywords))

    async def explain(self, query: str, hit: Hit, *, mode: Mode | None = None) -> Explanation:
        """Explain the score of a hit's passage for a query."""
        return await asyncio.to_thread(self.index.explain, query, hit, mode=mode)

    async def context(
        self,
        query: str,
        *,
        max_words: int = 800,
        mode: Mode = "hybrid",
        filters: Sequence[str] = (),
        syntax: Syntax = "full",
        floor: float = FLOOR,
    ) -> Context:
        """Assemble the best passages for a query as text for a language model."""
        ask = partial(self.index.context, query, max_words=max_words, mode=mode, filters=filters)
        return await asyncio.to_thread(ask, syntax=syntax, floor=floor)

    async def embed(self, texts: Iterable[str]) -> npt.NDArray[np.float32]:
        """Embed texts as the index embeds its sentences. (n) -> (n, d)"""
        return await asyncio.to_thread(self.index.embed, texts)

    # -- contents ------------------------------------------------------------------------------------------------

    async def documents(self, filters: Sequence[str] = ()) -> AsyncIterator[DocumentInfo]:
        """List the documents of the index that pass all filters, some at a time."""
        listed = self.index.documents(filters)
        while page := await asyncio.to_thread(lambda: list(islice(listed, _PAGE))):
            for document in page:
                yield document

    def __aiter__(self) -> AsyncIterator[DocumentInfo]:
        return self.documents()

    async def document(self, name: str | Path) -> DocumentText:
        """Return a document, by its path or by the id that a program gave it."""
        return await asyncio.to_thread(self.index.document, name)

    async def status(self, *, drift: bool = True, stale: bool = True) -> Status:
        """Return counts, settings and size."""
        return await asyncio.to_thread(self.index.status, drift=drift, stale=stale)

    # -- writing -------------------------------------------------------------------------------------------------

    async def sync(
        self,
        *paths: str | Path,
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
        prune: bool = False,
        cluster: str | Client | None = None,
        progress: Reporting = None,
    ) -> SyncReport:
        """Bring the index up to date with files and folders, or with all its roots."""
        write = partial(self.index.sync, *paths, include=include, exclude=exclude, prune=prune, cluster=cluster)
        return await _written(lambda report: write(progress=report), progress)

    async def add(
        self,
        documents: Iterable[Given] | DataTable,
        *,
        id_key: str = "id",
        text_key: str = "text",
        cluster: str | Client | None = None,
        progress: Reporting = None,
    ) -> SyncReport:
        """Add texts that are in no file; a text whose id is known replaces the earlier one."""
        write = partial(self.index.add, documents, id_key=id_key, text_key=text_key, cluster=cluster)
        return await _written(lambda report: write(progress=report), progress)

    async def remove(self, *paths: str | Path) -> int:
        """Remove files, folders, whole roots, or added texts; returns the number of documents removed."""
        return await _written(lambda _: self.index.remove(*paths), None)

    async def refit(self, *, cluster: str | Client | None = None, progress: Reporting = None) -> SyncReport:
        """Fit weights and components to the text that the index holds today, and make all vectors anew."""
        return await _written(lambda report: self.index.refit(cluster=cluster, progress=report), progress)

    async def close(self) -> None:
        """Close the files. A closed index opens them again when it is used."""
        await asyncio.to_thread(self.index.close)

    async def __aenter__(self) -> AsyncIndex:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"AsyncIndex({str(self.index.path)!r})"


class _Stopped(BaseException):
    """A write was cancelled. No handler of errors may take it for a fault of a file."""


async def _written(write: Callable[[Report], Result], progress: Reporting) -> Result:
    """Run a write in a thread. If this task is cancelled, stop the write at its next report, and wait for its end."""
    loop, cancelled = asyncio.get_running_loop(), threading.Event()

    def work() -> Result:
        with reporting(progress) as report:

            def go_on(found: Progress) -> None:
                if cancelled.is_set():
                    raise _Stopped
                if progress is True and report is not None:
                    report(found)
                elif report is not None:
                    loop.call_soon_threadsafe(partial(report, found))  # in the loop's thread, where the program lives

            return write(go_on)

    running = loop.run_in_executor(None, work)
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        cancelled.set()
        await asyncio.wait([running])
        with suppress(BaseException):
            running.result()  # seen, so that nobody warns of it
        raise
