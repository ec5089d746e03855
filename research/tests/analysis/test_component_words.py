"""The words nearest to what is removed: their order, sign and shares, of data sets."""

from __future__ import annotations

import numpy as np
import pytest

from semsearch.embedding.components import CommonComponents
from semsearch.word_vectors.table import VectorTable
from semsearch_research.analysis.component_words import FrequentWords


def unit_rows(table: VectorTable) -> np.ndarray:
    rows = table.rows(np.arange(len(table))).astype(float)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def components(*directions: np.ndarray) -> CommonComponents:
    m = len(directions)
    return CommonComponents(np.array(directions), np.linspace(1, 0.5, m), np.linspace(0.4, 0.1, m))


def test_the_nearest_words_have_the_greatest_cosines_and_the_opposite_ones_the_least(
    small_vectors: VectorTable,
) -> None:
    direction = np.random.default_rng(3).normal(size=small_vectors.dimension)
    cosines = unit_rows(small_vectors) @ (direction / np.linalg.norm(direction))
    if small_vectors.frequencies @ small_vectors.rows(np.arange(len(small_vectors))) @ direction < 0:
        cosines = -cosines
    [found] = FrequentWords(small_vectors, min_frequency=0).directions(components(direction), 5)
    order = np.argsort(-cosines)
    assert [word.word for word in found.nearest] == [small_vectors.words[n] for n in order[:5]]
    assert [word.word for word in found.opposite] == [small_vectors.words[n] for n in order[::-1][:5]]
    assert [word.cosine for word in found.nearest] == pytest.approx(np.sort(cosines)[::-1][:5])


def test_a_direction_and_its_opposite_are_the_same(small_vectors: VectorTable) -> None:
    named = FrequentWords(small_vectors, min_frequency=0)
    direction = np.random.default_rng(4).normal(size=small_vectors.dimension)
    assert named.directions(components(direction)) == named.directions(components(-direction))


def test_rare_words_are_left_out(small_vectors: VectorTable) -> None:
    p = small_vectors.frequencies
    named = FrequentWords(small_vectors, min_frequency=float(p[20]))
    [found] = named.directions(components(np.ones(small_vectors.dimension)), 1000)
    assert len(named) == len(found.nearest) == 21
    assert {word.word for word in found.nearest} == set(small_vectors.words[:21])
    assert named.ranks(np.ones(small_vectors.dimension), [small_vectors.words[21]]) == {small_vectors.words[21]: None}


def test_a_rank_is_the_place_among_the_nearest(small_vectors: VectorTable) -> None:
    named, direction = FrequentWords(small_vectors, min_frequency=0), np.ones(small_vectors.dimension)
    [found] = named.directions(components(direction), 7)
    ranks = named.ranks(direction, [word.word for word in found.nearest])
    assert list(ranks.values()) == [1, 2, 3, 4, 5, 6, 7]
