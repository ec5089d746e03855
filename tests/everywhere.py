"""Run all tests under conditions that other machines have, and say where they pass.

    python tests/everywhere.py                                   # every setting, with this interpreter
    python tests/everywhere.py --only busy random -- tests/text  # some settings, some tests
    python tests/everywhere.py --only plain --python python3.10 python3.13

What comes after -- goes to pytest. Each interpreter of --python gets an environment of its own in build/everywhere,
with the package and its dev extra, and runs the tests as they are (plain). The exit status is 1 where a test failed.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parents[1]
ENVIRONMENTS = ROOT / "build" / "everywhere"
BUSY_PROCESSES = 8
RANDOM = "random"
BUSY = (
    "import os, sys, threading; "
    "threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0))).start()\n"  # ends with the one that started it
    "while True: pass"
)
KERNELS = (
    "import numpy, threadpoolctl as t; numpy.ones((2, 2)) @ numpy.ones((2, 2)); "
    "print(*sorted({i.get('architecture') or '?' for i in t.threadpool_info() if i['user_api'] == 'blas'}))"
)


@dataclass(frozen=True)
class Setting:
    """A condition: environment variables, and whether another processor is kept busy."""

    says: str
    variables: dict[str, str] = field(default_factory=dict)
    busy: bool = False


SETTINGS = {
    "plain": Setting("as it is"),
    "haswell": Setting("OpenBLAS's kernels for Haswell (AVX2)", {"OPENBLAS_CORETYPE": "Haswell"}),
    "skylakex": Setting("OpenBLAS's kernels for SkylakeX (AVX-512)", {"OPENBLAS_CORETYPE": "SkylakeX"}),
    "zen": Setting("OpenBLAS's kernels for Zen", {"OPENBLAS_CORETYPE": "Zen"}),
    "one-thread": Setting("one thread", {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}),
    "eight-threads": Setting("eight threads", {"OMP_NUM_THREADS": "8", "OPENBLAS_NUM_THREADS": "8"}),
    "busy": Setting("on one processor, with {busy} busy processes on another", busy=True),
    RANDOM: Setting("in random order; again with: python -m pytest -p randomly --randomly-seed={seed}"),
}


@dataclass(frozen=True)
class Outcome:
    """The outcome of the tests in one run."""

    interpreter: str
    setting: str
    kernels: str = ""
    passed: int = 0
    skipped: int = 0
    failed: tuple[str, ...] = ()
    seconds: float = 0.0
    problem: str = ""  # why there is no result

    @property
    def is_good(self) -> bool:
        return not self.failed and not self.problem and self.passed > 0


def main() -> None:
    """Run the chosen settings one after the other, and print a table."""
    chosen, tests = arguments(sys.argv[1:])
    random_order = ("-p", "randomly", f"--randomly-seed={chosen.seed}")
    outcomes: list[Outcome] = []
    for python, name in [(sys.executable, name) for name in chosen.only] + [(one, "plain") for one in chosen.python]:
        says = SETTINGS[name].says.format(seed=chosen.seed, busy=BUSY_PROCESSES)
        print(f"{Path(python).name}, {name}: {says}", file=sys.stderr, flush=True)
        added = random_order if name == RANDOM else ()
        outcomes.append(outcome(python, name, [*added, *tests], minutes=chosen.minutes))
    print("\n".join(table(outcomes)))
    sys.exit(0 if all(one.is_good for one in outcomes) else 1)


def arguments(given: Sequence[str]) -> tuple[argparse.Namespace, list[str]]:
    """The options, and what is for pytest."""
    ours, tests = (given[: given.index("--")], given[given.index("--") + 1 :]) if "--" in given else (given, [])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=SETTINGS, default=list(SETTINGS), help="Settings; by default all.")
    parser.add_argument("--python", nargs="+", default=[], help="Other interpreters, such as python3.10.")
    parser.add_argument("--minutes", type=float, default=60, help="The longest that one run may take.")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="Of the random order; by default the time.")
    return parser.parse_args(ours), list(tests)


def outcome(python: str, name: str, tests: Sequence[str], *, minutes: float) -> Outcome:
    """The tests, run once under a setting."""
    setting = SETTINGS[name]
    label = Path(python).name
    try:
        interpreter = sys.executable if python == sys.executable else environment_of(python)
        first, second = processors()
        environment = {**os.environ, "SEMSEARCH_TESTS": "all", **setting.variables}
        kernels = subprocess.run([interpreter, "-c", KERNELS], env=environment, capture_output=True, text=True)
        if kernels.returncode < 0:
            return Outcome(label, name, problem="this processor does not have the instructions")
        with tempfile.TemporaryDirectory() as folder, busy(second) if setting.busy else contextlib.nullcontext():
            report = Path(folder) / "report.xml"
            pytest = [interpreter, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report}"]
            command = [*(pinned(first) if setting.busy else ()), *pytest, *tests]
            started = time.monotonic()
            done = subprocess.run(command, cwd=ROOT, env=environment, timeout=60 * minutes, stdout=subprocess.DEVNULL)
            seconds = time.monotonic() - started
            if not report.exists():
                return Outcome(label, name, problem=f"pytest ended with {done.returncode} before it had run the tests")
            passed, skipped, failed = read_report(report)
        return Outcome(label, name, kernels.stdout.strip(), passed, skipped, failed, seconds)
    except subprocess.TimeoutExpired:
        return Outcome(label, name, problem=f"not done after {minutes:g} minutes")
    except (OSError, subprocess.CalledProcessError) as error:
        return Outcome(label, name, problem=str(error))


def environment_of(python: str) -> str:
    """The interpreter of an environment with the package, made by that Python, or kept from an earlier run."""
    version = [python, "-c", "import platform; print(platform.python_version())"]
    found = subprocess.run(version, check=True, capture_output=True, text=True).stdout.strip()
    folder = ENVIRONMENTS / found
    interpreter = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if not interpreter.exists():
        subprocess.run([python, "-m", "venv", str(folder)], check=True)
    subprocess.run([str(interpreter), "-m", "pip", "install", "-q", "-e", f"{ROOT}[dev]"], check=True)
    return str(interpreter)


def processors() -> tuple[int, int]:
    """One for the tests and one to be kept busy; the same where there is only one."""
    allowed = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else [0]
    return allowed[0], allowed[-1]


def pinned(processor: int) -> list[str]:
    """The prefix that makes a command run on one processor, if there is `taskset`."""
    return ["taskset", "-c", str(processor)] if shutil.which("taskset") else []


@contextlib.contextmanager
def busy(processor: int) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Processes that do nothing as hard as they can. They end with this one, also where it is killed."""
    command = [*pinned(processor), sys.executable, "-c", BUSY]
    processes = [subprocess.Popen(command, stdin=subprocess.PIPE) for _ in range(BUSY_PROCESSES)]
    try:
        yield processes
    finally:
        for process in processes:
            process.kill()
            process.communicate()


def read_report(path: Path) -> tuple[int, int, tuple[str, ...]]:
    """Read a report: the numbers of tests that passed and were skipped, and the names of those that failed."""
    skipped, failed, count = 0, [], 0
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        count += 1
        skipped += case.find("skipped") is not None
        if case.find("failure") is not None or case.find("error") is not None:
            failed.append(f"{case.get('classname', '').replace('.', '/')}.py::{case.get('name')}")
    return count - skipped - len(failed), skipped, tuple(failed)


def table(outcomes: Sequence[Outcome]) -> list[str]:
    """A line a run; below, what failed."""
    rows = [("python", "setting", "BLAS", "passed", "skipped", "failed", "seconds")]
    for one in outcomes:
        counts = (str(one.passed), str(one.skipped), str(len(one.failed)), f"{one.seconds:.0f}")
        rows.append((one.interpreter, one.setting, one.kernels, *(counts if not one.problem else ("-",) * 4)))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    for one in outcomes:
        lines += [f"{one.interpreter}, {one.setting}: {text}" for text in (one.problem, *one.failed) if text]
    return lines


if __name__ == "__main__":
    main()
