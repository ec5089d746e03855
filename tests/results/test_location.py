"""Where something is cited: in lines where the file has some, else in pages and places."""

from __future__ import annotations

import pytest

from semsearch.readers.registry import BUILT_IN
from semsearch.results.hits import LINELESS, Position, location


@pytest.mark.parametrize(
    ("format", "first", "last", "cited"),
    [
        ("markdown", (3, None, None), None, "a:3"),
        ("markdown", (3, None, None), (3, None, None), "a:3"),
        ("table", (3, None, "row 3"), (5, None, "row 4"), "a:3-5"),
        ("pdf", (3, 1, None), None, "a p. 1"),
        ("pdf", (3, 1, "top"), (9, 1, "bottom"), "a p. 1"),
        ("pdf", (3, 1, "top"), (9, 1, "top"), "a p. 1, top"),
        ("docx", (3, 1, "paragraph 2"), (9, 3, "paragraph 8"), "a p. 1–3"),
        ("docx", (3, None, None), (9, 3, "paragraph 8"), "a paragraph 8"),
        ("xlsx", (3, None, "Tides!A1"), (9, None, "Tides!A7"), "a Tides!A1 – Tides!A7"),
        ("mail", (3, None, None), (9, None, None), "a"),
        ("subtitles", (3, None, "00:01:05"), (9, None, "00:01:09"), "a 00:01:05 – 00:01:09"),
    ],
)
def test_it_is_cited_as_one_would_say_it(
    format: str, first: tuple[int, int | None, str | None], last: tuple[int, int | None, str | None] | None, cited: str
) -> None:
    assert location("a", format, Position(*first), None if last is None else Position(*last)) == cited


def test_binary_formats_have_no_lines_and_others_have_but_for_subtitles_which_have_times() -> None:
    assert {kind.name for kind in BUILT_IN if kind.binary} | {"notebook", "subtitles"} == LINELESS
