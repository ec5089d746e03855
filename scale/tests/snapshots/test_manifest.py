"""What a place says is checked before it is used: whoever may write there may have written it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from semsearch.errors import IndexDamaged
from semsearch_scale.snapshots.snapshot_format import (
    CurrentPointer,
    PublishedFile,
    PublishedManifest,
    StoreClaim,
    digest_of,
)

ID = "0123456789abcdef" * 2
BLOCKS = tuple(digest_of(bytes([number])) for number in range(3))
MANIFEST = PublishedManifest(
    index=ID,
    generation=7,
    written_at="here:/docs",
    database=PublishedFile("index.sqlite", 9000, 4096, BLOCKS),
    segments=(PublishedFile("words-1.postings", 10, 1 << 22, BLOCKS[:1]),),
)
POINTER = CurrentPointer(index=ID, generation=7, manifest=BLOCKS[0], size=100)


def test_manifest_pointer_and_claim_come_back_as_they_were_written() -> None:
    assert PublishedManifest.from_bytes(MANIFEST.to_bytes()) == MANIFEST
    assert CurrentPointer.from_bytes(POINTER.to_bytes()) == POINTER
    claim = StoreClaim(index=ID, written_at="here:/docs")
    assert StoreClaim.from_bytes(claim.to_bytes()) == claim
    assert [MANIFEST.database.length(number) for number in range(3)] == [4096, 4096, 808]


def changed(change: Callable[[dict[str, Any]], object]) -> bytes:
    card = json.loads(MANIFEST.to_bytes())
    change(card)
    return json.dumps(card).encode()


@pytest.mark.parametrize(
    "name", ["../evil", "/etc/passwd", "..", ".", "", "a/b", "a\\b", ".hidden", "a\0b", "x" * 201, "a\n", 3, None]
)
def test_a_name_that_leads_out_of_the_folder_is_refused(name: object) -> None:
    with pytest.raises(IndexDamaged, match="name"):
        PublishedManifest.from_bytes(changed(lambda card: card["segments"][0].update(name=name)))


@pytest.mark.parametrize(
    "change",
    [
        lambda card: card["database"].update(size=1 << 50),
        lambda card: card["database"].update(size=-1),
        lambda card: card["database"].update(size=1.5),
        lambda card: card["database"].update(size=True),
        lambda card: card["database"].update(size=100_000),
        lambda card: card["database"].update(block=1),
        lambda card: card["database"].update(block=1 << 40),
        lambda card: card["database"].update(digests=["../../etc/passwd"] * 3),
        lambda card: card["database"].update(digests=[BLOCKS[0].upper(), *BLOCKS[1:]]),
        lambda card: card["database"].update(digests="abc"),
        lambda card: card.update(database=None),
        lambda card: card.update(segments={}),
        lambda card: card.update(
            segments=[{"name": f"s{n}", "size": 0, "block": 4096, "digests": []} for n in range(5000)]
        ),
        lambda card: card.update(segments=[card["segments"][0], {**card["segments"][0], "name": "WORDS-1.postings"}]),
        lambda card: card.update(index="../elsewhere"),
        lambda card: card.update(generation=-1),
        lambda card: card.update(format="semsearch published 2"),
        lambda card: card.update(written_at=["here"]),
        lambda card: card.update(written_at="\x1b[2Jhere"),
        lambda card: card.update(written_at="x" * 5000),
    ],
)
def test_a_manifest_that_no_publisher_writes_is_refused(change: Callable[[dict[str, Any]], object]) -> None:
    with pytest.raises(IndexDamaged):
        PublishedManifest.from_bytes(changed(change))


@pytest.mark.parametrize("data", [b"", b"[]", b"null", b"\xff", b"{", b"[" * 100_000])
def test_what_is_no_json_object_is_refused(data: bytes) -> None:
    for kind in (PublishedManifest, CurrentPointer, StoreClaim):
        with pytest.raises(IndexDamaged):
            kind.from_bytes(data)
