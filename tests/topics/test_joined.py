"""The general and the topic half of a vector: joined, taken apart, and weighed by what is known."""

from __future__ import annotations

import numpy as np
import pytest

from semsearch.search.candidates import mean_cosine
from semsearch.topics.topic_model import Halves, join

NAN = float("nan")


def unit_rows(count: int, width: int, seed: int) -> np.ndarray:
    rows = np.random.default_rng(seed).standard_normal((count, width)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def test_what_was_joined_can_be_taken_apart() -> None:
    general, topics = unit_rows(5, 8, 1), unit_rows(5, 3, 2)
    halves, joined = Halves(3), join(general, topics)
    np.testing.assert_allclose(halves.general(joined), general, atol=1e-6)
    np.testing.assert_allclose(halves.topics(joined), topics, atol=1e-6)
    np.testing.assert_allclose(halves.topics(joined[0]), topics[0], atol=1e-6)
    assert Halves(0).general(general) is general
    assert Halves(0).topics(general).shape == (5, 0)


@pytest.mark.parametrize(
    ("topics", "general", "sentence", "title", "score"),
    [
        (0.8, 0.4, 0.6, 0.1, (4 * 0.8 + 3 * 0.4 + 3 * 0.6 + 0.1) / 11),
        (0.8, 0.4, 0.6, NAN, 0.4 * 0.8 + 0.3 * 0.4 + 0.3 * 0.6),  # a document without a title
        (NAN, 0.4, 0.6, NAN, 0.5),  # no term of it is known to the topics: as if there were none
        (0.8, NAN, NAN, NAN, 0.8),  # no word of it is among the word vectors
        (NAN, NAN, NAN, NAN, NAN),
        (1.0, 1.0, 1.0, 1.0, 1.0),
        (-1.0, -1.0, -1.0, -1.0, -1.0),
    ],
)
def test_a_score_is_the_weighted_mean_of_what_is_known(
    topics: float, general: float, sentence: float, title: float, score: float
) -> None:
    (found,) = mean_cosine(
        {
            "topics": np.array([topics]),
            "passage": np.array([general]),
            "sentence": np.array([sentence]),
            "title": np.array([title]),
        }
    )
    assert found == pytest.approx(score, nan_ok=True)
