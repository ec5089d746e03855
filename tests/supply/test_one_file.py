"""The start of the program of one file, with a small one inside; tests/supply/one_file.py builds the whole."""

from __future__ import annotations

import os
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import distribution
from pathlib import Path

import one_file
import pytest
import release

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the start is a script of a shell")
INSIDE = '#!/bin/sh\necho "$SEMSEARCH_PROGRAM"\nfor each in "$@"; do echo "<$each>"; done\nexit 3\n'


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """A program of one file."""
    folder = tmp_path / "built/semsearch"
    (folder / "_internal").mkdir(parents=True)
    (folder / "semsearch").write_text(INSIDE, encoding="utf-8")
    (folder / "semsearch").chmod(0o755)
    (folder / "_internal/vectors").write_bytes(bytes(range(256)) * 4000)
    one_file.list_files(folder)
    to = tmp_path / "some where"
    to.mkdir()
    return one_file.pack(folder, to, "1.2.3", "Linux")


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "home/.cache/semsearch/programs"


def started(program: Path, *arguments: str, **more: str) -> tuple[int, str, str]:
    home = program.parents[1] / "home"
    home.mkdir(exist_ok=True)
    environment = {"HOME": str(home), "PATH": "/no-such-folder", **more}
    done = subprocess.run([program, *arguments], env=environment, capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def test_it_runs_with_its_arguments_and_is_unpacked_once(program: Path, cache: Path) -> None:
    expected = (3, f"{program}\n<two words>\n<>\n<*>\n", "")
    assert started(program, "two words", "", "*") == expected
    (folder,) = cache.iterdir()
    built = program.parents[1] / "built/semsearch"
    assert (folder / "_internal/vectors").read_bytes() == (built / "_internal/vectors").read_bytes()
    before = folder.stat()
    assert started(program, "two words", "", "*") == expected
    assert (folder.stat().st_ino, folder.stat().st_ctime_ns) == (before.st_ino, before.st_ctime_ns)
    assert len(list(cache.iterdir())) == 1


def test_nobody_else_may_read_or_change_what_is_unpacked(program: Path, cache: Path) -> None:
    cache.mkdir(parents=True, mode=0o755)
    started(program)
    assert [path for path in (cache, *cache.rglob("*")) if path.stat().st_mode & 0o77] == []


def test_first_starts_at_once_leave_one_whole_folder(program: Path, cache: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(lambda _: started(program, "a"), range(16))) == {(3, f"{program}\n<a>\n", "")}
    (folder,) = cache.iterdir()
    assert sorted(path.name for path in folder.iterdir()) == ["FILES", "_internal", "semsearch"]


@pytest.mark.parametrize(
    "damage", [lambda data: data[:-7], lambda data: data[:-9] + b"?" + data[-8:], lambda data: data + b"x"]
)
def test_a_damaged_file_is_refused_and_leaves_nothing(program: Path, cache: Path, damage: object) -> None:
    assert callable(damage)
    program.write_bytes(damage(program.read_bytes()))
    assert started(program) == (2, "", f"semsearch: {program} is damaged; download it again\n")
    assert list(cache.iterdir()) == []


def test_a_folder_that_is_a_link_is_refused(program: Path, cache: Path) -> None:
    started(program)
    (folder,) = cache.iterdir()
    folder.rename(cache / "elsewhere")
    folder.symlink_to(cache / "elsewhere")
    status, said, complaint = started(program)
    assert (status, said) == (2, "")
    assert "is not a folder of this user" in complaint


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs to give a folder away")
@pytest.mark.parametrize("whose", ["cache", "folder"])
def test_a_folder_of_somebody_else_is_refused(program: Path, cache: Path, whose: str) -> None:
    started(program)
    (folder,) = cache.iterdir()
    os.chown(cache if whose == "cache" else folder, 12345, 12345)
    status, said, complaint = started(program)
    assert (status, said) == (2, "")
    assert "is not a folder of this user" in complaint


def test_what_an_interrupted_start_left_is_removed_after_a_day(program: Path, cache: Path) -> None:
    for name, age in (("new.old", 3), ("new.now", 0)):
        (cache / name).mkdir(parents=True)
        seconds = (cache / name).stat().st_mtime - age * 86400
        os.utime(cache / name, (seconds, seconds))
    assert started(program)[0] == 3
    assert sorted(path.name for path in cache.iterdir() if path.name.startswith("new.")) == ["new.now"]


@pytest.mark.parametrize("given", [{"XDG_CACHE_HOME": "relative"}, {"HOME": ""}])
def test_a_cache_that_depends_on_the_current_folder_is_refused(program: Path, given: dict[str, str]) -> None:
    status, said, complaint = started(program, **given)
    assert (status, said) == (2, "")
    assert complaint.endswith("HOME or XDG_CACHE_HOME must be a whole path\n")


def test_a_cache_that_cannot_be_made_is_told(program: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    status, _, complaint = started(program, XDG_CACHE_HOME=str(tmp_path / "file"))
    assert status == 2
    assert complaint.rstrip().endswith("cannot be made; set XDG_CACHE_HOME to a folder of yours")


def test_the_same_folder_makes_the_same_file(program: Path, tmp_path: Path) -> None:
    (tmp_path / "again").mkdir()
    again = one_file.pack(tmp_path / "built/semsearch", tmp_path / "again", "1.2.3", "Linux")
    assert again.read_bytes() == program.read_bytes()
    text = program.read_bytes()[:4000].decode("utf-8", "replace")
    assert re.search(r"@[A-Z]+@", text) is None


def test_licences_of_packages_and_libraries_are_found_or_refused(tmp_path: Path) -> None:
    site = Path(str(distribution("numpy").locate_file("")))
    assert "Copyright" in "".join(one_file._texts(distribution("numpy")))
    assert one_file.python_licence().read_text(encoding="utf-8").count("PYTHON SOFTWARE FOUNDATION") > 0
    assert not one_file._is_of_system(site / "numpy/x.so", site)
    with pytest.raises(release.Refused, match=r"libnone\.so\.1 is not known"):
        one_file.system_licence(tmp_path / "libnone.so.1")


@pytest.mark.parametrize("name", sorted(one_file._samples()))
def test_the_samples_are_readable_here_too(name: str, tmp_path: Path) -> None:
    from semsearch.readers.read import read_file

    (tmp_path / name).write_bytes(one_file._samples()[name])
    assert "of the marmalade" in str(read_file(tmp_path / name).document)
