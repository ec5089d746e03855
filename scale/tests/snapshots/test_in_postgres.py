"""Published to a database: the snapshots alone, and beside the index's vectors; a real server."""

from __future__ import annotations

from pathlib import Path

import pytest
from published import followed, reader_of
from scale_servers.postgres_server import shared_server
from small import index_of_articles

from semsearch.errors import IndexNotFound, StorageError, UsageError
from semsearch.index import Index
from semsearch.readers.document import Text
from semsearch.word_vectors.table import VectorTable
from semsearch_scale.snapshots import store_uris
from semsearch_scale.snapshots.publisher import publish
from semsearch_scale.snapshots.snapshot_store import open_snapshot_store
from semsearch_scale.stores.postgres_address import parsed
from semsearch_scale.stores.postgres_claims import SNAPSHOTS, claim, release


@pytest.fixture
def uri() -> str:
    """A place that nobody has claimed, with the server of all tests."""
    return shared_server().uri


def test_a_reader_that_may_only_read_finds_all_in_one_database(
    uri: str, tmp_path: Path, small_vectors: VectorTable
) -> None:
    server, schema = shared_server(), parsed(uri).schema
    with Index.create(tmp_path / "index", vectors=small_vectors, store=uri) as index:
        index.add([Text("one", "A comet is near the planet."), Text("two", "The judge is in the court.")])
        assert publish(index.path, uri).place == parsed(uri).uri
        assert not any(path.is_file() for path in (tmp_path / "index" / "segments").glob("passage*"))
        server.sql(f"CREATE ROLE {schema}_reader LOGIN")
        reading = server.uri_at(server.port, schema, user=f"{schema}_reader")
        with pytest.raises(StorageError, match="permission denied"):
            Index.open(reading)
        for right in (
            f"GRANT USAGE ON SCHEMA {schema} TO {schema}_reader",
            f"GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {schema}_reader",
            f"ALTER DEFAULT PRIVILEGES IN SCHEMA {schema} GRANT SELECT ON TABLES TO {schema}_reader",
        ):
            server.sql(right)
        with reader_of(reading, trust=True) as reader:
            assert reader.search("planet") == index.search("planet")
            index.add([Text("three", "A star is near the planet.")])
            index.compact()
            publish(index.path, uri)
            assert [hit.document for hit in reader.search("planet")] == ["one", "two"]  # of before
            assert followed(reader).look()
            assert reader.search("planet") == index.search("planet")
            assert reader.verify() == []
            assert (f"{schema}_reader",) in server.sql("SELECT usename FROM pg_stat_activity")
        with pytest.raises(StorageError, match="permission denied"):
            open_snapshot_store(reading).put("blocks/ab/abc", b"1")


def test_a_schema_needs_a_name_only_where_several_are_published(
    uri: str, tmp_path: Path, small_vectors: VectorTable
) -> None:
    server = shared_server()
    server.sql(f"CREATE DATABASE {parsed(uri).schema}")
    database = uri.partition("?")[0].removesuffix("postgres") + parsed(uri).schema
    with pytest.raises(IndexNotFound, match="no snapshot is published"):
        Index.open(database)
    with index_of_articles(tmp_path, 6, vectors=small_vectors) as index:
        assert publish(index.path, database).place == f"{database}?schema=semsearch_index"
        with Index.open(database, trust=True) as reader:
            assert reader.search("planet") == index.search("planet")
        with Index.create(tmp_path / "other", vectors=small_vectors) as other:
            with pytest.raises(UsageError, match="another index"):
                publish(other.path, f"{database}?schema=semsearch_index")
            publish(other.path, database)
        with pytest.raises(UsageError, match=r"more than one .* \?schema=semsearch_index, \?schema=semsearch_other"):
            Index.open(f"{database}?timeout=9")


def test_vectors_may_come_to_where_snapshots_are_and_leave_them_there(
    uri: str, tmp_path: Path, small_vectors: VectorTable
) -> None:
    server, schema = shared_server(), parsed(uri).schema
    with index_of_articles(tmp_path, 6, vectors=small_vectors) as index:
        publish(index.path, uri)
        claim(uri, "me")
        release(uri, "me")
        assert server.sql(f"SELECT to_regclass('{schema}.{SNAPSHOTS}')::oid > 0") == [(True,)]
        with Index.open(uri) as reader:
            assert reader.search("planet") == index.search("planet")
    server.sql(f"CREATE SCHEMA {schema}_theirs")
    server.sql(f"CREATE TABLE {schema}_theirs.notes (x int)")
    with pytest.raises(UsageError, match="tables of another program"):
        open_snapshot_store(uri.replace(schema, f"{schema}_theirs")).create(store_uris.CLAIM, b"1")


def test_addresses_of_databases_are_spelled_alike_and_have_no_password() -> None:
    assert store_uris.canonical("postgresql://ada@host/db?schema=semsearch_docs") == (
        "postgres://ada@host:5432/db?schema=semsearch_docs"
    )
    assert store_uris.canonical("postgres://host/db") == "postgres://host:5432/db"
    assert store_uris.completed("postgres://host/db", "My docs") == "postgres://host:5432/db?schema=semsearch_my_docs"
    store = "postgres://ada@host/db?schema=x&timeout=60"
    for place, is_beside in (("host/db?schema=x", True), ("host/db?schema=y", False), ("other/db?schema=x", False)):
        assert store_uris.is_beside(f"postgres://{place}", store) is is_beside
    assert store_uris.is_beside("s3://b/x/snapshot", "lance:s3://b/x")
    assert not store_uris.is_beside("s3://b/x", store)
    assert not store_uris.is_beside(None, store)
    own = store_uris.vectors_beside("postgres://reader@other/db?timeout=3", "postgres://ada@localhost/db?schema=x")
    assert own == "postgres://reader@other:5432/db?schema=x&timeout=3"
    assert store_uris.vectors_beside("file:///mnt/my%20docs/snapshot", "lance:/data/x") == "lance:/mnt/my docs"
    assert store_uris.vectors_beside("s3://b/x/snapshot?region=y", "lance:s3://b/x") == "lance:s3://b/x?region=y"
    with pytest.raises(UsageError, match="PGPASSWORD"):
        store_uris.canonical("postgres://ada:secret@host/db")
    assert [
        store_uris.timeout_of(each) for each in ("postgres://h/d?timeout=60", "s3://b/x", "memory://x?timeout=9")
    ] == [
        60.0,
        0.0,
        0.0,
    ]
    with pytest.raises(UsageError, match="not a number of seconds"):
        open_snapshot_store("s3://bucket/docs?timeout=soon")
