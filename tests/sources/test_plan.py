"""A plan says what happened between two looks at a disk."""

from __future__ import annotations

from collections.abc import Sequence
from zlib import crc32

from semsearch.sources.unchanged import CLOCK_TICK_NS, KnownDocument, PresentFile, SyncPlan, plan

SETTLED = 10 * CLOCK_TICK_NS


def known(path: str, content: str = "text", *, mtime: int = 5, checked: int = SETTLED) -> KnownDocument:
    return KnownDocument(crc32(path.encode()), 1, path, f"/docs/{path}", len(content), mtime, checked, content)


def present(path: str, content: str = "text", *, mtime: int = 5) -> PresentFile:
    return PresentFile(1, path, f"/docs/{path}", path, content, len(content), mtime)


def compare(before: list[KnownDocument], now: list[PresentFile]) -> SyncPlan:
    """In these tests `absolute` is the content, and a content is its own digest."""
    return plan(
        before, now, digests=lambda files: [None if (text := file.absolute) == "LOCKED" else text for file in files]
    )


def test_the_same_size_and_an_older_time_prove_that_nothing_happened() -> None:
    asked: list[PresentFile] = []

    def digests(files: Sequence[PresentFile]) -> list[str]:
        asked.extend(files)
        return [file.absolute for file in files]

    found = plan([known("a")], [present("a")], digests=digests)
    assert found.unchanged == 1
    assert found.is_empty
    assert asked == []


def test_a_time_within_a_clock_tick_of_the_last_reading_proves_nothing() -> None:
    recent = known("a", "text", mtime=SETTLED - CLOCK_TICK_NS)
    same_size_edit = present("a", "next", mtime=recent.mtime_ns)
    assert [pair.present for pair in compare([recent], [same_size_edit]).changed] == [same_size_edit]
    untouched = present("a", "text", mtime=recent.mtime_ns)
    assert [pair.present for pair in compare([recent], [untouched]).touched] == [untouched]


def test_a_new_time_with_the_old_content_is_only_a_touch() -> None:
    found = compare([known("a")], [present("a", mtime=7)])
    assert (len(found.touched), len(found.changed)) == (1, 0)


def test_added_changed_and_removed_are_told_apart() -> None:
    found = compare([known("a"), known("b")], [present("b", "other"), present("c", "third")])
    assert [file.path for file in found.added] == ["c"]
    assert [pair.known.path for pair in found.changed] == ["b"]
    assert [document.path for document in found.removed] == ["a"]


def test_a_file_that_appears_with_the_content_of_one_that_vanished_has_moved() -> None:
    found = compare([known("a.md")], [present("sub/b.md", mtime=9)])
    assert [(pair.known.path, pair.present.path) for pair in found.moved] == [("a.md", "sub/b.md")]
    assert found.added == []
    assert found.removed == []


def test_a_copy_is_an_addition_and_a_new_suffix_is_another_document() -> None:
    assert len(compare([known("a.md")], [present("a.md"), present("b.md")]).added) == 1
    renamed = compare([known("a.md")], [present("a.txt")])
    assert (len(renamed.added), len(renamed.removed), len(renamed.moved)) == (1, 1, 0)


def test_a_file_that_cannot_be_read_keeps_what_is_known_of_it() -> None:
    found = compare([known("a")], [present("a", "LOCKED")])
    assert len(found.unread) == 1
    assert found.is_empty
