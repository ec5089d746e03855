"""Published to an object store, an emulator of S3: the index's snapshots.

moto takes a hundred megabytes, so they are run by hand:

    pip install s3fs 'moto[s3]' flask flask-cors
    python -m pytest scale/tests/snapshots/test_s3.py
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from packages import needed
from published import add_published, followed, reader_of
from scale_servers.s3_emulator import emulator_behind_proxy
from scale_servers.tcp_proxy import TcpProxy
from small import index_of_articles

from semsearch.errors import StorageError, UsageError
from semsearch.index import Index
from semsearch.readers.document import Text
from semsearch.word_vectors.table import VectorTable
from semsearch_scale.snapshots.publisher import publish
from semsearch_scale.snapshots.snapshot_store import BLOCKS, MANIFESTS, open_snapshot_store

needed("s3fs", reason="s3fs is not installed: pip install s3fs")
pytestmark = pytest.mark.filterwarnings("ignore")  # of the emulator


@pytest.fixture
def proxy() -> Iterator[TcpProxy]:
    with emulator_behind_proxy() as proxy:
        yield proxy


def at(proxy: TcpProxy, name: str) -> str:
    return f"s3://bucket/{name}?endpoint=http://127.0.0.1:{proxy.port}&region=us-east-1"


def test_a_reader_answers_and_follows(proxy: TcpProxy, tmp_path: Path, small_vectors: VectorTable) -> None:
    uri = at(proxy, tmp_path.name)
    with index_of_articles(tmp_path, 6, vectors=small_vectors) as index:
        assert publish(index.path, uri).is_new
        with reader_of(uri) as reader:
            assert reader.search("planet") == index.search("planet")
            add_published(index, uri, [Text("new", "A comet is near the planet.")])
            assert followed(reader).look()
            assert reader.search("planet") == index.search("planet")
            assert reader.verify() == []
        place = open_snapshot_store(uri)
        assert len(place.names(MANIFESTS)) == 2
        assert place.names(BLOCKS)
        with (
            Index.create(tmp_path / "other", vectors=small_vectors) as other,
            pytest.raises(UsageError, match="another"),
        ):
            publish(other.path, uri)


def test_a_store_that_cannot_be_reached_is_said(proxy: TcpProxy, tmp_path: Path, small_vectors: VectorTable) -> None:
    uri = at(proxy, tmp_path.name)
    with index_of_articles(tmp_path, 6, vectors=small_vectors) as index:
        publish(index.path, uri)
        with reader_of(uri, timeout=5) as reader:
            expected = reader.search("planet")
            proxy.close()
            with pytest.raises(StorageError, match="cannot be reached"):
                followed(reader).look()
            assert reader.search("planet") == expected
            with pytest.raises(StorageError, match="cannot be reached"):
                add_published(index, uri, [Text("new", "A comet is near the planet.")])
        with reader_of(uri, timeout=5) as again:
            assert again.search("planet") == expected
    with pytest.raises(StorageError, match="cannot be reached"):
        reader_of(uri.replace(tmp_path.name, "never-fetched"), timeout=5)
