"""Too much at once: what there is no room for is shed with 503, and once there is room again all goes on."""

from __future__ import annotations

import json
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from serving import running
from starlette.exceptions import HTTPException

from semsearch.index import Index
from semsearch.results.hits import Hits
from semsearch.server.open_indexes import OpenIndexes
from semsearch.server.running import ServerSettings
from semsearch.server.work_pool import WorkPool
from semsearch.system.parallel import until_abandoned


class HeldIndexes(OpenIndexes):
    """Indexes that answer only once they are let go, and say how many are asked meanwhile."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder=folder)
        self.asked = threading.Semaphore(0)
        self.go = threading.Event()

    def get(self, name: str | None) -> Index:
        self.asked.release()
        self.go.wait()
        return super().get(name)


def test_what_there_is_no_room_for_is_shed_and_the_rest_is_answered(folder: Path) -> None:
    held = HeldIndexes(folder / "indexes")
    with running(held, ServerSettings(port=0, room=2)) as asker, ThreadPoolExecutor(2) as clients:
        given = {"index": "docs", "query": "ship"}
        waiting = [clients.submit(asker.post, "/v1/search", given) for _ in range(2)]
        for _ in waiting:
            held.asked.acquire()
        shed = [asker.post("/v1/search", given) for _ in range(20)]
        held.go.set()
        assert [each.result().status for each in waiting] == [200, 200]
        assert {(reply.status, reply.headers["retry-after"]) for reply in shed} == {(503, "1")}
        assert "overloaded" in shed[0].detail
        assert [asker.post("/v1/search", given).status for _ in range(5)] == [200] * 5


def test_an_answer_that_takes_too_long_is_a_503(folder: Path) -> None:
    held = HeldIndexes(folder / "indexes")
    with running(held, ServerSettings(port=0, seconds=0.05)) as asker:
        late = asker.post("/v1/search", {"index": "docs", "query": "ship"})
        held.go.set()
    assert (late.status, late.headers["retry-after"]) == (503, "5")
    assert "longer than 0.05 seconds" in late.detail


def test_a_client_has_its_share_and_others_theirs() -> None:
    go = threading.Event()
    pool = WorkPool(threads=1, room=8, share=1, seconds=60)
    pool.submit(go.wait, "192.0.2.1")
    with pytest.raises(HTTPException) as refused:
        pool.submit(go.wait, "192.0.2.1")
    assert (refused.value.status_code, refused.value.headers) == (429, {"Retry-After": "1"})
    others = [pool.submit(go.wait, client) for client in ("192.0.2.2", None, None)]
    go.set()
    assert all(other.result() for other in others)
    pool.close()


@pytest.mark.parametrize("leaves", [True, False])
def test_a_batch_that_nobody_waits_for_is_not_computed_to_its_end(
    folder: Path, monkeypatch: pytest.MonkeyPatch, *, leaves: bool
) -> None:
    asked, go = list[str](), threading.Event()
    begun = threading.Semaphore(0)

    def search(query: str, *_: object) -> Hits:
        asked.append(query)
        begun.release()
        go.wait()
        return Hits()

    monkeypatch.setattr("semsearch.search.searcher.search", search)
    body = json.dumps({"index": "docs", "queries": [f"ship {n}" for n in range(1000)]}).encode()
    head = b"POST /v1/search/batch HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: "
    pool = []
    monkeypatch.setattr(
        "semsearch.server.work_pool.until_abandoned",
        lambda work, abandoned: pool.append(abandoned) or until_abandoned(work, abandoned),
    )
    settings = ServerSettings(port=0, seconds=60 if leaves else 5)  # in which the first query begins
    with running(OpenIndexes(folder=folder / "indexes"), settings) as asker:
        with socket.create_connection(("127.0.0.1", asker.port), timeout=60) as client:
            client.sendall(head + str(len(body)).encode() + b"\r\n\r\n" + body)
            begun.acquire()
            if not leaves:
                assert client.recv(100).startswith(b"HTTP/1.1 503 ")
        assert pool[-1].wait(60)
        go.set()
    assert len(asked) == 1
