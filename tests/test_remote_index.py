"""An index on a server: what is asked besides searches, and what goes wrong on the way."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from packages import needed
from serving import TOKEN, running
from small import write_articles

from semsearch.errors import IndexNotFound, SemsearchError, ServerError, SourceError, UsageError
from semsearch.index import Index
from semsearch.remote_index import RemoteIndex
from semsearch.server.open_indexes import OpenIndexes
from semsearch.server.running import ServerSettings
from semsearch.word_vectors.table import VectorTable

needed("uvicorn", reason="an optional dependency")


@pytest.fixture
def index(tmp_path: Path, small_vectors: VectorTable) -> Iterator[Index]:
    write_articles(tmp_path / "docs", 6)
    with Index.create(tmp_path / "indexes" / "docs", vectors=small_vectors) as index:
        index.sync(tmp_path / "docs")
        yield index


@pytest.fixture
def remote(index: Index) -> Iterator[RemoteIndex]:
    with running(OpenIndexes(places={"docs": index.path})) as asker, Index.connect(asker.url) as remote:
        yield remote


@contextmanager
def answering(status: int, body: bytes) -> Iterator[str]:
    """A server that answers everything alike; its address."""

    class Alike(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_GET(self) -> None:
            self.headers["Content-Length"] = "0"
            self.do_POST()

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Alike) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def test_a_hit_does_not_keep_its_finder(remote: RemoteIndex) -> None:
    other = Index.connect(remote.url)
    (hit,) = other.search("ship", 1)
    other.close()
    del other
    gc.collect()
    with pytest.raises(UsageError, match="has no index"):
        hit.explain()


def test_an_index_is_chosen_by_its_name(remote: RemoteIndex) -> None:
    with Index.connect(remote.url, index="docs") as named, Index.connect(remote.url, index="other") as other:
        assert named.search("ship", 1) == remote.search("ship", 1)
        assert "docs" in repr(named)
        with pytest.raises(IndexNotFound, match="there is no index 'other'; the server has: docs"):
            other.search("ship")


def test_the_token_is_sent(index: Index) -> None:
    settings = ServerSettings(port=0, always_token=True)
    with running(OpenIndexes(places={"docs": index.path}), settings) as asker:
        with Index.connect(asker.url, token=TOKEN) as remote:
            assert remote.search("ship", 1)
        with (
            Index.connect(asker.url, token="wrong") as remote,
            pytest.raises(ServerError, match=r"answered with an error \(401\): the token is wrong"),
        ):
            remote.search("ship", 1)


def test_a_server_that_comes_again_is_asked_again(index: Index) -> None:
    places = {"docs": index.path}
    with running(OpenIndexes(places=places)) as asker:
        remote = Index.connect(asker.url)
        hits = remote.search("ship", 2)
    with pytest.raises(ServerError, match=r"does not answer \(.*\); start it with: semsearch serve"):
        remote.search("ship", 2)
    with running(OpenIndexes(places=places), ServerSettings(port=asker.port)), remote:
        assert remote.search("ship", 2) == hits


@pytest.mark.parametrize(
    ("status", "body", "told"),
    [
        (200, b"<html>hello</html>", "is not a semsearch server: it answered 200 with '<html>hello"),
        (302, b"", "is not a semsearch server"),
        (503, b'{"detail": "the server is overloaded"}', r"answered with an error \(503\): the server is overloaded"),
        (500, b'{"detail": "x", "error": "KeyboardInterrupt"}', r"answered with an error \(500\): x"),
        (500, b"[1]", r"answered with an error \(500\): \[1\]"),
    ],
)
def test_what_is_no_answer_is_an_error_that_says_so(status: int, body: bytes, told: str) -> None:
    with answering(status, body) as url, Index.connect(url) as remote, pytest.raises(ServerError, match=told):
        remote.search("ship")


def test_a_name_with_half_a_character_is_no_document(remote: RemoteIndex) -> None:
    with pytest.raises(SourceError, match="is not in the index"):
        remote.document("\ud800")
    assert not list(remote.documents(["\ud800"]))


@pytest.mark.parametrize(
    "answer", [b"[]", b"1", b"null", b"{}", b'{"hits": {}}', b'{"hits": null}', b'{"hits": [[]]}', b'{"warnings": 1}']
)
def test_an_answer_of_another_form_is_an_error_of_ours(answer: bytes) -> None:
    with answering(200, answer) as url, Index.connect(url, index="docs") as remote:
        for ask in (
            lambda: remote.search("ship"),
            lambda: remote.search(["ship", "bread"]),
            lambda: remote.context("ship"),
            lambda: list(remote.documents()),
            lambda: remote.document("a.md"),
            lambda: remote.status(),
        ):
            with pytest.raises(SemsearchError):
                ask()


def test_a_list_without_an_end_is_not_followed_in_a_circle() -> None:
    with (
        answering(200, b'{"documents": [], "next": 0}') as url,
        Index.connect(url) as remote,
        pytest.raises(ServerError, match="number of the next"),
    ):
        list(remote.documents())


def test_an_answer_larger_than_any_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("semsearch.remote_index._MOST", 100)
    with answering(200, b" " * 101) as url, Index.connect(url) as remote, pytest.raises(ServerError, match="more than"):
        remote.search("ship")


def test_an_error_of_the_index_there_is_raised_here() -> None:
    body = b'{"detail": "there is no such index", "error": "IndexNotFound"}'
    with answering(404, body) as url, Index.connect(url) as remote, pytest.raises(IndexNotFound, match="no such index"):
        remote.search("ship")


@pytest.mark.parametrize(
    "url", ["", "localhost:8765", "ftp://localhost", "http://", "http://localhost?x", "file:///", 5]
)
def test_what_is_no_address_is_refused_at_once(url: Any) -> None:
    with pytest.raises(UsageError, match="is not the address of a server"):
        Index.connect(url)


def test_what_is_no_time_is_refused_at_once() -> None:
    for timeout in (0, -1, float("inf"), float("nan"), "60"):
        with pytest.raises(UsageError, match="timeout"):
            Index.connect("http://localhost", timeout=timeout)  # type: ignore[arg-type]


def test_a_token_cannot_bring_headers_of_its_own() -> None:
    with pytest.raises(UsageError, match="printable ASCII"):
        Index.connect("http://localhost", token="a\r\nHost: evil")
