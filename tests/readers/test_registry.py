"""Files to documents: which reader, which encoding, and what is no text at all."""

from __future__ import annotations

import hashlib
import os
import re
import sys
from pathlib import Path

import pytest
from plugged_in import UPPER, forget, install, installed

from semsearch import Index
from semsearch.errors import SourceError, UsageError
from semsearch.readers.read import read_bytes, read_file, read_text
from semsearch.readers.registry import (
    BUILT_IN,
    FORMATS,
    SUFFIXES,
    TEXT,
    Format,
    format_named,
    is_readable,
    reader_label,
    register,
)
from semsearch.word_vectors.table import VectorTable

PROSE = ("text", "markdown", "rst", "html")


def test_the_suffix_says_the_format_and_an_unknown_one_means_text() -> None:
    names = {
        "a.md": "markdown",
        "a.RST": "rst",
        "x/a.htm": "html",
        "a.txt": "text",
        "Makefile": "text",
        "a.log": "text",
        "a.md.in": "markdown",
        "a.rst.inc": "rst",
        "conf.in": "text",
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


# -- Plug-ins ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def site(tmp_path: Path) -> Path:
    install(tmp_path / "site", "upper_reader", UPPER.format(version="1"), loud="upper_reader:FORMAT")
    return tmp_path / "site"


def test_a_reader_of_another_package_reads_its_files(site: Path) -> None:
    with installed(site):
        document = read_bytes(b"words", "a.LOUD")
        assert (document.format, document.title, document.blocks[0].text) == ("shouted", "Shouted", "WORDS")
        assert reader_label("a.loud") == "shouted 1"
    assert read_bytes(b"words", "a.loud").format == "text"


def test_its_format_may_be_named_for_a_text(site: Path) -> None:
    with installed(site):
        assert read_text("words", "x", format="shouted").blocks[0].text == "WORDS"
        assert format_named("whispered") is None


def test_a_walk_takes_its_files_and_imports_nothing_for_it(site: Path) -> None:
    with installed(site):
        assert is_readable("a.loud")
        assert not is_readable("a.quiet")
        assert "upper_reader" not in sys.modules


def test_a_package_cannot_take_a_format_away(tmp_path: Path) -> None:
    taking = UPPER.format(version="1").replace('"shouted"', '"markdown"')
    install(tmp_path / "site", "upper_reader", taking, md="upper_reader:FORMAT", loud="upper_reader:FORMAT")
    with installed(tmp_path / "site"):
        assert read_bytes(b"# A", "a.md").blocks[0].text == "A"
        with pytest.raises(
            SourceError, match=r"upper_reader:FORMAT, declares the format 'markdown', which exists already"
        ):
            read_bytes(b"words", "a.loud")


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("import nothing_of_this_name", r"cannot be imported: ModuleNotFoundError"),
        ("1 / 0", r"cannot be imported: ZeroDivisionError"),
        ("FORMAT = 7", r"must be a semsearch\.readers\.registry\.Format, not int"),
        (UPPER.format(version="1").replace("return Document", "return str"), "could not be parsed: TypeError"),
        (
            UPPER.format(version="1").split("def read")[0] + "\ndef read(*_): return 7",
            "returned int, not a semsearch Document",
        ),
    ],
)
def test_one_that_fails_costs_its_files_only(
    tmp_path: Path, small_vectors: VectorTable, code: str, reason: str
) -> None:
    install(tmp_path / "site", "upper_reader", code, loud="upper_reader:FORMAT")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.loud").write_text("The ship sails.", encoding="utf-8")
    (tmp_path / "docs" / "b.txt").write_text("The bread bakes.", encoding="utf-8")
    with installed(tmp_path / "site"), Index.create(tmp_path / "index", vectors=small_vectors) as index:
        done = index.sync(tmp_path / "docs")
        assert (done.added, [Path(skip.path).name for skip in done.skipped]) == (1, ["a.loud"])
        again = index.sync()

    assert re.search(reason, done.skipped[0].reason)
    assert again.skipped[0].reason == done.skipped[0].reason


def test_a_program_may_register_a_reader_for_itself(site: Path) -> None:
    with installed(site):
        register(Format("mine", (".mine", ".md"), "upper_reader"))
        assert read_bytes(b"words", "a.mine").format == read_bytes(b"words", "a.md").format == "mine"
    assert "mine" not in FORMATS


def test_what_is_registered_in_a_program_reads_in_its_processes_too(
    site: Path, tmp_path: Path, small_vectors: VectorTable
) -> None:
    (tmp_path / "docs").mkdir()
    for name in ("a.mine", "b.mine"):
        (tmp_path / "docs" / name).write_text("The ship sails.", encoding="utf-8")
    with installed(site), Index.create(tmp_path / "index", vectors=small_vectors.folder) as index:
        register(Format("mine", (".mine",), "upper_reader"))
        assert index.sync(tmp_path / "docs", processes=2).added == 2
        assert index.search("ship")[0].sentence == "THE SHIP SAILS."


@pytest.mark.parametrize("wrong", ["text", Format("x", ("txt",), "m"), Format("x", (".TXT",), "m")])
def test_what_is_no_format_is_refused(wrong: object) -> None:
    with pytest.raises(UsageError):
        register(wrong)  # type: ignore[arg-type]
    assert FORMATS["text"] is TEXT
    forget()
