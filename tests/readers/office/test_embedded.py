"""Files within Office documents are not read, and said not to be."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable

import pytest

from semsearch.readers.document import Omission
from semsearch.readers.read import read_bytes


def letter() -> io.BytesIO:
    docx = pytest.importorskip("docx")
    made, file = docx.Document(), io.BytesIO()
    made.add_paragraph("The sea moves.")
    made.save(file)
    return file


def talk() -> io.BytesIO:
    pptx = pytest.importorskip("pptx")
    made, file = pptx.Presentation(), io.BytesIO()
    made.slides.add_slide(made.slide_layouts[0]).shapes.title.text = "The sea"
    made.save(file)
    return file


def sheet() -> io.BytesIO:
    openpyxl = pytest.importorskip("openpyxl")
    made, file = openpyxl.Workbook(), io.BytesIO()
    made.active["A1"] = "The sea moves."
    made.save(file)
    return file


@pytest.mark.parametrize(("make", "folder"), [(letter, "word"), (talk, "ppt"), (sheet, "xl")])
def test_files_within_are_counted_and_named(make: Callable[[], io.BytesIO], folder: str) -> None:
    file = make()
    name = {"word": "a.docx", "ppt": "a.pptx", "xl": "a.xlsx"}[folder]
    assert read_bytes(file.getvalue(), name).omissions == ()
    with zipfile.ZipFile(file, "a") as archive:
        for number in range(4):
            archive.writestr(f"{folder}/embeddings/oleObject{number}.bin", b"x")
    [omission] = read_bytes(file.getvalue(), name).omissions
    assert omission == Omission("embedded files", 4, "oleObject0.bin, oleObject1.bin, oleObject2.bin, ...")
