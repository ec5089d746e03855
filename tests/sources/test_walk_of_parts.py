"""A walk of some paths finds what a walk of everything finds there, and looks at nothing else."""

from __future__ import annotations

import os
import tempfile
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from semsearch.sources.unchanged import FoundFile
from semsearch.sources.walk import Folders, find_files

NAMES = ("a", "b.md", "c.txt", ".hidden", "é", "x.png")
RULES = ("b.md", "a/", "*.txt", "!b.md", "/a/b.md", "é", "**/a/a")


@st.composite
def trees(draw: st.DrawFn) -> dict[str, str]:
    """Paths of files with their text, some of them ignore rules."""
    folder = st.lists(st.sampled_from(("a", "é", ".hidden")), max_size=3).map("/".join)
    file = st.sampled_from(NAMES[1:3] + NAMES[4:])
    paths = draw(st.lists(st.tuples(folder, file), min_size=1, max_size=8))
    tree = {f"{above}/{name}".lstrip("/") + (".md" if name == "é" else ""): "words" for above, name in paths}
    for above in draw(st.lists(folder, max_size=2)):
        rules = draw(st.lists(st.sampled_from(RULES), min_size=1, max_size=3))
        tree[f"{above}/.gitignore".lstrip("/")] = "\n".join(rules)
    return tree


def written(root: Path, tree: dict[str, str]) -> None:
    for path, text in tree.items():
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")


def all_paths(root: Path) -> list[str]:
    """Every file and folder in a root, hidden ones too, and some that are not there."""
    there = [path.relative_to(root).as_posix() for path in root.rglob("*")]
    return [*there, "missing.md", "a/missing.md", "b.md/under-a-file.md"]


def at(files: list[FoundFile], path: str) -> list[FoundFile]:
    composed = unicodedata.normalize("NFC", path)
    return [file for file in files if f"{file.path}/".startswith(f"{composed}/")]


@given(trees())
def test_any_path_gives_what_the_whole_walk_finds_there(tree: dict[str, str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        written(root, tree)
        whole = list(find_files(root, exclude=["a/é/"], skipped=print))
        paths = all_paths(root)
        assert [list(find_files(root, [path], exclude=["a/é/"], skipped=print)) for path in paths] == [
            at(whole, path) for path in paths
        ]


def test_nothing_but_the_folders_above_a_file_is_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(tmp_path, {"a/b.md": "words", "a/c.txt": "words", "z/b.md": "words"})
    listed: list[str] = []
    entries = Folders.entries
    monkeypatch.setattr(Folders, "entries", lambda disk, path: (listed.append(path), entries(disk, path))[1])
    assert [file.path for file in find_files(tmp_path, ["a/b.md"], skipped=print)] == ["a/b.md"]
    assert listed == [f"{tmp_path.as_posix()}/", f"{tmp_path.as_posix()}/a/"]


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_links_are_treated_as_the_whole_walk_treats_them(tmp_path: Path) -> None:
    written(tmp_path, {"real/b.md": "words"})
    (tmp_path / "to-folder").symlink_to("real")
    (tmp_path / "to-file.md").symlink_to("real/b.md")
    (tmp_path / "broken.md").symlink_to("nowhere")
    told: list[str] = []
    paths = ["to-folder", "to-folder/b.md", "to-file.md", "broken.md"]
    found = find_files(tmp_path, paths, skipped=lambda path, reason: told.append(f"{Path(path).name}: {reason}"))
    assert [file.path for file in found] == ["to-file.md"]
    assert told == [
        "broken.md: a broken link",
        "to-folder: a link to a folder is not followed; index the folder itself",
    ]


def test_a_path_may_be_spelled_in_another_unicode_form_than_on_the_disk(tmp_path: Path) -> None:
    decomposed, composed = "cafe\u0301", "caf\u00e9"
    written(tmp_path, {f"{decomposed}/{decomposed}.md": "words"})
    (found,) = find_files(tmp_path, [f"{composed}/{composed}.md"], skipped=print)
    assert found.path == f"{composed}/{composed}.md"
    assert Path(found.absolute).read_text() == "words"


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="nothing is closed to the administrator")
def test_what_may_not_be_looked_at_is_reported(tmp_path: Path) -> None:
    written(tmp_path, {"closed/a/b.md": "words"})
    (tmp_path / "closed").chmod(0)
    told: list[str] = []
    try:
        assert list(find_files(tmp_path, ["closed/a/b.md"], skipped=lambda path, _: told.append(path))) == []
    finally:
        (tmp_path / "closed").chmod(0o700)
    assert [Path(path).name for path in told] == ["closed"]
