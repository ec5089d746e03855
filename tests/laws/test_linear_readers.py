"""A law: no small text takes a reader minutes.

Below the length from which a format's texts are read in a process with limits, the worst text that marks of the format
make (one repeated, two by turns, one after the other, with words between them) takes at most ten seconds, or twenty
times what 100,000 characters of ordinary text take. Lua is not held to it: tree-sitter's grammar is quadratic there.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Iterator
from contextlib import suppress

import pytest

from semsearch.errors import SemsearchError
from semsearch.readers.read import _read_here
from semsearch.readers.registry import NO_COLUMNS, Format, format_of

_ORDINARY = 'Some *words* of <b>text</b> here, with (a few) marks; they go on: x = f(1, "two"). And so it ends.\n'
_TEXTS = 30 if os.environ.get("SEMSEARCH_TESTS") == "all" else 10  # besides those known as the worst
_LONGEST = 100_000
_MARKUP = "` * _ [ ] ( ) [^ ]( ![ < > & ~ $ | # \\ a = - : \" ' { } \n \n\n".split(" ")
_CODE = '/ * /* */ // " \' ` ( ) { } [ ] < > \\ a = => # """ \'\'\' ; : class_ fn_ def_a( \n \t R"( template<'.split(
    " "
)
_TAGS = [f"<{end}{tag}>" for tag in "p div b a i option tr td table li select form h1 pre".split() for end in ("", "/")]
_MARKS = {
    "a.md": [*_MARKUP, "<a ", "<!--", "[^%", "- ", "> ", "1. "],
    "a.rst": [*_MARKUP, "``", "**", "`_", ".. ", "::", "[#", "=\n", "   "],
    "a.html": [*_TAGS, "<", "&amp;", "<!--", "-->", "<script>", "<p ", "a", "\n"],
    "a.org": [*_MARKUP, "* a\n", "[[", "]]", "#+", "#+BEGIN_SRC\n"],
    "a.adoc": [*_MARKUP, "== a\n", "<<", ">>", "((", "[[", "|===\n", "----\n", "a:: ", "https://a[", "\n\n"],
    "a.tex": [*_MARKUP, "$$", "\\a{", "\\begin{a}", "\\end{a}", "\\[", "\\item", "\\verb", "%"],
    "a.man": [*_MARKUP, ".B ", ".TP\n", ".IP \\(bu\n", "\\fB", "\\(", "\\[", "\\h'", ".if \\{", ".Op Fl ", ".nf\n"],
    "a.txt": [*_MARKUP, "===\n", "---\n", "\r", " ", ". ", "? "],
    "a.csv": ['"', ",", ";", "\t", "|", "\n", "a", " "],
    "a.jsonl": ["{", "}", "[", "]", '"', "\\", "\n", ",", ":", "1", '{"a":'],
    "a.srt": ["1\n", "00:00:01,000 --> 00:00:02,000\n", "\n", "<b>", "{", "a", "-->"],
    "a.cpp": _CODE, "a.py": _CODE, "a.js": _CODE,
}  # fmt: skip
_WORST = {
    "a.md": ["[^%", "<a [^", "[^$", "!!! a\n" + "`" * 99_000], "a.rst": ["`", "`[", "|<"],
    "a.html": ["<option><tr>", "<tr><b>", "<a><tr>", "a" + " " * 99_000],
}  # fmt: skip


def _texts(name: str, kind: Format) -> Iterator[str]:
    length = min(kind.isolated_from or _LONGEST, _LONGEST) - 1
    for mark in _WORST.get(name, ()):
        number = length // len(mark)
        yield mark * number
        yield (mark + "a" * 100) * (length // (len(mark) + 100))
    yield from _made_up(name, length)


def _made_up(name: str, length: int) -> Iterator[str]:
    marks, chance = [mark.replace("_", " ") if len(mark) > 1 else mark for mark in _MARKS[name]], random.Random(name)
    for number in range(_TEXTS):
        one, other = chance.sample(marks, 2)
        half = length // 2
        by_turns = (one + other) * (length // len(one + other))
        yield by_turns if number % 2 else one * (half // len(one)) + other * (half // len(other))


def _seconds(name: str, text: str) -> float:
    kind = format_of(name)
    assert kind is not None
    start = time.process_time()
    with suppress(SemsearchError, RecursionError):
        _read_here(kind, text, name, NO_COLUMNS)
    return time.process_time() - start


@pytest.mark.parametrize("name", _MARKS)
def test_the_worst_text_takes_no_longer_than_some_ordinary_ones(name: str) -> None:
    kind = format_of(name)
    assert kind is not None
    ordinary = _seconds(name, _ORDINARY * (_LONGEST // len(_ORDINARY)))
    line = 20 * max(ordinary, 0.5)
    slow = [text[:20] for text in _texts(name, kind) if _seconds(name, text) > line]
    assert not slow
