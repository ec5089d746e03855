"""Segments hold what was put into them, and say when they do not."""

from __future__ import annotations

from pathlib import Path

import faiss
import numpy as np
import pytest

from semsearch.arrays.id_ranges import IdRanges
from semsearch.dense.faiss_store import FaissStore, OpenedFaissSegment
from semsearch.dense.vector_store import NO_IDS, merge_segments
from semsearch.errors import IndexDamaged
from semsearch.storage.segments import Kind, Segment
from semsearch.system.durable import written_file


def unit_rows(n: int, *, seed: int = 0) -> np.ndarray:
    rows = np.random.default_rng(seed).standard_normal((n, 16)).astype(np.float32)
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


def written(
    folder: Path, ids: np.ndarray, rows: np.ndarray, *, largest: int = 1000, kind: Kind = "passage"
) -> list[Segment]:
    writer = FaissStore(folder, kind, largest=largest).writer(7)
    for first in range(0, len(ids), 10):
        writer.add(ids[first : first + 10], rows[first : first + 10])
    return writer.finish()


def test_a_file_is_byte_by_byte_what_faiss_writes(tmp_path: Path) -> None:
    rows = unit_rows(35)
    (segment,) = written(tmp_path, np.arange(35, dtype=np.int64), rows)
    index = faiss.IndexScalarQuantizer(16, faiss.ScalarQuantizer.QT_fp16, faiss.METRIC_INNER_PRODUCT)
    index.add(rows)
    faiss.write_index(index, str(tmp_path / "peer"))
    assert (tmp_path / segment.file).read_bytes() == (tmp_path / "peer").read_bytes()


def test_vectors_of_sentences_are_bytes_that_come_back_with_length_one(tmp_path: Path) -> None:
    rows = np.concatenate((unit_rows(34), np.zeros((1, 16), dtype=np.float32)))
    (segment,) = written(tmp_path, np.arange(35, dtype=np.int64), rows, kind="sentence")
    index = faiss.IndexScalarQuantizer(16, faiss.ScalarQuantizer.QT_8bit_direct_signed, faiss.METRIC_INNER_PRODUCT)
    index.add(np.rint(rows * (127 / np.abs(rows).max(axis=1, initial=1e-9, keepdims=True))))
    faiss.write_index(index, str(tmp_path / "peer"))
    assert (tmp_path / segment.file).read_bytes() == (tmp_path / "peer").read_bytes()
    opened = OpenedFaissSegment(tmp_path / segment.file, segment)
    found = opened.rows(np.arange(35))
    np.testing.assert_allclose(found, rows, atol=opened.rounding)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), [1] * 34 + [0], atol=1e-6)
    assert np.abs((found * rows[3]).sum(axis=1) - rows @ rows[3]).max() < 5e-3
    assert found.nbytes > 4 * 35 * 15 > segment.size - 200


def test_a_writer_that_does_not_finish_leaves_whole_files_only(tmp_path: Path) -> None:
    with FaissStore(tmp_path, "passage", largest=8).writer(7) as writer:
        writer.add(np.arange(10, dtype=np.int64), unit_rows(10))
        assert len(list(tmp_path.iterdir())) == 2
    assert [path.name for path in tmp_path.iterdir()] == [writer.segments[0].file]


def test_a_file_that_is_not_what_the_database_says_is_refused(tmp_path: Path) -> None:
    (segment,) = written(tmp_path, np.arange(9, dtype=np.int64), unit_rows(9))
    path = tmp_path / segment.file
    with pytest.raises(IndexDamaged, match="8 vectors"):
        OpenedFaissSegment(path, segment._replace(id_ranges=IdRanges.of([(0, 8)])))
    whole = path.read_bytes()
    for at in range(0, len(whole) - 9 * 2 * 16, 4):  # FAISS by itself would read beyond the end for some of them
        path.write_bytes(whole[:at] + b"\xff\xff\xff\x7f" + whole[at + 4 :])
        with pytest.raises(IndexDamaged, match="--rebuild"):
            OpenedFaissSegment(path, segment._replace(sums=written_file(path).sums))
    path.write_bytes(whole[:-10])
    with pytest.raises(IndexDamaged, match="bytes"):
        OpenedFaissSegment(path, segment)


def test_segments_of_different_dimensions_are_damage(tmp_path: Path) -> None:
    store = FaissStore(tmp_path, "passage")
    segments = []
    for first, dimension in ((0, 16), (10, 24)):
        with store.writer(1) as writer:
            writer.add(np.arange(first, first + 10, dtype=np.int64), spread(10, dimension))
            segments += writer.finish()
    with pytest.raises(IndexDamaged, match="different lengths"):
        store.open(segments, IdRanges.of(()))


class SmallStore(FaissStore):
    """A store whose segments have codes from so many vectors on."""

    gathering: int | None = None


def listed(folder: Path, rows: np.ndarray, coded: int | None = None) -> OpenedFaissSegment:
    """Rows with the ids from 100 on, as one segment."""
    folder.mkdir(exist_ok=True)
    store = SmallStore(folder, "passage", largest=30_000)
    store.gathering = coded
    writer = store.writer(7)
    for first in range(0, len(rows), 300):
        writer.add(np.arange(100 + first, 100 + min(first + 300, len(rows)), dtype=np.int64), rows[first : first + 300])
    (segment,) = writer.finish()
    return OpenedFaissSegment(folder / segment.file, segment)


# -- codes -------------------------------------------------------------------------------------------------------------


def coded(folder: Path, rows: np.ndarray) -> OpenedFaissSegment:
    opened = listed(folder, rows, coded=100)  # so that a small segment is like a large one
    assert opened.has_codes
    return opened


def spread(n: int, dimension: int = 48, *, seed: int = 0) -> np.ndarray:
    rows = np.random.default_rng(seed).standard_normal((n, dimension)).astype(np.float32)
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


def near(rows: np.ndarray, some: slice) -> np.ndarray:
    """Queries near some of the rows."""
    queries = rows[some] + 0.02 * spread(len(rows[some]), rows.shape[1], seed=9)
    return np.asarray(queries / np.linalg.norm(queries, axis=1, keepdims=True))


def watched(opened: OpenedFaissSegment, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The candidates that first scans are asked for from now on."""
    asked: list[int] = []
    loaded = opened._loaded

    class Watched:
        def search(self, queries: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
            asked.append(n)
            found: tuple[np.ndarray, np.ndarray] = loaded().search(queries, n)
            return found

    monkeypatch.setattr(opened, "_loaded", Watched)
    return asked


def test_a_first_scan_of_codes_finds_what_comparing_all_finds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = spread(9000)
    opened, plain = coded(tmp_path / "a", rows), listed(tmp_path / "b", rows)
    asked = watched(opened, monkeypatch)
    assert not plain.has_codes
    queries = near(rows, slice(100, 140))
    found, expected = opened.scan(queries, 3), plain.scan(queries, 3)
    assert asked == [400]
    assert found.ids[:, 0].tolist() == expected.ids[:, 0].tolist() == [*range(200, 240)]
    assert (found.ids == expected.ids).mean() > 0.95
    same = found.ids == expected.ids
    np.testing.assert_allclose(found.scores[same], expected.scores[same], atol=1e-6)
    alone = [opened.scan(query[None], 3).ids[0].tolist() for query in queries]
    assert alone == found.ids.tolist()


def test_a_segment_with_codes_has_the_same_vectors_at_the_same_place(tmp_path: Path) -> None:
    rows = spread(3000)
    opened, plain = coded(tmp_path / "a", rows), listed(tmp_path / "b", rows)
    data, without = ((tmp_path / name / each.segment.file).read_bytes() for name, each in (("a", opened), ("b", plain)))
    assert data.startswith(without)
    assert np.array_equal(opened.rows(np.array([2999, 0])), plain.rows(np.array([2999, 0])))
    centroids = np.frombuffer(data, np.float32, 24 * 16 * 2, offset=len(without))
    packed = np.frombuffer(data, np.uint8, offset=len(without) + centroids.nbytes)
    peer = faiss.IndexPQFastScan(48, 24, 4, faiss.METRIC_INNER_PRODUCT)
    faiss.copy_array_to_vector(centroids, peer.pq.centroids)
    peer.is_trained = True
    peer.add(opened.rows(np.arange(3000)))  # FAISS looks for the nearest centroid of each pair
    assert (faiss.rev_swig_ptr(peer.codes.get(), 3008 * 12) != packed).mean() < 1e-4  # an edge may round either way


def test_what_is_not_allowed_is_never_found_and_takes_no_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = spread(12_000)
    opened, plain = coded(tmp_path / "a", rows[:10_000]), listed(tmp_path / "b", rows[:10_000])
    asked, queries = watched(opened, monkeypatch), near(rows, slice(0, 40))
    for share, scans in ((0.999, 1), (0.9, 1), (0.2, 0)):
        allowed = np.random.default_rng(3).random(10_000) < share
        allowed[:40] = False  # the very nearest
        for some in (queries[:3], queries):
            found, expected = opened.scan(some, 3, allowed=allowed), plain.scan(some, 3, allowed=allowed)
            assert allowed[found.ids - 100].all()
            assert np.mean(found.ids == expected.ids) > 0.8
            if not scans:
                assert found.ids.tolist() == expected.ids.tolist()
        assert len(asked) == 2 * scans
        asked.clear()


def test_where_what_is_not_allowed_is_nearer_all_that_is_allowed_is_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = spread(12_000)
    rows[:3000, 0] += 3  # near the query, and not allowed
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    opened, plain = coded(tmp_path / "a", rows), listed(tmp_path / "b", rows)
    asked, allowed = watched(opened, monkeypatch), np.arange(12_000) >= 3000
    query = np.eye(1, 48, dtype=np.float32)
    found, expected = opened.scan(query, 20, allowed=allowed), plain.scan(query, 20, allowed=allowed)
    assert asked == [667]
    assert found.ids.tolist() == expected.ids.tolist()


def test_more_results_than_a_sixteenth_holds_are_found_by_comparing_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = spread(9000)
    opened = coded(tmp_path, rows)
    asked = watched(opened, monkeypatch)
    found = opened.scan(rows[:1], 9000)
    assert sorted(found.ids[0].tolist()) == [*range(100, 9100)]
    assert asked == []


def test_vectors_of_few_numbers_have_no_codes(tmp_path: Path) -> None:
    assert not listed(tmp_path, spread(200, 8), coded=100).has_codes


def test_a_damaged_code_is_noticed_before_the_first_scan(tmp_path: Path) -> None:
    opened = coded(tmp_path, spread(9000))
    path = tmp_path / opened.segment.file
    data = bytearray(path.read_bytes())
    data[-40_000] ^= 1
    path.write_bytes(data)
    again = OpenedFaissSegment(path, opened.segment)
    assert again.rows(np.array([3])).shape == (1, 48)
    with pytest.raises(IndexDamaged, match="differ"):
        again.scan(spread(1, seed=2), 3)
    assert FaissStore(tmp_path, "passage").check(opened.segment) == [f"{path.name} does not match its digest"]


def test_segments_without_codes_are_read_and_get_them_when_they_are_merged(tmp_path: Path) -> None:
    rows, store = spread(9000), FaissStore(tmp_path, "passage", exact=False)
    earlier = written(tmp_path, np.arange(9000, dtype=np.int64), rows, largest=5000)
    reader, queries = store.open(earlier, NO_IDS), near(rows, slice(50, 60))
    removed = IdRanges.of([(0, 20)])
    (merged,) = merge_segments(store, earlier, removed, generation=8)
    assert OpenedFaissSegment(tmp_path / merged.file, merged).has_codes
    found = store.open([merged], NO_IDS).search(queries, 1)
    assert found.ids.tolist() == reader.search(queries, 1).ids.tolist() == [[row] for row in range(50, 60)]
