"""The contract of vector stores, which holds whatever engine keeps the vectors (semsearch.dense.vector_store).

A test file that imports all of this holds its engines against the contract. It has the fixtures `opener`,
`exact_opener` and `approximate_opener`, each of which opens an empty store, given a folder.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings, strategies as st

from semsearch.arrays.id_ranges import IdRanges
from semsearch.arrays.vectors import from_bytes, to_bytes
from semsearch.dense.vector_store import NO_IDS, SegmentsReader, VectorStore, merge_segments
from semsearch.errors import UsageError
from semsearch.storage.segments import Segment

Float32 = npt.NDArray[np.float32]
Int64 = npt.NDArray[np.int64]
Opener = Callable[[Path], VectorStore]


DIMENSION = 16
ROUNDING = {"passage": 1e-3, "sentence": 5e-3}  # half precision, or signed bytes, of numbers below one


@pytest.fixture
def store(opener: Opener, tmp_path: Path) -> VectorStore:
    """An empty store of every kind."""
    return opener(tmp_path)


@pytest.fixture
def exact(exact_opener: Opener, tmp_path: Path) -> VectorStore:
    """An empty store that compares every vector."""
    return exact_opener(tmp_path)


def unit_rows(n: int, *, seed: int = 0) -> Float32:
    rows = np.random.default_rng(seed).standard_normal((n, DIMENSION)).astype(np.float32)
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


def ids_of(*values: int | range) -> Int64:
    return np.array([id_ for value in values for id_ in ([value] if isinstance(value, int) else value)], np.int64)


def id_ranges(*values: int | range) -> IdRanges:
    return IdRanges.of_ids(ids_of(*values))


def write(store: VectorStore, ids: Int64, rows: Float32, *, generation: int = 1, batch: int = 10) -> list[Segment]:
    with store.writer(generation) as writer:
        for first in range(0, len(ids), batch):
            writer.add(ids[first : first + batch], rows[first : first + batch])
        return writer.finish()


def fetched(reader: SegmentsReader, ids: Int64) -> dict[int, list[float]]:
    found = reader.fetch(ids)
    return dict(zip(ids[found.positions].tolist(), found.rows.tolist(), strict=True))


def told(reader: SegmentsReader, queries: Float32, n: int, *, allowed: IdRanges | None = None) -> list[list[int]]:
    """The ids that answer each query, in order, without what stands for none."""
    return [[id_ for id_ in row if id_ >= 0] for row in reader.search(queries, n, allowed=allowed).ids.tolist()]


def kind_of(store: VectorStore) -> str:
    """The kind of vectors that a store keeps: those of sentences are rounded to bytes."""
    return str(getattr(store, "kind", "passage"))


def by_sorting(reader: SegmentsReader, ids: Int64, queries: Float32, n: int) -> list[list[int]]:
    """The n best of some ids, by their vectors as they are stored; of equal ones the lower."""
    rows = fetched(reader, ids)
    order = []
    for query in queries.astype(np.float64):
        scored = sorted((-float(np.dot(query, row)), id_) for id_, row in rows.items())
        order.append([id_ for _, id_ in scored[:n]])
    return order


# -- what was added is there -----------------------------------------------------------------------------------------


def test_vectors_are_fetched_by_their_ids_and_ids_that_are_not_there_have_none(store: VectorStore) -> None:
    ids, rows = ids_of(range(5, 40), range(60, 100)), unit_rows(75)
    reader = store.open(write(store, ids, rows), NO_IDS)
    wanted = ids_of(99, 4, 5, 50, 60, 1000)
    found = reader.fetch(wanted)
    assert sorted(wanted[found.positions].tolist()) == [5, 60, 99]
    assert found.n == len(wanted)
    kept = fetched(reader, ids)
    assert list(kept) == ids.tolist() or sorted(kept) == ids.tolist()
    np.testing.assert_allclose(
        [kept[id_] for id_ in ids.tolist()], rows, atol=min(ROUNDING[kind_of(store)], reader.rounding)
    )
    assert fetched(reader, ids_of()) == {}


def test_what_is_found_has_the_score_of_its_stored_vector(store: VectorStore) -> None:
    ids, queries = ids_of(range(1, 201)), unit_rows(40, seed=1)
    reader = store.open(write(store, ids, unit_rows(200)), NO_IDS)
    for some in (queries[:3], queries):
        found = reader.search(some, 8)
        for query, scores, own in zip(some, found.scores, found.ids, strict=True):
            assert (np.diff(scores) <= 0).all()
            kept = fetched(reader, own)
            np.testing.assert_allclose(scores, [np.dot(query, kept[id_]) for id_ in own.tolist()], atol=1e-5)


def test_nearly_all_of_the_best_are_found(approximate_opener: Opener, tmp_path: Path) -> None:
    store, ids, queries = approximate_opener(tmp_path), ids_of(range(1, 1001)), unit_rows(200, seed=1)
    (segment,) = write(store, ids, unit_rows(1000), batch=300)
    reader = store.open([segment], NO_IDS)
    pairs = zip(told(reader, queries, 10), by_sorting(reader, ids, queries, 10), strict=True)
    recall = np.mean([len({*found} & {*best}) / 10 for found, best in pairs])
    assert recall > 0.9


def test_of_equal_scores_the_lower_id_comes_first(store: VectorStore) -> None:
    rows = np.repeat(unit_rows(4), 15, axis=0)
    segments = write(store, ids_of(range(30, 90)), rows) + write(store, ids_of(range(1, 16)), rows[:15])
    reader = store.open(segments, NO_IDS)
    twins = [*range(1, 16), *range(30, 45)]
    for queries in (rows[:1], rows[:40]):
        found = reader.search(queries, 75)
        for scores, own in zip(found.scores, found.ids, strict=True):
            steps = [(score, id_) for score, id_ in zip(scores.tolist(), own.tolist(), strict=True) if id_ >= 0]
            assert steps == sorted(steps, key=lambda each: (-each[0], each[1]))
        assert told(reader, queries[:1], 30) == [twins]


def test_a_vector_of_zeros_is_kept_and_scores_zero(exact: VectorStore) -> None:
    rows = unit_rows(3)
    rows[1] = 0
    reader = exact.open(write(exact, ids_of(7, 8, 9), rows), NO_IDS)
    assert fetched(reader, ids_of(8))[8] == [0.0] * DIMENSION
    found = reader.search(rows[:1], 3)
    assert float(found.scores[found.ids == 8][0]) == 0


# -- the edges -------------------------------------------------------------------------------------------------------


def test_a_store_without_segments_answers_with_nothing(store: VectorStore) -> None:
    assert write(store, ids_of(), unit_rows(0)) == []
    reader = store.open([], NO_IDS)
    assert told(reader, unit_rows(2), 5) == [[], []]
    assert told(reader, unit_rows(40), 5) == [[]] * 40
    assert fetched(reader, ids_of(1, 2)) == {}


def test_more_may_be_asked_for_than_there_is(store: VectorStore) -> None:
    reader = store.open(write(store, ids_of(range(1, 61)), unit_rows(60)), NO_IDS)
    for queries in (unit_rows(1, seed=1), unit_rows(40, seed=1)):
        found = reader.search(queries, 10_000)
        assert found.ids.shape == found.scores.shape
        assert all(len({*own}) == len(own) <= 60 for own in told(reader, queries, 10_000))
        none = found.ids < 0
        assert np.isneginf(found.scores[none]).all()
        assert (np.diff(none.astype(int), axis=1) >= 0).all()  # they come last


def test_no_query_has_no_answer(store: VectorStore) -> None:
    reader = store.open(write(store, ids_of(range(1, 61)), unit_rows(60)), NO_IDS)
    assert len(reader.search(unit_rows(0), 5).ids) == 0


def test_a_batch_finds_what_each_query_finds_by_itself(store: VectorStore) -> None:
    reader = store.open(write(store, ids_of(range(1, 61)), unit_rows(60)), id_ranges(range(50, 55)))
    queries = unit_rows(600, seed=5)
    for allowed in (None, id_ranges(range(1, 60, 2))):
        together = told(reader, queries, 7, allowed=allowed)
        for row in range(0, 600, 67):
            assert together[row] == told(reader, queries[row : row + 1], 7, allowed=allowed)[0]


# -- filters and removal ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("allowed", [(3,), (7, 44, 45), (range(20, 33),), (range(1, 200, 5),), (range(150, 400),)])
def test_only_allowed_ids_answer_and_all_of_them_where_they_are_few(
    store: VectorStore, allowed: tuple[int | range, ...]
) -> None:
    ids = ids_of(range(1, 101), range(150, 200))
    reader = store.open(write(store, ids, unit_rows(150)), NO_IDS)
    inside = np.intersect1d(ids, ids_of(*allowed))
    for queries in (unit_rows(2, seed=1), unit_rows(40, seed=1)):
        found = told(reader, queries, len(inside), allowed=id_ranges(*allowed))
        assert all(sorted(own) == inside.tolist() for own in found)


def test_where_no_id_is_allowed_nothing_answers(store: VectorStore) -> None:
    reader = store.open(write(store, ids_of(range(1, 61)), unit_rows(60)), id_ranges(7))
    for allowed in (NO_IDS, id_ranges(900), id_ranges(7)):
        assert told(reader, unit_rows(2), 5, allowed=allowed) == [[], []]
        assert told(reader, unit_rows(40), 5, allowed=allowed) == [[]] * 40


def test_removed_ids_neither_answer_nor_are_fetched(store: VectorStore) -> None:
    ids, rows = ids_of(range(1, 101)), unit_rows(100)
    segments = write(store, ids, rows)
    reader = store.open(segments, id_ranges(range(1, 90), 95))
    left = {*range(90, 101)} - {95}
    for queries in (rows[:1], rows[:40]):
        assert all({*own} <= left for own in told(reader, queries, 100))
    assert {*fetched(reader, ids)} == left
    assert {id_ for own in told(reader, rows[:1], 11, allowed=id_ranges(range(80, 101))) for id_ in own} == left
    assert told(store.open(segments, id_ranges(range(1, 101))), rows[:1], 5) == [[]]


# -- generations -----------------------------------------------------------------------------------------------------


def test_a_reader_sees_its_generation_while_others_are_written_and_after(store: VectorStore) -> None:
    ids, rows, queries = ids_of(range(1, 61)), unit_rows(60), unit_rows(3, seed=1)
    first = write(store, ids, rows)
    reader = store.open(first, NO_IDS)
    before = told(reader, queries, 60), fetched(reader, ids)
    with store.writer(2) as writer:
        writer.add(ids_of(range(61, 101)), unit_rows(40, seed=2))
        assert (told(reader, queries, 60), fetched(reader, ids)) == before
        second = writer.finish()
    merged = merge_segments(store, [*first, *second], id_ranges(1, 2, 3), generation=3)
    assert (told(reader, queries, 60), fetched(reader, ids)) == before
    again = store.open(first, NO_IDS)
    assert (told(again, queries, 60), fetched(again, ids)) == before
    assert sorted(fetched(store.open(merged, NO_IDS), ids_of(range(1, 200)))) == [*range(4, 101)]


def test_the_same_ids_can_be_written_anew_beside_the_old_ones(store: VectorStore) -> None:
    ids, old, new = ids_of(range(1, 11)), unit_rows(10), unit_rows(10, seed=9)
    before, after = write(store, ids, old), write(store, ids, new, generation=2)
    for segments, rows in ((before, old), (after, new)):
        kept = fetched(store.open(segments, NO_IDS), ids)
        np.testing.assert_allclose([kept[id_] for id_ in ids.tolist()], rows, atol=ROUNDING[kind_of(store)])


def test_a_writer_that_gives_up_leaves_nothing_that_answers_and_all_that_it_left_can_be_dropped(
    store: VectorStore,
) -> None:
    ids, queries = ids_of(range(1, 31)), unit_rows(2, seed=1)
    segments = write(store, ids, unit_rows(30))
    named = {segment.file for segment in segments}
    before = told(store.open(segments, NO_IDS), queries, 30)
    with store.writer(2) as writer:
        writer.add(ids_of(range(31, 51)), unit_rows(20, seed=2))
    write(store, ids_of(range(31, 51)), unit_rows(20, seed=2), generation=2)  # finished, and never committed
    assert told(store.open(segments, NO_IDS), queries, 30) == before
    assert named < {*store.names()}
    for name in {*store.names()} - named:
        store.drop(name)
    assert {*store.names()} == named
    assert told(store.open(segments, NO_IDS), queries, 30) == before


def test_a_dropped_segment_is_gone_and_the_error_names_it(store: VectorStore) -> None:
    segments = write(store, ids_of(range(1, 11)), unit_rows(10))
    for segment in segments:
        store.drop(segment.file)
        store.drop(segment.file)  # nobody minds
    for work in (lambda: store.open(segments, NO_IDS), lambda: store.check(segments[0])):
        with pytest.raises(FileNotFoundError) as refusal:
            work()
        assert segments[0].file in str(refusal.value.filename)


def test_a_whole_segment_has_nothing_wrong_and_says_what_it_holds(store: VectorStore) -> None:
    ids = ids_of(range(5, 45), range(60, 80))
    segments = write(store, ids, unit_rows(60))
    assert [problem for segment in segments for problem in store.check(segment)] == []
    assert [id_ for segment in segments for id_ in segment.id_ranges.all_ids().tolist()] == ids.tolist()
    assert all(segment.size > 0 for segment in segments)
    assert len({segment.file for segment in segments}) == len(segments)


# -- what is refused -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ids", [(1, 2, 2), (1, 3, 2), (5,)])
def test_an_id_that_comes_twice_or_too_late_is_refused(store: VectorStore, ids: tuple[int, ...]) -> None:
    with store.writer(1) as writer:
        writer.add(ids_of(0), unit_rows(1))
        if ids == (5,):
            writer.add(ids_of(4, 5), unit_rows(2))
        with pytest.raises(UsageError, match=r"the id \d came after \d"):
            writer.add(ids_of(*ids), unit_rows(len(ids)))


def test_vectors_of_another_dimension_or_number_are_refused(store: VectorStore) -> None:
    with store.writer(1) as writer:
        writer.add(ids_of(1), unit_rows(1))
        with pytest.raises(UsageError, match="8 numbers came after ones of 16"):
            writer.add(ids_of(2), unit_rows(1)[:, :8])
        with pytest.raises(UsageError, match="2 ids"):
            writer.add(ids_of(2, 3), unit_rows(1))
        with pytest.raises(UsageError, match="1 ids"):
            writer.add(ids_of(2), unit_rows(1)[0])
    reader = store.open(write(store, ids_of(1), unit_rows(1)), NO_IDS)
    for queries in (unit_rows(1)[:, :8], unit_rows(40)[:, :8], unit_rows(1)[0]):
        with pytest.raises(UsageError, match="16 numbers"):
            reader.search(queries, 5)


# -- together --------------------------------------------------------------------------------------------------------


def test_threads_share_a_store_and_a_reader(store: VectorStore) -> None:
    segments = write(store, ids_of(range(1, 201)), unit_rows(200))
    queries, ids = unit_rows(40, seed=1), ids_of(range(1, 201))
    expected, kept = (
        told(store.open(segments, id_ranges(9)), queries, 10),
        store.open(segments, id_ranges(9)).fetch(ids),
    )
    shared, failures, ready = store.open(segments, id_ranges(9)), list[BaseException](), threading.Barrier(4)

    def ask(number: int) -> None:
        try:
            ready.wait()
            for turn in range(10):
                reader = shared if (number + turn) % 2 else store.open(segments, id_ranges(9))
                assert told(reader, queries, 10) == expected
                assert np.array_equal(reader.fetch(ids).rows, kept.rows)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


class History:
    """A store that is written, removed from and merged, compared with a dictionary that is treated alike."""

    def __init__(self, store: VectorStore) -> None:
        self.store = store
        self.segments: list[Segment] = []
        self.removed: set[int] = set()
        self.truth: dict[int, Float32] = {}
        self.next = self.generation = 1

    def add(self, count: int) -> None:
        ids, rows = ids_of(range(self.next, self.next + count)), unit_rows(count, seed=self.next)
        self.segments += write(self.store, ids, rows, generation=self.generation)
        stored = from_bytes(to_bytes(rows)) if kind_of(self.store) == "sentence" else rows.astype(np.float16)
        self.truth |= dict(zip(ids.tolist(), stored.astype(np.float32), strict=True))
        self.next, self.generation = self.next + count + 1, self.generation + 1  # an id was never given

    def remove(self, ids: Iterable[int]) -> None:
        self.removed |= {id_ for id_ in ids if id_ in self.truth}
        self.truth = {id_: row for id_, row in self.truth.items() if id_ not in self.removed}

    def merge(self, chosen_numbers: Iterable[int]) -> None:
        chosen = [segment for number, segment in enumerate(self.segments) if number in {*chosen_numbers}]
        new = merge_segments(self.store, chosen, id_ranges(*sorted(self.removed)), generation=self.generation)
        self.segments = [segment for segment in self.segments if segment not in chosen] + new
        for segment in chosen:
            self.store.drop(segment.file)

    def check(self) -> None:
        reader = self.store.open(self.segments, id_ranges(*sorted(self.removed)))
        held = fetched(reader, ids_of(range(self.next)))
        assert held == {id_: row.tolist() for id_, row in self.truth.items()}
        for queries in (unit_rows(1, seed=77), unit_rows(33, seed=77)):
            assert told(reader, queries, 6) == by_sorting(reader, ids_of(*self.truth), queries, 6)
        assert {*self.store.names()} == {segment.file for segment in self.segments}


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.integers(1, 25)),
        st.tuples(st.just("remove"), st.sets(st.integers(1, 60), max_size=20)),
        st.tuples(st.just("merge"), st.sets(st.integers(0, 5), min_size=1)),
    ),
    max_size=8,
)


@given(steps=STEPS)
@settings(max_examples=15, deadline=None)
def test_any_history_leaves_what_a_dictionary_would_hold(
    exact_opener: Opener, steps: list[tuple[str, object]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    history = History(exact_opener(tmp_path_factory.mktemp("history")))
    for name, argument in steps:
        getattr(history, name)(argument)
    history.check()
