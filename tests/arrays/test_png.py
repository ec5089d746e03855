"""PNG images have the pixels that they were made of: read back with a reader of our own, from the specification."""

from __future__ import annotations

import struct
import zlib

import numpy as np
import numpy.typing as npt
import pytest

from semsearch.readers.pages.pdf_pictures import to_png


def read_png(data: bytes) -> npt.NDArray[np.uint8]:
    """The pixels of an unfiltered PNG; checks each chunk. (h, w, channels)"""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    chunks, at = {}, 8
    while at < len(data):
        (length,) = struct.unpack(">I", data[at : at + 4])
        name, body = data[at + 4 : at + 8], data[at + 8 : at + 8 + length]
        assert struct.unpack(">I", data[at + 8 + length : at + 12 + length]) == (zlib.crc32(name + body),)
        chunks[name] = body
        at += 12 + length
    assert [*chunks] == [b"IHDR", b"IDAT", b"IEND"]
    width, height, depth, kind, *methods = struct.unpack(">IIBBBBB", chunks[b"IHDR"])
    assert (depth, kind, methods) == (8, 2, [0, 0, 0])
    rows = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), dtype=np.uint8).reshape(height, 1 + width * 3)
    assert not rows[:, 0].any()
    return rows[:, 1:].reshape(height, width, 3)


@pytest.mark.parametrize("shape", [(1, 1), (3, 2), (17, 40)])
def test_a_picture_in_colours_has_its_pixels(shape: tuple[int, int]) -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (*shape, 3), dtype=np.uint8)
    np.testing.assert_array_equal(read_png(to_png(pixels)), pixels)
