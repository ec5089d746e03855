"""What reading a file costs, by format: memory, and processor time beside that of a library alone on the same bytes.

    python tests/benchmarks/reading.py [SUFFIX ...] [--paragraphs 2000] [--rounds 3]

A file of made-up paragraphs in each format; a reading is of a process of its own. Memory is the peak beyond what the
process has before it reads, with the passages and sentences of the document, one at a time, as an index takes them.
The floors: the csv module, PDFium's bare text, markdown-it, and for other formats the same text as .txt.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parents[1] / "support")]

from semsearch.readers import read as reading
from semsearch.readers.read import read_bytes
from semsearch.readers.reader_child import taken
from semsearch.text.passages import each_record

_SYLLABLES = "ba con de ex fi gra hy in ju kel lo mi na or pre qua ri sta tu vor".split()
placed: Any = import_module("sample_files.placed_files")  # which mypy does not check
valid: Any = import_module("sample_files.valid_files")


def made_up(count: int) -> list[str]:
    """Paragraphs of five sentences, always the same."""
    chance = random.Random(0)
    words = ["".join(chance.choices(_SYLLABLES, k=chance.randint(1, 4))) for _ in range(20_000)]

    def sentence() -> str:
        return " ".join(chance.choices(words, k=chance.randint(8, 18))).capitalize() + "."

    return [" ".join(sentence() for _ in range(5)) for _ in range(count)]


def _lines(heading: str, form: str) -> Callable[[list[str]], bytes]:
    return lambda texts: "\n\n".join([heading, *(form.format(text) for text in texts), ""]).encode()


def _units(write: Callable[[list[list[str]]], bytes]) -> Callable[[list[str]], bytes]:
    return lambda texts: write([[text] for text in texts])


def _pdf(texts: list[str]) -> bytes:
    lines = [text[start : start + 90] for text in texts for start in range(0, len(text), 90)]

    def draw(canvas: Any) -> None:
        for first in range(0, len(lines), 40):
            for number, line in enumerate(lines[first : first + 40]):
                canvas.drawString(20, 480 - 12 * number, line)
            canvas.showPage()

    return bytes(valid.pdf(draw))


MAKERS: dict[str, Callable[[list[str]], bytes]] = {
    ".txt": _lines("About", "{}"),
    ".md": _lines("# About", "{} **marked** [and linked](http://example.org)."),
    ".rst": _lines("About\n=====", "{} *marked* `and linked <http://example.org>`__."),
    ".html": _lines("<!doctype html><title>About</title><h1>About</h1>", "<p>{}</p>"),
    ".org": _lines("* About", "{} *marked* [[http://example.org][and linked]]."),
    ".tex": _lines("\\section{About}", "{} \\emph{{marked}}."),
    ".py": _lines("", 'def f(x):\n    """{}"""\n    return x'),
    ".pdf": _pdf,
    ".ods": lambda texts: bytes(valid.ods(*([str(number), text] for number, text in enumerate(texts)))),
    ".odp": lambda texts: bytes(valid.odp(*texts)),
    **{Path(kind.name).suffix: _units(kind.write) for kind in placed.KINDS},
}


# -- In the process that is measured -----------------------------------------------------------------------------------


def _read(data: bytes, name: str) -> int:
    return sum(passage.sentences for passage in each_record(read_bytes(data, name)))


def _floor(suffix: str, data: bytes, texts: list[str]) -> Callable[[], object]:
    if suffix == ".csv":
        return lambda: sum(map(len, csv.reader(io.StringIO(data.decode()))))
    if suffix == ".pdf":
        import pypdfium2

        return lambda: [page.get_textpage().get_text_range() for page in pypdfium2.PdfDocument(data)]
    if suffix == ".md":
        from markdown_it import MarkdownIt

        return lambda: MarkdownIt().enable("table").parse(data.decode())
    text = MAKERS[".txt"](texts)
    return lambda: _read(text, "a.txt")


def measure(suffix: str, path: Path) -> dict[str, float]:
    """Read a file once, and do the least of that work."""
    reading.is_running = lambda: True  # type: ignore[attr-defined]  # this process is the one that reads
    few, data = made_up(30), path.read_bytes()
    _read(MAKERS[suffix](few), f"warm{suffix}")  # what is loaded once
    Path("/proc/self/clear_refs").write_text("5")
    before, began = taken()[1], time.process_time()
    sentences = _read(data, path.name)
    seconds = time.process_time() - began
    peak = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    _floor(suffix, MAKERS[suffix](few), few)()
    work, began = _floor(suffix, data, json.loads(path.with_name("texts").read_text())), time.process_time()
    work()
    floor = time.process_time() - began
    return {"seconds": seconds, "sentences": sentences, "memory": 1024 * int(peak.split()[1]) - before, "floor": floor}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suffixes", nargs="*", metavar="SUFFIX", help=", ".join(MAKERS))
    parser.add_argument("--paragraphs", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        print(json.dumps(measure(arguments.measure[0], Path(arguments.measure[1]))))
        return
    texts = made_up(arguments.paragraphs)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "texts").write_text(json.dumps(texts))
        for suffix in arguments.suffixes or MAKERS:
            path = Path(folder, f"file{suffix}")
            path.write_bytes(MAKERS[suffix](texts))
            command = [sys.executable, __file__, "--measure", suffix, str(path)]
            rounds = [json.loads(subprocess.check_output(command)) for _ in range(arguments.rounds)]
            ratio = statistics.median(one["seconds"] / one["floor"] for one in rounds)
            seconds, sentences, memory = (
                statistics.median(one[key] for one in rounds) for key in ("seconds", "sentences", "memory")
            )
            size = path.stat().st_size
            print(
                f"{suffix:6} {size / 1e6:6.2f} MB  {seconds:6.3f} s  {sentences / seconds:9,.0f} sentences/s, "
                f"{ratio:.2f} x floor; memory {memory / 1e6:,.0f} MB, {memory / size:.2f} bytes a byte",
                flush=True,
            )


if __name__ == "__main__":
    main()
