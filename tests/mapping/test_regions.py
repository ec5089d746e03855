"""Regions are named by the words that tell their passages from the others."""

from __future__ import annotations

import numpy as np

from semsearch.mapping.regions import LEVELS, regions

WORDS = "anchor bakery comet daisy eagle fiddle gavel hammer igloo jungle kettle lantern".split()


def test_a_region_is_named_by_words_of_the_cluster_that_it_lies_on() -> None:
    corners = np.array([(x, y) for x in range(4) for y in range(3)], dtype=np.float32)
    each = 20
    noise = np.random.default_rng(0).normal(0, 0.02, (12 * each, 2))
    points = (np.repeat(corners, each, axis=0) + noise).astype(np.float32)
    texts = [f"The {WORDS[number // each]} of the common village" for number in range(12 * each)]
    found = [region for region in regions(points, np.arange(len(texts)), texts) if region.level == 0]
    assert len({region.words[0] for region in found}) > 8
    for region in found:
        assert WORDS[np.abs(corners - (region.x, region.y)).max(axis=1).argmin()] in region.words
        assert "common" not in region.words[:1]


def test_only_some_texts_need_to_be_read() -> None:
    points = np.random.default_rng(0).normal(0, 1, (1000, 2)).astype(np.float32)
    read = np.arange(0, 1000, 4)
    found = regions(points, read, ["a bright comet"] * len(read))
    assert 900 < sum(region.passages for region in found if region.level == 0) <= 1000


def test_few_passages_have_no_named_regions() -> None:
    assert regions(np.zeros((5, 2), dtype=np.float32), np.arange(5), ["a comet"] * 5) == ()
    assert LEVELS[0] * 8 > 5


def test_texts_without_words_name_nothing() -> None:
    points = np.random.default_rng(0).normal(0, 1, (200, 2)).astype(np.float32)
    assert regions(points, np.arange(200), ["12 34"] * 200) == ()
