"""`semsearch doctor`, `config` and `vectors`: does the installation work, how is it configured, and which word vectors
does it have? semsearch-research adds commands that convert and train word vectors.
"""

from __future__ import annotations

import os
import platform
import tempfile
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import typer

from semsearch import __version__
from semsearch.cli import options
from semsearch.cli.configuration import SECRET, all_items, read_configuration, users_file
from semsearch.cli.plugged_in import group
from semsearch.cli.printing import PROBLEMS, aligned, hide_warnings, one_line, print_stderr, to_json
from semsearch.errors import SemsearchError, VectorsError, install_command
from semsearch.index import Index
from semsearch.system.locations import cache_folder, config_folder, data_folder
from semsearch.word_vectors.table import load_vectors, shipped_names

# -- doctor ------------------------------------------------------------------------------------------------------------

# which a wrong processor, libc or version of Python breaks
_COMPILED = "numpy scipy.sparse faiss lxml.etree turbohtml pypdfium2 Stemmer pyromark sentencex yaml".split()
_TEXTS = {"bread": "Dough rises because yeast makes gas.", "orbit": "The spacecraft left the orbit of Saturn."}
_QUESTION = "why does bread grow in the oven"


def doctor() -> None:
    """Check the installation: packages, word vectors, folders, a search.

    Prints a line for each, with the remedy if there is a problem, and exits with 1 if there is one. Indexes are checked
    by `semsearch verify`.
    """
    hide_warnings()
    checks: dict[str, Callable[[], str]] = {
        "semsearch": lambda: (
            f"{__version__} in {Path(__file__).parents[2]}; Python {platform.python_version()}, {platform.platform()}"
        ),
        "packages": _packages,
        "word vectors": _word_vectors,
        "search": _search,
        "folders": _folders,
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


def _folders() -> str:
    folders = (config_folder(), data_folder(), cache_folder(""))
    for folder in folders:
        there = next(path for path in (folder, *folder.parents) if path.exists())
        if not there.is_dir() or not os.access(there, os.W_OK):
            raise SemsearchError(f"{there} cannot be written to; change its owner or rights")
    return f"{', '.join(map(str, folders))} can be written to, or made when they are needed"


# -- config ------------------------------------------------------------------------------------------------------------


def config(json: options.JsonOption = False) -> None:
    """Show all keys of semsearch.toml, with their values and where these come from."""
    items: list[tuple[str, Any, str]] = [
        (key, "***" if key == SECRET and value else value, source)
        for key, value, source in all_items(read_configuration())
    ]
    if json:
        print(to_json([{"key": key, "value": value, "source": source} for key, value, source in items]))
        return
    rows = [
        (key, "-" if value is None else one_line(to_json(value, indent=None)), source) for key, value, source in items
    ]
    print(*aligned([("key", "value", "from"), *rows], left=(0, 1, 2)), sep="\n")
    print_stderr(f"your own file is {users_file()}; a project's is semsearch.toml in its folder")


# -- vectors -----------------------------------------------------------------------------------------------------------

vectors_group = group("Word vectors: list, inspect.")


@vectors_group.command("list")
def list_() -> None:
    """List the word vectors that come with semsearch."""
    for name in shipped_names():
        table = load_vectors(name)
        licence = table.card.get("licence", "unknown")
        print(f"{name}  {len(table)} words  {table.dimension} dimensions  licence {licence}")


@vectors_group.command()
def info(name: options.TableArgument = "english") -> None:
    """Show the details and source of word vectors as JSON, and verify their digest. Exit status: 2 if it is wrong."""
    table = load_vectors(name)
    details: dict[str, Any] = {
        **dict.fromkeys(("source", "licence", "dtype"), "unknown"),
        **table.card,
        "name": table.name,
        "words": len(table),
        "pieces": len(table.pieces or ()),
        "dimension": table.dimension,
        "folder": str(table.folder),
        "bytes": sum(path.stat().st_size for path in table.folder.iterdir() if path.is_file()),
        "verified": table.verify(),
    }
    print(to_json(details))
    if not details["verified"]:
        raise VectorsError(f"{table.folder} is damaged: its digest is wrong; make it again")
