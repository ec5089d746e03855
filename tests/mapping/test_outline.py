"""An outline on a map holds the passages inside it."""

from __future__ import annotations

import numpy as np
import pytest

from semsearch.errors import UsageError
from semsearch.mapping.passage_map import PassageMap

GRID = PassageMap(
    1, np.arange(100, 109), np.array([(x, y) for x in (0, 1, 2) for y in (0, 1, 2)], dtype=np.float32), (), 9
)


def test_the_passages_inside_are_found() -> None:
    assert GRID.within([(0.5, 0.5), (2.5, 0.5), (2.5, 1.5), (0.5, 1.5)]).tolist() == [104, 107]


def test_it_may_be_concave() -> None:
    arrow = [(-0.5, -0.5), (2.5, -0.5), (2.5, 2.5), (1.5, 0.4), (-0.5, 2.5)]
    assert GRID.within(arrow).tolist() == [100, 101, 103, 106, 107]


@pytest.mark.parametrize("wrong", [[], [(0, 0), (1, 1)], [(0, 0, 0)] * 3, [(0, float("nan"))] * 3, [("a", "b")] * 3, 7])
def test_what_is_no_outline_is_refused(wrong: object) -> None:
    with pytest.raises(UsageError, match="three or more corners"):
        GRID.within(wrong)  # type: ignore[arg-type]
