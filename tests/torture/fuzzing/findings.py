"""What counts as a finding, and where it is kept: each kind of it once, as the input that showed it."""

from __future__ import annotations

import json
import resource
import sys
import time
import traceback
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from fuzzing.target import Run
from semsearch.errors import SemsearchError

FLOOR = 1.0  # seconds that any input may take
PER_MEGABYTE = 1.0  # and seconds more
DENSE = 20.0  # and seconds more, where every line is a record of its own, or every character a sentence
SQUARE = 3.0  # times the time of half an input that what grows with its square takes, at least
MEMORY = 400_000_000  # bytes by which an input may raise the memory of the process
_KEPT_OF_EACH = 3
_LARGE = 100_000  # bytes


@dataclass
class Watched:
    """Runs inputs, and keeps those that show something in a folder: a file of the input, named by what it shows."""

    run: Run
    folder: Path
    inputs: int = 0
    seen: Counter[str] = field(default_factory=Counter)
    began: float = field(default_factory=time.monotonic)
    _told: float = 0.0

    def __call__(self, data: bytes) -> None:
        found = shown_by(self.run, data)
        self.inputs += 1
        if found is not None:
            self.note(found, data)
        if time.monotonic() - self._told > 1:
            self.tell()

    def note(self, found: str, data: bytes) -> None:
        """Keep an input, if few have shown the same."""
        self.seen[found] += 1
        if self.seen[found] <= _KEPT_OF_EACH:
            name = "".join(letter if letter.isalnum() or letter in "-._" else "_" for letter in found)[:150]
            (self.folder / f"{name}.{self.seen[found]}").write_bytes(data)

    def tell(self) -> None:
        """Write down how far it has come, for whoever started this process."""
        self._told = time.monotonic()
        told = {"inputs": self.inputs, "seconds": self._told - self.began, "seen": dict(self.seen)}
        (self.folder / "told.json").write_text(json.dumps(told))


def shown_by(run: Run, data: bytes) -> str | None:
    """Run an input: what it shows, in a few words that name the place; None if all is as it should be."""
    before, began = _peak(), time.process_time()
    try:
        run(data)
    except SemsearchError:
        pass
    except Exception as error:  # whatever it is, it is what is looked for
        return f"{type(error).__name__} {_place(error)}"
    seconds = time.process_time() - began
    if seconds > FLOOR + PER_MEGABYTE * len(data) / 1e6 and _is_too_slow(run, data, seconds):
        return "slow"
    return "memory" if _peak() - before > MEMORY else None


def _is_too_slow(run: Run, data: bytes, seconds: float) -> bool:
    """Whether the time of a large input grows faster than it does; a small one, or one that takes for ever, is slow."""
    if len(data) < _LARGE or seconds > FLOOR + DENSE * len(data) / 1e6:
        return True
    began = time.process_time()
    with suppress(Exception):
        run(data[: len(data) // 2])
    return seconds > SQUARE * (time.process_time() - began)


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def _place(error: BaseException) -> str:
    """The innermost place of ours in a traceback, and the innermost of all."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "semsearch" in Path(frame.filename).parts]
    chosen = dict.fromkeys(
        f"{Path(frame.filename).name} {frame.name} {frame.lineno}" for frame in (*ours[-1:], frames[-1])
    )
    return " ".join(chosen)
