"""The declaration of an experiment: its options, the function it runs, and its tables, claims and figures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from semsearch_research.evaluate.options import Option
from semsearch_research.evaluate.table import Block

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Progress = Callable[[str, int, int], None]  # name of the stage, how much of it is done, how much there is (0: unknown)


@dataclass(frozen=True, slots=True)
class Experiment:
    """An experiment, which is a sub-command of `semsearch evaluate`. `paper` names the part of a paper that it repeats.

    `check` gets all options before anything is run, including `plot`, the file that --plot names. `figures` gives
    pictures by the suffix that is added to the name of that file. Where there is `last`, `run` takes `each`, a function
    that is called with each part of the results as soon as it is there; `last` is shown after all parts.
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
    last: Callable[[Any], Any] | None = None
    one_thread: bool = True  # linear algebra of a few small matrices is slower with two
