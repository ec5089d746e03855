"""Fetch the newest generation of a place into the cache, or find what was fetched earlier."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass

from semsearch.errors import IndexDamaged, IndexNotFound, SemsearchError
from semsearch.published.cache import SnapshotCache
from semsearch.published.manifest import CurrentPointer
from semsearch.published.places import Place
from semsearch.published.publisher import get_manifest, get_pointer
from semsearch.published.users import CacheUser
from semsearch.system.uris import shown

_ATTEMPTS = 3  # at a generation that is swept while it is fetched


@dataclass(frozen=True, slots=True)
class GenerationFetcher:
    """Fetches generations of a place for one reader, which says in the cache what it uses."""

    place: Place
    cache: SnapshotCache
    user: CacheUser

    def fetch_newest(self, now: CurrentPointer | None, *, index: str | None, used: Collection[str]) -> CurrentPointer:
        """Return the pointer of the place, once its generation is here.

        `now`: that of the generation that answers. `index`: the id that it must have, if there is one that it must
        have. `used`: the manifests of generations that are still used. Raises IndexNotFound where nothing is published,
        StorageError, and IndexDamaged for what is wrong there.
        """
        for attempt in range(_ATTEMPTS):
            pointer = get_pointer(self.place)
            if pointer is None:
                raise IndexNotFound(f"nothing is published at {self._shown}; there: semsearch publish PLACE")
            if pointer == now:
                return pointer
            self._check_follows(pointer, now, index)
            try:
                self._fetch(pointer, used)
                return pointer
            except (FileNotFoundError, IndexDamaged) as error:  # perhaps it was replaced meanwhile, and swept
                if attempt == _ATTEMPTS - 1 or get_pointer(self.place) == pointer:
                    raise IndexDamaged(f"generation {pointer.generation} of {self._shown}: {error}") from error
        raise AssertionError("the last attempt returns or raises")

    def newest_here(self, *, index: str | None, used: Collection[str]) -> CurrentPointer | None:
        """The newest generation that was fetched earlier, kept from now on; None if there is none of that index."""
        if self.cache.newest() is None:
            return None
        with self.cache.locked():
            here = self.cache.newest()
            if here is None or index not in (None, here.index):
                return None
            self.user.uses({here.manifest, *used})
            return here

    def clean(self) -> None:
        """Delete what no reader uses any more. What cannot be deleted is left to the next time."""
        with suppress(SemsearchError, OSError), self.cache.locked():
            self.cache.clean(self.user)

    def _fetch(self, pointer: CurrentPointer, used: Collection[str]) -> None:
        with self.cache.locked():
            if not self.cache.is_whole(pointer):
                self.cache.fetch(self.place, pointer, get_manifest(self.place, pointer))
            self.cache.keep(pointer)
            self.user.uses({pointer.manifest, *used})

    def _check_follows(self, pointer: CurrentPointer, now: CurrentPointer | None, index: str | None) -> None:
        """Raise IndexDamaged for a pointer that leads to another index, or back."""
        if index is not None and pointer.index != index:
            raise IndexDamaged(f"{self._shown} has another index now; open it again to ask that one")
        if now is not None and pointer.generation < now.generation:
            raise IndexDamaged(f"{self._shown} has gone back to generation {pointer.generation}")

    @property
    def _shown(self) -> str:
        return shown(self.cache.uri)
