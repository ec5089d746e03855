"""An index whose vectors are in PostgreSQL: a real server, which is killed, slow, or closed to us."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scale_servers.postgres_server import PostgresServer, close_connections, postgres_store, shared_server
from scale_servers.tcp_proxy import TcpProxy
from small import small_vectors, write_articles

from semsearch.arrays.id_ranges import IdRanges
from semsearch.errors import IndexDamaged, StorageError, UsageError
from semsearch.index import Index
from semsearch.readers.document import Text
from semsearch_scale.stores import (
    postgres_reader,
    postgres_store as table_store,
    postgres_store as table_writer,
)
from semsearch_scale.stores.addresses import postgres_address
from semsearch_scale.stores.postgres_claims import claim, release
from semsearch_scale.stores.postgres_connections import get_database

QUESTIONS = ["the ship in the night", "a telescope of old", "bread and butter", "violin and concert", "roses and soil"]


def unit_rows(n: int, *, dimension: int = 16, seed: int = 0) -> Any:
    rows = np.random.default_rng(seed).standard_normal((n, dimension)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.fixture
def uri() -> str:
    """A place that nobody has claimed, with the server of all tests."""
    return shared_server().uri


@pytest.fixture(scope="module")
def mortal() -> Iterator[PostgresServer]:
    """A server that tests may kill."""
    shared_server()  # or skip
    server = PostgresServer()
    yield server
    close_connections()
    server.remove()


def twins(folder: Path, uri: str) -> tuple[Index, Index]:
    """Two indexes of the same documents: one with its vectors in files, one in PostgreSQL."""
    small_vectors(folder)
    write_articles(folder / "docs", 9)
    both = [
        Index.create(folder / name, vectors=folder / "small", store=store)
        for name, store in (("files", None), ("elsewhere", uri))
    ]
    for index in both:
        index.sync(folder / "docs")
    return both[0], both[1]


def found(index: Index, **options: Any) -> list[list[tuple[str, int]]]:
    return [[(hit.document, hit.passage_id) for hit in hits] for hits in index.search_many(QUESTIONS, 7, **options)]


def agree(*both: Index) -> None:
    for options in ({}, {"mode": "dense"}, {"filters": ["night*"]}):
        one, other = (found(index, **options) for index in both)
        assert one == other


# -- an index over it ------------------------------------------------------------------------------------------------


def test_an_index_gives_the_same_hits_as_one_in_files_through_updates_removal_and_compaction(
    tmp_path: Path, uri: str
) -> None:
    both = twins(tmp_path, uri)
    agree(*both)
    for index in both:
        index.add([Text("comet", "A comet is seen by the telescope at night.")])
    agree(*both)
    docs, server, schema = tmp_path / "docs", shared_server(), postgres_address(uri).schema
    for path in sorted(docs.glob("*"))[::5]:
        path.unlink()
    sorted(docs.glob("*"))[0].write_text("A comet was seen by the telescope in the night of the violin concert.")
    write_articles(docs, 2, first=40)
    for index in both:
        index.sync(docs)
    agree(*both)
    for index in both:
        index.refit()
    agree(*both)
    assert both[1].verify() == []
    assert len(server.segments(schema)) == 1
    both[0].rebuild()  # it rounds the vectors anew, too
    both[1].rebuild(store="faiss:")
    agree(*both)
    assert server.sql(f"SELECT 1 FROM pg_namespace WHERE nspname = '{schema}'") == []
    for index in both:
        index.close()


def test_the_questions_of_an_index_go_through_its_graphs(
    tmp_path: Path, uri: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table_store, "INDEXED", 20)
    monkeypatch.setattr(postgres_reader, "_SPACING", 0.0)  # however few passages
    both, asked = twins(tmp_path, uri), list[str]()
    sql = postgres_reader.SegmentTable._by_graph

    def noted(table: postgres_reader.SegmentTable, condition: str) -> str:
        asked.append(condition)
        return sql(table, condition)

    monkeypatch.setattr(postgres_reader.SegmentTable, "_by_graph", noted)
    with Index.open(both[1].path) as opened:
        agree(both[0], opened)
    assert asked
    status = both[1].status()
    assert (status.store or "").endswith(uri.partition("?")[2])
    assert status.vectors == status.passages
    for each in both:
        each.close()


def test_what_a_killed_writer_left_goes_with_the_next_write(tmp_path: Path, uri: str) -> None:
    _, index = twins(tmp_path, uri)
    server, schema = shared_server(), postgres_address(uri).schema
    written = server.segments(schema)
    server.sql(f'CREATE TABLE "{schema}"."passage-00000009-abcdef01" (number int4, embedding halfvec(8))')
    before = found(index)
    index.add([])
    assert server.segments(schema) == written
    assert found(index) == before
    index.close()


def test_a_lost_or_changed_table_is_told(tmp_path: Path, uri: str) -> None:
    _, index = twins(tmp_path, uri)
    server, schema = shared_server(), postgres_address(uri).schema
    (name,) = server.segments(schema)
    own = f'"{schema}"."{name}"'
    server.sql(f"UPDATE {own} SET embedding = (SELECT embedding FROM {own} WHERE number = 1) WHERE number = 0")
    assert f"{name} does not match its digest" in index.verify()
    server.sql(f"DELETE FROM {own} WHERE number = 0")
    assert f"{name} does not match its digest" in index.verify()
    server.sql(f"COMMENT ON TABLE {own} IS 'something else'")
    index._release()
    for statement in ("SELECT 1", f"DROP TABLE {own}"):
        server.sql(statement)
        with Index.open(index.path) as opened, pytest.raises(IndexDamaged, match="--rebuild"):
            opened.search("ship", mode="dense")
    index.rebuild()
    assert index.verify() == []
    index.close()


# -- graphs ----------------------------------------------------------------------------------------------------------


def test_a_graph_finds_most_of_the_best_whatever_the_filter_and_all_where_few_are_allowed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(table_store, "INDEXED", 500)
    store = postgres_store()
    rows, queries = unit_rows(1500), unit_rows(60, seed=5)
    with store.writer(1) as writer:
        writer.add(np.arange(1, 1501) * 2, rows)
        (segment,) = writer.finish()
    reader = store.open([segment], IdRanges.of_ids(np.arange(2, 200, 2)))
    alive = np.arange(200, 3002, 2)
    scores = queries @ rows.astype(np.float16).astype(np.float32).T
    for allowed in (None, alive[np.random.default_rng(2).random(len(alive)) < 0.5], alive[::3], alive[:7]):
        own = alive if allowed is None else allowed
        best = own[np.argsort(-scores[:, own // 2 - 1], axis=1)[:, :10]]
        result = reader.search(queries, 10, allowed=None if allowed is None else IdRanges.of_ids(allowed))
        shares = [
            len({*some} & {*others}) / len(others)
            for some, others in zip(result.ids.tolist(), best.tolist(), strict=True)
        ]
        assert np.mean(shares) >= 0.9
        assert np.isin(result.ids[result.ids >= 0], own).all()
        if len(own) < 100:
            assert np.mean(shares) == 1


# -- places ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "uri",
    [
        "postgres:db",
        "postgres://host",
        "postgres:///db",
        "postgres://host/a/b",
        "postgres://host:x/db",
        "postgres://host/db?timeout=0",
        "postgres://host/db?timeout=soon",
        "postgres://host/db?schema=",
        "postgres://host/db?schema=pg_own",
        "postgres://host/db?sslmode=perhaps",
        "postgres://host/db?password=secret",
    ],
)
def test_what_is_no_address_is_refused(uri: str, tmp_path: Path) -> None:
    small_vectors(tmp_path)
    with pytest.raises(UsageError):
        Index.create(tmp_path / "index", vectors=tmp_path / "small", store=uri)
    assert not (tmp_path / "index").exists()


def test_a_place_is_one_indexs_and_several_are_side_by_side(uri: str) -> None:
    claim(uri, "me")
    claim(uri, "me")
    with pytest.raises(UsageError, match="another index; choose another schema"):
        claim(uri, "you")
    release(uri, "you")  # nothing of mine
    with pytest.raises(UsageError, match="another index"):
        claim(uri, "you")
    claim(shared_server().uri, "you")
    release(uri, "me")
    release(uri, "me")
    claim(uri, "you")
    release(uri, "you")


def test_a_role_without_rights_is_told_the_sql_to_run(mortal: PostgresServer) -> None:
    mortal.sql("CREATE ROLE reader LOGIN")
    mortal.sql("DROP EXTENSION IF EXISTS vector CASCADE")
    uri = mortal.uri_at(mortal.port, "mine", user="reader")
    with pytest.raises(UsageError, match=r'"reader" may not create the extension .*: CREATE EXTENSION vector;'):
        claim(uri, "me")
    mortal.sql("CREATE EXTENSION vector")
    with pytest.raises(UsageError, match=r': (CREATE SCHEMA "mine" AUTHORIZATION "reader";)') as refused:
        claim(uri, "me")
    mortal.sql(str(refused.value).partition("run: ")[2])
    claim(uri, "me")
    release(uri, "me")
    mortal.sql('CREATE SCHEMA "closed"')
    closed = mortal.uri_at(mortal.port, "closed", user="reader")
    with pytest.raises(UsageError, match=r': (GRANT USAGE, CREATE ON SCHEMA "closed" TO "reader";)') as refused:
        claim(closed, "me")
    mortal.sql(str(refused.value).partition("run: ")[2])
    claim(closed, "me")


# -- a server in trouble ---------------------------------------------------------------------------------------------


@contextmanager
def held_up(server: PostgresServer, uri: str) -> Iterator[Callable[[threading.Thread], None]]:
    """Hold the tables of an index locked; what is given waits until a thread waits for them."""
    schema, locked, done = postgres_address(uri).schema, threading.Event(), threading.Event()

    def hold() -> None:
        import asyncpg

        async def lock() -> None:
            connection = await asyncpg.connect(f"postgres://postgres@127.0.0.1:{server.port}/postgres")
            names = await connection.fetch(f"SELECT tablename FROM pg_tables WHERE schemaname = '{schema}'")
            transaction = connection.transaction()
            await transaction.start()
            for name in names:
                await connection.execute(f'LOCK TABLE "{schema}"."{name[0]}"')
            locked.set()
            while not done.is_set():
                await asyncio.sleep(0.01)
            connection.terminate()

        asyncio.run(lock())

    def wait(asking: threading.Thread) -> None:
        while asking.is_alive() and not server.sql("SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'"):
            pass

    thread = threading.Thread(target=hold)
    thread.start()
    locked.wait()
    try:
        yield wait
    finally:
        done.set()
        thread.join()


def in_a_hurry(monkeypatch: pytest.MonkeyPatch, uri: str) -> None:
    """From now on a question at an address may take half a second."""
    database = get_database(postgres_address(uri))
    monkeypatch.setattr(database, "address", replace(database.address, seconds=0.5))


def test_a_question_that_takes_longer_than_its_time_is_given_up(
    tmp_path: Path, uri: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, index = twins(tmp_path, uri)
    before = found(index)
    with held_up(shared_server(), uri), monkeypatch.context() as patched:
        in_a_hurry(patched, uri)
        with pytest.raises(StorageError, match=r"longer than 0.5 seconds.*\?timeout=3"):
            index.search("the ship")
    assert found(index) == before
    index.close()


def test_a_server_that_is_killed_under_a_question_is_told_and_found_again(
    tmp_path: Path, mortal: PostgresServer
) -> None:
    uri = mortal.uri
    _, index = twins(tmp_path, uri)
    before, errors = found(index), list[BaseException]()

    def ask() -> None:
        try:
            index.search("the ship")
        except BaseException as error:
            errors.append(error)

    with held_up(mortal, uri) as wait:
        thread = threading.Thread(target=ask)
        thread.start()
        wait(thread)
        mortal.kill()
        thread.join()
    with pytest.raises(StorageError, match="cannot be reached"):
        index.search("the ship")
    mortal.start()
    assert [type(error) for error in errors] == [StorageError]
    assert "cannot be reached" in str(errors[0])
    assert found(index) == before
    index.close()


@pytest.mark.parametrize("work", ["add", "refit"])
def test_a_server_that_is_killed_under_a_write_loses_nothing(
    tmp_path: Path, mortal: PostgresServer, monkeypatch: pytest.MonkeyPatch, work: str
) -> None:
    both = twins(tmp_path, mortal.uri)
    comet = Text("comet", "A comet is seen by the telescope at night.")
    if work == "refit":
        for each in both:
            each.add([comet])
    before = found(both[1])

    def write(index: Index) -> None:
        if work == "add":
            index.add([comet])
        else:
            index.refit()

    def killing(*arguments: Any) -> Any:
        mortal.kill()
        return copied(*arguments)

    copied = table_writer.copied
    with monkeypatch.context() as patched:
        patched.setattr(table_writer, "copied", killing)
        with pytest.raises(StorageError, match="cannot be reached"):
            write(both[1])
    mortal.start()
    assert found(both[1]) == before
    for each in both:
        write(each)
    agree(*both)
    for each in both:
        each.close()


def test_a_server_that_never_answers_is_given_up_in_time(uri: str) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        with pytest.raises(StorageError, match=r"longer than 0.2 seconds"):
            claim(f"postgres://ada@127.0.0.1:{silent.getsockname()[1]}/db?schema=x&timeout=0.2", "me")


def test_a_database_or_role_that_does_not_exist_is_told() -> None:
    port = shared_server().port
    with pytest.raises(StorageError, match=r'refused the connection: database "nowhere" does not exist'):
        claim(f"postgres://postgres@127.0.0.1:{port}/nowhere?schema=x", "me")
    with pytest.raises(StorageError, match=r'refused the connection: role "nobody_here" does not exist; .*PGPASSWORD'):
        claim(f"postgres://nobody_here@127.0.0.1:{port}/postgres?schema=x", "me")


# -- the network -----------------------------------------------------------------------------------------------------


def test_a_connection_that_was_cut_is_made_again_and_one_that_is_silent_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with TcpProxy(shared_server().port) as proxy:
        uri = shared_server().uri_at(proxy.port)
        _, index = twins(tmp_path, uri)
        before = found(index)
        proxy.cut()
        assert found(index) == before
        proxy.arm(2, proxy.cut)  # in the middle of a question, which is asked again
        assert found(index) == before
        with monkeypatch.context() as patched:
            in_a_hurry(patched, uri)
            proxy.silence()
            with pytest.raises(StorageError, match=r"longer than 0.5 seconds"):
                index.search("the ship")
        proxy.mend()
        assert found(index) == before
        index.close()
