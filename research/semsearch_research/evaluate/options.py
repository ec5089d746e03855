"""The options of experiments, from which the command line is made: names, types, help texts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Option:
    """An option or argument of an experiment's command.

    `name` is that of the argument of `run` that gets its value; if it is not given, `run` uses its own default.
    `many`: it may be repeated. `least`: the least number allowed. `shown`: it is passed to `tables`, not to `run`.
    """

    name: str
    kind: Any  # str, int, float, bool, Path, a Literal
    metavar: str
    help: str
    flag: str = ""  # by default --name
    many: bool = False
    default: Any = None
    least: float | None = None
    argument: bool = False
    required: bool = False
    shown: bool = False


Repeated = partial(Option, many=True)
Argument = partial(Option, argument=True, many=True)
Switch = partial(Option, kind=bool, metavar="")

PAIRS = Argument(
    "paths", Path, "PATH...", "Scored sentence pairs (.tsv, .csv, .jsonl), their folders, or a folder of data."
)
VECTORS = Option("vectors", str, "NAME|PATH", "Shipped vectors, a folder, or a file.", default="english")
SEVERAL_VECTORS = Repeated("vectors", str, "NAME|PATH", "Shipped vectors (by default english), a folder, or a file.")
A = Option("a", float, "", "The weights' parameter; by default the method's.")
COMPONENTS = Option("components", int, "M", "Common components removed; by default the method's.")
SPLIT = Option(
    "split",
    Literal["train", "dev", "test"],
    "",
    "Which of a folder's files; a file that is named is always read.",
    default="test",
)
BLANK_AS_ZERO = Switch("blank_as_zero", help="Pairs without a score have score 0, instead of being left out.")
SEED = Option("seed", int, "N", "Seed of all random draws.", default=0, least=0)
FRESH = Switch("fresh", help="Compute cached results again.")
