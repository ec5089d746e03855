"""One index, one place: the claim, an object with the index's own id, which is there before anything else."""

from __future__ import annotations

from semsearch.errors import StorageError, UsageError
from semsearch.published.manifest import MOST_POINTER, PlaceClaim
from semsearch.published.naming import CLAIM
from semsearch.published.places import Place, get_checked
from semsearch.system.uris import shown


def claim(place: Place, uri: str, own: PlaceClaim, *, take_over: bool = False) -> None:
    """Claim a place for an index. Raises UsageError if it is another's, unless that one is to be replaced."""
    if place.create(CLAIM, own.to_bytes()):
        return
    if take_over:
        place.replace(CLAIM, own.to_bytes())
        return
    check_claim(place, uri, own.index)


def check_claim(place: Place, uri: str, index: str) -> None:
    """Check that a place is an index's own. Raises UsageError if it is another's, StorageError if it is nobody's."""
    try:
        found = PlaceClaim.from_bytes(get_checked(place, CLAIM, MOST_POINTER, "the claim"))
    except FileNotFoundError:
        raise StorageError(
            f"{shown(uri)} has nothing of this index; is it mounted? To begin anew: semsearch publish {shown(uri)}"
        ) from None
    if found.index != index:
        raise UsageError(
            f"{shown(uri)} has another index, which is written at {found.written_at}; publish to another place, or, if "
            "this one shall replace it there: semsearch publish --take-over"
        )
