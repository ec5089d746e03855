"""What reads an index writes nothing outside our caches, as the system calls of its process show (strace)."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from urllib.request import urlopen

import pytest
from small import small_vectors

from semsearch.index import Index

pytestmark = pytest.mark.skipif(
    shutil.which("strace") is None or subprocess.run(["strace", "-f", "true"], capture_output=True).returncode != 0,
    reason="needs strace, and the right to use it",
)
_CALLS = (
    "open,openat,openat2,creat,mkdir,mkdirat,rename,renameat,renameat2,link,linkat,symlink,symlinkat,unlink,unlinkat,"
    "truncate,mknod,mknodat,chmod,fchmodat"
)
_CALL = re.compile(r'(?:\d+ +)?(\w+)\((?:(?:AT_FDCWD|\d+)(?:<[^>]*>)?, )?"((?:[^"\\]|\\.)*)"(.*)\) += (-?\d+)')
_WRITES = re.compile(r"O_(?:WRONLY|RDWR|CREAT|TRUNC)")
_QUESTION = {"jsonrpc": "2.0", "id": 2, "method": "tools/call"}
_BEGIN = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}


@pytest.fixture
def world(tmp_path: Path) -> Path:
    """A folder with an index, whose word vectors are in a folder of the user."""
    (tmp_path / "foreign").mkdir()
    table = small_vectors(tmp_path / "foreign")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("# Ship\n\nThe captain of the ship.\n")
    (tmp_path / "docs" / "b.md").write_text("# Storm\n\nA storm and a ship.\n")
    with Index.create(tmp_path / "index", vectors=table) as index:
        index.sync(tmp_path / "docs")
    return tmp_path


def written(log: str, here: Path) -> set[Path]:
    """The paths that the logged calls have changed, or tried to."""
    found = set()
    for line in log.splitlines():
        if (call := _CALL.match(line)) is None:
            continue
        name, path, rest, result = call.groups()
        is_written = not name.startswith("open") or _WRITES.search(rest)
        if is_written and int(result) >= 0:
            paths = [path, *re.findall(r'"((?:[^"\\]|\\.)*)"', rest)]
            found |= {Path(os.path.normpath(here / each.encode().decode("unicode_escape"))) for each in paths}
    return found


def outside(paths: set[Path], world: Path) -> list[str]:
    """The paths that are neither in our caches nor what SQLite's readers of an index share, nor devices."""
    ours = [
        world / "user-cache",
        Path(os.environ["XDG_CONFIG_HOME"]),
        *(Path("/dev", name) for name in ("null", "tty", "pts")),
    ]
    shared = {world / "index" / f"index.sqlite-{end}" for end in ("wal", "shm")}
    return sorted(str(path) for path in paths - shared if not any(path == own or own in path.parents for own in ours))


def traced(world: Path, arguments: Sequence[object]) -> list[str]:
    calls = ["strace", "-f", "-qq", "-s", "4096", "-e", f"trace={_CALLS}", "-o", str(world / "user-cache" / "calls")]
    (world / "user-cache").mkdir(exist_ok=True)
    return [*calls, sys.executable, "-B", "-m", "semsearch", *map(str, arguments)]


def check(world: Path) -> None:
    log = (world / "user-cache" / "calls").read_text(errors="replace")
    assert len(log.splitlines()) > 100
    assert outside(written(log, world), world) == []


@pytest.mark.parametrize("command", [["query", "ship"], ["similar", "docs/a.md:3"]])
def test_a_question_writes_nothing(world: Path, command: list[str]) -> None:
    done = subprocess.run(
        traced(world, [*command, "--index", world / "index"]), cwd=world, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    check(world)


def test_a_server_writes_nothing(world: Path) -> None:
    command = traced(world, ["serve", "--index", world / "index", "--port", 0])
    with subprocess.Popen(command, cwd=world, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as server:
        assert server.stdout is not None
        said = ""
        while (found := re.search(r"http://127\.0\.0\.1:\d+", said)) is None:
            line = server.stdout.readline()
            assert line, said
            said += line
        (child,) = Path(f"/proc/{server.pid}/task/{server.pid}/children").read_text().split()[:1]
        try:
            for path in ("/v1/search?query=ship", "/v1/similar?path=a.md&line=3", "/v1/status"):
                with urlopen(found[0] + path, timeout=60) as answer:  # our own
                    assert answer.status == 200
        finally:
            os.kill(int(child), signal.SIGINT)
        server.stdout.read()
    check(world)


def test_an_agents_server_writes_nothing(world: Path) -> None:
    asked = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": _BEGIN},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {**_QUESTION, "params": {"name": "search", "arguments": {"query": "ship"}}},
    ]
    command = traced(world, ["mcp", "--index", world / "index"])
    with subprocess.Popen(command, cwd=world, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        for message in asked:
            server.stdin.write(json.dumps(message) + "\n")
        server.stdin.flush()
        answers = [server.stdout.readline(), server.stdout.readline()]
        server.stdin.close()
    assert "captain" in answers[1]
    check(world)


def test_what_is_written_is_seen(world: Path) -> None:
    (world / "docs" / "c.md").write_text("A captain.\n")
    command = traced(world, ["index", "--name", world / "index"])
    assert subprocess.run(command, cwd=world, capture_output=True, check=False).returncode == 0
    log = (world / "user-cache" / "calls").read_text(errors="replace")
    assert str(world / "index" / "index.sqlite") in outside(written(log, world), world)
