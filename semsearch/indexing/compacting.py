"""Compacting: the files of an index into as few as there need be, without what was removed. A write like any other."""

from __future__ import annotations

from collections.abc import Callable

from semsearch.indexing.merge_policy import Size, to_compact
from semsearch.indexing.transaction import Report, locked, writing
from semsearch.settings import Settings
from semsearch.storage.database import Store
from semsearch.storage.manifest import get_removed, get_segments
from semsearch.storage.segments import KINDS, LARGEST, LARGEST_WORDS
from semsearch.word_vectors.table import WordVectors


def compact(
    store: Store, settings: Settings, vectors: Callable[[], WordVectors], *, report: Report, largest: int = LARGEST
) -> bool:
    """Rewrite what is to be rewritten, as one new generation; False where there is nothing to do."""
    with locked(store):
        if not _is_due(store, largest):
            return False
        with writing(store, settings, vectors, report) as write:
            write.finish()
            write.generation.compact()
    return True


def _is_due(store: Store, largest: int) -> bool:
    with store.reading() as db:
        segments = get_segments(db)
        for kind in KINDS:
            removed = get_removed(db, kind)
            sizes = [Size(len(s.runs), s.runs.overlap(removed)) for s in segments if s.kind == kind]
            if to_compact(sizes, largest=LARGEST_WORDS if kind == "words" else largest):
                return True
    return False
