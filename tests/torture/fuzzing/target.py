"""A target of fuzzing: something of ours that takes bytes or text from somebody else."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

Run = Callable[[bytes], object]  # raises SemsearchError for what it refuses; whatever else it raises is a finding


@dataclass(frozen=True, slots=True)
class Target:
    """A target: `prepare` makes what runs one input, given a folder of its own; `seeds` are sound inputs to begin with.

    `words` are what a fuzzer is told of the format; `longest` bounds an input, in bytes. `grows`: an input that is
    repeated is still one, so that what takes more than linear time can be seen.
    """

    name: str
    prepare: Callable[[Path], Run]
    seeds: Callable[[], Iterable[bytes]]
    words: tuple[str, ...] = ()
    longest: int = 4096
    grows: bool = True


def text_of(data: bytes) -> str:
    """A text of any characters, half ones among them, as paths and JSON may have them."""
    return data.decode("utf-8", "surrogatepass" if b"\xed" in data and _is_wide(data) else "replace")


def _is_wide(data: bytes) -> bool:
    try:
        data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return False
    return True
