"""Build semsearch as a program of one file for this operating system, try it, and measure how fast it starts.

    python tests/supply/one_file.py          # ten minutes: build, try in an empty environment, measure, note
    python tests/supply/one_file.py --build  # only build it: build/one-file/semsearch (Windows: semsearch.zip)

The environment that it is built in is the installed semsearch that it is compared with: the same answers to the same
questions about files of many formats, and the time of a start. tests/supply/by_hand.json says when it last passed.

PyInstaller collects Python, packages and libraries in a folder (one_file.spec), which tests/supply/one_file_start
unpacks once and starts from then on. Of what does this, it needs least: PyInstaller's own single file unpacks all of it
at each start; shiv, pex and zipapps need a Python; PyOxidizer has no maintainer and loads no NumPy from memory; Nuitka
compiles for an hour what then waits for the same libraries; Pythons of uv are not on every package index. On Windows,
which has no such shell, the folder is zipped: it is unpacked by hand.

PyInstaller is licensed under the GPL with an exception: programs that it makes may have any licence. It is a tool here,
and what it adds to the program, its bootloader, is Apache-2.0 or excepted. The licences of all that is inside are
collected in the file LICENCES beside it; libraries under the GPL without an exception are kept out.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import io
import json
import os
import platform
import shutil
import socket
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
import urllib.request
import venv
import zipfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.metadata import Distribution, distributions
from pathlib import Path

import licences
import release

ROOT = release.ROOT
HERE = Path(__file__).parent
WORK = ROOT / "build/one-file"
EXTRAS = "serve,watch,xls"  # that are small and have few packages of their own
TOOLS = ("pyinstaller>=6.22,<7",)
MOST = 1.3  # times the start of the installed program
QUESTION = "what if two programs write at the same time?"
IN_GERMAN = "was geschieht, wenn zwei Programme gleichzeitig schreiben?"
OF_THE_SYSTEM = (  # the beginnings of Debian's packages of libraries that may be inside, whose licences were read
    "libbz2",  # BSD
    "libexpat",  # MIT
    "libffi",  # MIT
    "libgcc-s",  # GPL, with the exception for what is compiled with it
    "liblzma",  # public domain
    "libmpdec",  # BSD
    "libsqlite3",  # public domain
    "libssl",  # Apache-2.0
    "libstdc++",  # as libgcc-s
    "libuuid",  # BSD
    "zlib1g",  # Zlib
)
_TEXT = ("licen", "copying", "notice", "copyright")
_CACHES = {
    "Linux": "${XDG_CACHE_HOME:-${HOME:+$HOME/.cache}}",
    "Darwin": "${XDG_CACHE_HOME:-${HOME:+$HOME/Library/Caches}}",
}

# -- Building ----------------------------------------------------------------------------------------------------------


def build() -> Path:
    """Build the program in a fresh environment. Returns its path; raises Refused."""
    shutil.rmtree(WORK, ignore_errors=True)
    environment = WORK / "environment"
    venv.create(environment, with_pip=True)
    python = release.programs(environment) / "python"
    release.run([python, "-m", "pip", "install", "-q", *TOOLS, f"{ROOT}[{EXTRAS}]"])
    package = Path(
        release.run(
            [python, "-c", "import semsearch as s; print(s.__path__[0])"], cwd=WORK, quiet=True
        ).strip()
    )  # fmt: skip
    options = ["-y", "--log-level", "ERROR", "--workpath", str(WORK / "work"), "--distpath", str(WORK / "folder")]
    sources = WORK / "sources"
    release.run(
        [python, "-m", "PyInstaller", *options, HERE / "one_file.spec", "--", package / "__main__.py", sources],
        cwd=WORK,
    )
    folder = WORK / "folder/semsearch"
    own = [Path(line) for line in sources.read_text(encoding="utf-8").splitlines()]
    (folder / "LICENCES").write_text(licence_texts(package.parent, own), encoding="utf-8")
    list_files(folder)
    version = release.run([python, "-m", "semsearch", "--version"], cwd=WORK, quiet=True).split()[1]
    return pack(folder, WORK, version, platform.system())


def licence_texts(site: Path, libraries: Sequence[Path]) -> str:
    """The licences of Python, the packages in a folder and the libraries of the system. Raises Refused for others."""
    parts = [("Python", (python_licence().read_text(encoding="utf-8"),))]
    for one in sorted(distributions(path=[str(site)]), key=lambda each: str(each.metadata["Name"]).lower()):
        name, stated = str(one.metadata["Name"]), licences.licence(one)
        if name.lower() in ("pip", "setuptools", "altgraph", "pyinstaller-hooks-contrib"):
            continue
        if name == "pyinstaller":
            stated = "Apache-2.0"  # and the GPL with an exception for what it makes
        if licences.restrictive(stated) - {licences.ACCEPTED.get(name.lower())}:
            raise release.Refused(f"{name} has the licence {stated or 'none'}; leave it out")
        parts.append((f"{name} {one.version}: {stated}", tuple(_texts(one))))
    for path in sorted({system_licence(path) for path in libraries if _is_of_system(path, site)}):
        parts.append((f"{path.parent.name}, of the operating system", (path.read_text(encoding="utf-8"),)))
    title = "This program contains, beside semsearch:\n\n" + "".join(f"- {name}\n" for name, _ in parts)
    return title + "".join(f"\n\n{'=' * 100}\n{name}\n\n{text}" for name, texts in parts for text in texts)


def _texts(package: Distribution) -> Iterator[str]:
    for path in package.files or ():
        if any(word in path.name.lower() for word in _TEXT) and path.suffix in ("", ".txt", ".md", ".rst", ".TXT"):
            yield Path(str(path.locate())).read_text(encoding="utf-8", errors="replace")


def python_licence() -> Path:
    """The licence of the Python that builds, which names what its libraries have."""
    places = [
        Path(os.__file__).parent / "LICENSE.txt",
        Path(sys.base_prefix, "LICENSE.txt"),
        Path(sys.base_prefix, "LICENSE"),
    ]
    places += [Path(f"/usr/share/doc/python{sys.version_info[0]}.{sys.version_info[1]}/copyright")]
    for path in places:
        if path.is_file():
            return path
    raise release.Refused("the licence of Python is not found beside it")


def _is_of_system(path: Path, site: Path) -> bool:
    inside = (site, Path(sys.base_prefix).resolve(), site.resolve())
    return sys.platform == "linux" and not any(path.resolve().is_relative_to(each) for each in inside)


def system_licence(library: Path) -> Path:
    """Where Debian has the licence of a library. Raises Refused for one of which nobody has read it."""
    for path in (library, library.resolve(), Path("/usr", *library.resolve().parts[1:])):
        done = subprocess.run(["dpkg", "-S", str(path)], capture_output=True, text=True)
        package = done.stdout.partition(":")[0]
        text = Path("/usr/share/doc", package, "copyright")
        if done.returncode == 0 and package.startswith(OF_THE_SYSTEM) and text.is_file():
            return text
    raise release.Refused(f"the licence of {library} is not known; read it, and note its package or leave it out")


def list_files(folder: Path) -> None:
    """Write the digests of all files, by which `semsearch doctor` finds damaged ones."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != "FILES")
    lines = [
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(folder).as_posix()}\n" for path in files
    ]
    (folder / "FILES").write_text("".join(lines), encoding="utf-8", newline="\n")


def size_of(folder: Path) -> int:
    """The bytes of all files in a folder."""
    return sum(path.lstat().st_size for path in folder.rglob("*"))


def pack(folder: Path, to: Path, version: str, system: str) -> Path:
    """Make one file of a folder with a program `semsearch` in it. Returns its path."""
    size = size_of(folder)
    if system not in _CACHES:
        return Path(shutil.make_archive(str(to / "semsearch"), "zip", folder.parent, folder.name))
    archive = _archived(folder)
    given = {"VERSION": version, "SYSTEM": f"{system}, {platform.machine()}", "CACHE": _CACHES[system]}
    given |= {"DIGEST": hashlib.sha256(archive).hexdigest(), "SIZE": f"{size / 1e6:.0f}"}
    text = (HERE / "one_file_start").read_text(encoding="utf-8")
    for name, value in given.items():
        text = text.replace(f"@{name}@", value)
    for digits in range(3, 6):  # of the offset, which are themselves before it
        offset = len(text.encode()) - len("@OFFSET@") + digits + 1
        if len(str(offset)) == digits:
            text = text.replace("@OFFSET@", str(offset))
    program = to / "semsearch"
    program.write_bytes(text.encode() + archive)
    program.chmod(0o755)
    return program


def _archived(folder: Path) -> bytes:
    """The folder as a tar archive, compressed; only its owner may read it."""

    def private(entry: tarfile.TarInfo) -> tarfile.TarInfo:
        entry.mode = 0o700 if entry.isdir() or entry.mode & 0o100 else 0o600
        entry.uid = entry.gid = entry.mtime = 0
        entry.uname = entry.gname = ""
        return entry

    packed = io.BytesIO()
    with (
        gzip.GzipFile(fileobj=packed, mode="wb", compresslevel=6, mtime=0) as compressed,
        tarfile.open(fileobj=compressed, mode="w", format=tarfile.USTAR_FORMAT) as archive,
    ):
        archive.add(folder, "semsearch", filter=private)
    return packed.getvalue()


# -- Trying it ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Home:
    """A home folder with documents, and a way to run a program there that has nothing else."""

    folder: Path

    def environment(self, **more: str) -> dict[str, str]:
        """The variables of the program: no folder with programs is on the PATH."""
        kept = {name: os.environ[name] for name in ("SYSTEMROOT", "TEMP", "PATHEXT") if name in os.environ}
        home = str(self.folder)
        empty = self.folder / "no-programs"
        empty.mkdir(exist_ok=True)
        return kept | {"HOME": home, "USERPROFILE": home, "LOCALAPPDATA": home, "PATH": str(empty), **more}

    def run(self, program: Path, *arguments: str, status: int = 0, **more: str) -> str:
        """What the program prints. Raises Refused for another exit status."""
        done = subprocess.run(
            [str(program), *arguments], cwd=self.folder, env=self.environment(**more),
            capture_output=True, text=True, encoding="utf-8", timeout=600,
        )  # fmt: skip
        if done.returncode != status:
            said = f"{done.stdout}{done.stderr}"
            raise release.Refused(f"semsearch {' '.join(arguments)}: {done.returncode}, not {status}:\n{said}")
        return done.stdout + (done.stderr if status else "")


def try_out(program: Path, installed: Path) -> dict[str, str]:
    """Do with the program what its users do. Returns facts; raises Refused."""
    with tempfile.TemporaryDirectory() as name:
        home = Home(Path(name).resolve())
        facts = _first_starts(program, home) if os.name == "posix" else {}
        for what in (_imports, _same_answers, _serves, _speaks_mcp, _says_what_lacks, _doctor, _service):
            print(what.__name__.strip("_").replace("_", " "), flush=True)
            what(program, installed, home)
        facts |= {
            f"start, {' '.join(arguments[:1]).strip('-')}": _compared(program, installed, home, arguments)
            for arguments in (("--version",), ("query", QUESTION, "--index", "docs"))
        }
    return facts


def _first_starts(program: Path, home: Home) -> dict[str, str]:
    """Three first starts at once leave one whole folder; a damaged file is refused and leaves nothing."""
    cache = home.folder / ("Library/Caches" if sys.platform == "darwin" else ".cache") / "semsearch/programs"
    damaged = home.folder / "damaged"
    damaged.write_bytes(program.read_bytes()[:-1000])
    damaged.chmod(0o755)
    _must("is damaged" in home.run(damaged, "--version", status=2), "a damaged file must be refused")
    _must([*cache.iterdir()] == [], "a damaged file must leave nothing")
    damaged.unlink()
    with ThreadPoolExecutor(3) as pool:
        for said in [pool.submit(home.run, program, "--version") for _ in range(3)]:
            _must(said.result().startswith("semsearch "), "the first start prints its version")
    _must(len([*cache.iterdir()]) == 1, "one folder is left")
    _must(all(each.stat().st_mode & 0o77 == 0 for each in (cache, *cache.iterdir())), "it is private")
    shutil.rmtree(cache)
    began = time.perf_counter()
    home.run(program, "--version")
    return {"first start": f"{time.perf_counter() - began:.1f} s"}


_IMPORTABLE = """
import importlib, pkgutil, semsearch
for name in [each.name for each in pkgutil.walk_packages(semsearch.__path__, "semsearch.")]:
    try:
        name.endswith("__main__") or importlib.import_module(name)
    except Exception:
        continue
    print(name)
"""
_IMPORT = """
import codecs, encodings, importlib
for name in {names}:
    importlib.import_module(name)
for name in sorted(set(encodings.aliases.aliases.values()) - {{"mbcs", "oem"}}):
    codecs.lookup(name)
"""


def _imports(program: Path, installed: Path, home: Home) -> None:
    """All modules of semsearch that the installed one can import are inside, with what they import; so are codecs."""
    names = home.run(installed.with_name("python"), "-c", _IMPORTABLE).split()
    _must("semsearch.index" in names, f"the installed one imports {names}")
    home.run(program, "-c", _IMPORT.format(names=[each for each in names if not each.endswith("__main__")]))


def _same_answers(program: Path, installed: Path, home: Home) -> None:
    """Files of many formats have the same hits as with the installed program, also if two processes read them."""
    shutil.copytree(ROOT / "docs", home.folder / "docs")
    samples = home.folder / "docs/samples"
    samples.mkdir()
    for name, data in _samples().items():
        (samples / name).write_bytes(data)
    found = []
    for number, (one, options) in enumerate(((program, ()), (program, ("--processes", "2")), (installed, ()))):
        home.run(one, "index", "docs", "--index", f"indexes/{number}", *options)
        questions = (QUESTION, IN_GERMAN, *(f"the {word} of the marmalade" for word in _WORDS))
        index = f"indexes/{number}"
        found.append([_hits(home.run(one, "query", each, "--index", index, "--json", "--all")) for each in questions])
    home.run(program, "index", "docs", "--index", "docs")
    _must(found[0] == found[1] == found[2], f"the hits differ: {found}")
    lacking = [name for name in _samples() if not any(f"samples/{name}" in str(hits) for hits in found[0])]
    _must(not lacking, f"not found: {', '.join(lacking)}")


def _hits(said: str) -> list[tuple[str, str, float]]:
    return [(hit["path"], hit["sentence"], round(hit["score"], 4)) for hit in json.loads(said)["hits"]]


_WORDS = "orange lemon apricot cherry quince plum peach".split()


def _samples() -> dict[str, bytes]:
    """A file of each of many formats, each with a sentence of its own."""
    told = {word: f"The {word} of the marmalade is picked in the garden of the {word} house." for word in _WORDS}
    stream = f"BT /F1 12 Tf 40 700 Td ({told['quince']}) Tj ET".encode()
    pdf = (
        b"%%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n"
        b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R/Resources<</Font<</F1"
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>>>endobj\n4 0 obj<</Length %d>>stream\n%s\nendstream"
        b"\nendobj\ntrailer<</Root 1 0 R>>\n%%%%EOF\n" % (len(stream), stream)
    )
    word = io.BytesIO()
    with zipfile.ZipFile(word, "w") as document:
        space = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
        body = f"<w:body><w:p><w:r><w:t>{told['plum']}</w:t></w:r></w:p></w:body>"
        document.writestr("word/document.xml", f'<w:document xmlns:w="{space}">{body}</w:document>')
        document.writestr("[Content_Types].xml", "<Types/>")
        kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"
        main = f'<Relationship Id="r1" Type="{kind}" Target="word/document.xml"/>'
        packages = "http://schemas.openxmlformats.org/package/2006/relationships"
        document.writestr("_rels/.rels", f'<Relationships xmlns="{packages}">{main}</Relationships>')
    cell = {"cell_type": "markdown", "source": [told["peach"]], "metadata": {}}
    texts = {
        "a.rst": f"Title\n=====\n\n{told['orange']}\n",
        "b.html": f"<html><body><p>{told['lemon']}</p></body></html>",
        "c.py": f'"""{told["apricot"]}"""\n',
        "d.csv": f"title,text\nJam,{told['cherry']}\n",
        "g.ipynb": json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}),
    }
    return {name: text.encode() for name, text in texts.items()} | {"e.pdf": pdf, "f.docx": word.getvalue()}


def _serves(program: Path, _: Path, home: Home) -> None:
    """The server answers; on Linux, no file of the Python that built it is mapped."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [str(program), "serve", "--index", "docs", "--port", str(port)], cwd=home.folder, env=home.environment()
    )
    try:
        answer = _asked(f"http://127.0.0.1:{port}/v1/search?query=writing")
        _must(bool(json.loads(answer)["hits"]), f"the server answers {answer!r}")
        _must("<html" in _asked(f"http://127.0.0.1:{port}/").lower(), "the page is there")
        if sys.platform == "linux":
            maps = Path(f"/proc/{process.pid}/maps").read_text(encoding="utf-8")
            foreign = {sys.base_prefix, sys.prefix, str(WORK / "environment")} - {"/usr"}
            _must(not any(f" {prefix}/" in maps for prefix in foreign), "it uses the Python that built it")
    finally:
        process.terminate()
        process.wait(30)


def _asked(address: str) -> str:
    until = time.monotonic() + 60
    while True:
        try:
            with urllib.request.urlopen(address, timeout=30) as answer:
                return str(answer.read().decode())
        except OSError as error:
            _must(not hasattr(error, "code") and time.monotonic() < until, f"{address}: {error}")
            time.sleep(0.2)


def _speaks_mcp(program: Path, _: Path, home: Home) -> None:
    """The MCP server finds a passage."""
    call = {"name": "search", "arguments": {"query": QUESTION}}
    messages = [
        {"jsonrpc": "2.0", "id": 1, "method": "ping"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call},
    ]
    given = "".join(json.dumps(message) + "\n" for message in messages)
    done = subprocess.run(
        [str(program), "mcp"], cwd=home.folder, env=home.environment(), input=given,
        capture_output=True, text=True, encoding="utf-8", timeout=120,
    )  # fmt: skip
    answers = {answer["id"]: answer for answer in map(json.loads, done.stdout.splitlines())}
    _must("result" in answers.get(1, {}) and ".md" in str(answers.get(2)), f"mcp answers {done.stdout}{done.stderr}")


def _says_what_lacks(program: Path, _: Path, home: Home) -> None:
    """What is not inside is named, with what has it; so is a command of another distribution."""
    said = home.run(program, "query", QUESTION, "--index", "docs", "--rerank", status=2)
    _must("program of one file" in said and "Traceback" not in said, f"--rerank says {said}")
    said = home.run(program, "bench", status=2)
    _must("semsearch-research" in said, f"bench says {said}")


def _doctor(program: Path, _: Path, home: Home) -> None:
    """Everything is well; after damage to a file of the folder it says so."""
    said = home.run(program, "doctor")
    print(said, end="")
    _must(str(program) in said and EXTRAS.split(",")[0] in said.partition("extras")[2].partition(";")[0], said)
    cache = home.folder / ("Library/Caches" if sys.platform == "darwin" else ".cache") / "semsearch/programs"
    for folder in cache.glob("*") if os.name == "posix" else ():
        text = folder / "_internal/semsearch/evaluate/published.tsv"
        before = text.read_bytes()
        text.write_bytes(before + b"x")
        _must("published.tsv is damaged" in home.run(program, "doctor", status=1), "doctor must find damage")
        text.write_bytes(before)
        _must((folder / "LICENCES").stat().st_size > 10_000, "the licences are beside it")


def _service(program: Path, _: Path, home: Home) -> None:
    """A service starts the file, not what was unpacked: tried with a systemctl that agrees with everything."""
    if sys.platform != "linux":
        return
    manager = home.folder / "programs/systemctl"
    manager.parent.mkdir()
    manager.write_text("#!/bin/sh\necho active\n", encoding="utf-8")
    manager.chmod(0o755)
    said = home.run(program, "service", "install", "watch", "--index", "docs", PATH=str(manager.parent))
    unit = (home.folder / ".config/systemd/user/semsearch-watch-docs.service").read_text(encoding="utf-8")
    _must(f'ExecStart="{program}" "service" "run"' in unit and "running" in said, f"the service is {unit}")


def _compared(program: Path, installed: Path, home: Home, arguments: Sequence[str], rounds: int = 15) -> str:
    """The time of a start against the installed program's, each beside the other. Raises Refused if it is too long."""
    seconds: dict[Path, list[float]] = {program: [], installed: []}
    for one in (program, installed) * (rounds + 1):  # the first of each fills caches
        began = time.perf_counter()
        home.run(one, *arguments)
        seconds[one].append(time.perf_counter() - began)
    ratio = statistics.median(
        ours / theirs for ours, theirs in zip(*(seconds[each][1:] for each in seconds), strict=True)
    )
    own, other = (statistics.median(seconds[each][1:]) for each in (program, installed))
    said = f"{ratio:.2f} times the installed one ({own * 1000:.0f} and {other * 1000:.0f} ms)"
    print(f"semsearch {arguments[0]}: {said}", flush=True)
    _must(ratio <= MOST, f"the start takes {said}")
    return said


def _must(holds: bool, what: str) -> None:
    if not holds:
        raise release.Refused(what)


def main() -> None:
    """Build, try, measure, and note that it passed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", action="store_true", help="Only build it.")
    parser.add_argument("--try", dest="tried", action="store_true", help="Only try what was built.")
    arguments = parser.parse_args()
    try:
        program = WORK / "semsearch" if arguments.tried else build()
        print(f"{program}: {program.stat().st_size / 1e6:.0f} MB", flush=True)
        if arguments.build:
            return
        folder = WORK / "folder/semsearch"
        started = program if os.name == "posix" else folder / "semsearch.exe"
        facts = try_out(started, release.programs(WORK / "environment") / "semsearch")
    except release.Refused as refused:
        sys.exit(f"one_file: {refused}")
    sizes = f"{program.name} {program.stat().st_size / 1e6:.0f} MB, unpacked {size_of(folder) / 1e6:.0f} MB"
    release.note(ROOT, "one-file", {"sizes": sizes, "python": platform.python_version(), **facts})


if __name__ == "__main__":
    main()
