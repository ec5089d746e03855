"""What reading a file costs, by format: memory, and processor time beside that of a library alone on the same bytes.

    python tests/benchmarks/reading.py [--only csv --only pdf ...] [--formats] [--rounds 5] [--text TEXT]

The files are made here: tables, a PDF of 5,000 pages, notes, list-tables of two sizes (their ratio is 4 where time is
linear), of made-up words or of TEXT, which has a paragraph a line (.xz too); with --formats, one of 2,000 paragraphs in
each format. Each reading is of a process of its own. Memory is what it takes at the peak beyond what it has before it
reads, the file's bytes among that: with the passages and sentences of the document, one at a time, as an index takes
them. The floors are the csv module, PDFium's bare text, markdown-it, docutils; with --formats, the same text as .txt.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import lzma
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parents[1] / "support")]

from format_files import MAKERS

from semsearch.readers import read as reading
from semsearch.readers.read import read_bytes
from semsearch.readers.reader_child import taken
from semsearch.text.passages import each_passage

_SYLLABLES = "ba con de ex fi gra hy in ju kel lo mi na or pre qua ri sta tu vor".split()


def paragraphs(count: int) -> list[str]:
    """Made-up paragraphs of five sentences, always the same."""
    chance = random.Random(0)
    words = ["".join(chance.choices(_SYLLABLES, k=chance.randint(1, 4))) for _ in range(20_000)]

    def sentence() -> str:
        return " ".join(chance.choices(words, k=chance.randint(8, 18))).capitalize() + "."

    return [" ".join(sentence() for _ in range(5)) for _ in range(count)]


def given(path: Path) -> Iterator[str]:
    """The paragraphs of a text."""
    with lzma.open(path, "rt", encoding="utf-8") if path.suffix == ".xz" else path.open(encoding="utf-8") as source:
        yield from filter(None, map(str.strip, source))


def _table(texts: list[str]) -> bytes:
    """Rows of a number, three short cells, one in quotation marks, and a long one now and then."""
    written = io.StringIO()
    rows = csv.writer(written)
    rows.writerow(["id", "name", "place", "remark", "text"])
    for number, text in enumerate(texts):
        first, second, *_ = text.split(maxsplit=2)
        rows.writerow([number, first, second, f'{first}, "{second}"', text if number % 10 == 0 else text[:30]])
    return written.getvalue().encode()


def _numbers(texts: list[str]) -> bytes:
    """Rows of twelve short cells."""
    chance = random.Random(1)
    rows = [",".join(f"column {n}" for n in range(12))]
    rows += [",".join(f"{chance.random():.5f}" for _ in range(11)) + f",{text[:8]}" for text in texts]
    return "\n".join(rows).encode()


def _list_table(texts: list[str]) -> bytes:
    rows = [f"   * - {text.split()[0]}\n     - {text[:60]}\n     - {text[60:100]}" for text in texts]
    return ("About\n=====\n\n.. list-table:: Names\n   :header-rows: 1\n\n" + "\n".join(rows) + "\n").encode()


valid: Any = import_module("sample_files.valid_files")  # which mypy does not check


def _subtitles(texts: list[str]) -> bytes:
    times = (f"{n // 3600:02}:{n // 60 % 60:02}:{n % 60:02}" for n in range(len(texts)))
    cues = zip(times, texts, strict=True)
    return "".join(f"{n}\n{at},000 --> {at},900\n{text}\n\n" for n, (at, text) in enumerate(cues)).encode()


def _epub(texts: list[str]) -> bytes:
    chapters = (texts[first::10] for first in range(10))
    return bytes(valid.epub(*("".join(f"<p>{text}</p>" for text in chapter) for chapter in chapters)))


MORE: dict[str, Callable[[list[str]], bytes]] = {
    ".epub": _epub,
    ".ods": lambda texts: bytes(valid.ods(*([str(n), text] for n, text in enumerate(texts)))),
    ".odp": lambda texts: bytes(valid.odp(*texts)),
    ".srt": _subtitles,
    ".zip": lambda texts: bytes(valid.zipped({f"{n}.txt": text for n, text in enumerate(texts)})),
}
MADE: dict[str, tuple[str, int, Callable[[list[str]], bytes]]] = {  # suffix, paragraphs, maker
    "csv": (".csv", 100_000, _table),
    "numbers": (".csv", 100_000, _numbers),
    "pdf": (".pdf", 50_900, MAKERS[".pdf"]),
    "markdown": (".md", 4_000, MAKERS[".md"]),
    "rst": (".rst", 2_000, MAKERS[".rst"]),
    "list-table": (".rst", 500, _list_table),
    "list-table x 4": (".rst", 2_000, _list_table),
}
OF_EACH = {suffix: (suffix, 2_000, maker) for suffix, maker in {**MAKERS, **MORE}.items()}
ALL = MADE | OF_EACH


# -- In the process that is measured -----------------------------------------------------------------------------------


def _read(name: str, data: bytes) -> dict[str, float]:
    suffix = ALL[name][0]
    read_bytes(ALL[name][2](paragraphs(30)), f"warm{suffix}")  # what is loaded once
    _reset_peak()
    before = taken()[1]
    began = time.process_time()
    document = read_bytes(data, f"file{suffix}")
    sentences = sum(len(passage.sentences) for passage in each_passage(document))
    return {
        "seconds": time.process_time() - began,
        "memory": _peak() - before,
        "sentences": sentences,
        "pages": document.metadata.get("pages", 0),
    }


def _floor(name: str, data: bytes) -> dict[str, float]:
    work: Callable[[], object]
    if name in OF_EACH:
        text = MAKERS[".txt"](paragraphs(2_000))
        work = lambda: sum(len(passage.sentences) for passage in each_passage(read_bytes(text, "a.txt")))  # noqa: E731
        work()  # what is loaded once
    elif name in ("csv", "numbers"):
        work = lambda: sum(map(len, csv.reader(io.StringIO(data.decode()))))  # noqa: E731
    elif name == "pdf":
        work = lambda: _pdfium(data)  # noqa: E731
    elif name == "markdown":
        from markdown_it import MarkdownIt

        work = lambda: MarkdownIt().enable("table").parse(data.decode())  # noqa: E731
    else:
        from docutils.core import publish_doctree

        work = lambda: publish_doctree(data.decode(), settings_overrides={"report_level": 6})  # noqa: E731
    began = time.process_time()
    work()
    return {"seconds": time.process_time() - began}


def _pdfium(data: bytes) -> None:
    import pypdfium2

    document = pypdfium2.PdfDocument(data)
    for page in document:
        text = page.get_textpage()
        text.get_text_range()
        text.close()
        page.close()


def _reset_peak() -> None:
    Path("/proc/self/clear_refs").write_text("5")


def _peak() -> int:
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    return 1024 * int(line.split()[1])


# -- Rounds ------------------------------------------------------------------------------------------------------------


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", choices=ALL, default=[])
    parser.add_argument("--formats", action="store_true")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--text", type=Path)
    arguments = parser.parse_args()
    chosen = arguments.only or [*(OF_EACH if arguments.formats else MADE)]
    most = max(ALL[name][1] for name in chosen)
    texts = paragraphs(most) if arguments.text is None else [*islice(given(arguments.text), most)]
    with tempfile.TemporaryDirectory() as folder:
        for name in chosen:
            _, count, make = ALL[name]
            path = Path(folder, name.strip("."))
            path.write_bytes(make(texts[:count]))
            readings = [(_asked("read", name, path), _asked("floor", name, path)) for _ in range(arguments.rounds)]
            print(_line(name, path.stat().st_size, readings), flush=True)


def _asked(what: str, name: str, path: Path) -> dict[str, float]:
    command = [sys.executable, __file__, what, name, str(path)]
    found: dict[str, float] = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return found


def _line(name: str, size: int, readings: list[tuple[dict[str, float], dict[str, float]]]) -> str:
    def middle(key: str) -> float:
        return statistics.median(read[key] for read, _ in readings)

    ratio = statistics.median(read["seconds"] / floor["seconds"] for read, floor in readings)
    pages = f", {middle('pages') / middle('seconds'):,.0f} pages/s of {middle('pages'):,.0f}" if middle("pages") else ""
    return (
        f"{name:14} {size / 1e6:6.2f} MB  {middle('seconds'):6.3f} s  {middle('sentences') / middle('seconds'):9,.0f} "
        f"sentences/s{pages}, {ratio:.2f} x floor; memory {middle('memory') / 1e6:,.0f} MB, "
        f"{middle('memory') / size:.2f} bytes a byte"
    )


if __name__ == "__main__":
    if sys.argv[1:2] in (["read"], ["floor"]):
        reading.is_running = lambda: True  # type: ignore[attr-defined]  # this process is the one that reads
        work = _read if sys.argv[1] == "read" else _floor
        print(json.dumps(work(sys.argv[2], Path(sys.argv[3]).read_bytes())))
    else:
        main()
