"""The walk: what is found, what is left out silently, and what is reported."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from semsearch.errors import SourceError, UsageError
from semsearch.sources.root_files import present_files
from semsearch.sources.roots import Root
from semsearch.sources.walk import find_files


def write(root: Path, *names: str, **texts: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(texts.get("text", "words"), encoding="utf-8")


def found(root: Path, *, include: Sequence[str] = (), exclude: Sequence[str] = ()) -> list[str]:
    def unexpected(path: str, reason: str) -> None:
        raise AssertionError((path, reason))

    return [file.path for file in find_files(root, include=include, exclude=exclude, skipped=unexpected)]


def known(root: Path, *, include: Sequence[str] = ()) -> list[str]:
    found = find_files(root, include=include, skipped=print)
    of_root = Root(1, root.as_posix(), include=tuple(include))
    return [file.path for file in present_files(of_root, found) if file.has_reader]


def found_and_skipped(root: Path) -> tuple[list[str], list[tuple[str, str]]]:
    skipped: list[tuple[str, str]] = []
    return [file.path for file in find_files(root, skipped=lambda *what: skipped.append(what))], skipped


def test_files_are_found_in_order_and_hidden_ones_are_not(tmp_path: Path) -> None:
    write(tmp_path, "b.md", "a.TXT", "c.png", "d/e/f.rst", "d/a.html", ".hidden.md", ".git/x.md", "README")
    assert found(tmp_path) == ["README", "a.TXT", "b.md", "c.png", "d/a.html", "d/e/f.rst"]


def test_the_folders_of_a_maildir_are_hidden_and_found(tmp_path: Path) -> None:
    mail = [
        f"{folder}{part}"
        for folder in ("Mail/", "Mail/.Sent/", "Mail/.Sent.2024/")
        for part in ("cur/1", "new/2", "tmp/3")
    ]
    write(tmp_path, *mail, "Mail/.git/cur/1", "Mail/.hidden", ".Other/cur/1", ".Other/new/1", ".Other/tmp/1")
    assert sorted(found(tmp_path)) == sorted(mail)
    one = [file.path for file in find_files(tmp_path, ["Mail/.Sent/cur/1", ".Other", "Mail/.git/cur/1"], skipped=print)]
    assert one == ["Mail/.Sent/cur/1"]


def test_files_that_no_reader_supports_are_marked(tmp_path: Path) -> None:
    write(tmp_path, "b.md", "c.png", "README", "d/f.rst")
    assert known(tmp_path) == ["b.md", "d/f.rst"]
    assert known(tmp_path / "README") == ["README"]


def test_what_does_not_exist_is_an_error_at_once(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="nowhere cannot be read: No such file"):
        find_files(tmp_path / "nowhere", skipped=print)


def test_gitignore_files_count_from_their_folder_and_deeper_ones_win(tmp_path: Path) -> None:
    write(
        tmp_path, "a.md", "keep.tmp.md", "x.tmp.md", "build/a.md", "d/build/a.md", "d/x.tmp.md", "d/only.md", "only.md"
    )
    write(tmp_path, ".gitignore", text="*.tmp.md\n!keep.tmp.md\n/build/\n# comment\n")
    write(tmp_path, "d/.gitignore", text="!x.tmp.md\n/only.md\n")
    assert found(tmp_path) == ["a.md", "keep.tmp.md", "only.md", "d/x.tmp.md", "d/build/a.md"]


def test_what_lies_in_an_ignored_folder_cannot_be_included_again(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "out/b.md")
    write(tmp_path, ".gitignore", text="out/\n!out/b.md\n")
    assert found(tmp_path) == ["a.md"]


def test_semsearchignore_wins_over_gitignore(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "b.md", "c.md")
    write(tmp_path, ".gitignore", text="a.md\n")
    write(tmp_path, ".semsearchignore", text="!a.md\nb.md\n")
    assert found(tmp_path) == ["a.md", "c.md"]


def test_the_rules_of_the_work_tree_above_the_root_hold_too(tmp_path: Path) -> None:
    write(tmp_path, "repo/.git/HEAD", "repo/docs/a.md", "repo/docs/draft.md", "repo/docs/old.md", "repo/docs/local.md")
    write(tmp_path, ".gitignore", text="a.md\n")  # above the work tree
    write(tmp_path, "repo/.gitignore", text="draft.md\nold.md\n")
    write(tmp_path, "repo/.git/info/exclude", text="local.md\n")
    write(tmp_path, "repo/docs/.gitignore", text="!old.md\n")
    assert found(tmp_path / "repo" / "docs") == ["a.md", "old.md"]


def test_a_bad_line_of_an_ignore_file_costs_only_itself(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "b.md")
    write(tmp_path, ".gitignore", text="!\n[z-a]\n[[:digit:]]x\na.md\n")
    files, skipped = found_and_skipped(tmp_path)
    assert files == ["b.md"]
    bad = ["'!' is not a valid pattern; the line is ignored", "'[z-a]' is not a valid pattern; the line is ignored"]
    assert [reason for _, reason in skipped] == bad


def test_include_and_exclude_are_patterns_relative_to_the_root(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "b.rst", "guide/c.md", "guide/d/e.rst", "guide/f.png", "other/guide/g.md")
    assert found(tmp_path, include=["*.md"]) == ["a.md", "guide/c.md", "other/guide/g.md"]
    assert found(tmp_path, include=["guide/**"]) == ["guide/c.md", "guide/f.png", "guide/d/e.rst"]
    assert known(tmp_path, include=["guide/**"]) == ["guide/c.md", "guide/d/e.rst"]
    assert found(tmp_path, exclude=["guide/**"]) == ["a.md", "b.rst", "other/guide/g.md"]
    assert found(tmp_path, exclude=["*.md", "/b.rst"]) == ["guide/f.png", "guide/d/e.rst"]
    assert found(tmp_path, include=["*.md"], exclude=["guide/"]) == ["a.md"]


def test_include_may_ask_for_files_that_no_reader_is_for(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "b.cfg", "src/c.cfg", "Makefile", "d.png")
    asked = ["*.cfg", "Makefile"]
    assert found(tmp_path, include=asked) == known(tmp_path, include=asked) == ["Makefile", "b.cfg", "src/c.cfg"]
    assert found(tmp_path, include=["src/*"]) == ["src/c.cfg"]
    assert known(tmp_path, include=["src/*"]) == []


def linked(link: Path, target: Path) -> None:
    try:
        link.symlink_to(target)
    except OSError:
        pytest.skip("links cannot be made here")


def test_a_link_to_a_file_is_read_and_a_link_to_a_folder_is_reported(tmp_path: Path) -> None:
    write(tmp_path, "d/a.md")
    linked(tmp_path / "b.md", tmp_path / "d" / "a.md")
    linked(tmp_path / "d" / "loop", tmp_path)
    files, skipped = found_and_skipped(tmp_path)
    assert files == ["b.md", "d/a.md"]
    assert skipped == [
        (f"{tmp_path.as_posix()}/d/loop/", "a link to a folder is not followed; index the folder itself")
    ]


def test_a_link_that_leads_out_of_the_root_is_reported_and_not_read(tmp_path: Path) -> None:
    write(tmp_path, "private/key.txt", "docs/a.md", "docs-too/b.md")
    linked(tmp_path / "docs" / "key.txt", tmp_path / "private" / "key.txt")
    linked(tmp_path / "docs" / "b.md", Path("../docs-too/b.md"))
    linked(tmp_path / "docs" / "c.md", Path("../docs/a.md"))  # out and in again
    files, skipped = found_and_skipped(tmp_path / "docs")
    assert files == ["a.md", "c.md"]
    told = "a link that leads out of the folder is not followed; index the file itself"
    assert skipped == [((tmp_path / "docs" / name).as_posix(), told) for name in ("b.md", "key.txt")]


def test_a_broken_link_is_reported(tmp_path: Path) -> None:
    linked(tmp_path / "a.md", tmp_path / "nowhere.md")
    linked(tmp_path / "image.png", tmp_path / "nowhere.png")
    paths = [f"{tmp_path.as_posix()}/a.md", f"{tmp_path.as_posix()}/image.png"]
    assert found_and_skipped(tmp_path) == ([], [(path, "a broken link") for path in paths])


@pytest.mark.skipif(
    sys.platform == "win32" or not hasattr(os, "geteuid") or os.geteuid() == 0, reason="needs rights to lack"
)
def test_a_folder_that_cannot_be_listed_is_reported(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "d/b.md")
    (tmp_path / "d").chmod(0)
    try:
        files, skipped = found_and_skipped(tmp_path)
    finally:
        (tmp_path / "d").chmod(0o700)
    assert files == ["a.md"]
    assert skipped == [(f"{tmp_path.as_posix()}/d/", "cannot be listed: Permission denied")]


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such names")
def test_a_name_that_is_not_unicode_is_reported(tmp_path: Path) -> None:
    os.close(os.open(os.fsencode(tmp_path) + b"/\xff.md", os.O_CREAT))
    files, [(path, reason)] = found_and_skipped(tmp_path)
    assert (files, reason) == ([], "its name is not valid Unicode; rename it")
    assert path.endswith("\\udcff.md")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_a_pipe_is_not_a_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.txt")
    assert found_and_skipped(tmp_path) == ([], [(f"{tmp_path.as_posix()}/pipe.txt", "not a regular file")])
    with pytest.raises(SourceError, match="neither a file nor a folder"):
        find_files(tmp_path / "pipe.txt", skipped=print)


def test_links_that_lead_round_in_a_circle_are_reported_and_the_walk_goes_on(tmp_path: Path) -> None:
    write(tmp_path, "z.md")
    linked(tmp_path / "a.md", tmp_path / "a.md")
    linked(tmp_path / "b", tmp_path / "c")
    linked(tmp_path / "c", tmp_path / "b")
    files, skipped = found_and_skipped(tmp_path)
    assert (files, [path.rpartition("/")[2] for path, _ in skipped]) == (["z.md"], ["a.md", "b", "c"])
    assert {reason for _, reason in skipped} == {"a broken link"}


@pytest.mark.parametrize(
    "names", [("index.sqlite", "lock"), ("index.sqlite", "segments/x"), ("semsearch.json", "current.json", "blocks/x")]
)
def test_indexes_and_snapshots_of_semsearch_itself_are_left_out(tmp_path: Path, names: Sequence[str]) -> None:
    write(tmp_path, "a.md", "d/e/more.md", "d/notes.md", *(f"d/e/{name}" for name in names))
    assert found(tmp_path) == ["a.md", "d/notes.md"]
    assert found(tmp_path / "d" / "e") == []
    assert list(find_files(tmp_path, ["d/e/more.md", "d/e"], skipped=print)) == []


@pytest.mark.skipif(not Path("/proc/sys/kernel").exists(), reason="there is no /proc")
def test_a_file_system_of_the_kernel_is_left_out_and_that_is_said() -> None:
    skipped: list[tuple[str, str]] = []
    assert list(find_files(Path("/"), ["proc"], skipped=lambda *what: skipped.append(what))) == []
    ((path, reason),) = skipped
    assert path.endswith("proc/")
    assert "kernel" in reason
    assert [file.path for file in find_files(Path("/proc"), ["self/net/dev"], skipped=print)] in (
        [],
        ["self/net/dev"],
    )
    assert [file.path for file in find_files(Path("/proc"), ["sys/kernel/ostype"], skipped=print)]


def test_packages_of_others_are_left_out_and_that_is_reported(tmp_path: Path) -> None:
    write(tmp_path, "a.js", "node_modules/left/pad.js", "vendor/modules.txt", "vendor/b/b.go", "papers/vendor/offer.md")
    paths, skipped = found_and_skipped(tmp_path)
    assert paths == ["a.js", "papers/vendor/offer.md"]
    assert [path.rsplit("/", 2)[-2] for path, _ in skipped] == ["node_modules", "vendor"]
    assert all("index this folder itself" in reason for _, reason in skipped)
    assert sorted(found(tmp_path / "vendor")) == ["b/b.go", "modules.txt"]
    changed = ["node_modules/left/pad.js", "vendor/b/b.go", "papers/vendor/offer.md"]
    assert [file.path for file in find_files(tmp_path, changed, skipped=print)] == ["papers/vendor/offer.md"]


def test_a_pattern_that_would_take_for_ever_is_ignored_and_said(tmp_path: Path) -> None:
    write(tmp_path, "a" * 200, "b.md")
    deep, wide = "/".join(["**", "a"] * 5), "*a" * 20 + "b"
    write(tmp_path, ".gitignore", text=f"{deep}\n{wide}\n*.log\n[*][*][*][*][*]\n\\*\\*\\*\\*\\*\n")
    _, skipped = found_and_skipped(tmp_path)
    bad = [f"{line!r} has more than 4 stars; the line is ignored" for line in (deep, wide)]
    assert [reason for _, reason in skipped if "star" in reason] == bad
    with pytest.raises(UsageError, match="more than 4 stars"):
        found(tmp_path, include=[wide])
