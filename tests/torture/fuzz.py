"""Fuzz what takes bytes or text from somebody else: the targets of fuzz_targets.py.

    python tests/torture/fuzz.py md --minutes 30
    python tests/torture/fuzz.py all --minutes 60     # all targets, one after the other, with equal shares of the time
    python tests/torture/fuzz.py md --again FILE      # one input again, with its traceback

With atheris (pip install atheris; libFuzzer for Python) inputs are guided by the code that they reach; without it, and
in the last fifth of the time, sound ones are damaged at random, or a piece is repeated to 200 kB. A finding is a crash
of the process, an error that is none of ours, much memory, or more time than a second and a second a megabyte (twenty,
if half of the input takes less than a third of the time). Its input is kept in build/fuzz/TARGET/found, and counts if
it shows something when it is run alone. The exit status says whether anything was found.
"""

from __future__ import annotations

import argparse
import faulthandler
import logging
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "support")]

if TYPE_CHECKING:
    from fuzz_targets import Run, Target

INSTRUMENTED = ["semsearch", "markdown_it", "mdit_py_plugins", "tomllib", "email", "sentencex", "h11"]
GROWN = 200_000  # bytes
MEMORY = 400_000_000  # bytes by which an input may raise the memory of the process
_PATIENCE = 60  # seconds for one input
_KEPT_OF_EACH = 3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", nargs="+", metavar="TARGET", help="a name of fuzz_targets.py, or all")
    parser.add_argument("--minutes", type=float, default=10.0, help="of all targets together")
    parser.add_argument("--folder", type=Path, default=Path("build/fuzz"))
    parser.add_argument("--again", type=Path, help="an input that is run once more, and nothing else")
    parser.add_argument("--process", nargs=2, help=argparse.SUPPRESS)  # how, and for how many seconds
    arguments = parser.parse_args()
    arguments.folder = arguments.folder.resolve()  # some targets go elsewhere
    if arguments.again:
        sys.exit(again(arguments.target[0], arguments.again))
    if arguments.process:
        how, seconds = arguments.process
        return fuzz_here(arguments.target[0], arguments.folder, how, float(seconds))
    from fuzz_targets import TARGETS

    names = list(TARGETS) if "all" in arguments.target else arguments.target
    seconds_each = 60 * arguments.minutes / len(names)
    sys.exit(sum(fuzz(name, arguments.folder / name, seconds_each) for name in names) > 0)


def fuzz(name: str, folder: Path, seconds: float) -> int:
    """Fuzz a target in processes of its own, which an input may end; how many findings there are."""
    (folder / "found").mkdir(parents=True, exist_ok=True)
    shares = {"guided": 0.8 * seconds, "random": 0.2 * seconds} if find_spec("atheris") else {"random": seconds}
    for how, share in shares.items():
        end = time.monotonic() + share
        while (left := end - time.monotonic()) >= 1:
            command = [sys.executable, __file__, name, "--folder", str(folder), "--process", how, str(int(left))]
            with (folder / f"{how}.log").open("ab") as log:
                status = subprocess.run(command, stdout=log, stderr=log, env=_one_thread(), check=False).returncode
            if (folder / "now").exists():
                (folder / "now").replace(folder / "found" / f"stopped-{time.time_ns()}")
            elif status:
                print(f"  {name}: the fuzzer ended with status {status}; see {folder / f'{how}.log'}")
                break
    findings = [line for path in sorted((folder / "found").iterdir()) if (line := _shown_alone(name, path))]
    inputs = (folder / "inputs").stat().st_size if (folder / "inputs").exists() else 0
    summary = f"{name:<18}{seconds / 60:6.1f} minutes {inputs:>11,} inputs in all {len(findings):>3} findings"
    print(summary, *findings, sep="\n  ", flush=True)
    return len(findings)


def _shown_alone(name: str, path: Path) -> str | None:
    command = [sys.executable, __file__, name, "--again", str(path)]
    process = subprocess.run(command, capture_output=True, text=True, env=_one_thread(), check=False)
    if not process.returncode:
        path.unlink()
        return None
    return (process.stdout.strip().splitlines() or [f"{path}: ended with status {process.returncode}"])[-1]


def _one_thread() -> dict[str, str]:
    return {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def again(name: str, path: Path) -> int:
    """Run one input, and print what it shows; 1 if that is anything."""
    from fuzz_targets import TARGETS

    faulthandler.dump_traceback_later(_PATIENCE, exit=True)
    with tempfile.TemporaryDirectory() as folder:
        run = _warm(TARGETS[name], Path(folder))
        shown = shown_by(run, path.read_bytes(), trace=True)
    print(f"{path}: {path.stat().st_size:,} bytes: {shown or 'nothing'}")
    return int(shown is not None)


def fuzz_here(name: str, folder: Path, how: str, seconds: float) -> None:
    """Fuzz in this process, and keep the inputs that show something."""
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    seen = Counter[str]()

    inputs = (folder / "inputs").open("ab", buffering=0)  # a byte for each input, whatever ends the process

    def watched(data: bytes) -> None:
        inputs.write(b".")
        (folder / "now").write_bytes(data)
        if shown := shown_by(run, data):
            seen[shown] += 1
            if seen[shown] <= _KEPT_OF_EACH:
                file_name = "".join(letter if letter.isalnum() or letter in "-._" else "_" for letter in shown)[:150]
                (folder / "found" / f"{file_name}.{seen[shown]}").write_bytes(data)
        (folder / "now").unlink()

    with tempfile.TemporaryDirectory() as own:
        if how == "guided":
            import atheris

            with atheris.instrument_imports(include=INSTRUMENTED):
                from fuzz_targets import TARGETS

                run = _warm(TARGETS[name], Path(own))
            corpus = folder / "corpus"
            corpus.mkdir(exist_ok=True)
            for number, seed in enumerate(TARGETS[name].seeds()):
                (corpus / f"seed-{number}").write_bytes(seed)
            (folder / "words").write_text("".join(f'"{_escaped(word)}"\n' for word in TARGETS[name].words))
            options = [f"-max_total_time={seconds:.0f}", f"-timeout={_PATIENCE}", "-max_len=8192", "-rss_limit_mb=3000"]
            options += [f"-dict={folder / 'words'}"] * bool(TARGETS[name].words)  # libFuzzer refuses an empty one
            atheris.Setup([name, *options, f"-artifact_prefix={folder / 'found'}/", str(corpus)], watched)
            atheris.Fuzz()
        else:
            from fuzz_targets import TARGETS

            run = _warm(TARGETS[name], Path(own))
            resource.setrlimit(resource.RLIMIT_AS, (6 << 30, resource.RLIM_INFINITY))
            _change_at_random(TARGETS[name], watched, seconds)


def _change_at_random(target: Target, run: Run, seconds: float) -> None:
    from sample_files.damage import damaged

    seeds, chance, end = list(target.seeds()), random.Random(), time.monotonic() + seconds
    while time.monotonic() < end:
        data = chance.choice(seeds)
        if target.grows and chance.random() < 0.2:
            start, size = chance.randrange(len(data) + 1), chance.choice((1, 2, 3, 5, 8, 20, 100, 1000))
            piece = data[start : start + size] or b" "
            data = data[:start] + piece * (GROWN // len(piece)) + chance.choice((b"", data[start + size :]))
        else:
            for _ in range(chance.choice((0, 0, 1, 3))):
                word = chance.choice(target.words or ("\0",)).encode("utf-8", "surrogatepass")
                place = chance.randrange(len(data) + 1)
                data = data[:place] + word + data[place:]
            data = damaged(data, chance.random())
        faulthandler.dump_traceback_later(_PATIENCE, exit=True)
        run(data)
        faulthandler.cancel_dump_traceback_later()


def _warm(target: Target, folder: Path) -> Run:
    """What runs an input, after all that is imported late was imported."""
    run = target.prepare(folder)
    for seed in target.seeds():
        shown_by(run, seed)
    return run


def shown_by(run: Run, data: bytes, *, trace: bool = False) -> str | None:
    """What an input shows, in a few words that name the place; None if all is as it should be."""
    from semsearch.errors import SemsearchError

    before, began = _peak(), time.process_time()
    try:
        run(data)
    except SemsearchError:
        pass
    except Exception as error:  # whatever it is, it is what is looked for
        if trace:
            traceback.print_exc()
        frames = traceback.extract_tb(error.__traceback__)
        ours = [frame for frame in frames if "semsearch" in Path(frame.filename).parts]
        places = dict.fromkeys(f"{Path(at.filename).name} {at.name} {at.lineno}" for at in (*ours[-1:], frames[-1]))
        return " ".join((type(error).__name__, *places))
    if _is_slow(run, data, time.process_time() - began):
        return "slow"
    return "memory" if _peak() - before > MEMORY else None


def _is_slow(run: Run, data: bytes, seconds: float) -> bool:
    megabytes = len(data) / 1e6
    if seconds < 1 + megabytes:
        return False
    if megabytes < 0.1 or seconds > 1 + 20 * megabytes:
        return True
    began = time.process_time()
    with suppress(Exception):
        run(data[: len(data) // 2])
    return seconds > 3 * (time.process_time() - began)  # with the square of the size, it is four times


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def _escaped(word: str) -> str:
    encoded = word.encode("utf-8", "surrogatepass")
    return "".join(chr(byte) if 32 <= byte < 127 and byte not in b'"\\' else f"\\x{byte:02x}" for byte in encoded)


if __name__ == "__main__":
    main()
