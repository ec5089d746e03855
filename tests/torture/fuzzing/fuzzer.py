"""The process that fuzzes: under atheris, by changes at random, by letting inputs grow; or runs one input again.

    python tests/torture/fuzzing/fuzzer.py guided TARGET FOLDER SECONDS
    python tests/torture/fuzzing/fuzzer.py changing TARGET FOLDER SECONDS
    python tests/torture/fuzzing/fuzzer.py growing TARGET FOLDER SECONDS
    python tests/torture/fuzzing/fuzzer.py again TARGET FILE

FOLDER has the corpus, what was found, and a place for the target's own files. atheris (Apache-2.0) is libFuzzer for
Python: it records which parts of our code an input reaches, and changes further those that reached something new.
"""

from __future__ import annotations

import faulthandler
import logging
import random
import resource
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[2] / "support")]

INSTRUMENTED = [
    "semsearch",
    "markdown_it",
    "mdit_py_plugins",
    "docutils",
    "tomllib",
    "email",
    "sentencex",
    "h11",
    "starlette",
]
GROWN = 200_000  # bytes
_PATIENCE = 60  # seconds for one input
_MOST_MEMORY = 3000  # megabytes of the process


def guided(name: str, folder: Path, seconds: int) -> None:
    """Fuzz by coverage. libFuzzer ends the process, with a file in found/ if an input crashed or stopped it."""
    import atheris

    with atheris.instrument_imports(include=INSTRUMENTED):
        watched = _prepared(name, folder)
        from fuzzing.catalogue import TARGETS

        target = TARGETS[name]
        for seed in target.seeds():  # imports what is imported late
            watched(seed)
    (folder / "words").write_text("".join(f'"{_escaped(word)}"\n' for word in target.words if word))
    options = {
        "max_total_time": seconds,
        "timeout": _PATIENCE,
        "rss_limit_mb": _MOST_MEMORY,
        "max_len": target.longest,
        "len_control": 20,
        "artifact_prefix": f"{folder / 'found'}/",
    }
    if target.words:
        options["dict"] = folder / "words"
    flags = [f"-{key}={value}" for key, value in options.items()]
    atheris.Setup([name, *flags, str(folder / "corpus")], watched)
    atheris.Fuzz()


def changing(name: str, folder: Path, seconds: int) -> None:
    """Change what is in the corpus at random: more inputs a second, which learn nothing from each other."""
    from fuzzing.catalogue import TARGETS

    words = [word.encode("utf-8", "surrogatepass") for word in TARGETS[name].words if word] or [b"\0"]

    def changed(chance: random.Random, corpus: Sequence[bytes]) -> bytes:
        data, other = chance.choice(corpus), chance.choice(corpus)
        for _ in range(1 + int(chance.expovariate(0.5))):
            start, begin = chance.randrange(len(data) + 1), chance.randrange(len(other) + 1)
            end = min(len(data), start + int(chance.expovariate(0.2)))
            piece = chance.choice(
                (
                    b"",
                    chance.randbytes(end - start),
                    chance.choice(words),
                    data[start:end] * chance.choice((2, 3, 50)),
                    other[begin : begin + int(chance.expovariate(0.03))],
                )
            )
            data = data[:start] + piece + data[end:]
        return data[: TARGETS[name].longest]

    _run_all(name, folder, seconds, changed)


def growing(name: str, folder: Path, seconds: int) -> None:
    """Repeat pieces of what is in the corpus until they are large, and see whether the time grows with them."""

    def grown(chance: random.Random, corpus: Sequence[bytes]) -> bytes:
        data = chance.choice(corpus)
        start = chance.randrange(len(data) + 1)
        size = chance.choice((1, 2, 3, 5, 8, 20, 100, 1000))
        piece = data[start : start + size] or b" "
        rest = b"" if chance.random() < 0.5 else data[start + size :]
        return data[:start] + piece * (GROWN // len(piece)) + rest

    _run_all(name, folder, seconds, grown)


def _run_all(name: str, folder: Path, seconds: int, made: Callable[[random.Random, Sequence[bytes]], bytes]) -> None:
    """Run what is made of the corpus by chance, other inputs each time: what shows something is kept as it is."""
    watched, chance, end = _prepared(name, folder), random.Random(), time.monotonic() + seconds
    corpus = [path.read_bytes() for path in sorted((folder / "corpus").iterdir())]
    resource.setrlimit(resource.RLIMIT_AS, (2 * _MOST_MEMORY << 20, resource.RLIM_INFINITY))
    while time.monotonic() < end:
        data = made(chance, corpus)
        (folder / "now").write_bytes(data)
        faulthandler.dump_traceback_later(_PATIENCE, exit=True)
        watched(data)
        faulthandler.cancel_dump_traceback_later()
    (folder / "now").unlink(missing_ok=True)
    watched.tell()


def again(name: str, file: Path) -> None:
    """Run one input without atheris, and print what it shows; the exit status is 1 if that is anything."""
    from fuzzing.catalogue import TARGETS
    from fuzzing.findings import shown_by

    faulthandler.dump_traceback_later(_PATIENCE, exit=True)
    with tempfile.TemporaryDirectory() as folder:
        target = TARGETS[name]
        run = target.prepare(Path(folder))
        for seed in target.seeds():
            shown_by(run, seed)  # imports what is imported late

        def loud(data: bytes) -> None:
            try:
                run(data)
            except Exception:
                traceback.print_exc()
                raise

        data, began = file.read_bytes(), time.process_time()
        found = shown_by(loud, data)
        print(f"{file}: {len(data):,} bytes, {time.process_time() - began:.2f} s: {found or 'nothing'}")
        sys.stdout.flush()
    sys.exit(1 if found else 0)


def _prepared(name: str, folder: Path):  # type: ignore[no-untyped-def]  # its type is imported under instrumentation
    from fuzzing.catalogue import TARGETS
    from fuzzing.findings import Watched

    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    for each in ("corpus", "found", "own"):
        (folder / each).mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(TARGETS[name].seeds()):
        (folder / "corpus" / f"seed-{number}").write_bytes(seed)
    own = tempfile.mkdtemp(dir=folder / "own")
    return Watched(TARGETS[name].prepare(Path(own)), folder / "found")


def _escaped(word: str) -> str:
    return "".join(
        chr(byte) if 32 <= byte < 127 and chr(byte) not in '"\\' else f"\\x{byte:02x}"
        for byte in word.encode("utf-8", "surrogatepass")
    )


def main(arguments: list[str]) -> None:
    what, name, path = arguments[:3]
    if what == "again":
        again(name, Path(path))
    elif what == "growing":
        growing(name, Path(path), int(arguments[3]))
    elif what == "changing":
        changing(name, Path(path), int(arguments[3]))
    else:
        guided(name, Path(path), int(arguments[3]))


if __name__ == "__main__":
    main(sys.argv[1:])
