"""Archives, and files within files: each read by its own reader, with its place in both."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
from cited import cited_sentences, places
from sample_files.valid_files import ods, taped, zipped

from semsearch.errors import SourceError
from semsearch.readers import unpacking
from semsearch.readers.office import office_archive as archive_module
from semsearch.readers.office.office_archive import Archive, member_path
from semsearch.readers.read import read_bytes
from semsearch.readers.registry import is_readable
from semsearch.readers.sniff import MISSING_OCR, refusal


def packed(**members: bytes) -> bytes:
    return zipped({**members})


def opened(data: bytes) -> Archive:
    return Archive(data, "a.docx", ".docx")


def test_a_member_that_unpacks_to_too_much_is_not_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive_module, "_MOST_BYTES", 1000)
    assert opened(packed(a=bytes(1000))).bytes("a") == bytes(1000)
    with pytest.raises(SourceError, match=r"a\.docx unpacks to more than 1,000 bytes"):
        opened(packed(a=bytes(1001))).bytes("a")


def test_an_archive_that_lies_about_a_size_is_refused() -> None:
    data = bytearray(packed(a=bytes(5000)))
    size = (5000).to_bytes(4, "little")
    at = data.rindex(size)
    data[at : at + 4] = (10).to_bytes(4, "little")
    with pytest.raises(SourceError):
        opened(bytes(data)).bytes("a")


@pytest.mark.parametrize("cut", [3, 40, -30])
def test_a_cut_archive_is_an_error_that_says_so(cut: int) -> None:
    with pytest.raises(SourceError, match=r"a\.docx cannot be read as \.docx"):
        opened(packed(a=b"words" * 100)[:cut])


def test_a_damaged_member_is_an_error_that_names_it() -> None:
    data = bytearray(packed(member=bytes(range(256)) * 20))
    data[45:60] = bytes(15)
    with pytest.raises(SourceError, match="member: "):
        opened(bytes(data)).bytes("member")


def test_a_password_is_told() -> None:
    data = bytearray(packed(a=b"words"))
    data[6] |= 1
    at = data.index(b"PK\x01\x02")
    data[at + 8] |= 1
    with pytest.raises(SourceError, match="protected by a password"):
        opened(bytes(data)).bytes("a")
    with pytest.raises(SourceError, match="protected by a password or in an old Office format"):
        opened(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600))


def test_entities_are_not_expanded() -> None:
    bomb = b'<!DOCTYPE a [<!ENTITY b "bbbbbbbbbb"><!ENTITY c SYSTEM "file:///etc/hostname">]><a>x&b;&c;</a>'
    assert "".join(opened(packed(x=bomb)).tree("x").itertext()).replace("&b;", "").replace("&c;", "") == "x"
    with pytest.raises(SourceError, match="x: "):
        opened(packed(x=b"<a><b></a>")).tree("x")


def test_paths_of_members_stay_inside() -> None:
    assert member_path("ppt/slides", "../media/a%20b.png#x") == "ppt/media/a b.png"
    assert member_path("word", "/word/document.xml") == "word/document.xml"
    assert member_path("", "../../etc/passwd") == "etc/passwd"


# -- Files within files ------------------------------------------------------------------------------------------------

NOTES = b"# Tides\n\nThe sea moves.\nTwice a day it comes.\n\nThe moon pulls.\n"


@pytest.mark.parametrize(
    ("name", "pack"),
    [("all.zip", lambda files: zipped(files))]
    + [(f"all.{end}", lambda files, mode=mode: taped(files, mode)) for end, mode in (
        ("tar", "w:"), ("tar.gz", "w:gz"), ("tgz", "w:gz"), ("tar.bz2", "w:bz2"), ("tar.xz", "w:xz"), ("txz", "w:xz"))],
)  # fmt: skip
def test_the_files_in_an_archive_have_their_path_and_line(name: str, pack: Callable[[dict[str, bytes]], bytes]) -> None:
    document = read_bytes(
        pack({"notes/sea.md": NOTES, "b.csv": b"a,b\n1,2\n", "sheet.ods": ods(["The wind blows."])}), name
    )
    assert cited_sentences(document) == [
        ("The sea moves.", None, "notes/sea.md, line 3"),
        ("Twice a day it comes.", None, "notes/sea.md, line 3"),
        ("The moon pulls.", None, "notes/sea.md, line 6"),
        ("a: 1\nb: 2", None, "b.csv, row 2"),
        ("The wind blows.", None, "sheet.ods, Tides!A1"),
    ]
    assert (document.title, document.format) == ("all", "archive")
    assert [block.metadata for block in document.blocks if block.text == "The moon pulls."] == [
        {"file": "notes/sea.md"}
    ]


def test_an_archive_in_an_archive_is_read_and_one_too_deep_is_reported() -> None:
    data = zipped({"sea.md": NOTES})
    for number in range(unpacking.DEEPEST - 1):
        data = zipped({f"{number}.zip": data})
    assert places(read_bytes(data, "all.zip"))[-1][0] == "2.zip, 1.zip, 0.zip, sea.md, line 6"
    document = read_bytes(zipped({"more.zip": data, "b.md": NOTES}), "all.zip")
    assert "The moon pulls." in [block.text for block in document.blocks]
    assert [(each.kind, each.count) for each in document.omissions] == [("archived files", 1)]
    assert "deep; unpack it" in document.omissions[0].detail


def test_hidden_files_and_links_are_left_out_and_others_that_are_not_read_are_reported() -> None:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as archive:
        link = tarfile.TarInfo("link.md")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/hostname"
        archive.addfile(link)
    assert read_bytes(file.getvalue(), "a.tar.gz").omissions == ()
    members = {
        "a/.git/config": "words",
        "__MACOSX/a.md": "words",
        "a.png": b"\x89PNG\r\n\x1a\n\0",
        "b.lock": "words",
        "c.md": "Words.",
    }
    document = read_bytes(zipped(members), "a.zip")
    assert [block.text for block in document.blocks] == ["c", "Words."]
    lacking, omission = document.omissions
    assert {(each.kind, each.count) for each in document.omissions} == {("archived files", 1)}
    assert lacking.detail == f"a.png: is a picture; {MISSING_OCR}"
    assert omission.detail.startswith("b.lock: is a lock file")


def test_names_that_lead_out_of_an_archive_are_names(tmp_path: Path) -> None:
    document = read_bytes(
        zipped({"../../etc/a.md": "Words.", "/b.md": "Words.", "c\\..\\d\x1b[2J.md": "Words."}), "a.zip"
    )
    assert {block.part for block in document.blocks} == {"etc/a.md", "b.md", "c/d[2J.md"}


@pytest.mark.usefixtures("read_here")
def test_what_unpacks_to_too_much_is_left_out_and_the_rest_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unpacking, "MOST_BYTES", 10_000)
    monkeypatch.setattr(unpacking.Allowance.__init__, "__defaults__", (10_000, 3, 0))
    zeros = b"words " * 3_000
    for name, data in (
        ("a.zip", zipped({"a.txt": zeros, "b.md": "Words."})),
        ("a.tar.gz", taped({"a.txt": zeros, "b.md": b"Words."})),
    ):
        document = read_bytes(data, name)
        assert [block.text for block in document.blocks] == ["b", "Words."]
        assert "has 18,000 bytes, and the archive unpacks to too much" in document.omissions[0].detail
    with pytest.raises(SourceError, match=r"a\.txt\.gz unpacks to more than"):
        read_bytes(gzip.compress(zeros), "a.txt.gz")
    document = read_bytes(zipped({f"{n}.md": "Words." for n in range(5)}), "a.zip")
    assert len({block.part for block in document.blocks}) == 3
    assert [(each.count, each.detail) for each in document.omissions] == [(2, "it has more than 20,000")]


@pytest.mark.parametrize(("end", "pack"), [("gz", gzip.compress), ("bz2", bz2.compress), ("xz", lzma.compress)])
def test_a_compressed_file_is_the_document_that_it_is_without(end: str, pack: Callable[[bytes], bytes]) -> None:
    document = read_bytes(pack(NOTES), f"notes.md.{end}")
    assert (document.format, document.title, document.source) == ("markdown", "Tides", NOTES.decode())
    for cut in (pack(NOTES)[:-12], pack(NOTES)[:9]):
        with pytest.raises(SourceError, match=rf"notes\.md\.{end} cannot be unpacked"):
            read_bytes(cut, f"notes.md.{end}")


def test_what_is_compressed_is_judged_as_without_compression(tmp_path: Path) -> None:
    assert [is_readable(name) for name in ("a.md.gz", "a.tar.gz", "a.tgz", "ls.1.gz", "a.bin.gz", "gz")] == [
        True
    ] * 3 + [False] * 3
    for name, data, reason in (
        ("ls.1.gz", b".TH LS 1\n.SH NAME\nls\n", ""),
        ("notes.gz", NOTES, ""),
        ("poetry.lock.gz", NOTES, "is a lock file"),
        ("a.bin.gz", bytes(range(256)) * 10, "is binary"),
        ("b.dat.gz", b"0.125 12.5 1.5e3\n" * 100, "looks like a table of numbers"),
    ):
        (tmp_path / name).write_bytes(gzip.compress(data))
        said = refusal(tmp_path / name, 100)
        assert said.startswith(reason) if reason else said == "", name
