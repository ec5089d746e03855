"""Pictures of pages of a PDF, as PDFium draws them, with the fields of forms and with notes."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from semsearch.errors import SourceError

UInt8 = npt.NDArray[np.uint8]
MOST_PIXELS = 9_000_000  # a page of A4 in 300 dots an inch; the bitmap takes three bytes each
MOST_SECONDS = 10.0  # for drawing a page
_WHITE = 0xFFFFFFFF


def draw_page(document: Any, page: Any, width: int, pypdfium2: Any, *, seconds: float = MOST_SECONDS) -> UInt8:
    """Draw a page so many pixels wide, or less wide if it is too high: (h, w, 3). The caller has a turn of PDFIUM.

    Raises SourceError for a page that takes longer than `seconds`.
    """
    shown_width, shown_height = page.get_size()
    height = max(1, round(width * shown_height / max(shown_width, 1e-6)))
    if width * height > MOST_PIXELS:
        smaller = (MOST_PIXELS / (width * height)) ** 0.5
        width, height = max(1, int(width * smaller)), max(1, int(height * smaller))
    width, height = min(width, MOST_PIXELS), min(height, MOST_PIXELS)
    raw = pypdfium2.raw
    bitmap = pypdfium2.PdfBitmap.new_native(width, height, raw.FPDFBitmap_BGR, rev_byteorder=True)
    try:
        bitmap.fill_rect((255, 255, 255, 255), 0, 0, width, height)
        _draw(bitmap, page, width, height, raw, until=time.monotonic() + seconds)
        if document.formenv is not None:
            raw.FPDF_FFLDraw(document.formenv.raw, bitmap.raw, page.raw, 0, 0, width, height, 0, _flags(raw))
        return np.array(bitmap.to_numpy()[..., :3])
    finally:
        bitmap.close()


def _flags(raw: Any) -> int:
    return int(raw.FPDF_ANNOT | raw.FPDF_REVERSE_BYTE_ORDER)


def _draw(bitmap: Any, page: Any, width: int, height: int, raw: Any, *, until: float) -> None:
    """Draw step by step, so that a page that was made to take for ever does not."""
    pause = raw.IFSDK_PAUSE(version=1, NeedToPauseNow=_asks(raw, lambda: time.monotonic() > until), user=None)
    state = raw.FPDF_RenderPageBitmap_Start(bitmap.raw, page.raw, 0, 0, width, height, 0, _flags(raw), pause)
    raw.FPDF_RenderPage_Close(page.raw)
    if state != raw.FPDF_RENDER_DONE:
        raise SourceError("this page takes too long to be drawn; its text can be read")


def _asks(raw: Any, is_over: Callable[[], bool]) -> Any:
    kind = dict(raw.IFSDK_PAUSE._fields_)["NeedToPauseNow"]
    return kind(lambda _: is_over())
