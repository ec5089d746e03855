"""What Windows and macOS do otherwise than this system, as fakes do it (docs/developers/reliability.md)."""

from __future__ import annotations

import ntpath
import posixpath
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from semsearch.sources import walk
from semsearch.sources.roots import Root, RootPart, covers, enclosing_path, outermost
from semsearch.sources.walk import is_inside
from semsearch.system.durable import replace_file

PRODUCT = Path(walk.__file__).parents[1]


class HeldOpen(type(Path())):  # type: ignore[misc]  # the class of this system's paths
    """A file whose target another process has open, as Windows has it, until it was tried so many times."""

    def held(self, times: int) -> HeldOpen:
        self.left = times
        return self

    def replace(self, target: str | Path) -> Path:
        self.left -= 1
        if self.left >= 0:
            raise PermissionError(13, "Access is denied", str(target))
        return Path(super().replace(target))


@pytest.mark.parametrize("times", [0, 1, 3])
def test_a_file_that_another_process_has_open_for_an_instant_is_replaced(tmp_path: Path, times: int) -> None:
    (tmp_path / "old").write_text("old", encoding="utf-8")
    new = HeldOpen(tmp_path / "new").held(times)
    new.write_text("new", encoding="utf-8")
    replace_file(new, tmp_path / "old", pauses=(0.0, 0.0, 0.0))
    assert [(each.name, each.read_text(encoding="utf-8")) for each in tmp_path.iterdir()] == [("old", "new")]


@pytest.mark.parametrize("pauses", [(), (0.0, 0.0)])
def test_a_file_that_stays_open_is_an_error_and_the_new_one_is_kept(tmp_path: Path, pauses: tuple[float, ...]) -> None:
    new = HeldOpen(tmp_path / "new").held(len(pauses) + 1)
    new.write_text("new", encoding="utf-8")
    with pytest.raises(PermissionError, match="denied"):
        replace_file(new, tmp_path / "old", pauses=pauses)
    assert new.left == 0
    assert [each.name for each in tmp_path.iterdir()] == ["new"]


@pytest.mark.parametrize(
    ("paths", "folder", "path", "expected"),
    [
        (ntpath, r"C:\docs", r"C:\docs\a.md", True),
        (ntpath, r"C:\docs", r"c:\DOCS\a.md", True),
        (ntpath, r"C:\docs", r"C:\docs2\a.md", False),
        (ntpath, r"C:\docs", r"D:\docs\a.md", False),  # where a junction may lead
        (ntpath, r"C:\docs", r"\\server\share\a.md", False),
        (ntpath, "C:\\", r"C:\a.md", True),
        (posixpath, "/docs", "/docs/a.md", True),
        (posixpath, "/docs", "/DOCS/a.md", False),
        (posixpath, "/", "/a.md", True),
    ],
)
def test_what_a_link_leads_to_is_inside_or_not(paths: ModuleType, folder: str, path: str, expected: bool) -> None:
    assert is_inside(path, folder, paths=paths) is expected


@pytest.mark.parametrize(
    ("system", "tag", "expected"),
    [
        ("win32", walk._MOUNT_POINT, True),
        ("win32", 0, False),
        ("linux", walk._MOUNT_POINT, False),
    ],
)
def test_a_junction_is_a_link(system: str, tag: int, expected: bool) -> None:
    entry = SimpleNamespace(stat=lambda **_: SimpleNamespace(st_reparse_tag=tag))
    assert walk._is_junction(entry, system=system) is expected  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("root", "path", "expected"),
    [
        ("C:/", "C:/a.md", True),
        ("C:/", "D:/a.md", False),
        ("C:/docs", "C:/docs/a.md", True),
        ("C:/docs", "C:/docs2/a.md", False),
        ("//server/share", "//server/share/a.md", True),
        ("//server/share", "//server/other/a.md", False),
        ("/", "/a.md", True),
    ],
)
def test_drives_and_shares_are_roots(root: str, path: str, expected: bool) -> None:
    whole = Root(path=root, id=1)
    assert covers(whole, path) is expected
    if expected:
        part = RootPart(whole, path[len(root.rstrip("/")) + 1 :])
        assert part.canonical == path
        assert outermost([part, RootPart(whole, part.path + "/b")]) == [part]
        assert enclosing_path(path + "/b", {path}) == path
