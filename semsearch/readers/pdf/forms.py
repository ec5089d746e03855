"""The values in the fields of a PDF form: they are no part of the page's text, and are put next to their labels."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from semsearch.readers.pdf.lines import PageLine

_SAME_ROW = 0.8  # letters' heights between a label's baseline and the middle of its field
_USUAL_SIZE = 10.0  # points


def field_lines(document: Any, page: Any, number: int, raw: Any) -> Iterator[PageLine]:
    """The values of a page's text fields and choices, as lines; buttons and empty fields have none."""
    kinds = (raw.FPDF_FORMFIELD_TEXTFIELD, raw.FPDF_FORMFIELD_COMBOBOX, raw.FPDF_FORMFIELD_LISTBOX)
    box = raw.FS_RECTF()
    for index in range(raw.FPDFPage_GetAnnotCount(page)):
        annotation = raw.FPDFPage_GetAnnot(page, index)
        if not annotation:
            continue
        try:
            if raw.FPDFAnnot_GetFormFieldType(document.formenv, annotation) not in kinds:
                continue
            value = " ".join(_value(document, annotation, raw).split())
            if value and raw.FPDFAnnot_GetRect(annotation, box):
                middle = (box.bottom + box.top) / 2 - _USUAL_SIZE / 3
                yield PageLine(value, number, box.left, box.right, middle, _USUAL_SIZE)
        finally:
            raw.FPDFPage_CloseAnnot(annotation)


def with_fields(lines: Sequence[PageLine], fields: Iterable[PageLine]) -> list[PageLine]:
    """Lines with the values after their labels: the last line on the left in the same row, else the last above."""
    found = list(lines)
    for field in fields:
        row = [place for place, line in enumerate(found) if line.left < field.left and _is_beside(line, field)]
        above = [place for place, line in enumerate(found) if line.bottom > field.bottom]
        if row:
            label = found[row[-1]]
            field = field._replace(bottom=label.bottom, size=label.size)
        found.insert((row or above or [-1])[-1] + 1, field)
    return found


def _is_beside(line: PageLine, field: PageLine) -> bool:
    return abs(line.bottom - field.bottom) < _SAME_ROW * max(line.size, field.size)


def _value(document: Any, annotation: Any, raw: Any) -> str:
    size = raw.FPDFAnnot_GetFormFieldValue(document.formenv, annotation, None, 0)
    buffer = ctypes.create_string_buffer(size)
    units = ctypes.cast(buffer, ctypes.POINTER(ctypes.c_ushort))
    raw.FPDFAnnot_GetFormFieldValue(document.formenv, annotation, units, size)
    return buffer.raw[: max(0, size - 2)].decode("utf-16-le", "replace")
