"""Text in pictures and scanned pages is recognized last and once, and has its page; what lacks a package says which."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from email.message import EmailMessage
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from fake_recognition import BLACK, BLUE, CRASH, ENGINE, GREEN, RED, TURNED, WHITE
from PIL import Image, ImageDraw, ImageFont
from sample_files.valid_files import pdf, zipped

from semsearch import Index
from semsearch.errors import SourceError
from semsearch.readers import read, registry
from semsearch.readers.pages.text_recognition import recognizing
from semsearch.readers.read import read_bytes
from semsearch.readers.reader_process import end_reader_processes
from semsearch.results.reports import Progress
from semsearch.word_vectors.table import VectorTable

Colour = tuple[int, int, int]


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Text is recognized by the engine of tests/support/fake_engine."""
    monkeypatch.setitem(registry.installed, "rapidocr", True)
    monkeypatch.syspath_prepend(ENGINE)
    end_reader_processes()
    yield
    end_reader_processes()


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether the process for files was allowed to recognize text, for each question."""
    found: list[bool] = []
    asked = read.in_reader_process

    def noted(function: Callable[..., bytes], data: bytes, name: str, *arguments: Any, **options: Any) -> bytes:
        found.append(arguments[-1].is_allowed)
        return asked(function, data, name, *arguments, **options)

    monkeypatch.setattr(read, "in_reader_process", noted)
    return found


def picture(colour: Colour, kind: str = "PNG", size: tuple[int, int] = (300, 400)) -> bytes:
    file = io.BytesIO()
    Image.new("RGB", size, colour).save(file, kind)
    return file.getvalue()


def scanned(*colours: Colour | str) -> bytes:
    """A PDF with a page of each colour; a string is a page with this text."""

    def draw(canvas: Any) -> None:
        for each in colours:
            if isinstance(each, str):
                canvas.drawString(50, 400, each)
            else:
                canvas.setFillColorRGB(*(part / 255 for part in each))
                canvas.rect(0, 0, 400, 500, stroke=0, fill=1)
            canvas.showPage()

    return pdf(draw)


def mail(name: str, data: bytes) -> bytes:
    message = EmailMessage()
    message["Subject"], message["From"] = "Lease", "ann@example.org"
    message.set_content("See the attachment.")
    message.add_attachment(data, maintype="application", subtype="octet-stream", filename=name)
    return message.as_bytes()


def recognized(data: bytes, name: str) -> Any:
    with recognizing(lambda _: None):
        return read_bytes(data, name)


def texts(document: Any) -> list[str]:
    return [" ".join(block.text.split()) for block in document.blocks]


# -- Reading -----------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("engine")
def test_the_text_of_scanned_pages_stands_between_that_of_others_with_its_page_and_place() -> None:
    document = recognized(scanned("Words of the first page.", RED, "Words of the last page."), "a.pdf")
    assert texts(document) == [
        "Words of the first page.", "The harbour is closed on Tuesdays after the storm.", "Words of the last page.",
    ]  # fmt: skip
    assert [(block.page_at(0), block.place_at(0)) for block in document.blocks] == [(1, "top"), (2, "top"), (3, "top")]
    assert document.omissions == ()
    assert document.metadata["pages"] == 3
    assert "pages_without_text" not in document.metadata


@pytest.mark.parametrize(("suffix", "kind"), [(".png", "PNG"), (".webp", "WEBP"), (".bmp", "BMP"), (".TIF", "TIFF")])
@pytest.mark.usefixtures("engine")
def test_the_text_in_a_picture_is_read(suffix: str, kind: str) -> None:
    document = recognized(picture(RED, kind), f"quay{suffix}")
    assert texts(document) == ["The harbour is closed on Tuesdays after the storm."]
    assert (document.format, document.title, document.metadata) == ("picture", "quay", {})
    assert (document.blocks[0].page, document.blocks[0].place_at(0)) == (None, "top")


@pytest.mark.usefixtures("engine")
def test_the_pages_of_a_tiff_are_pages() -> None:
    file, pages = io.BytesIO(), [Image.new("RGB", (300, 400), colour) for colour in (GREEN, WHITE, RED)]
    pages[0].save(file, "TIFF", save_all=True, append_images=pages[1:])
    document = recognized(file.getvalue(), "fax.tiff")
    assert [(block.page, block.text.split()[0]) for block in document.blocks] == [(1, "Marmalade"), (3, "The")]
    assert document.metadata == {"pages": 3}


@pytest.mark.usefixtures("engine")
def test_scans_within_mail_and_archives_are_read() -> None:
    [*_, last] = recognized(mail("lease.pdf", scanned(GREEN)), "a.eml").blocks
    assert (last.text, last.place) == ("Marmalade is stirred clockwise.", "attachment lease.pdf, page 1, top")
    assert recognized(zipped({"a/jam.png": picture(GREEN)}), "a.zip").blocks[-1].place == "a/jam.png, top"


@pytest.mark.parametrize("turns", range(4))
@pytest.mark.usefixtures("engine")
def test_a_page_that_was_scanned_on_its_side_or_its_head_is_turned(turns: int) -> None:
    page, file = Image.new("RGB", (400, 300), TURNED), io.BytesIO()
    page.paste(BLACK, (0, 0, 100, 100))
    page.rotate(90 * turns, expand=True).save(file, "PNG")
    assert texts(recognized(file.getvalue(), "a.png")) == ["Marmalade is stirred."]


@pytest.mark.usefixtures("engine")
def test_letters_that_the_engine_does_not_know_are_reported() -> None:
    document = recognized(scanned("Words.", BLUE), "a.pdf")
    [omission] = document.omissions
    assert (omission.kind, omission.count) == ("pages without text", 1)
    assert omission.detail.startswith("p. 2; text recognition (OCR) reads Latin letters, Chinese and Japanese")


@pytest.mark.usefixtures("engine")
def test_an_engine_that_crashes_costs_no_text_and_is_not_tried_again(calls: list[bool]) -> None:
    data = scanned("Words.", CRASH)
    for _ in range(2):
        document = recognized(data, "a.pdf")
        assert texts(document) == ["Words."]
        assert "text recognition (OCR) failed: made its reader crash" in document.omissions[0].detail
    assert calls == [True, False, False]


@pytest.mark.usefixtures("engine")
def test_damaged_and_too_large_pictures_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SourceError, match=r"a\.png cannot be read as a picture"):
        recognized(picture(RED)[:30], "a.png")
    with pytest.raises(SourceError, match=r"a\.png is a picture; text recognition \(OCR\) failed"):
        recognized(picture(RED, size=(3000, 3000))[:-3000], "a.png")
    large = picture(RED)
    large = large[:16] + (20_000).to_bytes(4, "big") + (7_000).to_bytes(4, "big") + large[24:]
    with pytest.raises(SourceError, match=r"more than 120,000,000 pixels|cannot be read as a picture"):
        recognized(large, "a.png")


# -- Cache -------------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("engine")
def test_what_was_recognized_is_known_without_recognition_wherever_the_file_lies(calls: list[bool]) -> None:
    data = scanned(RED, GREEN)
    found = texts(recognized(data, "a.pdf"))
    calls.clear()
    assert texts(read_bytes(data, "elsewhere.pdf")) == found
    assert calls == [False]


# -- Indexes -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "docs"
    made.mkdir()
    (made / "scan.pdf").write_bytes(scanned(RED, GREEN))
    (made / "mixed.pdf").write_bytes(scanned("Words of a page.", GREEN))
    (made / "photo.jpg").write_bytes(picture(GREEN, "JPEG"))
    (made / "lease.eml").write_bytes(mail("lease.pdf", scanned(GREEN)))
    (made / "notes.txt").write_text("The ship waits in the harbour.")
    return made


MakeIndex = Callable[[], Index]


@pytest.fixture
def make(tmp_path: Path, small_vectors: VectorTable) -> MakeIndex:
    return lambda: Index.create(tmp_path / "index", vectors=small_vectors)


def problems(index: Index) -> dict[str, tuple[str, str]]:
    return {Path(each.path).name: (each.kind, each.reason) for each in index.problems()}


def test_without_the_package_each_scan_is_reported_with_the_command_that_installs_it(
    folder: Path, make: MakeIndex
) -> None:
    asked = "to read the text in it, run: pip install '.[ocr]'"
    with make() as index:
        assert index.sync(folder).not_read == {".pdf": 1, ".jpg": 1}
        found = problems(index)
        assert found["scan.pdf"] == ("not read", f"has no text on its 2 pages, which may be scanned; {asked}")
        assert found["mixed.pdf"] == ("pages without text", f"1 page without text (p. 2; {asked}), perhaps scanned")
        assert found["photo.jpg"][1] == f"is a picture; {asked}"
        says = f"lease.pdf: has no text on its page, which may be scanned; {asked}"
        assert found["lease.eml"] == ("attachments", f"1 attachment not read ({says})")
        assert index.sync().changed == 0


@pytest.mark.usefixtures("engine")
def test_text_is_recognized_after_all_other_text_is_committed(folder: Path, make: MakeIndex) -> None:
    progress: list[Progress] = []

    def report(now: Progress) -> None:
        if now.phase == "recognizing" and not progress:
            with Index.open(index.path) as other:
                assert [hit.document for hit in other.search("ship harbour", k=1)] == ["notes.txt"]
                assert problems(other)["mixed.pdf"][1].startswith(
                    "1 page without text (p. 2; its text is recognized last"
                )
        progress.append(now)

    with make() as index:
        done = index.sync(folder, progress=report)
        assert (done.added, done.skipped, done.not_read) == (5, (), {})
        assert problems(index) == {}
        assert {now.total_files for now in progress if now.phase == "recognizing"} == {4}
        [hit] = index.search("storm", k=1)
        assert (hit.document, hit.page) == ("scan.pdf", 1)
        assert index.sync().changed == 0


@pytest.mark.usefixtures("engine")
def test_an_interrupted_sync_keeps_what_it_has_and_the_next_goes_on(
    folder: Path, make: MakeIndex, calls: list[bool]
) -> None:
    def interrupted(now: Progress) -> None:
        if now.phase == "recognizing" and now.files == 2:
            raise KeyboardInterrupt

    with make() as index:
        with pytest.raises(KeyboardInterrupt):
            index.sync(folder, progress=interrupted, processes=1)
        assert index.status().documents == 3
        calls.clear()
        assert index.sync().added == 2
        assert problems(index) == {}
        assert sum(calls) <= 4


# -- The engine --------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(find_spec("rapidocr") is None, reason="the extra ocr is not installed")
def test_rapidocr_reads_a_page_that_lies_on_its_head(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry.installed, "rapidocr", True)
    said = [
        "The harbour master closed the northern quay on Tuesday, 14 March.",
        "Bicycles may be parked behind the greenhouse.",
    ]
    page = Image.new("L", (1240, 600), 255)
    for number, line in enumerate(said):
        ImageDraw.Draw(page).text((80, 100 + 120 * number), line, font=ImageFont.load_default(34), fill=0)
    file = io.BytesIO()
    page.rotate(180).save(file, "PNG")
    assert texts(recognized(file.getvalue(), "page.png")) == said
