"""Fuzz what takes bytes or text from somebody else, guided by the parts of the code that an input reaches.

    python tests/torture/fuzz.py md --minutes 30
    python tests/torture/fuzz.py all --minutes 60     # all targets, one after the other, with equal shares of the time
    python tests/torture/fuzz.py --again FILE md      # one input again, with its traceback

It needs atheris (pip install atheris), which no other test does; without it, seeds are changed at random. A finding is
a crash of the process, an error that is none of ours, more than a second and a second a megabyte, or much memory. A
large input may take longer, twenty seconds a megabyte, if half of it takes about half the time. Each input that shows a
finding is kept in build/fuzz/TARGET/found, and is run again without atheris before it counts; the corpus stays in
build/fuzz/TARGET/corpus for the next time. A fifth of the time goes to inputs that are grown from the corpus. The exit
status says whether anything was found.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "support")]

from fuzzing.catalogue import TARGETS
from fuzzing.target import Target

FUZZER = Path(__file__).parent / "fuzzing" / "fuzzer.py"
_GROWING = 0.2  # of the time
_NOT_INPUTS = ("told.json",)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", nargs="+", choices=["all", *TARGETS], metavar="TARGET", help=", ".join(TARGETS))
    parser.add_argument("--minutes", type=float, default=10.0, help="of all targets together")
    parser.add_argument("--folder", type=Path, default=Path("build/fuzz"))
    parser.add_argument("--again", type=Path, help="an input that is run once more, and nothing else")
    given = parser.parse_args()
    if given.again:
        sys.exit(_start("again", given.target[0], given.again).wait())
    chosen = list(TARGETS) if "all" in given.target else given.target
    found = sum(fuzz(TARGETS[name], given.folder / name, 60 * given.minutes / len(chosen)) for name in chosen)
    sys.exit(1 if found else 0)


def fuzz(target: Target, folder: Path, seconds: float) -> int:
    """Fuzz a target, print a line of what was done and one for each finding; how many findings there are."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(folder / "found", ignore_errors=True)
    how = "guided" if find_spec("atheris") else "changing"
    inputs = _run(how, target, folder, seconds * (1 - _GROWING if target.grows else 1))
    grown = _run("growing", target, folder, seconds * _GROWING) if target.grows else 0
    shutil.rmtree(folder / "own", ignore_errors=True)
    shown = [found for path in _kept(folder) if (found := _shown_again(target, path)) is not None]
    corpus = len(list((folder / "corpus").iterdir()))
    print(
        f"{target.name:<16}{seconds / 60:6.1f} minutes {inputs:>10,} inputs {grown:>7,} grown {corpus:>6,} kept "
        f"{len(shown):>3} findings",
        flush=True,
    )
    for line in shown:
        print(f"  {line}", flush=True)
    return len(shown)


def _run(what: str, target: Target, folder: Path, seconds: float) -> int:
    """Run the fuzzer for a time, again and again where an input ends it; how many inputs it has run."""
    end, inputs = time.monotonic() + seconds, 0
    while (left := end - time.monotonic()) >= 1:
        told = folder / "found" / "told.json"
        told.unlink(missing_ok=True)
        status = _start(what, target.name, folder, str(int(left)), log=folder / f"{what}.log").wait()
        inputs += json.loads(told.read_text())["inputs"] if told.exists() else 0
        if (folder / "now").exists():
            (folder / "now").replace(folder / "found" / f"stopped-{inputs}")
        if status and not told.exists():
            print(f"  {target.name}: the fuzzer does not start; see {folder / f'{what}.log'}")
            break
    return inputs


def _start(what: str, *arguments: str | Path, log: Path | None = None) -> subprocess.Popen[bytes]:
    command = [sys.executable, str(FUZZER), what, *map(str, arguments)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    if log is None:
        return subprocess.Popen(command, env=environment)
    with log.open("ab") as file:
        return subprocess.Popen(command, env=environment, stdout=file, stderr=file)


def _kept(folder: Path) -> list[Path]:
    return sorted(path for path in (folder / "found").iterdir() if path.name not in _NOT_INPUTS)


def _shown_again(target: Target, path: Path) -> str | None:
    """What an input shows when it is run alone; None, and the file deleted, if nothing."""
    command = [sys.executable, str(FUZZER), "again", target.name, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if not done.returncode:
        path.unlink()
        return None
    last = [line for line in done.stdout.splitlines() if line] or [f"{path}: ended with status {done.returncode}"]
    return last[-1]


if __name__ == "__main__":
    main()
