"""Presentations of 1997 to 2003 (.ppt, .pps, .pot): titles and text of the slides, in their order, with their notes.

A presentation is a tree of records in one stream. A directory says where each slide begins; a file that was saved
quickly has several, of which the last counts. The text of placeholders may stand in the list of slides; the slide then
refers to it by a number ([MS-PPT]).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import NamedTuple

from semsearch.readers.document import Builder, Document
from semsearch.readers.office.compound_file import CompoundFile, properties, read_by_content

_CONTAINER = 0xF
_EDIT, _DIRECTORY, _DOCUMENT, _SLIDE, _NOTES = 0x0FF5, 0x1772, 0x03E8, 0x03EE, 0x03F0
_SLIDES, _PERSIST, _SLIDE_ATOM, _NOTES_ATOM = 0x0FF0, 0x03F3, 0x03EF, 0x03F1
_KIND, _WIDE, _BYTES, _REFERENCE = 0x0F9F, 0x0FA0, 0x0FA8, 0x0F9E  # of texts
_TITLES, _NOTE = (0, 6), 2  # kinds of texts
_OTHER = 4
_ENCRYPTED = 0xF3D1C4DF
_DEEPEST = 40  # records in records
_MOST = 2_000_000  # records


class _PptRecord(NamedTuple):
    """A record of the stream: its kind and instance, and where its content is."""

    kind: int
    instance: int
    is_container: bool
    start: int
    end: int


class _PptText(NamedTuple):
    """A text and what it is for, such as the title of a slide."""

    kind: int
    text: str


@dataclass(slots=True)
class _Listed:
    """A slide or its notes in the list of slides."""

    place: int  # its number in the directory
    identity: int
    texts: list[_PptText] = field(default_factory=list)


def read(data: bytes, name: str) -> Document:
    """Read a presentation. Its title is its property, else that of its first slide that has one, else its name.

    What only has the ending is read by its content. Raises SourceError for damage and passwords.
    """
    if (other := read_by_content(data, name)) is not None:
        return other
    file = CompoundFile(data, name)
    file.check_has("PowerPoint Document")
    builder = Builder()
    try:
        _Presentation(file).build(builder)
    except (struct.error, IndexError):
        raise file.damaged("it says that there is more than it has") from None
    metadata = properties(file)
    titles = [metadata.get("title", ""), *(block.text for block in builder.blocks if block.level == 1)]
    return Document(builder.source, builder.blocks, "ppt", next(filter(None, titles), PurePath(name).stem), metadata)


class _Presentation:
    """The stream of a presentation, and where its parts are."""

    def __init__(self, file: CompoundFile) -> None:
        self._data, self._left = file.stream("PowerPoint Document"), _MOST
        token, edit = struct.unpack_from("<II", file.stream("Current User"), 12)
        if token == _ENCRYPTED:
            raise file.refused("it is protected by a password; save it without one")
        self._places: dict[int, int] = {}
        document, seen = 0, set[int]()
        while edit not in seen:
            seen.add(edit)
            record = self._record(edit, len(self._data))
            if record.kind != _EDIT:
                raise file.damaged("its list of changes is not where it should be")
            edit, directory, number = struct.unpack_from("<8xIII", self._data, record.start)
            document = document or number
            for number, place in self._directory(directory):
                self._places.setdefault(number, place)
            if not edit:
                break
        self._document = self._part(document, _DOCUMENT)
        if self._document is None:
            raise file.damaged("it has no list of slides")

    def _record(self, at: int, end: int) -> _PptRecord:
        version, kind, length = struct.unpack_from("<HHI", self._data, at)
        is_container = version & 0xF == _CONTAINER
        return _PptRecord(kind, version >> 4, is_container, at + 8, min(at + 8 + length, end, len(self._data)))

    def _within(self, outer: _PptRecord) -> Iterator[_PptRecord]:
        at = outer.start
        while at + 8 <= outer.end and self._left:
            self._left -= 1
            record = self._record(at, outer.end)
            yield record
            at = record.end

    def _all_within(self, outer: _PptRecord, depth: int = 0) -> Iterator[_PptRecord]:
        for record in self._within(outer):
            if record.is_container and depth < _DEEPEST:
                yield from self._all_within(record, depth + 1)
            else:
                yield record

    def _directory(self, at: int) -> Iterator[tuple[int, int]]:
        record = self._record(at, len(self._data))
        at = record.start
        while record.kind == _DIRECTORY and at + 4 <= record.end:
            (head,) = struct.unpack_from("<I", self._data, at)
            count = min(head >> 20, (record.end - at - 4) // 4)
            for number, place in enumerate(struct.unpack_from(f"<{count}I", self._data, at + 4)):
                yield (head & 0xFFFFF) + number, place
            at += 4 + 4 * count

    def _part(self, number: int, kind: int) -> _PptRecord | None:
        """A part by its number in the directory, if it is of that kind."""
        place = self._places.get(number, len(self._data))
        if place + 8 > len(self._data):
            return None
        record = self._record(place, len(self._data))
        return record if record.kind == kind else None

    def _listed(self, instance: int) -> list[_Listed]:
        """The slides (0) or notes (2) in their order, with the texts that stand in the list."""
        found: list[_Listed] = []
        assert self._document is not None
        for outer in self._within(self._document):
            if outer.kind != _SLIDES or outer.instance != instance:
                continue
            kind = _OTHER
            for record in self._within(outer):
                if record.kind == _PERSIST:
                    place, identity = struct.unpack_from("<I8xI", self._data, record.start)
                    found.append(_Listed(place, identity))
                elif record.kind == _KIND:
                    (kind,) = struct.unpack_from("<I", self._data, record.start)
                    if found:
                        found[-1].texts.append(_PptText(kind, ""))
                elif found and found[-1].texts and (text := self._text(record)):
                    found[-1].texts[-1] = _PptText(kind, text)
        return found

    def _text(self, record: _PptRecord) -> str:
        raw = self._data[record.start : record.end]
        if record.kind == _WIDE:
            return raw.decode("utf-16-le", "replace")
        return raw.decode("latin-1") if record.kind == _BYTES else ""

    def _texts(self, part: _PptRecord, listed: _Listed) -> Iterator[_PptText]:
        """The texts of a slide or its notes, in the order of its shapes."""
        kind = _OTHER
        for record in self._all_within(part):
            if record.kind == _KIND:
                (kind,) = struct.unpack_from("<I", self._data, record.start)
            elif record.kind == _REFERENCE:
                (number,) = struct.unpack_from("<I", self._data, record.start)
                if number < len(listed.texts):
                    yield listed.texts[number]
            elif text := self._text(record):
                yield _PptText(kind, text)
                kind = _OTHER

    def build(self, builder: Builder) -> None:
        """Add the texts of all slides, each with its notes."""
        notes: dict[int, list[str]] = {}
        for listed in self._listed(2):
            if part := self._part(listed.place, _NOTES):
                about = next((record for record in self._within(part) if record.kind == _NOTES_ATOM), None)
                if about is not None:
                    (slide,) = struct.unpack_from("<I", self._data, about.start)
                    found = [each.text for each in self._texts(part, listed) if each.kind == _NOTE]
                    notes.setdefault(slide, []).extend(found)
        for number, listed in enumerate(self._listed(0), start=1):
            place, part = f"slide {number}", self._part(listed.place, _SLIDE)
            texts = listed.texts if part is None else [*self._texts(part, listed)]
            builder.end_sections()
            for each in sorted(texts, key=lambda each: each.kind not in _TITLES):
                if each.kind in _TITLES:
                    builder.add(" ".join(_cleaned(each.text).split()), level=1, place=place, part=place)
                else:
                    for text in _cleaned(each.text).split("\r"):
                        builder.add(text.strip(), place=place, part=place)
            for note in notes.get(listed.identity, ()):
                for text in _cleaned(note).split("\r"):
                    builder.add(text.strip(), place=f"{place}, notes", part=place)


def _cleaned(text: str) -> str:
    return text.replace("\x0b", "\n").replace("\0", "")
