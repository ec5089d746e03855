"""An index made on a cluster is the index of one process, bit for bit."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import fsspec
import pytest
from sample_files import bombs
from scale_servers.clusters import small_cluster
from small import article, sentence, write_articles

from semsearch import Index, Progress
from semsearch.indexing import read_files, spool, sync
from semsearch.indexing.read_files import Chunk, PreparerElsewhere, SentChunk
from semsearch.word_vectors.table import VectorTable
from semsearch_scale.cluster import ClusterError

if TYPE_CHECKING:
    from distributed import LocalCluster


@pytest.fixture(autouse=True)
def many_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a few files be many chunks and many batches."""
    monkeypatch.setattr(sync, "_CHUNK_BYTES", 2000)
    monkeypatch.setattr(spool, "_ROWS", 60)


def write_documents(folder: Path) -> Path:
    write_articles(folder, 30)
    for number in range(12):
        text = " ".join(sentence("sea", number).replace(".", " breadmaker.") for _ in range(2))
        (folder / f"own{number}.md").write_text(article("kitchen", number) + text, encoding="utf-8")
    (folder / "page.html").write_text("<h1>Sails</h1><p>The anchor of the <b>ship</b> is lost.</p>", encoding="utf-8")
    (folder / "binary.txt").write_bytes(b"\x00\x01\x02" * 100)
    (folder / "empty.txt").write_text("", encoding="utf-8")
    return folder


def segments(index: Index) -> list[bytes]:
    """The contents of all files of vectors, topics and words, whose names are drawn by chance."""
    return sorted(path.read_bytes() for path in (index.path / "segments").iterdir())


def test_a_cluster_makes_the_index_of_one_process(
    tmp_path: Path, small_vectors: VectorTable, cluster: LocalCluster
) -> None:
    documents = write_documents(tmp_path / "documents")
    with Index.create(tmp_path / "one", vectors=small_vectors.folder) as one:
        alone = one.sync(documents)
        with (
            Index.create(tmp_path / "two", vectors=small_vectors.folder) as two,
            small_cluster(1) as other,
            Index.create(tmp_path / "three", vectors=small_vectors.folder) as three,
        ):
            together = two.sync(documents, cluster=cluster.scheduler_address)
            three.sync(documents, cluster=other.scheduler_address)
            assert replace(alone, seconds=0) == replace(together, seconds=0)
            assert [Path(skip.path).name for skip in together.skipped] == ["binary.txt"]
            assert segments(one) == segments(two) == segments(three)
            assert one.problems() == two.problems()
            assert not two.verify()
            assert two.sync(cluster=cluster.scheduler_address).unchanged == together.added


def test_a_file_that_kills_its_reader_on_a_worker_costs_only_itself(
    tmp_path: Path, small_vectors: VectorTable, cluster: LocalCluster
) -> None:
    pytest.importorskip("pypdfium2", reason="an optional dependency")
    write_articles(tmp_path / "documents", 3)
    for name, data in (("bomb.pdf", bombs.saves_its_state()), ("sound.pdf", bombs.sound())):
        (tmp_path / "documents" / name).write_bytes(data)
    with Index.create(tmp_path / "index", vectors=small_vectors.folder) as index:
        report = index.sync(tmp_path / "documents", cluster=cluster.scheduler_address)
        assert [Path(skip.path).name for skip in report.skipped] == ["bomb.pdf"]
        assert "takes more than" in report.skipped[0].reason
        assert report.added == 4


def test_what_workers_do_not_see_is_read_by_the_one_that_writes(
    tmp_path: Path, small_vectors: VectorTable, cluster: LocalCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    documents = write_documents(tmp_path / "documents")
    with (
        Index.create(tmp_path / "one", vectors=small_vectors.folder) as one,
        Index.create(tmp_path / "two", vectors=small_vectors.folder) as two,
    ):
        alone = one.sync(documents)
        monkeypatch.setattr(read_files, "is_seen_here", lambda file: "own" not in file.path)
        assert two.sync(documents, cluster=cluster.scheduler_address).added == alone.added
        assert segments(one) == segments(two)


def test_workers_fetch_the_objects_of_a_store_themselves(
    tmp_path: Path, small_vectors: VectorTable, cluster: LocalCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory, folder = fsspec.filesystem("memory"), tmp_path.name
    memory.put(f"{write_documents(tmp_path / 'documents')}/", f"/{folder}/docs/", recursive=True)
    read: list[str] = []
    prepare = PreparerElsewhere.__call__

    def noted(self: PreparerElsewhere, sent: SentChunk) -> Chunk | None:
        chunk = prepare(self, sent)
        read.extend(file.absolute for file in sent.files if chunk is not None)
        return chunk

    with (
        Index.create(tmp_path / "one", vectors=small_vectors.folder) as one,
        Index.create(tmp_path / "two", vectors=small_vectors.folder) as two,
    ):
        one.sync(f"memory://{folder}/docs")
        monkeypatch.setattr(PreparerElsewhere, "__call__", noted)
        two.sync(f"memory://{folder}/docs", cluster=cluster.scheduler_address)
        assert segments(one) == segments(two)
        assert set(read) == {document.path for document in two.documents()} | {f"memory://{folder}/docs/binary.txt"}


def test_a_cluster_that_is_lost_leaves_the_index_as_it_was(tmp_path: Path, small_vectors: VectorTable) -> None:
    documents = tmp_path / "documents"
    write_articles(documents, 4)
    with Index.create(tmp_path / "index", vectors=small_vectors.folder) as index:
        index.sync(documents)
        before, hits = segments(index), index.search("a ship in the harbour")
        write_articles(documents, 40)
        lost = small_cluster(1)

        def lose(progress: Progress) -> None:
            if progress.files:
                lost.close()

        with pytest.raises(ClusterError, match="no longer answers; nothing was changed"):
            index.sync(cluster=lost.scheduler_address, progress=lose)
        assert segments(index) == before
        assert index.search("a ship in the harbour") == hits
        assert index.sync().added == 36
