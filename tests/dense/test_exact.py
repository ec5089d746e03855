"""Many questions at once find what each finds by itself."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pytest
from small import small_vectors, write_articles

from semsearch.arrays.top_k import TopK, TopKResult
from semsearch.dense.segments_reader import compare_all
from semsearch.index import Index
from semsearch.results.hits import Hit
from semsearch.results.options import Mode

Float32 = npt.NDArray[np.float32]
Int64 = npt.NDArray[np.int64]
QUESTIONS = [
    f"{first} {second}"
    for first in ("the ship", "a telescope", "bread and butter", "violin", "roses", "a comet")
    for second in ("in the night", "captain sleeps", "of old", "and soil", "", "concert, sail", "harbour")
]


def drawn(count: int, queries: int) -> tuple[Float32, Float32]:
    generator = np.random.default_rng(7)
    vectors = generator.integers(-3, 4, size=(count, 6)).astype(np.float32)  # whole numbers: many are equal
    return vectors, generator.integers(-3, 4, size=(queries, 6)).astype(np.float32)


def best_rows(vectors: Float32, queries: Float32, n: int, *, rows: Int64 | None = None, block: int = 64) -> TopKResult:
    best = TopK(len(queries), n)
    rows = np.arange(len(vectors)) if rows is None else rows
    compare_all(best, queries, rows, decode=lambda some: vectors[some], ids=lambda some: some, block=block)
    return best.best()


def by_sorting(vectors: Float32, query: Float32, n: int) -> list[tuple[int, float]]:
    scored = [(row, float(np.dot(vector, query))) for row, vector in enumerate(vectors)]
    return sorted(scored, key=lambda each: (-each[1], each[0]))[:n]


@pytest.mark.parametrize("block", [1, 7, 64, 1000])
def test_blocks_find_the_best_of_all_and_of_equal_ones_the_first(block: int) -> None:
    vectors, queries = drawn(300, 20)
    best = best_rows(vectors, queries, 9, block=block)
    for query, scores, rows in zip(queries, best.scores, best.ids, strict=True):
        assert list(zip(rows.tolist(), scores.tolist(), strict=True)) == by_sorting(vectors, query, 9)


def test_only_the_given_rows_are_found_and_only_they_are_decoded() -> None:
    vectors, queries = drawn(200, 5)
    best = TopK(5, 4)
    decoded: list[int] = []

    def decode(rows: npt.NDArray[np.int64]) -> Float32:
        decoded.extend(rows.tolist())
        return vectors[rows]

    compare_all(best, queries, np.arange(1, 200, 3), decode=decode, ids=lambda rows: 1000 + rows, block=16)
    assert decoded == list(range(1, 200, 3))
    for query, ids in zip(queries, best.best().ids, strict=True):
        assert ids.tolist() == [1001 + 3 * row for row, _ in by_sorting(vectors[1::3], query, 4)]


def test_where_there_are_too_few_rows_the_rest_is_none() -> None:
    vectors, queries = drawn(3, 2)
    best = best_rows(vectors, queries, 5, block=2)
    assert np.sort(best.ids[:, :3], axis=1).tolist() == [[0, 1, 2]] * 2
    assert best.ids[:, 3:].tolist() == [[-1, -1]] * 2
    assert np.isneginf(best.scores[:, 3:]).all()
    assert best_rows(vectors[:0], queries, 2).ids.tolist() == [[-1, -1]] * 2
    assert best_rows(vectors, queries[:0], 2).ids.shape == (0, 2)


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    folder = tmp_path_factory.mktemp("batches")
    write_articles(folder / "docs", 60)
    with Index.create(folder / "index", vectors=small_vectors(folder), components=1) as made:
        made.sync(folder / "docs")
        for path in sorted((folder / "docs").glob("*"))[::7]:
            path.unlink()  # so that rows of the segment are to be left out
        made.sync(folder / "docs")
        yield made


def told(hits: list[Hit]) -> list[tuple[int, int, tuple[int, ...]]]:
    return [(hit.passage_id, hit.sentence_id, tuple(each.passage_id for each in hit.duplicates)) for hit in hits]


@pytest.mark.parametrize("mode", ["hybrid", "dense", "lexical"])
@pytest.mark.parametrize("filters", [(), ("night*",)])
def test_a_batch_answers_as_its_questions_do_one_by_one(index: Index, mode: Mode, filters: tuple[str, ...]) -> None:
    assert len(QUESTIONS) > 32  # from there on they are compared as a batch
    together = index.search_many(QUESTIONS, 5, mode=mode, filters=filters)
    for question, hits in zip(QUESTIONS, together, strict=True):
        alone = index.search(question, 5, mode=mode, filters=filters)
        assert told(hits) == told(alone)
        assert [hit.score for hit in hits] == pytest.approx([hit.score for hit in alone], abs=1e-6)
