"""Requests that come together are answered together, each with its own answer."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from serving import running

from semsearch.errors import UsageError
from semsearch.index import Index
from semsearch.server.open_indexes import OpenIndexes
from semsearch.server.problems import RequestRefused
from semsearch.server.work_pool import RequestBatches, WorkPool


class Held:
    """Answers numbers with their squares, once it is let go; the batches that it was asked for."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []
        self.go = threading.Event()

    def __call__(self, items: Sequence[int]) -> list[int]:
        self.batches.append(list(items))
        self.go.wait()
        if -1 in items:
            raise UsageError("minus one")
        if -2 in items:
            raise ZeroDivisionError
        return [item * item for item in items]


async def answers_of(
    items: Sequence[int], held: Held, keys: Sequence[str] | None = None, *, room: int = 999
) -> list[object]:
    """Ask for all at once, with one batch at a time; the answers and errors, in order."""
    pool = WorkPool(threads=2, room=room, share=room, seconds=60)
    batches = RequestBatches[int, int](pool, held, parallel=1)
    asked = [
        asyncio.ensure_future(batches.run(key, item, None))
        for key, item in zip(keys or ["a"] * len(items), items, strict=True)
    ]
    while len(held.batches) < 1:
        await asyncio.sleep(0)  # all have asked by then
    held.go.set()
    found: list[object] = await asyncio.gather(*asked, return_exceptions=True)
    pool.close()
    return found


def test_requests_that_wait_are_one_batch() -> None:
    held = Held()
    assert asyncio.run(answers_of(range(6), held)) == [0, 1, 4, 9, 16, 25]
    assert held.batches == [[0], [1, 2, 3, 4, 5]]


def test_a_batch_is_bounded() -> None:
    held = Held()
    assert asyncio.run(answers_of(range(70), held)) == [number**2 for number in range(70)]
    assert [len(batch) for batch in held.batches] == [1, 32, 32, 5]


def test_only_what_asks_alike_is_together() -> None:
    held = Held()
    asyncio.run(answers_of([1, 2, 3, 4, 5], held, ["a", "b", "a", "b", "c"]))
    assert held.batches == [[1], [2, 4], [3], [5]]


def test_one_that_makes_no_sense_spoils_no_other() -> None:
    found = asyncio.run(answers_of([1, 2, -1, 3], Held()))
    assert isinstance(found[2], UsageError)
    assert [found[0], found[1], found[3]] == [1, 4, 9]


def test_a_bug_is_an_error_of_each() -> None:
    found = asyncio.run(answers_of([1, 2, -2], Held()))
    assert found[0] == 1
    assert isinstance(found[1], ZeroDivisionError)
    assert isinstance(found[2], ZeroDivisionError)


def test_what_there_is_no_room_for_is_refused() -> None:
    found = asyncio.run(answers_of([1, 2, 3], Held(), room=2))
    assert found[:2] == [1, 4]
    assert isinstance(found[2], RequestRefused)


def test_searches_that_come_together_have_the_hits_of_each_alone(folder: Path) -> None:
    queries = [f"a {word} in the storm" for word in ("ship", "judge", "violin", "captain", "oven")] * 8
    with Index.open(folder / "indexes" / "docs") as index:
        alone = {query: [hit.passage_id for hit in index.search(query, 5)] for query in queries}
    with running(OpenIndexes(folder=folder / "indexes")) as asker, ThreadPoolExecutor(len(queries)) as clients:
        replies = clients.map(lambda query: asker.get("/v1/search", index="docs", query=query, k=5), queries)
        for query, reply in zip(queries, replies, strict=True):
            assert reply.json["query"] == query
            assert [hit["passage_id"] for hit in reply.json["hits"]] == alone[query]


@pytest.mark.parametrize("query", ["?!", ""])
def test_a_query_without_words_is_told_so_in_a_crowd(folder: Path, query: str) -> None:
    with running(OpenIndexes(folder=folder / "indexes")) as asker, ThreadPoolExecutor(16) as clients:
        asked = [query if number % 4 == 0 else "a ship" for number in range(32)]
        replies = clients.map(lambda one: asker.post("/v1/search", {"index": "docs", "query": one}).status, asked)
        assert list(replies) == [400 if one == query else 200 for one in asked]
