"""Targets that are files in files and files of no known name: archives, old workbooks, libraries, what is sniffed.

An archive's input is the names and contents of its members, since few changes to packed bytes leave an archive.
"""

from __future__ import annotations

import base64
import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

from fixtures import reading_here
from sample_files.valid_files import NAMES, OLD_WORKBOOK, sound

from fuzzing.reader_targets import check, check_document
from fuzzing.target import Run, Target
from semsearch.readers.read import read_bytes, read_file
from semsearch.readers.sniff import refusal

_BETWEEN = b"\n--\n"  # members, and a member's name and its content
_OLD = zlib.decompress(base64.b85decode(OLD_WORKBOOK))
_HEAD = 512  # bytes of an old workbook's own header: what it says of sectors is changed by name
_SIGNS = (
    "PK\x03\x04",
    "\x1f\x8b\x08",
    "BZh9",
    "\xfd7zXZ\0",
    "ID3",
    "%PDF-",
    "{\\rtf",
    "<html",
    "From ",
    "RIFF",
)


def targets() -> Iterator[Target]:
    """All targets that are such files."""
    names = ("../", "a.zip", ".tar.gz", "a.md", ".hidden", "__MACOSX/", "\0", "C:\\", "a.eml", "\n--\n")
    yield Target("members", lambda _: _reading_members, _members, (*names, *_SIGNS), 8192)
    if find_spec("python_calamine"):
        yield Target("xls", lambda _: _reading_workbook, _workbooks, longest=600, grows=False)
    yield Target("unnamed", _sniffing, _unnamed, (*_SIGNS, "MIME-Version:", "From:", "\0", "Message-ID:"), 20_000)


# -- Archives ----------------------------------------------------------------------------------------------------------


def _reading_members(data: bytes) -> None:
    """The first byte chooses how members are packed; then come their names and contents."""
    ending, pack = _PACKED[data[0] % len(_PACKED) if data else 0]
    pieces = data[1:].split(_BETWEEN)
    members = [(pieces[n].decode("utf-8", "surrogateescape"), pieces[n + 1]) for n in range(0, len(pieces) - 1, 2)]
    check(pack(members), f"tide{ending}")


def _zipped(members: list[tuple[str, bytes]], how: int = zipfile.ZIP_DEFLATED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", how) as archive:
        for name, content in members:
            archive.writestr(zipfile.ZipInfo(name.encode("utf-8", "replace").decode()[:60_000] or "a"), content, how)
    return file.getvalue()


def _taped(members: list[tuple[str, bytes]]) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:") as archive:
        for name, content in members:
            member = tarfile.TarInfo(name.replace("\0", ""))
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return file.getvalue()


_Pack = Callable[[list[tuple[str, bytes]]], bytes]
_PACKED: tuple[tuple[str, _Pack], ...] = (
    (".zip", _zipped),
    (".zip", lambda members: _zipped(members, zipfile.ZIP_STORED)),
    (".tar", _taped),
    (".tar.gz", lambda members: gzip.compress(_taped(members), mtime=0)),
    (".tbz2", lambda members: bz2.compress(_taped(members))),
    (".tar.xz", lambda members: lzma.compress(_taped(members), preset=0)),
    (".md.gz", lambda members: gzip.compress(b"".join(content for _, content in members), mtime=0)),
    (".zip", lambda members: _zipped([("inner.zip", _zipped(members)), ("inner.tgz", gzip.compress(_taped(members)))])),
)


def _members() -> Iterator[bytes]:
    texts = [name for name in NAMES if name.rpartition(".")[2] in ("md", "txt", "html", "eml", "csv", "srt")]
    for number in range(len(_PACKED)):
        chosen = [texts[(number + n) % len(texts)] for n in range(2)]
        members = [piece for name in chosen for piece in (f"notes/{name}".encode(), sound(name))]
        yield bytes([number]) + _BETWEEN.join([*members, b"../../etc/passwd", b"root", b".hidden", b"x"])


# -- Old workbooks -----------------------------------------------------------------------------------------------------


def _reading_workbook(data: bytes) -> None:
    """Pieces: three bytes say where, one how many, then those bytes replace those of a sound workbook.

    It is read in another process, since calamine ends its own for some.
    """
    if data[:1] == b"\xff":
        check_document(read_bytes(data[1:], "tide.xlsb"))
        return
    check_document(read_bytes(_with_pieces(_OLD, data), "tide.xls"))


def _with_pieces(sound: bytes, data: bytes) -> bytes:
    changed, rest = bytearray(sound), data
    while len(rest) > 4:
        start, size = int.from_bytes(rest[:3], "big") % len(sound), 1 + rest[3] % 16
        piece = rest[4 : 4 + size]
        changed[start : start + len(piece)] = piece
        rest = rest[4 + size :]
    return bytes(changed[: len(sound)])


def _workbooks() -> Iterator[bytes]:
    yield b""
    for start in (24, 44, 60, 76, _HEAD, 2 * _HEAD, 3 * _HEAD, len(_OLD) // 2):
        yield start.to_bytes(3, "big") + b"\x03\xff\xff\x00\x01"
    yield b"\xffPK\x03\x04"


# -- Files of no known name --------------------------------------------------------------------------------------------


def _sniffing(folder: Path) -> Run:
    """The first line is a file's name, the rest its content: it is refused with a reason, or read."""

    def run(data: bytes) -> None:
        line, _, content = data.partition(b"\n")
        name = "".join(filter(str.isalnum, line[:20].decode("ascii", "replace").replace(".", "_")))
        path = folder / f"{name or 'a'}{('', '.log', '.odd', '.gz', '.cfg')[len(line) % 5]}"
        path.write_bytes(content)
        try:
            refusal(path, len(content)).encode("utf-8", "surrogateescape")
            with reading_here():
                check_document(read_file(path).document)
        finally:
            path.unlink()

    return run


def _unnamed() -> Iterator[bytes]:
    for number, name in enumerate(NAMES):
        yield b"x" * (number % 5) + b"\n" + sound(name)[:16_000]
    for sign in _SIGNS:
        yield b"LICENSE\n" + sign.encode("latin-1") + b"\0 words of a text. " * 9
    yield b"one\n" + b"2024-05-01 10:00:01 INFO The tide comes.\n" * 9
