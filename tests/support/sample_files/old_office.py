"""Documents of Word and PowerPoint as they were before 2007, in as few bytes as a reader needs."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

_END, _FREE, _FAT = 0xFFFFFFFE, 0xFFFFFFFF, 0xFFFFFFFD


def compound(streams: dict[str, bytes]) -> bytes:
    """A compound file with these streams; those under 4,096 bytes are in the stream for short ones."""
    short = b"".join(_padded(data, 64) for data in streams.values() if len(data) < 4096)
    entries, at, mini, table, minis = [b""], 0, 0, list[int](), list[int]()
    bodies = list[bytes]()

    def chained(data: bytes) -> int:
        body = _padded(data, 512)
        first, count = len(table), len(body) // 512
        bodies.append(body)
        table.extend([*range(first + 1, first + count), _END] if count else [])
        return first if count else _END

    for number, (name, data) in enumerate(streams.items(), start=1):
        count = -(-len(data) // 64)
        at = chained(data) if len(data) >= 4096 else mini if data else _END
        if len(data) < 4096:
            minis += [*range(mini + 1, mini + count), _END] if data else []
            mini += count
        following = number + 1 if number < len(streams) else _FREE
        entries.append(_entry(name, 2, following, _FREE, at, len(data)))
    entries[0] = _entry("Root Entry", 5, _FREE, 1, chained(short), len(short))
    directory = chained(b"".join(entries))
    first_mini = chained(b"".join(struct.pack("<I", each) for each in minis))
    tables = -(-(len(table) + 1) // 127)
    sectors = range(len(table), len(table) + tables)
    numbers = [*table, *[_FAT] * tables]
    numbers += [_FREE] * (-len(numbers) % 128)
    header = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16) + struct.pack("<5H6x", 62, 3, 0xFFFE, 9, 6)
    header += struct.pack("<III4xIIIII", 0, tables, directory, 4096, first_mini, 1, _END, 0)
    header += b"".join(struct.pack("<I", sectors[n] if n < tables else _FREE) for n in range(109))
    return header + b"".join(bodies) + struct.pack(f"<{len(numbers)}I", *numbers)


def _padded(data: bytes, size: int) -> bytes:
    return data + bytes(-len(data) % size)


def _entry(name: str, kind: int, right: int, child: int, start: int, size: int) -> bytes:
    raw = name.encode("utf-16-le")
    head = raw.ljust(64, b"\0") + struct.pack("<HBBIII", len(raw) + 2, kind, 1, _FREE, right, child)
    return head + bytes(36) + struct.pack("<IQ", start, size)


def about(**values: str) -> bytes:
    """The stream of properties, in UTF-8."""
    numbers = {"title": 2, "author": 4}
    items = [(1, struct.pack("<II", 2, 65001))]
    items += [(numbers[key], struct.pack("<II", 30, len(raw) + 1) + raw + b"\0") for key, raw in _encoded(values)]
    places, data, at = b"", b"", 8 + 8 * len(items)
    for number, value in items:
        places += struct.pack("<II", number, at + len(data))
        data += _padded(value, 4)
    return bytes(44) + struct.pack("<III", 48, len(places) + len(data) + 8, len(items)) + places + data


def _encoded(values: dict[str, str]) -> list[tuple[str, bytes]]:
    return [(key, value.encode()) for key, value in values.items()]


# -- Word --------------------------------------------------------------------------------------------------------------

NORMAL, HEADING_1, HEADING_2, TITLE, OWN_HEADING_2 = range(5)
_STYLES = ((0, 0xFFF), (1, 0), (2, 0), (62, 0), (0xFFE, 2))  # what each is, and the one that it is based on
IN_TABLE, ROW_END = b"\x16\x24\x01", b"\x17\x24\x01"
HIDDEN, DELETED = b"\x3c\x08\x01", b"\x00\x08\x01"


@dataclass(frozen=True)
class Para:
    """A paragraph of a document, or of its notes; with `end`, a cell. `changes` are of the paragraph."""

    text: str
    style: int = NORMAL
    end: str = "\r"
    changes: bytes = b""


def row(*cells: str) -> list[Para]:
    """A row of a table; an empty cell is one too."""
    return [*(Para(cell, end="\x07", changes=IN_TABLE) for cell in cells), Para("", 0, "\x07", IN_TABLE + ROW_END)]


def doc(
    paras: Sequence[Para],
    notes: Sequence[Para] = (),
    *,
    unshown: Sequence[tuple[str, bytes]] = (),
    flags: int = 0x0200,
    version: int = 0xC1,
    **properties: str,
) -> bytes:
    """A document; texts of `unshown` get these changes of characters wherever they stand. The last note is the end."""
    all_paras = [*paras, *notes]
    text = "".join(each.text + each.end for each in all_paras)
    half = len("".join(each.text + each.end for each in paras[: len(paras) // 2]))
    first, second = text[:half], text[half:]
    narrow = all(letter.encode("cp1252", "replace") != b"?" or letter == "?" for letter in first)
    raw = first.encode("cp1252" if narrow else "utf-16-le")
    start, other = 1024, 1024 + len(raw) + len(raw) % 2
    body = _padded(raw, 2) + second.encode("utf-16-le")

    def place(at: int) -> int:
        return start + at * (1 if narrow else 2) if at < half else other + 2 * (at - half)

    ends, at = list[tuple[int, bytes]](), 0
    for each in all_paras:
        at += len(each.text) + 1
        end = place(at - 1) + (1 if narrow and at - 1 < half else 2)
        ends.append((end, struct.pack("<H", each.style) + each.changes))
    marks = [(0, place(0), b"")]
    for part, change in unshown:
        found = text.index(part)
        marks += [(found, place(found), b""), (found + len(part), place(found + len(part)), change)]
    stream = _padded(bytes(start) + body, 512)
    paragraph_pages = [_page(ends[n : n + 12], 0, 13) for n in range(0, len(ends), 12)]
    character_pages = [_page([(end, change) for _, end, change in sorted(marks)[1:]], start, 1)] if unshown else []
    pages = len(stream) // 512
    stream += b"".join([*paragraph_pages, *character_pages])
    table, where = b"", dict[int, tuple[int, int]]()
    bounds = (0, half, len(text))
    pieces = struct.pack("<3I", *bounds)
    pieces += struct.pack("<HIH", 0, 0x40000000 | 2 * start if narrow else start, 0) + struct.pack("<HIH", 0, other, 0)
    styles = struct.pack("<HHH14x", 18, len(_STYLES), 10)
    styles += b"".join(struct.pack("<HHH6x", 10, kind, based << 4 | 1) for kind, based in _STYLES)
    count, last = len(paragraph_pages), len(character_pages)
    note_ends = [0]
    for each in notes:
        note_ends.append(note_ends[-1] + len(each.text) + 1)
    named = {
        1: styles,
        3: struct.pack(f"<{len(note_ends)}I", *note_ends) if notes else b"",
        12: struct.pack(f"<{last + 1}I{last}I", *range(last + 1), *range(pages + count, pages + count + last)),
        13: struct.pack(f"<{count + 1}I{count}I", *range(count + 1), *range(pages, pages + count)),
        33: b"\x01\x02\x00ab\x02" + struct.pack("<I", len(pieces)) + pieces,
    }
    for number, data in named.items():
        where[number] = len(table), len(data)
        table += data
    length = len("".join(each.text + each.end for each in paras))
    head = struct.pack("<HH6xH", 0xA5EC, version, flags).ljust(32, b"\0") + struct.pack("<H", 14) + bytes(28)
    head += struct.pack("<H", 22) + struct.pack("<12xII", length, len(text) - length).ljust(88, b"\0")
    head += struct.pack("<H", 93) + b"".join(struct.pack("<II", *where.get(n, (0, 0))) for n in range(93))
    stream = head.ljust(start, b"\0") + stream[start:]
    return compound({"WordDocument": stream, "1Table": table, "\x05SummaryInformation": about(**properties)})


def _page(runs: Sequence[tuple[int, bytes]], start: int, step: int) -> bytes:
    """A page of the stream that says what its runs, by their ends, are like."""
    page, free = bytearray(512), 510
    head = struct.pack(f"<{len(runs) + 1}I", start, *(end for end, _ in runs))
    page[: len(head)], page[511] = head, len(runs)
    for number, (_, changes) in enumerate(runs):
        if changes:
            size = bytes([0, (len(changes) + 1) // 2]) if step == 13 else bytes([len(changes)])
            free = (free - len(size) - len(changes) - 1) // 2 * 2
            page[free : free + len(size) + len(changes)] = size + changes
            page[len(head) + step * number] = free // 2
    return bytes(page)


# -- PowerPoint --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Slide:
    """A slide: its title stands in the list of slides, its texts in shapes, its notes by themselves."""

    title: str
    texts: Sequence[str] = ()
    notes: str = ""


def ppt(slides: Sequence[Slide], *, token: int = 0xE391C05F, **properties: str) -> bytes:
    """A presentation."""
    parts, listed, listed_notes = dict[int, bytes](), b"", b""
    for number, slide in enumerate(slides):
        identity, place, notes = 256 + number, 2 + 2 * number, 3 + 2 * number
        listed += _record(0x03F3, struct.pack("<IIIII", place, 0, 1, identity, 0)) + _text(0, slide.title)
        shapes = [_record(0x0F9E, struct.pack("<I", 0)), *(_text(4, text) for text in slide.texts)]
        parts[place] = _record(0x03EE, _record(0x03EF, bytes(24)) + _drawing(shapes), container=True)
        if slide.notes:
            listed_notes += _record(0x03F3, struct.pack("<IIIII", notes, 0, 0, identity, 0))
            known = _record(0x03F1, struct.pack("<IHH", identity, 0, 0))
            parts[notes] = _record(0x03F0, known + _drawing([_text(4, "*"), _text(2, slide.notes)]), container=True)
    lists = _record(0x0FF0, listed, container=True) + _record(0x0FF0, listed_notes, instance=2, container=True)
    parts[1] = _record(0x03E8, lists, container=True)
    stream, places = b"", dict[int, int]()
    for number, part in parts.items():
        places[number] = len(stream)
        stream += part
    directory = b"".join(struct.pack("<II", 1 << 20 | number, place) for number, place in places.items())
    at, edit = len(stream), len(stream) + 8 + len(directory)
    stream += _record(0x1772, directory) + _record(0x0FF5, struct.pack("<IIIIII4x", 0, 0, 0, at, 1, 99))
    user = _record(0x0FF6, struct.pack("<III", 20, token, edit))
    streams = {"Current User": user, "PowerPoint Document": stream}
    return compound({**streams, "\x05SummaryInformation": about(**properties)})


def _record(kind: int, data: bytes, *, instance: int = 0, container: bool = False) -> bytes:
    return struct.pack("<HHI", instance << 4 | (0xF if container else 0), kind, len(data)) + data


def _text(kind: int, text: str) -> bytes:
    is_narrow = all(ord(letter) < 256 for letter in text)
    data = _record(0x0FA8, text.encode("latin-1")) if is_narrow else _record(0x0FA0, text.encode("utf-16-le"))
    return _record(0x0F9F, struct.pack("<I", kind)) + data


def _drawing(shapes: Sequence[bytes]) -> bytes:
    boxes = (_record(0xF004, _record(0xF00D, shape, container=True), container=True) for shape in shapes)
    return _record(0x040C, _record(0xF002, b"".join(boxes), container=True), container=True)
