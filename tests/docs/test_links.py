"""The guide's links lead somewhere: to pages, headings, pictures, and the pages that the code points to."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

import pytest
from guide import PAGES, PARTS, ROOT, anchors, links, read

MENTION = re.compile(r"(?:scale/|integrations/|research/)?docs/[\w/-]+\.md\b(?!:\d)")  # a hit in an example has a line


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_to_what_is_there(page: str) -> None:
    for target in links(read(page)):
        if re.match(r"\w+:", target):
            continue
        path, _, anchor = target.partition("#")
        place = (ROOT / page).parent / path if path else ROOT / page
        assert place.exists(), f"{page} links to {target}"
        if anchor:
            assert anchor in anchors(place.read_text(encoding="utf-8")), f"{page} links to {target}"


@pytest.mark.parametrize("folder", ["semsearch", *(f"{part}/semsearch_{part}" for part in PARTS), "tests/benchmarks"])
def test_pages_that_the_code_mentions_are_there(folder: str) -> None:
    place = ROOT / folder
    for path in [place] if place.is_file() else place.rglob("*.py"):
        for mention in MENTION.findall(path.read_text(encoding="utf-8")):
            assert (ROOT / mention).exists(), f"{path.relative_to(ROOT)} mentions {mention}"


def test_every_page_is_on_the_map() -> None:
    named = {str(PurePosixPath("docs") / target.partition("#")[0]) for target in links(read("docs/README.md"))}
    assert {name for name in named if "/../" not in name} == {page for page in PAGES if page.startswith("docs/")} - {
        "docs/README.md"
    }


@pytest.mark.parametrize("part", PARTS)
def test_every_page_of_another_distribution_is_on_its_map(part: str) -> None:
    named = {str(PurePosixPath(part) / target.partition("#")[0]) for target in links(read(f"{part}/README.md"))}
    assert {page for page in PAGES if page.startswith(f"{part}/docs/")} <= named


def test_every_ending_that_is_read_is_in_the_guide() -> None:
    from semsearch.readers.registry import SUFFIXES

    page = read("docs/formats.md")
    assert not [suffix for suffix in SUFFIXES if not re.search(rf"{re.escape(suffix)}(?!\w)", page)]
