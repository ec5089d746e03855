"""Ragged ids and their averages."""

from __future__ import annotations

import numpy as np

from semsearch.embedding.weighted_sums import average, average_few
from semsearch.text.ragged import Ragged

TEXTS = Ragged(np.array([0, 1, 1, 2, 3, 0], dtype=np.int32), np.array([0, 3, 3, 4, 6]))  # the second is empty
TABLE = np.arange(20, dtype=np.float32).reshape(4, 5)


def test_an_average_divides_by_the_number_of_words_with_repetitions() -> None:
    assert np.allclose(average(TEXTS, TABLE)[0], (TABLE[0] + 2 * TABLE[1]) / 3)


def test_an_empty_text_has_a_zero_row() -> None:
    assert not average(TEXTS, TABLE)[1].any()
    assert not average_few(TEXTS, TABLE[TEXTS.ids])[1].any()


def test_the_way_for_few_texts_agrees_with_the_way_for_many() -> None:
    assert np.allclose(average(TEXTS, TABLE), average_few(TEXTS, TABLE[TEXTS.ids]), atol=1e-6)


def test_no_texts_have_no_rows() -> None:
    nothing = Ragged.concatenate([])
    assert average(nothing, TABLE).shape == (0, 5)
    assert average_few(nothing, TABLE[:0]).shape == (0, 5)


def test_joined_rows_hold_the_words_of_all_their_parts() -> None:
    joined = TEXTS.joined(np.array([0, 2, 4]))
    assert joined.ids.tolist() == TEXTS.ids.tolist()
    assert joined.lengths.tolist() == [3, 3]


def test_rows_can_be_taken_in_any_order() -> None:
    taken = TEXTS.take(np.array([3, 0]))
    assert taken.ids.tolist() == [3, 0, 0, 1, 1]
    assert taken.lengths.tolist() == [2, 3]


def test_parts_put_together_are_the_whole() -> None:
    whole = Ragged.concatenate([TEXTS.part(0, 1), TEXTS.part(1, 4)])
    assert whole.ids.tolist() == TEXTS.ids.tolist()
    assert whole.indptr.tolist() == TEXTS.indptr.tolist()


def test_without_repetitions_each_word_stands_once_in_a_text() -> None:
    once = TEXTS.without_repetitions()
    assert once.lengths.tolist() == [2, 0, 1, 2]
    assert once.ids.tolist() == [0, 1, 2, 0, 3]
