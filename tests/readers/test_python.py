"""Python: what is said about the code, by function."""

from __future__ import annotations

from pathlib import Path

from cited import check_whole

import semsearch
from semsearch.readers.document import Document
from semsearch.readers.read import read_bytes, read_file
from semsearch.text.passages import passages

SOURCE = '''#!/usr/bin/env python
"""Tides and their tables.

They move. Größe zählt."""
import os  # noqa: F401

# The moon pulls
# the sea.
LIMIT = "no sentence of prose"  # metres above the sea


class Tide(Base):
    """A tide of one day."""

    height = 3
    """Its height, in metres."""

    async def rise(self, moon: str = "é:") -> None:
        """Rise
        slowly.

        Then stop."""

        def inner():
            # A remark inside.
            return 1
        return 2  # Back in rise.
'''


def read(source: str) -> Document:
    return read_bytes(source.encode(), "tides.py")


def test_docstrings_comments_and_signatures_come_by_function() -> None:
    document = read(SOURCE)
    assert [(block.place, block.text, block.level) for block in document.blocks] == [
        (None, "Tides and their tables.", 0),
        (None, "They move. Größe zählt.", 0),
        (None, "import os  # noqa: F401", 0),
        (None, "The moon pulls\nthe sea.", 0),
        (None, 'LIMIT = "no sentence of prose"  # metres above the sea', 0),
        ("Tide", "Tide", 1),
        ("Tide", "class Tide(Base):", 0),
        ("Tide", "A tide of one day.", 0),
        ("Tide", "    height = 3", 0),
        ("Tide", "Its height, in metres.", 0),
        ("Tide.rise", "rise", 2),
        ("Tide.rise", 'async def rise(self, moon: str = "é:") -> None:', 0),
        ("Tide.rise", "Rise\nslowly.", 0),
        ("Tide.rise", "Then stop.", 0),
        ("Tide.rise.inner", "inner", 3),
        ("Tide.rise.inner", "def inner():", 0),
        ("Tide.rise.inner", "A remark inside.", 0),
        ("Tide.rise.inner", "    return 1", 0),
        (None, "", 3),  # its section ends
        ("Tide.rise", "    return 2  # Back in rise.", 0),
    ]
    assert (document.title, document.format) == ("tides.py", "python")


def test_what_follows_a_function_does_not_stand_under_it() -> None:
    found = {passage.text: passage.headings for passage in passages(read(SOURCE + "\n# At the end.\n"))}
    assert found["    return 2  # Back in rise."] == ("Tide", "rise")
    assert found["At the end."] == ()


def test_every_docstring_of_a_package_is_found_in_its_file() -> None:
    for path in sorted((Path(semsearch.__file__).parent / "readers").rglob("*.py")):
        document = read_file(path).document
        check_whole(document, [])
        assert document.blocks[0].text in document.source or path.stat().st_size == 0
