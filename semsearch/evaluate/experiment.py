"""What an experiment is: options, what is run with them, and the tables, claims and figures of what was found.

Declarations import nothing heavy, so that the command line can list all experiments at once; `run` imports the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from semsearch.evaluate.options import Option
from semsearch.evaluate.table import Block

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from semsearch.evaluate.papers.data import PapersData

Progress = Callable[[str, int, int], None]  # what is being done, how much of it is done, how much there is (0: unknown)


def lazily(name: str) -> Callable[..., Any]:
    """A function of semsearch.evaluate, imported when it is called."""
    return lambda *given, **options: getattr(import_module("semsearch.evaluate"), name)(*given, **options)


@dataclass(frozen=True, slots=True)
class Reproduction:
    """How an experiment is run for the papers' report, on a folder of data.

    `needs` is one of semsearch.evaluate.papers.data.NEEDS. `ready` finds out beforehand what minutes of work would
    stumble over. `run` gives values for the fields of PapersReport, `drawn` what of them is for the picture.
    """

    run: Callable[[PapersData, Progress | None], Mapping[str, Any]]
    needs: str = ""
    ready: Callable[[PapersData], None] = lambda _: None
    drawn: Callable[[Any], Any] = lambda found: found


@dataclass(frozen=True, slots=True)
class Experiment:
    """A sub-command of `semsearch evaluate`. `paper` says which part of which paper it repeats, if of any.

    `check` gets all options before anything is run, also `plot`, the file that --plot names. `figures` gives pictures
    by what is added to the name of that file.
    """

    name: str
    summary: str
    help: str
    options: tuple[Option, ...]
    run: Callable[..., Any]
    tables: Callable[..., Iterable[Block]]
    paper: str = ""
    claims: Callable[[Any], Iterable[Block]] = lambda _: ()
    figures: Callable[[Any], Iterable[tuple[str, Figure]]] | None = None
    plot: str = "Draw it: .png, .svg or .pdf."
    check: Callable[[Mapping[str, Any]], None] = lambda _: None
    one_thread: bool = True  # linear algebra of a few small matrices is slower with two
    reproduction: Reproduction | None = None
