"""The merge rule keeps segments few and rewrites little."""

from __future__ import annotations

import random

from semsearch.indexing.segment_merging import SegmentSize, choose_merge


def test_too_many_segments_lose_their_smallest_and_keep_their_largest() -> None:
    sizes = [SegmentSize(100_000, 0), *[SegmentSize(10, 0)] * 8]
    assert choose_merge(sizes) == list(range(1, 9))


def test_a_vector_is_rewritten_about_as_often_as_the_index_doubles() -> None:
    generator = random.Random(0)
    segments: list[int] = []
    written = added = 0
    for _ in range(3000):
        new = generator.randint(1, 20)
        segments.append(new)
        added += new
        chosen = choose_merge([SegmentSize(count, 0) for count in segments])
        if chosen:
            total = sum(segments[index] for index in chosen)
            written += total
            segments = [count for index, count in enumerate(segments) if index not in chosen] + [total]
        assert len(segments) <= 8
    assert written < 12 * added


def test_small_segments_become_one_that_is_scanned_faster_when_together_they_are_twice_as_large() -> None:
    sizes = [SegmentSize(5000, 0), SegmentSize(90, 0), SegmentSize(60, 0), SegmentSize(49, 0)]
    assert choose_merge(sizes, gathering=100) == []
    assert choose_merge([*sizes, SegmentSize(1, 0)], gathering=100) == [1, 2, 3, 4]
    assert choose_merge([*sizes, SegmentSize(1, 0)]) == []
