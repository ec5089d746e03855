"""Whose a place for tables of Lance is: `owner.lance`, a table with the owner.

It has a first version only once, however many write it at the same time.
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial

from semsearch.errors import StorageError, UsageError
from semsearch.stores.lance.lance_answers import lance_package
from semsearch.stores.lance.place import SUFFIX, LancePlace

OWNER = f"owner{SUFFIX}"
_FASTER = ("already exists", "commit conflict")  # what Lance says where somebody else has written an owner meanwhile


def claim(uri: str, owner: str) -> None:
    """Make the place at a URI an owner's, if it is empty.

    Raises UsageError if it is another's or has other files, StorageError.
    """
    place = LancePlace(uri)
    if place.folder is not None:
        try:
            place.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StorageError(f"{place.base} cannot be made: {error.strerror}") from error
    if owner_of(place) is None:
        if place.entries() - {OWNER}:
            raise UsageError(f"{place.base} has other files; choose an empty place, or one that is not there yet")
        _write_owner(place, owner)
    if owner_of(place) != owner:
        raise UsageError(f"{place.base} has the vectors of another index; choose another place")


def release(uri: str, owner: str) -> None:
    """Delete all tables of an owner at a URI, and its claim; nothing if the place is another's or gone."""
    place = LancePlace(uri)
    if owner_of(place) != owner:
        return
    for name in sorted(place.entries() - {OWNER}):
        if name.endswith(SUFFIX):
            place.drop(name)
    place.drop(OWNER)
    if place.folder is not None:
        with suppress(OSError):  # somebody put another file there
            place.folder.rmdir()


def owner_of(place: LancePlace) -> str | None:
    """The owner of a place, who wrote the first version; None if it has none."""
    lance = lance_package()
    opened = partial(lance.dataset, place.table(OWNER), version=1, storage_options=place.options)
    try:
        return str(place.ask(lambda: opened().to_table()["owner"][0].as_py(), name=OWNER))
    except FileNotFoundError:
        return None


def _write_owner(place: LancePlace, owner: str) -> None:
    import pyarrow  # an optional package

    table, write = pyarrow.table({"owner": [owner]}), lance_package().write_dataset
    try:
        place.ask(partial(write, table, place.table(OWNER), storage_options=place.options))
    except StorageError as error:
        if not any(each in str(error) for each in _FASTER):
            raise
    place.flush(OWNER)
