"""Archives (.zip, .tar, .tar.gz and the like), and files within a file: packed in one, or attached to mail.

A block of an inner file has the inner file's name before its own place: "contract.pdf, page 3", "notes/tides.md, line
12", "book.xlsx, Sheet1!B7". Inner files may have inner files, within limits (semsearch.readers.unpacking). Nothing is
written to disk, so a name in an archive that leads elsewhere ("../../etc/passwd") is a name and nothing more.

The files in an archive are each a part of its document under a heading of its own, with the path as the metadata
`file`; hidden files and those of kinds without a reader are left out as in a folder.
"""

from __future__ import annotations

import io
import tarfile
import zipfile
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import PurePath, PurePosixPath
from typing import IO, Any, NamedTuple

from semsearch.errors import MissingExtra, SourceError, is_resource_exhaustion
from semsearch.readers.document import (
    WAITING,
    Block,
    Builder,
    Document,
    Omission,
    OmissionKind,
    Spot,
    first_names,
    line_starts,
    together,
)
from semsearch.readers.read import read_bytes
from semsearch.readers.registry import FORMATS, is_readable
from semsearch.readers.sniff import refusal_of
from semsearch.readers.unpacking import (
    MOST_FILES,
    Allowance,
    allowance,
    is_tape,
    opened_stream,
    opener_of,
    uncompressed_name,
)

_LONGEST_NAME = 160  # characters, of a place
_MOST_REASONS = 10  # for which files are not read, in a report
_OTHER_REASONS = "cannot be read, for other reasons"


def contained_name(name: str) -> str:
    """The name of an inner file as a relative path, without what leads out, and without control characters."""
    parts = ("".join(filter(str.isprintable, part)) for part in name.replace("\\", "/").split("/"))
    return "/".join(part for part in parts if part not in ("", ".", ".."))[-_LONGEST_NAME:]


@dataclass(slots=True)
class InnerFiles:
    """Reads the files within one file into the blocks of its document, and collects those that cannot be read."""

    outer: str  # the file's name
    kind: OmissionKind
    builder: Builder
    unread: dict[str, list[str]] = field(default_factory=dict)  # names of those that cannot be read, by the reason
    doubts: list[Omission] = field(default_factory=list)  # parts of files that were read

    def take(
        self,
        name: str,
        data: Callable[[], bytes],
        *,
        place: str = "",
        level: int = 1,
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        """Read a file into blocks under a heading of this level. One that cannot be read is noted, with the reason.

        `place` comes before its own places, if it should be another than its name; its blocks have the `metadata`, and
        that of the document read.
        """
        name = contained_name(name)
        try:
            document = self._read(data(), name)
        except (SourceError, MissingExtra) as error:
            self.leave_out(name, str(error).removeprefix(name).strip())
        except Exception as error:  # a parser's own bug, on one attachment, must not cost the mailbox
            if isinstance(error, MemoryError) or (isinstance(error, OSError) and is_resource_exhaustion(error)):
                raise
            self.leave_out(name, f"could not be parsed: {type(error).__name__}: {error}")
        else:
            place = place or name
            self.builder.end_sections(level)
            self.builder.add(document.title, level=level, place=place, part=place, metadata=metadata)
            for block in _placed(document, place, level, {**(metadata or {}), **document.metadata} or None):
                self.builder.add_block(block)
            self.doubts += (
                replace(omission, detail=": ".join(filter(None, (name, omission.detail))))
                for omission in document.omissions
            )

    def _read(self, data: bytes, name: str) -> Document:
        """Read an inner file as one in a folder would be. Raises SourceError, MissingExtra."""
        if not is_readable(name):
            refused = refusal_of(PurePosixPath(name), len(data), lambda count: data[:count])
            if refused:
                raise SourceError(f"{name} {refused}")
        return read_bytes(data, name)

    def leave_out(self, name: str, reason: str) -> None:
        """Note a file that is not read."""
        is_waiting = " install " in reason or WAITING in reason  # each in the report: see semsearch.indexing.changes
        if reason not in self.unread and not is_waiting and len(self.unread) >= _MOST_REASONS:
            reason = _OTHER_REASONS
        self.unread.setdefault(reason, []).append(name or "one without a name")

    @property
    def omissions(self) -> tuple[Omission, ...]:
        """The omissions of the outer file: the files that were not read, and the parts missing in those that were."""
        unread = (
            (len(names), ": ".join(filter(None, (first_names(names), reason)))) for reason, names in self.unread.items()
        )
        return (*self.doubts, *(Omission(self.kind, count, detail) for count, detail in unread))


def _placed(document: Document, place: str, level: int, metadata: Mapping[str, Any] | None) -> Iterator[Block]:
    """The blocks of an inner file, with their place in the outer one, and their headings below the file's own."""
    has_lines = document.format in FORMATS and not FORMATS[document.format].binary
    starts = line_starts(str(document.source)) if has_lines else []
    for number, block in enumerate(document.blocks):
        if number == 0 and block.level == 1 and block.text == document.title:
            continue  # it is the file's own heading
        spots = tuple(Spot(offset, None, _where(place, page, inner_place)) for offset, page, inner_place in block.spots)
        inner_place = block.place
        if has_lines and inner_place is None:
            inner_place = f"line {bisect_right(starts, block.source_offset(0))}"
        yield Block(
            block.text,
            block.start,
            min(block.level + level, 6) if block.level else 0,
            place=_where(place, block.page, inner_place),
            part=f"{place}, {block.part}" if block.part else place,
            spots=spots,
            metadata={**(metadata or {}), **block.metadata} if block.metadata else metadata,
        )


def _where(place: str, page: int | None, inner_place: str | None) -> str:
    return ", ".join(filter(None, (place, f"page {page}" if page else None, inner_place)))


# -- Archives ----------------------------------------------------------------------------------------------------------


class _Member(NamedTuple):
    """A file in an archive."""

    path: str
    size: int
    opened: Callable[[], IO[bytes] | None]
    has_password: bool = False

    @property
    def is_hidden(self) -> bool:
        return any(part.startswith(".") or part == "__MACOSX" for part in contained_name(self.path).split("/"))

    def unpacked(self, left: Allowance) -> bytes:
        """Its bytes. Raises SourceError."""
        if self.has_password:
            raise SourceError("is protected by a password")
        if self.size > left.size:
            raise SourceError(f"has {self.size:,} bytes, and the archive unpacks to too much; unpack it")
        try:
            with self.opened() or io.BytesIO() as stream:
                return left.unpacked(stream)
        except (SourceError, MemoryError):
            raise
        except Exception as error:  # a dozen for each way of packing
            raise SourceError(f"cannot be unpacked: {error or type(error).__name__}") from error


def read(data: bytes, name: str) -> Document:
    """Read an archive. Raises SourceError if it is damaged."""
    builder, over = Builder(), 0
    files = InnerFiles(name, "archived files", builder)
    with allowance(name) as left:
        try:
            for member in _members(data, name):
                if member.is_hidden:
                    continue
                if left.files <= 0:
                    over += 1
                    continue
                left.files -= 1
                metadata = {"file": contained_name(member.path)}
                files.take(member.path, partial(member.unpacked, left), metadata=metadata)
        except MemoryError:
            raise
        except Exception as error:  # zipfile and tarfile have a dozen for what is damaged
            reason = f"{name} cannot be unpacked: {error or type(error).__name__}"
            if not builder.blocks:
                raise SourceError(reason) from None
            files.doubts.append(Omission("damaged parts", 1, reason))
    if over:
        files.doubts.append(Omission("archived files", over, f"it has more than {MOST_FILES:,}"))
    title = PurePath(uncompressed_name(PurePath(name).name)).stem
    return Document(builder.source, builder.blocks, "archive", title, omissions=together(files.omissions))


def _members(data: bytes, name: str) -> Iterator[_Member]:
    if data.startswith(b"PK") or name.lower().endswith(".zip"):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for entry in archive.infolist():
                if not entry.is_dir():
                    opened = partial(archive.open, entry)
                    yield _Member(entry.filename, entry.file_size, opened, bool(entry.flag_bits & 1))
        return
    opener = opener_of(data)
    if opener is None and not is_tape(name):
        raise SourceError("it is neither compressed nor an archive")
    with tarfile.open(fileobj=opened_stream(data, opener), mode="r|") as tape:
        for item in tape:
            if item.isreg():
                yield _Member(item.name, item.size, partial(tape.extractfile, item))
