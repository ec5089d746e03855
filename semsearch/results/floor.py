"""The floor of relevance: hits at the end of an answer that are below it are left out, and said to be weak.

The order of an answer never changes: a hit below the floor stays while one above it follows, and so does a hit of which
it cannot be told how likely it answers.
"""

from __future__ import annotations

from collections.abc import Sequence

from semsearch.results.hits import Hit

FLOOR = 0.03  # Measurements, "How likely a hit answers": on none of seven collections it loses one answer in a hundred


def strong_part(hits: Sequence[Hit], floor: float = FLOOR) -> list[Hit]:
    """The hits up to the last one that is not below the floor; none if all are."""
    strong = len(hits)
    while strong and _is_weak(hits[strong - 1], floor):
        strong -= 1
    return list(hits[:strong])


def _is_weak(hit: Hit, floor: float) -> bool:
    return hit.relevance is not None and hit.relevance < floor
