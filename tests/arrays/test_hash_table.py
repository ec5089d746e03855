"""Open addressing against a dict."""

from __future__ import annotations

import numpy as np

from semsearch.arrays.hash_table import HashIndex


def test_the_table_answers_as_a_dict_does_while_it_grows() -> None:
    rng = np.random.default_rng(1)
    index, expected = HashIndex(), dict[int, int]()
    for step in range(20):
        keys = np.setdiff1d(
            rng.integers(1, 50_000, size=200, dtype=np.uint64), np.array(list(expected), dtype=np.uint64)
        )
        values = np.arange(len(keys), dtype=np.int32) + 1000 * step
        index.insert(keys, values)
        expected.update(zip(keys.tolist(), values.tolist(), strict=True))
        wanted = rng.integers(1, 60_000, size=500, dtype=np.uint64)
        assert index.look_up(wanted).tolist() == [expected.get(key, -1) for key in wanted.tolist()]
    assert index.count == len(expected)


def test_keys_that_want_the_same_place_are_all_found() -> None:
    keys = (np.arange(1, 40, dtype=np.uint64) << np.uint64(32)) | np.uint64(7)  # equal in their low bits
    index = HashIndex(expected=64)
    index.insert(keys, np.arange(39, dtype=np.int32))
    assert index.look_up(keys).tolist() == list(range(39))
    assert index.look_up(keys + np.uint64(1)).tolist() == [-1] * 39


def test_an_empty_table_knows_nothing() -> None:
    assert HashIndex().look_up(np.array([5], dtype=np.uint64)).tolist() == [-1]
