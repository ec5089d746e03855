"""Index, sync and ask on odd disks: slow ones, and such as do not know case, decompose names, or refuse what others do.

    sudo python tests/torture/disks.py                    # all of them
    sudo python tests/torture/disks.py caseless slow

Each disk is a folder that is passed through by FUSE (needs /dev/fuse, libfuse 2 and pip install fusepy, which no other
test does). On each, the same story is told: an index is made, files are changed, renamed and removed, and after every
step the documents, the answers and `verify` must be as they are, or one line must say why not, and the index before
must still answer. A line is printed for each disk; the exit status says whether anything was lost or said unclearly.
"""

# ruff: noqa: ARG002, PTH101, PTH102, PTH104, PTH106, PTH108, PTH120, PTH208  # operations of a file system have the arguments of fusepy and the names of os

from __future__ import annotations

import argparse
import contextlib
import errno
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

SLOW = 0.02  # seconds that a slow disk takes for a look, an opening, a read
_KINDS = {
    "plain": "a disk as any other",
    "slow": "takes 20 ms for each look, opening and read",
    "caseless": "a name is found whatever its case, and kept as it was written",
    "decomposed": "lists names decomposed (NFD), and finds them in any form",
    "unlocked": "has no locks (ENOLCK)",
    "unmapped": "refuses memory maps that are shared (ENODEV)",
    "unsynced": "cannot flush files (EIO)",
    "unreplaced": "renames nothing over what is there (EEXIST)",
    "unlinked": "has no hard links (EPERM)",
    "halfway": "becomes read-only in the middle of a write (EROFS)",
}
_WRITES = ("write", "create", "mkdir", "unlink", "rmdir", "rename", "truncate", "chmod", "utimens", "link", "symlink")


# -- The disk ----------------------------------------------------------------------------------------------------------


def mount(kind: str, backing: Path, where: Path) -> None:
    """Serve a folder as a disk of a kind, until it is unmounted. `backing`.limit has how many writes it still takes."""
    import fuse

    class Disk(fuse.Operations):
        def __init__(self) -> None:
            self.limit = backing.with_suffix(".limit")

        def __call__(self, op: str, path: str, *rest: Any) -> Any:
            if kind == "slow" and op in ("getattr", "open", "read", "readdir", "create"):
                time.sleep(SLOW)
                self._count(op)
            if kind == "halfway" and (op in _WRITES or (op == "open" and rest[0].flags & os.O_ACCMODE)):
                left = int(self.limit.read_text()) if self.limit.exists() else 1 << 60
                if left <= 0:
                    raise fuse.FuseOSError(errno.EROFS)
                if left < 1 << 60:
                    self.limit.write_text(str(left - 1))
            try:
                return getattr(self, op)(path, *rest)
            except fuse.FuseOSError:
                raise
            except OSError as error:
                raise fuse.FuseOSError(error.errno or errno.EIO) from error

        def _count(self, op: str) -> None:
            with backing.with_suffix(".count").open("a") as file:
                file.write(op[0])

        def _at(self, path: str) -> str:
            found = str(backing)
            for name in filter(None, path.split("/")):
                found += "/" + self._named(found, name)
            return found

        def _named(self, folder: str, name: str) -> str:
            if kind not in ("caseless", "decomposed") or os.path.lexists(f"{folder}/{name}"):
                return name
            with contextlib.suppress(OSError):
                for there in os.listdir(folder):
                    if _same(kind, there) == _same(kind, name):
                        return there
            return name

        def getattr(self, path: str, fh: Any = None) -> dict[str, Any]:
            found = os.lstat(self._at(path))
            names = "st_atime st_ctime st_gid st_mode st_mtime st_nlink st_size st_uid st_ino".split()
            return {each: getattr(found, each) for each in names}

        def readdir(self, path: str, _: Any) -> list[str]:
            names = os.listdir(self._at(path))
            if kind == "decomposed":
                names = [unicodedata.normalize("NFD", name) for name in names]
            return [".", "..", *names]

        def open(self, path: str, fi: Any) -> int:
            fi.fh = os.open(self._at(path), fi.flags & ~os.O_APPEND)
            fi.direct_io = kind == "unmapped"
            return 0

        def create(self, path: str, mode: int, fi: Any) -> int:
            fi.fh = os.open(self._at(path), os.O_RDWR | os.O_CREAT, mode)
            fi.direct_io = kind == "unmapped"
            return 0

        def read(self, path: str, size: int, offset: int, fi: Any) -> bytes:
            return os.pread(fi.fh, size, offset)

        def write(self, path: str, data: bytes, offset: int, fi: Any) -> int:
            return os.pwrite(fi.fh, data, offset)

        def truncate(self, path: str, length: int, fi: Any = None) -> None:
            os.truncate(self._at(path), length)

        def flush(self, path: str, fi: Any) -> None:
            pass

        def release(self, path: str, fi: Any) -> None:
            os.close(fi.fh)

        def fsync(self, path: str, datasync: int, fi: Any) -> None:
            if kind == "unsynced":
                raise OSError(errno.EIO, "Input/output error")
            os.fsync(fi.fh)

        def fsyncdir(self, path: str, datasync: int, fi: Any) -> None:
            if kind == "unsynced":
                raise OSError(errno.EIO, "Input/output error")

        def lock(self, path: str, fi: Any, cmd: int, lock: Any) -> int:
            raise OSError(errno.ENOLCK, "No locks available")

        def rename(self, old: str, new: str) -> None:
            before, after = self._at(old), self._at(new)
            if kind == "unreplaced" and os.path.lexists(after):
                raise OSError(errno.EEXIST, "File exists")
            if kind == "caseless" and before == after:  # another case of its own name
                after = f"{os.path.dirname(before)}/{new.rpartition('/')[2]}"
            os.rename(before, after)

        def link(self, target: str, source: str) -> None:
            if kind == "unlinked":
                raise OSError(errno.EPERM, "Operation not permitted")
            os.link(self._at(source), self._at(target))

        def mkdir(self, path: str, mode: int) -> None:
            os.mkdir(self._at(path), mode)

        def rmdir(self, path: str) -> None:
            os.rmdir(self._at(path))

        def unlink(self, path: str) -> None:
            os.unlink(self._at(path))

        def chmod(self, path: str, mode: int) -> None:
            os.chmod(self._at(path), mode)

        def utimens(self, path: str, times: Any = None) -> None:
            os.utime(self._at(path), times)

        def statfs(self, path: str) -> dict[str, Any]:
            found = os.statvfs(self._at(path))
            names = "f_bavail f_bfree f_blocks f_bsize f_favail f_ffree f_files f_flag f_frsize f_namemax".split()
            return {each: getattr(found, each) for each in names}

    disk = Disk()
    if kind != "unlocked":
        disk.lock = None  # type: ignore[method-assign, assignment]  # then the kernel keeps them
    fresh = {"attr_timeout": 0, "entry_timeout": 0} if kind in ("slow", "caseless", "decomposed") else {}
    fuse.FUSE(disk, str(where), foreground=True, raw_fi=True, nothreads=True, use_ino=True, **fresh)


def _same(kind: str, name: str) -> str:
    return name.casefold() if kind == "caseless" else unicodedata.normalize("NFC", name)


@contextmanager
def mounted(kind: str, folder: Path) -> Iterator[Path]:
    """A disk of a kind, for a while."""
    backing, where = folder / "backing", folder / "disk"
    backing.mkdir()
    where.mkdir()
    served = subprocess.Popen([sys.executable, __file__, "--serve", kind, str(backing), str(where)])
    try:
        while not where.is_mount():
            if served.poll() is not None:
                sys.exit(f"{kind}: the disk cannot be served; see above")
            time.sleep(0.02)
        yield where
    finally:
        subprocess.run(["umount", "-l", where], check=False)
        served.wait()


# -- The story ---------------------------------------------------------------------------------------------------------


class Story:
    """What is done on a disk, and what is wrong with it."""

    def __init__(self, kind: str, disk: Path, home: Path) -> None:
        self.kind, self.disk, self.home = kind, disk, home
        self.docs = disk / "docs"
        self.wrong: list[str] = []
        self.said: list[str] = []

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a command on the disk; what is no success must be one line, and never a traceback."""
        began = time.monotonic()
        environment = {**os.environ, "HOME": str(self.home), "XDG_CACHE_HOME": str(self.home / "cache")}
        done = subprocess.run(
            [sys.executable, "-m", "semsearch", *arguments],
            cwd=self.disk, capture_output=True, text=True, env=environment, check=False,
        )  # fmt: skip
        what = f"{' '.join(arguments)}: status {done.returncode}, {time.monotonic() - began:.1f} s"
        self.said.append(f"{what}\n{done.stdout}{done.stderr}")
        if "Traceback" in done.stderr or done.returncode not in (0, 1, 2):
            self.wrong.append(f"{what}: {done.stderr.strip().splitlines()[-1:]}")
        elif done.returncode == 2:
            lines = [line for line in done.stderr.splitlines() if line.strip()]
            print(f"    {what}: {lines[-1] if lines else 'nothing said'}")
            if not lines:
                self.wrong.append(f"{what}: nothing said")
        return done

    def expect(self, *names: str) -> None:
        """The documents of the index are these, and verify has nothing to say."""
        done = self.run("list", "docs", "--jsonl")
        listed = [json.loads(line)["document"] for line in done.stdout.splitlines()]
        found = sorted(unicodedata.normalize("NFC", each) for each in listed)
        if found != sorted(names):
            self.wrong.append(f"the documents are {found}, not {sorted(names)}")
        verified = self.run("verify")
        if verified.returncode:
            self.wrong.append(f"verify: {(verified.stdout + verified.stderr).strip()[-200:]}")

    def asked(self, query: str, name: str) -> None:
        """The first answer is in this document."""
        done = self.run("query", query, "-k", "1", "--json")
        if name not in unicodedata.normalize("NFC", json.loads(done.stdout)["hits"][0]["path"] if done.stdout else ""):
            self.wrong.append(f"{query!r} does not find {name}: {(done.stdout + done.stderr)[-200:]}")

    def write(self) -> None:
        """Documents to begin with."""
        (self.docs / "sub").mkdir(parents=True)
        for name, text in _TEXTS.items():
            (self.docs / name).write_text(text, encoding="utf-8")


_TEXTS = {
    "tide.md": "# Tides\n\nThe moon pulls the tide.\n",
    "bread.md": "# Bread\n\nThe baker kneads the dough.\n",
    "sub/A.md": "# Ships\n\nThe captain left the harbour.\n",
    "Größe.md": "# Storm\n\nThunder rolled over the mountains.\n",
}


def told(kind: str, disk: Path, backing: Path, home: Path) -> Story:
    """The story of a disk."""
    story = Story(kind, disk, home)
    story.write()
    made = story.run("index", "docs", "--indexes", "indexes", "--quiet")
    if made.returncode:
        if kind in ("plain", "slow", "caseless", "decomposed", "unlinked"):
            story.wrong.append(f"no index is made: {made.stderr.strip()}")
        if (disk / "indexes").exists() and (left := [*(disk / "indexes").rglob("*")]):
            print(f"    left behind: {[each.name for each in left]}")
        shutil.rmtree(backing / "indexes", ignore_errors=True)
        elsewhere = Story("plain", backing, home)  # the same folder, as a disk that refuses nothing
        elsewhere.run("index", "docs", "--indexes", "indexes", "--quiet")
        story.wrong += elsewhere.wrong
    names = [*_TEXTS]
    story.expect(*names)
    story.asked("moon tide", "tide.md")
    story.asked("thunder mountains", "Größe.md")

    (disk / "docs" / "tide.md").write_text("# Tides\n\nA comet passed the telescope.\n", encoding="utf-8")
    (disk / "docs" / "sub" / "A.md").rename(disk / "docs" / "sub" / "a.md")
    (disk / "docs" / "bread.md").unlink()
    (disk / "docs" / "new.md").write_text("# New\n\nThe violin played a sonata.\n", encoding="utf-8")
    if kind == "halfway":
        for limit in _LIMITS:
            backing.with_suffix(".limit").write_text(str(limit))
            story.run("index", "--quiet")
            story.expect(*names)
            story.asked("moon tide", "tide.md")
        backing.with_suffix(".limit").unlink()
    synced = story.run("index", "--quiet")
    if synced.returncode:  # nothing is lost: what was there is there
        story.expect(*names)
        story.asked("moon tide", "tide.md")
        return story
    names = ["tide.md", "sub/a.md", "Größe.md", "new.md"]
    story.expect(*names)
    story.asked("comet telescope", "tide.md")
    story.asked("captain harbour", "sub/a.md")
    if kind == "caseless":
        story.run("index", "DOCS", "--quiet")  # the same folder by another case
        story.expect(*names)
        story.run("index", "docs/SUB/A.md", "--name", "docs", "--quiet")
        story.expect(*names)
        (disk / "docs" / "NEW.md").write_text("# New\n\nThe cello played.\n", encoding="utf-8")  # is new.md
        story.run("index", "--quiet")
        story.expect(*names)
        story.asked("cello", "new.md")
    if kind == "decomposed":
        story.run("index", "docs/" + unicodedata.normalize("NFD", "Größe.md"), "--name", "docs", "--quiet")
        story.expect(*names)
    if kind in ("plain", "slow"):
        story.run("index", "docs/sub/a.md", "--name", "docs", "--quiet")
        story.expect(*names)
        (disk / "docs" / "NEW.md").write_text("# Other\n\nThe cello played.\n", encoding="utf-8")
        story.run("index", "--quiet")
        story.expect(*names, "NEW.md")
        (disk / "docs" / "NEW.md").unlink()
        story.run("index", "--quiet")
    story.run("index", "--rebuild", "--quiet")
    story.expect(*names)
    story.run("remove", "docs/new.md")
    story.expect(*(name for name in names if name != "new.md"))
    return story


_LIMITS = (0, 1, 2, 5, 9, 14, 20, 30, 45)  # writes after which the disk is read-only


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("disks", nargs="*", metavar="DISK", help=", ".join(_KINDS))
    parser.add_argument("--serve", nargs=3, metavar=("KIND", "FOLDER", "WHERE"), help=argparse.SUPPRESS)
    parser.add_argument("--verbose", action="store_true", help="print what every command said")
    given = parser.parse_args()
    if given.serve:
        mount(given.serve[0], Path(given.serve[1]), Path(given.serve[2]))
        return
    wrong = 0
    for kind in given.disks or _KINDS:
        began = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="disks-") as folder, mounted(kind, Path(folder)) as disk:
            (Path(folder) / "home").mkdir()
            story = told(kind, disk, Path(folder) / "backing", Path(folder) / "home")
            counted = Path(folder) / "backing.count"
            slow = f", {counted.stat().st_size:,} looks, openings and reads" if counted.exists() else ""
        print(
            f"{kind:<12} {_KINDS[kind]}: {len(story.wrong)} wrong, {time.monotonic() - began:.0f} s{slow}", flush=True
        )
        for line in story.wrong:
            print(f"  {line}", flush=True)
        if given.verbose:
            print("\n".join(story.said))
        wrong += len(story.wrong)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
