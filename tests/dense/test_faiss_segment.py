"""Segments hold what was put into them, and say when they do not."""

from __future__ import annotations

from pathlib import Path

import faiss
import numpy as np
import pytest

from semsearch.arrays.id_ranges import IdRanges
from semsearch.arrays.vectors import from_bytes, to_bytes
from semsearch.dense import faiss_store
from semsearch.dense.faiss_store import FaissStore, Vectors
from semsearch.dense.faiss_writer import SegmentWriter
from semsearch.dense.scan_plan import ScanOptions
from semsearch.dense.segments_reader import SegmentsReader
from semsearch.dense.vector_store import NO_IDS
from semsearch.errors import IndexDamaged
from semsearch.results.reports import Scan
from semsearch.storage.segments import Kind, Segment
from semsearch.system.durable import file_digest


def unit_rows(n: int, *, seed: int = 0) -> np.ndarray:
    rows = np.random.default_rng(seed).standard_normal((n, 16)).astype(np.float32)
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


def written(
    folder: Path, ids: np.ndarray, rows: np.ndarray, *, largest: int = 1000, kind: Kind = "passage"
) -> list[Segment]:
    writer = SegmentWriter(folder, kind, generation=7, largest=largest)
    for first in range(0, len(ids), 10):
        writer.add(ids[first : first + 10], rows[first : first + 10])
    return writer.finish()


def test_a_segment_gives_back_its_vectors_by_id(tmp_path: Path) -> None:
    ids, rows = np.r_[5:20, 40:60].astype(np.int64), unit_rows(35)
    (segment,) = written(tmp_path, ids, rows)
    opened = Vectors(tmp_path / segment.file, segment)
    assert segment.id_ranges.ranges == [(5, 15), (40, 20)]
    assert segment.digest == file_digest(tmp_path / segment.file)
    np.testing.assert_allclose(opened.rows(segment.id_ranges.below(np.array([40, 5]))), rows[[15, 0]], atol=1e-3)


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
    opened = Vectors(tmp_path / segment.file, segment)
    found = opened.rows(np.arange(35))
    np.testing.assert_allclose(found, rows, atol=opened.rounding)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), [1] * 34 + [0], atol=1e-6)
    assert np.abs((found * rows[3]).sum(axis=1) - rows @ rows[3]).max() < 5e-3
    assert found.nbytes > 4 * 35 * 15 > segment.size - 200


def test_vectors_of_sentences_may_be_given_as_the_bytes_that_are_stored(tmp_path: Path) -> None:
    rows, ids = unit_rows(35), np.arange(35, dtype=np.int64)
    (one,) = written(tmp_path, ids, rows, kind="sentence")
    (two,) = written(tmp_path, ids, to_bytes(rows), kind="sentence")
    assert one.digest == two.digest


def test_vectors_of_sentences_of_an_earlier_version_are_read_and_merged_with_bytes(tmp_path: Path) -> None:
    (old,) = written(tmp_path, np.arange(20, dtype=np.int64), unit_rows(20))
    (new,) = written(tmp_path, np.arange(20, 40, dtype=np.int64), unit_rows(20, seed=1), kind="sentence")
    segments = [Segment("sentence", old.file, old.size, old.id_ranges, old.digest, sums=old.sums), new]
    store = FaissStore(tmp_path, "sentence")
    before = store.open(segments, NO_IDS).fetch(np.arange(40))
    after = store.open(store.merge(segments, NO_IDS, generation=8), NO_IDS).fetch(np.arange(40))
    np.testing.assert_allclose(before.rows[:20], unit_rows(20), atol=1e-3)
    assert np.array_equal(after.rows, from_bytes(to_bytes(before.rows)))
    assert np.array_equal(after.rows[20:], before.rows[20:])  # rounded once, and never again


@pytest.mark.parametrize("dimension", [1, 3, 256])
def test_bytes_that_are_encoded_again_stay_as_they_are(dimension: int) -> None:
    rows = np.random.default_rng(0).standard_normal((500, dimension)).astype(np.float32)
    once = to_bytes(rows / np.linalg.norm(rows, axis=1, keepdims=True))
    assert np.array_equal(to_bytes(from_bytes(once)), once)


def test_a_writer_that_does_not_finish_leaves_whole_files_only(tmp_path: Path) -> None:
    with SegmentWriter(tmp_path, "passage", generation=7, largest=8) as writer:
        writer.add(np.arange(10, dtype=np.int64), unit_rows(10))
        assert len(list(tmp_path.iterdir())) == 2
    assert [path.name for path in tmp_path.iterdir()] == [writer.segments[0].file]


def test_a_scan_is_the_exact_order_by_cosine(tmp_path: Path) -> None:
    ids, rows = np.arange(100, 300, dtype=np.int64), unit_rows(200)
    (segment,) = written(tmp_path, ids, rows)
    query = unit_rows(1, seed=1)
    found = Vectors(tmp_path / segment.file, segment).scan(query, 10)
    assert found.ids[0].tolist() == (100 + np.argsort(-(rows @ query[0]))[:10]).tolist()


def test_only_allowed_rows_are_found_and_nothing_fills_the_gap(tmp_path: Path) -> None:
    (segment,) = written(tmp_path, np.arange(50, dtype=np.int64), unit_rows(50))
    allowed = np.zeros(50, dtype=np.bool_)
    allowed[[3, 33]] = True
    found = Vectors(tmp_path / segment.file, segment).scan(unit_rows(2, seed=1), 5, allowed=allowed)
    assert sorted(found.ids[0].tolist()) == [-1, -1, -1, 3, 33]


def test_a_writer_starts_a_new_file_where_one_is_full(tmp_path: Path) -> None:
    segments = written(tmp_path, np.arange(25, dtype=np.int64), unit_rows(25), largest=8)
    assert [segment.id_ranges.ranges for segment in segments] == [[(0, 8)], [(8, 8)], [(16, 8)], [(24, 1)]]
    assert written(tmp_path, np.zeros(0, dtype=np.int64), unit_rows(0)) == []


def test_a_file_that_is_not_what_the_database_says_is_refused(tmp_path: Path) -> None:
    (segment,) = written(tmp_path, np.arange(9, dtype=np.int64), unit_rows(9))
    path = tmp_path / segment.file
    with pytest.raises(IndexDamaged, match="9 vectors, not 8"):
        Vectors(path, Segment("passage", segment.file, segment.size, IdRanges.of([(0, 8)]), segment.digest))
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(IndexDamaged, match="bytes"):
        Vectors(path, segment)
    path.write_bytes(b"x" * segment.size)
    with pytest.raises(IndexDamaged, match="not a vector file"):
        Vectors(path, segment)


LISTS = ScanOptions(factory="IVF20,SQfp16")


def listed(
    folder: Path, rows: np.ndarray, wanted: ScanOptions = LISTS, *, questions: np.ndarray | None = None
) -> Vectors:
    """Rows with the ids from 100 on, as one segment."""
    folder.mkdir(exist_ok=True)
    asked = None if questions is None else lambda _: questions
    writer = SegmentWriter(folder, "passage", generation=7, largest=30_000, scanning=wanted, questions=asked)
    for first in range(0, len(rows), 300):
        writer.add(np.arange(100 + first, 100 + min(first + 300, len(rows)), dtype=np.int64), rows[first : first + 300])
    (segment,) = writer.finish()
    return Vectors(folder / segment.file, segment)


def clustered(n: int, *, seed: int = 0) -> np.ndarray:
    """Unit vectors around twenty centres."""
    generator = np.random.default_rng(seed)
    centres = np.random.default_rng(5).standard_normal((20, 16))
    rows = centres[generator.integers(20, size=n)] + 0.5 * generator.standard_normal((n, 16))
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)


def test_a_segment_with_lists_has_the_same_vectors_under_the_same_numbers(tmp_path: Path) -> None:
    rows = clustered(1000)
    with_lists, plain = listed(tmp_path / "a", rows), listed(tmp_path / "b", rows, ScanOptions(exact=True))
    assert with_lists.segment.scan is not None
    assert plain.segment.scan is None
    some = np.array([999, 0, 500, 500, 3])
    assert np.array_equal(with_lists.rows(some), plain.rows(some))
    assert with_lists.rows(np.zeros(0, dtype=np.int64)).shape == (0, 16)


def test_looking_into_all_lists_is_the_exact_scan(tmp_path: Path) -> None:
    rows, queries = clustered(1000), clustered(5, seed=1)
    exact = listed(tmp_path / "a", rows).scan(queries, 20, exact=True)
    plain = listed(tmp_path / "b", rows, ScanOptions(exact=True)).scan(queries, 20)
    assert exact.ids.tolist() == plain.ids.tolist()
    np.testing.assert_allclose(exact.scores, plain.scores, atol=1e-6)


def test_what_is_found_in_some_lists_has_its_exact_score(tmp_path: Path) -> None:
    rows, queries = clustered(1000), clustered(5, seed=1)
    opened = listed(tmp_path, rows)
    found = opened.scan(queries, 10)
    for ids, scores, query in zip(found.ids, found.scores, queries, strict=True):
        np.testing.assert_allclose(scores, opened.rows(ids - 100) @ query, atol=1e-5)


def test_the_recall_that_is_told_reaches_the_target_and_holds_for_other_questions(tmp_path: Path) -> None:
    rows, others = clustered(3000), clustered(200, seed=2)
    plain = listed(tmp_path / "plain", rows, ScanOptions(exact=True))
    probes = []
    for target in (0.6, 0.95):
        opened = listed(tmp_path / str(target), rows, ScanOptions(target_recall=target, factory="IVF54,SQfp16"))
        scan = opened.segment.scan
        assert scan is not None
        assert scan.recall >= target
        expected = plain.scan(others, 10).ids
        found = [
            len({*a} & {*b}) / 10 for a, b in zip(expected.tolist(), opened.scan(others, 10).ids.tolist(), strict=True)
        ]
        assert abs(float(np.mean(found)) - scan.recall) < 0.1
        probes.append(scan.probes)
    assert 1 <= probes[0] < probes[1] < 54


def test_it_is_measured_with_the_questions_that_are_given(tmp_path: Path) -> None:
    rows = clustered(1000)
    easy = listed(tmp_path / "a", rows, questions=rows[:200]).segment.scan
    hard = listed(tmp_path / "b", rows, questions=unit_rows(200, seed=3)).segment.scan
    assert easy is not None
    assert hard is not None
    assert easy.questions == hard.questions == 100
    assert easy.probes < hard.probes


def test_the_fewer_rows_are_allowed_the_more_lists_are_looked_into(tmp_path: Path) -> None:
    rows, queries = clustered(2000), clustered(20, seed=4)
    opened = listed(tmp_path, rows, ScanOptions(target_recall=0.9, factory="IVF44,SQfp16"))
    for few in (np.arange(7, 2000, 100), np.arange(3)):
        allowed = np.zeros(2000, dtype=np.bool_)
        allowed[few] = True
        found = opened.scan(queries, 10, allowed=allowed)
        expected = few[np.argsort(-(queries @ rows[few].T), axis=1)][:, :10] + 100
        assert [[*ids[ids >= 0]] for ids in found.ids] == expected.tolist()


def test_the_same_vectors_are_written_as_the_same_bytes(tmp_path: Path) -> None:
    rows = clustered(1500)
    one, other = (listed(tmp_path / name, rows).segment for name in "ab")
    assert (one.digest, one.scan) == (other.digest, other.scan)


def test_more_than_half_precision_can_be_given_up_and_is_measured(tmp_path: Path) -> None:
    rows, queries = clustered(2000), clustered(5, seed=1)
    for factory in ("SQ8", "IVF20,SQ8", "IVF20,Flat", "Flat"):
        opened = listed(tmp_path / factory, rows, ScanOptions(factory=factory))
        scan = opened.segment.scan
        assert scan is not None
        assert (scan.factory, scan.vectors) == (factory, 2000)
        assert scan.recall >= 0.85
        np.testing.assert_allclose(opened.rows(np.array([5, 1999])), rows[[5, 1999]], atol=opened.rounding)
        assert opened.scan(queries, 3).ids.shape == (5, 3)


def test_rows_without_direction_and_twins_do_no_harm(tmp_path: Path) -> None:
    rows = clustered(1000)
    rows[:300] = 0
    rows[300:600] = rows[300]
    found = listed(tmp_path, rows).scan(rows[300:301], 5)
    assert (found.ids[0] >= 400).all()
    np.testing.assert_allclose(found.scores[0], 1, atol=1e-3)


def test_a_large_file_is_asked_for_the_lists_that_a_query_searches_each_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(faiss_store, "_READ_WHOLE", 0)
    scanning = ScanOptions(factory="IVF63,SQfp16")
    with SegmentWriter(tmp_path, "passage", generation=7, largest=9000, scanning=scanning) as writer:
        writer.add(np.arange(4000, dtype=np.int64), unit_rows(4000))
        (segment,) = writer.finish()
    opened, asked = Vectors(tmp_path / segment.file, segment), list[tuple[int, int]]()
    monkeypatch.setattr(opened._file, "expect", lambda start, end: asked.append((start, end)))
    assert segment.scan is not None
    query = unit_rows(1, seed=9)
    found = opened.scan(query, 10)
    assert len(asked) == segment.scan.probes < segment.scan.lists
    once = [*asked]
    assert opened.scan(query, 10).ids.tolist() == found.ids.tolist()
    assert asked == once
    opened.scan(unit_rows(200, seed=3), 10)
    assert len({*asked}) == len(asked) == segment.scan.lists
    begun, ends = zip(*sorted(asked), strict=True)
    assert (begun[1:], ends[-1]) == (ends[:-1], segment.size)  # all of the lists, which are the last of the file


# -- codes -------------------------------------------------------------------------------------------------------------

CODES = ScanOptions(listed=100)  # so that a small segment is like a large one


def coded(folder: Path, rows: np.ndarray, options: ScanOptions = CODES) -> Vectors:
    opened = listed(folder, rows, options)
    assert opened.segment.scan is not None
    assert opened.segment.scan.factory == f"PQ{rows.shape[1] // 2}x4fs,Refine(SQfp16)"
    return opened


def spread(n: int, dimension: int = 48, *, seed: int = 0) -> np.ndarray:
    rows = np.random.default_rng(seed).standard_normal((n, dimension)).astype(np.float32)
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


def near(rows: np.ndarray, some: slice) -> np.ndarray:
    """Queries near some of the rows."""
    queries = rows[some] + 0.02 * spread(len(rows[some]), rows.shape[1], seed=9)
    return np.asarray(queries / np.linalg.norm(queries, axis=1, keepdims=True))


def watched(opened: Vectors, monkeypatch: pytest.MonkeyPatch) -> list[int]:
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
    opened, plain = coded(tmp_path / "a", rows), listed(tmp_path / "b", rows, ScanOptions(exact=True))
    asked = watched(opened, monkeypatch)
    assert plain.segment.scan is None
    assert (opened.compares_all, plain.compares_all) == (False, True)
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
    opened, plain = coded(tmp_path / "a", rows), listed(tmp_path / "b", rows, ScanOptions(exact=True))
    data, without = ((tmp_path / name / each.segment.file).read_bytes() for name, each in (("a", opened), ("b", plain)))
    assert data.startswith(without)
    assert np.array_equal(opened.rows(np.array([2999, 0])), plain.rows(np.array([2999, 0])))
    index = faiss.deserialize_index(np.frombuffer(data[len(without) :], np.uint8))
    assert (type(index).__name__, index.ntotal) == ("IndexPQFastScan", 3000)
    centroids, packed = faiss.vector_to_array(index.pq.centroids), faiss.rev_swig_ptr(index.codes.get(), 3008 * 12)
    peer = faiss.IndexPQFastScan(48, 24, 4, faiss.METRIC_INNER_PRODUCT)
    faiss.copy_array_to_vector(centroids, peer.pq.centroids)
    peer.is_trained = True
    peer.add(opened.rows(np.arange(3000)))  # FAISS looks for the nearest centroid of each pair
    assert (faiss.rev_swig_ptr(peer.codes.get(), 3008 * 12) != packed).mean() < 1e-4  # an edge may round either way


@pytest.mark.parametrize("dimension", [2, 6, 50])
def test_any_even_number_of_dimensions_gets_codes_and_an_odd_one_none(tmp_path: Path, dimension: int) -> None:
    rows = spread(500, dimension)
    opened = listed(tmp_path / "even", rows, CODES)
    assert opened.segment.scan is not None
    assert opened.scan(rows[7:8], 1).ids.tolist() == [[107]]
    assert listed(tmp_path / "odd", spread(500, dimension + 1), CODES).segment.scan is None


def test_what_is_not_allowed_is_never_found_and_takes_no_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = spread(12_000)
    opened, plain = coded(tmp_path / "a", rows[:10_000]), listed(tmp_path / "b", rows[:10_000], ScanOptions(exact=True))
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
    opened, plain = coded(tmp_path / "a", rows), listed(tmp_path / "b", rows, ScanOptions(exact=True))
    asked, allowed = watched(opened, monkeypatch), np.arange(12_000) >= 3000
    query = np.eye(1, 48, dtype=np.float32)
    found, expected = opened.scan(query, 20, allowed=allowed), plain.scan(query, 20, allowed=allowed)
    assert asked == [667]
    assert found.ids.tolist() == expected.ids.tolist()


def test_equal_vectors_of_a_first_scan_come_in_their_order(tmp_path: Path) -> None:
    rows = spread(9000)
    rows[[5, 8000, 70, 1234]] = rows[5]
    opened = coded(tmp_path, rows)
    for n in (4, 6):
        found = SegmentsReader([opened], NO_IDS).search(rows[5:6], n)
        assert found.ids[0, :4].tolist() == [105, 170, 1334, 8100]
        assert len({*found.scores[0, :4].tolist()}) == 1
    assert sorted(opened.scan(rows[5:6], 2).ids[0].tolist()) == [105, 170]


def test_codes_after_vectors_of_other_than_half_floats_are_not_used(tmp_path: Path) -> None:
    rows = spread(500)
    coded_bytes = (tmp_path / "a" / coded(tmp_path / "a", rows).segment.file).read_bytes()
    plain = listed(tmp_path / "b", rows, ScanOptions(exact=True))
    codes = coded_bytes[plain.segment.size :]
    flat = faiss.IndexFlatIP(48)
    flat.add(rows)
    path = tmp_path / plain.segment.file
    path.write_bytes(faiss.serialize_index(flat).tobytes() + codes)
    scan = Scan("PQ24x4fs,Refine(Flat)", 500, 0, 8, 1.0, 64)
    segment = Segment("passage", path.name, path.stat().st_size, IdRanges.of([(100, 500)]), "", scan)
    opened = Vectors(path, segment)
    assert opened.compares_all
    assert opened.scan(rows[:3], 1).ids[:, 0].tolist() == [100, 101, 102]


def test_more_results_than_a_sixteenth_holds_are_found_by_comparing_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = spread(9000)
    opened = coded(tmp_path, rows)
    asked = watched(opened, monkeypatch)
    found = opened.scan(rows[:1], 9000)
    assert sorted(found.ids[0].tolist()) == [*range(100, 9100)]
    assert asked == []


def test_codes_that_do_not_reach_the_target_are_not_kept(tmp_path: Path) -> None:
    opened = listed(tmp_path, spread(20_000, 2), ScanOptions(listed=100, target_recall=1.0))  # sixteen kinds of codes
    assert opened.segment.scan is None
    assert opened.compares_all


def test_the_same_vectors_get_the_same_codes(tmp_path: Path) -> None:
    one, other = (coded(tmp_path / name, spread(2000)).segment for name in "ab")
    assert (one.digest, one.scan, one.sums) == (other.digest, other.scan, other.sums)


def test_a_damaged_code_is_noticed_before_the_first_scan(tmp_path: Path) -> None:
    opened = coded(tmp_path, spread(9000))
    path = tmp_path / opened.segment.file
    data = bytearray(path.read_bytes())
    data[-40_000] ^= 1
    path.write_bytes(data)
    again = Vectors(path, opened.segment)
    assert again.rows(np.array([3])).shape == (1, 48)
    with pytest.raises(IndexDamaged, match="differ"):
        again.scan(spread(1, seed=2), 3)
    assert FaissStore(tmp_path, "passage").check(opened.segment) == [f"{path.name} does not match its digest"]


def test_segments_without_codes_are_read_and_get_them_when_they_are_merged(tmp_path: Path) -> None:
    rows, store = spread(9000), FaissStore(tmp_path, "passage", scanning=ScanOptions())
    earlier = written(tmp_path, np.arange(9000, dtype=np.int64), rows, largest=5000)
    assert [each.scan for each in earlier] == [None, None]
    reader, queries = store.open(earlier, NO_IDS), near(rows, slice(50, 60))
    removed = IdRanges.of([(0, 20)])
    (merged,) = store.merge(earlier, removed, generation=8)
    assert merged.scan is not None
    assert (merged.scan.vectors, merged.scan.probes) == (8980, 8)
    found = store.open([merged], NO_IDS).search(queries, 1)
    assert found.ids.tolist() == reader.search(queries, 1).ids.tolist() == [[row] for row in range(50, 60)]
    unknown = Segment("passage", merged.file, merged.size, merged.id_ranges, merged.digest, sums=merged.sums)
    assert Vectors(tmp_path / merged.file, unknown).compares_all  # without an entry of how it is scanned
