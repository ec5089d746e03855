"""Pictures (.png, .jpg, .tif, .webp ...): the text that is recognized in them; the pages of a TIFF, else the picture.

Without text recognition no picture is read, and none is of a known format (semsearch.readers.registry). One in which no
text is found is a document without passages, as an empty file is.
"""

from __future__ import annotations

import io
from dataclasses import replace
from typing import Any

import numpy as np

from semsearch.arrays.types import UInt8
from semsearch.errors import MissingExtra, SourceError
from semsearch.readers.document import Document
from semsearch.readers.pages.pdf import document_of
from semsearch.readers.pages.pdf_layout import PageLine, Pages
from semsearch.readers.pages.text_recognition import content_key, lines_of

_MOST_PAGES = 2000  # of a TIFF
_FORMATS = ("PNG", "JPEG", "TIFF", "WEBP", "BMP", "GIF")
_MOST_PIXELS = 120_000_000  # of a picture as it is stored
_SIDE = 2400  # pixels to which a picture is made smaller before text is looked for
_FEWEST = 10_000  # pixels of a picture that may have text: others are icons
_WIDTH = 595.0  # points: a picture is taken for a page of A4
_ORIENTATION = 0x0112  # in what a camera notes


def read(data: bytes, name: str) -> Document:
    """Read the text in a picture. Raises SourceError for a damaged or large one, and if no text can be recognized yet.

    Raises MissingExtra without Pillow.
    """
    try:
        from PIL import Image, ImageOps
    except ImportError:
        raise MissingExtra("Pillow", "ocr") from None
    Image.MAX_IMAGE_PIXELS = _MOST_PIXELS  # twice as many are an error
    try:
        picture = Image.open(io.BytesIO(data), formats=_FORMATS)
        frames = min(getattr(picture, "n_frames", 1), _MOST_PAGES) if picture.format == "TIFF" else 1
    except Exception as error:  # Pillow has many for what is damaged
        raise SourceError(f"{name} cannot be read as a picture: {error or type(error).__name__}") from None
    key, lines, sizes = content_key(data), list[PageLine](), {}
    for number in range(1, frames + 1):

        def drawn() -> UInt8:
            if picture.width * picture.height > _MOST_PIXELS:
                raise SourceError(f"it has more than {_MOST_PIXELS:,} pixels; make it smaller")
            picture.draft("RGB", (_SIDE, _SIDE))
            shown = ImageOps.exif_transpose(picture)
            if "A" in shown.getbands() or "transparency" in shown.info:  # letters may be of the colour behind
                shown = shown.convert("RGBA")
                shown = Image.alpha_composite(Image.new("RGBA", shown.size, "white"), shown)
            shown = shown.convert("RGB")
            shown.thumbnail((_SIDE, _SIDE))
            return np.asarray(shown)

        if number > 1:
            picture.seek(number - 1)
        size = _shown_size(picture)
        if size[0] * size[1] < _FEWEST:
            continue
        sizes[number] = (_WIDTH, _WIDTH * size[1] / size[0])
        recognized = lines_of(f"{key} {number}", drawn, number, sizes[number])
        if isinstance(recognized, str):
            raise SourceError(f"{name} is a picture; {recognized}")
        lines += recognized
    document = document_of(Pages(frames, lines, [], {}, [], sizes), name, "picture")
    if frames > 1:
        return document
    blocks = [
        replace(block, page=None, spots=tuple(spot._replace(page=None) for spot in block.spots))
        for block in document.blocks
    ]
    return replace(document, blocks=blocks, metadata={})


def _shown_size(picture: Any) -> tuple[int, int]:
    """The width and height of a picture as it is shown, which its camera may have turned."""
    has_exif = picture.format in ("JPEG", "TIFF", "WEBP")  # to look for it in others unpacks them
    is_turned = has_exif and picture.getexif().get(_ORIENTATION, 1) in (5, 6, 7, 8)
    return (picture.height, picture.width) if is_turned else (picture.width, picture.height)
