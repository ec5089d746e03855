"""Roots never overlap."""

from __future__ import annotations

from semsearch.sources.roots import Root, RootPart, plan_roots


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


def test_a_path_inside_a_root_means_that_part_of_it() -> None:
    root = Root(1, "/a")
    found = plan_roots([root], ask("/a/b", "/a/c.md", "/a/b/d.md"))
    assert (found.wanted, found.parts) == ([], [RootPart(root, "b"), RootPart(root, "c.md")])
    assert [part.canonical for part in found.parts] == ["/a/b", "/a/c.md"]


def test_globs_given_for_a_part_are_said_not_to_count() -> None:
    found = plan_roots([Root(1, "/a")], [Root(-1, "/a/b", include=("*.md",))])
    assert found.warnings == ["/a/b is inside /a, which keeps its own --include and --exclude"]


def test_a_plan_covers_its_roots_and_parts_and_what_lies_in_them() -> None:
    found = plan_roots([Root(1, "/a"), Root(2, "/b")], ask("/a/x", "/b"))
    assert [found.covers(path) for path in ("/a/x", "/a/x/y.md", "/b/z.md")] == [True] * 3
    assert [found.covers(path) for path in ("/a", "/a/xy", "/bc")] == [False] * 3


def test_a_path_around_roots_takes_them_over() -> None:
    known = [Root(1, "/a/b"), Root(2, "/a/c.md", single=True), Root(3, "/ab")]
    found = plan_roots(known, ask("/a"))
    assert [root.path for root in found.wanted] == ["/a"]
    assert found.absorbed == known[:2]


def test_paths_given_together_collapse_in_any_order() -> None:
    assert [root.path for root in plan_roots([], ask("/a/b", "/a", "/a/b.md")).wanted] == ["/a"]


def test_places_are_composed_and_a_single_file_is_its_own_place() -> None:
    assert Root(1, "/cafe\u0301").canonical("a") == "/caf\u00e9/a"
    assert Root(1, "/a/b.md", single=True).canonical("b.md") == "/a/b.md"
    assert Root(1, "/").canonical("b.md") == "/b.md"
