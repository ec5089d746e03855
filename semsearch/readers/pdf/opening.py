"""Open PDF files with PDFium, one call at a time: it is not safe to use from several threads.

pypdfium2 is an extra: semsearch[pdf].
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from semsearch.errors import MissingExtra, SourceError
from semsearch.system.turns import Turns

PDFIUM = Turns()  # every call needs a turn; who reads a long file lets others in between its pages


def pdfium() -> Any:
    """The module pypdfium2. Raises MissingExtra."""
    try:
        import pypdfium2
    except ImportError:
        raise MissingExtra("pypdfium2", "pdf") from None
    return pypdfium2


@contextmanager
def opened_pdf(data: bytes, name: str) -> Iterator[Any]:
    """Open a PDF file; whoever calls into the document needs a turn of PDFIUM.

    Raises SourceError for a file that is damaged or needs a password, MissingExtra.
    """
    pypdfium2 = pdfium()
    with PDFIUM.turn():
        try:
            document = pypdfium2.PdfDocument(data)
        except pypdfium2.PdfiumError as error:
            if "password" in str(error).lower():
                raise SourceError(f"{name} is protected by a password; save it without one") from None
            raise SourceError(f"{name} cannot be read as PDF: {str(error).strip('.')}; it may be cut short") from None
    try:
        yield document
    finally:
        with PDFIUM.turn():
            document.close()
