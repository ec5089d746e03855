"""Objects of an emulator of S3, through s3fs: what an index of them does that memory cannot show.

moto takes a hundred megabytes, so they are run by hand:

    pip install s3fs 'moto[s3]' flask flask-cors
    python -m pytest scale/tests/objects/test_objects_in_s3.py
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from packages import needed
from scale_servers.tcp_proxy import TcpProxy
from small import article

from semsearch.errors import StorageError
from semsearch.index import Index
from semsearch.word_vectors.table import VectorTable
from semsearch_scale.objects import object_store

needed("s3fs", reason="s3fs is not installed: pip install s3fs")
needed("moto", reason="moto is not installed: pip install 'moto[s3]' flask flask-cors")
pytestmark = pytest.mark.filterwarnings("ignore")  # of the emulator


@pytest.fixture(scope="module")
def server() -> Iterator[int]:
    from scale_servers.s3_emulator import S3Server  # it imports moto

    emulator = S3Server()
    yield emulator.port
    emulator.remove()


@pytest.fixture
def proxy(server: int, monkeypatch: pytest.MonkeyPatch) -> Iterator[TcpProxy]:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    object_store.open_store.cache_clear()
    with TcpProxy(server) as proxy:
        yield proxy


def put(server: int, name: str, text: str | None) -> None:
    """Write an object, or delete it if there is no text."""
    import s3fs

    files = s3fs.S3FileSystem(endpoint_url=f"http://127.0.0.1:{server}", client_kwargs={"region_name": "us-east-1"})
    if text is None:
        files.rm_file(f"bucket/{name}")
    else:
        files.pipe_file(f"bucket/{name}", text.encode())


def at(proxy: TcpProxy, folder: str) -> str:
    return f"s3://bucket/{folder}?endpoint=http://127.0.0.1:{proxy.port}&region=us-east-1"


def test_an_index_follows_a_bucket(proxy: TcpProxy, server: int, tmp_path: Path, small_vectors: VectorTable) -> None:
    folder = tmp_path.name
    for number in range(4):
        put(server, f"{folder}/guide/{number}.md", article("sea", number))
    put(server, f"{folder}/guide/", "")
    put(server, f"{folder}/empty.txt", "")
    odd = ["a b%20.md", "what?.md", "h#1.md", "x\\y.md", "é.md", "A.md", "both", "both/f.md"]
    for name in odd:
        put(server, f"{folder}/{name}", f"The ship {name}.")
    with Index.create(tmp_path / "index", vectors=small_vectors) as index:
        done = index.sync(at(proxy, folder))
        assert (done.added, done.skipped) == (5 + len(odd), ())
        assert index.sync().unchanged == 5 + len(odd)
        put(server, f"{folder}/guide/0.md", article("sea", 0).replace("Part 1", "Part 7"))  # as large, at once
        put(server, f"{folder}/guide/1.md", None)
        done = index.sync()
        assert (done.changed, done.removed, done.unchanged) == (1, 1, 3 + len(odd))
        assert index.verify() == []


def test_an_unreachable_bucket_costs_no_document(
    proxy: TcpProxy, server: int, tmp_path: Path, small_vectors: VectorTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path.name
    for number in range(3):
        put(server, f"{folder}/{number}.md", article("sea", number))
    with Index.create(tmp_path / "index", vectors=small_vectors) as index:
        index.sync(at(proxy, folder))
        before = index.search("ship")
        put(server, f"{folder}/new.md", article("law", 1))
        fetch = object_store.ObjectStore.fetch

        def cut(*arguments: object) -> object:
            proxy.close()
            return fetch(*arguments)  # type: ignore[arg-type]

        with monkeypatch.context() as patch:
            patch.setattr(object_store.ObjectStore, "fetch", cut)
            with pytest.raises(StorageError, match="cannot be reached"):
                index.sync()
        assert index.search("ship") == before
        assert "its 3 documents were kept" in index.sync(prune=True).warnings[0]
        assert index.search("ship") == before
