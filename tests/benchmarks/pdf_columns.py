"""Count the sentences that come out of a two-column PDF whole: PDFs are made of a text and read.

    python tests/benchmarks/pdf_columns.py TEXT [--documents 20] [--skip 0]

TEXT has a paragraph a line (.xz too). Each document has about 2,500 words of it, set in two columns, with words
hyphenated, running heads, page numbers and footnotes, in three ways: one column written after the other, line after
line across both columns, and the same by a program that writes each word by itself. Prints the share of the text's
sentences that stand whole in one block of what is read, and pages read a second.
"""

from __future__ import annotations

import argparse
import io
import lzma
import random
import re
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfgen.canvas import Canvas

from semsearch.readers.document import Document
from semsearch.readers.read import read_bytes
from semsearch.text.sentences import sentence_spans

WAYS = ("columns", "rows", "words")
_FONT, _SIZE, _LEADING = "Times-Roman", 9.5, 11.5
_WIDTH, _HEIGHT, _MARGIN, _GUTTER = 595.0, 842.0, 60.0, 20.0
_COLUMN = (_WIDTH - 2 * _MARGIN - _GUTTER) / 2
_LINES = 58  # of a column
_SYLLABLE = re.compile(r"(?<=[aeiouy])(?=[bcdfghklmnprstvw][aeiouy])")

Line = tuple[str, bool]  # and whether it is the last of its paragraph


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("text", type=Path)
    parser.add_argument("--documents", type=int, default=20)
    parser.add_argument(
        "--skip", type=int, default=0, help="documents: thresholds are chosen on some, reported on others"
    )
    arguments = parser.parse_args()
    whole, count, pages, seconds = dict.fromkeys(WAYS, 0), 0, 0, 0.0
    chosen = islice(_documents(arguments.text), arguments.skip, arguments.skip + arguments.documents)
    for number, paragraphs in enumerate(chosen, start=arguments.skip):
        wanted = [paragraph[start:end] for paragraph in paragraphs for start, end in sentence_spans(paragraph)]
        count += len(wanted)
        for way in WAYS:
            data = made(paragraphs, way, seed=number)
            began = time.process_time()
            document = read_bytes(data, "columns.pdf")
            seconds += time.process_time() - began
            pages += document.metadata["pages"]
            whole[way] += found(wanted, document)
    if not pages:
        parser.error(f"{arguments.text} has not enough words for a document after --skip {arguments.skip}")
    print(f"{count:,} sentences, {pages:,} pages, {pages / seconds:.0f} pages/s")
    for way in WAYS:
        print(f"{way:8} {whole[way] / count:.3f}")


def found(wanted: list[str], document: Document) -> int:
    """Count the sentences that are whole in one block."""
    text = "\n".join(" ".join(block.text.split()) for block in document.blocks)
    return sum(" ".join(sentence.split()) in text for sentence in wanted)


def _documents(path: Path) -> Iterator[list[str]]:
    paragraphs: list[str] = []
    words = 0
    with lzma.open(path, "rt", encoding="utf-8") if path.suffix == ".xz" else path.open(encoding="utf-8") as source:
        for line in source:
            text = line.strip().encode("cp1252", "ignore").decode("cp1252")  # what the standard fonts have
            if len(text) > 100 and text.endswith("."):
                paragraphs.append(" ".join(text.split()))
                words += text.count(" ")
                if words > 2500:
                    yield paragraphs
                    paragraphs, words = [], 0


def made(paragraphs: list[str], way: str, *, seed: int) -> bytes:
    """A PDF of these paragraphs in two columns; headings between some of them."""
    lines = _lines(paragraphs, random.Random(seed))
    file = io.BytesIO()
    canvas = Canvas(file, pagesize=(_WIDTH, _HEIGHT))
    for page, first in enumerate(range(0, len(lines), 2 * _LINES), start=1):
        canvas.setFont(_FONT, 8)
        canvas.drawString(_MARGIN, _HEIGHT - 40, f"Of people and places {page}")
        _draw(canvas, lines[first : first + _LINES], lines[first + _LINES : first + 2 * _LINES], way)
        canvas.setFont(_FONT, 7)
        canvas.drawString(_MARGIN, 50, f"{page} A note that stands below the text of page {page}.")
        canvas.drawCentredString(_WIDTH / 2, 25, str(page))
        canvas.showPage()
    canvas.save()
    return file.getvalue()


def _draw(canvas: Any, left: list[Line], right: list[Line], way: str) -> None:
    canvas.setFont(_FONT, _SIZE)
    places = [(0, row) for row in range(len(left))] + [(1, row) for row in range(len(right))]
    if way != "columns":
        places.sort(key=lambda place: (place[1], place[0]))
    for column, row in places:
        text, is_last = (left, right)[column][row]
        x, y = _MARGIN + column * (_COLUMN + _GUTTER), _HEIGHT - 70 - _LEADING * row
        spaces = text.count(" ")
        extra = 0.0 if is_last or not spaces else (_COLUMN - stringWidth(text, _FONT, _SIZE)) / spaces
        if way == "words":
            for word in text.split(" "):
                canvas.drawString(x, y, word)
                x += stringWidth(word + " ", _FONT, _SIZE) + extra
        else:
            canvas.drawString(x, y, text, wordSpace=extra)


def _lines(paragraphs: list[str], chance: random.Random) -> list[Line]:
    lines: list[Line] = []
    for paragraph in paragraphs:
        if chance.random() < 0.15:
            lines.append((f"About {paragraph.split()[-1].strip('.')}", True))
        words, line = paragraph.split(), ""
        while words:
            longer = f"{line} {words[0]}".lstrip()
            if stringWidth(longer, _FONT, _SIZE) <= _COLUMN:
                line = longer
                words.pop(0)
                continue
            if parts := _parted(words[0], line):
                line = f"{line} {parts[0]}".lstrip()
                words[0] = parts[1]
            lines.append((line, False))
            line = ""
        lines.append((line, True))
    return lines


def _parted(word: str, line: str) -> tuple[str, str] | None:
    """The word in two, where its first part fits into the line; a compound at its hyphen."""
    ends = [found.start() for found in _SYLLABLE.finditer(word) if 2 <= found.start() <= len(word) - 3]
    ends += [found.end() for found in re.finditer(r"(?<=\w)-(?=\w)", word)]
    for end in sorted(ends, reverse=True):
        first = word[:end] if word[end - 1] == "-" else word[:end] + "-"
        if stringWidth(f"{line} {first}".lstrip(), _FONT, _SIZE) <= _COLUMN:
            return first, word[end:]
    return None


if __name__ == "__main__":
    main()
