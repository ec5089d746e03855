"""Build and try the container without a container engine: the steps of Dockerfile, in root folders of their own.

    sudo python tests/supply/container.py   # some minutes: Debian for the base, then the steps, then both commands

The base image is replaced by Debian with its own Python (debootstrap). What is tried is what the Dockerfile says:
its RUN, COPY, ENV and USER, a root folder that cannot be written to, its volumes, its health check, `serve` and `mcp`.
tests/supply/by_hand.json says when it last passed.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import release

ROOT = release.ROOT
WORK = ROOT / "build/container"
UID = "10001"
_OF_THE_MACHINE = ("/etc/resolv.conf", "/etc/hosts", "/etc/pip.conf", "/etc/ssl/certs/ca-certificates.crt")
_PACKAGES = "python3,python3-venv,ca-certificates"
_ENTER = """
mount --bind "$1" "$1"; mount -t proc proc "$1/proc"; mount --rbind /dev "$1/dev"; mount -t tmpfs tmpfs "$1/tmp"
"""
_START = (
    "set -eu; ip link set lo up; "
    + _ENTER
    + """
mount --bind -o ro "$2" "$1/documents"; mount --bind "$3" "$1/indexes"; mount -o remount,bind,ro "$1"
root=$1; shift 3; exec chroot --userspec={uid}:{uid} "$root" env -i "$@"
"""
)


@dataclass
class Stage:
    """A stage of a Dockerfile: its name, its steps, and what it says of the container."""

    name: str
    steps: list[tuple[str, str]] = field(default_factory=list)
    said: dict[str, str] = field(default_factory=dict)

    def words(self, instruction: str) -> list[str]:
        """The list of strings that an instruction has."""
        found = json.loads(self.said[instruction])
        assert isinstance(found, list)
        return [str(each) for each in found]

    @property
    def environment(self) -> list[str]:
        """Its variables: NAME=value."""
        return shlex.split(self.said.get("ENV", ""))


def stages(text: str) -> list[Stage]:
    """The stages of a Dockerfile."""
    text = re.sub(r"(?m)^\s*#.*\n?", "", text).replace("\\\n", " ")
    found: list[Stage] = []
    for line in filter(None, map(str.strip, text.splitlines())):
        instruction, _, rest = line.partition(" ")
        if instruction == "FROM":
            found.append(Stage(rest.partition(" AS ")[2] or "last"))
        elif instruction in ("COPY", "RUN"):
            found[-1].steps.append((instruction, rest.strip()))
        elif found:
            found[-1].said[instruction] = rest.strip()
    return found


def copied(root: Path) -> Iterator[str]:
    """The files of git that .dockerignore lets through: all that it names after an exclamation mark."""
    lines = (root / ".dockerignore").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "*"
    allowed = [line[1:] for line in lines if line.startswith("!")]
    for name in release.run(["git", "ls-files"], cwd=root, quiet=True).splitlines():
        if any(name == each or name.startswith(f"{each}/") for each in allowed):
            yield name


def build(found: list[Stage]) -> Path:
    """Do the steps of all stages, each in a copy of the base. Returns the root folder of the last."""
    base = WORK / "base"
    if not (base / "usr/bin/python3").exists():
        shutil.rmtree(base, ignore_errors=True)
        base.mkdir(parents=True)
        release.run(["debootstrap", "--variant=minbase", f"--include={_PACKAGES}", "bookworm", base])
    for stage in found:
        root = WORK / stage.name
        shutil.rmtree(root, ignore_errors=True)
        release.run(["cp", "-a", base, root])
        for name in filter(os.path.exists, _OF_THE_MACHINE):  # the network as it is here
            shutil.copyfile(name, f"{root}{name}")
        for instruction, rest in stage.steps:
            print(f"{stage.name}: {instruction} {rest[:100]}", flush=True)
            if instruction == "RUN":
                enter = f'{_ENTER} exec chroot "$1" /bin/sh -euc "$2"'
                release.run(["unshare", "--mount", "sh", "-euc", enter, "sh", str(root), rest], quiet=True)
            else:
                _copy(rest.split(), root)
    return WORK / found[-1].name


def _copy(words: list[str], root: Path) -> None:
    """COPY: a folder of another stage, or the files of the project."""
    *options, source, target = words
    to = root / target.lstrip("/")
    if options:
        release.run(["cp", "-a", WORK / options[0].removeprefix("--from=") / source.lstrip("/"), to], quiet=True)
        return
    for name in copied(ROOT):
        (to / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, to / name)


class Container:
    """A container that runs: in namespaces of its own for mounts, processes and the network."""

    def __init__(self, process: subprocess.Popen[str], environment: list[str]) -> None:
        self.process = process
        self._environment = environment

    def run(self, *command: str) -> tuple[int, str]:
        """Run a command inside, as its user. Returns exit status and output."""
        if self.process.poll() is not None:
            raise release.Refused(f"the container ended with {self.process.returncode}")
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text(encoding="utf-8")
        if not children or not self._is_inside(children.split()[0]):
            return 1, "not started yet"
        enter = ["nsenter", "-t", children.split()[0], "-m", "-p", "-n", "-r", "-w", "-S", UID, "-G", UID]
        done = subprocess.run([*enter, "env", "-i", *self._environment, *command], capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    def _is_inside(self, child: str) -> bool:
        """Whether the first process has its own root folder already."""
        try:
            return os.readlink(f"/proc/{child}/root") != "/"  # noqa: PTH115  # it leads into another namespace
        except OSError:
            return False


@contextmanager
def running(stage: Stage, root: Path, documents: Path, indexes: Path, *arguments: str) -> Iterator[Container]:
    """Start the container as its entry point does, and end it."""
    command = [*stage.environment, *stage.words("ENTRYPOINT"), *(arguments or stage.words("CMD"))]
    start = ["unshare", "--mount", "--pid", "--net", "--fork", "--kill-child", "sh", "-c", _START.format(uid=UID), "sh"]
    process = subprocess.Popen(
        [*start, str(root), str(documents), str(indexes), *command],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        yield Container(process, stage.environment)
    finally:
        process.kill()
        process.wait()


def try_out(stage: Stage, root: Path) -> None:
    """Run `serve` and `mcp` over two documents. Raises Refused if one does not do what it should."""
    documents, indexes = WORK / "documents", WORK / "indexes"
    for folder in (documents, indexes):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
    shutil.chown(indexes, int(UID), int(UID))
    (documents / "bread.txt").write_text("Dough rises because yeast makes gas.\n", encoding="utf-8")
    (documents / "orbit.txt").write_text("The spacecraft left the orbit of Saturn.\n", encoding="utf-8")
    healthy = json.loads(stage.said["HEALTHCHECK"].partition("CMD ")[2])
    ask = "import urllib.request as u; print(u.urlopen('http://127.0.0.1:8765/v1/search?query={}').read().decode())"
    with running(stage, root, documents, indexes) as container:
        _wait("healthy", lambda: container.run(*healthy)[0] == 0)
        _wait("found", lambda: "bread.txt" in container.run("python", "-c", ask.format("why+does+dough+grow"))[1])
        (documents / "violin.txt").write_text("A violin and a piano in the concert.\n", encoding="utf-8")
        _wait("watched", lambda: "violin.txt" in container.run("python", "-c", ask.format("violin"))[1])
        _must(container.run("id", "-u")[1].strip() == UID, "it must not run as root")
        _must(container.run("touch", "/opt/semsearch/x")[0] != 0, "the root folder must not be written to")
        _must(container.run("touch", "/documents/x")[0] != 0, "the documents must not be written to")
        status, said = container.run("semsearch", "doctor")
        _must(status == 0, f"semsearch doctor: {said}")
        print(said, end="")
    message = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    with running(stage, root, documents, indexes, "mcp") as container:
        pipes = container.process.stdin, container.process.stdout
        assert pipes[0] is not None
        assert pipes[1] is not None
        print(json.dumps(message), file=pipes[0], flush=True)
        answer = json.loads(pipes[1].readline())
        _must(answer.get("id") == 1 and "result" in answer, f"mcp answers {answer}")


def _must(holds: bool, what: str) -> None:
    if not holds:
        raise release.Refused(what)


def _wait(what: str, holds: object) -> None:
    assert callable(holds)
    until = time.monotonic() + 180
    while not holds():
        _must(time.monotonic() < until, f"not {what} after three minutes")
        time.sleep(0.5)
    print(what, flush=True)


def main() -> None:
    """Build it, try it, and note that it passed."""
    if os.geteuid() != 0 or not all(map(shutil.which, ("debootstrap", "unshare", "nsenter", "ip"))):
        sys.exit("container: needs root, debootstrap, util-linux and iproute2")
    found = stages((ROOT / "Dockerfile").read_text(encoding="utf-8"))
    try:
        root = build(found)
        try_out(found[-1], root)
    except release.Refused as refused:
        sys.exit(f"container: {refused}")
    size = sum(path.stat().st_size for path in (root / "opt/semsearch").rglob("*") if path.is_file())
    release.note(ROOT, "container", {"size": f"/opt/semsearch {size / 1e6:.0f} MB"})


if __name__ == "__main__":
    main()
