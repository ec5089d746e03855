"""Objects that are fetched before they are needed, a few at a time: each answer of a store takes its time to come."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from functools import partial

from semsearch.sources.objects.object_store import FetchedObject, ObjectState, fetch_object
from semsearch.system.deadline import Begun

_AHEAD = 8  # objects that are fetched at the same time, or lie ready
_MOST = 32_000_000  # bytes of these; but one object may be larger


def fetched_ahead(
    objects: Sequence[tuple[str, ObjectState] | None], most: int
) -> Iterator[Begun[FetchedObject] | None]:
    """Begin to fetch objects, given by path and state, in their order; yield each fetch when it is its turn.

    Of each the first `most` bytes are fetched. None stays None.
    """
    begun: deque[tuple[Begun[FetchedObject] | None, int]] = deque()
    rest = deque(objects)
    while begun or rest:
        held = sum(size for _, size in begun)
        while rest and (not begun or (len(begun) < _AHEAD and held < _MOST)):
            wanted = rest.popleft()
            size = 0 if wanted is None else min(wanted[1].size, most)
            begun.append((None if wanted is None else Begun(partial(fetch_object, *wanted, most)), size))
            held += size
        yield begun.popleft()[0]
