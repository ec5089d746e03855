"""What lies above the current folder is found, nearest first, unless a stranger has put it there."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from semsearch.system.locations import folders_above

needs_owners = pytest.mark.skipif(os.name == "nt" or os.getuid() != 0, reason="only root may give files away")


@pytest.fixture
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder deep below tmp_path, which is the current one."""
    folder = tmp_path / "a" / "b" / "c"
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    return folder


def test_the_nearest_comes_first_and_that_of_the_folder_itself_not_at_all(tmp_path: Path, inside: Path) -> None:
    for folder in (tmp_path, tmp_path / "a", inside):
        (folder / "wanted").mkdir()
    assert list(folders_above("wanted")) == [tmp_path / "a" / "wanted", tmp_path / "wanted"]


def test_a_link_round_and_a_link_to_nowhere_are_passed_over(tmp_path: Path, inside: Path) -> None:
    (tmp_path / "a" / "wanted").symlink_to(tmp_path / "a" / "wanted")
    (tmp_path / "a" / "b" / "wanted").symlink_to(tmp_path / "nowhere")
    (tmp_path / "wanted").mkdir()
    assert list(folders_above("wanted")) == [tmp_path / "wanted"]


def test_above_a_folder_that_has_been_deleted_there_is_nothing(tmp_path: Path, inside: Path) -> None:
    (tmp_path / "wanted").mkdir()
    shutil.rmtree(tmp_path / "a" / "b")
    assert list(folders_above("wanted")) == []


@needs_owners
def test_what_a_stranger_has_put_above_is_passed_over(tmp_path: Path, inside: Path) -> None:
    (tmp_path / "wanted").mkdir()
    os.chown(tmp_path / "wanted", 12345, -1)
    assert list(folders_above("wanted")) == []
    os.chown(inside, 12345, -1)  # whoever works in a stranger's folder trusts the stranger
    assert list(folders_above("wanted")) == [tmp_path / "wanted"]


@needs_owners
def test_a_strangers_link_to_what_the_user_has_is_not_followed(tmp_path: Path, inside: Path) -> None:
    (tmp_path / "elsewhere").touch()
    (tmp_path / "wanted").symlink_to(tmp_path / "elsewhere")
    assert list(folders_above("wanted")) == [tmp_path / "wanted"]
    os.chown(tmp_path / "wanted", 12345, -1, follow_symlinks=False)
    assert list(folders_above("wanted")) == []
