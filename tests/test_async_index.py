"""An index that is awaited answers as the index does; a cancelled write leaves nothing behind."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest
from small import write_articles

from semsearch import AsyncIndex, Index, VectorTable
from semsearch.errors import UsageError
from semsearch.results.reports import Progress


@pytest.fixture
def index(tmp_path: Path, small_vectors: VectorTable) -> AsyncIndex:
    write_articles(tmp_path / "docs", 6)
    with Index.create(tmp_path / "index", vectors=small_vectors) as made:
        made.sync(tmp_path / "docs")
    return AsyncIndex.open(tmp_path / "index")


def test_it_answers_as_the_index_does(index: AsyncIndex) -> None:
    here = index.index

    async def ask() -> None:
        async with index:
            hits = await index.search("a ship", 3, mode="hybrid")
            assert hits == here.search("a ship", 3)
            assert await index.search_many(["ship", "bread"]) == here.search_many(["ship", "bread"])
            assert await index.similar(hits[0]) == here.similar(hits[0])
            assert await index.explain("a ship", hits[0]) == here.explain("a ship", hits[0])
            assert await index.context("a ship") == here.context("a ship")
            assert (await index.embed(["a ship"])).tolist() == here.embed(["a ship"]).tolist()
            assert [document async for document in index] == [*here]
            assert [one.path async for one in index.documents(["sea*"])] == [
                one.path for one in here.documents(["sea*"])
            ]
            assert await index.document(hits[0].path) == here.document(hits[0].path)
            assert await index.status() == here.status()

    asyncio.run(ask())


def test_it_writes_as_the_index_does(index: AsyncIndex, tmp_path: Path) -> None:
    told: list[Progress] = []
    threads: set[int] = set()

    def note(found: Progress) -> None:
        told.append(found)
        threads.add(threading.get_ident())

    async def write() -> None:
        assert (await index.add([("a", "A bee.")], progress=note)).added == 1
        write_articles(tmp_path / "docs", 7)
        assert (await index.sync(progress=note)).added == 1
        assert await index.remove("a") == 1
        assert (await index.refit()).refitted
        with pytest.raises(UsageError):
            await index.search("")
        assert len(index.index) == 7
        await index.close()

    asyncio.run(write())
    assert {found.phase for found in told} == {"looking", "reading", "embedding", "writing"}
    assert threads == {threading.get_ident()}  # the loop's


def test_a_cancelled_search_disturbs_no_other(index: AsyncIndex) -> None:
    async def ask() -> int:
        task = asyncio.create_task(index.search("ship"))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return len(await index.search("ship", 2))

    assert asyncio.run(ask()) == 2


def test_a_cancelled_write_changes_nothing_and_has_ended(index: AsyncIndex, caplog: pytest.LogCaptureFixture) -> None:
    async def cancel() -> None:
        begun, go_on = asyncio.Event(), threading.Event()
        loop = asyncio.get_running_loop()

        def documents() -> object:
            yield ("a", "A bee.")
            loop.call_soon_threadsafe(begun.set)
            go_on.wait()
            yield ("b", "A ship.")

        task = asyncio.create_task(index.add(documents()))  # type: ignore[arg-type]
        await begun.wait()
        task.cancel()
        loop.call_later(0.01, go_on.set)
        with pytest.raises(asyncio.CancelledError):
            await task
        assert (await index.add([("c", "A moon.")])).added == 1  # the lock is free

    asyncio.run(cancel(), debug=True)
    assert "a" not in index.index
    assert "c" in index.index
    assert index.index.verify() == []
    assert "never retrieved" not in caplog.text


def test_it_follows_files_until_its_task_is_cancelled(index: AsyncIndex, tmp_path: Path) -> None:
    pytest.importorskip("watchfiles", reason="an optional dependency")
    stop, seen = threading.Event(), list[int]()

    async def follow(stop: threading.Event | None) -> None:
        async for report in index.watch(stop=stop):
            seen.append(report.unchanged + report.added)
            if stop is not None:
                stop.set()

    async def cancel() -> None:
        await follow(stop)
        task = asyncio.create_task(follow(None))
        while len(seen) < 2:
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert (await index.add([("a", "A bee.")])).added == 1  # the lock is free

    asyncio.run(cancel(), debug=True)
    assert len(seen) == 2
