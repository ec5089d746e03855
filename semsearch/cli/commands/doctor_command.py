"""`semsearch doctor`: does the installation work? Packages, word vectors, folders, and a search with a known answer."""

from __future__ import annotations

import os
import platform
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path

import typer

from semsearch import __version__
from semsearch.cli.printing import PROBLEMS, keep_warnings
from semsearch.errors import SemsearchError, install_command
from semsearch.index import Index
from semsearch.system.locations import cache_folder, config_folder, data_folder
from semsearch.word_vectors.table import load_vectors, shipped_names

# which a wrong processor, libc or version of Python breaks
_COMPILED = "numpy scipy.sparse faiss lxml.etree turbohtml pypdfium2 Stemmer pyromark sentencex yaml".split()
_TEXTS = {"bread": "Dough rises because yeast makes gas.", "orbit": "The spacecraft left the orbit of Saturn."}
_QUESTION = "why does bread grow in the oven"


def doctor() -> None:
    """Check the installation: packages, word vectors, folders, and that a search finds its answer.

    Prints a line for each, with the remedy if there is a problem, and exits with 1 if there is one. Indexes are checked
    by `semsearch verify`.
    """
    keep_warnings()
    checks: dict[str, Callable[[], str]] = {
        "semsearch": lambda: (
            f"{__version__} in {Path(__file__).parents[2]}; Python {platform.python_version()}, {platform.platform()}"
        ),
        "packages": _packages,
        "word vectors": _word_vectors,
        "search": _search,
        "settings": partial(_folder, config_folder()),
        "own indexes": partial(_folder, data_folder() / "indexes"),
        "cache": partial(_folder, cache_folder("")),
        "file names": _file_names,
    }
    are_well = True
    for subject, check in checks.items():
        try:  # whatever it raises is the problem, since anything may be broken
            is_well, finding = True, check()
        except (Exception, SystemExit) as error:
            advice = "" if isinstance(error, SemsearchError) else "; install semsearch again in a new environment"
            is_well, finding = False, f"{type(error).__name__}: {' '.join(str(error).split())}{advice}"
        are_well &= is_well
        print(f"{'ok     ' if is_well else 'PROBLEM'}  {subject:<14}{finding}", flush=True)
    if not are_well:
        raise typer.Exit(PROBLEMS)


def _packages() -> str:
    for name in _COMPILED:
        import_module(name)
    return f"{', '.join(_COMPILED)} can be loaded"


def _word_vectors() -> str:
    tables = [load_vectors(name) for name in shipped_names()]
    for table in tables:
        if not table.verify():
            raise SemsearchError(f"{table.folder} is damaged; install semsearch again: {install_command()}")
    return ", ".join(f"{table.name} ({len(table):,} words, {table.digest[:8]})" for table in tables)


def _search() -> str:
    with tempfile.TemporaryDirectory() as folder, Index.create(Path(folder, "index")) as index:
        index.add(list(_TEXTS.items()))
        hit = index.search(_QUESTION, k=1)[0]
    if hit.path != "bread":
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
