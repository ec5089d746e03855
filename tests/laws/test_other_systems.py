"""What Windows and macOS do otherwise than this system, as fakes do it (docs/developers/reliability.md)."""

from __future__ import annotations

import ast
import ntpath
import posixpath
import re
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from semsearch.cli.terminal import file_address
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


@pytest.mark.parametrize(
    ("path", "host", "expected"),
    [
        ("C:/My docs/a#1.md", "", "file:///C:/My%20docs/a%231.md"),
        ("//server/share/a.md", "", "file:////server/share/a.md"),
        ("/docs/a:b.md", "here", "file://here/docs/a%3Ab.md"),
    ],
)
def test_the_address_of_a_file_has_its_drive(path: str, host: str, expected: str) -> None:
    assert file_address(path, host) == expected


# names of modules and functions that a system lacks, each with how the code must ask for them
_POSIX_MODULES = {"fcntl", "resource", "pwd", "grp", "termios", "tty", "pty", "syslog"}
_WINDOWS_MODULES = {"msvcrt", "winreg", "_winapi", "winsound"}
_POSIX_FUNCTIONS = {
    "fork",
    "forkpty",
    "getuid",
    "geteuid",
    "getgid",
    "getppid",
    "sysconf",
    "statvfs",
    "sched_getaffinity",
    "killpg",
    "mkfifo",
    "pread",
    "pwrite",
    "uname",
    "chown",
    "fchmod",
    "fchown",
    "getpgid",
    "setsid",
    "posix_fadvise",
    "register_at_fork",
}


def test_what_a_system_lacks_is_asked_for_where_it_is_known_to_be_there() -> None:
    texts = {path.relative_to(PRODUCT).as_posix(): path.read_text(encoding="utf-8") for path in PRODUCT.rglob("*.py")}
    assert {name: wrong for name, text in texts.items() if (wrong := lacking_elsewhere(text))} == {}


def lacking_elsewhere(text: str) -> list[str]:
    """The modules and functions that some system lacks, where the code does not ask before which system it is."""
    if not re.search(r"\b(" + "|".join(_POSIX_MODULES | _WINDOWS_MODULES | _POSIX_FUNCTIONS) + r")\b", text):
        return []
    tree = ast.parse(text)
    guarded: set[ast.AST] = set()
    for node in ast.walk(tree):
        test = getattr(node, "test", None)
        after_return = isinstance(node, ast.FunctionDef) and any(
            isinstance(each, ast.If) and _asks(each) for each in node.body
        )
        if (test is not None and _asks(test)) or isinstance(node, ast.Try) or after_return:
            guarded.update(ast.walk(node))
    return [name for node in ast.walk(tree) if node not in guarded for name in _names(node)]


def _names(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [each.name for each in node.names if each.name in _POSIX_MODULES | _WINDOWS_MODULES]
    if isinstance(node, ast.ImportFrom):
        return [node.module] if node.module in _POSIX_MODULES | _WINDOWS_MODULES else []
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "os":
        return [f"os.{node.attr}"] if node.attr in _POSIX_FUNCTIONS else []
    return []


def _asks(node: ast.AST) -> bool:
    """Whether an expression, or the condition of a statement, asks which system this is."""
    asked = ast.unparse(getattr(node, "test", node))
    return any(each in asked for each in ("os.name", "sys.platform", "hasattr(os"))
