"""Files to documents: which reader, which encoding, and what is no text at all."""

import hashlib
import os
from pathlib import Path

import pytest

from semsearch.errors import SourceError, UsageError
from semsearch.readers.read import read_bytes, read_file, read_text
from semsearch.readers.registry import BUILT_IN, SUFFIXES

PROSE = ("text", "markdown", "rst", "html")


def test_the_suffix_says_the_format_and_an_unknown_one_means_text() -> None:
    names = {
        "a.md": "markdown",
        "a.RST": "rst",
        "x/a.htm": "html",
        "a.txt": "text",
        "Makefile": "text",
        "a.log": "text",
    }
    assert {name: read_bytes(b"text", name).format for name in names} == names


def test_every_format_of_prose_reads_text_and_an_unknown_one_is_an_error() -> None:
    assert all(SUFFIXES[suffix] is kind for kind in BUILT_IN for suffix in kind.suffixes)
    for name in PROSE:
        assert [block.text for block in read_text("Words.", "x", format=name).blocks] == ["Words."]
    with pytest.raises(UsageError, match="'docx'; expected one of text, markdown, rst, html"):
        read_text("Words.", "x", format="docx")


@pytest.mark.parametrize("data", [b"PK\x03\x04\0\0words", b"word " * 100 + b"\0", bytes(range(1, 32)) * 10 + b"words"])
def test_a_binary_file_is_an_error_that_says_so(data: bytes) -> None:
    with pytest.raises(SourceError, match=r"picture\.txt (looks binary|is a zip archive)"):
        read_bytes(data, "picture.txt")


def test_an_empty_file_is_a_document_without_blocks(tmp_path: Path) -> None:
    path = tmp_path / "empty.md"
    path.write_bytes(b"")
    content = read_file(path)
    assert (content.document.blocks, content.document.title, content.size) == ([], "empty", 0)


def test_a_file_comes_with_its_digest_size_and_time(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"Words.\r\n")
    os.utime(path, ns=(1, 1_700_000_000_123_456_700))
    content = read_file(path)
    assert content.document.source == "Words.\r\n"
    assert content.digest == hashlib.blake2b(b"Words.\r\n", digest_size=16).hexdigest()
    assert (content.size, content.mtime_ns) == (8, path.stat().st_mtime_ns)


def test_what_cannot_be_opened_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"none\.txt cannot be read: No such file"):
        read_file(tmp_path / "none.txt")
    with pytest.raises(SourceError, match="is not a regular file"):
        read_file(tmp_path)
