"""Sentences that cannot stand alone."""

from __future__ import annotations

import pytest

from semsearch.search.assemble_context import announces, goes_back


@pytest.mark.parametrize(
    "sentence",
    [
        "It sails at dawn.", "This is why.", "However, the deck is new.", "“They” were there.", "- These are old.",
        "In addition, a rope.", "For example: the anchor.", "It’s late.", "THEREFORE we wait.",
        "On the other hand, no.",
    ],
)  # fmt: skip
def test_what_points_back_is_known_by_its_beginning(sentence: str) -> None:
    assert goes_back(sentence)


@pytest.mark.parametrize(
    "sentence",
    ["Items are many.", "Itself a ship.", "Thisbe waits.", "The ship sails.", "", "Stillness.", "Inn", "However-much"],
)
def test_a_word_that_only_begins_like_it_does_not(sentence: str) -> None:
    assert not goes_back(sentence)


def test_a_colon_announces() -> None:
    assert announces("Take the following:")
    assert announces("**Take these:** ")
    assert not announces("At 10:30 we sail.")
    assert not announces("")
