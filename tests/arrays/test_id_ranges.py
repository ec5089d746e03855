"""Runs of ids behave as the plain arrays they stand for."""

from __future__ import annotations

import numpy as np
from hypothesis import given, strategies as st

from semsearch.arrays.id_ranges import IdRanges

ids = st.sets(st.integers(1, 60)).map(lambda found: np.array(sorted(found), dtype=np.int64))


def test_neighbouring_ranges_become_one_run_and_empty_ones_vanish() -> None:
    assert IdRanges.of([(5, 3), (1, 4), (20, 0), (9, 1)]).ranges == [(1, 7), (9, 1)]
    assert IdRanges.of([]).ranges == []


@given(ids)
def test_runs_give_back_the_ids_they_were_made_of(given_ids: np.ndarray) -> None:
    ranges = IdRanges.of_ids(given_ids)
    assert len(ranges) == len(given_ids)
    assert ranges.all_ids().tolist() == given_ids.tolist()
    assert IdRanges.from_bytes(ranges.to_bytes()).all_ids().tolist() == given_ids.tolist()
    assert ranges.below(given_ids).tolist() == list(range(len(given_ids)))


@given(ids, ids)
def test_overlap_membership_and_difference_are_those_of_sets(left: np.ndarray, right: np.ndarray) -> None:
    one, other = IdRanges.of_ids(left), IdRanges.of_ids(right)
    assert one.overlap(other) == len(set(left.tolist()) & set(right.tolist()))
    assert one.has(right).tolist() == np.isin(right, left).tolist()
    assert one.rows_in(other).tolist() == np.isin(left, right).tolist()
    assert one.without(other).all_ids().tolist() == sorted(set(left.tolist()) - set(right.tolist()))
