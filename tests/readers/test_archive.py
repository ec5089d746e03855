"""Archives that are damaged, closed, or made to fill a memory."""

from __future__ import annotations

import io
import zipfile

import pytest

from semsearch.errors import SourceError
from semsearch.readers.office import office_archive as archive_module
from semsearch.readers.office.office_archive import Archive, member_path


def zipped(**members: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()


def opened(data: bytes) -> Archive:
    return Archive(data, "a.docx", ".docx")


def test_a_member_that_unpacks_to_too_much_is_not_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive_module, "_MOST_BYTES", 1000)
    assert opened(zipped(a=bytes(1000))).bytes("a") == bytes(1000)
    with pytest.raises(SourceError, match=r"a\.docx unpacks to more than 1,000 bytes"):
        opened(zipped(a=bytes(1001))).bytes("a")


def test_an_archive_that_lies_about_a_size_is_refused() -> None:
    data = bytearray(zipped(a=bytes(5000)))
    size = (5000).to_bytes(4, "little")
    at = data.rindex(size)
    data[at : at + 4] = (10).to_bytes(4, "little")
    with pytest.raises(SourceError):
        opened(bytes(data)).bytes("a")


@pytest.mark.parametrize("cut", [3, 40, -30])
def test_a_cut_archive_is_an_error_that_says_so(cut: int) -> None:
    with pytest.raises(SourceError, match=r"a\.docx cannot be read as \.docx"):
        opened(zipped(a=b"words" * 100)[:cut])


def test_a_damaged_member_is_an_error_that_names_it() -> None:
    data = bytearray(zipped(member=bytes(range(256)) * 20))
    data[45:60] = bytes(15)
    with pytest.raises(SourceError, match="member: "):
        opened(bytes(data)).bytes("member")


def test_a_password_is_told() -> None:
    data = bytearray(zipped(a=b"words"))
    data[6] |= 1
    at = data.index(b"PK\x01\x02")
    data[at + 8] |= 1
    with pytest.raises(SourceError, match="protected by a password"):
        opened(bytes(data)).bytes("a")
    with pytest.raises(SourceError, match="protected by a password or in an old Office format"):
        opened(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600))


def test_entities_are_not_expanded() -> None:
    bomb = b'<!DOCTYPE a [<!ENTITY b "bbbbbbbbbb"><!ENTITY c SYSTEM "file:///etc/hostname">]><a>x&b;&c;</a>'
    assert "".join(opened(zipped(x=bomb)).tree("x").itertext()).replace("&b;", "").replace("&c;", "") == "x"
    with pytest.raises(SourceError, match="x: "):
        opened(zipped(x=b"<a><b></a>")).tree("x")


def test_paths_of_members_stay_inside() -> None:
    assert member_path("ppt/slides", "../media/a%20b.png#x") == "ppt/media/a b.png"
    assert member_path("word", "/word/document.xml") == "word/document.xml"
    assert member_path("", "../../etc/passwd") == "etc/passwd"
