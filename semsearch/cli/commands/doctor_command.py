"""`semsearch doctor`: does the installation work? Packages, word vectors, folders, and a search with a known answer."""

from __future__ import annotations

import importlib
import os
import platform
import re
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from importlib import metadata
from pathlib import Path

import typer

from semsearch import __version__
from semsearch.cli.printing import PROBLEMS, keep_warnings
from semsearch.errors import SemsearchError, install_command
from semsearch.index import Index
from semsearch.system.locations import cache_folder, config_folder, data_folder
from semsearch.word_vectors.loading import load_vectors, shipped_names

_VERSIONS = ("numpy", "scipy", "faiss-cpu", "lxml", "pypdfium2")
_COMPILED = (  # which a wrong processor, libc or version of Python breaks
    *("numpy", "scipy.sparse", "faiss", "lxml.etree", "pypdfium2", "Stemmer", "pyromark", "sentencex", "yaml"),
)
_TEXTS = {"bread": "Dough rises because yeast makes gas.", "orbit": "The spacecraft left the orbit of Saturn."}
_QUESTION = "why does bread grow in the oven"


def doctor() -> None:
    """Check the installation: packages, word vectors, folders, and that a search finds its answer.

    Prints a line for each, with the remedy if there is a problem, and exits with 1 if there is one. Indexes are checked
    by `semsearch verify`.
    """
    keep_warnings()
    are_well = True
    for subject, check in _checks():
        try:  # whatever it raises is the problem, since anything may be broken
            is_well, finding = True, check()
        except (Exception, SystemExit) as error:
            advice = "" if isinstance(error, SemsearchError) else "; install semsearch again in a new environment"
            is_well, finding = False, f"{type(error).__name__}: {' '.join(str(error).split())}{advice}"
        are_well &= is_well
        print(f"{'ok     ' if is_well else 'PROBLEM'}  {subject:<14}{finding}", flush=True)
    if not are_well:
        raise typer.Exit(PROBLEMS)


def _checks() -> Iterator[tuple[str, Callable[[], str]]]:
    python = f"Python {platform.python_version()}, {platform.platform()}"
    yield "semsearch", lambda: f"{__version__} in {Path(__file__).parents[2]}; {python}"
    yield "packages", _packages
    yield "word vectors", _word_vectors
    yield "search", _search
    folders = {"settings": config_folder(), "own indexes": data_folder() / "indexes", "cache": cache_folder("")}
    for subject, folder in folders.items():
        yield subject, partial(_folder, folder)
    yield "file names", _file_names
    yield "extras", _extras


def _packages() -> str:
    for name in _COMPILED:
        importlib.import_module(name)
    missing = [name for name in _requirements() if installed_version(name) is None]
    if missing:
        raise SemsearchError(f"{', '.join(missing)} not installed; run: {install_command()}")
    versions = {name: installed_version(name) for name in _VERSIONS} | {"SQLite": sqlite3.sqlite_version}
    return ", ".join(f"{name} {version}" for name, version in versions.items())


def _requirements(extra: str = "") -> list[str]:
    """The packages that semsearch or one of its extras asks for; none where it runs without having been installed."""
    try:
        requirements = metadata.requires("semsearch") or []
    except metadata.PackageNotFoundError:
        return []
    names = []
    for requirement in requirements:
        of_extra = re.search(r"extra == ['\"]([^'\"]+)", requirement)
        if (of_extra[1] if of_extra else "") == extra:
            names.append(re.split(r"[^\w.-]", requirement, maxsplit=1)[0])
    return names


def installed_version(package: str) -> str | None:
    """The version of a package; None if it is not installed."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _word_vectors() -> str:
    tables = [load_vectors(name) for name in shipped_names()]
    for table in tables:
        if not table.verify():
            raise SemsearchError(f"{table.folder} is damaged; install semsearch again: {install_command()}")
    return ", ".join(f"{table.name} ({len(table):,} words, {table.digest[:8]})" for table in tables)


def _search() -> str:
    with tempfile.TemporaryDirectory() as folder:
        docs = Path(folder, "docs")
        docs.mkdir()
        for name, text in _TEXTS.items():
            (docs / f"{name}.txt").write_text(text, encoding="utf-8")
        with Index.create(Path(folder, "index")) as index:
            index.sync(docs)
            hit = index.search(_QUESTION, k=1)[0]
    if Path(hit.path).stem != "bread":
        raise SemsearchError(f"{_QUESTION!r} found {hit.sentence!r}; run the tests, and report it with this output")
    return f"{_QUESTION!r} found {hit.sentence!r}"


def _folder(folder: Path) -> str:
    there = next(path for path in (folder, *folder.parents) if path.exists())
    if not there.is_dir() or not os.access(there, os.W_OK):
        raise SemsearchError(f"{there} cannot be written to; change its owner or rights")
    return f"{folder}" if there == folder else f"{folder} (made when it is needed)"


def _file_names() -> str:
    encoding = sys.getfilesystemencoding()
    if encoding.lower().replace("-", "") != "utf8":
        raise SemsearchError(f"as {encoding}; set PYTHONUTF8=1")
    return f"as {encoding}"


def _extras() -> str:
    try:
        extras = metadata.metadata("semsearch").get_all("Provides-Extra") or []
    except metadata.PackageNotFoundError:
        return "not known: semsearch runs without having been installed"
    missing = [extra for extra in extras if not all(map(installed_version, _requirements(extra)))]
    installed = [extra for extra in extras if extra not in (*missing, "dev")]
    absent = [extra for extra in missing if extra != "dev"]
    return f"{', '.join(installed) or 'none'}; not installed: {', '.join(absent) or 'none'}"
