"""Source code beside a guide: functions are found by their names, parts of these, and bodies; the guide comes first."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from small import small_vectors

from semsearch import Index
from semsearch.text.terms import with_parts

CODE = """package sea

// The keeper says so.
const HARBOUR_LIMIT = 3

type Fleet struct {
\tall []Ship
}

// Moor makes a ship fast.
func (f *Fleet) Moor(ship Ship) error {
\tif f.anchorChainLength < HARBOUR_LIMIT {
\t\treturn errTooShort
\t}
\treturn nil
}

func bakeBreadSlowly() {
\tknead(doughOf("flour"))
}
"""
GUIDE = "# Ships\n\n## Mooring\n\nThe captain moors a ship in the harbour with an anchor and a chain.\n"


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Index]:
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "fleet.go").write_text(CODE, encoding="utf-8")
    (folder / "ships.md").write_text(GUIDE, encoding="utf-8")
    with Index.create(tmp_path / "index", vectors=small_vectors(tmp_path)) as index:
        index.sync(folder)
        yield index


def test_capitals_divide_identifiers_of_source_code_only() -> None:
    assert with_parts("getHTTPResponse(x)", "code") == "getHTTPResponse(x) get HTTP Response"
    assert with_parts("trustedCIDRs in parseURL2", "python") == "trustedCIDRs in parseURL2 trusted CIDRs parse URL"
    assert with_parts("plain snake_case MAX_SIZE Word", "code") == "plain snake_case MAX_SIZE Word"
    assert with_parts("JavaScript", "markdown") == "JavaScript"


@pytest.mark.parametrize(
    ("query", "place", "line"),
    [
        ("HARBOUR_LIMIT", None, 4),
        ("bakeBreadSlowly", "bakeBreadSlowly", 18),
        ("bake bread slowly", "bakeBreadSlowly", 18),
        ("chain length too short", "Fleet.Moor", 12),
        ("dough of flour", "bakeBreadSlowly", 19),
        ("keeper", None, 3),
    ],
)
@pytest.mark.parametrize("rebuilt", [False, True])
def test_code_is_found_by_names_their_parts_and_bodies(
    made: Index, query: str, place: str | None, line: int, *, rebuilt: bool
) -> None:
    if rebuilt:
        made.rebuild()
    hit = made.search(query, 1, mode="lexical")[0]
    assert (hit.document, hit.place) == ("fleet.go", place)
    assert abs(hit.line - line) <= 1


def test_a_hit_shows_its_function_and_the_comment_that_answers(made: Index) -> None:
    hit = made.search("make a ship fast", 1, filters=["format=code"])[0]
    assert (hit.headings, hit.place, hit.line) == (("Fleet.Moor",), "Fleet.Moor", 10)
    assert hit.sentence == "Moor makes a ship fast."
    assert "\n\tif f.anchorChainLength < HARBOUR_LIMIT {\n" in hit.passage
