"""`semsearch doctor`: does the installation work? Packages, word vectors, folders, and a search with a known answer."""

from __future__ import annotations

import os
import platform
import sys
import tempfile
from collections.abc import Callable, Iterator
from importlib import import_module, metadata
from pathlib import Path
from typing import NamedTuple

import typer

from semsearch import __version__
from semsearch.cli.printing import PROBLEMS, keep_warnings
from semsearch.errors import SemsearchError

_HIDDEN = ("dev",)  # extras for whoever changes semsearch
_COMPILED = (
    "numpy", "scipy.sparse", "faiss", "lxml.etree", "pypdfium2", "Stemmer", "pyromark", "sentencex", "yaml",
)  # fmt: skip
_TEXTS = {"bread": "Dough rises because yeast makes gas.", "orbit": "The spacecraft left the orbit of Saturn."}
_ASKED = "why does bread grow in the oven"


class Examined(NamedTuple):
    """What was examined, whether it is well, and what was found or what to do."""

    about: str
    is_well: bool
    said: str


def doctor() -> None:
    """Check the installation: packages, word vectors, folders, and that a search finds its answer.

    Prints a line for each, with the remedy if there is a problem, and exits with 1 if there is one. Indexes are checked
    by `semsearch verify`.
    """
    keep_warnings()
    is_well = True
    for finding in _findings():
        is_well &= finding.is_well
        print(f"{'ok     ' if finding.is_well else 'PROBLEM'}  {finding.about:<14}{finding.said}", flush=True)
    if not is_well:
        raise typer.Exit(PROBLEMS)


def _findings() -> Iterator[Examined]:
    python = f"Python {platform.python_version()}, {platform.platform()}"
    yield Examined("semsearch", True, f"{__version__} in {Path(__file__).parents[2]}; {python}")
    for about, examine in (("packages", _packages), ("word vectors", _word_vectors), ("search", _search)):
        yield _examined(about, examine)
    yield from _folders()
    yield _files_names()
    yield Examined("extras", True, _extras())


def _examined(about: str, examine: Callable[[], str]) -> Examined:
    """What an examination says; whatever it raises is the problem, since anything may be broken."""
    try:
        return Examined(about, True, examine())
    except (Exception, SystemExit) as error:
        advice = "" if isinstance(error, SemsearchError) else "; install semsearch again in a new environment"
        return Examined(about, False, f"{type(error).__name__}: {' '.join(str(error).split())}{advice}")


def _packages() -> str:
    for name in _COMPILED:  # those that a wrong processor, libc or version of Python breaks
        import_module(name)
    missing = [name for name in _asked_for() if installed_version(name) is None]
    if missing:
        raise SemsearchError(f"{', '.join(missing)} not installed; run: pip install semsearch")
    versions = {name: installed_version(name) for name in ("numpy", "scipy", "faiss-cpu", "lxml", "pypdfium2")}
    versions["SQLite"] = import_module("sqlite3").sqlite_version
    return ", ".join(f"{name} {version}" for name, version in versions.items())


def _asked_for(extra: str = "") -> list[str]:
    """The packages that semsearch or one of its extras asks for; none where it runs without having been installed."""
    try:
        lines = metadata.requires("semsearch") or []
    except metadata.PackageNotFoundError:
        return []
    parts = [line.partition(";") for line in lines]
    names = [
        asked.strip()
        for asked, _, condition in parts
        if ("extra" not in condition if not extra else f"extra == '{extra}'" in condition.replace('"', "'"))
    ]
    return ["".join(_until_version(name)) for name in names]


def _until_version(requirement: str) -> Iterator[str]:
    for letter in requirement:
        if not (letter.isalnum() or letter in "-_."):
            return
        yield letter


def installed_version(package: str) -> str | None:
    """The version of a package; None if it is not installed."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _word_vectors() -> str:
    from semsearch.word_vectors.loading import load_vectors, shipped_names  # start-up time, here and below

    tables = [load_vectors(name) for name in shipped_names()]
    for table in tables:
        if not table.verify():
            raise SemsearchError(f"{table.folder} is damaged; run: pip install --force-reinstall --no-deps semsearch")
    return ", ".join(f"{table.name} ({len(table):,} words, {table.digest[:8]})" for table in tables)


def _search() -> str:
    from semsearch.index import Index

    with tempfile.TemporaryDirectory() as folder:
        docs = Path(folder, "docs")
        docs.mkdir()
        for name, text in _TEXTS.items():
            (docs / f"{name}.txt").write_text(text, encoding="utf-8")
        with Index.create(Path(folder, "index")) as index:
            index.sync(docs)
            hit = index.search(_ASKED, k=1)[0]
    if Path(hit.path).stem != "bread":
        raise SemsearchError(f"{_ASKED!r} found {hit.sentence!r}; run the tests, and report it with this output")
    return f"{_ASKED!r} found {hit.sentence!r}"


def _folders() -> Iterator[Examined]:
    from semsearch.system.locations import cache_folder, config_folder, data_folder

    folders = {"settings": config_folder(), "own indexes": data_folder() / "indexes", "cache": cache_folder("")}
    for about, folder in folders.items():
        there = next(path for path in (folder, *folder.parents) if path.exists())
        said = f"{folder}" if there == folder else f"{folder} (made when it is needed)"
        is_well = there.is_dir() and os.access(there, os.W_OK)
        yield Examined(about, is_well, said if is_well else f"{there} cannot be written to; change its owner or rights")


def _files_names() -> Examined:
    coding = sys.getfilesystemencoding()
    is_well = coding.lower().replace("-", "") == "utf8"
    return Examined("file names", is_well, f"as {coding}" if is_well else f"as {coding}; set PYTHONUTF8=1")


def _extras() -> str:
    try:
        extras = metadata.metadata("semsearch").get_all("Provides-Extra") or []
    except metadata.PackageNotFoundError:
        return "not known: semsearch runs without having been installed"
    shown = [extra for extra in extras if extra not in _HIDDEN]
    lacking = [extra for extra in shown if not all(map(installed_version, _asked_for(extra)))]
    installed = ", ".join(extra for extra in shown if extra not in lacking) or "none"
    return f"{installed}; not installed: {', '.join(lacking) or 'none'}"
