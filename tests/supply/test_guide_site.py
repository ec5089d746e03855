"""The guide as a site: every page has its place in the navigation, and a link that leads nowhere is seen."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import guide_site
from guide import PAGES
from reference_page.api import api_page

from semsearch import PUBLIC, public_names

PAGE = '<h1 id="top">Top</h1><a href="{target}">there</a><img src="{picture}">'


def pages_of(part: object) -> Iterator[str]:
    if isinstance(part, str):
        yield part
    for inner in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
        yield from pages_of(inner)


def test_every_page_is_in_the_navigation_once_and_in_the_guides_order() -> None:
    order = list(pages_of(guide_site.navigation()))
    assert sorted(order) == sorted([*PAGES, guide_site.API])
    assert order.index("docs/getting-started.md") < order.index("docs/querying.md") < order.index("docs/reference.md")
    assert [next(iter(part)) for part in guide_site.navigation()][1:4] == [
        "Search your documents",
        "Build on it",
        "Understand and measure it",
    ]


def test_a_link_to_a_source_file_leads_to_the_repository_or_is_text() -> None:
    assert "(https://example.org/blob/main/semsearch/index.py)" in guide_site.for_the_site(
        "ARCHITECTURE.md", "https://example.org"
    )
    assert "(semsearch/" not in guide_site.for_the_site("ARCHITECTURE.md", "")
    assert "(../../api.md)" in guide_site.for_the_site("docs/developers/python.md", "")


def test_what_leads_nowhere_or_loads_from_elsewhere_is_seen(tmp_path: Path) -> None:
    def found(target: str, picture: str = "a.png") -> list[str]:
        (tmp_path / "one.html").write_text(PAGE.format(target=target, picture=picture), encoding="utf-8")
        return list(guide_site.problems(tmp_path))

    (tmp_path / "a.png").write_bytes(b"")
    (tmp_path / "two").mkdir()
    (tmp_path / "two/index.html").write_text('<a id="here"></a>', encoding="utf-8")
    for good in ("#top", "two/", "two/#here", "one.html", "https://example.org/"):
        assert found(good) == []
    assert found("#bottom") == ["one.html links to #bottom: no such anchor"]
    assert found("two/#there") == ["one.html links to two/#there: no such anchor"]
    assert found("three.html") == ["one.html links to three.html"]
    assert found("#top", "b.png") == ["one.html links to b.png"]
    assert found("#top", "//example.org/b.png") == ["one.html loads //example.org/b.png"]
    (tmp_path / "a.css").write_text("@font-face { src: url('https://example.org/f') }", encoding="utf-8")
    assert found("#top") == ["a.css loads https://example.org/f"]


def test_the_python_reference_has_every_public_name() -> None:
    page = api_page()
    headings = {line for line in page.splitlines() if line.startswith("#")}
    assert {f"### {name}" for namespace in PUBLIC for name in public_names(namespace)} <= headings
    assert {"#### Index.sync", "#### Hits.to_pandas", "#### Searchable.search"} <= headings
    assert " at 0x" not in page
    assert page == api_page()
