"""Requests that come together are answered together: several queries at once cost much less than one after the other.

While as many batches run as may, requests wait; the next batch takes all that wait and ask alike. So nothing waits
where there is little to do, and where there is much the batches grow and the server keeps up.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from typing import Generic, TypeVar

from semsearch.errors import SemsearchError
from semsearch.serve.problems import refused
from semsearch.serve.work_pool import WorkPool

Item = TypeVar("Item")
Result = TypeVar("Result")
_MOST = 32  # requests of a batch: more would keep others waiting for long, and gain little


@dataclass(frozen=True, slots=True)
class _Batch(Generic[Item, Result]):
    """Requests that ask alike, each with the future of its answer."""

    answer: Callable[[Sequence[Item]], Sequence[Result]]
    items: list[Item]
    futures: list[asyncio.Future[Result]]

    def split(self) -> tuple[_Batch[Item, Result], _Batch[Item, Result]]:
        """The requests that are answered now, and those that wait for the next batch."""
        return (
            _Batch(self.answer, self.items[:_MOST], self.futures[:_MOST]),
            _Batch(self.answer, self.items[_MOST:], self.futures[_MOST:]),
        )

    def run(self) -> Sequence[Result | SemsearchError]:
        """The answers of all requests. One that makes no sense does not spoil those of the others."""
        try:
            return self.answer(self.items)
        except SemsearchError as error:
            if len(self.items) == 1:
                return [error]
            return [_alone(self.answer, item) for item in self.items]

    def resolve(self, done: asyncio.Future[Sequence[Result | SemsearchError]]) -> None:
        """Give each request its answer."""
        failure = _stopping() if done.cancelled() else done.exception()
        if failure is not None:
            for future in self.futures:
                _fail(future, failure)
            return
        for future, result in zip(self.futures, done.result(), strict=True):
            if isinstance(result, SemsearchError):
                _fail(future, result)
            elif not future.done():
                future.set_result(result)


class RequestCombiner(Generic[Item, Result]):
    """Answers requests in batches, in the threads of a pool. To be used in one event loop."""

    def __init__(self, pool: WorkPool, *, parallel: int) -> None:
        self._pool = pool
        self._parallel = parallel  # batches at a time
        self._running = 0
        self._waiting: dict[Hashable, _Batch[Item, Result]] = {}

    async def run(
        self, key: Hashable, item: Item, answer: Callable[[Sequence[Item]], Sequence[Result]], client: str | None
    ) -> Result:
        """Answer a request, together with others of the same key that wait.

        `answer` is given several requests and returns their answers, in order. Raises RequestRefused as
        `WorkPool.run`, and the error of the request.
        """
        release = self._pool.take_room(client)
        future: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        future.add_done_callback(lambda _: release())
        batch = self._waiting.setdefault(key, _Batch(answer, [], []))
        batch.items.append(item)
        batch.futures.append(future)
        self._start()
        return await self._pool.in_time(asyncio.shield(future))

    def _start(self) -> None:
        """Begin batches while there are threads for them, those first that have waited longest."""
        while self._waiting and self._running < self._parallel:
            key = next(iter(self._waiting))
            batch, rest = self._waiting.pop(key).split()
            if rest.items:
                self._waiting[key] = rest
            self._running += 1
            running = asyncio.wrap_future(self._pool.start(batch.run))
            running.add_done_callback(partial(self._finish, batch))

    def _finish(self, batch: _Batch[Item, Result], done: asyncio.Future[Sequence[Result | SemsearchError]]) -> None:
        self._running -= 1
        batch.resolve(done)
        self._start()


def _alone(answer: Callable[[Sequence[Item]], Sequence[Result]], item: Item) -> Result | SemsearchError:
    try:
        (found,) = answer([item])
    except SemsearchError as error:
        return error
    return found


def _stopping() -> SemsearchError:
    return refused(HTTPStatus.SERVICE_UNAVAILABLE, "the server is being stopped", retry_after="5")


def _fail(future: asyncio.Future[Result], error: BaseException) -> None:
    if not future.done():
        future.set_exception(error)
        future.exception()  # taken note of, should nobody wait for it any more
