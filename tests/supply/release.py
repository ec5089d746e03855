"""Build semsearch's distributions, check them, and make a release of it that is ready to be uploaded.

    python tests/supply/release.py --check   # build twice, compare, check, run the wheel in an empty environment
    python tests/supply/release.py 0.1.0     # version, changelog, server.json, the same checks, commit, tag

Neither uploads: a release ends with the command that does. It needs the address of the repository, which is set once,
in pyproject.toml ([tool.hatch.metadata.hooks.custom]); the addresses on the package's page and the name in the MCP
registry come from it. The distributions are in build/release, and tests/supply/by_hand.json says when --check last
passed. Both install packages into build/tools and build/empty, for which they need the network.
"""

from __future__ import annotations

import argparse
import datetime
import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import venv
import zipfile
from collections.abc import Callable, Iterable
from email.parser import BytesParser
from pathlib import Path, PurePosixPath
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
BUILT = Path("build/release")
TOOLS = Path("build/tools")
RECORD = Path("tests/supply/by_hand.json")
MOST_BYTES = 100_000_000  # PyPI takes no larger file
SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
_VERSION = re.compile(r'(?m)^(?:__version__|version) = "(?P<version>[^"]+)"$')
_MAN = re.compile(r"^[^/]+\.data/data/share/man/man1/")  # where pip takes manual pages from, in a wheel
_VERSIONED = ("semsearch/__init__.py", "research/pyproject.toml")
_REPOSITORY = re.compile(r"https://github\.com/[A-Za-z0-9-]+/[A-Za-z0-9._-]+")


class Refused(Exception):
    """What must be changed before there can be a release."""


# -- The files of a version --------------------------------------------------------------------------------------------


def repository(root: Path = ROOT) -> str:
    """The address where the project is published. Raises Refused if it is not set, or no repository on GitHub."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    address = str(project["tool"]["hatch"]["metadata"]["hooks"]["custom"]["repository"])
    if not _REPOSITORY.fullmatch(address):
        raise Refused(
            f"the repository in pyproject.toml, [tool.hatch.metadata.hooks.custom], is {address!r}; "
            'set it to where the project is published: "https://github.com/OWNER/NAME"'
        )
    return address


def server_json(address: str, version: str) -> dict[str, Any]:
    """What the MCP registry lists: the server, and the package that a client installs and starts."""
    argument = {"type": "positional", "value": "mcp"}
    package = {
        "registryType": "pypi",
        "identifier": "semsearch",
        "version": version,
        "runtimeHint": "uvx",
        "transport": {"type": "stdio"},
        "packageArguments": [argument],
        "environmentVariables": [
            {
                "name": "SEMSEARCH_INDEXES",
                "description": "The folder of the indexes; without it: ./indexes, or your own",
                "format": "filepath",
                "isRequired": False,
            }
        ],
    }
    return {
        "$schema": SCHEMA,
        "name": f"io.github.{address.split('/')[-2]}/semsearch",
        "title": "semsearch",
        "description": "Search your own documents by meaning, offline; passages with file, line and page to cite",
        "version": version,
        "repository": {"url": address, "source": "github"},
        "packages": [package],
    }


def set_version(root: Path, version: str, date: str) -> None:
    """Write a version wherever it stands. Raises Refused unless the changelog begins with it, not yet released."""
    changelog = root / "CHANGELOG.md"
    text = changelog.read_text(encoding="utf-8")
    heading = re.search(r"(?m)^## (.*)$", text)
    if heading is None or heading[1] != f"{version}, unreleased":
        found = "nothing" if heading is None else heading[1]
        raise Refused(f"CHANGELOG.md begins with {found!r}, expected '{version}, unreleased'")
    server = json.dumps(server_json(repository(root), version), indent=2) + "\n"
    changelog.write_text(text.replace(heading[0], f"## {version}, {date}", 1), encoding="utf-8")
    for name in _VERSIONED:
        path = root / name
        path.write_text(
            _VERSION.sub(lambda line: line[0].replace(line["version"], version), path.read_text(encoding="utf-8"), 1),
            encoding="utf-8",
        )
    (root / "server.json").write_text(server, encoding="utf-8")


# -- Building and checking ---------------------------------------------------------------------------------------------


def build(root: Path, to: Path, python: Path | str = sys.executable) -> list[Path]:
    """Build the source distribution and the wheel; needs hatchling. Returns their paths, the wheel last."""
    shutil.rmtree(to, ignore_errors=True)
    to.mkdir(parents=True)
    run([python, "-m", "hatchling", "build", "-d", str(to.resolve())], cwd=root, quiet=True)
    return [*to.glob("*.tar.gz"), *to.glob("*.whl")]


def digests(paths: Iterable[Path]) -> dict[str, str]:
    """The SHA-256 digests of files, by name."""
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}


def members(path: Path) -> dict[str, int]:
    """The files in a distribution with their sizes; in a source distribution below its only folder."""
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as wheel:
            return {entry.filename: entry.file_size for entry in wheel.infolist() if not entry.is_dir()}
    with tarfile.open(path) as archive:
        return {entry.name.partition("/")[2]: entry.size for entry in archive.getmembers() if entry.isfile()}


def problems(path: Path, tracked: Iterable[str]) -> list[str]:
    """What is wrong with a distribution: files that git does not know, files that lack, its size, what it says."""
    found, known = {_MAN.sub("man/", name) for name in members(path)}, set(tracked)
    if path.suffix == ".whl":
        own = {name for name in found if ".dist-info/" in name}
        wanted = {name for name in known if name.startswith(("semsearch/", "man/"))}
        lacking = {"LICENSE", "NOTICES"} - {PurePosixPath(name).name for name in own}
    else:
        own = {"PKG-INFO", ".gitignore"}
        wanted = {name for name in known if name.startswith(("semsearch/", "docs/", "man/", "tests/", "research/"))}
        lacking = {"LICENSE", "NOTICES", "README.md", "pyproject.toml", "hatch_build.py"} - found
    said = [f"{name} is not in git" for name in sorted(found - own - known)]
    said += [f"{name} lacks" for name in sorted(lacking | (wanted - found))]
    if (size := path.stat().st_size) >= MOST_BYTES:
        said.append(f"{size:,} bytes; an index takes less than {MOST_BYTES:,}")
    return [f"{path.name}: {each}" for each in said]


def description(wheel: Path) -> Any:
    """What a wheel says of itself: an e-mail message, whose text is the package's page."""
    with zipfile.ZipFile(wheel) as archive:
        name = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return BytesParser().parsebytes(archive.read(name))


def check(root: Path) -> list[Path]:
    """Build twice and check what came of it. Returns the distributions; raises Refused."""
    tools = root / TOOLS
    if not tools.exists():
        venv.create(tools, with_pip=True)
    python = programs(tools) / "python"
    run([python, "-m", "pip", "install", "-q", "hatchling>=1.26", "twine>=6.1"])
    built, again = build(root, root / BUILT, python), build(root, root / "build/again", python)
    if digests(built) != digests(again):
        raise Refused(f"two builds differ: {digests(built)}, {digests(again)}")
    tracked = run(["git", "ls-files"], cwd=root, quiet=True).splitlines()
    if wrong := [each for path in built for each in problems(path, tracked)]:
        raise Refused("; ".join(wrong))
    run([python, "-m", "twine", "check", "--strict", *map(str, built)])
    wheel = built[-1]
    in_empty_environment(root, wheel)
    sizes = ", ".join(f"{path.name} {path.stat().st_size / 1e6:.1f} MB" for path in built)
    note(root, "release", {"sizes": sizes, "python": platform.python_version()})
    return built


def in_empty_environment(root: Path, wheel: Path) -> None:
    """Install a wheel into a new environment; far from the repository, run the README's first commands and `doctor`."""
    empty = root / "build/empty"
    shutil.rmtree(empty, ignore_errors=True)
    venv.create(empty, with_pip=True)
    run([programs(empty) / "python", "-m", "pip", "install", "-q", str(wheel)])
    quick_start([programs(empty) / "semsearch"], root / "docs")


def quick_start(semsearch: list[Path | str], docs: Path) -> None:
    """Run the first commands of a reader in an empty home, by the command that starts semsearch. Raises Refused."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(docs, Path(folder, "docs"))
        kept = ("SYSTEMROOT", "TEMP", "PATHEXT")  # Windows needs them
        environment = {name: os.environ[name] for name in kept if name in os.environ}
        environment |= {"HOME": folder, "USERPROFILE": folder, "LOCALAPPDATA": folder, "PATH": os.defpath}

        def said(*arguments: str) -> str:
            return run([*semsearch, *arguments], cwd=Path(folder), env=environment, quiet=True)

        said("index", "docs/")
        answer = said("query", "what if two programs write at the same time?")
        if ".md:" not in answer:
            raise Refused(f"the first question found no passage: {answer!r}")
        print(said("doctor"), end="")


def note(root: Path, name: str, facts: dict[str, str]) -> None:
    """Record that what is run by hand has passed today."""
    path = root / RECORD
    record = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    record[name] = {"passed": datetime.date.today().isoformat(), "system": platform.system(), **facts}
    path.write_text(json.dumps(record, indent=2, sort_keys=True) + "\n", encoding="utf-8")


# -- Programs ----------------------------------------------------------------------------------------------------------


def programs(environment: Path) -> Path:
    """The folder of the programs of a virtual environment."""
    return environment / ("Scripts" if os.name == "nt" else "bin")


def run(command: list[Path | str], *, cwd: Path = ROOT, env: dict[str, str] | None = None, quiet: bool = False) -> str:
    """Run a program and return what it prints. Raises Refused if it fails."""
    if not quiet:
        print("+", *command, flush=True)
    own = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} if env is None else env
    done = subprocess.run([*map(str, command)], cwd=cwd, env=own, capture_output=True, text=True, encoding="utf-8")
    if done.returncode:
        raise Refused(f"{' '.join(map(str, command))} failed ({done.returncode}):\n{done.stdout}{done.stderr}")
    return done.stdout


# -- The release -------------------------------------------------------------------------------------------------------


def release(root: Path, version: str, checked: Callable[[Path], list[Path]] = check) -> str:
    """Make a release, up to its tag. Returns the command that uploads it; raises Refused and leaves all as it was."""
    repository(root)
    if not re.fullmatch(r"\d+\.\d+\.\d+((a|b|rc)\d+)?", version):
        raise Refused(f"{version!r} is no version such as 0.1.0")
    if changed := run(["git", "status", "--porcelain"], cwd=root, quiet=True):
        raise Refused(f"commit these first:\n{changed}")
    if run(["git", "tag", "--list", f"v{version}"], cwd=root, quiet=True):
        raise Refused(f"there is a tag v{version} already")
    try:
        set_version(root, version, datetime.date.today().isoformat())
        run(["git", "add", "--all"], cwd=root, quiet=True)  # what is checked is what will be committed
        built = checked(root)
        run(["git", "add", "--all"], cwd=root, quiet=True)
        run(["git", "commit", "-q", "-m", f"Version {version}"], cwd=root)
    except BaseException:
        run(["git", "reset", "-q", "--hard"], cwd=root, quiet=True)  # the tree was clean
        raise
    run(["git", "tag", "-a", f"v{version}", "-m", f"Version {version}"], cwd=root)
    twine = programs(root / TOOLS) / "twine"
    return " ".join(map(str, [twine, "upload", *built]))


def main() -> None:
    """Check, or release."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("version", nargs="?")
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    try:
        if arguments.check:
            check(ROOT)
        elif arguments.version:
            print(f"To upload it, run:\n{release(ROOT, arguments.version)}")
        else:
            parser.error("give a version, or --check")
    except Refused as refused:
        sys.exit(f"release: {refused}")


if __name__ == "__main__":
    main()
