"""Roots never overlap."""

from __future__ import annotations

from semsearch.sources.roots import Root, covers, plan_roots


def ask(*paths: str) -> list[Root]:
    return [Root(-1, path, path.endswith(".md")) for path in paths]


def test_a_new_path_becomes_a_root_with_an_id_of_its_own() -> None:
    found = plan_roots([Root(3, "/a")], ask("/b", "/c"))
    assert [(root.id, root.path) for root in found.wanted] == [(4, "/b"), (5, "/c")]
    assert found.warnings == []


def test_a_known_root_is_looked_at_again_and_keeps_its_globs_unless_new_ones_come() -> None:
    known = [Root(1, "/a", include=("*.md",)), Root(2, "/b")]
    assert plan_roots(known, ask("/a")).wanted == [known[0]]
    assert plan_roots(known, [Root(-1, "/a", exclude=("x",))]).wanted == [
        Root(1, "/a", include=("*.md",), exclude=("x",))
    ]


def test_a_path_inside_a_root_means_that_root_and_says_so() -> None:
    found = plan_roots([Root(1, "/a")], ask("/a/b", "/a/c.md"))
    assert [root.path for root in found.wanted] == ["/a"]
    assert len(found.warnings) == 1


def test_a_path_around_roots_takes_them_over() -> None:
    known = [Root(1, "/a/b"), Root(2, "/a/c.md", single=True), Root(3, "/ab")]
    found = plan_roots(known, ask("/a"))
    assert [root.path for root in found.wanted] == ["/a"]
    assert found.absorbed == known[:2]


def test_paths_given_together_collapse_in_any_order() -> None:
    assert [root.path for root in plan_roots([], ask("/a/b", "/a", "/a/b.md")).wanted] == ["/a"]


def test_only_what_lies_below_is_covered() -> None:
    assert covers(Root(1, "/a"), "/a/b")
    assert covers(Root(1, "/"), "/a")
    assert not covers(Root(1, "/a"), "/ab")
    assert not covers(Root(1, "/a.md", single=True), "/a.md/b")


def test_places_are_composed_and_a_single_file_is_its_own_place() -> None:
    assert Root(1, "/cafe\u0301").place("a") == "/caf\u00e9/a"
    assert Root(1, "/a/b.md", single=True).place("b.md") == "/a/b.md"
    assert Root(1, "/").place("b.md") == "/b.md"
