"""A password goes to another machine only over TLS, and only to an address that the user has allowed."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from sealing import change

from semsearch import trust
from semsearch.dense.engines import claim_store
from semsearch.errors import IndexNotTrusted, StorageError
from semsearch.index import Index
from semsearch.word_vectors.table import VectorTable
from semsearch_scale.stores import postgres_connections
from semsearch_scale.stores.postgres_connections import _is_this_machine

pytest.importorskip("asyncpg")
PASSWORD = "a password of the user's"
_CLEARTEXT = b"R\x00\x00\x00\x08\x00\x00\x00\x03"  # AuthenticationCleartextPassword
_WHY = b"SFATAL\x00VFATAL\x00C28P01\x00Mpassword wrong\x00\x00"
_REFUSED = b"E" + (4 + len(_WHY)).to_bytes(4, "big") + _WHY
_SSL_REQUEST = b"\x00\x00\x00\x08\x04\xd2\x16\x2f"


class Greedy:
    """A server without TLS that asks whoever comes for a password in clear text."""

    def __init__(self) -> None:
        self.heard = b""
        self.connections = 0
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._socket.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                client, _ = self._socket.accept()
            except OSError:
                return
            self.connections += 1
            with client:
                client.settimeout(10)
                try:
                    self._answer(client)
                except OSError:
                    continue

    def _answer(self, client: socket.socket) -> None:
        while data := client.recv(4096):
            if data == _SSL_REQUEST:
                client.sendall(b"N")
            elif data[:1] == b"p":
                self.heard += data
                client.sendall(_REFUSED)
                return
            else:
                client.sendall(_CLEARTEXT)

    def close(self) -> None:
        self._socket.close()


@pytest.fixture
def greedy(monkeypatch: pytest.MonkeyPatch) -> Iterator[Greedy]:
    for name in ("PGSSLMODE", "PGPASSFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    monkeypatch.setattr(postgres_connections, "_is_this_machine", lambda _: False)
    server = Greedy()
    yield server
    server.close()


@pytest.mark.parametrize("options", ["", "&sslmode=disable", "&sslmode=allow", "&sslmode=prefer", "&sslmode=require"])
def test_no_password_is_sent_in_clear_text(greedy: Greedy, options: str) -> None:
    with pytest.raises(StorageError, match=r"has no TLS; set up TLS there|cannot be reached: .*rejected SSL"):
        claim_store(f"postgres://victim@127.0.0.1:{greedy.port}/x?schema=a&timeout=5{options}")
    assert greedy.connections
    assert PASSWORD.encode() not in greedy.heard


def test_a_file_of_passwords_is_not_read_for_it_either(
    greedy: Greedy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pgpass").write_text(f"*:*:*:*:{PASSWORD}\n")
    (tmp_path / "pgpass").chmod(0o600)
    monkeypatch.delenv("PGPASSWORD")
    monkeypatch.setenv("PGPASSFILE", str(tmp_path / "pgpass"))
    with pytest.raises(StorageError, match="has no TLS"):
        claim_store(f"postgres://victim@127.0.0.1:{greedy.port}/x?schema=a&timeout=5")
    assert PASSWORD.encode() not in greedy.heard


@pytest.mark.parametrize("here", [True, False])
def test_it_is_sent_to_this_machine_and_where_the_users_environment_says_so(
    greedy: Greedy, monkeypatch: pytest.MonkeyPatch, here: bool
) -> None:
    if here:
        monkeypatch.setattr(postgres_connections, "_is_this_machine", _is_this_machine)
    else:
        monkeypatch.setenv("PGSSLMODE", "prefer")
    with pytest.raises(StorageError, match="refused the connection: password wrong"):
        claim_store(f"postgres://victim@127.0.0.1:{greedy.port}/x?schema=b&timeout=5")
    assert PASSWORD.encode() in greedy.heard


@pytest.mark.parametrize(
    ("host", "expected"),
    [("localhost", True), ("127.8.9.1", True), ("::1", True), ("/run/postgresql", True), ("db", False),
     ("192.0.2.1", False), ("localhost.example.org", False), ("127.0.0.1.example.org", False)],
)  # fmt: skip
def test_this_machine_is_known_without_asking_the_network(host: str, expected: bool) -> None:
    assert _is_this_machine(host) is expected


def test_a_foreign_index_reaches_no_server(
    greedy: Greedy, tmp_path: Path, small_vectors: VectorTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGSSLMODE", "prefer")
    with Index.create(tmp_path / "index", vectors=small_vectors) as index:
        index.add([("a", "A ship in the storm.")])
    uri = f"postgres://victim@127.0.0.1:{greedy.port}/x?sslmode=disable&schema=a"
    change(tmp_path / "index", "INSERT INTO meta VALUES ('vector_store', ?), ('vector_store_owner', 'me')", uri)
    with Index.open(tmp_path / "index", vectors=small_vectors) as index:
        for ask in (lambda: index.search("ship"), index.verify, index.refit, index.discard, lambda: index.similar("a")):
            with pytest.raises(IndexNotTrusted, match="keep vectors in postgres://victim@127"):
                ask()
        index.status()
        index.checkup(stale=False)
    assert greedy.connections == 0
    assert trust.allowed(index._database)  # its word vectors
