"""Sweep a place: delete manifests of earlier generations, and blocks that no manifest names, after a grace period.

A reader that began with an earlier generation goes on fetching it that long. The times are those of the publisher's own
clock, kept in its note, not those of the place.
"""

from __future__ import annotations

from dataclasses import replace

from semsearch.errors import IndexDamaged
from semsearch.published.blocks import block_name, each_at_once
from semsearch.published.manifest import MOST_MANIFEST, PublishedManifest
from semsearch.published.naming import BLOCKS, MANIFESTS
from semsearch.published.places import Place, get_checked
from semsearch.storage.publication import PublicationNote, PublishedGeneration
from semsearch.system import clock


def swept(place: Place, note: PublicationNote, newest: PublishedManifest, *, grace: float) -> PublicationNote:
    """Delete what nothing has named for `grace` seconds; the note with what is left."""
    now = clock.now()
    kept = _with_readers(note.generations, now - grace)
    named = {block_name(digest) for digest in newest.blocks()}
    unnamed = {name: since for name, since in note.unnamed.items() if name not in named}
    is_due = len(kept) < len(note.generations) or any(since <= now - grace for since in unnamed.values())
    if not is_due and len(note.generations) > 1:  # the first time, what was left by others is found
        return replace(note, unnamed=unnamed)
    named |= {f"{MANIFESTS}{each.manifest}" for each in kept} | _blocks_of(place, kept[:-1])
    there = [name for prefix in (MANIFESTS, BLOCKS) for name in place.names(prefix)]
    gone = {f"{MANIFESTS}{each.manifest}" for each in note.generations} - named
    since = {name: 0.0 if name in gone else unnamed.get(name, now) for name in there if name not in named}
    expired = [name for name, when in since.items() if when <= now - grace]
    for _ in each_at_once(place.delete, expired):
        pass
    left = {name: when for name, when in since.items() if when > now - grace}
    return replace(note, generations=kept, unnamed=left)


def _with_readers(generations: tuple[PublishedGeneration, ...], long_ago: float) -> tuple[PublishedGeneration, ...]:
    """The generations that were replaced since then, or not yet."""
    replaced = [each.at for each in generations[1:]]
    old = [each for each, when in zip(generations, replaced, strict=False) if when > long_ago]
    return (*old, generations[-1])


def _blocks_of(place: Place, generations: tuple[PublishedGeneration, ...]) -> set[str]:
    """The names of the blocks of some published generations."""

    def blocks(one: PublishedGeneration) -> set[str]:
        try:
            data = get_checked(place, f"{MANIFESTS}{one.manifest}", MOST_MANIFEST, "the manifest")
            return PublishedManifest.from_bytes(data).blocks()
        except (FileNotFoundError, IndexDamaged):  # so nobody can be reading it
            return set()

    return {block_name(digest) for found in each_at_once(blocks, generations) for digest in found}
