"""Small PDF files that take hours, or all memory, to read: forms that draw forms, data that unpacks to much more."""

from __future__ import annotations

import struct
import zlib
from functools import cache

_FONT = b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"


def sound() -> bytes:
    """A file of the same making that says something."""
    return _file([_page(), (b"", b"BT /F 12 Tf 40 40 Td (The captain sails over the sea.) Tj ET"), (_FONT, None)])


def draws_itself(times: int = 8) -> bytes:
    """A page with a form that draws itself, some times each time that it is drawn."""
    return _file([_page(), (b"", b"/X Do"), (_FONT, None), _form(5, b"/X Do " * times)])


def nested(levels: int = 9, times: int = 8) -> bytes:
    """A page with a form that draws another one some times, and so on: times ** levels texts."""
    forms = [_form(6 + level, b"/X Do " * times) for level in range(levels)]
    last = (b"/Type/XObject/Subtype/Form/BBox[0 0 99 99]/Resources<</Font<</F 4 0 R>>>>", b"BT /F 9 Tf (a) Tj ET")
    return _file([_page(), (b"", b"/X Do " * times), (_FONT, None), *forms, last])


@cache
def deflated_twice(size: int = 900_000_000) -> bytes:
    """A page whose content unpacks to so many blanks, packed again since blanks pack so well."""
    packer = zlib.compressobj(9)
    blanks = b" " * 1_000_000
    start = packer.compress(blanks) + packer.flush(zlib.Z_FULL_FLUSH)
    block = packer.compress(blanks) + packer.flush(zlib.Z_FULL_FLUSH)  # refers to nothing before it: it can be repeated
    a, b = 1 + 32 * size, size + 32 * size * (size + 1) // 2  # Adler's sums of so many blanks (RFC 1950, section 8.2)
    end = zlib.compress(b"")[2:4] + struct.pack(">2H", b % 65521, a % 65521)
    once = start + block * (size // len(blanks) - 1) + end
    return _file([_page(), (b"/Filter[/FlateDecode/FlateDecode]", zlib.compress(once, 9)), (_FONT, None)])


def saves_its_state(times: int = 10_000_000) -> bytes:
    """A page that saves its graphics state so many times, and restores none."""
    return _file([_page(), (b"/Filter/FlateDecode", zlib.compress(b"q " * times, 9)), (_FONT, None)])


BOMBS = {
    "draws itself": draws_itself, "nested": nested, "deflated twice": deflated_twice, "saves its state": saves_its_state
}  # fmt: skip


def _page() -> tuple[bytes, None]:
    resources = b"/Resources<</Font<</F 4 0 R>>/XObject<</X 5 0 R>>>>"
    return b"<</Type/Page/MediaBox[0 0 99 99]/Contents 3 0 R%s>>" % resources, None


def _form(draws: int, content: bytes) -> tuple[bytes, bytes]:
    resources = b"/Resources<</XObject<</X %d 0 R>>>>" % draws
    return b"/Type/XObject/Subtype/Form/BBox[0 0 99 99]" + resources, content


def _file(objects: list[tuple[bytes, bytes | None]]) -> bytes:
    """A file of these objects, numbered from 2 on: a page, its content, a font, and forms from 5 on."""
    numbered = [
        (b"<</Type/Catalog/Pages %d 0 R>>" % (len(objects) + 2), None),
        *objects,
        (b"<</Type/Pages/Count 1/Kids[2 0 R]>>", None),
    ]
    made, places = b"%PDF-1.4\n", []
    for number, (dictionary, stream) in enumerate(numbered, start=1):
        places.append(len(made))
        if stream is not None:
            dictionary = b"<<%s/Length %d>>stream\n%s\nendstream" % (dictionary, len(stream), stream)
        made += b"%d 0 obj%s endobj\n" % (number, dictionary)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    count = len(places) + 1
    return made + b"xref\n0 %d\n0000000000 65535 f \n%strailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % (
        count, table, count, len(made)
    )  # fmt: skip
